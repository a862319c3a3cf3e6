//! CAM: allocation and assignment lose as little as any other way to do it.

use dunlin_core::{Budget, Chronon, Costs, SourceIdx};
use dunlin_sched::epoch;
use dunlin_sched::plan::cam::{
    Allocation, Expected, LOST, Task, UpdateForecast, allocate, assign, assign_greedily, plan, schedule,
};
use dunlin_sched::plan::{self};
use dunlin_sched::policy::PlanFollower;
use proptest::prelude::*;

use crate::instances::{chronon, probability};

const CHRONONS: u32 = 8;

fn forecast() -> impl Strategy<Value = UpdateForecast> {
    let instants = prop::collection::btree_map(1..=CHRONONS, probability(), 0..5);
    let weight = prop_oneof![Just(1.0), Just(0.5), 0.0..2.0f64];
    prop::collection::vec((weight, instants), 1..4).prop_map(|sources| {
        let expected = |(at, probability)| Expected { at: chronon(at), probability };
        let sources =
            sources.into_iter().map(|(w, own)| (w, own.into_iter().map(expected).collect())).collect();
        UpdateForecast::new(CHRONONS, sources).unwrap()
    })
}

/// Σ W·ρ over the instants that no task is meant for.
fn expected_loss(forecast: &UpdateForecast, is_probed: impl Fn(SourceIdx, Chronon) -> bool) -> f64 {
    let of_source = |(source, weight, instants): (SourceIdx, f64, &[Expected])| {
        let lost = instants.iter().filter(|instant| !is_probed(source, instant.at));
        weight * lost.map(|instant| instant.probability).sum::<f64>()
    };
    forecast.by_source().map(of_source).sum()
}

fn tasks() -> impl Strategy<Value = Vec<Task>> {
    let worth = prop_oneof![Just(1.0), Just(0.5), Just(0.25), 0.01..1.0f64];
    let task = (0..6u32, 1..=6u32, 0..5u32, worth).prop_map(|(source, ideal, width, worth)| Task {
        source: SourceIdx(source),
        ideal: chronon(ideal),
        last: chronon((ideal + width).min(6)),
        worth,
    });
    prop::collection::vec(task, 1..7)
}

/// Weighted delay of what was done, and what it costs that the rest was not.
fn loss(tasks: &[Task], times: &[Option<Chronon>]) -> f64 {
    let delay = |(task, time): (&Task, &Option<Chronon>)| {
        task.worth * time.map_or(LOST, |time| f64::from(time.since(task.ideal)))
    };
    tasks.iter().zip(times).map(delay).sum()
}

/// Every way to give tasks times.
fn least_loss(tasks: &[Task], room: &mut [u32], times: &mut Vec<Option<Chronon>>) -> f64 {
    let Some(task) = tasks.get(times.len()) else { return loss(tasks, times) };
    times.push(None);
    let mut best = least_loss(tasks, room, times);
    times.pop();
    for t in task.ideal.index()..=task.last.index() {
        if room[t] > 0 {
            room[t] -= 1;
            times.push(chronon(t as u32 + 1).into());
            best = best.min(least_loss(tasks, room, times));
            times.pop();
            room[t] += 1;
        }
    }
    best
}

fn check_feasible(tasks: &[Task], times: &[Option<Chronon>], room: &[u32]) {
    let mut used = vec![0; room.len()];
    for (task, time) in tasks.iter().zip(times) {
        if let Some(time) = time {
            assert!(task.ideal <= *time && *time <= task.last, "{task:?} at {time}");
            used[time.index()] += 1;
        }
    }
    assert!(used.iter().zip(room).all(|(used, room)| used <= room), "{used:?} of {room:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn allocation_loses_as_little_as_any_choice_of_instants(forecast in forecast(), probes in 0..6usize) {
        let tasks = allocate(&forecast, probes, Allocation::Optimal);
        prop_assert!(tasks.len() <= probes);
        let own = expected_loss(&forecast, |source, at| {
            tasks.iter().any(|task| task.source == source && task.ideal == at)
        });
        let instants: Vec<_> = forecast
            .by_source()
            .flat_map(|(source, _, own)| own.iter().map(move |instant| (source, instant.at)))
            .collect();
        for set in (0u32..1 << instants.len()).filter(|set| set.count_ones() as usize <= probes) {
            let probed = |source, at| {
                instants.iter().enumerate().any(|(i, &instant)| set & (1 << i) != 0 && instant == (source, at))
            };
            prop_assert!(own <= expected_loss(&forecast, probed) + 1e-9);
        }
    }

    #[test]
    fn assignment_loses_as_little_as_any_other(
        tasks in tasks(),
        room in prop::collection::vec(0..3u32, 6),
    ) {
        let times = assign(&tasks, &room);
        check_feasible(&tasks, &times, &room);
        let own = loss(&tasks, &times);
        let best = least_loss(&tasks, &mut room.clone(), &mut Vec::new());
        prop_assert!((own - best).abs() < 1e-6, "{own}, and {best} is possible");
        let greedy = assign_greedily(&tasks, &room);
        check_feasible(&tasks, &greedy, &room);
        prop_assert!(loss(&tasks, &greedy) >= own - 1e-6);
    }

    #[test]
    fn baselines_spend_what_they_may(forecast in forecast(), probes in 0..12usize) {
        for allocation in [Allocation::Uniform, Allocation::Proportional] {
            let tasks = allocate(&forecast, probes, allocation);
            prop_assert!(tasks.len() <= probes);
            prop_assert!(tasks.iter().all(|task| task.ideal <= task.last && task.last.get() <= CHRONONS));
            let ideal = |pair: &[Task]| pair[0].source < pair[1].source || pair[0].last < pair[1].ideal;
            prop_assert!(tasks.windows(2).all(ideal), "{tasks:?}");
        }
        let evenly = allocate(&forecast, forecast.n_sources(), Allocation::Uniform);
        prop_assert_eq!(evenly.len(), forecast.n_sources());
    }
}

