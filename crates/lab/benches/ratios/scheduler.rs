//! The live scheduler at a hundred probes per second, against one that probes every source in every second. Each probe is
//! answered at once, one in four with a change.

use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use dunlin_sched::model::{Completeness, Evidence, Model, Prior};
use dunlin_sched::plain::PlainScheduler;
use dunlin_sched::scheduler::{
    Choice, HostIdx, HostTerms, Input, Pace, Scheduler, Settings, Shown, SourceTerms, Strategy,
};
use dunlin_sched::value::{Life, Urgency, ValueModel};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::measure::Measured;

const PROBES_PER_SECOND: f64 = 100.0;
const SOURCES_PER_HOST: u32 = 20;
/// Long enough that every source is probed or reviewed.
const SECONDS: i64 = 3_600;
/// The same before the clock runs: prices settle, and no source is in the state in which it joined.
const WARM_UP: i64 = 600;
/// The plain scheduler is measured over this many seconds.
const SLICE: i64 = 20;

fn at(second: i64) -> Time {
    Time::from_seconds(1_700_000_000 + second)
}

fn settings() -> Settings {
    Settings {
        chronon: Duration::from_secs(1),
        strategy: Strategy::Learned,
        budget: Pace { per_second: PROBES_PER_SECOND },
        initial_price: None,
    }
}

/// The sources as they are after a restart: known for a while, last seen at some time since they were due.
fn inputs(n_sources: u32) -> impl Iterator<Item = Input> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let terms = HostTerms { at_one_time: 2, budget: None };
    let hosts =
        (0..=n_sources / SOURCES_PER_HOST).map(move |host| Input::Host { host: HostIdx(host), terms });
    let mean_gap = f64::from(n_sources) / PROBES_PER_SECOND;
    let sources = (0..n_sources).map(move |source| {
        let (life, urgency) = match source % 3 {
            0 => (Life::Overwrite, Urgency::Uniform),
            1 => (Life::Append, Urgency::Exponential(0.9999)),
            _ => (Life::Append, Urgency::Uniform),
        };
        let rate = 10f64.powf(rng.random_range(-6.0..-3.0));
        let ago = Duration::from_secs_f64(rng.random_range(0.0..mean_gap));
        Input::SourceAdded {
            resource: ResourceIdx(source),
            source: SourceIdx(source),
            terms: SourceTerms {
                host: HostIdx(source / SOURCES_PER_HOST),
                value: ValueModel { life, urgency, weight: rng.random_range(0.2..1.0) },
                cost: 1.0,
                shortest_gap: Duration::from_secs(30),
                longest_gap: Duration::from_hours(7 * 24),
                wants_changes: true,
            },
            model: Model::new(Prior { rate, strength: 4.0 }),
            last_probe: Some(Time::from_micros(at(0).micros() - ago.as_micros() as i64)),
            not_before: None,
        }
    });
    hosts.chain(sources)
}

fn answers(chosen: &[Choice], rng: &mut ChaCha8Rng) -> Vec<Input> {
    let answer = |choice: &Choice| {
        let has_changed = rng.random_range(0..4) == 0;
        let changed = Evidence::Changed { times: Vec::new(), completeness: Completeness::Latest };
        let evidence = if has_changed { changed } else { Evidence::Unchanged };
        Input::Probed { resource: choice.resource, shown: Shown::All(evidence) }
    };
    chosen.iter().map(answer).collect()
}

/// Runs `scheduler-fast-N`, `scheduler-joining-N` or `scheduler-plain-N` with N sources.
pub(crate) fn run(case: &str) -> Option<Measured> {
    let (kind, n_sources) = case.strip_prefix("scheduler-")?.split_once('-')?;
    let n_sources: u32 = n_sources.parse().ok()?;
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let mut fast = Scheduler::new(settings());
    let mut run_fast = |scheduler: &mut Scheduler, seconds: std::ops::Range<i64>| {
        let mut chosen = Vec::new();
        for second in seconds {
            chosen.clear();
            scheduler.choose(at(second), usize::MAX, &mut chosen);
            answers(&chosen, &mut rng).into_iter().for_each(|input| scheduler.apply(at(second), input));
        }
    };
    match kind {
        "fast" => {
            inputs(n_sources).for_each(|input| fast.apply(at(0), input));
            run_fast(&mut fast, 1..WARM_UP);
            Some(Measured::of(SECONDS as usize, || run_fast(&mut fast, WARM_UP..WARM_UP + SECONDS)))
        }
        "joining" => {
            let joined = Measured::of(n_sources as usize, || {
                inputs(n_sources).for_each(|input| fast.apply(at(0), input));
                run_fast(&mut fast, 1..2);
            });
            Some(joined)
        }
        "plain" => {
            let mut plain = PlainScheduler::new(settings());
            inputs(n_sources).for_each(|input| plain.apply(at(0), input));
            Some(Measured::of(SLICE as usize, || {
                let mut chosen = Vec::new();
                for second in 1..=SLICE {
                    chosen.clear();
                    plain.choose(at(second), usize::MAX, &mut chosen);
                    answers(&chosen, &mut rng).into_iter().for_each(|input| plain.apply(at(second), input));
                }
            }))
        }
        _ => None,
    }
}

pub(crate) fn report() {
    println!("live scheduler, {PROBES_PER_SECOND} probes per second, {SECONDS} simulated seconds");
    println!(
        "{:>10} {:>12} {:>11} {:>12} {:>14} {:>7} {:>13}",
        "sources", "µs/second", "of a core", "bytes/source", "plain µs/s*", "ratio", "ns to join"
    );
    let mut costs = Vec::new();
    for n_sources in [10_000u32, 100_000, 1_000_000] {
        let measure = |kind: &str| Measured::in_child(&format!("scheduler-{kind}-{n_sources}"));
        let (fast, joining) = (measure("fast"), measure("joining"));
        let micros = fast.nanos_per_unit() / 1e3;
        let plain = (n_sources <= 100_000).then(|| measure("plain").nanos_per_unit() / 1e3);
        costs.push((micros, plain));
        // Beyond what has patience, a scan costs ten times as much for ten times as many.
        let plain = plain.unwrap_or_else(|| costs.iter().rev().find_map(|cost| cost.1).unwrap() * 10.0);
        println!(
            "{n_sources:>10} {micros:>12.1} {:>10.3}% {:>12.0} {plain:>14.0} {:>6.0}x {:>13.0}",
            micros / 1e4,
            joining.peak_mib * 1024.0 * 1024.0 / f64::from(n_sources),
            plain / micros,
            joining.nanos_per_unit(),
        );
    }
    println!("time per second from 10^4 to 10^6 sources: x{:.2}", costs[2].0 / costs[0].0);
    println!("* over {SLICE} seconds; at 10^6 extrapolated from 10^5\n");
}
