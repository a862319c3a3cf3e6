//! Random inputs in random order: budgets, gaps and holds are kept, nothing eligible is left while there is budget,
//! and a record replays.

use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use dunlin_sched::model::{Evidence, Model, Prior};
use dunlin_sched::scheduler::journal::{JournaledScheduler, replay};
use dunlin_sched::scheduler::{
    CeiId, HostIdx, HostTerms, Input, Interval, Pace, Settings, Shown, ShownTo, SourceTerms,
    Strategy as Deciding,
};
use dunlin_sched::value::ValueModel;
use proptest::prelude::*;

use super::audit::Audit;
use super::{at, changed};

const SOURCES: u32 = 12;
const HOSTS: u32 = 3;
const CHRONON: Duration = Duration::from_secs(1);

#[derive(Debug, Clone)]
enum Op {
    Choose {
        after: Duration,
        room: u32,
    },
    Tell(Input),
    /// The nth of those in flight ends in the nth way.
    Land(usize, u8),
    Clock(i64),
}

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(texts)
}

fn terms(costs: &'static [f64]) -> impl Strategy<Value = SourceTerms> {
    let value = (
        one_of(&["append", "overwrite", "window:20", "changes:2"]),
        one_of(&["uniform", "exp:0.99", "sliding:30", "poly:1"]),
        0.1..2.0f64,
    );
    (0..HOSTS, value, prop::sample::select(costs), 0u64..20, 5u64..400).prop_map(
        |(host, (life, urgency, weight), cost, shortest, longest)| SourceTerms {
            host: HostIdx(host),
            value: ValueModel { life: life.parse().unwrap(), urgency: urgency.parse().unwrap(), weight },
            cost,
            shortest_gap: Duration::from_secs(shortest),
            longest_gap: Duration::from_secs(longest),
            wants_changes: true,
        },
    )
}

fn intervals() -> impl Strategy<Value = Vec<Interval>> {
    let interval = (0..SOURCES + 2, -20i64..300, -1i64..60).prop_map(|(source, start, length)| Interval {
        resource: resource_of(SourceIdx(source)),
        source: SourceIdx(source),
        start: at(start),
        finish: at(start + length),
    });
    prop::collection::vec(interval, 0..4)
}

fn cei() -> impl Strategy<Value = Input> {
    let weight = prop_oneof![Just(0.0), 0.01..10.0f64, Just(1e9), Just(f64::NAN)];
    let id = (0..6u64).prop_map(CeiId);
    prop_oneof![
        6 => (id.clone(), intervals(), 0..4u32, weight)
            .prop_map(|(cei, intervals, need, weight)| Input::CeiArrived { cei, intervals, captured: Vec::new(), need, weight }),
        2 => (id.clone(), intervals(), 0..3u32)
            .prop_map(|(cei, intervals, need)| Input::CeiExtended { cei, intervals, need }),
        1 => id.prop_map(|cei| Input::CeiWithdrawn { cei }),
    ]
}

fn input(costs: &'static [f64]) -> impl Strategy<Value = Input> {
    let source = (0..SOURCES).prop_map(SourceIdx);
    let model =
        (0.0001..0.2f64, 0.5..50.0f64).prop_map(|(rate, strength)| Model::new(Prior { rate, strength }));
    let last = prop::option::of((-500i64..0).prop_map(at));
    prop_oneof![
        4 => (source.clone(), terms(costs), model, last, prop::option::of((0i64..100).prop_map(at))).prop_map(
            |(source, terms, model, last_probe, not_before)|
                Input::SourceAdded { resource: resource_of(source), source, terms, model, last_probe, not_before }),
        1 => source.clone().prop_map(|source| Input::SourceRemoved { resource: resource_of(source), source }),
        1 => source.clone().prop_map(|source| Input::ProbeRequested { resource: resource_of(source) }),
        1 => source.prop_map(|source| Input::ProbeBegan { resource: resource_of(source) }),
        1 => (0..HOSTS, 0i64..60).prop_map(|(host, until)|
            Input::HostHeld { host: HostIdx(host), until: at(until) }),
        1 => (0.05..3.0f64).prop_map(|per_second| Input::Budget(Pace { per_second })),
    ]
}

