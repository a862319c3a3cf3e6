//! What has to be looked at again, and when: a calendar of tokens by chronon.

use std::collections::BTreeMap;

use dunlin_core::Chronon;

/// Tokens filed under chronons, taken out in order of time.
#[derive(Debug, Clone)]
pub(crate) struct Agenda<T> {
    days: BTreeMap<Chronon, Vec<T>>,
    /// Emptied lists, to be filled again: a busy agenda turns over one list per chronon.
    spare: Vec<Vec<T>>,
}

impl<T> Default for Agenda<T> {
    fn default() -> Self {
        Self { days: BTreeMap::new(), spare: Vec::new() }
    }
}

impl<T> Agenda<T> {
    pub(crate) fn file(&mut self, at: Chronon, token: T) {
        let spare = &mut self.spare;
        self.days.entry(at).or_insert_with(|| spare.pop().unwrap_or_default()).push(token);
    }

    /// Takes out one chronon's tokens that are due by `now`; ask again until there are none. Give the list
    /// back with [`recycle`](Self::recycle).
    pub(crate) fn take_due(&mut self, now: Chronon) -> Option<Vec<T>> {
        let day = self.days.first_entry().filter(|day| *day.key() <= now)?;
        Some(day.remove())
    }

    pub(crate) fn recycle(&mut self, mut list: Vec<T>) {
        list.clear();
        self.spare.push(list);
    }
}
