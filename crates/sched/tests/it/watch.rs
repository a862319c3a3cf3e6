//! The laws of the live watch, for any inputs in any order, and what it is good for on worlds of many sources.

mod audit; // books of its own, to judge what is chosen
mod collected; // value against the plain watch
mod examples; // fairness, prices, holds, explanations: cases with a point
mod intervals; // needs that span sources
mod laws; // random inputs
mod planned; // the watch that goes by plans

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use dunlin_sched::model::{Known, Model, Prior, Seen};
use dunlin_sched::value::{Life, Urgency, ValueModel};
use dunlin_sched::watch::{Choice, HostIdx, HostTerms, Input, Pace, Settings, Strategy, Terms, Watch};

fn at(seconds: i64) -> Time {
    Time::from_seconds(1_700_000_000 + seconds)
}

fn settings(per_second: f64) -> Settings {
    Settings {
        chronon: Duration::from_secs(1),
        strategy: Strategy::Learned,
        budget: Pace { per_second },
        initial_price: None,
    }
}

fn terms(host: u32) -> Terms {
    Terms {
        host: HostIdx(host),
        value: ValueModel::new(Life::Overwrite, Urgency::Uniform),
        cost: 1.0,
        shortest_gap: Duration::from_secs(10),
        longest_gap: Duration::from_hours(24),
        wants_changes: true,
    }
}

fn host(host: u32, at_one_time: u32) -> Input {
    Input::Host { host: HostIdx(host), terms: HostTerms { at_one_time, budget: None } }
}

/// A model that is sure of its rate.
fn sure(per_second: f64) -> Model {
    Model::new(Prior { rate: per_second, strength: 100.0 })
}

fn joined(source: u32, terms: Terms, model: Model, last_look: Option<Time>) -> Input {
    Input::Joined { source: SourceIdx(source), terms, model, last_look, not_before: None }
}

fn changed() -> Seen {
    Seen::Changed { times: Vec::new(), known: Known::Latest }
}

/// Chooses, and tells at once that nothing has changed.
fn step(watch: &mut Watch, now: Time) -> Vec<Choice> {
    let mut chosen = Vec::new();
    watch.choose(now, usize::MAX, &mut chosen);
    for choice in &chosen {
        watch.apply(now, Input::Looked { source: choice.source, seen: Seen::Unchanged });
    }
    chosen
}
