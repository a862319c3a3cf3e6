//! The best schedule of expected utility that there is, on instances small enough to search. It is what WIC's
//! guarantee is measured against, not something to schedule with.
//!
//! What probes will be worth depends on the past only through when each source was last probed, so schedules that
//! agree in that are compared chronon by chronon and only the best is carried on: at most (K+1)^n states instead of
//! all 2^(n·K) schedules. A probe more never hurts, because urgency and life only fall with time: every chronon uses all
//! it has.

use std::collections::BTreeMap;

use dunlin_core::{Chronon, Probe, Schedule, SourceIdx};

use super::Error;
use crate::value::{ValueModel, expected_utility};

/// The most states visited before the instance is refused.
pub const MOST_STATES: u128 = 2_000_000;

/// The largest expected utility of any schedule with `per_chronon` probes in each chronon, and one such schedule.
/// Source i is valued by `models[i]` and changes at chronon k with probability `probabilities[i][k − 1]`.
pub fn best_utility(
    models: &[ValueModel],
    probabilities: &[Vec<f64>],
    per_chronon: usize,
) -> Result<(f64, Schedule), Error> {
    let n_sources = models.len();
    let chronons = probabilities.iter().map(Vec::len).min().unwrap_or(0);
    let states = (chronons as u128 + 1).checked_pow(n_sources as u32).unwrap_or(u128::MAX);
    if states > MOST_STATES {
        return Err(Error::TooLarge { states, most: MOST_STATES });
    }
    let sets = sets_of(per_chronon.min(n_sources), n_sources);
    let start = Path { utility: 0.0, before: 0, probed: 0 };
    let mut steps: Vec<Vec<Path>> = vec![vec![start]];
    let mut frontier: BTreeMap<Vec<u32>, usize> = BTreeMap::from([(vec![0; n_sources], 0)]);
    for now in 1..=chronons as u32 {
        let before = &steps[steps.len() - 1];
        let mut paths: Vec<Path> = Vec::new();
        let mut next: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        for (last, &place) in &frontier {
            let worth = |i: usize| expected_utility(&models[i], &probabilities[i], last[i], now);
            let worth: Vec<f64> = (0..n_sources).map(worth).collect();
            for &probed in &sets {
                let members = || (0..n_sources).filter(move |i| probed & (1 << i) != 0);
                let utility = before[place].utility + members().map(|i| worth[i]).sum::<f64>();
                let mut state = last.clone();
                members().for_each(|i| state[i] = now);
                let path = Path { utility, before: place, probed };
                let held = *next.entry(state).or_insert_with(|| {
                    paths.push(path);
                    paths.len() - 1
                });
                if paths[held].utility < utility {
                    paths[held] = path;
                }
            }
        }
        steps.push(paths);
        frontier = next;
    }
    Ok(trace_back(&steps))
}

/// The best way to one state.
#[derive(Clone, Copy)]
struct Path {
    utility: f64,
    /// The state before, by its place in the step before.
    before: usize,
    /// The sources probed since, one bit each.
    probed: u64,
}

/// All sets of `size` of the first `n` numbers, as bits. Instances that are not refused have few sources.
fn sets_of(size: usize, n: usize) -> Vec<u64> {
    (0u64..1 << n.min(32)).filter(|set| set.count_ones() as usize == size).collect()
}

fn trace_back(steps: &[Vec<Path>]) -> (f64, Schedule) {
    let last = &steps[steps.len() - 1];
    let best = (0..last.len()).max_by(|&a, &b| last[a].utility.total_cmp(&last[b].utility));
    let mut place = best.unwrap_or(0);
    let utility = last[place].utility;
    let mut probes = Vec::new();
    for (now, step) in steps.iter().enumerate().skip(1).rev() {
        let Path { before, probed, .. } = step[place];
        let sources = (0..64u32).filter(|source| probed & (1 << source) != 0).map(SourceIdx);
        let now = Chronon::new(now as u32);
        probes.extend(sources.filter_map(|source| now.map(|chronon| Probe { chronon, source })));
        place = before;
    }
    (utility, Schedule::from_probes(probes))
}
