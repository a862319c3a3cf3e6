//! The live scheduler on traces: it keeps to the budget, knows nothing but what its probes show, and does better with what
//! it learns than without.

use std::num::NonZeroU32;
use std::path::PathBuf;

use dunlin_core::{Budget, Chronon, Costs};
use dunlin_lab::files::{Epoch, TraceFile};
use dunlin_lab::generate::{Daily, Poisson, Rate, Span};
use dunlin_lab::learned::{Learning, Reveal, learned};
use dunlin_lab::policies::{Choice, PolicyName};
use dunlin_lab::simulate::{Run, Setup};
use dunlin_sched::model::Parts;
use dunlin_sched::policy::Preemption;
use dunlin_sched::score::{TraceScore, check_budget};
use dunlin_sched::value::{Life, Urgency, ValueModel};

const DAY: u32 = 86_400;

fn setup(name: PolicyName, budget: f64, chronons: u32) -> Setup {
    Setup {
        policy: Choice { name, preemption: Preemption::Preemptive },
        budget: Budget::constant(budget).unwrap(),
        costs: Costs::uniform(),
        chronons,
        seed: 0,
    }
}

/// All of a trace.
fn whole(trace: &TraceFile, chronon: u32) -> Epoch {
    let chronon_seconds = NonZeroU32::new(chronon).unwrap();
    let start = trace.default_start(chronon_seconds);
    Epoch { start, chronon_seconds, chronons: trace.default_chronons(start, chronon_seconds) }
}

const USUAL: Learning = Learning { warm_up: 0.25, reveal: Reveal::Changes, parts: Parts::All };

fn run(
    trace: &TraceFile,
    chronon: u32,
    per_change: f64,
    name: PolicyName,
    learning: Learning,
) -> Run<TraceScore> {
    let epoch = whole(trace, chronon);
    let budget = per_change * trace.changes(epoch).len() as f64 / f64::from(epoch.chronons);
    let value = ValueModel::new(Life::Overwrite, Urgency::Uniform);
    learned(trace, epoch, value, &setup(name, budget, epoch.chronons), learning, |_| ()).unwrap()
}

fn poisson() -> TraceFile {
    let span = Span { sources: 60, seconds: 20 * DAY };
    Poisson { span, rate: Rate { per_day: 4.0, spread: 1.5 } }.generate(3).unwrap()
}

/// Half of the sources are busy by day, half by night, so that there is something to be gained at any hour.
fn by_day_and_by_night() -> TraceFile {
    let span = Span { sources: 20, seconds: 42 * DAY };
    let rate = Rate { per_day: 6.0, spread: 0.5 };
    let peaking_at =
        |peak_hour| Daily { span, rate, peak_hour, amplitude: 1.0, weekend_factor: 1.0 }.generate(3).unwrap();
    let (day, night) = (peaking_at(14.0), peaking_at(2.0));
    let name = |prefix: &'static str| move |name: String| format!("{prefix}{name}");
    TraceFile {
        sources: day
            .sources
            .into_iter()
            .map(name("d"))
            .chain(night.sources.into_iter().map(name("n")))
            .collect(),
        times: [day.times, night.times].concat(),
        warnings: Vec::new(),
    }
}

#[test]
fn the_budget_holds_and_the_warm_up_is_not_scored() {
    let trace = poisson();
    let chronons = whole(&trace, 600).chronons;
    for per_change in [0.3, 1.0, 2.7] {
        for name in [PolicyName::Wic, PolicyName::RoundRobin] {
            let all = run(&trace, 600, per_change, name, Learning { warm_up: 0.0, ..USUAL });
            let scored = run(&trace, 600, per_change, name, USUAL);
            assert_eq!(all.schedule, scored.schedule);
            let budget =
                Budget::constant(per_change * all.score.changes as f64 / f64::from(chronons)).unwrap();
            assert_eq!(check_budget(&all.schedule, &budget, &Costs::uniform(), chronons), Ok(()));
            // Most of it is used: two meters that round differently wait for each other now and then.
            assert!(all.score.probes as f64 > 0.9 * per_change * all.score.changes as f64);
            let share = scored.score.changes as f64 / all.score.changes as f64;
            assert!((share - 0.75).abs() < 0.03, "{share}");
            assert!(scored.score.probes < all.score.probes);
        }
    }
}

