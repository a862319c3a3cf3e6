//! Gained completeness: the share of complex needs that a schedule captures.

use dunlin_core::{Cei, Chronon, ExecutionInterval, Schedule, Workload};

use super::share;

/// What a schedule captured of a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalScore {
    /// CEIs in the workload.
    pub ceis: usize,
    /// CEIs of which enough intervals were captured.
    pub captured: usize,
    /// captured / ceis.
    pub gained_completeness: f64,
    /// Weight of the CEIs captured.
    pub weight_captured: f64,
    /// Weight of the CEIs captured as a share of all weight.
    pub weighted_completeness: f64,
    /// Single intervals captured, whether or not their CEI was.
    pub intervals_captured: usize,
    /// Probes made.
    pub probes: usize,
}

/// Scores a schedule on a workload.
pub fn score_intervals(workload: &Workload, schedule: &Schedule) -> IntervalScore {
    let (mut captured, mut intervals_captured) = (0, 0);
    let (mut weight_captured, mut weight) = (0.0, 0.0);
    for (cei, hits) in hits(workload, schedule) {
        intervals_captured += hits;
        weight += cei.weight;
        if hits >= cei.need as usize {
            captured += 1;
            weight_captured += cei.weight;
        }
    }
    IntervalScore {
        ceis: workload.n_ceis(),
        captured,
        gained_completeness: share(captured as f64, workload.n_ceis() as f64),
        weight_captured,
        weighted_completeness: share(weight_captured, weight),
        intervals_captured,
        probes: schedule.probes().len(),
    }
}

/// Whether a schedule captures each CEI of a workload, by its index: for counts by profile.
pub fn captured_ceis(workload: &Workload, schedule: &Schedule) -> Vec<bool> {
    hits(workload, schedule).map(|(cei, hits)| hits >= cei.need as usize).collect()
}

/// The CEIs, each with the number of its intervals that the schedule captures.
fn hits<'w>(workload: &'w Workload, schedule: &Schedule) -> impl Iterator<Item = (Cei<'w>, usize)> {
    let probes = schedule.by_source(workload.n_sources());
    workload.ceis().map(move |cei| {
        let is_captured =
            |interval: &&ExecutionInterval| has_probe(&probes[interval.source().index()], interval);
        let hits = cei.intervals.iter().filter(is_captured).count();
        (cei, hits)
    })
}

fn has_probe(probes: &[Chronon], interval: &ExecutionInterval) -> bool {
    let first = probes.partition_point(|&at| at < interval.start());
    probes.get(first).is_some_and(|&at| at <= interval.finish())
}
