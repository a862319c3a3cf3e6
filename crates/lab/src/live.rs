//! The scheduler of the service as a policy for needs: it gets CEIs, chooses once in every chronon, and gets the outcome of
//! its probes. Chronons become seconds of its clock; nothing else is translated.

use std::time::Duration;

use dunlin_core::{
    Allowance, Budget, Cei, Chronon, Costs, ExecutionInterval, Observation, Outcome, ResourceIdx, SourceIdx,
    Time,
};
use dunlin_sched::model::{Evidence, Parts};
use dunlin_sched::policy::{Arrival, Policy};
use dunlin_sched::scheduler::{CeiId, Choice, Input, Interval, Scheduler, Shown, SourceTerms, Strategy};
use dunlin_sched::value::{Life, Urgency, ValueModel};

use crate::one_host::{Grants, HOST, introduce};

const CHRONON: Duration = Duration::from_secs(1);

/// The scheduler, over sources whose changes nobody wants.
#[derive(Debug)]
pub(crate) struct Live {
    scheduler: Scheduler,
    budget: Budget,
    costs: Costs,
    grants: Grants,
    choices: Vec<Choice>,
}

impl Live {
    pub(crate) fn new(n_sources: u32, budget: &Budget, costs: Costs) -> Self {
        let terms = |source| SourceTerms {
            host: HOST,
            value: ValueModel::new(Life::Overwrite, Urgency::Uniform),
            cost: costs.of(source),
            shortest_gap: Duration::ZERO,
            longest_gap: Duration::MAX,
            wants_changes: false,
        };
        let sources = (0..n_sources).map(SourceIdx).map(terms);
        let scheduler = introduce(CHRONON, Strategy::Learned, Parts::All, Time::from_seconds(0), sources);
        Self { scheduler, budget: budget.clone(), costs, grants: Grants::new(CHRONON), choices: Vec::new() }
    }
}

/// A CEI as an input of the scheduler, when `time_of` says at which moment it is asked in a chronon.
pub(crate) fn arrival(cei: &Cei<'_>, time_of: impl Fn(Chronon) -> Time) -> Input {
    let interval = |interval: &ExecutionInterval| Interval {
        resource: ResourceIdx(interval.source().0),
        source: interval.source(),
        start: time_of(interval.start()),
        finish: time_of(interval.finish()),
    };
    Input::CeiArrived {
        cei: CeiId(u64::from(cei.idx.0)),
        intervals: cei.intervals.iter().map(interval).collect(),
        captured: Vec::new(),
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
        let at = time_of(now);
        self.grants.tell_pace(&mut self.scheduler, at, self.budget.at(now));
        Grants::tell_grant(&mut self.scheduler, at, allowance);
        self.scheduler.take_cei_events();
        let mut choices = std::mem::take(&mut self.choices);
        choices.clear();
        self.scheduler.choose(at, usize::MAX, &mut choices);
        for &Choice { resource, .. } in &choices {
            let source = SourceIdx(resource.0);
            if allowance.spend(self.costs.of(source)) {
                chosen.push(source);
            } else {
                // A scheduler may leave a debt for what costs more than it has, the lab may not.
                self.scheduler.apply(at, Input::ProbeReturned { resource });
            }
        }
        self.choices = choices;
    }

    fn observe(&mut self, observation: Observation) {
        let (resource, at) = (ResourceIdx(observation.source.0), time_of(observation.at));
        let input = match observation.outcome {
            Outcome::Read => Input::Probed { resource, shown: Shown::All(Evidence::Unchanged) },
            Outcome::Failed => Input::ProbeFailed { resource, not_before: at },
        };
        self.scheduler.apply(at, input);
    }
}
