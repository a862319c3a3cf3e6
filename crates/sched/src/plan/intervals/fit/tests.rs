//! Plans under random insertions and removals: what is promised of them holds after every step.

use dunlin_core::{Budget, Chronon, Costs, ExecutionInterval, Need, SourceIdx, Workload};
use proptest::prelude::*;

use super::super::draft_plan::DraftPlan;
use super::super::{Grid, Instance};
use super::Fitter;
use crate::score::{check_budget, score_intervals};

const CHRONONS: u32 = 16;

/// Crowded on purpose: few sources, many CEIs, so that jobs move, merge and make way.
fn workload() -> impl Strategy<Value = Workload> {
    let ei = (0..4u32, 1..CHRONONS, 0..6u32);
    let cei = (prop::collection::vec(ei, 1..4), 0..4u32);
    prop::collection::vec(cei, 10..40).prop_map(|ceis| {
        let mut workload = Workload::new();
        let profile = workload.add_profile();
        for (eis, need) in ceis {
            let chronon = |number: u32| Chronon::new(number.min(CHRONONS)).unwrap();
            let interval = |&(source, start, width)| {
                ExecutionInterval::new(SourceIdx(source), chronon(start), chronon(start + width)).unwrap()
            };
            let intervals: Vec<_> = eis.iter().map(interval).collect();
            let need = if need == 0 { Need::All } else { Need::Any(need.min(eis.len() as u32)) };
            workload.push(profile, &intervals, need, 1.0).unwrap();
        }
        workload
    })
}

fn check(instance: Instance<'_>, draft: &DraftPlan<'_>) -> Result<(), TestCaseError> {
    draft.check();
    let schedule = draft.grid.schedule(&draft.pairs());
    check_budget(&schedule, instance.budget, instance.costs, CHRONONS).unwrap();
    let weight = score_intervals(instance.workload, &schedule).weight_captured;
    prop_assert!(weight >= draft.value() + draft.grid.secured(), "{} of {}", weight, draft.value());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a_plan_keeps_what_it_promises_and_can_take_everything_back(
        workload in workload(),
        steps in prop::collection::vec((any::<u16>(), any::<u8>()), 60),
        costs in prop_oneof![
            Just(Costs::uniform()),
            prop::collection::vec(prop_oneof![Just(1.0), Just(2.0), Just(0.5)], 4)
                .prop_map(|costs| Costs::per_source(costs).unwrap()),
        ],
        grant in prop_oneof![Just(1.0), Just(2.0), Just(0.5), Just(1.25)],
    ) {
        let budget = Budget::constant(grant).unwrap();
        let instance = Instance { workload: &workload, chronons: CHRONONS, budget: &budget, costs: &costs };
        let grid = Grid::new(instance).unwrap();
        let mut draft = DraftPlan::new(&grid);
        let mut fitter = Fitter::new(grid.n_blocks());
        for (which, what) in steps.into_iter().filter(|_| !grid.ceis.is_empty()) {
            let cei = u32::from(which) % grid.ceis.len() as u32;
            let (mark, before) = (draft.mark(), (draft.value(), sorted(&draft)));
            if draft.contains(cei) {
                draft.drop_want(cei);
            } else {
                fitter.admit(&mut draft, cei, &mut |span| span.first + u32::from(what) % span.len() as u32);
            }
            check(instance, &draft)?;
            if what % 4 == 0 {
                draft.undo(mark);
                prop_assert_eq!((draft.value(), sorted(&draft)), before);
                check(instance, &draft)?;
            }
        }
    }
}

fn sorted(draft: &DraftPlan<'_>) -> Vec<super::super::Pair> {
    let mut pairs = draft.pairs();
    pairs.sort_unstable();
    pairs
}
