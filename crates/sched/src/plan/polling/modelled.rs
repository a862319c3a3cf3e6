//! A near-optimal polling plan in time linear in the slots, from a model of when the first, second, … update of a
//! period falls.
//!
//! 1. Periods are counted from the quietest time, so that no habit is cut in two.
//! 2. Each update's density gives the stretch in which it falls, but for its rarest tails. Where stretches begin
//!    and end, and around slots in which far more happens than elsewhere, the period is cut into intervals whose
//!    densities can be taken as uniform.
//! 3. Every interval in which something is expected gets one poll at its end. That is all there is to do where at
//!    most one update can fall. If polls are too few, neighbours are merged where that adds least to the expected
//!    number of misses.
//! 4. The rest goes to intervals in which several updates can meet: K polls leave C/K misses there, C being the
//!    product of the densities, so each poll in turn goes to where C/K − C/(K+1) is largest; that is K ∝ √C.
//!    Updates of one slot are not in C: no poll can separate them. Within an interval the polls leave as much
//!    expected between any two.
//!
//! 5. A history in which uniform polls would have found more has no habit that the model can see; then they are the
//!    plan.
//!
//! Not the optimum: it takes the updates of a period as independent of each other.

use super::{History, PollingPlan, phase, uniform};

/// This update of a period and all after it are taken together, without order: as a Poisson process.
const MOST_UPDATES: usize = 8;
const UNORDERED: usize = MOST_UPDATES - 1;

/// The share of an update's mass, at either end, that does not count for where it can fall.
const TAIL: f64 = 0.01;

/// An update that happens in fewer periods than this has no stretch of its own.
const RARE: f64 = 0.02;

/// A slot with this many times the mean mass of a slot…
const BUSY: f64 = 8.0;

/// …and at least this many updates per period is an interval by itself; only so many of them are.
const LEAST_BUSY: f64 = 0.05;
const MOST_BUSY: usize = 64;

/// Mass of the first, second, … update.
type Masses = [f64; MOST_UPDATES];

/// The near-optimal plan of at most `polls` polls per period of `slots` slots.
pub fn modelled(history: &History, slots: u32, polls: u32) -> PollingPlan {
    let slots = slots.max(1);
    if history.is_empty() || polls == 0 {
        return uniform(slots, polls);
    }
    let origin = quietest(history, slots);
    let densities = densities(history, slots, origin);
    let mut intervals = intervals(&densities);
    merge_down_to(polls as usize, &mut intervals);
    let extra = polls as usize - intervals.len();
    share_extra(extra, &mut intervals);
    let placed = intervals.iter().flat_map(|interval| interval.place(&densities));
    let turned_back = |slot: usize| ((slot as u64 + u64::from(origin)) % u64::from(slots)) as u32;
    let plan = PollingPlan::new(slots, placed.map(turned_back).collect());
    let even = uniform(slots, polls);
    if missed(history, &even) < missed(history, &plan) { even } else { plan }
}

/// How much of a history a plan would have missed: updates that another one followed before the next poll.
fn missed(history: &History, plan: &PollingPlan) -> f64 {
    let pairs = history.slots().array_windows();
    let lost = pairs.filter(|[update, next]| plan.next_poll(*update) == plan.next_poll(*next));
    lost.map(|[update, _]| history.weight(*update)).sum()
}

/// The slot from which on least happens for an eighth of a period.
fn quietest(history: &History, slots: u32) -> u32 {
    let mut mass = vec![0.0; slots as usize];
    for &slot in history.slots() {
        mass[phase(slot, slots) as usize] += history.weight(slot);
    }
    let width = (slots as usize / 8).max(1);
    let mut window: f64 = mass[..width].iter().sum();
    let mut best = (window, 0);
    for start in 1..mass.len() {
        window += mass[(start + width - 1) % mass.len()] - mass[start - 1];
        // Running sums of decayed weights are off by their last bits; those must not decide.
        if window < best.0 * (1.0 - 1e-9) {
            best = (window, start);
        }
    }
    best.1 as u32
}

/// For every slot, counted from `origin`, how many first, second, … updates it has per period.
fn densities(history: &History, slots: u32, origin: u32) -> Vec<Masses> {
    let mut densities = vec![[0.0; MOST_UPDATES]; slots as usize];
    let (length, origin) = (i64::from(slots), i64::from(origin));
    let mut last = (i64::MIN, 0);
    for &slot in history.slots() {
        let (period, phase) = ((slot - origin).div_euclid(length), phase(slot - origin, slots));
        let nth = if last.0 == period { last.1 + 1 } else { 0 };
        last = (period, nth);
        densities[phase as usize][nth.min(MOST_UPDATES - 1)] += history.weight(slot);
    }
    let span = history.span();
    let first = (span.start - origin).div_euclid(length);
    let end = (span.end - 1 - origin).div_euclid(length);
    let periods: f64 = (first..=end).map(|period| history.weight(period * length + origin)).sum();
    densities.iter_mut().flatten().for_each(|mass| *mass /= periods);
    densities
}

/// A stretch of slots.
struct SlotRange {
    first: usize,
    end: usize,
    masses: Masses,
    /// Expected pairs of updates that a poll can separate: the product of the densities.
    pairs: f64,
    /// How many polls it gets.
    polls: usize,
}

impl SlotRange {
    /// How many updates are expected to be missed if there is no poll before the end.
    fn misses(masses: &Masses) -> f64 {
        let none: f64 = masses[..UNORDERED].iter().map(|mass| 1.0 - mass.min(1.0)).product();
        let none = none * (-masses[UNORDERED]).exp();
        masses.iter().sum::<f64>() - (1.0 - none)
    }

