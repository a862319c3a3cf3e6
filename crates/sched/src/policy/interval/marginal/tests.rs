//! The plan seen from inside: whatever happens, its parts agree with each other, and it forgets what is over.

use std::collections::BTreeMap;

use dunlin_core::{Cei, CeiIdx, ExecutionInterval};

use super::super::cei_ledger::EiState;
use super::*;
use crate::plain::marginal::{PlainBacklog, PlainSlots};

type Fast = Planner<HeapSlots, BinaryHeap<BacklogEntry>>;

/// A fixed sequence of numbers, each below the bound given.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }

    fn interval(&mut self, now: u32, n_sources: u32, width: u32) -> ExecutionInterval {
        let start = now + self.below(8);
        let finish = start + self.below(width);
        let chronon = |number| Chronon::new(number).unwrap();
        ExecutionInterval::new(SourceIdx(self.below(n_sources)), chronon(start), chronon(finish)).unwrap()
    }
}

/// Runs a stream of needs on so many sources, whose intervals have up to so many chronons, and calls `check` after every chronon with what was
/// chosen in it.
fn stream<S: Slots, L: Backlog>(
    (seed, chronons, n_sources, width): (u64, u32, u32, u32),
    mut planner: Planner<S, L>,
    grant: f64,
    mut check: impl FnMut(&Planner<S, L>, &[SourceIdx]),
) -> Planner<S, L> {
    let mut draw = Draw(seed);
    let mut arrived = 0;
    for now in 1..=chronons {
        let chronon = Chronon::new(now).unwrap();
        for _ in 0..draw.below(5) {
            let n_eis = 1 + draw.below(4);
            let eis: Vec<_> = (0..n_eis).map(|_| draw.interval(now, n_sources, width)).collect();
            let (need, weight) = (1 + draw.below(n_eis), f64::from(draw.below(4)) / 2.0);
            let cei = Cei { idx: CeiIdx(arrived), intervals: &eis, need, weight, profile_rank: 4 };
            planner.arrive(chronon, Arrival::Cei(cei));
            arrived += 1;
        }
        // Now and then a chronon is missed.
        if draw.below(40) == 0 {
            continue;
        }
        let mut chosen = Vec::new();
        planner.choose(chronon, &mut Allowance::of(grant), &mut chosen);
        for &source in &chosen {
            let outcome = if draw.below(6) == 0 { Outcome::Failed } else { Outcome::Read };
            planner.observe(Observation { source, at: chronon, outcome });
        }
        check(&planner, &chosen);
    }
    planner
}

fn live(seed: u64, chronons: u32, planner: Fast, grant: f64, check: impl Fn(&Fast)) -> Fast {
    stream((seed, chronons, 30, 12), planner, grant, |planner, _| check(planner))
}

/// Which sources are chosen in each chronon if only `most_candidates` jobs, and some for each probe, are compared; and how often
/// there were more.
fn choices<S: Slots, L: Backlog>(seed: u64, most_candidates: usize) -> (Vec<Vec<SourceIdx>>, usize) {
    let mut planner: Planner<S, L> = Planner::new(&Budget::constant(2.0).unwrap(), Costs::uniform());
    planner.most_candidates = most_candidates;
    let (mut all, mut n_crowded) = (Vec::new(), 0);
    stream((seed, 200, 300, 60), planner, 2.0, |planner, chosen| {
        let (slots, jobs) = (&planner.timetable.slots, &planner.timetable.jobs);
        let n_runnable = slots.runnable(jobs, planner.now, usize::MAX).len();
        n_crowded += usize::from(n_runnable > most_candidates + 16);
        all.push(chosen.to_vec());
    });
    (all, n_crowded)
}

#[test]
fn of_very_many_jobs_the_same_are_compared_with_heaps_and_without() {
    let mut n_crowded = 0;
    for seed in 0..20 {
        let fast = choices::<HeapSlots, BinaryHeap<BacklogEntry>>(seed, 2);
        assert_eq!(fast, choices::<PlainSlots, PlainBacklog>(seed, 2), "seed {seed}");
        n_crowded += fast.1;
    }
    assert!(n_crowded > 1_000, "{n_crowded} chronons with more jobs than were compared");
}