/// Two heavy tasks and a light one want chronon 1; the light one cannot wait, so both heavy ones do, one for long.
#[test]
fn a_light_task_that_cannot_wait_is_not_lost() {
    let task = |source, last, worth| Task {
        source: SourceIdx(source),
        ideal: chronon(1),
        last: chronon(last),
        worth,
    };
    let tasks = [task(0, 3, 5.0), task(1, 3, 4.0), task(2, 1, 1.0)];
    assert_eq!(assign(&tasks, &[1; 3]), [Some(chronon(2)), Some(chronon(3)), Some(chronon(1))]);
    assert_eq!(assign_greedily(&tasks, &[1; 3]), [Some(chronon(1)), Some(chronon(2)), None]);
}

#[test]
fn a_plan_is_followed_as_far_as_the_budget_goes() {
    let at = |at, probability| Expected { at: chronon(at), probability };
    let sources = vec![(1.0, vec![at(1, 1.0), at(4, 0.5)]), (2.0, vec![at(1, 0.9)])];
    let forecast = UpdateForecast::new(6, sources).unwrap();
    let planned = plan(&forecast, 3, &[1; 6]);
    let probes: Vec<_> = planned.probes().iter().map(|probe| (probe.chronon.get(), probe.source.0)).collect();
    assert_eq!(probes, [(1, 1), (2, 0), (4, 0)]);
    let mut policy = PlanFollower::new(&planned, Costs::uniform());
    let budget = Budget::constant(1.0).unwrap();
    assert_eq!(epoch::run(&mut policy, 6, &budget, |_, _| ()), planned);
    let dear = Costs::per_source(vec![2.0]).unwrap();
    let followed = epoch::run(&mut PlanFollower::new(&planned, dear), 6, &budget, |_, _| ());
    assert_eq!(followed.probes().len(), 1, "what does not fit is passed over");
    let tasks = allocate(&forecast, 3, Allocation::Optimal);
    assert!(schedule(&tasks, &[None; 3]).probes().is_empty());
}

#[test]
fn what_is_worth_nothing_gets_no_probe_however_many_are_left() {
    let at = |at, probability| Expected { at: chronon(at), probability };
    let sources = vec![(0.0, vec![at(1, 1.0)]), (1.0, vec![at(2, 0.0), at(4, 0.5)])];
    let forecast = UpdateForecast::new(6, sources).unwrap();
    let tasks = allocate(&forecast, 10, Allocation::Optimal);
    let instants: Vec<_> = tasks.iter().map(|task| (task.source.0, task.ideal.get())).collect();
    assert_eq!(instants, [(1, 4)]);
}

#[test]
fn nonsense_is_refused() {
    let at = |at, probability| Expected { at: chronon(at), probability };
    let refusal = |weight, instants| UpdateForecast::new(5, vec![(weight, instants)]).unwrap_err();
    assert!(matches!(refusal(f64::NAN, vec![]), plan::Error::BadWeight(_)));
    assert!(matches!(refusal(1.0, vec![at(2, 1.5)]), plan::Error::BadProbability(_)));
    assert!(matches!(refusal(1.0, vec![at(6, 0.5)]), plan::Error::OutsideEpoch { chronon: 6, .. }));
    assert!(matches!(
        refusal(1.0, vec![at(2, 0.5), at(2, 0.1)]),
        plan::Error::SameInstant { chronon: 2, .. }
    ));
}
