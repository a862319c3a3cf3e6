//! Changes of a trace and needs under one budget: the scheduler of the service on both at once, against every fixed split
//! of the budget between `marginal` for the needs and the scheduler for the trace.
//!
//! Every probe of a schedule counts for both, also in the splits.

use std::collections::BTreeMap;

use dunlin_core::{Budget, Costs, ExecutionInterval, Need, Schedule, SourceIdx, Workload};
use dunlin_sched::epoch::run_workload;
use dunlin_sched::policy::Marginal;
use dunlin_sched::scheduler::Strategy;
use dunlin_sched::score::score_intervals;
use dunlin_sched::value::ValueModel;

use crate::Error;
use crate::files::{Epoch, IntervalsFile, TraceFile};
use crate::learned::{Learning, World};

/// Tenths of the budget that a split may give to needs.
const TENTHS: u32 = 10;

/// What a schedule is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gain {
    /// The utility of the changes that were found after the warm-up.
    pub changes: f64,
    /// The weight of the CEIs that were captured.
    pub ceis: f64,
    /// Probes made.
    pub probes: usize,
}

impl Gain {
    /// All of it.
    pub fn total(&self) -> f64 {
        self.changes + self.ceis
    }
}

/// A comparison on one mix.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixed {
    /// The scheduler of the service.
    pub live: Gain,
    /// Fixed splits: the share of the budget that needs get, and the gain. From none to all.
    pub splits: Vec<(f64, Gain)>,
}

impl Mixed {
    /// The split that gains most, with its share.
    pub fn best_split(&self) -> Option<(f64, Gain)> {
        self.splits.iter().copied().max_by(|a, b| a.1.total().total_cmp(&b.1.total()))
    }
}

/// A trace and needs over the same sources.
#[derive(Debug)]
pub struct Mix {
    trace: TraceFile,
    needs: Workload,
}

impl Mix {
    /// Sources of the same name are the same.
    pub fn new(trace: TraceFile, needs: &IntervalsFile) -> Result<Self, Error> {
        let mut numbers: BTreeMap<&str, u32> = trace.sources.iter().map(String::as_str).zip(0..).collect();
        let mut next = trace.sources.len() as u32;
        let mut number_of = |name| {
            *numbers.entry(name).or_insert_with(|| {
                next += 1;
                next - 1
            })
        };
        let sources: Vec<u32> = needs.resources.iter().map(|name| number_of(name.as_str())).collect();
        let mut workload = Workload::new();
        for _ in 0..needs.workload.n_profiles() {
            workload.add_profile();
        }
        for cei in needs.workload.ceis() {
            let moved = |interval: &ExecutionInterval| {
                let source = SourceIdx(sources[interval.source().index()]);
                ExecutionInterval::new(source, interval.start(), interval.finish())
            };
            let intervals = cei.intervals.iter().map(moved).collect::<Result<Vec<_>, _>>()?;
            let profile = needs.workload.profile_of(cei.idx);
            workload.push(profile, &intervals, Need::Any(cei.need), cei.weight)?;
        }
        Ok(Self { trace, needs: workload })
    }

    /// Runs the scheduler on both at once, and every fixed split. `on_run` is called as each of the runs begins.
    pub fn compare(
        &self,
        epoch: Epoch,
        value: ValueModel,
        budget: &Budget,
        learning: Learning,
        mut on_run: impl FnMut(),
    ) -> Result<Mixed, Error> {
        let both = World { trace: &self.trace, epoch, value, learning, needs: &self.needs };
        let alone = World { needs: &Workload::new(), ..both };
        on_run();
        let live = self.gain(&both, &both.watched(Strategy::Learned, budget, &mut |_| ()))?;
        let mut splits = Vec::new();
        for tenths in 0..=TENTHS {
            on_run();
            let share = f64::from(tenths) / f64::from(TENTHS);
            let (for_needs, for_changes) = (budget.scaled(share), budget.scaled(1.0 - share));
            let mut policy = Marginal::new(&for_needs, Costs::uniform());
            let met = run_workload(&mut policy, &self.needs, epoch.chronons, &for_needs, |_| ());
            let watched = alone.watched(Strategy::Learned, &for_changes, &mut |_| ());
            let probes = met.probes().iter().chain(watched.probes()).copied().collect();
            splits.push((share, self.gain(&both, &Schedule::from_probes(probes))?));
        }
        Ok(Mixed { live, splits })
    }

    fn gain(&self, world: &World<'_>, schedule: &Schedule) -> Result<Gain, Error> {
        let score = world.score(schedule)?;
        Ok(Gain {
            changes: score.utility * score.changes as f64,
            ceis: score_intervals(&self.needs, schedule).weight_captured,
            probes: schedule.probes().len(),
        })
    }
}
