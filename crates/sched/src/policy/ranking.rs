//! Sources by key, of which only the leaders are kept in order. Most events leave a source far from the
//! top, and then they cost no more than storing its new key.
//!
//! A threshold divides leaders from the rest: everything at or above it is in a heap, everything below is
//! merely noted. Too many leaders: the threshold rises to their median. None left: it falls until a fixed
//! share of the rest lead. Both cost time in proportion to what they move, so an event costs O(log n)
//! amortised, and usually O(1). The order in which sources come out is that of one big heap.

use dunlin_core::SourceIdx;

use super::heap::{Entry, Positions, SourceHeap};
use crate::value::scaled::Scaled;

#[derive(Debug, Clone)]
pub(crate) struct Ranking {
    leaders: SourceHeap,
    /// Never zero; a leader's key is at least this.
    threshold: Scaled,
    /// Sources with a key, leaders included.
    n_ranked: usize,
}

/// Fewer leaders than this are not worth dividing.
const FEW: usize = 1_024;

/// One ranked source in this many may lead before the threshold rises.
const SHARE: usize = 32;

impl Ranking {
    pub(crate) fn new() -> Self {
        Self { leaders: SourceHeap::default(), threshold: Scaled::LEAST, n_ranked: 0 }
    }

    /// Changes the key of a source from `old` to `new`; zero is "not ranked".
    pub(crate) fn change(&mut self, positions: &mut Positions, source: SourceIdx, old: Scaled, new: Scaled) {
        self.n_ranked = self.n_ranked + usize::from(!new.is_zero()) - usize::from(!old.is_zero());
        if new >= self.threshold {
            self.leaders.set(positions, source, new);
            if self.leaders.len() > self.most_leaders() {
                self.raise(positions);
            }
        } else if old >= self.threshold {
            self.leaders.set(positions, source, Scaled::ZERO);
        }
    }

    /// The source with the largest key. `members` are all that may be ranked here, with their keys.
    pub(crate) fn peek(
        &mut self,
        positions: &mut Positions,
        members: impl Iterator<Item = Entry>,
    ) -> Option<Entry> {
        if self.leaders.len() == 0 && self.n_ranked > 0 {
            self.lower(positions, members);
        }
        self.leaders.peek()
    }

    fn most_leaders(&self) -> usize {
        FEW.max(self.n_ranked / SHARE)
    }

    /// Half of the leaders go back to the rest.
    fn raise(&mut self, positions: &mut Positions) {
        let half = self.leaders.len() / 2;
        self.threshold = self.leaders.keep_best(positions, half).unwrap_or(self.threshold);
    }

    /// The best of the rest become leaders.
    fn lower(&mut self, positions: &mut Positions, members: impl Iterator<Item = Entry>) {
        let mut rest: Vec<_> = members.filter(|entry| !entry.key.is_zero()).collect();
        let wanted = self.most_leaders() / 2;
        self.threshold = Scaled::LEAST;
        if rest.len() > wanted {
            rest.select_nth_unstable_by(wanted, |a, b| b.key.cmp(&a.key));
            self.threshold = rest[wanted].key;
        }
        // Ties with the threshold lead too, or the order among them would be lost.
        self.leaders.fill(positions, rest.into_iter().filter(|entry| entry.key >= self.threshold));
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
        fn sources_come_out_as_from_one_sorted_list(steps in steps()) {
            let mut ranking = Ranking::new();
            let mut positions = Positions::new(4_000);
            let mut keys = vec![Scaled::ZERO; 4_000];
            let draining = std::iter::repeat_n(Step::Take, 4_000);
            for step in steps.into_iter().chain(draining) {
                let members = keys.iter().enumerate();
                let mut members = members.map(|(i, &key)| Entry { key, source: SourceIdx(i as u32) });
                let (source, new) = match step {
                    Step::Set(source, key) => (SourceIdx(source), Scaled::new(f64::from(key))),
                    Step::Take => {
                        let best = members.clone().filter(|entry| !entry.key.is_zero());
                        let best = best.reduce(|a, b| if b.beats(&a) { b } else { a });
                        let top = ranking.peek(&mut positions, &mut members);
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
