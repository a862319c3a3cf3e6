//! WIC over one day in one-second chronons, against two dense algorithms that look at every source in every
//! chronon: a plain one that evaluates the same value model for each source, and the fastest loop that we could write for
//! this one life and urgency and nothing else. All choose the same sources, which is checked.

use dunlin_core::{Allowance, Budget, Chronon, Observation, Outcome, SourceIdx};
use dunlin_sched::epoch;
use dunlin_sched::policy::{Arrival, Policy, Wic};
use dunlin_sched::value::{Life, PendingUtility, Urgency, ValueModel};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::measure::Measured;

const CHRONONS: u32 = 86_400;
const EVENTS: usize = 5_000_000;
const BUDGET: u32 = 20;
const RATIO: f64 = 0.999;
/// The plain algorithm is measured over this many chronons, and extrapolated.
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

/// Runs `wic-fast-N`, `wic-plain-N` or `wic-scan-N` with N sources.
pub(crate) fn run(case: &str) -> Option<Measured> {
    let (kind, n_sources) = case.strip_prefix("wic-")?.split_once('-')?;
    let n_sources: u32 = n_sources.parse().ok()?;
    match kind {
        "fast" => Some(fast(n_sources)),
        "plain" => Some(plain(n_sources)),
        "scan" => Some(scan(n_sources)),
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

/// The best `BUDGET` of all sources, in one pass, without order and without allocations.
struct Best {
    held: [(f64, u32); BUDGET as usize],
    n_held: usize,
    /// Where the least of them is, and what has to be exceeded to be among them.
    least: usize,
    bar: f64,
}

impl Best {
    const NONE: Self = Self { held: [(0.0, 0); BUDGET as usize], n_held: 0, least: 0, bar: 0.0 };

    fn offer(&mut self, value: f64, source: u32) {
        if value > self.bar {
            let place = if self.n_held < self.held.len() { self.n_held } else { self.least };
            self.held[place] = (value, source);
            self.n_held = self.held.len().min(self.n_held + 1);
            if self.n_held == self.held.len() {
                // Of equals the later one goes: the policy prefers the lower source.
                let worse = |a: &usize, b: &usize| {
                    let (a, b) = (self.held[*a], self.held[*b]);
                    a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))
                };
                self.least = (0..self.held.len()).min_by(worse).unwrap_or(0);
                self.bar = self.held[self.least].0;
            }
        }
    }

    fn sources(&self) -> impl Iterator<Item = u32> {
        self.held[..self.n_held].iter().map(|held| held.1)
    }
}

/// Chronons of a day for a dense algorithm, with what has been expected of every source before.
struct Day {
    chronons: u32,
    held: f64,
}

/// From its first chronon to its last, as the policy is measured.
const WHOLE: Day = Day { chronons: CHRONONS, held: 0.0 };
/// In the middle of a day every source holds something.
const MIDDLE: Day = Day { chronons: SLICE, held: 0.5 };

impl Day {
    fn events(&self, n_sources: u32) -> Vec<Vec<Event>> {
        let mut by_chronon: Vec<Vec<Event>> = (0..self.chronons).map(|_| Vec::new()).collect();
        for event in events(n_sources, self.chronons) {
            by_chronon[event.chronon.index()].push(event);
        }
        by_chronon
    }

    /// The first one is when everything is held.
    fn chronons(&self) -> impl Iterator<Item = Chronon> {
        Chronon::first(self.chronons + 1).skip(1)
    }

    /// Measures a dense algorithm, and checks that it chooses what the policy does.
    fn measure(&self, n_sources: u32, mut choose: impl FnMut(Chronon, &[Event], &mut Best)) -> Measured {
        let events = self.events(n_sources);
        let mut chosen: Vec<u32> = Vec::with_capacity((self.chronons * BUDGET) as usize);
        let measured = Measured::of(events.iter().map(Vec::len).sum(), || {
            for (now, events) in self.chronons().zip(&events) {
                let mut best = Best::NONE;
                choose(now, events, &mut best);
                chosen.extend(best.sources().chain(std::iter::repeat(u32::MAX)).take(BUDGET as usize));
            }
        });
        self.check(n_sources, &events, &mut chosen);
        measured
    }

