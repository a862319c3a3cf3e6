//! Plans made beforehand on synthetic histories and needs, with what each is worth; and where CAM's windows and baselines lie.

use std::fmt::Write as _;
use std::num::NonZeroU32;

use dunlin_core::{Budget, Chronon, Costs, ExecutionInterval, Need, SourceIdx, Workload};
use dunlin_sched::plan::best_utility;
use dunlin_sched::plan::cam::{
    self, Allocation, Expected, ProbeDemand, Sharing, Task, UpdateForecast, allocate, assign,
    assign_greedily, instants,
};
use dunlin_sched::plan::intervals::{
    Effort, Grid, Instance, Tolerance, local_ratio, offline, relax, single_ei_bound,
};
use dunlin_sched::plan::polling::{
    History, Objective, PollingPlan, exact, find_break, modelled, plan_many, replan, uniform,
};
use dunlin_sched::score::{score_intervals, score_polling};
use dunlin_sched::value::ValueModel;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{check, row};
use crate::instances::{chronon, interval};
use crate::sources::{DAY, HOUR, time};

const SLOTS: u32 = 48;

/// Updates in slots of half an hour over so many days: `morning` of the days at about eight, and some at any time.
fn history(days: i64, morning: f64, anytime: f64, seed: u64) -> History {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut slots = Vec::new();
    for day in 0..days {
        for slot in 0..i64::from(SLOTS) {
            let chance = if (15..18).contains(&slot) { morning } else { anytime };
            for _ in 0..2 {
                if rng.random::<f64>() < chance {
                    slots.push(day * i64::from(SLOTS) + slot);
                }
            }
        }
    }
    History::new(slots, 0..days * i64::from(SLOTS)).unwrap()
}

/// A source that moves from mornings to evenings.
fn moved(seed: u64) -> History {
    let (before, after) = (history(40, 0.5, 0.01, seed), history(16, 0.5, 0.01, seed + 1));
    let later = after.slots().iter().map(|slot| slot + 40 * i64::from(SLOTS) + 24);
    let end = 56 * i64::from(SLOTS);
    History::new(before.slots().iter().copied().chain(later.filter(|&slot| slot < end)).collect(), 0..end)
        .unwrap()
}

fn plan_row(table: &mut String, name: &str, history: &History, plan: &PollingPlan) {
    let score = score_polling(history, plan);
    row(
        table,
        &format!("{name} {:?}", plan.polls()),
        &[score.missed as f64, score.updates as f64, score.recall, score.freshness, score.mean_age],
    );
}

#[test]
fn polling() {
    let mut table = String::new();
    let histories = [history(30, 0.5, 0.02, 1), history(20, 0.1, 0.1, 2), history(60, 0.9, 0.0, 3), moved(4)];
    for (number, history) in histories.iter().enumerate() {
        for polls in [1, 2, 3, 5, 9, 30] {
            for objective in [Objective::Recall, Objective::Freshness, Objective::Age] {
                let plan = exact(history, SLOTS, polls, objective).unwrap();
                plan_row(&mut table, &format!("{number} exact {polls} {objective:?}"), history, &plan);
            }
            let planned = [("modelled", modelled(history, SLOTS, polls)), ("uniform", uniform(SLOTS, polls))];
            for (name, plan) in planned {
                plan_row(&mut table, &format!("{number} {name} {polls}"), history, &plan);
            }
        }
        let half_life = NonZeroU32::new(7 * SLOTS).unwrap();
        let (plan, found) = replan(history, SLOTS, 3, Objective::Recall, half_life).unwrap();
        plan_row(&mut table, &format!("{number} again"), history, &plan);
        assert_eq!(found, find_break(history, SLOTS));
        let found = found.map(|found| [found.since as f64, found.statistic, found.threshold]);
        row(&mut table, &format!("{number} break"), &found.unwrap_or_default());
        let recent = history.last(5 * SLOTS);
        plan_row(
            &mut table,
            &format!("{number} lately"),
            &recent,
            &exact(&recent, SLOTS, 3, Objective::Recall).unwrap(),
        );
    }
    for total in [1, 4, 11, 40] {
        let plans = plan_many(&histories, SLOTS, total, Objective::Recall).unwrap();
        for (number, (history, plan)) in histories.iter().zip(&plans).enumerate() {
            plan_row(&mut table, &format!("{number} of {total} shared"), history, plan);
        }
    }
    check("polling", &table);
}

fn pages(seed: u64) -> UpdateForecast {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let sources = (0..14u32).map(|source| {
        let mut at: Vec<u32> = (0..rng.random_range(1..9)).map(|_| rng.random_range(1..=60)).collect();
        at.sort_unstable();
        at.dedup();
        let expected = at.into_iter().map(|at| Expected {
            at: chronon(at),
            probability: f64::from(rng.random_range(1..=20u32)) / 20.0,
        });
        (1.0 / f64::from(1 + source), expected.collect())
    });
    UpdateForecast::new(60, sources.collect()).unwrap()
}

