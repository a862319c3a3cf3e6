//! Random instances. Small domains on purpose: ties, shared sources and overload must be the rule.

use dunlin_core::{Budget, Chronon, Costs, ExecutionInterval, Need, SourceIdx, Workload};
use dunlin_sched::value::{Life, Urgency, ValueModel};
use proptest::prelude::*;

pub(crate) fn chronon(number: u32) -> Chronon {
    Chronon::new(number).unwrap()
}

pub(crate) fn interval(source: u32, start: u32, finish: u32) -> ExecutionInterval {
    ExecutionInterval::new(SourceIdx(source), chronon(start), chronon(finish)).unwrap()
}

pub(crate) fn life() -> impl Strategy<Value = Life> {
    prop_oneof![
        Just(Life::Append),
        (0..6u32).prop_map(Life::Window),
        (1..4u32).prop_map(Life::Changes),
        Just(Life::Overwrite),
    ]
}

pub(crate) fn urgency() -> impl Strategy<Value = Urgency> {
    let ratio = || prop_oneof![Just(0.0), Just(0.5), Just(1.0), 0.05..0.95f64];
    prop_oneof![
        Just(Urgency::Uniform),
        ratio().prop_map(Urgency::Exponential),
        (0..6u32).prop_map(Urgency::Sliding),
        prop_oneof![Just(1.0), 0.0..3.0f64].prop_map(Urgency::Polynomial),
        (0..3u32, ratio()).prop_map(|(degree, ratio)| Urgency::PolyExponential { degree, ratio }),
        (0..6u32).prop_map(Urgency::Chordal),
    ]
}

/// A probability, often one of the few that make ties.
pub(crate) fn probability() -> impl Strategy<Value = f64> {
    prop_oneof![3 => Just(1.0), 2 => Just(0.5), 1 => Just(0.25), 2 => 0.0..=1.0f64]
}

pub(crate) fn model() -> impl Strategy<Value = ValueModel> {
    let weight = prop_oneof![3 => Just(1.0), 1 => Just(0.5), 1 => 0.0..=1.0f64];
    (life(), urgency(), weight).prop_map(|(life, urgency, weight)| ValueModel { life, urgency, weight })
}

pub(crate) fn costs(n_sources: usize) -> impl Strategy<Value = Costs> {
    let uneven = prop::collection::vec(prop_oneof![Just(1.0), Just(2.0), Just(0.5), Just(9.0)], n_sources);
    prop_oneof![2 => Just(Costs::uniform()), 1 => uneven.prop_map(|costs| Costs::per_source(costs).unwrap())]
}

pub(crate) fn budget(chronons: usize) -> impl Strategy<Value = Budget> {
    let grant = || prop_oneof![Just(1.0), Just(2.0), Just(0.5), Just(0.25), Just(1.5), Just(0.0)];
    let vector = prop::collection::vec(grant(), chronons);
    prop_oneof![
        3 => grant().prop_map(|grant| Budget::constant(grant).unwrap()),
        1 => vector.prop_map(|grants| Budget::per_chronon(grants).unwrap()),
    ]
}

/// Up to 40 CEIs of up to 4 intervals over 8 sources and 24 chronons.
pub(crate) fn workload() -> impl Strategy<Value = Workload> {
    let ei = (0..8u32, 1..20u32, 0..8u32)
        .prop_map(|(source, start, width)| interval(source, start, (start + width).min(24)));
    let weight = prop_oneof![2 => Just(1.0), 1 => Just(2.0), 1 => 0.0..3.0f64];
    let cei = (0..4u32, prop::collection::vec(ei, 1..5), any::<Option<u8>>(), weight);
    prop::collection::vec(cei, 1..40).prop_map(|ceis| {
        let mut workload = Workload::new();
        let profiles: Vec<_> = (0..4).map(|_| workload.add_profile()).collect();
        for (profile, eis, need, weight) in ceis {
            let need = need.map_or(Need::All, |need| Need::Any(u32::from(need) % eis.len() as u32 + 1));
            workload.push(profiles[profile as usize], &eis, need, weight).unwrap();
        }
        workload
    })
}

pub(crate) const CHRONONS: u32 = 24;
