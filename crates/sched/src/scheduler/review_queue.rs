//! Resources by the time of their next review, in buckets: a time that is far off is put into a bucket unsorted, and sorted
//! when its bucket is due. Cost does not grow with the number of resources, only with
//! how many share a bucket, and with the logarithm of how far ahead the furthest lies.
//!
//! Entries are never removed: the caller says which still count. Invariant: of those that count, the earliest
//! comes first, and of one instant the lower resource.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use dunlin_core::{ResourceIdx, Time};

/// Chronons in a bucket.
const WIDTH: i64 = 64;
/// Dead entries that are not worth clearing away.
const FEW: usize = 4096;

#[derive(Debug, Clone)]
pub(super) struct ReviewQueue {
    /// Microseconds in a bucket.
    width: i64,
    /// All before the buckets begin.
    near: BTreeSet<(Time, ResourceIdx)>,
    /// By number of bucket.
    far: BTreeMap<i64, Vec<(Time, ResourceIdx)>>,
    /// The first bucket that is not in `near`.
    opened: i64,
    n_far: usize,
}

impl ReviewQueue {
    pub(super) fn new(chronon: Duration) -> Self {
        let width = i64::try_from(chronon.as_micros()).unwrap_or(i64::MAX).saturating_mul(WIDTH).max(1);
        Self { width, near: BTreeSet::new(), far: BTreeMap::new(), opened: i64::MIN, n_far: 0 }
    }

    pub(super) fn clear(&mut self) {
        *self = Self { width: self.width, ..Self::new(Duration::ZERO) };
    }

    const fn bucket(&self, at: Time) -> i64 {
        at.micros().div_euclid(self.width)
    }

    /// Notes a resource for a time. `counted` is how many entries count by now, and `counts` says which.
    pub(super) fn note(
        &mut self,
        at: Time,
        index: ResourceIdx,
        counted: usize,
        counts: impl Fn(ResourceIdx, Time) -> bool,
    ) {
        let bucket = self.bucket(at);
        if bucket < self.opened {
            self.near.insert((at, index));
            return;
        }
        self.far.entry(bucket).or_default().push((at, index));
        self.n_far += 1;
        if self.n_far > 2 * counted + FEW {
            self.clear_away(counts);
        }
    }

    /// The earliest entry that counts, taken out, if it is not after `latest`.
    pub(super) fn take(
        &mut self,
        latest: Option<Time>,
        counts: impl Fn(ResourceIdx, Time) -> bool,
    ) -> Option<(Time, ResourceIdx)> {
        loop {
            while let Some(&(at, index)) = self.near.first() {
                if latest.is_some_and(|latest| at > latest) {
                    return None;
                }
                self.near.pop_first();
                if counts(index, at) {
                    return Some((at, index));
                }
            }
            let (&bucket, _) = self.far.first_key_value()?;
            if latest.is_some_and(|latest| bucket > self.bucket(latest)) {
                return None;
            }
            let entries = self.far.remove(&bucket).unwrap_or_default();
            self.n_far -= entries.len();
            self.near.extend(entries);
            self.opened = bucket + 1;
        }
    }

    /// A time before which nothing is due, and close to the first at which something is.
    pub(super) fn first(&self) -> Option<Time> {
        let near = self.near.first().map(|&(at, _)| at);
        let begins = |bucket: i64| Time::from_micros(bucket.saturating_mul(self.width));
        near.or_else(|| self.far.first_key_value().map(|(&bucket, _)| begins(bucket)))
    }

    fn clear_away(&mut self, counts: impl Fn(ResourceIdx, Time) -> bool) {
        self.far.retain(|_, entries| {
            entries.sort_unstable();
            entries.dedup();
            entries.retain(|&(at, index)| counts(index, at));
            entries.shrink_to_fit();
            !entries.is_empty()
        });
        self.n_far = self.far.values().map(Vec::len).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_sorted_set(steps in prop::collection::vec((-200i64..2000, 0u32..40, 0u8..4), 1..200)) {
            let (mut calendar, mut plain) = (ReviewQueue::new(Duration::from_micros(1)), BTreeSet::new());
            let (mut held, mut now) = (vec![None; 40], -200);
            for (at, index, what) in steps {
                let earlier = held.clone();
                let counts = |index: ResourceIdx, at| earlier[index.index()] == Some(at);
                if what == 0 {
                    now = now.max(at.min(now + 100));
                    let first = plain.first().copied().filter(|&(at, _)| at <= Time::from_micros(now));
                    prop_assert_eq!(calendar.take(Some(Time::from_micros(now)), counts), first);
                    if let Some(entry) = first {
                        plain.remove(&entry);
                        held[entry.1.index()] = None;
                    }
                } else {
                    let (at, index) = (Time::from_micros(at), ResourceIdx(index));
                    if let Some(old) = held[index.index()].replace(at) {
                        plain.remove(&(old, index));
                    }
                    plain.insert((at, index));
                    calendar.note(at, index, plain.len(), counts);
                }
            }
            let first = calendar.take(None, |index, at| held[index.index()] == Some(at));
            prop_assert_eq!(first, plain.first().copied());
        }
    }
}
