//! The approximation keeps its promise: a share of the optimum, which full enumeration finds.
//!
//! With k the largest `need`, the papers promise optimum/2k on unit widths and one probe per chronon, /(2k+1) with
//! more probes, /(2k+2) and /(2k+3) on wider intervals. Ours is optimum/k in the first case and /(k+1) in the
//! others, which is more than any of those; all of them for CEIs that do not share probes.

use dunlin_core::{Budget, Costs, Workload};
use dunlin_sched::plan::intervals::{Instance, enumerate, local_ratio};
use proptest::prelude::*;

use crate::instances::interval;
use crate::plan_intervals::{ROUNDING, captured, made_of};

/// How large the instances are: small enough to try every schedule.
#[derive(Clone, Copy)]
struct Size {
    ceis: usize,
    chronons: u32,
    width: u32,
}

const UNIT: Size = Size { ceis: 5, chronons: 5, width: 1 };
const WIDE: Size = Size { ceis: 4, chronons: 4, width: 3 };

/// CEIs of up to 3 intervals that never want the same source.
fn unshared(size: Size, need: impl Strategy<Value = Option<u8>>) -> impl Strategy<Value = Workload> {
    let Size { ceis, chronons, width } = size;
    let ei = (1..=chronons, 0..width);
    let weight = prop_oneof![2 => Just(1.0), 1 => 0.5..3.0f64];
    let cei = (prop::collection::vec(ei, 1..4), need, weight);
    prop::collection::vec(cei, 1..ceis).prop_map(move |ceis| {
        let mut next = 0;
        let mut own_source = |(start, extra): (u32, u32)| {
            next += 1;
            interval(next - 1, start, (start + extra).min(chronons))
        };
        let with_sources = |(eis, need, weight): (Vec<(u32, u32)>, _, _)| {
            (eis.into_iter().map(&mut own_source).collect(), need, weight)
        };
        made_of(ceis.into_iter().map(with_sources).collect())
    })
}

/// Checks that local ratio keeps `1 / (largest need + more)` of the optimum.
fn keeps_its_promise(workload: &Workload, budget: &Budget, more: u32) -> Result<(), TestCaseError> {
    let costs = Costs::uniform();
    let instance = Instance { workload, chronons: 5, budget, costs: &costs };
    let best = enumerate(instance, 10_000_000).unwrap().weight;
    let k = workload.ceis().map(|cei| cei.need).max().unwrap_or(1);
    let approximate = captured(instance, &local_ratio(instance).unwrap());
    prop_assert!(approximate * f64::from(k + more) >= best - ROUNDING, "{approximate} of {best}, k = {k}");
    Ok(())
}

/// One or two probes per chronon, sometimes more in one than in another.
fn whole() -> impl Strategy<Value = Budget> {
    prop::collection::vec(1..3u8, 5)
        .prop_map(|grants| Budget::per_chronon(grants.into_iter().map(f64::from).collect()).unwrap())
}

fn one() -> Budget {
    Budget::constant(1.0).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn unit_widths_and_one_probe(workload in unshared(UNIT, Just(None))) {
        keeps_its_promise(&workload, &one(), 0)?;
    }

    #[test]
    fn unit_widths_and_more_probes(workload in unshared(UNIT, any::<Option<u8>>()), budget in whole()) {
        keeps_its_promise(&workload, &budget, 1)?;
    }

    #[test]
    fn unit_widths_where_some_intervals_suffice(workload in unshared(UNIT, any::<Option<u8>>())) {
        keeps_its_promise(&workload, &one(), 1)?;
    }

    #[test]
    fn wide_intervals_and_one_probe(workload in unshared(WIDE, any::<Option<u8>>())) {
        keeps_its_promise(&workload, &one(), 1)?;
    }

    #[test]
    fn wide_intervals_and_more_probes(workload in unshared(WIDE, any::<Option<u8>>()), budget in whole()) {
        keeps_its_promise(&workload, &budget, 1)?;
    }
}

/// Thirty-one intervals on thirty-one sources in thirty chronons: there are more ways to try than anybody could.
#[test]
fn what_cannot_fit_is_given_up_after_bounded_work() {
    let eis: Vec<_> = (0..31).map(|source| interval(source, 1, 30)).collect();
    let workload = made_of(vec![(eis, None, 1.0), (vec![interval(40, 1, 1)], None, 1.0)]);
    let (budget, costs) = (Budget::constant(1.0).unwrap(), Costs::uniform());
    let instance = Instance { workload: &workload, chronons: 30, budget: &budget, costs: &costs };
    assert_eq!(captured(instance, &local_ratio(instance).unwrap()), 1.0);
}
