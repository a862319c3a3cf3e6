//! What learning is worth on real traces: the share of changes that are found, under a budget of one probe per change.

use std::num::NonZeroU32;

use dunlin_core::{Budget, Costs};
use dunlin_lab::files::{Epoch, TraceFile};
use dunlin_lab::learned::{Learning, Reveal, learned};
use dunlin_lab::policies::{PolicyChoice, PolicyName};
use dunlin_lab::simulate::Setup;
use dunlin_sched::model::Parts;
use dunlin_sched::policy::Preemption;
use dunlin_sched::value::{Life, Urgency, ValueModel};
use rayon::prelude::*;

use crate::with_range;

/// Chronons as fine as the times of the trace are known.
const TRACES: [(&str, &str, u32); 17] = [
    ("metar_us_a", "1m", 60),
    ("metar_kjfk", "5m", 300),
    ("wiki_pages_a", "1m", 60),
    ("wiki_langns_a", "1m", 60),
    ("bbc_home_sections", "15m", 900),
    ("news_rss_ru", "1h", 3_600),
    ("covid_eu", "6h", 21_600),
    ("website_stalker_a", "1h", 3_600),
    ("tos_contrib", "12h", 43_200),
    ("pge_cities", "15m", 900),
    ("irma_2017", "5m", 300),
    ("ca_fires", "20m", 1_200),
    ("ebay_palm_3d", "10m", 600),
    ("ebay_palm_5d", "10m", 600),
    ("ebay_palm_7d", "10m", 600),
    ("scoop_main", "4h", 14_400),
    ("congress_tweets_2019", "15m", 900),
];

/// Probes per change, and how many hundredths of the trace are left out at its beginning.
const NEARBY: [(f64, u32); 5] = [(0.98, 2), (0.99, 1), (1.0, 0), (1.01, 3), (1.02, 4)];

const WAYS: [(&str, PolicyName, Reveal, Parts); 7] = [
    ("taking turns", PolicyName::RoundRobin, Reveal::Changes, Parts::All),
    ("learned, undated", PolicyName::Wic, Reveal::Changes, Parts::All),
    ("the rate alone", PolicyName::Wic, Reveal::Changes, Parts::Rate),
    ("learned, last date", PolicyName::Wic, Reveal::Last, Parts::All),
    ("the rate alone", PolicyName::Wic, Reveal::Last, Parts::Rate),
    ("learned, all dates", PolicyName::Wic, Reveal::Timestamps, Parts::All),
    ("the rate alone", PolicyName::Wic, Reveal::Timestamps, Parts::Rate),
];

pub(crate) fn print(only: &[&str]) {
    let names: Vec<_> = WAYS.iter().map(|way| way.0).collect();
    println!("| trace (chronon) | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(WAYS.len()));
    for (name, shown, chronon) in TRACES {
        if only.is_empty() || only.contains(&name) {
            let trace = crate::trace(name);
            let cell = |&(_, policy, reveal, parts): &(&str, PolicyName, Reveal, Parts)| {
                let learning = Learning { warm_up: 0.25, reveal, parts };
                let found: Vec<f64> = NEARBY
                    .par_iter()
                    .map(|&nearby| found(&trace, chronon, nearby, policy, learning))
                    .collect();
                with_range(&found)
            };
            let cells: Vec<String> = WAYS.par_iter().map(cell).collect();
            println!("| {name} ({shown}) | {} |", cells.join(" | "));
        }
    }
}

/// The share of changes found after the first quarter.
fn found(trace: &TraceFile, chronon: u32, nearby: (f64, u32), policy: PolicyName, learning: Learning) -> f64 {
    let (per_change, skipped_hundredths) = nearby;
    let chronon_seconds = NonZeroU32::new(chronon).unwrap();
    let begin = trace.default_start(chronon_seconds);
    let all = trace.default_chronons(begin, chronon_seconds);
    let skipped = u32::try_from(u64::from(all) * u64::from(skipped_hundredths) / 100).unwrap();
    let start = begin + i64::from(skipped) * i64::from(chronon);
    let epoch = Epoch { start, chronon_seconds, chronons: all - skipped };
    let per_chronon = per_change * trace.changes(epoch).len() as f64 / f64::from(epoch.chronons);
    let setup = Setup {
        policy: PolicyChoice { name: policy, preemption: Preemption::Preemptive },
        budget: Budget::constant(per_chronon).unwrap(),
        costs: Costs::uniform(),
        chronons: epoch.chronons,
        seed: 0,
    };
    let value = ValueModel::new(Life::Overwrite, Urgency::Uniform);
    learned(trace, epoch, value, &setup, learning, |_| ()).unwrap().score.completeness
}
