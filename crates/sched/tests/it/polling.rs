//! Polling plans: the exact one is the best of all plans, whatever it is asked to be good at.

use std::num::NonZeroU32;

use dunlin_core::{Changes, Chronon, Probe, Schedule, SourceIdx};
use dunlin_sched::plain::{plain_polling, polling_loss};
use dunlin_sched::plan::polling::{
    History, Objective, PollingPlan, exact, find_break, modelled, plan_many, replan, uniform,
};
use dunlin_sched::plan::{self};
use dunlin_sched::score::{PollingScore, score_polling, score_trace};
use dunlin_sched::value::{Life, Urgency, ValueModel};
use proptest::prelude::*;

/// Up to seven slots and five periods, the span anything but whole periods.
fn small() -> impl Strategy<Value = (History, u32, u32)> {
    (1..=7u32, -3..9i64, 1..30i64).prop_flat_map(|(slots, from, length)| {
        let updates = prop::collection::vec(from..from + length, 0..18);
        let history = updates.prop_map(move |updates| History::new(updates, from..from + length).unwrap());
        (history, Just(slots), 0..=slots + 1)
    })
}

fn objective() -> impl Strategy<Value = Objective> {
    prop_oneof![Just(Objective::Recall), Just(Objective::Freshness), Just(Objective::Age)]
}

/// Every plan with at most so many polls.
fn every_plan(slots: u32, polls: u32) -> impl Iterator<Item = PollingPlan> {
    let sets = (0u32..1 << slots).filter(move |set| set.count_ones() <= polls);
    sets.map(move |set| PollingPlan::new(slots, (0..slots).filter(|slot| set & (1 << slot) != 0).collect()))
}