    fn check(&self, n_sources: u32, events: &[Vec<Event>], chosen: &mut [u32]) {
        let model = ValueModel::new(Life::Append, Urgency::Exponential(RATIO));
        let mut wic = Wic::uniform(model, n_sources as usize);
        if self.held > 0.0 {
            for source in (0..n_sources).map(SourceIdx) {
                wic.arrive(Chronon::FIRST, Arrival::Change { source, probability: self.held });
            }
        }
        let mut expected: Vec<SourceIdx> = Vec::new();
        for ((now, events), chosen) in self.chronons().zip(events).zip(chosen.chunks_mut(BUDGET as usize)) {
            for &Event { source, probability, .. } in events {
                wic.arrive(now, Arrival::Change { source, probability });
            }
            expected.clear();
            wic.choose(now, &mut Allowance::of(f64::from(BUDGET)), &mut expected);
            for &source in &expected {
                wic.observe(Observation { source, at: now, outcome: Outcome::Read });
            }
            expected.sort_unstable();
            chosen.sort_unstable();
            let own = chosen.iter().take_while(|&&source| source != u32::MAX);
            assert!(own.eq(expected.iter().map(|source| &source.0)), "not what the policy chooses at {now}");
        }
    }
}

fn plain(n_sources: u32) -> Measured {
    let model = ValueModel::new(Life::Append, Urgency::Exponential(RATIO));
    let mut pending = vec![PendingUtility::EMPTY; n_sources as usize];
    pending
        .iter_mut()
        .for_each(|pending_utility| pending_utility.expect(&model, Chronon::FIRST, MIDDLE.held));
    MIDDLE.measure(n_sources, |now, events, best| {
        for event in events {
            pending[event.source.index()].expect(&model, now, event.probability);
        }
        for (source, pending_utility) in (0u32..).zip(&pending) {
            best.offer(pending_utility.value(&model, now), source);
        }
        best.sources().for_each(|source| pending[source as usize] = PendingUtility::EMPTY);
    })
}

/// Values that are looked at together: only if the largest of them is good enough are they looked at one by one.
const TOGETHER: usize = 64;

/// One pass over one array that is only read. What a change is worth is noted as what it would be worth at the
/// beginning, growing instead of the others shrinking, so that nothing has to be updated from chronon to chronon: a
/// day's growth is 10^37.
fn scan(n_sources: u32) -> Measured {
    let mut values = vec![0.0f64; n_sources as usize];
    let mut growth = 1.0;
    WHOLE.measure(n_sources, |_, events, best| {
        growth /= RATIO;
        for event in events {
            values[event.source.index()] += event.probability * growth;
        }
        for (first, part) in (0u32..).step_by(TOGETHER).zip(values.chunks(TOGETHER)) {
            if largest(part) > best.bar {
                for (source, &value) in (first..).zip(part) {
                    best.offer(value, source);
                }
            }
        }
        best.sources().for_each(|source| values[source as usize] = 0.0);
    })
}

/// Eight at a time, so that the compiler can use wide registers.
fn largest(values: &[f64]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (eights, rest) = values.as_chunks::<8>();
    for eight in eights {
        for (lane, &value) in lanes.iter_mut().zip(eight) {
            *lane = if value > *lane { value } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(0.0, |most, &value| if value > most { value } else { most })
}

pub(crate) fn report() {
    println!("WIC, {CHRONONS} chronons, about {EVENTS} events, budget {BUDGET}, append, exp:{RATIO}");
    println!(
        "{:>10} {:>9} {:>9} {:>9} {:>9} {:>7} {:>9} {:>7}",
        "sources", "fast s", "ns/event", "peak MiB", "plain s*", "ratio", "scan s", "ratio"
    );
    let mut per_event = Vec::new();
    for n_sources in [10_000, 100_000, 1_000_000] {
        let fast = Measured::in_child(&format!("wic-fast-{n_sources}"));
        let plain =
            Measured::in_child(&format!("wic-plain-{n_sources}")).seconds * f64::from(CHRONONS / SLICE);
        let scan = Measured::in_child(&format!("wic-scan-{n_sources}")).seconds;
        per_event.push(fast.nanos_per_unit());
        println!(
            "{n_sources:>10} {:>9.2} {:>9.0} {:>9.0} {plain:>9.1} {:>6.0}x {scan:>9.1} {:>6.1}x",
            fast.seconds,
            fast.nanos_per_unit(),
            fast.peak_mib,
            plain / fast.seconds,
            scan / fast.seconds
        );
    }
    println!("time per event from 10^4 to 10^6 sources: x{:.2}", per_event[2] / per_event[0]);
    println!("* extrapolated from {SLICE} chronons\n");
}
