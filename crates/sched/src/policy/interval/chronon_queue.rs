//! What has to be reviewed, and when: tokens by chronon, taken out in order of time. It can be pruned: a token may outlive what
//! it refers to, and then it must not hold memory until its chronon.

use std::collections::BTreeMap;

/// Lists of tokens by chronon, each in the order of insertion.
#[derive(Debug, Clone)]
pub(crate) struct ChrononQueue<T> {
    lists: BTreeMap<u32, Vec<T>>,
    n_tokens: usize,
}

impl<T> Default for ChrononQueue<T> {
    fn default() -> Self {
        Self { lists: BTreeMap::new(), n_tokens: 0 }
    }
}

impl<T> ChrononQueue<T> {
    pub(crate) fn len(&self) -> usize {
        self.n_tokens
    }

    pub(crate) fn push(&mut self, chronon: u32, token: T) {
        self.lists.entry(chronon).or_default().push(token);
        self.n_tokens += 1;
    }

    /// Takes out the earliest list that is due by `now`; ask again until there is none.
    pub(crate) fn take_due(&mut self, now: u32) -> Option<(u32, Vec<T>)> {
        let list = self.lists.first_entry().filter(|list| *list.key() <= now)?;
        let (chronon, tokens) = list.remove_entry();
        self.n_tokens -= tokens.len();
        Some((chronon, tokens))
    }

    /// Keeps the tokens for which `keep` holds.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.lists.retain(|_, tokens| {
            tokens.retain(&mut keep);
            tokens.shrink_to_fit();
            !tokens.is_empty()
        });
        self.n_tokens = self.lists.values().map(Vec::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_out_by_chronon_and_in_the_order_of_insertion() {
        let mut queue = ChrononQueue::default();
        for (chronon, token) in [(5, 'a'), (2, 'b'), (5, 'c'), (u32::MAX, 'd')] {
            queue.push(chronon, token);
        }
        queue.retain(|&token| token != 'b');
        assert_eq!(queue.take_due(4), None);
        assert_eq!(queue.take_due(5), Some((5, vec!['a', 'c'])));
        assert_eq!((queue.take_due(5), queue.len()), (None, 1));
    }
}
