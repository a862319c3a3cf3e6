//! What an interval between two successive polls loses, for every pair of slots worth polling in.
//!
//! Only slots in which an update ever fell are worth a poll: a poll in any other one sees the same as one in the
//! nearest such slot before it, and sees it later. They are numbered in order, and go on round the circle: slot
//! q + m is slot q one period later. What an interval loses is summed over all periods of the history.
//!
//! Invariant (the quadrangle inequality): for a ≤ b ≤ c ≤ d, loss(a, c) + loss(b, d) ≤ loss(a, d) + loss(b, c).
//!
//! - *Recall.* With x, y, z updates in (a, b], (b, c], (c, d] of one period and f(n) = max(0, n − 1), which is
//!   convex, f(x + y) − f(y) ≤ f(x + y + z) − f(y + z). Updates that count differently: an interval captures as
//!   much as the first update in it counts, and loses the rest; going through the cases of which of the three
//!   parts are empty gives the same.
//! - *Freshness, age.* The copy is stale from the first update after the last poll until the next poll. Let t ≤ t' be
//!   the first updates after a and after b. A poll at d instead of c adds the slots from c to d, each at what its time
//!   counts (times its age); it adds no more of them, and no older ones, to what began at t' than to what began
//!   at t. Time beyond the end of the history does not count; that moves polls beyond it back to the end, and so
//!   keeps their order.
//! - Sums of such losses satisfy it too.

use super::{History, Objective, phase};
use crate::plan::Error;

/// The most slots worth polling in: their table has the square of that many entries, 128 MiB.
pub const MOST_SLOTS: usize = 4_096;

/// The losses of all intervals between two polls.
#[derive(Debug, Clone)]
pub(crate) struct Losses {
    /// The slots worth polling in, ascending.
    phases: Vec<u32>,
    /// Row a: the loss from a to the first, second, … m-th slot after it.
    table: Vec<f64>,
}

/// What counts as one unit of the objective. Ties in recall are broken by staleness, which in total is less.
pub(crate) fn unit(history: &History, objective: Objective) -> f64 {
    let span = history.span();
    let slots = u64::try_from(span.end - span.start).unwrap_or(0);
    match objective {
        // Powers of two: sums of whole numbers stay exact. Updates that count little need a larger factor.
        Objective::Recall if history.is_decayed() => ((slots + 1).next_power_of_two() << 10) as f64,
        Objective::Recall => (slots + 1).next_power_of_two() as f64,
        Objective::Freshness | Objective::Age => 1.0,
    }
}

/// How much stale time lies between an update and `until`, and how much age it adds up to, a slot counting what an
/// update in it would.
pub(crate) fn staleness(history: &History, update: i64, until: i64) -> (f64, f64) {
    if !history.is_decayed() {
        let stale = (until - update) as f64;
        return (stale, stale * (stale - 1.0) / 2.0);
    }
    (update..until).fold((0.0, 0.0), |(stale, age), slot| {
        let counts = history.weight(slot);
        (stale + counts, age + counts * (slot - update) as f64)
    })
}

/// What is lost when the source is never polled.
pub(crate) fn never(history: &History, objective: Objective) -> f64 {
    let all: f64 = history.slots().iter().map(|&slot| history.weight(slot)).sum();
    let first = history.slots().first();
    let (stale, age) = first.map_or((0.0, 0.0), |&first| staleness(history, first, history.span().end));
    match objective {
        Objective::Recall => all * unit(history, objective) + stale,
        Objective::Freshness => stale,
        Objective::Age => age,
    }
}

/// What goes by in a number of slots, 0 to a whole period, when the first of them counts 1.
struct Passing {
    /// What a slot counts after that many.
    growth: Vec<f64>,
    /// What they count together.
    time: Vec<f64>,
    /// The same, each times how many slots were before it.
    age: Vec<f64>,
}

impl Passing {
    fn new(history: &History, slots: u32) -> Self {
        let growth: Vec<f64> = (0..=slots).map(|passed| history.growth(passed)).collect();
        let (mut time, mut age) = (vec![0.0], vec![0.0]);
        for (before, counts) in growth[..slots as usize].iter().enumerate() {
            time.push(time[before] + counts);
            age.push(age[before] + counts * before as f64);
        }
        Self { growth, time, age }
    }
}

/// The last interval that begins with a poll in some slot: it ends with the history, whenever the next poll is.
struct Last {
    /// When its poll is.
    poll: i64,
    /// The first update after that.
    first: Option<i64>,
    /// When the history ends, and what a slot counts there.
    until: i64,
    end_counts: f64,
}

impl Losses {
    pub(crate) fn new(history: &History, slots: u32, objective: Objective) -> Result<Self, Error> {
        let by_phase = gaps_by_phase(history, slots);
        let phases: Vec<u32> = by_phase.iter().map(|(phase, _)| *phase).collect();
        let m = phases.len();
        if m > MOST_SLOTS {
            return Err(Error::TooManySlots { slots: m, most: MOST_SLOTS });
        }
        let mut losses = Self { phases, table: vec![0.0; m * m] };
        let mut totals = Vec::with_capacity(m);
        for (candidate, (_, gaps)) in by_phase.iter().enumerate() {
            totals.push(losses.count_firsts(candidate, gaps, slots));
        }
        let (unit, passing) = (unit(history, objective), Passing::new(history, slots));
        for from in 0..m {
            let last = last_interval(history, losses.phases[from], slots);
            losses.sum_up(from, &totals, &passing, &last, |missed, stale, age| match objective {
                Objective::Recall => missed * unit + stale,
                Objective::Freshness => stale,
                Objective::Age => age,
            });
        }
        Ok(losses)
    }

