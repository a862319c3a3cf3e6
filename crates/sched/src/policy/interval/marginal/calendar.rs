//! Tokens filed under chronons and taken out in order of time. Unlike the agenda of the papers' policies it
//! can be swept: a token may outlive what it stands for, and then it must not hold memory until its day.

use std::collections::BTreeMap;

/// Lists of tokens by chronon, each in the order of filing.
#[derive(Debug, Clone)]
pub(crate) struct Calendar<T> {
    days: BTreeMap<u32, Vec<T>>,
    n_tokens: usize,
}

impl<T> Default for Calendar<T> {
    fn default() -> Self {
        Self { days: BTreeMap::new(), n_tokens: 0 }
    }
}

impl<T> Calendar<T> {
    pub(crate) fn len(&self) -> usize {
        self.n_tokens
    }

    pub(crate) fn file(&mut self, chronon: u32, token: T) {
        self.days.entry(chronon).or_default().push(token);
        self.n_tokens += 1;
    }

    /// Takes out the earliest day that is due by `now`; ask again until there is none.
    pub(crate) fn take_due(&mut self, now: u32) -> Option<(u32, Vec<T>)> {
        let day = self.days.first_entry().filter(|day| *day.key() <= now)?;
        let (chronon, tokens) = day.remove_entry();
        self.n_tokens -= tokens.len();
        Some((chronon, tokens))
    }

    /// Keeps the tokens for which `keep` holds.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.days.retain(|_, tokens| {
            tokens.retain(&mut keep);
            tokens.shrink_to_fit();
            !tokens.is_empty()
        });
        self.n_tokens = self.days.values().map(Vec::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_out_by_day_and_in_the_order_of_filing() {
        let mut calendar = Calendar::default();
        for (chronon, token) in [(5, 'a'), (2, 'b'), (5, 'c'), (u32::MAX, 'd')] {
            calendar.file(chronon, token);
        }
        calendar.retain(|&token| token != 'b');
        assert_eq!(calendar.take_due(4), None);
        assert_eq!(calendar.take_due(5), Some((5, vec!['a', 'c'])));
        assert_eq!((calendar.take_due(5), calendar.len()), (None, 1));
    }
}
