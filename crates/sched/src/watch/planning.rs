//! CAM live: a plan for every epoch, made from the forecasts. Which looks are taken when they are due, and what keeps
//! them, is decided as for any other look.
//!
//! An epoch's probes are shared out by what each finds ([`Sharing`]), put where in the epoch they find it
//! and, where they collide, moved by the exact assignment (`times`). That may take too many
//! steps; then each keeps its instant, and those that are due together go best first, which is the greedy
//! assignment. A planned look that is kept by its host or the budget is taken as soon as it may be; when the source's
//! next one is due they are one, and the next plan replaces both. Of too many that wait, the least are dropped.
//!
//! Invariant: a chronon does a bounded share of the planning ([`WORK`]), however many sources there are; until the new
//! plan is there, the old one goes on. A source seen for the first time is planned by itself, at the plan's price.

mod times;

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use dunlin_core::{SourceIdx, Time};

use super::host::Host;
use super::{Strategy, Watch};
use crate::plan::cam::Sharing;
use times::Collisions;

/// Sources weighed, probes shared or sources told in one chronon.
const WORK: usize = 4_096;
/// The next plan is begun when this part of the epoch is left, so that it is there in time.
const LEAD: u32 = 16;
/// A plan is made anew when a quarter as many sources have come as it was made for.
const ADDED: usize = 4;
/// And for another budget when this part of the epoch has passed: budgets may change all the time.
const SOONEST: u32 = 16;

/// The plan in force, as far as it is not with the sources, and the next one in the making.
#[derive(Debug, Clone)]
pub(super) struct Planning {
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
    /// The sources that the probes are shared among, in this order.
    sources: Vec<SourceIdx>,
    sharing: Sharing,
}

#[derive(Debug, Clone)]
enum Stage {
    /// All sources from this place on are still to be weighed.
    Weighing {
        next: u32,
    },
    Sharing,
    /// To be put in time, when it begins: by then looks of the present plan have been taken.
    Timing,
    /// The sources from this place on are still to be told; their times, by place, if they could be assigned.
    Telling {
        next: usize,
        assigned: Option<BTreeMap<u32, Vec<Time>>>,
    },
}

impl Planning {
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

    /// Many sources have come for which the plan was not made.
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

    /// The number of the plan that a source planned now belongs to.
    fn coming(&self) -> u32 {
        self.number.wrapping_add(u32::from(self.draft.is_some()))
    }
}

impl Watch {
    /// Makes as much of the next plan as a chronon may, if it is time for one.
    pub(super) fn plan_ahead(&mut self, now: Time) {
        let Some(mut planning) = self.planning.take() else { return };
        if planning.draft.is_none() && planning.due(now) <= now {
            let span = planning.next_span(now);
            let (stage, sharing) = (Stage::Weighing { next: 0 }, self.nothing_shared(planning.epoch));
            planning.draft = Some(Draft { span, stage, sources: Vec::new(), sharing });
            (planning.n_added, planning.has_other_budget) = (0, false);
        }
        let mut work = WORK;
        while let Some(mut draft) = planning.draft.take() {
            work = self.go_on(&planning, &mut draft, work, now);
            if let Stage::Telling { next, .. } = draft.stage
                && next == draft.sources.len()
            {
                planning.number = planning.number.wrapping_add(1);
                planning.price = draft.sharing.price();
                planning.n_planned = draft.sources.len();
                planning.span = Some(draft.span);
                break;
            }
            planning.draft = Some(draft);
            if work == 0 {
                break;
            }
        }
        self.planning = Some(planning);
    }

    fn nothing_shared(&self, epoch: Duration) -> Sharing {
        let seconds = epoch.as_secs_f64();
        let of_host =
            |host: u32| self.hosts.get(host).and_then(Host::pace).map_or(f64::MAX, |pace| pace * seconds);
        Sharing::new(self.purse.per_second() * seconds, (0..self.hosts.n_slots()).map(of_host).collect())
    }

    /// Does so much work on a draft; what is left of that.
    fn go_on(&mut self, planning: &Planning, draft: &mut Draft, work: usize, now: Time) -> usize {
        match &mut draft.stage {
            Stage::Weighing { next } => {
                let begin = *next;
                *next = begin.saturating_add(work as u32).min(self.sources.n_slots());
                for source in begin..*next {
                    let watched = self.sources.get(source);
                    if let Some(demand) =
                        watched.and_then(|own| own.demand(&self.measure, &draft.span, planning))
                    {
                        draft.sources.push(SourceIdx(source));
                        draft.sharing.add(demand);
                    }
                }
                let rest = work - (*next - begin) as usize;
                if *next == self.sources.n_slots() {
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
                draft.stage = Stage::Telling { next: 0, assigned: self.assigned(planning, draft) };
                work
            }
            Stage::Telling { next, assigned } => {
                let begin = *next;
                *next = begin.saturating_add(work).min(draft.sources.len());
                for place in begin..*next {
                    let source = draft.sources[place];
                    let times = if let Some(assigned) = assigned {
                        assigned.remove(&(place as u32)).unwrap_or_default()
                    } else {
                        let (demand, share) =
                            (&draft.sharing.demands()[place], draft.sharing.shares()[place]);
                        let own = self.sources.get(source.0);
                        own.map(|own| {
                            own.instants(
                                &self.measure,
                                &draft.span,
                                demand,
                                share,
                                source,
                                Collisions::Avoided,
                            )
                        })
                        .unwrap_or_default()
                    };
                    self.tell_plan(source, times, planning.number.wrapping_add(1), now);
                }
                work - (*next - begin)
            }
        }
    }

    /// A source's part of a plan.
    fn tell_plan(&mut self, source: SourceIdx, mut times: Vec<Time>, number: u32, now: Time) {
        let Some(watched) = self.sources.get_mut(source.0) else { return };
        times.retain(|at| watched.last_look.is_none_or(|last| *at > last));
        times.sort_unstable_by(|a, b| b.cmp(a));
        (watched.planned, watched.plan_number) = (times, number);
        self.settle(source, now);
    }

    /// Plans one source for what is left of the epoch, at the price of the plan. Before the first plan there is nothing
    /// to do: it will be part of that.
    pub(super) fn plan_one(&mut self, source: SourceIdx, now: Time) {
        let (Some(planning), Some(watched)) = (&mut self.planning, self.sources.get(source.0)) else {
            return;
        };
        let Some(span) = planning.draft.as_ref().map(|draft| &draft.span).or(planning.span.as_ref()) else {
            return;
        };
        let (span, number) = (now.min(span.end)..span.end, planning.coming());
        let Some(demand) = watched.demand(&self.measure, &span, planning) else { return };
        planning.n_added += 1;
        let share = demand.worth_at(planning.price);
        let times = watched.instants(&self.measure, &span, &demand, share, source, Collisions::Resolved);
        self.tell_plan(source, times, number, now);
    }

    /// The same for a source that belongs to no plan that still counts.
    pub(super) fn plan_stranger(&mut self, source: SourceIdx, now: Time) {
        let number = self.sources.get(source.0).map(|watched| watched.plan_number);
        if self.planning.as_ref().zip(number).is_some_and(|(planning, own)| own < planning.number.max(1)) {
            self.plan_one(source, now);
        }
    }

    /// Forgets all plans, after the clock was set back.
    pub(super) fn forget_plans(&mut self) {
        if let Some(planning) = &mut self.planning {
            (planning.span, planning.draft) = (None, None);
        }
    }
}
