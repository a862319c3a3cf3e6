//! Interval demands: needs (CEIs) that are met by probing sources within given intervals. Holds every need that is neither
//! captured nor lost, maps wall-clock time to the steps of the plan, and says which probe captures what.
//!
//! An interval is captured by a probe that began within it and succeeded, however long the probe took. What the plan is worth
//! and what goes first is decided in [`Planner`].

use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::time::Duration;

use dunlin_core::{Allowance, Budget, Cei, CeiIdx, Chronon, Costs, ExecutionInterval, SourceIdx, Time};

use super::input::{CeiId, Interval, Pace};
use super::reason::CeiEvent;
use crate::policy::marginal::{HeapSlots, Pick, Planner, Reference, Settled, SideWorth, Spare};

/// Grants beyond this are no limit at all.
const MOST_PER_STEP: f64 = 1e9;

type Plan = Planner<HeapSlots, BinaryHeap<Spare>>;

/// All needs that wait for something.
#[derive(Debug, Clone)]
pub(super) struct Intervals {
    step: Duration,
    budget: Budget,
    costs: Costs,
    /// When step 1 of the plan begins, and whether steps are known to begin when the scheduler is asked.
    epoch: Time,
    is_aligned: bool,
    plan: Plan,
    needs: BTreeMap<CeiId, Need>,
    /// Intervals that wait for the probe of their source that is under way.
    probing: BTreeMap<SourceIdx, Vec<Reference>>,
    /// What is to be probed in the present step, in order.
    due: VecDeque<Pick>,
    planned_at: u32,
    events: Vec<CeiEvent>,
}

/// A need, as its owner told it.
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

