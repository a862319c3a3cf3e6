//! Every schedule there is: the definition of the optimum, and the oracle for everything else here.
//!
//! Chronon by chronon, every set of sources that is wanted then and that the meter allows. It shares no code
//! with the other planners, only the meter and the evaluator with everybody.

use dunlin_core::{Allowance, Chronon, Meter, Schedule, SourceIdx};

use super::{Instance, TooLarge};
use crate::score::score_intervals;

/// The best schedule, and what it earns.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// One of the best schedules.
    pub schedule: Schedule,
    /// Weight that it captures.
    pub weight: f64,
}

struct Search<'a> {
    instance: Instance<'a>,
    /// Sources wanted in each chronon.
    wanted: Vec<Vec<SourceIdx>>,
    best: Best,
    n_schedules: u64,
    limit: u64,
}

/// The search goes one call deeper for every chronon, and for every source wanted in it.
const DEEPEST: u64 = 2_000;

/// Tries every schedule, at most `limit` of them.
pub fn enumerate(instance: Instance<'_>, limit: u64) -> Result<Best, TooLarge> {
    let Instance { workload, chronons, budget, .. } = instance;
    let last = workload.ceis().flat_map(|cei| cei.intervals).map(|interval| interval.finish().get()).max();
    let last = last.unwrap_or(0).min(chronons);
    let n_intervals = workload.ceis().map(|cei| cei.intervals.len() as u64).sum();
    for (what, count) in [("chronons", u64::from(last)), ("intervals", n_intervals)] {
        if count > DEEPEST {
            return Err(TooLarge { what, count, limit: DEEPEST });
        }
    }
    let mut wanted = vec![Vec::new(); last as usize];
    for interval in workload.ceis().flat_map(|cei| cei.intervals) {
        for now in interval.start().get()..=interval.finish().get().min(last) {
            wanted[now as usize - 1].push(interval.source());
        }
    }
    for sources in &mut wanted {
        sources.sort_unstable();
        sources.dedup();
    }
    let depth = wanted.iter().map(|sources| sources.len() as u64 + 1).sum();
    if depth > DEEPEST {
        return Err(TooLarge { what: "pairs of a chronon and a source", count: depth, limit: DEEPEST });
    }
    let nothing = Best { schedule: Schedule::new(), weight: 0.0 };
    let mut search = Search { instance, wanted, best: nothing, n_schedules: 0, limit };
    search.from(Chronon::FIRST, &budget.meter(), &Schedule::new())?;
    Ok(search.best)
}

impl Search<'_> {
    /// Every way to go on from `now`.
    fn from(&mut self, now: Chronon, meter: &Meter<'_>, so_far: &Schedule) -> Result<(), TooLarge> {
        if now.index() == self.wanted.len() {
            return self.consider(so_far);
        }
        self.choose(now, 0, &mut Vec::new(), (meter, &meter.open(now)), so_far)
    }

    /// Every set of sources at `now` that begins with `chosen` and goes on with those from place `next` on,
    /// as far as the allowance goes.
    fn choose(
        &mut self,
        now: Chronon,
        next: usize,
        chosen: &mut Vec<SourceIdx>,
        (meter, allowance): (&Meter<'_>, &Allowance),
        so_far: &Schedule,
    ) -> Result<(), TooLarge> {
        let Some(&source) = self.wanted[now.index()].get(next) else {
            let (mut meter, mut schedule) = (meter.clone(), so_far.clone());
            meter.close(now, allowance);
            schedule.extend(now, chosen);
            return self.from(now.plus(1), &meter, &schedule);
        };
        let mut less = allowance.clone();
        if less.spend(self.instance.costs.of(source)) {
            chosen.push(source);
            self.choose(now, next + 1, chosen, (meter, &less), so_far)?;
            chosen.pop();
        }
        self.choose(now, next + 1, chosen, (meter, allowance), so_far)
    }

    fn consider(&mut self, schedule: &Schedule) -> Result<(), TooLarge> {
        self.n_schedules += 1;
        if self.n_schedules > self.limit {
            return Err(TooLarge { what: "schedules", count: self.n_schedules, limit: self.limit });
        }
        let weight = score_intervals(self.instance.workload, schedule).weight_captured;
        if weight > self.best.weight {
            self.best = Best { schedule: schedule.clone(), weight };
        }
        Ok(())
    }
}
