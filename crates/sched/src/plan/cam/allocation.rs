//! Which probes to make when there are fewer than instants. Says nothing about collisions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use dunlin_core::{Chronon, SourceIdx};

use super::{Expected, Task, UpdateForecast};

/// How probes are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// To the instants with the largest W·ρ, wherever they are: least expected loss.
    Optimal,
    /// As many to every source, at equal distances in time. A baseline.
    Uniform,
    /// By how many updates are expected of a source, at equal distances in time. A baseline.
    Proportional,
}

/// `probes` intended probes, or fewer where no more would be any use, in order of source, then time.
pub fn allocate(forecast: &UpdateForecast, probes: usize, allocation: Allocation) -> Vec<Task> {
    match allocation {
        Allocation::Optimal => most_worth(forecast, probes),
        Allocation::Uniform => evenly(forecast, probes, |_| 1.0),
        Allocation::Proportional => {
            evenly(forecast, probes, |instants| instants.iter().map(|own| own.probability).sum())
        }
    }
}

/// Σ of W·ρ over the instants that are not probed is least when those with the largest are. Ties go to the lower
/// source, then to the earlier instant.
fn most_worth(forecast: &UpdateForecast, probes: usize) -> Vec<Task> {
    let end = Chronon::new(forecast.chronons()).unwrap_or(Chronon::FIRST);
    let mut tasks: Vec<Task> = Vec::with_capacity(forecast.n_instants());
    for (source, weight, instants) in forecast.by_source() {
        for (i, instant) in instants.iter().enumerate() {
            let next = instants.get(i + 1).and_then(|next| Chronon::new(next.at.get() - 1));
            let worth = weight * instant.probability;
            tasks.push(Task { source, ideal: instant.at, last: next.unwrap_or(end), worth });
        }
    }
    tasks.retain(|task| task.worth > 0.0);
    tasks.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    tasks.truncate(probes);
    tasks.sort_by_key(|task| (task.source, task.ideal));
    tasks
}

/// Probes at equal distances, to each source in proportion to `demand`; each in turn to the source whose share
/// is furthest from met (the divisor method of Sainte-Laguë).
fn evenly(forecast: &UpdateForecast, probes: usize, demand: impl Fn(&[Expected]) -> f64) -> Vec<Task> {
    let chronons = forecast.chronons() as usize;
    let sources: Vec<_> = forecast.by_source().collect();
    let demands: Vec<f64> = sources.iter().map(|&(_, _, instants)| demand(instants)).collect();
    let mut shares = vec![0usize; sources.len()];
    let quotient = |source: usize, share: usize| Quotient(demands[source] / (2 * share + 1) as f64);
    let wanted = (0..sources.len()).filter(|&source| demands[source] > 0.0);
    let mut heap: BinaryHeap<_> = wanted.map(|source| (quotient(source, 0), Reverse(source))).collect();
    for _ in 0..probes {
        let Some((_, Reverse(source))) = heap.pop() else { break };
        shares[source] += 1;
        if shares[source] < chronons {
            heap.push((quotient(source, shares[source]), Reverse(source)));
        }
    }
    let turns = Turns { chronons: chronons as u64, n_sources: sources.len() as u64 };
    let of_source = |(&(source, weight, instants), &share): (&(SourceIdx, f64, &[Expected]), &usize)| {
        let expected: f64 = instants.iter().map(|own| own.probability).sum();
        let worth = weight * expected / share as f64;
        (0..share).map(|nth| turns.task(source, nth as u64, share as u64, worth)).collect::<Vec<_>>()
    };
    sources.iter().zip(&shares).flat_map(of_source).collect()
}

/// Probes at equal distances, those of different sources in turn.
struct Turns {
    chronons: u64,
    n_sources: u64,
}

impl Turns {
    /// The chronon of a source's `nth` of `share` probes.
    fn at(&self, source: SourceIdx, nth: u64, share: u64) -> Option<Chronon> {
        let turn = nth * self.n_sources + u64::from(source.0);
        Chronon::new(u32::try_from(turn * self.chronons / (share * self.n_sources)).ok()? + 1)
    }

    fn task(&self, source: SourceIdx, nth: u64, share: u64, worth: f64) -> Task {
        let ideal = self.at(source, nth, share).unwrap_or(Chronon::FIRST);
        let end = u32::try_from(self.chronons).ok().and_then(Chronon::new);
        let next = self.at(source, nth + 1, share).and_then(|next| Chronon::new(next.get() - 1));
        let last = if nth + 1 < share { next } else { end };
        Task { source, ideal, last: last.unwrap_or(ideal), worth }
    }
}

/// A finite number with the order of numbers.
#[derive(PartialEq)]
struct Quotient(f64);

impl Eq for Quotient {}

impl Ord for Quotient {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Quotient {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