fn ops(costs: &'static [f64]) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        6 => (1u64..3_000_000, prop_oneof![Just(u32::MAX), 0u32..3])
            .prop_map(|(micros, room)| Op::Choose { after: Duration::from_micros(micros), room }),
        4 => Just(Op::Choose { after: CHRONON, room: u32::MAX }),
        4 => input(costs).prop_map(Op::Tell),
        2 => cei().prop_map(Op::Tell),
        5 => (any::<usize>(), any::<u8>()).prop_map(|(nth, how)| Op::Land(nth, how)),
    ];
    prop::collection::vec(op, 1..250)
}

fn settings(per_second: f64, deciding: Deciding) -> Settings {
    Settings { chronon: CHRONON, strategy: deciding, budget: Pace { per_second }, initial_price: None }
}

/// Some resources have one source, some two, some three.
fn resource_of(source: SourceIdx) -> ResourceIdx {
    ResourceIdx(source.0 / (1 + source.0 % 3))
}

/// How a probe of a resource with these sources ends.
fn landing(
    resource: ResourceIdx,
    sources: &[SourceIdx],
    how: u8,
    now: Time,
    may_return: Option<()>,
) -> Input {
    let not_before = now.plus(Duration::from_secs(u64::from(how) / 8));
    if how % 5 == 3 && !sources.is_empty() {
        let shown_to = |(source, nth): (&SourceIdx, u8)| match (how / 5).wrapping_add(nth) % 4 {
            0 => None,
            1 => Some((*source, ShownTo::Unreadable { not_before })),
            2 => Some((*source, ShownTo::Evidence(changed()))),
            _ => Some((*source, ShownTo::Evidence(Evidence::Unchanged))),
        };
        let each = sources.iter().zip(0..).filter_map(shown_to).collect();
        return Input::Probed { resource, shown: Shown::Each(each) };
    }
    match how % 5 {
        0 => Input::ProbeFailed { resource, not_before },
        4 if may_return.is_some() => Input::ProbePostponed { resource, not_before },
        1 if may_return.is_some() => Input::ProbeReturned { resource },
        2 => Input::Probed { resource, shown: Shown::All(changed()) },
        _ => Input::Probed { resource, shown: Shown::All(Evidence::Unchanged) },
    }
}

