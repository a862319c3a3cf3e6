//! The laws of the live scheduler, for any inputs in any order, and what it is good for on worlds of many sources.

mod audit; // books of its own, to judge what is chosen
mod busy_hosts; // needs whose sources share hosts that are slow
mod collected; // value against the plain scheduler
mod examples; // fairness, prices, holds, explanations: cases with a point
mod intervals; // needs that span sources
mod laws; // random inputs
mod planned; // the scheduler that goes by plans
mod set_back; // clocks that do not go on
mod sharing; // several sources on one resource
mod turns; // needs and others under one budget

use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use dunlin_sched::model::{Completeness, Evidence, Model, Prior};
use dunlin_sched::scheduler::{
    Choice, HostIdx, HostTerms, Input, Pace, Scheduler, Settings, Shown, SourceTerms, Strategy,
};
use dunlin_sched::value::{Life, Urgency, ValueModel};

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

fn terms(host: u32) -> SourceTerms {
    SourceTerms {
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

fn joined(source: u32, terms: SourceTerms, model: Model, last_probe: Option<Time>) -> Input {
    Input::SourceAdded {
        resource: ResourceIdx(source),
        source: SourceIdx(source),
        terms,
        model,
        last_probe,
        not_before: None,
    }
}

fn changed() -> Evidence {
    Evidence::Changed { times: Vec::new(), completeness: Completeness::Latest }
}

/// Chooses, and tells at once that nothing has changed.
fn step(scheduler: &mut Scheduler, now: Time) -> Vec<Choice> {
    let mut chosen = Vec::new();
    scheduler.choose(now, usize::MAX, &mut chosen);
    for choice in &chosen {
        scheduler
            .apply(now, Input::Probed { resource: choice.resource, shown: Shown::All(Evidence::Unchanged) });
    }
    chosen
}
