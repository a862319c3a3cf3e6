//! WIC over one day in one-second chronons, against two dense algorithms that look at every source in every
//! chronon: a plain one that evaluates the same value model for each source, and a tight loop over one array
//! of floats that can do nothing but this one urgency and life, and that the compiler vectorises.

use dunlin_core::{Budget, Chronon, SourceIdx};
use dunlin_sched::epoch;
use dunlin_sched::policy::{Arrival, Policy, Wic};
use dunlin_sched::value::{Holding, Life, Urgency, ValueModel};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::measure::Measured;

const CHRONONS: u32 = 86_400;
const EVENTS: usize = 5_000_000;
const BUDGET: u32 = 20;
const RATIO: f64 = 0.999;
/// The dense algorithms are measured over this many chronons, and extrapolated.
const SLICE: u32 = 100;

struct Event {
    chronon: Chronon,
    source: SourceIdx,
    probability: f64,
}

/// The same number of events per chronon whatever the number of sources.
fn events(n_sources: u32, chronons: u32) -> Vec<Event> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let count = EVENTS * chronons as usize / CHRONONS as usize;
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

/// Runs `wic-fast-N`, `wic-plain-N` or `wic-tight-N` with N sources.
pub(crate) fn run(case: &str) -> Option<Measured> {
    let (kind, n_sources) = case.strip_prefix("wic-")?.split_once('-')?;
    let n_sources: u32 = n_sources.parse().ok()?;
    match kind {
        "fast" => Some(fast(n_sources)),
        "plain" => Some(plain(n_sources)),
        "tight" => Some(tight(n_sources)),
        _ => None,
    }
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

/// The best `BUDGET` of all sources, in one pass.
#[derive(Default)]
struct Best(Vec<(f64, u32)>);

impl Best {
    fn offer(&mut self, value: f64, source: u32) {
        let is_full = self.0.len() == BUDGET as usize;
        if value > 0.0 && (!is_full || self.0.last().is_none_or(|worst| value > worst.0)) {
            let place = self.0.partition_point(|held| held.0 >= value);
            self.0.insert(place, (value, source));
            self.0.truncate(BUDGET as usize);
        }
    }
}

/// The events of each chronon of a slice.
fn slice(n_sources: u32) -> Vec<Vec<Event>> {
    let mut by_chronon: Vec<Vec<Event>> = (0..SLICE).map(|_| Vec::new()).collect();
    for event in events(n_sources, SLICE) {
        by_chronon[event.chronon.index()].push(event);
    }
    by_chronon
}

fn plain(n_sources: u32) -> Measured {
    let model = ValueModel::new(Life::Append, Urgency::Exponential(RATIO));
    // In the middle of a day every source holds something.
    let mut holdings = vec![Holding::EMPTY; n_sources as usize];
    holdings.iter_mut().for_each(|holding| holding.expect(&model, Chronon::FIRST, 0.5));
    let slice = slice(n_sources);
    Measured::of(slice.iter().map(Vec::len).sum(), || {
        for (now, events) in Chronon::first(SLICE + 1).skip(1).zip(&slice) {
            for event in events {
                holdings[event.source.index()].expect(&model, now, event.probability);
            }
            let mut best = Best::default();
            for (source, holding) in (0u32..).zip(&holdings) {
                best.offer(holding.value(&model, now), source);
            }
            best.0.iter().for_each(|&(_, source)| holdings[source as usize] = Holding::EMPTY);
        }
        std::hint::black_box(&holdings);
    })
}

fn tight(n_sources: u32) -> Measured {
    let mut values = vec![0.5f64; n_sources as usize];
    let slice = slice(n_sources);
    Measured::of(slice.iter().map(Vec::len).sum(), || {
        for events in &slice {
            values.iter_mut().for_each(|value| *value *= RATIO);
            for event in events {
                values[event.source.index()] += event.probability;
            }
            let mut best = Best::default();
            for (source, &value) in (0u32..).zip(&values) {
                best.offer(value, source);
            }
            best.0.iter().for_each(|&(_, source)| values[source as usize] = 0.0);
        }
        std::hint::black_box(&values);
    })
}

pub(crate) fn report() {
    println!("WIC, {CHRONONS} chronons, about {EVENTS} events, budget {BUDGET}, append, exp:{RATIO}");
    println!(
        "{:>10} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9} {:>7}",
        "sources", "fast s", "ns/event", "peak MiB", "plain s*", "ratio", "tight s*", "ratio"
    );
    let mut per_event = Vec::new();
    for n_sources in [10_000, 100_000, 1_000_000] {
        let fast = Measured::in_child(&format!("wic-fast-{n_sources}"));
        let whole_day = |kind: &str| {
            let slice = Measured::in_child(&format!("wic-{kind}-{n_sources}"));
            slice.seconds * f64::from(CHRONONS) / f64::from(SLICE)
        };
        let (plain, tight) = (whole_day("plain"), whole_day("tight"));
        per_event.push(fast.nanos_per_unit());
        println!(
            "{n_sources:>10} {:>9.2} {:>9.0} {:>9.0} {plain:>9.1} {:>6.0}x {tight:>9.1} {:>6.0}x",
            fast.seconds,
            fast.nanos_per_unit(),
            fast.peak_mib,
            plain / fast.seconds,
            tight / fast.seconds
        );
    }
    println!("time per event from 10^4 to 10^6 sources: x{:.2}", per_event[2] / per_event[0]);
    println!("* extrapolated from {SLICE} chronons\n");
}
