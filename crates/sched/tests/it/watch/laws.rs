//! Random inputs in random order: budgets, gaps and holds are kept, nothing eligible is left while there is budget,
//! and a record replays.

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use dunlin_sched::model::{Model, Prior, Seen};
use dunlin_sched::value::ValueModel;
use dunlin_sched::watch::journal::{Journaled, replay};
use dunlin_sched::watch::{
    CeiId, HostIdx, HostTerms, Input, Interval, Pace, Settings, Strategy as Deciding, Terms,
};
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
    /// The nth of those under way ends in the nth way.
    Land(usize, u8),
    Clock(i64),
}

fn one_of(texts: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(texts)
}

fn terms(costs: &'static [f64]) -> impl Strategy<Value = Terms> {
    let value = (
        one_of(&["append", "overwrite", "window:20", "changes:2"]),
        one_of(&["uniform", "exp:0.99", "sliding:30", "poly:1"]),
        0.1..2.0f64,
    );
    (0..HOSTS, value, prop::sample::select(costs), 0u64..20, 5u64..400).prop_map(
        |(host, (life, urgency, weight), cost, shortest, longest)| Terms {
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
            .prop_map(|(cei, intervals, need, weight)| Input::CeiArrived { cei, intervals, need, weight }),
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
            |(source, terms, model, last_look, not_before)|
                Input::Joined { source, terms, model, last_look, not_before }),
        1 => source.clone().prop_map(|source| Input::Left { source }),
        1 => (source.clone(), terms(costs)).prop_map(|(source, terms)| Input::Changed { source, terms }),
        1 => source.prop_map(|source| Input::Wanted { source }),
        1 => (0..HOSTS, 0i64..60).prop_map(|(host, until)|
            Input::Held { host: HostIdx(host), until: at(until) }),
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

fn landing(source: SourceIdx, how: u8, now: Time, may_return: Option<()>) -> Input {
    let not_before = now.plus(Duration::from_secs(u64::from(how) / 8));
    match how % 5 {
        0 => Input::Failed { source, not_before },
        4 if may_return.is_some() => Input::PutOff { source, not_before },
        1 if may_return.is_some() => Input::Returned { source },
        2 => Input::Looked { source, seen: changed() },
        _ => Input::Looked { source, seen: Seen::Unchanged },
    }
}

/// Runs a watch through all of it; clocks may jump only when nobody audits.
fn run(
    ops: Vec<Op>,
    settings: Settings,
    host_budgets: [Option<f64>; 3],
    mut audit: Option<&mut Audit>,
    may_return: Option<()>,
) -> Result<Journaled, String> {
    let mut watch = Journaled::new(settings);
    let mut now = at(0);
    let mut under_way: Vec<SourceIdx> = Vec::new();
    let tell = |watch: &mut Journaled, audit: &mut Option<&mut Audit>, now, input: Input| {
        if let Some(audit) = audit {
            audit.told(now, &input);
        }
        watch.apply(now, input);
    };
    for (host, budget) in (0..HOSTS).zip(host_budgets) {
        let budget = budget.map(|per_second| Pace { per_second });
        let terms = HostTerms { at_one_time: 1 + host % 2, budget };
        tell(&mut watch, &mut audit, now, Input::Host { host: HostIdx(host), terms });
    }
    for op in ops {
        match op {
            Op::Clock(seconds) => now = Time::from_micros(now.micros() + seconds * 1_000_000),
            Op::Tell(input) => tell(&mut watch, &mut audit, now, input),
            Op::Land(nth, how) => {
                under_way = audit.as_ref().map_or(under_way, |audit| audit.under_way());
                if !under_way.is_empty() {
                    let source = under_way.remove(nth % under_way.len());
                    tell(&mut watch, &mut audit, now, landing(source, how, now, may_return));
                }
            }
            Op::Choose { after, room } => {
                now = now.plus(after);
                let mut chosen = Vec::new();
                watch.choose(now, room, &mut chosen);
                under_way.extend(chosen.iter().map(|choice| choice.source));
                if chosen.len() > room as usize {
                    return Err(format!("{} chosen, room for {room}", chosen.len()));
                }
                let figures = watch.watch().figures();
                if !figures.price.is_finite() || figures.price < 0.0 {
                    return Err(format!("the price is {}", figures.price));
                }
                if let Some(audit) = &mut audit {
                    audit.chose(now, &chosen)?;
                    if may_return.is_none() && room == u32::MAX {
                        audit.is_idle(now, CHRONON)?;
                    }
                    if audit.under_way().len() != figures.under_way {
                        return Err(format!("{} under way, says {figures:?}", audit.under_way().len()));
                    }
                }
            }
        }
    }
    Ok(watch)
}

fn deciding() -> impl Strategy<Value = Deciding> {
    prop_oneof![3 => Just(Deciding::Learned), 1 => Just(Deciding::RoundRobin)]
}

/// Plans too, which leave budget unspent where nothing is planned.
fn deciding_or_planning() -> impl Strategy<Value = Deciding> {
    let planning = (1u64..100).prop_map(|seconds| Deciding::Cam { epoch: Duration::from_secs(seconds) });
    prop_oneof![deciding(), planning]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// And nothing that could be looked at is left while a whole look is in the purse.
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
        for (place, seconds) in jumps {
            ops.insert(place.index(ops.len()), Op::Clock(seconds));
        }
        let watch = run(ops, settings(per_second, deciding), [None, Some(0.1), None], None, Some(()))
            .map_err(TestCaseError::fail)?;
        let looks = watch.entries().to_vec();
        prop_assert!(replay(looks).is_ok());
    }
}