#[test]
fn what_no_probe_has_shown_changes_nothing() {
    // The same trace up to its middle: the schedule is the same up to there.
    let trace = poisson();
    let middle = i64::from(10 * DAY);
    let keep = |times: &Vec<i64>| times.iter().copied().filter(|&time| time < middle).collect();
    let half = TraceFile { times: trace.times.iter().map(keep).collect(), ..trace.clone() };
    let chronon_seconds = NonZeroU32::new(600).unwrap();
    let epoch = Epoch { start: 0, chronon_seconds, chronons: 2_880 };
    let value = ValueModel::new(Life::Overwrite, Urgency::Uniform);
    let schedule = |trace: &TraceFile| {
        let setup = setup(PolicyName::Wic, 0.8, epoch.chronons);
        learned(trace, epoch, value, &setup, USUAL, |_| ()).unwrap().schedule
    };
    let before = |probe: &&dunlin_core::Probe| probe.chronon <= Chronon::new(1_440).unwrap();
    let (whole, half) = (schedule(&trace), schedule(&half));
    assert!(whole.probes().iter().take_while(before).eq(half.probes().iter().take_while(before)));
    assert_ne!(whole, half);
}

#[test]
fn learning_beats_taking_turns_and_rhythms_beat_rates() {
    let rates = poisson();
    let by_turns = run(&rates, 600, 1.0, PolicyName::RoundRobin, USUAL).score.completeness;
    let by_rate = run(&rates, 600, 1.0, PolicyName::Wic, USUAL).score.completeness;
    assert!(by_rate > by_turns + 0.05, "{by_rate} {by_turns}");
    let by_plan = run(&rates, 600, 1.0, PolicyName::Cam, USUAL).score.completeness;
    assert!(by_plan > by_turns + 0.02, "{by_plan} {by_turns}");

    let hours = by_day_and_by_night();
    for reveal in [Reveal::Changes, Reveal::Last, Reveal::Timestamps] {
        let with = |parts| {
            run(&hours, 600, 1.0, PolicyName::Wic, Learning { reveal, parts, ..USUAL }).score.completeness
        };
        let (flat, full) = (with(Parts::Rate), with(Parts::All));
        assert!(full > flat + 0.01, "{reveal:?}: {full} {flat}");
    }
}

#[test]
fn on_real_traces_rhythms_do_not_cost_completeness() {
    for (name, chronon) in [("bbc_home_sections", 900), ("covid_eu", 21_600), ("news_rss_ru", 3_600)] {
        let Some(trace) = shared(name) else { return };
        let completeness = |name, parts| {
            let learning = Learning { reveal: Reveal::Last, parts, ..USUAL };
            run(&trace, chronon, 1.0, name, learning).score.completeness
        };
        let by_turns = completeness(PolicyName::RoundRobin, Parts::All);
        let (flat, full) =
            (completeness(PolicyName::Wic, Parts::Rate), completeness(PolicyName::Wic, Parts::All));
        assert!(full > flat - 0.02 && full > by_turns + 0.05, "{name}: {full} {flat} {by_turns}");
    }
}

/// A trace of those that are shared beside the checkout, if they are there.
fn shared(name: &str) -> Option<TraceFile> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/traces"));
    let path = path.join(format!("{name}.csv.gz"));
    if !path.exists() {
        eprintln!("note: {} is not there; generated data alone is tried", path.display());
        return None;
    }
    Some(TraceFile::open(&path).unwrap())
}

