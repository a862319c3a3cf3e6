//! WIC over one day in one-second chronons: the heaps against the dense recurrence of the paper.

use dunlin_core::{Budget, Chronon, SourceIdx};
use dunlin_sched::epoch;
use dunlin_sched::policy::{Arrival, Policy, Wic};
use dunlin_sched::value::{Life, Urgency, ValueModel};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::measure::Measured;

const CHRONONS: u32 = 86_400;
const EVENTS: usize = 5_000_000;
const BUDGET: u32 = 20;
const RATIO: f64 = 0.999;
/// The dense algorithm is measured over this many chronons, and extrapolated.
const SLICE: u32 = 200;

struct Event {
    chronon: Chronon,
    source: SourceIdx,
    probability: f64,
}

/// The same number of events per chronon whatever the number of sources.
fn events(n_sources: u32, chronons: u32) -> Vec<Event> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let count = EVENTS / CHRONONS as usize * chronons as usize;
    let mut events: Vec<_> = (0..count)
        .map(|_| Event {
            chronon: Chronon::FIRST.plus(rng.random_range(0..chronons)),
            source: SourceIdx(rng.random_range(0..n_sources)),
            probability: rng.random(),
        })
        .collect();
    events.sort_unstable_by_key(|event| (event.chronon, event.source));
    events.dedup_by_key(|event| (event.chronon, event.source));
    events
}

/// Runs `wic-fast-N` or `wic-dense-N` with N sources.
pub(crate) fn run(case: &str) -> Option<Measured> {
    let (kind, n_sources) = case.strip_prefix("wic-")?.split_once('-')?;
    let n_sources: u32 = n_sources.parse().ok()?;
    Some(if kind == "fast" { fast(n_sources) } else { dense(n_sources) })
}

fn fast(n_sources: u32) -> Measured {
    let events = events(n_sources, CHRONONS);
    let budget = Budget::constant(f64::from(BUDGET)).unwrap();
    Measured::of(events.len(), || {
        let model = ValueModel::new(Life::Append, Urgency::Exponential(RATIO));
        let mut wic = Wic::uniform(model, n_sources as usize);
        let mut rest = events.as_slice();
        epoch::run(&mut wic, CHRONONS, &budget, |now, wic| {
            let due = rest.partition_point(|event| event.chronon <= now);
            for &Event { source, probability, .. } in &rest[..due] {
                wic.arrive(now, Arrival::Change { source, probability });
            }
            rest = &rest[due..];
        });
    })
}

/// Every source's value brought forward in every chronon, and the best picked by one pass over all.
fn dense(n_sources: u32) -> Measured {
    let events = events(n_sources, SLICE);
    let mut values = vec![0.0f64; n_sources as usize];
    Measured::of(events.len(), || {
        let mut rest = events.as_slice();
        let mut best: Vec<(f64, u32)> = Vec::new();
        for now in Chronon::first(SLICE) {
            values.iter_mut().for_each(|value| *value *= RATIO);
            let due = rest.partition_point(|event| event.chronon <= now);
            for event in &rest[..due] {
                values[event.source.index()] += event.probability;
            }
            rest = &rest[due..];
            best.clear();
            for (source, &value) in (0u32..).zip(&values) {
                let is_full = best.len() == BUDGET as usize;
                if value > 0.0 && (!is_full || best.last().is_none_or(|worst| value > worst.0)) {
                    let place = best.partition_point(|held| held.0 >= value);
                    best.insert(place, (value, source));
                    best.truncate(BUDGET as usize);
                }
            }
            best.iter().for_each(|&(_, source)| values[source as usize] = 0.0);
        }
        std::hint::black_box(&values);
    })
}

pub(crate) fn report() {
    println!("WIC, {CHRONONS} chronons, about {EVENTS} events, budget {BUDGET}, append, exp:{RATIO}");
    println!(
        "{:>10} {:>9} {:>9} {:>9} {:>14} {:>7}",
        "sources", "fast s", "ns/event", "peak MiB", "dense s*", "ratio"
    );
    let mut per_event = Vec::new();
    for n_sources in [10_000, 100_000, 1_000_000] {
        let fast = Measured::in_child(&format!("wic-fast-{n_sources}"));
        let dense = Measured::in_child(&format!("wic-dense-{n_sources}"));
        let dense_seconds = dense.seconds * f64::from(CHRONONS) / f64::from(SLICE);
        per_event.push(fast.nanos_per_unit());
        println!(
            "{n_sources:>10} {:>9.2} {:>9.0} {:>9.0} {dense_seconds:>14.1} {:>6.0}x",
            fast.seconds,
            fast.nanos_per_unit(),
            fast.peak_mib,
            dense_seconds / fast.seconds
        );
    }
    println!("time per event from 10^4 to 10^6 sources: x{:.2}", per_event[2] / per_event[0]);
    println!("* extrapolated from {SLICE} chronons\n");
}