fn describe_tasks(table: &mut String, name: &str, tasks: &[Task], times: &[Option<Chronon>]) {
    write!(table, "{name}:").unwrap();
    for (task, time) in tasks.iter().zip(times) {
        let time = time.map_or(0, Chronon::get);
        write!(table, " {}@{}-{}/{:.5}>{time}", task.source.0, task.ideal, task.last, task.worth).unwrap();
    }
    table.push('\n');
}

#[test]
fn cam_plans() {
    let mut table = String::new();
    for seed in 0..2 {
        let forecast = pages(seed);
        for probes in [5, 20, 200] {
            for allocation in [Allocation::Optimal, Allocation::Uniform, Allocation::Proportional] {
                let tasks = allocate(&forecast, probes, allocation);
                let room: Vec<u32> =
                    (0..60).map(|at| u32::from(at % 3 != 0) + u32::from(at % 10 == 0)).collect();
                let name = format!("{seed}, {probes} probes, {allocation:?}");
                describe_tasks(&mut table, &name, &tasks, &assign(&tasks, &room));
                describe_tasks(
                    &mut table,
                    &format!("{name}, greedy"),
                    &tasks,
                    &assign_greedily(&tasks, &room),
                );
            }
            // As many probes as there is room for, among others.
            let room: Vec<u32> = (0..60).map(|at| u32::from(at % 3 == 1)).collect();
            let planned = cam::plan(&forecast, probes, &room);
            let probes_made: Vec<_> =
                planned.probes().iter().map(|probe| (probe.chronon.get(), probe.source.0)).collect();
            writeln!(table, "{seed}, {probes} probes, plan: {probes_made:?}").unwrap();
        }
    }
    check("cam", &table);
}

/// A window begins with the instant and ends just before the source's next one, the last with the epoch.
#[test]
fn windows_and_baselines_are_where_they_are_said_to_be() {
    let of = |instants: &[(u32, f64)]| {
        instants.iter().map(|&(at, probability)| Expected { at: chronon(at), probability }).collect()
    };
    let forecast =
        UpdateForecast::new(12, vec![(2.0, of(&[(2, 0.5), (5, 0.25), (6, 1.0)])), (1.0, of(&[(4, 0.75)]))])
            .unwrap();
    let windows = |allocation, probes| -> Vec<(u32, u32, u32, f64)> {
        allocate(&forecast, probes, allocation)
            .iter()
            .map(|task| (task.source.0, task.ideal.get(), task.last.get(), task.worth))
            .collect()
    };
    assert_eq!(
        windows(Allocation::Optimal, 4),
        [(0, 2, 4, 1.0), (0, 5, 5, 0.5), (0, 6, 12, 2.0), (1, 4, 12, 0.75)]
    );
    // The two with the largest weight × probability.
    assert_eq!(windows(Allocation::Optimal, 2), [(0, 2, 4, 1.0), (0, 6, 12, 2.0)]);
    // Two each, at equal distances, the sources in turn: chronons 1 and 7, 4 and 10. Each answers for half of what is
    // expected of its source: 2·1.75/2 and 0.75/2.
    assert_eq!(
        windows(Allocation::Uniform, 4),
        [(0, 1, 6, 1.75), (0, 7, 12, 1.75), (1, 4, 9, 0.375), (1, 10, 12, 0.375)]
    );
    // 1.75 against 0.75 expected: three to one by Sainte-Laguë (1.75, 0.75, 0.583, 0.35).
    assert_eq!(
        windows(Allocation::Proportional, 4),
        [(0, 1, 4, 3.5 / 3.0), (0, 5, 8, 3.5 / 3.0), (0, 9, 12, 3.5 / 3.0), (1, 7, 12, 0.75)]
    );
}

#[test]
fn shares_and_instants() {
    let mut table = String::new();
    let demands: Vec<ProbeDemand> = (0..20u32)
        .map(|number| {
            let own = f64::from(number);
            ProbeDemand {
                weight: [1.0, 0.3, 2.0][number as usize % 3],
                pending: own * 0.2 % 1.1,
                expected: 0.1 + own * own * 0.05,
                evidence: 0.5 + own,
                cost: [1.0, 1.0, 2.5][number as usize % 3],
                least: number % 4 / 3,
                most: 1 + number % 7,
                group: number % 5,
            }
        })
        .collect();
    for (budget, groups) in [(10.0, vec![]), (30.0, vec![4.0, 100.0, 3.5]), (500.0, vec![])] {
        let mut sharing = Sharing::new(budget, groups);
        demands.iter().for_each(|demand| sharing.add(*demand));
        while sharing.go_on(7).is_none() {}
        writeln!(table, "{budget}: {:?}", sharing.shares()).unwrap();
        row(&mut table, "price", &[sharing.price()]);
        let worth_at: Vec<u32> = demands.iter().map(|demand| demand.worth_at(sharing.price())).collect();
        writeln!(table, "at that price: {worth_at:?}").unwrap();
    }
    let gains =
        |demand: &ProbeDemand| [demand.gain(1), demand.gain(3), demand.next_gain(0), demand.next_gain(2)];
    row(&mut table, "gains", &demands.iter().flat_map(gains).collect::<Vec<_>>());

    let mut model = dunlin_sched::model::Model::new(dunlin_sched::model::Prior::default());
    for hour in 0..400u32 {
        let (since, at) = (f64::from(hour) * HOUR, f64::from(hour + 1) * HOUR);
        let evidence = if hour % 24 == 9 {
            crate::sources::changed(vec![time(since + 20.0 * 60.0)], dunlin_sched::model::Completeness::All)
        } else {
            dunlin_sched::model::Evidence::Unchanged
        };
        model.observe(&dunlin_sched::model::ProbeEvidence {
            since: Some(time(since)),
            at: time(at),
            evidence,
        });
    }
    let forecast = model.forecast();
    for (from, hours, probes, phase) in [(400.0, 24.0, 3, 0.3), (400.0, 24.0, 1, 1.0), (410.0, 6.0, 4, 0.0)] {
        let epoch = time(from * HOUR)..time((from + hours) * HOUR);
        let demand = ProbeDemand {
            pending: 0.05,
            expected: forecast.expected(epoch.start, epoch.end),
            evidence: forecast.evidence(),
            ..demands[0]
        };
        let seconds: Vec<f64> = instants(&forecast, &epoch, &demand, probes, phase)
            .iter()
            .map(|at| at.since(epoch.start).as_secs_f64() / DAY)
            .collect();
        row(&mut table, &format!("instants of {probes} in {hours} hours"), &seconds);
    }
    check("sharing", &table);
}

