//! CAM: what allocation is worth by how skewed pages are, and CAM beside WIC on a real trace.

use std::num::NonZeroU32;

use dunlin_core::{Budget, Costs};
use dunlin_lab::cam::Headline;
use dunlin_lab::files::Epoch;
use dunlin_lab::generate::Tracked;
use dunlin_lab::knowledge::ChangeProbabilities;
use dunlin_lab::policies::{PolicyChoice, PolicyName};
use dunlin_lab::simulate::{self, Setup};
use dunlin_sched::policy::Preemption;
use dunlin_sched::value::ValueModel;

/// Weight returned by each way to spend probes for 5 % of the instants, with the standard deviation over ten seeds.
pub(crate) fn print_skew() {
    println!("| skew | uniform | proportional | CAM |");
    println!("|--:|--:|--:|--:|");
    for skew in [0.0, 0.5, 1.0, 1.5, 2.0] {
        let pages = Tracked { weight_skew: skew, change_skew: skew, ..Tracked::default() };
        let returned = Headline { pages, share: 0.05, room: 2, seeds: (0..10).collect() }.run().unwrap();
        let cell = |name: &str| {
            let weight = returned.iter().find(|way| way.name == name).unwrap().weight;
            format!("{:.3} ± {:.3}", weight.mean, weight.deviation)
        };
        println!("| {skew} | {} | {} | {} |", cell("uniform"), cell("proportional"), cell("cam"));
    }
}

/// Days of edits of wiki pages, with exact knowledge, when only what is found at once counts.
pub(crate) fn print_trace() {
    let trace = crate::trace("wiki_pages_a");
    let chronon_seconds = NonZeroU32::new(60).unwrap();
    let begin = trace.default_start(chronon_seconds);
    let value = ValueModel::new("append".parse().unwrap(), "sliding:0".parse().unwrap());
    println!(
        "| probes per minute | WIC: completeness | WIC: found at once | CAM: completeness | CAM: found at once |"
    );
    println!("|--:|---|---|---|---|");
    for per_chronon in [0.5, 1.0, 2.0] {
        let mut cells = Vec::new();
        for name in [PolicyName::Wic, PolicyName::Cam] {
            let scores: Vec<_> = (0..5)
                .map(|start| {
                    // Beginning at another hour, for as long as the shortest of them lasts.
                    let start = begin + start * 3_600;
                    let chronons = trace.default_chronons(begin, chronon_seconds) - 4 * 60;
                    let changes = trace.changes(Epoch { start, chronon_seconds, chronons });
                    let setup = Setup {
                        policy: PolicyChoice { name, preemption: Preemption::Preemptive },
                        budget: Budget::constant(per_chronon).unwrap(),
                        costs: Costs::uniform(),
                        chronons,
                        seed: 0,
                    };
                    let known = ChangeProbabilities::exact(&changes);
                    simulate::trace(&changes, &known, value, &setup, |_| ()).unwrap().score
                })
                .collect();
            cells.push(crate::with_range(&scores.iter().map(|score| score.completeness).collect::<Vec<_>>()));
            cells.push(crate::with_range(&scores.iter().map(|score| score.zero_delay).collect::<Vec<_>>()));
        }
        println!("| {per_chronon} | {} |", cells.join(" | "));
    }
}