/// Runs a scheduler through all of it; clocks may jump only when nobody audits.
fn run(
    ops: Vec<Op>,
    settings: Settings,
    host_budgets: [Option<f64>; 3],
    mut audit: Option<&mut Audit>,
    may_return: Option<()>,
) -> Result<JournaledScheduler, String> {
    let mut scheduler = JournaledScheduler::new(settings);
    let mut now = at(0);
    let mut in_flight: Vec<ResourceIdx> = Vec::new();
    let tell = |scheduler: &mut JournaledScheduler, audit: &mut Option<&mut Audit>, now, input: Input| {
        if let Some(audit) = audit {
            audit.record_input(now, &input);
        }
        scheduler.apply(now, input);
    };
    for (host, budget) in (0..HOSTS).zip(host_budgets) {
        let budget = budget.map(|per_second| Pace { per_second });
        let terms = HostTerms { at_one_time: 1 + host % 2, budget };
        tell(&mut scheduler, &mut audit, now, Input::Host { host: HostIdx(host), terms });
    }
    for op in ops {
        match op {
            Op::Clock(seconds) => now = Time::from_micros(now.micros() + seconds * 1_000_000),
            Op::Tell(input) => tell(&mut scheduler, &mut audit, now, input),
            Op::Land(nth, how) => {
                in_flight = audit.as_ref().map_or(in_flight, |audit| audit.in_flight());
                if !in_flight.is_empty() {
                    let resource = in_flight.remove(nth % in_flight.len());
                    let sources = audit.as_ref().map_or_else(Vec::new, |audit| audit.sources(resource));
                    tell(&mut scheduler, &mut audit, now, landing(resource, &sources, how, now, may_return));
                }
            }
            Op::Choose { after, room } => {
                now = now.plus(after);
                let mut chosen = Vec::new();
                scheduler.choose(now, room, &mut chosen);
                in_flight.extend(chosen.iter().map(|choice| choice.resource));
                if chosen.len() > room as usize {
                    return Err(format!("{} chosen, room for {room}", chosen.len()));
                }
                let stats = scheduler.scheduler().stats();
                if !stats.price.is_finite() || stats.price < 0.0 {
                    return Err(format!("the price is {}", stats.price));
                }
                if let Some(audit) = &mut audit {
                    audit.chose(now, &chosen)?;
                    if may_return.is_none() && room == u32::MAX {
                        audit.is_idle(now, CHRONON)?;
                    }
                    if audit.in_flight().len() != stats.in_flight {
                        return Err(format!("{} under way, says {stats:?}", audit.in_flight().len()));
                    }
                }
            }
        }
    }
    Ok(scheduler)
}

fn deciding() -> impl Strategy<Value = Deciding> {
    prop_oneof![3 => Just(Deciding::Learned), 1 => Just(Deciding::RoundRobin)]
}

/// Plans too, which leave budget unspent where nothing is planned.
fn deciding_or_planning() -> impl Strategy<Value = Deciding> {
    let epoch_planner = (1u64..100).prop_map(|seconds| Deciding::Cam { epoch: Duration::from_secs(seconds) });
    prop_oneof![deciding(), epoch_planner]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// And nothing that could be probed is left while a whole probe is in the bucket.
    #[test]
    fn gaps_holds_and_budgets_are_kept_and_budgets_are_used(
        ops in ops(&[1.0]), per_second in 0.05..5.0f64, deciding in deciding(),
        host_budgets in prop::array::uniform3(prop::option::of(0.05..1.0f64)),
    ) {
        let mut audit = Audit::new(at(0), Pace { per_second });
        run(ops, settings(per_second, deciding), host_budgets, Some(&mut audit), None)
            .map_err(TestCaseError::fail)?;
        audit.budgets(CHRONON).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn budgets_are_kept_with_costs_and_returns(
        ops in ops(&[0.25, 1.0, 2.5]), per_second in 0.05..5.0f64, deciding in deciding_or_planning(),
        host_budgets in prop::array::uniform3(prop::option::of(0.05..1.0f64)),
    ) {
        let mut audit = Audit::new(at(0), Pace { per_second });
        run(ops, settings(per_second, deciding), host_budgets, Some(&mut audit), Some(()))
            .map_err(TestCaseError::fail)?;
        audit.budgets(CHRONON).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_record_replays_whatever_the_clock_does(
        ops in ops(&[0.0, 1.0, f64::NAN, 3.0]),
        jumps in prop::collection::vec((any::<prop::sample::Index>(), prop_oneof![
            -20i64..20, Just(-100_000_000), Just(1_000_000_000), Just(-1_000_000_000)]), 0..6),
        per_second in prop_oneof![0.0..5.0f64, Just(f64::INFINITY), Just(-1.0)], deciding in deciding_or_planning(),
    ) {
        let mut ops = ops;
        for (position, seconds) in jumps {
            ops.insert(position.index(ops.len()), Op::Clock(seconds));
        }
        let scheduler = run(ops, settings(per_second, deciding), [None, Some(0.1), None], None, Some(()))
            .map_err(TestCaseError::fail)?;
        let probes = scheduler.entries().to_vec();
        prop_assert!(replay(probes).is_ok());
    }
}