#[test]
fn on_weather_reports_learning_leads() {
    let Some(trace) = shared("metar_us_a") else { return };
    let completeness = |name| run(&trace, 60, 1.0, name, USUAL).score.completeness;
    let (by_turns, learned) = (completeness(PolicyName::RoundRobin), completeness(PolicyName::Wic));
    assert!(learned > by_turns + 0.05, "{learned} {by_turns}");
}

/// As the whole program is tested: a minute passes in a second, so that there is no hour and no week to be learned; there
/// is a day to learn and to score at once, from nothing.
#[test]
fn in_a_hurry_learning_leads_within_a_day() {
    let Some(mut trace) = shared("metar_us_a") else { return };
    trace.times.iter_mut().flatten().for_each(|time| *time /= 60);
    trace.times.iter_mut().for_each(Vec::dedup);
    let chronon_seconds = NonZeroU32::new(1).unwrap();
    let value = ValueModel::new(Life::Overwrite, Urgency::Uniform);
    let begin = trace.default_start(chronon_seconds);
    for hour in [0, 12, 24, 36, 48] {
        let epoch = Epoch { start: begin + hour * 60, chronon_seconds, chronons: 24 * 60 };
        let budget = trace.changes(epoch).len() as f64 / f64::from(epoch.chronons);
        for reveal in [Reveal::Changes, Reveal::Last] {
            let completeness = |name| {
                let setup = setup(name, budget, epoch.chronons);
                let learning = Learning { warm_up: 0.0, reveal, ..USUAL };
                learned(&trace, epoch, value, &setup, learning, |_| ()).unwrap().score.completeness
            };
            let (by_turns, by_rate) = (completeness(PolicyName::RoundRobin), completeness(PolicyName::Wic));
            assert!(by_rate > by_turns + 0.02, "{hour} {reveal:?}: {by_rate} {by_turns}");
        }
    }
}

/// Where there is little to learn from: a few looks per source, sources that begin and end, changes in bursts.
#[test]
fn nowhere_is_learning_much_worse_than_taking_turns() {
    for (name, chronon) in [
        ("wiki_pages_a", 60),
        ("ca_fires", 1_200),
        ("ebay_palm_3d", 600),
        ("ebay_palm_5d", 600),
        ("ebay_palm_7d", 600),
        ("metar_kjfk", 300),
    ] {
        let Some(trace) = shared(name) else { return };
        for reveal in [Reveal::Changes, Reveal::Last] {
            let completeness =
                |policy| run(&trace, chronon, 1.0, policy, Learning { reveal, ..USUAL }).score.completeness;
            let (by_turns, learned) = (completeness(PolicyName::RoundRobin), completeness(PolicyName::Wic));
            assert!(learned > by_turns - 0.01, "{name} {reveal:?}: {learned} {by_turns}");
        }
    }
}

#[test]
fn bursts_are_worth_knowing() {
    let Some(trace) = shared("irma_2017") else { return };
    let with = |parts| run(&trace, 300, 1.0, PolicyName::Wic, Learning { parts, ..USUAL }).score.completeness;
    let (flat, full) = (with(Parts::Rate), with(Parts::All));
    assert!(full > flat + 0.1, "{full} {flat}");
}

#[test]
fn what_cannot_be_is_refused() {
    let trace = poisson();
    let chronon_seconds = NonZeroU32::new(600).unwrap();
    let epoch = Epoch { start: 0, chronon_seconds, chronons: 100 };
    let value = ValueModel::new(Life::Overwrite, Urgency::Uniform);
    let refusal = |name, warm_up| {
        let learning = Learning { warm_up, ..USUAL };
        learned(&trace, epoch, value, &setup(name, 1.0, 100), learning, |_| ()).unwrap_err().to_string()
    };
    assert_eq!(
        refusal(PolicyName::Mrsf, 0.25),
        "policy mrsf (expected wic, cam or round-robin, which can learn)"
    );
    assert_eq!(refusal(PolicyName::Wic, 1.0), "warm-up 1 (expected a share from 0 to below 1)");
    assert_eq!(refusal(PolicyName::Wic, f64::NAN), "warm-up NaN (expected a share from 0 to below 1)");
}