fn needs(seed: u64, widest: u32) -> Workload {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut workload = Workload::new();
    let profile = workload.add_profile();
    for _ in 0..120 {
        let n_eis = rng.random_range(1..=3u32);
        let first = rng.random_range(1..50);
        let eis: Vec<ExecutionInterval> = (0..n_eis)
            .map(|_| {
                let start = first + rng.random_range(0..8);
                interval(rng.random_range(0..15), start, start + rng.random_range(0..=widest))
            })
            .collect();
        let need = if rng.random_range(0..3) == 0 { Need::Any(1) } else { Need::All };
        workload.push(profile, &eis, need, [1.0, 1.0, 2.0, 0.5][rng.random_range(0..4)]).unwrap();
    }
    workload
}

#[test]
fn offline_plans_and_bounds() {
    let mut table = String::new();
    let uneven = Costs::per_source((0..15).map(|source| [1.0, 0.5, 2.0][source % 3]).collect()).unwrap();
    for (seed, widest, grant, costs) in [
        (1, 6, 1.0, Costs::uniform()),
        (2, 0, 1.0, Costs::uniform()),
        (3, 6, 0.5, Costs::uniform()),
        (4, 4, 2.0, uneven.clone()),
        (5, 12, 1.5, uneven),
    ] {
        let (workload, budget) = (needs(seed, widest), Budget::constant(grant).unwrap());
        let instance = Instance { workload: &workload, chronons: 64, budget: &budget, costs: &costs };
        let grid = Grid::new(instance).unwrap();
        let relaxed = relax(&grid, Tolerance::default(), || true);
        let single = single_ei_bound(instance, || true).unwrap();
        // The relaxation is found to one part in ten thousand, by many steps; as many digits are compared.
        writeln!(
            table,
            "{seed}: secured and open {:.4}, relaxation {:.2} to {:.2}, single {:?}",
            grid.undecided(),
            relaxed.at_least,
            relaxed.bound,
            single
        )
        .unwrap();
        let weight = |schedule: &dunlin_core::Schedule| {
            let score = score_intervals(&workload, schedule);
            (score.captured, score.weight_captured, score.probes)
        };
        let local = local_ratio(instance).unwrap();
        writeln!(table, "{seed}: local ratio {:?} {:?}", weight(&local), local.probes().first()).unwrap();
        for effort in [Effort::default(), Effort { rounds: 1, seed: 5 }] {
            let planned = offline(instance, effort, || true).unwrap();
            let found = weight(&planned.schedule);
            writeln!(
                table,
                "{seed}: offline {found:?} bound {:.4} proven {}",
                planned.bound, planned.is_proven
            )
            .unwrap();
        }
    }
    check("offline", &table);
}

#[test]
fn the_best_expected_utility() {
    let mut table = String::new();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for (life, urgency) in
        [("append", "exp:0.8"), ("window:2", "uniform"), ("changes:2", "poly:1"), ("overwrite", "uniform")]
    {
        let model = ValueModel::new(life.parse().unwrap(), urgency.parse().unwrap());
        let models = [ValueModel { weight: 0.5, ..model }, model, model];
        let mut draw = || (0..8).map(|_| f64::from(rng.random_range(0..=10u32)) / 10.0).collect::<Vec<f64>>();
        let probabilities = [draw(), draw(), draw()];
        let (best, schedule) = best_utility(&models, &probabilities, 1).unwrap();
        let probed: Vec<SourceIdx> = schedule.probes().iter().map(|probe| probe.source).collect();
        row(&mut table, &format!("{life} {urgency} {probed:?}"), &[best]);
    }
    check("best-utility", &table);
}