/// Smaller is better.
fn worth(score: &PollingScore, objective: Objective) -> (usize, f64) {
    match objective {
        Objective::Recall => (score.missed, 1.0 - score.freshness),
        Objective::Freshness => (0, 1.0 - score.freshness),
        Objective::Age => (0, score.mean_age),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn exact_is_the_best_of_all_plans((history, slots, polls) in small(), objective in objective()) {
        let plan = exact(&history, slots, polls, objective).unwrap();
        prop_assert!(plan.polls().len() <= polls as usize);
        let own = worth(&score_polling(&history, &plan), objective);
        for other in every_plan(slots, polls) {
            let (missed, rest) = worth(&score_polling(&history, &other), objective);
            prop_assert!(
                own.0 < missed || (own.0 == missed && own.1 <= rest + 1e-12),
                "{plan:?} has {own:?}, and {other:?} has {:?}", (missed, rest)
            );
        }
    }

    #[test]
    fn exact_is_the_recurrence_on_decayed_histories(
        (history, slots, polls) in small(),
        objective in objective(),
        half_life in 1..20u32,
    ) {
        let history = history.decayed(NonZeroU32::new(half_life).unwrap());
        let plan = exact(&history, slots, polls, objective).unwrap();
        let (least, plain) = plain_polling(&history, slots, polls, objective);
        let loss = polling_loss(&history, &plan, objective);
        prop_assert!((polling_loss(&history, &plain, objective) - least).abs() <= 1e-9 * (1.0 + least));
        prop_assert!((loss - least).abs() <= 1e-9 * (1.0 + least), "{plan:?} {loss}, {plain:?} {least}");
    }

    /// With no two updates in a slot, the one evaluator for schedules says the same.
    #[test]
    fn figures_are_those_of_the_schedule((history, slots, polls) in small(), seed in any::<u32>()) {
        let span = history.span();
        let mut updates = history.slots().to_vec();
        updates.dedup();
        let history = History::new(updates, span.clone()).unwrap();
        let plan = PollingPlan::new(slots, (0..slots).filter(|slot| seed & (1 << slot) != 0).take(polls as usize).collect());
        let score = score_polling(&history, &plan);
        let chronon = |slot: i64| Chronon::new(u32::try_from(slot - span.start + 1).unwrap()).unwrap();
        let until = |end: i64| {
            let polls = (span.start..end).filter(|&slot| plan.next_poll(slot) == Some(slot));
            Schedule::from_probes(polls.map(|slot| Probe { chronon: chronon(slot), source: SourceIdx(0) }).collect())
        };
        let on = |end: i64| {
            let at = history.slots().iter().map(|&slot| chronon(slot)).collect();
            Changes::new(u32::try_from(end - span.start).unwrap(), vec![at]).unwrap()
        };
        let model = ValueModel::new(Life::Overwrite, Urgency::Uniform);
        let within = score_trace(&on(span.end), &until(span.end), |_| model);
        prop_assert!((within.freshness - score.freshness).abs() < 1e-12);
        prop_assert!((within.mean_age - score.mean_age).abs() < 1e-9);
        // The poll after the end counts for recall.
        let end = span.end + i64::from(slots);
        let beyond = score_trace(&on(end), &until(end), |_| model);
        prop_assert_eq!(beyond.captured, score.updates - score.missed);
    }

    #[test]
    fn no_planner_polls_more_than_it_may((history, slots, polls) in small()) {
        for plan in [modelled(&history, slots, polls), uniform(slots, polls)] {
            prop_assert!(plan.polls().len() <= polls as usize);
            prop_assert!(plan.polls().iter().all(|&poll| poll < slots));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Larger circles, where rounds of several stops interleave: against the recurrence.
    #[test]
    fn exact_is_the_recurrence_on_larger_circles(
        updates in prop::collection::vec(0..400i64, 1..250),
        slots in 8..40u32,
        polls in 1..12u32,
        objective in objective(),
    ) {
        let history = History::new(updates, 0..400).unwrap();
        let plan = exact(&history, slots, polls, objective).unwrap();
        let (least, _) = plain_polling(&history, slots, polls, objective);
        prop_assert_eq!(polling_loss(&history, &plan, objective), least);
    }

    /// All ways to share the polls, each source planned for itself.
    #[test]
    fn many_sources_share_as_well_as_possible(
        updates in prop::collection::vec(prop::collection::vec(0..60i64, 0..25), 2..4),
        slots in 2..12u32,
        total in 0..8u32,
    ) {
        let histories: Vec<_> = updates.into_iter().map(|own| History::new(own, 0..60).unwrap()).collect();
        let plans = plan_many(&histories, slots, total, Objective::Recall).unwrap();
        prop_assert!(plans.iter().map(|plan| plan.polls().len()).sum::<usize>() <= total as usize);
        let missed = |plans: &[PollingPlan]| -> usize {
            histories.iter().zip(plans).map(|(own, plan)| score_polling(own, plan).missed).sum()
        };
        let least = every_share(total, histories.len()).map(|shares| {
            let plan = |(own, polls)| exact(own, slots, polls, Objective::Recall).unwrap();
            missed(&histories.iter().zip(shares).map(plan).collect::<Vec<_>>())
        });
        prop_assert_eq!(missed(&plans), least.min().unwrap());
    }
}

fn every_share(total: u32, n: usize) -> Box<dyn Iterator<Item = Vec<u32>>> {
    if n == 1 {
        return Box::new(std::iter::once(vec![total]));
    }
    Box::new((0..=total).flat_map(move |first| {
        every_share(total - first, n - 1).map(move |rest| [vec![first], rest].concat())
    }))
}

/// The paper's log: 1:05, 1:14, 2:04, 2:15, 3:03, 3:14 and so on, two polls an hour.
#[test]
fn near_five_and_fourteen_past_every_hour() {
    let jitter = [(5, 14), (4, 15), (3, 14), (5, 13)];
    let minutes = (0..240).flat_map(|hour| {
        let (first, second) = jitter[usize::try_from(hour).unwrap() % 4];
        [hour * 60 + first, hour * 60 + second]
    });
    let history = History::new(minutes.collect(), 0..240 * 60).unwrap();
    let recall = |plan: &PollingPlan| score_polling(&history, plan).recall;
    assert_eq!(uniform(60, 2).polls(), [0, 30]);
    assert!((recall(&uniform(60, 2)) - 0.5).abs() < 0.01);
    let best = exact(&history, 60, 2, Objective::Recall).unwrap();
    assert_eq!((best.polls(), recall(&best)), (&[5, 15][..], 1.0));
    assert!(recall(&modelled(&history, 60, 2)) > 0.99, "{:?}", modelled(&history, 60, 2));
}

/// Many updates a period, without any habit or in the daytime only: the model has no order to go by.
#[test]
fn a_crowd_of_updates_is_planned_no_worse_than_evenly() {
    const DAY: i64 = 1_440;
    let mut seed = 7_u64;
    let mut random = move |below: i64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from(seed >> 33).unwrap() % below
    };
    for (updates, from, to) in [(3, 0, DAY), (12, 0, DAY), (40, 0, DAY), (100, 0, DAY), (30, 480, 1_200)] {
        let mut slots: Vec<i64> = (0..60)
            .flat_map(|day| (0..updates).map(move |_| day))
            .map(|day| day * DAY + from + random(to - from))
            .collect();
        slots.sort_unstable();
        let history = History::new(slots, 0..60 * DAY).unwrap();
        let recall = |plan: &PollingPlan| score_polling(&history, plan).recall;
        let best = recall(&exact(&history, 1_440, 24, Objective::Recall).unwrap());
        let [modelled, even] = [modelled(&history, 1_440, 24), uniform(1_440, 24)].map(|plan| recall(&plan));
        assert!(modelled >= even, "{updates}: {modelled} against {even} evenly");
        assert!(modelled > 0.8 * best, "{updates}: {modelled} of {best}");
    }
}

/// One poll more than there are habits: it cannot add recall, so it makes the copy fresher.
#[test]
fn equal_recall_goes_to_the_fresher_plan() {
    let hours = (0..100).flat_map(|hour| [hour * 60 + if hour % 2 == 0 { 3 } else { 9 }, hour * 60 + 40]);
    let history = History::new(hours.collect(), 0..6_000).unwrap();
    assert_eq!(exact(&history, 60, 2, Objective::Recall).unwrap().polls(), [9, 40]);
    assert_eq!(exact(&history, 60, 3, Objective::Recall).unwrap().polls(), [3, 9, 40]);
}

/// A day of a breaking story after two quiet weeks: updates move from 9:00 to every other hour of the night.
#[test]
fn a_change_of_habits_is_noticed_and_planned_for() {
    let quiet = (0..14).flat_map(|day| [day * 1_440 + 540 + day % 3, day * 1_440 + 1_020]);
    let breaking = (0..5).map(|n| 14 * 1_440 + 120 * n);
    let history = History::new(quiet.chain(breaking).collect(), 0..15 * 1_440).unwrap();
    let found = find_break(&history, 1_440).unwrap();
    assert_eq!(found.since, 14 * 1_440);
    assert!(found.statistic > found.threshold);
    let half_life = NonZeroU32::new(7 * 1_440).unwrap();
    let (plan, _) = replan(&history, 1_440, 5, Objective::Recall, half_life).unwrap();
    assert_eq!(plan.polls(), [0, 120, 240, 360, 480]);
    let (steady, none) =
        replan(&history.part(0..14 * 1_440), 1_440, 2, Objective::Recall, half_life).unwrap();
    assert_eq!((steady.polls(), none), (&[542, 1_020][..], None));
}

/// Nothing changes but chance: of a hundred synthetic histories hardly one may look as if it had changed.
#[test]
fn chance_is_not_taken_for_a_change_of_habits() {
    let mut state = 1u64;
    let mut draw = |below: u64| -> i64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % below).cast_signed()
    };
    let mut alarms = 0;
    for _ in 0..100 {
        let updates: Vec<_> = (0..400).map(|_| draw(64 * 48)).collect();
        alarms += usize::from(find_break(&History::new(updates, 0..64 * 48).unwrap(), 48).is_some());
    }
    assert!(alarms <= 2, "{alarms} false alarms");
}

