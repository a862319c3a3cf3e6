//! The scheduler alone: a million sources, a hundred probes a second, all its inputs and choices in a while of
//! virtual time, as a share of one core.

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use dunlin_sched::model::{Known, Model, Prior, Seen};
use dunlin_sched::value::{Life, Urgency, ValueModel};
use dunlin_sched::watch::{HostIdx, HostTerms, Input, Pace, Settings, Strategy, Terms, Watch};

use crate::figures::cpu_seconds;

const SOURCES: u32 = 1_000_000;
const HOSTS: u32 = 10_000;
const PER_SECOND: f64 = 100.0;
const SECONDS: u32 = 600;

pub(crate) fn report() {
    let mut watch = Watch::new(Settings {
        chronon: Duration::from_secs(1),
        strategy: Strategy::Learned,
        budget: Pace { per_second: PER_SECOND },
        initial_price: None,
    });
    let begin = Time::from_seconds(1_700_000_000);
    for host in 0..HOSTS {
        let terms = HostTerms { at_one_time: 1, budget: None };
        watch.apply(begin, Input::Host { host: HostIdx(host), terms });
    }
    for source in 0..SOURCES {
        watch.apply(begin, joined(source, begin));
    }
    let loaded = cpu_seconds();
    let mut looks = 0_u64;
    let mut chosen = Vec::new();
    for second in 1..=SECONDS {
        let now = begin.plus(Duration::from_secs(u64::from(second)));
        watch.choose(now, usize::MAX, &mut chosen);
        looks += chosen.len() as u64;
        let answered = now.plus(Duration::from_millis(300));
        for choice in chosen.drain(..) {
            let seen = if scattered(choice.source.0 ^ second).is_multiple_of(3) {
                Seen::Changed { times: Vec::new(), known: Known::Latest }
            } else {
                Seen::Unchanged
            };
            watch.apply(answered, Input::Looked { source: choice.source, seen });
            let host = HostIdx(choice.source.0 % HOSTS);
            watch.apply(answered, Input::Held { host, until: answered.plus(Duration::from_secs(2)) });
        }
    }
    let share = (cpu_seconds() - loaded) / f64::from(SECONDS);
    println!(
        "scheduler alone, {SOURCES} sources, {:.0} probes per second",
        looks as f64 / f64::from(SECONDS)
    );
    println!("    {:>8.2} % of a core", share * 100.0);
}

/// A source that was seen some time in the last days, and changes at a rate of its own.
fn joined(source: u32, begin: Time) -> Input {
    let spread = f64::from(scattered(source)) / f64::from(u32::MAX);
    let prior = Prior { rate: 1e-6 * 1000_f64.powf(spread), strength: 4.0 };
    let ago = Duration::from_secs(u64::from(scattered(source.wrapping_mul(31)) % 200_000));
    let value = ValueModel::new(Life::Overwrite, Urgency::Uniform);
    Input::Joined {
        source: SourceIdx(source),
        terms: Terms {
            host: HostIdx(source % HOSTS),
            value,
            cost: 1.0,
            shortest_gap: Duration::from_mins(1),
            longest_gap: Duration::from_hours(24 * 30),
            wants_changes: true,
        },
        model: Model::new(prior),
        last_look: Some(Time::from_micros(begin.micros() - ago.as_micros() as i64)),
        not_before: None,
    }
}

const fn scattered(number: u32) -> u32 {
    let mixed = (number ^ (number >> 16)).wrapping_mul(0x7feb_352d);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x846c_a68b);
    mixed ^ (mixed >> 16)
}
