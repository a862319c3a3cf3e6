//! Every policy chooses exactly what its plain version chooses: the same sources, in the same order.

use dunlin_core::{Budget, Chronon, Costs, Observation, Outcome, SourceIdx, Workload};
use dunlin_sched::plain::{PlainRanked, PlainUpdateWic, PlainWic};
use dunlin_sched::policy::{Arrival, Policy, Preemption, Ranked, UpdateWic, Wic};
use dunlin_sched::score::check_budget;
use proptest::prelude::*;

use crate::instances::{CHRONONS, budget, costs, model, probability, workload};

pub(crate) const SOURCES: usize = 8;

/// Runs both side by side with the same failures and compares every choice.
pub(crate) fn compare(
    fast: &mut dyn Policy,
    plain: &mut dyn Policy,
    budget: &Budget,
    failures: &[bool],
    mut announce: impl FnMut(Chronon, &mut dyn Policy),
) -> Result<(), TestCaseError> {
    let mut meter = budget.meter();
    let mut failures = failures.iter().cycle();
    for now in Chronon::first(CHRONONS) {
        let mut choose = |policy: &mut dyn Policy| {
            announce(now, policy);
            let (mut allowance, mut chosen) = (meter.open(now), Vec::new());
            policy.choose(now, &mut allowance, &mut chosen);
            (chosen, allowance)
        };
        let ((chosen, allowance), (expected, _)) = (choose(fast), choose(plain));
        prop_assert_eq!(&chosen, &expected, "at chronon {}", now);
        meter.close(now, &allowance);
        for source in chosen {
            let outcome = if failures.next() == Some(&true) { Outcome::Failed } else { Outcome::Read };
            fast.observe(Observation { source, at: now, outcome });
            plain.observe(Observation { source, at: now, outcome });
        }
    }
    Ok(())
}

pub(crate) fn announce_ceis(workload: &Workload) -> impl FnMut(Chronon, &mut dyn Policy) {
    move |now, policy| {
        for cei in workload.ceis().filter(|cei| cei.release() == now) {
            policy.arrive(now, Arrival::Cei(cei));
        }
    }
}

pub(crate) fn failures() -> impl Strategy<Value = Vec<bool>> {
    prop_oneof![Just(vec![false]), prop::collection::vec(prop::bool::weighted(0.2), 1..20)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn wic(
        models in prop::collection::vec(model(), SOURCES),
        same in any::<bool>(),
        changes in prop::collection::vec(
            prop::collection::vec(prop::option::weighted(0.2, probability()), SOURCES), CHRONONS as usize),
        costs in costs(SOURCES),
        budget in budget(CHRONONS as usize),
        failures in failures(),
    ) {
        let models = if same { vec![models[0]; SOURCES] } else { models };
        let mut fast =
            if same && costs.is_uniform() { Wic::uniform(models[0], SOURCES) } else { Wic::new(&models, &costs) };
        let mut plain = PlainWic::new(&models, &costs);
        compare(&mut fast, &mut plain, &budget, &failures, |now, policy| {
            for (source, probability) in (0..).map(SourceIdx).zip(&changes[now.index()]) {
                if let &Some(probability) = probability {
                    policy.arrive(now, Arrival::Change { source, probability });
                }
            }
        })?;
    }

    #[test]
    fn s_edf_mrsf_m_edf(
        workload in workload(), costs in costs(SOURCES), budget in budget(CHRONONS as usize), failures in failures(),
    ) {
        type Pair = (fn(Preemption, Costs) -> Ranked, fn(Preemption, Costs) -> PlainRanked);
        let pairs: [Pair; 3] = [
            (Ranked::s_edf, PlainRanked::s_edf),
            (Ranked::mrsf, PlainRanked::mrsf),
            (Ranked::m_edf, PlainRanked::m_edf),
        ];
        for (fast, plain) in pairs {
            for preemption in [Preemption::Preemptive, Preemption::NonPreemptive] {
                let mut fast = fast(preemption, costs.clone());
                let mut plain = plain(preemption, costs.clone());
                compare(&mut fast, &mut plain, &budget, &failures, announce_ceis(&workload))?;
            }
        }
    }

    #[test]
    fn wic_over_updates(
        workload in workload(), costs in costs(SOURCES), budget in budget(CHRONONS as usize), failures in failures(),
    ) {
        let mut fast = UpdateWic::new(SOURCES, costs.clone());
        let mut plain = PlainUpdateWic::new(costs);
        compare(&mut fast, &mut plain, &budget, &failures, announce_ceis(&workload))?;
    }

    #[test]
    fn no_policy_breaks_the_budget_or_probes_twice(
        workload in workload(), costs in costs(SOURCES), budget in budget(CHRONONS as usize), seed in any::<u64>(),
    ) {
        for mut policy in crate::papers::every_interval_policy(&costs, SOURCES, seed) {
            let schedule = dunlin_sched::epoch::run_workload(&mut *policy, &workload, CHRONONS, &budget, |_| ());
            prop_assert_eq!(check_budget(&schedule, &budget, &costs, CHRONONS), Ok(()));
            for (_, probes) in schedule.by_chronon() {
                let mut sources: Vec<_> = probes.iter().map(|probe| probe.source).collect();
                sources.sort_unstable();
                sources.dedup();
                prop_assert_eq!(sources.len(), probes.len());
            }
        }
    }
}
