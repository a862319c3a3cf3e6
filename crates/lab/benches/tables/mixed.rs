//! One scheduler for changes and needs against every fixed split of the budget, on traces mixed with needs of several loads.

use std::num::NonZeroU32;

use dunlin_core::Budget;
use dunlin_lab::files::{Epoch, IntervalsFile, TraceFile};
use dunlin_lab::generate::{AuctionWatch, IntervalLength, PoissonUpdates};
use dunlin_lab::learned::{Learning, Reveal};
use dunlin_lab::mixed::{Gain, Mix, Mixed};
use dunlin_sched::model::Parts;
use dunlin_sched::value::{Life, Urgency, ValueModel};
use rayon::prelude::*;

const TRACES: [(&str, u32); 3] = [("metar_us_a", 60), ("wiki_pages_a", 60), ("pge_cities", 900)];
/// Intervals per unit of budget: from light to twice what could be probed.
const LOADS: [f64; 4] = [0.2, 0.6, 1.0, 2.0];
/// So many profiles show how many intervals one has.
const FEW: u32 = 50;
/// The part of a trace that is run, so that a table takes minutes.
const MOST_CHRONONS: u32 = 3_000;

/// Where needs come from.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Sources that only needs know.
    Apart,
    /// The changes of the trace itself.
    Shared,
}

pub(crate) fn print(only: &[&str]) {
    println!("| trace | needs | load | one scheduler | changes + CEIs | best split | its share | ratio |");
    println!("|---|---|---|---|---|---|---|---|");
    let mixes: Vec<(&str, u32, Kind, f64)> = TRACES
        .iter()
        .filter(|(name, _)| only.is_empty() || only.contains(name))
        .flat_map(|&(name, chronon)| [(name, chronon, Kind::Apart), (name, chronon, Kind::Shared)])
        .flat_map(|(name, chronon, kind)| LOADS.map(|load| (name, chronon, kind, load)))
        .collect();
    let rows: Vec<String> =
        mixes.par_iter().map(|&(name, chronon, kind, load)| row(name, chronon, kind, load)).collect();
    rows.iter().for_each(|row| println!("{row}"));
}

fn row(name: &str, chronon: u32, kind: Kind, load: f64) -> String {
    let Mixed { live, splits } = compare(name, chronon, kind, load);
    let (share, best): (f64, Gain) =
        splits.into_iter().max_by(|a, b| a.1.total().total_cmp(&b.1.total())).unwrap();
    format!(
        "| {name} | {kind:?} | {load} | {:.0} | {:.0} + {:.0} | {:.0} ({:.0} + {:.0}) | {:.0} % | {:.3} |",
        live.total(),
        live.changes,
        live.ceis,
        best.total(),
        best.changes,
        best.ceis,
        100.0 * share,
        live.total() / best.total()
    )
}

fn compare(name: &str, chronon: u32, kind: Kind, load: f64) -> Mixed {
    let trace = crate::trace(name);
    let chronon_seconds = NonZeroU32::new(chronon).unwrap();
    let start = trace.default_start(chronon_seconds);
    let chronons = trace.default_chronons(start, chronon_seconds).min(MOST_CHRONONS);
    let epoch = Epoch { start, chronon_seconds, chronons };
    let n_changes: usize = trace.changes(epoch).by_source().map(|(_, own)| own.len()).sum();
    let grant = n_changes as f64 / f64::from(chronons);
    let needs = needs(&trace, epoch, kind, load * grant);
    let learning = Learning { warm_up: 0.25, reveal: Reveal::Changes, parts: Parts::All };
    let value = ValueModel::new(Life::Overwrite, Urgency::Uniform);
    let budget = Budget::constant(grant).unwrap();
    Mix::new(trace, &needs).unwrap().compare(epoch, value, &budget, learning, || ()).unwrap()
}

/// Needs with about so many intervals per chronon.
fn needs(trace: &TraceFile, epoch: Epoch, kind: Kind, per_chronon: f64) -> IntervalsFile {
    let made = |profiles| {
        let watch = AuctionWatch { profiles, length: IntervalLength::Window(10), ..AuctionWatch::default() };
        match kind {
            Kind::Shared => watch.generate(&trace.changes(epoch), &trace.sources, 1).unwrap(),
            Kind::Apart => {
                let lambda = f64::from(epoch.chronons) / 50.0;
                let updates = PoissonUpdates { sources: 200, chronons: epoch.chronons, lambda };
                watch.generate(&updates.generate(1).unwrap(), &updates.names(), 1).unwrap()
            }
        }
    };
    let each = made(FEW).workload.n_intervals() as f64 / f64::from(FEW);
    let wanted = per_chronon * f64::from(epoch.chronons) / each;
    let profiles = (1..100_000).find(|profiles| f64::from(*profiles) >= wanted);
    made(profiles.unwrap_or(100_000))
}
