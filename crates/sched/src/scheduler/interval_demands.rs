//! Interval demands: needs (CEIs) that are met by probing resources within given intervals. Holds every need that is neither
//! captured nor lost, maps wall-clock time to the steps of the plan, and says which probe captures what.
//!
//! An interval is captured by a probe that began within it and succeeded, however long the probe took. What the plan is worth
//! and what goes first is decided in [`Planner`].

use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::Duration;

use dunlin_core::{
    Allowance, Budget, Cei, CeiIdx, Chronon, Costs, ExecutionInterval, ResourceIdx, SourceIdx, Time,
};

use super::choice::CeiEvent;
use super::input::{CeiId, Interval, Pace};
use crate::policy::marginal::{BacklogEntry, HeapSlots, Pick, Planner, PlannerEvent, Reference, SideWorth};

/// Grants beyond this are no limit at all.
const MOST_PER_STEP: f64 = 1e9;

/// In so many turns others are chosen in one step for what a host keeps back; each fills another host.
const MOST_CHOICES: u32 = 8;

type IntervalPlanner = Planner<HeapSlots, BinaryHeap<BacklogEntry>>;

/// All needs that wait for something.
#[derive(Debug, Clone)]
pub(super) struct IntervalDemands {
    step: Duration,
    budget: Budget,
    costs: Costs,
    /// When step 1 of the plan begins, and whether steps are known to begin when the scheduler is asked.
    epoch: Time,
    is_aligned: bool,
    planner: IntervalPlanner,
    needs: BTreeMap<CeiId, Need>,
    /// Intervals that wait for the probe of their resource that is in flight.
    probing: BTreeMap<ResourceIdx, Vec<Reference>>,
    /// What to probe in the present step, in order, and what of it waits for its host.
    due: VecDeque<Pick>,
    held: Vec<Pick>,
    /// How often others may still be chosen in this step instead of what is held.
    choices_left: u32,
    /// What the present step had to spend and nothing that was due has taken.
    unused: f64,
    planned_at: u32,
    events: Vec<CeiEvent>,
}

/// A need, as its owner described it.
#[derive(Debug, Clone)]
struct Need {
    weight: f64,
    /// How many intervals are still needed.
    left: u32,
    intervals: Vec<Interval>,
    is_captured: Vec<bool>,
    /// Its record in the plan, and which interval each line of that stands for.
    record: Option<u32>,
    lines: Vec<u32>,
}

/// An interval that waits for the probe of its resource that is in flight: which need, and the position there.
#[derive(Debug, Clone, Copy)]
struct InFlight {
    resource: ResourceIdx,
    cei: CeiId,
    interval: u32,
}

