//! CAM live: a plan for every epoch, made from the forecasts. Which probes are taken when they are due, and what keeps
//! them, is decided as for any other probe.
//!
//! An epoch's probes are shared out by what each finds ([`Sharing`]), put where in the epoch they find it
//! and, where they collide, moved by the exact assignment (`times`). That may take too many
//! steps; then each keeps its instant, and those that are due together go best first, which is the greedy
//! assignment. A planned probe that is kept by its host or the budget is taken as soon as it may be; when the resource's
//! next one is due they are one, and the next plan replaces both. Of too many that wait, the least are dropped.
//!
//! Invariant: a chronon does a bounded share of the planning ([`WORK`]), however many resources there are; until the new
//! plan is there, the old one goes on. A resource seen for the first time is planned by itself, at the plan's price.

mod times;

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use dunlin_core::{ResourceIdx, Time};

use super::host::Host;
use super::{Scheduler, Strategy};
use crate::plan::cam::Sharing;
use times::Collisions;

/// Resources weighed, probes shared or resources told in one chronon.
const WORK: usize = 4_096;
/// The next plan is begun when this part of the epoch is left, so that it is there in time.
const LEAD: u32 = 16;
/// A plan is made anew when a quarter as many resources have come as it was made for.
const ADDED: usize = 4;
/// And for another budget when this part of the epoch has passed: budgets may change all the time.
const SOONEST: u32 = 16;

/// The plan in force, as far as it is not with the resources, and the next one in the making.
#[derive(Debug, Clone)]
pub(super) struct EpochPlanner {
    epoch: Duration,
    chronon: Duration,
    /// Plans made so far: the number of the one in force.
    number: u32,
    span: Option<Range<Time>>,
    price: f64,
    n_planned: usize,
    n_added: usize,
    has_other_budget: bool,
    draft: Option<Draft>,
}

#[derive(Debug, Clone)]
struct Draft {
    span: Range<Time>,
    stage: Stage,
    /// The resources that the probes are shared among, in this order.
    resources: Vec<ResourceIdx>,
    sharing: Sharing,
}

#[derive(Debug, Clone)]
enum Stage {
    /// All resources from this position on are still to be weighed.
    Assessing {
        next: u32,
    },
    Sharing,
    /// To be put in time, when it begins: by then probes of the present plan have been taken.
    Timing,
    /// The resources from this position on are still to be told; their times, by position, if they could be assigned.
    Publishing {
        next: usize,
        assigned: Option<BTreeMap<u32, Vec<Time>>>,
    },
}

impl EpochPlanner {
    pub(super) fn new(strategy: Strategy, chronon: Duration, price: Option<f64>) -> Option<Self> {
        let Strategy::Cam { epoch } = strategy else { return None };
        Some(Self {
            epoch: epoch.max(chronon),
            chronon,
            number: 0,
            span: None,
            price: price.filter(|price| price.is_finite() && *price >= 0.0).unwrap_or(0.0),
            n_planned: 0,
            n_added: 0,
            has_other_budget: false,
            draft: None,
        })
    }

    /// What a probe has to bring to be planned, per unit of cost.
    pub(super) const fn price(&self) -> f64 {
        self.price
    }

    /// There is another budget to plan with.
    pub(super) const fn budget_changed(&mut self) {
        self.has_other_budget = true;
    }

    /// When there is something to do.
    pub(super) fn due(&self, now: Time) -> Time {
        let (span, begins) = match (&self.span, &self.draft) {
            (_, Some(draft)) if matches!(draft.stage, Stage::Timing) => return draft.span.start.max(now),
            (None, None) | (_, Some(_)) => return now,
            (Some(span), None) => (span, span.start.plus(self.epoch / LEAD * (LEAD - 1))),
        };
        if self.is_outgrown() {
            return now;
        }
        let soonest = if self.has_other_budget { span.start.plus(self.epoch / SOONEST) } else { begins };
        soonest.min(begins).max(now)
    }

    /// Many resources have come for which the plan was not made.
    const fn is_outgrown(&self) -> bool {
        self.n_added * ADDED > self.n_planned
    }

    /// What the plan that is begun now is for: the time after the present plan, unless that is no good any more.
    fn next_span(&self, now: Time) -> Range<Time> {
        let is_good = !self.is_outgrown() && !self.has_other_budget;
        let begin = self.span.as_ref().filter(|_| is_good).map_or(now, |span| span.end.max(now));
        begin..begin.plus(self.epoch)
    }

    /// When there will be another plan.
    pub(super) fn next_plan(&self, now: Time) -> Time {
        self.span.as_ref().map_or(now, |span| span.end.max(now))
    }

    /// The number of the plan that a resource planned now belongs to.
    fn coming(&self) -> u32 {
        self.number.wrapping_add(u32::from(self.draft.is_some()))
    }
}

