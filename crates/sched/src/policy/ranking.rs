//! Sources by key, of which only the leaders are kept in order. Most events leave a source far from the
//! top, and then they cost no more than storing its new key.
//!
//! A threshold divides leaders from the rest: everything from it upwards is in a heap, everything below is
//! merely listed. Too many leaders: the threshold rises until half of them are left. None left: it falls
//! until a fixed share of the rest lead. Both cost time in proportion to what they move, so an event costs
//! O(log n) amortised, and usually O(1). The order in which sources come out is that of one big heap.

use dunlin_core::SourceIdx;

use super::heap::{HeapEntry, Positions, SourceHeap};
use crate::value::scaled::Scaled;

#[derive(Debug, Clone)]
pub(crate) struct Ranking {
    leaders: SourceHeap,
    /// The last of the leaders; while there is none, every ranked source leads.
    threshold: Option<HeapEntry>,
    /// Ranked sources that do not lead, and stale entries of some that did not lead at some time.
    rest: Vec<SourceIdx>,
    /// Sources with a key, leaders included.
    n_ranked: usize,
    /// Fewer leaders than this are not worth dividing.
    few: usize,
}

/// One ranked source in this many may lead before the threshold rises.
const SHARE: usize = 32;

impl Ranking {
    pub(crate) fn new() -> Self {
        Self::dividing_from(1_024)
    }

    fn dividing_from(few: usize) -> Self {
        Self { leaders: SourceHeap::default(), threshold: None, rest: Vec::new(), n_ranked: 0, few }
    }

    fn leads(&self, entry: &HeapEntry) -> bool {
        !entry.key.is_zero() && self.threshold.as_ref().is_none_or(|least| !least.beats(entry))
    }

    /// Changes the key of a source from `old` to `new`; zero is "not ranked".
    pub(crate) fn change(&mut self, positions: &mut Positions, source: SourceIdx, old: Scaled, new: Scaled) {
        let (was, is) = (!old.is_zero(), !new.is_zero());
        let led = self.leads(&HeapEntry { key: old, source });
        let leads = self.leads(&HeapEntry { key: new, source });
        self.n_ranked = self.n_ranked + usize::from(is) - usize::from(was);
        if led || leads {
            self.leaders.set(positions, source, if leads { new } else { Scaled::ZERO });
        }
        if is && !leads && (led || !was) {
            self.rest.push(source);
        }
        if self.leaders.len() > self.most_leaders() {
            self.raise(positions);
        }
    }

    /// The source with the largest key; `key_of` tells any source's.
    pub(crate) fn peek(
        &mut self,
        positions: &mut Positions,
        key_of: impl Fn(SourceIdx) -> Scaled,
    ) -> Option<HeapEntry> {
        if self.leaders.len() == 0 && self.n_ranked > 0 {
            self.lower(positions, key_of);
        }
        self.leaders.peek()
    }

    fn most_leaders(&self) -> usize {
        self.few.max(self.n_ranked / SHARE)
    }

    /// Half of the leaders go back to the rest.
    fn raise(&mut self, positions: &mut Positions) {
        let (dropped, last) = self.leaders.keep_best(positions, self.leaders.len().div_ceil(2));
        self.threshold = Some(last);
        self.rest.extend(dropped);
        // What led in between is listed again each time; the list must not outgrow what it is for.
        if self.rest.len() > 2 * self.n_ranked + self.few {
            self.rest.sort_unstable();
            self.rest.dedup();
        }
    }

    /// The best of the rest become leaders.
    fn lower(&mut self, positions: &mut Positions, key_of: impl Fn(SourceIdx) -> Scaled) {
        self.rest.sort_unstable();
        self.rest.dedup();
        let entry = |&source: &SourceIdx| HeapEntry { key: key_of(source), source };
        let mut best: Vec<_> = self.rest.iter().map(entry).filter(|entry| !entry.key.is_zero()).collect();
        let wanted = self.most_leaders().div_ceil(2);
        self.rest.clear();
        self.threshold = None;
        if best.len() > wanted {
            best.select_nth_unstable_by(wanted - 1, HeapEntry::best_first);
            self.rest.extend(best.drain(wanted..).map(|entry| entry.source));
            self.threshold = best.last().copied();
        }
        self.leaders.fill(positions, best.into_iter());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What to do next: give a source a key, or take out the best.
    #[derive(Debug, Clone)]
    enum Step {
        Set(u32, u8),
        Take,
    }

    /// Busy and quiet spells in turn, so that leaders overflow and run out.
    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let spell = |takes: u32| {
            let step = prop_oneof![
                4 => (0..4_000u32, 0..=40u8).prop_map(|(source, key)| Step::Set(source, key)),
                takes => Just(Step::Take),
            ];
            prop::collection::vec(step, 0..3_000)
        };
        (spell(1), spell(40), spell(4), spell(40), spell(1))
            .prop_map(|(a, b, c, d, e)| [a, b, c, d, e].concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]

        /// Enough sources for the threshold to rise and fall, few enough keys for ties everywhere.
        #[test]
        fn sources_come_out_as_from_one_sorted_list(steps in steps(), few in prop_oneof![Just(1usize), Just(20), Just(500)]) {
            let mut ranking = Ranking::dividing_from(few);
            let mut positions = Positions::new(4_000);
            let mut keys = vec![Scaled::ZERO; 4_000];
            let draining = std::iter::repeat_n(Step::Take, 4_000);
            for step in steps.into_iter().chain(draining) {
                let (source, new) = match step {
                    Step::Set(source, key) => (SourceIdx(source), Scaled::new(f64::from(key))),
                    Step::Take => {
                        let entries = (0..).map(SourceIdx).zip(&keys).map(|(source, &key)| HeapEntry { key, source });
                        let ranked = entries.filter(|entry| !entry.key.is_zero());
                        let best = ranked.reduce(|a, b| if b.beats(&a) { b } else { a });
                        let top = ranking.peek(&mut positions, |source| keys[source.index()]);
                        prop_assert_eq!(top.map(|top| top.source), best.map(|best| best.source));
                        let Some(top) = top else { continue };
                        (top.source, Scaled::ZERO)
                    }
                };
                let old = std::mem::replace(&mut keys[source.index()], new);
                ranking.change(&mut positions, source, old, new);
            }
        }
    }
}