#[test]
fn a_decayed_history_follows_what_is_recent() {
    let old = (0..50).map(|hour| hour * 60 + 10);
    let new = (50..70).flat_map(|hour| [hour * 60 + 30, hour * 60 + 40]);
    let history = History::new(old.chain(new).collect(), 0..70 * 60).unwrap();
    let decayed = history.decayed(NonZeroU32::new(300).unwrap());
    assert_eq!(exact(&decayed, 60, 2, Objective::Recall).unwrap().polls(), [30, 40]);
    assert_eq!(exact(&history.last(600), 60, 2, Objective::Recall).unwrap().polls(), [30, 40]);
}

#[test]
fn nonsense_is_refused() {
    assert!(matches!(History::new(vec![5], 0..5), Err(plan::Error::OutsideSpan { slot: 5, .. })));
    let history = History::new((0..5_000).collect(), 0..5_000).unwrap();
    let refused = exact(&history, 5_000, 3, Objective::Recall);
    assert!(matches!(refused, Err(plan::Error::TooManySlots { slots: 5_000, .. })), "{refused:?}");
    assert!(!modelled(&history, 5_000, 3).polls().is_empty());
}

#[test]
fn a_slot_that_has_only_begun_is_part_of_the_history() {
    let slot = NonZeroU32::new(10).unwrap();
    let history = |seconds| History::from_seconds(&[-25, 3, 25], slot, seconds);
    let begun = history(-25..26);
    assert_eq!((begun.slots(), begun.span()), (&[-3, 0, 2][..], -3..3));
    let whole = history(0..30);
    assert_eq!((whole.slots(), whole.span()), (&[0, 2][..], 0..3));
}