    /// Number of slots worth polling in.
    pub(crate) const fn len(&self) -> usize {
        self.phases.len()
    }

    /// The loss from `from` to `to`, which lies at most one period later.
    pub(crate) fn between(&self, from: usize, to: usize) -> f64 {
        let m = self.phases.len();
        self.table[from % m * m + (to - from - 1)]
    }

    /// The slots of a period that these positions stand for.
    pub(crate) fn slots_of(&self, positions: &[usize]) -> Vec<u32> {
        positions.iter().map(|position| self.phases[position % self.phases.len()]).collect()
    }

    /// Slots from position `from` to the one `steps` later, 1 to a whole period.
    fn distance(&self, from: usize, steps: usize, slots: u32) -> u32 {
        let to = (from + steps) % self.phases.len();
        let (from, to) = (self.phases[from], self.phases[to]);
        if to > from { to - from } else { slots - from + to }
    }

    /// Notes in every row how much the updates in `candidate` count that are the first after a poll there: those
    /// whose gap to the update before reaches back to it. Returns how much all of them count.
    fn count_firsts(&mut self, candidate: usize, gaps: &[(i64, f64)], slots: u32) -> f64 {
        let m = self.phases.len();
        // What the updates with the i-th smallest gap and all larger ones count.
        let mut at_least = vec![0.0; gaps.len() + 1];
        for (i, &(_, weight)) in gaps.iter().enumerate().rev() {
            at_least[i] = at_least[i + 1] + weight;
        }
        let mut shortest = 0;
        for steps in 1..=m {
            let from = (candidate + m - steps) % m;
            let distance = i64::from(self.distance(from, steps, slots));
            while gaps.get(shortest).is_some_and(|&(gap, _)| gap < distance) {
                shortest += 1;
            }
            self.table[from * m + steps - 1] = at_least[shortest];
        }
        at_least[0]
    }

    /// Turns a row of firsts into a row of losses.
    fn sum_up(
        &mut self,
        from: usize,
        totals: &[f64],
        passing: &Passing,
        last: &Last,
        loss: impl Fn(f64, f64, f64) -> f64,
    ) {
        let m = self.phases.len();
        let slots = (passing.growth.len() - 1) as u32;
        // What a slot counts now, for every period in which the copy is stale; and the same times its age now.
        let (mut now, mut aged) = (0.0, 0.0);
        let (mut missed, mut stale, mut age) = (0.0, 0.0, 0.0);
        let mut reached = 0;
        for steps in 1..=m {
            let distance = self.distance(from, steps, slots);
            let further = (distance - reached) as usize;
            reached = distance;
            let entry = from * m + steps - 1;
            age += aged * passing.time[further] + now * passing.age[further];
            stale += now * passing.time[further];
            aged = passing.growth[further] * (aged + now * further as f64);
            now = passing.growth[further] * now + self.table[entry];
            missed += totals[(from + steps) % m] - self.table[entry];
            let (uncounted, young) = last.beyond_the_end(distance, passing);
            self.table[entry] = loss(missed, stale - uncounted, age - young);
        }
    }
}

impl Last {
    /// How much stale time and age lies after the end, when the next poll is `distance` later.
    fn beyond_the_end(&self, distance: u32, passing: &Passing) -> (f64, f64) {
        let beyond = usize::try_from(self.poll + i64::from(distance) - self.until).unwrap_or(0);
        self.first.map_or((0.0, 0.0), |first| {
            let before = (self.until - first) as f64;
            let (time, age) = (passing.time[beyond], passing.age[beyond]);
            (self.end_counts * time, self.end_counts * (before * time + age))
        })
    }
}

fn last_interval(history: &History, phase: u32, slots: u32) -> Last {
    let (phase, slots) = (i64::from(phase), i64::from(slots));
    let until = history.span().end;
    let poll = phase + (until - 1 - phase).div_euclid(slots) * slots;
    let next = history.slots().partition_point(|&slot| slot <= poll);
    let first = history.slots().get(next).copied();
    Last { poll, first, until, end_counts: history.weight(until) }
}

/// Every phase with updates, ascending, and for each of its updates how many slots before it the last one was
/// and what it counts, shortest gap first.
fn gaps_by_phase(history: &History, slots: u32) -> Vec<(u32, Vec<(i64, f64)>)> {
    let mut updates: Vec<(u32, i64, f64)> = Vec::with_capacity(history.len());
    let mut before = None;
    for &slot in history.slots() {
        let phase = phase(slot, slots);
        let gap = before.map_or(i64::MAX, |before: i64| slot - before);
        updates.push((phase, gap, history.weight(slot)));
        before = Some(slot);
    }
    updates.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)));
    let same_phase = |a: &(u32, i64, f64), b: &(u32, i64, f64)| a.0 == b.0;
    let gaps = |updates: &[(u32, i64, f64)]| updates.iter().map(|&(_, gap, weight)| (gap, weight)).collect();
    updates.chunk_by(same_phase).map(|own| (own[0].0, gaps(own))).collect()
}