impl IntervalDemands {
    pub(super) fn new(step: Duration, pace: Pace, now: Time) -> Self {
        let budget = budget_of(pace, step);
        Self {
            step,
            epoch: now,
            is_aligned: false,
            planner: IntervalPlanner::new(&budget, Costs::uniform()),
            budget,
            costs: Costs::uniform(),
            needs: BTreeMap::new(),
            probing: BTreeMap::new(),
            due: VecDeque::new(),
            held: Vec::new(),
            choices_left: 0,
            unused: 0.0,
            planned_at: 0,
            events: Vec::new(),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.needs.is_empty()
    }

    pub(super) fn set_pace(&mut self, pace: Pace) {
        self.budget = budget_of(pace, self.step);
        self.planner.set_budget(&self.budget);
    }

    /// What a probe of a resource costs.
    pub(super) fn set_cost(&mut self, resource: ResourceIdx, cost: f64) {
        if self.costs.of(planned(resource)) != cost {
            self.costs.set(planned(resource), cost);
            self.planner.set_costs(self.costs.clone());
        }
    }

    /// What a probe of a resource is worth now to the demands for its changes.
    pub(super) fn set_side_worth(&mut self, resource: ResourceIdx, side: SideWorth) {
        self.planner.set_side_worth(planned(resource), side);
    }

    /// A need becomes known, or is described anew; then a probe in flight still captures the interval that it began within. One
    /// that cannot be met is lost at once.
    pub(super) fn arrive(
        &mut self,
        now: Time,
        id: CeiId,
        intervals: Vec<Interval>,
        captured: &[u32],
        need: u32,
        weight: f64,
    ) {
        let mut is_captured = vec![false; intervals.len()];
        captured.iter().for_each(|position| {
            is_captured.get_mut(*position as usize).into_iter().for_each(|is_captured| *is_captured = true);
        });
        let n_captured = is_captured.iter().filter(|is_captured| **is_captured).count() as u32;
        let left = need.saturating_sub(n_captured);
        let weight = if weight.is_finite() { weight.max(0.0) } else { 0.0 };
        let in_flight = self.in_flight_anew(id, &intervals, &is_captured);
        self.withdraw(id);
        self.needs.insert(id, Need { weight, left, intervals, is_captured, record: None, lines: Vec::new() });
        self.admit(now, id, &in_flight);
    }

    /// The intervals of a need that wait for a probe in flight, by their positions among these, which describe it anew.
    fn in_flight_anew(&self, id: CeiId, intervals: &[Interval], is_captured: &[bool]) -> Vec<InFlight> {
        let Some(known) = self.needs.get(&id) else { return Vec::new() };
        let mut is_taken = is_captured.to_vec();
        let anew = |old: InFlight| {
            let before = known.intervals.get(old.interval as usize)?;
            let is_it = |position: &usize| !is_taken[*position] && intervals[*position] == *before;
            let position = (0..intervals.len()).find(is_it)?;
            is_taken[position] = true;
            Some(InFlight { interval: position as u32, ..old })
        };
        self.in_flight(|own| own == id).into_iter().filter_map(anew).collect()
    }

    /// Further intervals for a need, of which it needs so many more.
    pub(super) fn extend(&mut self, now: Time, id: CeiId, more: Vec<Interval>, need: u32) {
        let in_flight = self.in_flight(|own| own == id);
        let Some(known) = self.needs.get_mut(&id) else { return };
        if let Some(record) = known.record.take() {
            self.planner.withdraw(record, id.0);
        }
        known.is_captured.resize(known.is_captured.len() + more.len(), false);
        known.intervals.extend(more);
        known.left = known.left.saturating_add(need);
        self.admit(now, id, &in_flight);
    }

    /// Intervals of some needs that wait for a probe in flight.
    fn in_flight(&self, is_meant: impl Fn(CeiId) -> bool) -> Vec<InFlight> {
        let named = |resource: ResourceIdx, reference: &Reference| {
            let (id, line) = self.planner.name_of(*reference)?;
            let cei = Some(CeiId(id)).filter(|id| is_meant(*id))?;
            let interval = *self.needs.get(&cei)?.lines.get(line as usize)?;
            Some(InFlight { resource, cei, interval })
        };
        let all = self.probing.iter();
        all.flat_map(|(resource, begun)| begun.iter().filter_map(|it| named(*resource, it))).collect()
    }

    pub(super) fn withdraw(&mut self, id: CeiId) {
        if let Some(Need { record: Some(record), .. }) = self.needs.remove(&id) {
            self.planner.withdraw(record, id.0);
        }
    }

    /// Puts what is left of a need into the plan. Those of its intervals that are `in_flight` go on waiting for their probes,
    /// even if they have ended since these began.
    fn admit(&mut self, now: Time, id: CeiId, in_flight: &[InFlight]) {
        let at = self.step_of(now).max(self.planned_at);
        let Some(need) = self.needs.get(&id) else { return };
        let own = || in_flight.iter().filter(|own| own.cei == id);
        let open = (0..).zip(&need.intervals).filter(|(line, _)| !need.is_captured[*line as usize]);
        let planned = open.filter_map(|(line, interval)| {
            let steps = self.in_steps(interval);
            let is_over = steps.is_none_or(|steps| steps.finish().get() < at);
            if is_over && own().any(|own| own.interval == line) {
                let now = Chronon::new(at)?;
                return Some((line, ExecutionInterval::new(planned(interval.resource), now, now).ok()?));
            }
            Some((line, steps?))
        });
        let (lines, intervals): (Vec<u32>, Vec<ExecutionInterval>) = planned.unzip();
        let cei = Cei {
            idx: CeiIdx(0),
            intervals: &intervals,
            need: need.left,
            weight: need.weight,
            profile_rank: 0,
        };
        let can_be_met = need.left > 0 && intervals.len() >= need.left as usize;
        let record = if can_be_met { self.planner.admit(at, id.0, &cei) } else { None };
        let Some((need, record)) = self.needs.get_mut(&id).zip(record) else {
            self.needs.remove(&id);
            return self.events.push(CeiEvent::Lost { cei: id });
        };
        (need.record, need.lines) = (Some(record), lines);
        for InFlight { resource, interval, .. } in own() {
            let Some(line) = need.lines.iter().position(|line| line == interval) else { continue };
            let reference = self.planner.join_probe(record, line as u32);
            self.probing.entry(*resource).or_default().extend(reference);
        }
    }

    /// The steps at whose beginning a probe falls into the interval.
    fn in_steps(&self, interval: &Interval) -> Option<ExecutionInterval> {
        let last = self.step_of(interval.finish);
        let first = self.step_of(interval.start);
        let is_late = interval.start > self.begin_of(first);
        let first = first.saturating_add(u32::from(is_late));
        let (first, last) = (Chronon::new(first)?, Chronon::new(last)?);
        let is_past = interval.finish < self.epoch;
        ExecutionInterval::new(planned(interval.resource), first, last).ok().filter(|_| !is_past)
    }

    fn step_of(&self, at: Time) -> u32 {
        let steps = at.since(self.epoch).as_micros() / self.step.as_micros().max(1);
        u32::try_from(steps).unwrap_or(u32::MAX - 2).min(u32::MAX - 2) + 1
    }

    fn begin_of(&self, step: u32) -> Time {
        self.epoch.plus(self.step.saturating_mul(step.saturating_sub(1)))
    }

    /// Goes to the step of `now`, where `units` of budget are there, each worth `price` to others. At the beginning of a step
    /// these are the resources whose changes matter to what will be planned and chosen.
    pub(super) fn go_to(&mut self, now: Time, units: f64, price: f64) -> Option<Vec<ResourceIdx>> {
        if !self.is_aligned {
            self.is_aligned = true;
            self.begin_anew(now);
        }
        let step = self.step_of(now);
        let is_new = step > self.planned_at;
        let held = std::mem::take(&mut self.held);
        held.into_iter().rev().for_each(|pick| self.due.push_front(pick));
        if is_new {
            let unserved = std::mem::take(&mut self.due);
            unserved.into_iter().for_each(|pick| self.planner.put_back(pick, step));
            self.planner.note_idle(std::mem::take(&mut self.unused).max(0.0));
        }
        self.planned_at = step.max(self.planned_at);
        self.planner.go_to(self.planned_at, units, price);
        is_new.then(|| self.planner.sources_in_question(units).into_iter().map(probed).collect())
    }

    /// Plans what has to be planned. At the beginning of a step, what is due in it is chosen again, of resources that are free.
    pub(super) fn plan(
        &mut self,
        units: f64,
        room: usize,
        is_new_step: bool,
        mut is_free: impl FnMut(ResourceIdx) -> bool,
    ) {
        self.planner.plan_with(units);
        self.note_events();
        if is_new_step {
            let units = if room == 0 { 0.0 } else { units };
            (self.unused, self.choices_left) = (units, MOST_CHOICES);
            self.due = self.planner.take_picks(Allowance::of(units), |source| is_free(probed(source))).into();
            self.planner.postpone();
        }
    }

    /// The next that is due.
    pub(super) fn first_due(&self) -> Option<ResourceIdx> {
        self.due.front().map(|pick| probed(pick.source))
    }

    /// Whether something is due that has not been probed yet.
    pub(super) fn has_due(&self) -> bool {
        !self.due.is_empty() || !self.held.is_empty()
    }

    /// The first that is due is probed.
    pub(super) fn take_first_due(&mut self) {
        self.unused -= self.due.pop_front().map_or(0.0, |pick| self.costs.of(pick.source));
    }

    /// So much of the budget went to something else although intervals were due.
    pub(super) fn note_used(&mut self, units: f64) {
        self.unused -= units;
    }

    /// The host of the first that is due keeps it back: it stays due for the rest of the step, and has its place in the plan again
    /// after that.
    pub(super) fn hold_first_due(&mut self) {
        self.held.extend(self.due.pop_front());
    }

    /// Chooses others for what is held, from those that are free, with as much as is left. Whether there are any.
    pub(super) fn choose_instead(
        &mut self,
        units: f64,
        mut is_free: impl FnMut(ResourceIdx) -> bool,
    ) -> bool {
        if self.held.is_empty() || self.choices_left == 0 || self.is_idle() {
            return false;
        }
        self.choices_left -= 1;
        self.due = self.planner.take_picks(Allowance::of(units), |source| is_free(probed(source))).into();
        !self.due.is_empty()
    }

    /// The best of those that the plan has no place for, and what it is worth per unit of cost.
    pub(super) fn best_in_backlog(
        &mut self,
        mut is_free: impl FnMut(ResourceIdx) -> bool,
    ) -> Option<(ResourceIdx, f64)> {
        let (source, worth) = self.planner.best_in_backlog(|source| is_free(probed(source)))?;
        Some((probed(source), worth))
    }

    /// What a probe of a resource would add to needs now.
    pub(super) fn worth(&self, resource: ResourceIdx) -> f64 {
        if self.is_idle() { 0.0 } else { self.planner.worth(planned(resource)) }
    }

    /// When the next probe of a resource is planned; not before `now`. None if the plan has no place for what is open there.
    pub(super) fn next_planned(&self, resource: ResourceIdx, now: Time) -> Option<Time> {
        let source = planned(resource);
        if self.due.iter().chain(&self.held).any(|pick| pick.source == source) {
            return Some(now);
        }
        self.planner.planned_for(source).map(|step| self.begin_of(step).max(now))
    }

    /// A probe of a resource begins.
    pub(super) fn begin_probe(&mut self, resource: ResourceIdx, now: Time) {
        if self.is_idle() {
            return;
        }
        let (begun, missed): (Vec<_>, Vec<_>) = self
            .planner
            .begin_probe(planned(resource))
            .into_iter()
            .partition(|reference| self.is_within(*reference, now));
        // The step has begun within these, but they have ended since.
        self.planner.fail(&missed);
        if !begun.is_empty() {
            self.probing.insert(resource, begun);
        }
    }

    /// The probe of a resource that was chosen earlier begins only now: what has ended since is not captured by it, and what has
    /// begun since is.
    pub(super) fn begin_again(&mut self, resource: ResourceIdx, now: Time) {
        let chosen_for = self.probing.remove(&resource).unwrap_or_default();
        self.begin_probe(resource, now);
        let (begun, missed): (Vec<_>, Vec<_>) =
            chosen_for.into_iter().partition(|reference| self.is_within(*reference, now));
        self.planner.fail(&missed);
        if !begun.is_empty() {
            self.probing.entry(resource).or_default().extend(begun);
        }
        self.note_events();
    }

    fn interval_of(&self, reference: Reference) -> Option<&Interval> {
        let (id, line) = self.planner.name_of(reference)?;
        let need = self.needs.get(&CeiId(id))?;
        need.intervals.get(*need.lines.get(line as usize)? as usize)
    }

    fn is_within(&self, reference: Reference, now: Time) -> bool {
        let interval = self.interval_of(reference);
        interval.is_some_and(|interval| interval.start <= now && now <= interval.finish)
    }

    /// The intervals that the probe in flight began within, with the source that each is about.
    pub(super) fn begun(&self, resource: ResourceIdx) -> impl Iterator<Item = (SourceIdx, CeiId, u32)> {
        let named = |reference: &Reference| {
            let (id, line) = self.planner.name_of(*reference)?;
            let need = self.needs.get(&CeiId(id))?;
            let position = *need.lines.get(line as usize)?;
            Some((need.intervals.get(position as usize)?.source, CeiId(id), position))
        };
        self.probing.get(&resource).into_iter().flatten().filter_map(named)
    }

    /// The probe of a resource that was in flight has ended, and showed something to these sources.
    pub(super) fn end_probe(&mut self, resource: ResourceIdx, is_shown_to: impl Fn(SourceIdx) -> bool) {
        let Some(begun) = self.probing.remove(&resource) else { return };
        let (captured, missed): (Vec<_>, Vec<_>) = begun.into_iter().partition(|reference| {
            self.interval_of(*reference).is_some_and(|interval| is_shown_to(interval.source))
        });
        self.planner.succeed(&captured);
        self.planner.fail(&missed);
        self.note_events();
    }

    fn note_events(&mut self) {
        for event in self.planner.take_events() {
            match event {
                PlannerEvent::Interval { cei, line } => {
                    let id = CeiId(cei);
                    let Some(need) = self.needs.get_mut(&id) else { continue };
                    let Some(&line) = need.lines.get(line as usize) else { continue };
                    need.left = need.left.saturating_sub(1);
                    need.is_captured[line as usize] = true;
                    self.events.push(CeiEvent::IntervalCaptured { cei: id, interval: line });
                }
                PlannerEvent::Captured { cei } => {
                    self.needs.remove(&CeiId(cei));
                    self.events.push(CeiEvent::Captured { cei: CeiId(cei) });
                }
                PlannerEvent::Lost { cei } => {
                    self.needs.remove(&CeiId(cei));
                    self.events.push(CeiEvent::Lost { cei: CeiId(cei) });
                }
            }
        }
    }

    /// What became of needs since this was last asked.
    pub(super) fn take_events(&mut self) -> Vec<CeiEvent> {
        std::mem::take(&mut self.events)
    }

    /// When the next step begins, if something waits for one.
    pub(super) fn next_due(&self, now: Time) -> Option<Time> {
        (!self.is_idle()).then(|| self.begin_of(self.step_of(now).saturating_add(1)))
    }

    /// Counts steps from `now` on, and plans again. Intervals are where they were on the clock.
    pub(super) fn begin_anew(&mut self, now: Time) {
        let in_flight = self.in_flight(|_| true);
        self.epoch = now;
        self.planner = IntervalPlanner::new(&self.budget, self.costs.clone());
        (self.planned_at, self.due, self.held) = (0, VecDeque::new(), Vec::new());
        self.probing.clear();
        let ids: Vec<CeiId> = self.needs.keys().copied().collect();
        for id in ids {
            self.admit(now, id, &in_flight);
        }
    }
}

fn budget_of(pace: Pace, step: Duration) -> Budget {
    // Not a number is no budget.
    let grant = (pace.per_second * step.as_secs_f64()).clamp(0.0, MOST_PER_STEP);
    Budget::constant(grant).unwrap_or_default()
}

/// The planner's word for what is probed is a source.
const fn planned(resource: ResourceIdx) -> SourceIdx {
    SourceIdx(resource.0)
}

const fn probed(source: SourceIdx) -> ResourceIdx {
    ResourceIdx(source.0)
}