impl Intervals {
    pub(super) fn new(step: Duration, pace: Pace, now: Time) -> Self {
        let budget = budget_of(pace, step);
        Self {
            step,
            epoch: now,
            is_aligned: false,
            plan: Plan::new(&budget, Costs::uniform()),
            budget,
            costs: Costs::uniform(),
            needs: BTreeMap::new(),
            probing: BTreeMap::new(),
            due: VecDeque::new(),
            planned_at: 0,
            events: Vec::new(),
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.needs.is_empty()
    }

    pub(super) fn set_pace(&mut self, pace: Pace) {
        self.budget = budget_of(pace, self.step);
        self.plan.set_budget(&self.budget);
    }

    /// What a probe of a source costs.
    pub(super) fn set_cost(&mut self, source: SourceIdx, cost: f64) {
        if self.costs.of(source) != cost {
            self.costs.set(source, cost);
            self.plan.set_costs(self.costs.clone());
        }
    }

    /// What a probe of a source is worth now to those who wait for its changes.
    pub(super) fn set_side_worth(&mut self, source: SourceIdx, side: SideWorth) {
        self.plan.set_side_worth(source, side);
    }

    /// A need becomes known. One that cannot be met is lost at once.
    pub(super) fn arrive(&mut self, now: Time, id: CeiId, intervals: Vec<Interval>, need: u32, weight: f64) {
        let is_captured = vec![false; intervals.len()];
        let weight = if weight.is_finite() { weight.max(0.0) } else { 0.0 };
        self.withdraw(id);
        self.needs
            .insert(id, Need { weight, left: need, intervals, is_captured, record: None, lines: Vec::new() });
        self.admit(now, id);
    }

    /// Further intervals for a need, of which it needs so many more.
    pub(super) fn extend(&mut self, now: Time, id: CeiId, more: Vec<Interval>, need: u32) {
        let in_flight = self.in_flight(|own| own == id);
        let Some(known) = self.needs.get_mut(&id) else { return };
        if let Some(record) = known.record.take() {
            self.plan.withdraw(record, id.0);
        }
        known.is_captured.resize(known.is_captured.len() + more.len(), false);
        known.intervals.extend(more);
        known.left = known.left.saturating_add(need);
        self.admit(now, id);
        self.resume(in_flight);
    }

    /// Intervals of some needs that wait for a probe under way: its source, the need, and the position there.
    fn in_flight(&self, is_meant: impl Fn(CeiId) -> bool) -> Vec<(SourceIdx, CeiId, u32)> {
        let named = |source: SourceIdx, reference: &Reference| {
            let (id, line) = self.plan.name_of(*reference)?;
            let id = Some(CeiId(id)).filter(|id| is_meant(*id))?;
            Some((source, id, *self.needs.get(&id)?.lines.get(line as usize)?))
        };
        let all = self.probing.iter();
        all.flat_map(|(source, begun)| begun.iter().filter_map(|it| named(*source, it))).collect()
    }

    /// These wait for the same probes after their needs were admitted anew.
    fn resume(&mut self, in_flight: Vec<(SourceIdx, CeiId, u32)>) {
        for (source, id, interval) in in_flight {
            let Some(Need { record: Some(record), lines, .. }) = self.needs.get(&id) else { continue };
            let Some(line) = lines.iter().position(|line| *line == interval) else { continue };
            let reference = self.plan.join_probe(*record, line as u32);
            self.probing.entry(source).or_default().extend(reference);
        }
    }

    pub(super) fn withdraw(&mut self, id: CeiId) {
        if let Some(Need { record: Some(record), .. }) = self.needs.remove(&id) {
            self.plan.withdraw(record, id.0);
        }
    }

    /// Puts what is left of a need into the plan.
    fn admit(&mut self, now: Time, id: CeiId) {
        let at = self.step_of(now).max(self.planned_at);
        let Some(need) = self.needs.get(&id) else { return };
        let open = (0..).zip(&need.intervals).filter(|(line, _)| !need.is_captured[*line as usize]);
        let (lines, intervals): (Vec<u32>, Vec<ExecutionInterval>) =
            open.filter_map(|(line, interval)| Some((line, self.in_steps(interval)?))).unzip();
        let cei = Cei {
            idx: CeiIdx(0),
            intervals: &intervals,
            need: need.left,
            weight: need.weight,
            profile_rank: 0,
        };
        let can_be_met = need.left > 0 && intervals.len() >= need.left as usize;
        let record = if can_be_met { self.plan.admit(at, id.0, &cei) } else { None };
        if let Some(need) = self.needs.get_mut(&id).filter(|_| record.is_some()) {
            (need.record, need.lines) = (record, lines);
        } else {
            self.needs.remove(&id);
            self.events.push(CeiEvent::Lost { cei: id });
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
        ExecutionInterval::new(interval.source, first, last).ok().filter(|_| !is_past)
    }

    fn step_of(&self, at: Time) -> u32 {
        let steps = at.since(self.epoch).as_micros() / self.step.as_micros().max(1);
        u32::try_from(steps).unwrap_or(u32::MAX - 2).min(u32::MAX - 2) + 1
    }

    fn begin_of(&self, step: u32) -> Time {
        self.epoch.plus(self.step.saturating_mul(step.saturating_sub(1)))
    }

    /// Goes to the step of `now`. At the beginning of a step, what is due in it is chosen anew: `units` of budget are there,
    /// each worth `price` to others, and only sources that are free count.
    pub(super) fn go_to(
        &mut self,
        now: Time,
        units: f64,
        price: f64,
        is_free: impl FnMut(SourceIdx) -> bool,
    ) {
        if !self.is_aligned {
            self.is_aligned = true;
            self.begin_anew(now);
        }
        let step = self.step_of(now);
        let is_new = step > self.planned_at;
        if is_new {
            let unserved = std::mem::take(&mut self.due);
            unserved.into_iter().for_each(|pick| self.plan.put_back(pick, step));
        }
        self.planned_at = step.max(self.planned_at);
        self.plan.go_to(self.planned_at, units.floor(), price);
        self.note_settled();
        if is_new {
            self.due = self.plan.take_picks(Allowance::of(units), is_free).into();
            let used: f64 = self.due.iter().map(|pick| self.costs.of(pick.source)).sum();
            self.plan.note_idle((units - used).max(0.0));
            self.plan.postpone();
        }
    }

    /// The next that is due.
    pub(super) fn first_due(&self) -> Option<Pick> {
        self.due.front().copied()
    }

    pub(super) fn drop_first_due(&mut self) {
        self.due.pop_front();
    }

    /// The best of those that the plan has no place for, and what it is worth per unit of cost.
    pub(super) fn best_spare(&mut self, is_free: impl FnMut(SourceIdx) -> bool) -> Option<(SourceIdx, f64)> {
        self.plan.best_spare(is_free)
    }

    /// What a probe of a source would add to needs now.
    pub(super) fn worth(&self, source: SourceIdx) -> f64 {
        if self.is_idle() { 0.0 } else { self.plan.worth(source) }
    }

    /// A probe of a source begins.
    pub(super) fn launch(&mut self, source: SourceIdx, now: Time) {
        if self.is_idle() {
            return;
        }
        let (begun, missed): (Vec<_>, Vec<_>) =
            self.plan.launch(source).into_iter().partition(|reference| self.is_within(*reference, now));
        // The step has begun within these, but they have ended since.
        self.plan.fail(&missed);
        if !begun.is_empty() {
            self.probing.insert(source, begun);
        }
    }

    fn is_within(&self, reference: Reference, now: Time) -> bool {
        let interval = self.plan.name_of(reference).and_then(|(id, line)| {
            let need = self.needs.get(&CeiId(id))?;
            need.intervals.get(*need.lines.get(line as usize)? as usize)
        });
        interval.is_some_and(|interval| interval.start <= now && now <= interval.finish)
    }

    /// The probe of a source that was under way has ended.
    pub(super) fn land(&mut self, source: SourceIdx, is_success: bool) {
        let Some(begun) = self.probing.remove(&source) else { return };
        if is_success {
            self.plan.succeed(&begun);
        } else {
            self.plan.fail(&begun);
        }
        self.note_settled();
    }

    fn note_settled(&mut self) {
        for settled in self.plan.take_settled() {
            match settled {
                Settled::Interval { cei, line } => {
                    let id = CeiId(cei);
                    let Some(need) = self.needs.get_mut(&id) else { continue };
                    let Some(&line) = need.lines.get(line as usize) else { continue };
                    need.left = need.left.saturating_sub(1);
                    need.is_captured[line as usize] = true;
                    self.events.push(CeiEvent::IntervalCaptured { cei: id, interval: line });
                }
                Settled::Captured { cei } => {
                    self.needs.remove(&CeiId(cei));
                    self.events.push(CeiEvent::Captured { cei: CeiId(cei) });
                }
                Settled::Lost { cei } => {
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

    /// Counts steps from `now` on, and plans anew. Intervals are where they were on the clock.
    pub(super) fn begin_anew(&mut self, now: Time) {
        let in_flight = self.in_flight(|_| true);
        self.epoch = now;
        self.plan = Plan::new(&self.budget, self.costs.clone());
        (self.planned_at, self.due) = (0, VecDeque::new());
        self.probing.clear();
        let ids: Vec<CeiId> = self.needs.keys().copied().collect();
        for id in ids {
            self.admit(now, id);
        }
        self.resume(in_flight);
    }
}

fn budget_of(pace: Pace, step: Duration) -> Budget {
    // Not a number is no budget.
    let grant = (pace.per_second * step.as_secs_f64()).clamp(0.0, MOST_PER_STEP);
    Budget::constant(grant).unwrap_or_default()
}
