//! The scheduler of the service as a policy for needs: it is told of CEIs, asked once in every chronon, and told what came of
//! its probes. Chronons become seconds of its clock; nothing else is translated.

use std::time::Duration;

use dunlin_core::{
    Allowance, Budget, Cei, Chronon, Costs, ExecutionInterval, Observation, Outcome, SourceIdx, Time,
};
use dunlin_sched::model::{Model, Prior, Seen};
use dunlin_sched::policy::{Arrival, Policy};
use dunlin_sched::value::{Life, Urgency, ValueModel};
use dunlin_sched::watch::{
    CeiId, Choice, HostIdx, HostTerms, Input, Interval, Pace, Settings, Strategy, Terms, Watch,
};

const CHRONON: Duration = Duration::from_secs(1);

/// The scheduler, over sources whose changes nobody wants.
#[derive(Debug)]
pub(crate) struct Live {
    scheduler: Watch,
    budget: Budget,
    costs: Costs,
    grant: f64,
    choices: Vec<Choice>,
}

impl Live {
    pub(crate) fn new(n_sources: u32, budget: &Budget, costs: Costs) -> Self {
        let grant = budget.at(Chronon::FIRST);
        let settings = Settings {
            chronon: CHRONON,
            strategy: Strategy::Learned,
            budget: Pace { per_second: grant },
            initial_price: None,
        };
        let (mut scheduler, now, host) = (Watch::new(settings), Time::from_seconds(0), HostIdx(0));
        scheduler.apply(now, Input::Host { host, terms: HostTerms { at_one_time: u32::MAX, budget: None } });
        for source in (0..n_sources).map(SourceIdx) {
            let terms = Terms {
                host,
                value: ValueModel::new(Life::Overwrite, Urgency::Uniform),
                cost: costs.of(source),
                shortest_gap: Duration::ZERO,
                longest_gap: Duration::MAX,
                wants_changes: false,
            };
            let model = Model::new(Prior::default());
            scheduler.apply(now, Input::Joined { source, terms, model, last_look: None, not_before: None });
        }
        Self { scheduler, budget: budget.clone(), costs, grant, choices: Vec::new() }
    }
}

/// A CEI as the scheduler is told of it, when `time_of` says at which moment it is asked in a chronon.
pub(crate) fn arrival(cei: &Cei<'_>, time_of: impl Fn(Chronon) -> Time) -> Input {
    let interval = |interval: &ExecutionInterval| Interval {
        source: interval.source(),
        start: time_of(interval.start()),
        finish: time_of(interval.finish()),
    };
    Input::CeiArrived {
        cei: CeiId(u64::from(cei.idx.0)),
        intervals: cei.intervals.iter().map(interval).collect(),
        need: cei.need,
        weight: cei.weight,
    }
}

/// When a chronon begins.
fn time_of(chronon: Chronon) -> Time {
    Time::from_seconds(i64::from(chronon.get()))
}

impl Policy for Live {
    fn arrive(&mut self, now: Chronon, arrival: Arrival<'_>) {
        let Arrival::Cei(cei) = arrival else { return };
        self.scheduler.apply(time_of(now), self::arrival(&cei, time_of));
    }

    fn choose(&mut self, now: Chronon, allowance: &mut Allowance, chosen: &mut Vec<SourceIdx>) {
        let (at, grant) = (time_of(now), self.budget.at(now));
        if grant != self.grant {
            self.grant = grant;
            self.scheduler.apply(at, Input::Budget(Pace { per_second: grant }));
        }
        self.scheduler.take_cei_events();
        let mut choices = std::mem::take(&mut self.choices);
        choices.clear();
        self.scheduler.choose(at, usize::MAX, &mut choices);
        for &Choice { source, .. } in &choices {
            if allowance.spend(self.costs.of(source)) {
                chosen.push(source);
            } else {
                // What the scheduler saved up is gone by the rules of the lab.
                self.scheduler.apply(at, Input::Returned { source });
            }
        }
        self.choices = choices;
    }

    fn observe(&mut self, observation: Observation) {
        let (source, at) = (observation.source, time_of(observation.at));
        let input = match observation.outcome {
            Outcome::Read => Input::Looked { source, seen: Seen::Unchanged },
            Outcome::Failed => Input::Failed { source, not_before: at },
        };
        self.scheduler.apply(at, input);
    }
}