fn check_plan(planner: &Fast) {
    let mut used: BTreeMap<u32, f64> = BTreeMap::new();
    for (number, job, at) in planner.timetable.jobs.placed() {
        *used.entry(at).or_default() += job.cost;
        let eis = || job.eis.iter().map(|&ei| &planner.ledger.eis[ei as usize]);
        assert!(planner.now <= at && job.start <= at && at <= job.finish);
        assert_eq!(eis().map(|ei| ei.start).max(), Some(job.start));
        assert_eq!(eis().map(|ei| ei.finish).min(), Some(job.finish));
        assert!((eis().map(|ei| f64::from(ei.bid)).sum::<f64>() - job.value).abs() < 1e-4);
        for (position, ei) in (0..).zip(eis()) {
            assert_eq!((ei.state, ei.job, ei.position), (EiState::Open, number, position));
            assert_eq!(ei.source, job.source);
        }
        let listed = &planner.ledger.sources[job.source.index()].jobs;
        assert_eq!(listed.iter().filter(|&&other| other == number).count(), 1);
    }
    for (at, used) in used {
        assert!(used <= planner.timetable.budget.capacity(at) + ROUNDING);
        assert!((planner.timetable.summary(at).used - used).abs() < ROUNDING);
    }
    let price = planner.price.get();
    assert!(price.is_finite() && price >= 0.0);
}

fn check_books(planner: &Fast) {
    let ledger = &planner.ledger;
    let mut open: BTreeMap<SourceIdx, Vec<u32>> = BTreeMap::new();
    for (number, ei) in (0..).zip(&ledger.eis).filter(|(_, ei)| ei.state == EiState::Open) {
        assert!(ledger.cei_of(number).is_live && ledger.members(ei.cei).contains(&number));
        assert!(ei.finish >= planner.now);
        open.entry(ei.source).or_default().push(number);
    }
    for source in (0..ledger.sources.len() as u32).map(SourceIdx) {
        let mut listed: Vec<u32> = ledger.open_on(source).collect();
        listed.sort_unstable();
        assert_eq!(listed, open.remove(&source).unwrap_or_default());
    }
    let n_upcoming: usize = ledger.sources.iter().map(|source| source.n_upcoming as usize).sum();
    assert_eq!(n_upcoming, ledger.starting.len());
}

#[test]
fn the_parts_of_the_plan_agree() {
    let uneven = Costs::per_source((0..30).map(|source| [1.0, 0.5, 2.0][source % 3]).collect()).unwrap();
    for seed in 0..20 {
        for (grant, costs) in [(1.0, Costs::uniform()), (3.0, Costs::uniform()), (2.0, uneven.clone())] {
            let budget = Budget::constant(grant).unwrap();
            live(seed, 150, Planner::new(&budget, costs), grant, |planner| {
                check_plan(planner);
                check_books(planner);
            });
        }
    }
}

#[test]
fn memory_follows_the_live_needs() {
    let budget = Budget::constant(1.0).unwrap();
    let planner = live(7, 20_000, Planner::new(&budget, Costs::uniform()), 1.0, |_| ());
    assert!(planner.ledger.eis.len() < 1_000, "{} interval records", planner.ledger.eis.len());
    assert!(planner.ledger.ceis.len() < 500, "{} CEI records", planner.ledger.ceis.len());
    assert!(planner.timetable.jobs.len() < 200, "{} jobs", planner.timetable.jobs.len());
    assert!(planner.ledger.finishing.len() < 4_000 && planner.ledger.starting.len() < 4_000);
    assert!(planner.backlog.len() < 4_000, "{} in the backlog", planner.backlog.len());
}

#[test]
fn needs_without_end_leave_nothing_behind_once_captured() {
    let budget = Budget::constant(1.0).unwrap();
    let mut planner = Fast::new(&budget, Costs::uniform());
    for now in 1..=5_000 {
        let chronon = Chronon::new(now).unwrap();
        let last = Chronon::new(u32::MAX).unwrap();
        let eis = [
            ExecutionInterval::new(SourceIdx(now % 7), chronon, last).unwrap(),
            ExecutionInterval::new(SourceIdx(8), last, last).unwrap(),
        ];
        let cei = Cei { idx: CeiIdx(now), intervals: &eis, need: 1, weight: 1.0, profile_rank: 1 };
        planner.arrive(chronon, Arrival::Cei(cei));
        let mut chosen = Vec::new();
        planner.choose(chronon, &mut Allowance::of(1.0), &mut chosen);
        for source in chosen {
            planner.observe(Observation { source, at: chronon, outcome: Outcome::Read });
        }
    }
    assert!(planner.ledger.eis.len() < 100 && planner.timetable.jobs.len() < 100);
    assert!(planner.ledger.finishing.len() < 2_000 && planner.ledger.starting.len() < 2_000);
}