impl Scheduler {
    /// Makes as much of the next plan as a chronon may, if it is time for one.
    pub(super) fn plan_ahead(&mut self, now: Time) {
        let Some(mut epoch_planner) = self.epoch_planner.take() else { return };
        if epoch_planner.draft.is_none() && epoch_planner.due(now) <= now {
            let span = epoch_planner.next_span(now);
            let (stage, sharing) = (Stage::Assessing { next: 0 }, self.nothing_shared(epoch_planner.epoch));
            epoch_planner.draft = Some(Draft { span, stage, resources: Vec::new(), sharing });
            (epoch_planner.n_added, epoch_planner.has_other_budget) = (0, false);
        }
        let mut work = WORK;
        while let Some(mut draft) = epoch_planner.draft.take() {
            work = self.go_on(&epoch_planner, &mut draft, work, now);
            if let Stage::Publishing { next, .. } = draft.stage
                && next == draft.resources.len()
            {
                epoch_planner.number = epoch_planner.number.wrapping_add(1);
                epoch_planner.price = draft.sharing.price();
                epoch_planner.n_planned = draft.resources.len();
                epoch_planner.span = Some(draft.span);
                break;
            }
            epoch_planner.draft = Some(draft);
            if work == 0 {
                break;
            }
        }
        self.epoch_planner = Some(epoch_planner);
    }

    fn nothing_shared(&self, epoch: Duration) -> Sharing {
        let seconds = epoch.as_secs_f64();
        let of_host =
            |host: u32| self.hosts.get(host).and_then(Host::pace).map_or(f64::MAX, |pace| pace * seconds);
        Sharing::new(self.bucket.per_second() * seconds, (0..self.hosts.n_slots()).map(of_host).collect())
    }

    /// Does so much work on a draft; what is left of that.
    fn go_on(&mut self, epoch_planner: &EpochPlanner, draft: &mut Draft, work: usize, now: Time) -> usize {
        match &mut draft.stage {
            Stage::Assessing { next } => {
                let begin = *next;
                *next = begin.saturating_add(work as u32).min(self.resources.n_slots());
                for index in begin..*next {
                    let resource = self.resources.get(index);
                    if let Some(demand) =
                        resource.and_then(|own| own.demand(&self.valuation, &draft.span, epoch_planner))
                    {
                        draft.resources.push(ResourceIdx(index));
                        draft.sharing.add(demand);
                    }
                }
                let rest = work - (*next - begin) as usize;
                if *next == self.resources.n_slots() {
                    draft.stage = Stage::Sharing;
                }
                rest
            }
            Stage::Sharing => {
                let rest = draft.sharing.go_on(work);
                if rest.is_some() {
                    draft.stage = Stage::Timing;
                }
                rest.unwrap_or(0)
            }
            Stage::Timing if now < draft.span.start => 0,
            Stage::Timing => {
                draft.stage = Stage::Publishing { next: 0, assigned: self.assigned(epoch_planner, draft) };
                work
            }
            Stage::Publishing { next, assigned } => {
                let begin = *next;
                *next = begin.saturating_add(work).min(draft.resources.len());
                for position in begin..*next {
                    let index = draft.resources[position];
                    let times = if let Some(assigned) = assigned {
                        assigned.remove(&(position as u32)).unwrap_or_default()
                    } else {
                        let (demand, share) =
                            (&draft.sharing.demands()[position], draft.sharing.shares()[position]);
                        let own = self.resources.get(index.0);
                        own.map(|own| {
                            own.instants(
                                &self.valuation,
                                &draft.span,
                                demand,
                                share,
                                index,
                                Collisions::Avoided,
                            )
                        })
                        .unwrap_or_default()
                    };
                    self.set_plan(index, times, epoch_planner.number.wrapping_add(1), now);
                }
                work - (*next - begin)
            }
        }
    }

    /// A resource's part of a plan.
    fn set_plan(&mut self, index: ResourceIdx, mut times: Vec<Time>, number: u32, now: Time) {
        let Some(resource) = self.resources.get_mut(index.0) else { return };
        times.retain(|at| resource.last_probe().is_none_or(|last| *at > last));
        times.sort_unstable_by(|a, b| b.cmp(a));
        resource.set_planned(times);
        resource.plan_number = number;
        self.reevaluate(index, now);
    }

    /// Plans one resource for what is left of the epoch, at the price of the plan. Before the first plan there is nothing
    /// to do: it will be part of that.
    pub(super) fn plan_one(&mut self, index: ResourceIdx, now: Time) {
        let (Some(epoch_planner), Some(resource)) = (&mut self.epoch_planner, self.resources.get(index.0))
        else {
            return;
        };
        let Some(span) =
            epoch_planner.draft.as_ref().map(|draft| &draft.span).or(epoch_planner.span.as_ref())
        else {
            return;
        };
        let (span, number) = (now.min(span.end)..span.end, epoch_planner.coming());
        let Some(demand) = resource.demand(&self.valuation, &span, epoch_planner) else { return };
        epoch_planner.n_added += 1;
        let share = demand.worth_at(epoch_planner.price);
        let times = resource.instants(&self.valuation, &span, &demand, share, index, Collisions::Resolved);
        self.set_plan(index, times, number, now);
    }

    /// The same for a resource that belongs to no plan that still counts.
    pub(super) fn plan_if_missing(&mut self, index: ResourceIdx, now: Time) {
        let number = self.resources.get(index.0).map(|resource| resource.plan_number);
        if self
            .epoch_planner
            .as_ref()
            .zip(number)
            .is_some_and(|(epoch_planner, own)| own < epoch_planner.number.max(1))
        {
            self.plan_one(index, now);
        }
    }

    /// Forgets all plans, after the clock was set back.
    pub(super) fn forget_plans(&mut self) {
        if let Some(epoch_planner) = &mut self.epoch_planner {
            (epoch_planner.span, epoch_planner.draft) = (None, None);
        }
    }
}