    fn merged(&self, next: &Self) -> Masses {
        std::array::from_fn(|nth| self.masses[nth] + next.masses[nth])
    }

    /// What one more poll saves.
    fn marginal(&self) -> f64 {
        let polls = self.polls as f64;
        self.pairs / polls - self.pairs / (polls + 1.0)
    }

    /// The slots of its polls: as much expected before each, the last where anything is last expected.
    fn place(&self, densities: &[Masses]) -> Vec<usize> {
        let total: f64 = self.masses.iter().sum();
        let (mut seen, mut polls) = (0.0, Vec::with_capacity(self.polls));
        let mut latest = self.end - 1;
        for (slot, masses) in (self.first..).zip(&densities[self.first..self.end]) {
            let mass: f64 = masses.iter().sum();
            seen += mass;
            if mass > 0.0 {
                latest = slot;
            }
            if mass > 0.0 && polls.len() + 1 < self.polls {
                let due = total * (polls.len() + 1) as f64 / self.polls as f64;
                if seen >= due {
                    polls.push(slot);
                }
            }
        }
        polls.retain(|&slot| slot < latest);
        polls.push(latest);
        polls
    }
}

/// Expected pairs of two different updates, given their masses. Where many fall together there are pairs too.
fn pairs(masses: &Masses) -> f64 {
    let sum: f64 = masses.iter().sum();
    let squares: f64 = masses[..UNORDERED].iter().map(|mass| mass * mass).sum();
    (sum * sum - squares) / 2.0
}

/// The intervals in which something is expected, in order, with one poll each.
fn intervals(densities: &[Masses]) -> Vec<SlotRange> {
    let slots = densities.len();
    let mut opens = vec![0i32; slots + 1];
    let mut cuts = vec![false; slots + 1];
    for nth in 0..MOST_UPDATES {
        if let Some((first, end)) = stretch(densities, nth) {
            opens[first] += 1;
            opens[end] -= 1;
            (cuts[first], cuts[end]) = (true, true);
        }
    }
    for slot in busy(densities) {
        (cuts[slot], cuts[slot + 1]) = (true, true);
    }
    let mut intervals = Vec::new();
    let (mut first, mut expected, mut open) = (0, 0, 0);
    for end in 1..=slots {
        open += opens[end - 1];
        expected = expected.max(open);
        // Where nothing is expected there is nothing to poll for: it joins what follows.
        if (cuts[end] || end == slots) && expected > 0 {
            intervals.push(interval(densities, first, end));
            (first, expected) = (end, 0);
        }
    }
    if intervals.is_empty() {
        intervals.push(interval(densities, 0, slots));
    }
    intervals
}

fn interval(densities: &[Masses], first: usize, end: usize) -> SlotRange {
    let mut masses = [0.0; MOST_UPDATES];
    let mut inseparable = 0.0;
    for slot in &densities[first..end] {
        masses.iter_mut().zip(slot).for_each(|(sum, mass)| *sum += mass);
        inseparable += pairs(slot);
    }
    SlotRange { first, end, masses, pairs: (pairs(&masses) - inseparable).max(0.0), polls: 1 }
}

/// From where to where the `nth` update falls, but for its tails.
fn stretch(densities: &[Masses], nth: usize) -> Option<(usize, usize)> {
    let total: f64 = densities.iter().map(|slot| slot[nth]).sum();
    if total < RARE {
        return None;
    }
    let mut before = 0.0;
    let (mut first, mut end) = (None, 0);
    for (slot, masses) in densities.iter().enumerate() {
        if masses[nth] > 0.0 && before <= (1.0 - TAIL) * total {
            end = slot + 1;
        }
        before += masses[nth];
        if first.is_none() && before > TAIL * total {
            first = Some(slot);
        }
    }
    first.map(|first| (first, end.max(first + 1)))
}

/// The slots in which far more happens than elsewhere.
fn busy(densities: &[Masses]) -> Vec<usize> {
    let mass = |slot: &Masses| slot.iter().sum::<f64>();
    let mean = densities.iter().map(mass).sum::<f64>() / densities.len() as f64;
    let is_busy = |&(_, mass): &(usize, f64)| mass >= LEAST_BUSY && mass >= BUSY * mean;
    let mut busy: Vec<_> = densities.iter().map(mass).enumerate().filter(is_busy).collect();
    busy.sort_by(|a, b| b.1.total_cmp(&a.1));
    busy.truncate(MOST_BUSY);
    busy.into_iter().map(|(slot, _)| slot).collect()
}

/// Merges neighbours where that adds fewest misses. There are never more than a fixed number of intervals.
fn merge_down_to(polls: usize, intervals: &mut Vec<SlotRange>) {
    while intervals.len() > polls {
        let added = |pair: &[SlotRange]| {
            let apart = SlotRange::misses(&pair[0].masses) + SlotRange::misses(&pair[1].masses);
            SlotRange::misses(&pair[0].merged(&pair[1])) - apart
        };
        let costs = intervals.windows(2).map(added).enumerate();
        let Some((left, _)) = costs.min_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        let right = intervals.remove(left + 1);
        let left = &mut intervals[left];
        left.masses = left.merged(&right);
        left.end = right.end;
    }
}

/// Gives the polls that are left, each to where it saves most.
fn share_extra(extra: usize, intervals: &mut [SlotRange]) {
    for _ in 0..extra {
        let best = intervals.iter_mut().filter(|interval| interval.polls < interval.end - interval.first);
        let Some(best) = best.max_by(|a, b| a.marginal().total_cmp(&b.marginal())) else { return };
        best.polls += 1;
    }
}
