//! Needs and traces of our own making, kept in the repository with what every policy makes of them. The files are
//! `crates/lab/tests/fixtures/`: small ones of every kind that the generators make, and tables of figures.
//!
//! What the policies capture was computed by their plain versions; whatever the fast ones choose has to be the same. What
//! forecasts, plans and experiments say was computed by this code itself: such a table shows what moves.
//!
//! `UPDATE_FIXTURES=1 cargo test -p dunlin-lab --test it fixtures` makes all of it again. Read the difference.

mod experiments; // sweeps, guarantees, headlines, polling plans
mod learned; // traces watched by the live scheduler, from nothing
mod needs; // intervals: every policy, planners, bounds, and the optimum of tiny ones
mod traces; // WIC and CAM on traces, with exact, noisy and given knowledge

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use dunlin_core::Schedule;
use dunlin_lab::files::{Epoch, IntervalsFile, ProbabilitiesFile, TraceFile};
use dunlin_lab::generate::{
    AuctionWatch, Bursty, Daily, IntervalLength, Periodic, Poisson, PoissonUpdates, Rate, Span,
};
use dunlin_lab::knowledge::{ChangeProbabilities, Noise};

const DAY: u32 = 86_400;

fn is_update() -> bool {
    std::env::var_os("UPDATE_FIXTURES").is_some()
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Compares with the table of that name, line by line.
#[track_caller]
fn check(name: &str, found: &str) {
    let path = path(name);
    if is_update() {
        fs::write(&path, found).unwrap();
        return;
    }
    let expected = fs::read_to_string(&path).unwrap();
    for (number, (expected, found)) in (1..).zip(expected.lines().zip(found.lines())) {
        assert_eq!(found, expected, "{}:{number}, see the head of fixtures.rs", path.display());
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "lines of {}", path.display());
}

/// A number for a schedule (FNV-1a), to compare it by.
fn fingerprint(schedule: &Schedule) -> u64 {
    let numbers = schedule.probes().iter().flat_map(|probe| [probe.chronon.get(), probe.source.0]);
    let bytes = numbers.flat_map(u32::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// A workload of needs in the repository: what it was made from, and what may be spent on it.
struct Needs {
    name: &'static str,
    seed: u64,
    updates: PoissonUpdates,
    profiles: AuctionWatch,
    budget: f64,
}

impl Needs {
    fn file(&self) -> String {
        format!("{}-{}.csv.gz", self.name, self.seed)
    }

    fn generate(&self) -> IntervalsFile {
        let changes = self.updates.generate(self.seed).unwrap();
        self.profiles.generate(&changes, &self.updates.names(), self.seed).unwrap()
    }

    fn open(&self) -> IntervalsFile {
        let path = path(&self.file());
        if is_update() {
            self.generate().save(&path).unwrap();
        }
        IntervalsFile::open(&path, self.updates.chronons).unwrap()
    }
}

/// The families of the papers' experiments at a third of their size, and tiny ones whose schedules can all be tried.
fn all_needs() -> Vec<Needs> {
    let updates = PoissonUpdates { sources: 300, chronons: 300, lambda: 20.0 };
    let profiles = AuctionWatch { profiles: 30, ..AuctionWatch::default() };
    let base = |name, seed| Needs { name, seed, updates, profiles, budget: 1.0 };
    let with = |name, profiles| Needs { profiles, ..base(name, 0) };
    let tiny = |seed| Needs {
        updates: PoissonUpdates { sources: 6, chronons: 8, lambda: 2.5 },
        profiles: AuctionWatch { profiles: 5, rank: 2, length: IntervalLength::Window(2), ..profiles },
        ..base("tiny", seed)
    };
    let window = |steps| AuctionWatch { length: IntervalLength::Window(steps), ..profiles };
    vec![
        base("base", 0),
        base("base", 1),
        Needs { budget: 2.0, ..base("budget2", 3) },
        Needs { budget: 0.4, ..base("fraction", 2) },
        with("unit", AuctionWatch { rank: 3, exact_rank: true, ..window(0) }),
        with("overwrite", AuctionWatch { length: IntervalLength::Overwrite, ..profiles }),
        with("popular", AuctionWatch { alpha: 1.37, ..profiles }),
        with("crowded", AuctionWatch { profiles: 90, ..profiles }),
        with("rank5", AuctionWatch { rank: 5, beta: 0.5, ..profiles }),
        with("wide", window(20)),
        tiny(0),
        tiny(1),
        tiny(2),
    ]
}

/// The traces in the repository: their names, the length of a chronon that suits them, and what they are made of.
fn made_traces() -> [(&'static str, u32, TraceFile); 4] {
    let week = |sources| Span { sources, seconds: 7 * DAY };
    let rate = Rate { per_day: 6.0, spread: 1.0 };
    [
        (
            "poisson",
            300,
            Poisson { span: Span { sources: 30, seconds: DAY }, rate: Rate::of(12.0) }.generate(1),
        ),
        (
            "daily",
            900,
            Daily { span: week(24), rate, peak_hour: 14.0, amplitude: 1.0, weekend_factor: 0.3 }.generate(2),
        ),
        (
            "periodic",
            300,
            Periodic { span: week(8), period_seconds: 7_200, jitter_seconds: 240.0 }.generate(3),
        ),
        (
            "bursty",
            300,
            Bursty { span: week(24), bursts: Rate::of(0.7), mean_length: 8.0, gap_seconds: 900.0 }
                .generate(4),
        ),
    ]
    .map(|(name, chronon, trace)| (name, chronon, trace.unwrap()))
}

fn trace(name: &str) -> TraceFile {
    let path = path(&format!("{name}.csv.gz"));
    if is_update() {
        let made = made_traces().into_iter().find(|(own, ..)| *own == name);
        made.unwrap().2.save(&path).unwrap();
    }
    TraceFile::open(&path).unwrap()
}

/// All of a trace.
fn whole(trace: &TraceFile, chronon: u32) -> Epoch {
    let chronon_seconds = NonZeroU32::new(chronon).unwrap();
    let start = trace.default_start(chronon_seconds);
    Epoch { start, chronon_seconds, chronons: trace.default_chronons(start, chronon_seconds) }
}

fn beliefs_of(trace: &TraceFile) -> ProbabilitiesFile {
    let changes = trace.changes(whole(trace, 300));
    let probabilities = ChangeProbabilities::noisy(&changes, Noise { fpn: 0.15, sigma: 1.5 }, 5).unwrap();
    ProbabilitiesFile { sources: trace.sources.clone(), probabilities, warnings: Vec::new() }
}

#[test]
fn the_generators_make_these_files() {
    for needs in all_needs() {
        assert!(needs.open() == needs.generate(), "{} is not what is generated now", needs.file());
    }
    for (name, _, made) in made_traces() {
        assert!(trace(name) == made, "{name}.csv.gz is not what is generated now");
    }
    let made = beliefs_of(&trace("poisson"));
    let path = path("poisson-noisy.csv.gz");
    if is_update() {
        made.save(&path).unwrap();
    }
    let read = ProbabilitiesFile::open(&path, whole(&trace("poisson"), 300).chronons).unwrap();
    let rounded = |file: &ProbabilitiesFile| -> Vec<_> {
        file.probabilities.iter().map(|(at, source, chance)| (at, source, (chance * 1e6).round())).collect()
    };
    assert_eq!(read.sources, made.sources);
    assert_eq!(rounded(&read), rounded(&made));
}
