//! The scheduler alone: up to a million sources and a hundred thousand open intervals, a hundred probes a second, all its inputs
//! and choices in a while of virtual time, as a share of one core and for each event.

use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use dunlin_sched::model::{Completeness, Evidence, Model, Prior};
use dunlin_sched::scheduler::{
    CeiEvent, CeiId, HostIdx, HostTerms, Input, Interval, Pace, Scheduler, Settings, Shown, SourceTerms,
    Strategy,
};
use dunlin_sched::value::{Life, Urgency, ValueModel};

use crate::figures::cpu_seconds;

const HOSTS: u32 = 10_000;
const PER_SECOND: f64 = 100.0;
const SECONDS: u32 = 600;
/// Before that: all sources are ranked once, and the price of a probe is found.
const FIRST_SECONDS: u32 = 60;
/// Sources for one open need, of two intervals each.
const SOURCES_PER_NEED: u32 = 20;
/// How long a need is open.
const OPEN_SECONDS: u32 = 1_000;

pub(crate) fn report() {
    println!(
        "scheduler alone, {PER_SECOND} probes per second wanted, {SECONDS} s of virtual time after the first {FIRST_SECONDS} s"
    );
    println!(
        "    {:>9} {:>10} {:>12} {:>12} {:>14} {:>14}",
        "sources", "intervals", "probes / s", "% of a core", "µs per event", "first minute"
    );
    for has_needs in [false, true] {
        for n_sources in [10_000, 100_000, 1_000_000] {
            measure(n_sources, if has_needs { n_sources / SOURCES_PER_NEED } else { 0 });
        }
    }
}

fn measure(n_sources: u32, n_needs: u32) {
    let mut scheduler = Scheduler::new(Settings {
        chronon: Duration::from_secs(1),
        strategy: Strategy::Learned,
        budget: Pace { per_second: PER_SECOND },
        initial_price: None,
    });
    let begin = Time::from_seconds(1_700_000_000);
    for host in 0..HOSTS {
        let terms = HostTerms { at_one_time: 1, budget: None };
        scheduler.apply(begin, Input::Host { host: HostIdx(host), terms });
    }
    for source in 0..n_sources {
        scheduler.apply(begin, joined(source, begin));
    }
    let mut n_known = 0;
    for _ in 0..n_needs {
        n_known += 1;
        scheduler.apply(begin, need(n_known, n_sources, begin, scattered(n_known) % OPEN_SECONDS));
    }
    let loaded = cpu_seconds();
    let (mut probes, mut events, mut started) = (0_u64, 0_u64, loaded);
    let (mut chosen, mut n_open) = (Vec::new(), n_needs);
    for second in 1..=FIRST_SECONDS + SECONDS {
        if second == FIRST_SECONDS + 1 {
            (probes, events, started) = (0, 0, cpu_seconds());
        }
        let now = begin.plus(Duration::from_secs(u64::from(second)));
        for event in scheduler.take_cei_events() {
            n_open -= u32::from(!matches!(event, CeiEvent::IntervalCaptured { .. }));
            events += 1;
        }
        // As many come as have ended.
        for _ in n_open..n_needs {
            n_known += 1;
            scheduler.apply(now, need(n_known, n_sources, now, OPEN_SECONDS));
            events += 1;
        }
        n_open = n_needs;
        scheduler.choose(now, usize::MAX, &mut chosen);
        probes += chosen.len() as u64;
        let answered = now.plus(Duration::from_millis(300));
        events += 1 + 2 * chosen.len() as u64;
        for choice in chosen.drain(..) {
            let evidence = if scattered(choice.resource.0 ^ second).is_multiple_of(3) {
                Evidence::Changed { times: Vec::new(), completeness: Completeness::Latest }
            } else {
                Evidence::Unchanged
            };
            scheduler
                .apply(answered, Input::Probed { resource: choice.resource, shown: Shown::All(evidence) });
            let host = HostIdx(choice.resource.0 % HOSTS);
            scheduler.apply(answered, Input::HostHeld { host, until: answered.plus(Duration::from_secs(2)) });
        }
    }
    let seconds = cpu_seconds() - started;
    println!(
        "    {n_sources:>9} {:>10} {:>12.1} {:>12.2} {:>14.2} {:>12.2} s",
        2 * n_needs,
        probes as f64 / f64::from(SECONDS),
        seconds / f64::from(SECONDS) * 100.0,
        seconds * 1e6 / events as f64,
        started - loaded,
    );
}

/// A need for two sources, each within so many seconds.
fn need(number: u32, n_sources: u32, now: Time, within: u32) -> Input {
    let interval = |nth: u32| {
        let source = scattered(number.wrapping_mul(2).wrapping_add(nth)) % n_sources;
        let finish = now.plus(Duration::from_secs(u64::from(within)));
        Interval { resource: ResourceIdx(source), source: SourceIdx(source), start: now, finish }
    };
    Input::CeiArrived {
        cei: CeiId(number.into()),
        intervals: vec![interval(0), interval(1)],
        captured: Vec::new(),
        need: 2,
        weight: 1.0,
    }
}

/// A source that was seen some time in the last days, and changes at a rate of its own.
fn joined(source: u32, begin: Time) -> Input {
    let spread = f64::from(scattered(source)) / f64::from(u32::MAX);
    let prior = Prior { rate: 1e-6 * 1000_f64.powf(spread), strength: 4.0 };
    let ago = Duration::from_secs(u64::from(scattered(source.wrapping_mul(31)) % 200_000));
    let value = ValueModel::new(Life::Overwrite, Urgency::Uniform);
    Input::SourceAdded {
        resource: ResourceIdx(source),
        source: SourceIdx(source),
        terms: SourceTerms {
            host: HostIdx(source % HOSTS),
            value,
            cost: 1.0,
            shortest_gap: Duration::from_mins(1),
            longest_gap: Duration::from_hours(24 * 30),
            wants_changes: true,
        },
        model: Model::new(prior),
        last_probe: Some(Time::from_micros(begin.micros() - ago.as_micros() as i64)),
        not_before: None,
    }
}

const fn scattered(number: u32) -> u32 {
    let mixed = (number ^ (number >> 16)).wrapping_mul(0x7feb_352d);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x846c_a68b);
    mixed ^ (mixed >> 16)
}
