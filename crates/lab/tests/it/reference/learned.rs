//! The live scheduler on real traces: it leads where there is something to learn, and costs little where there is not.

use std::num::NonZeroU32;

use dunlin_lab::files::Epoch;
use dunlin_lab::learned::{Learning, Reveal, learned};
use dunlin_lab::policies::PolicyName;
use dunlin_sched::model::Parts;
use dunlin_sched::value::{Life, Urgency, ValueModel};

use super::trace;
use crate::learned::{USUAL, run, setup};

#[test]
fn on_real_traces_rhythms_do_not_cost_completeness() {
    for (name, chronon) in [("bbc_home_sections", 900), ("covid_eu", 21_600), ("news_rss_ru", 3_600)] {
        let trace = trace(name);
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

#[test]
fn on_weather_reports_learning_leads() {
    let trace = trace("metar_us_a");
    let completeness = |name| run(&trace, 60, 1.0, name, USUAL).score.completeness;
    let (by_turns, learned) = (completeness(PolicyName::RoundRobin), completeness(PolicyName::Wic));
    assert!(learned > by_turns + 0.05, "{learned} {by_turns}");
}

/// As the whole program is tested: a minute passes in a second, so that there is no hour and no week to be learned; there
/// is a day to learn and to score at once, from nothing.
#[test]
fn in_a_hurry_learning_leads_within_a_day() {
    let mut trace = trace("metar_us_a");
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

/// Where there is little to learn from: a few probes per source, sources that begin and end, changes in bursts.
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
        let trace = trace(name);
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
    let trace = trace("irma_2017");
    let with = |parts| run(&trace, 300, 1.0, PolicyName::Wic, Learning { parts, ..USUAL }).score.completeness;
    let (flat, full) = (with(Parts::Rate), with(Parts::All));
    assert!(full > flat + 0.1, "{full} {flat}");
}
