//! The policies against results computed by an independent, plain, slow program. Where those are not at
//! hand, against our own plain versions on generated workloads.

use std::num::NonZeroU32;

use dunlin_core::{Budget, Costs, Workload};
use dunlin_lab::files::{Epoch, IntervalsFile, ProbabilitiesFile, TraceFile};
use dunlin_lab::generate::{AuctionWatch, IntervalLength, Poisson, PoissonUpdates, Rate, Span};
use dunlin_lab::knowledge::{ChangeProbabilities, Noise};
use dunlin_lab::policies::{Choice, PolicyName};
use dunlin_lab::simulate::{self, Setup};
use dunlin_sched::epoch;
use dunlin_sched::plain::{PlainRanked, PlainWic};
use dunlin_sched::policy::Preemption::{NonPreemptive, Preemptive};
use dunlin_sched::policy::{Arrival, Policy, Preemption, Wic};
use dunlin_sched::value::ValueModel;
use serde_json::Value;

use crate::fixtures::shared;

fn reference(name: &str) -> Option<Value> {
    let path = shared(name)?;
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

fn captured(workload: &Workload, policy: Choice, chronons: u32, grant: f64) -> u64 {
    let budget = Budget::constant(grant).unwrap();
    let setup = Setup { policy, budget, costs: Costs::uniform(), chronons, seed: 0 };
    simulate::intervals(workload, 0, &setup, |_| ()).unwrap().score.captured as u64
}

const PAPERS_POLICIES: [(&str, Choice); 6] = [
    ("s-edf P", Choice { name: PolicyName::SEdf, preemption: Preemptive }),
    ("s-edf NP", Choice { name: PolicyName::SEdf, preemption: NonPreemptive }),
    ("mrsf P", Choice { name: PolicyName::Mrsf, preemption: Preemptive }),
    ("mrsf NP", Choice { name: PolicyName::Mrsf, preemption: NonPreemptive }),
    ("m-edf P", Choice { name: PolicyName::MEdf, preemption: Preemptive }),
    ("m-edf NP", Choice { name: PolicyName::MEdf, preemption: NonPreemptive }),
];

fn generated(seed: u64, length: IntervalLength) -> Workload {
    let updates = PoissonUpdates::default();
    let watchers = AuctionWatch { length, ..AuctionWatch::default() };
    watchers.generate(&updates.generate(seed).unwrap(), &updates.names(), seed).unwrap().workload
}

#[test]
fn the_papers_policies_capture_what_the_reference_captures() {
    let Some(reference) = reference("fixtures/cei/reference.json") else {
        type Plain = fn(Preemption, Costs) -> PlainRanked;
        let plain: [Plain; 3] = [PlainRanked::s_edf, PlainRanked::mrsf, PlainRanked::m_edf];
        let budget = Budget::constant(1.0).unwrap();
        for (i, (_, choice)) in PAPERS_POLICIES.into_iter().enumerate() {
            let workload = generated(i as u64, IntervalLength::Window(10));
            let mut plain = plain[i / 2](choice.preemption, Costs::uniform());
            let schedule = epoch::run_workload(&mut plain, &workload, 1000, &budget, |_| ());
            let expected = dunlin_sched::score::score_intervals(&workload, &schedule).captured as u64;
            assert_eq!(captured(&workload, choice, 1000, 1.0), expected, "{choice}");
        }
        return;
    };
    for (name, row) in reference.as_object().unwrap() {
        let path = shared(&format!("fixtures/cei/{name}.csv.gz")).unwrap();
        let chronons = u32::try_from(row["chronons"].as_u64().unwrap()).unwrap();
        let workload = IntervalsFile::open(&path, chronons).unwrap().workload;
        assert_eq!(Some(workload.n_ceis() as u64), row["ceis"].as_u64(), "{name}");
        for (figure, policy) in PAPERS_POLICIES {
            let captured = captured(&workload, policy, chronons, row["budget"].as_f64().unwrap());
            assert_eq!(Some(captured), row[figure].as_u64(), "{name}, {figure}");
        }
    }
}

const MARGINAL: Choice = Choice { name: PolicyName::Marginal, preemption: Preemptive };

/// Ours must beat a simple score and the best of the papers' policies on every instance, and cannot beat
/// the bound of the linear relaxation.
#[test]
fn marginal_captures_more_than_the_papers_policies() {
    let Some(reference) = reference("fixtures/cei/reference.json") else {
        for length in [IntervalLength::Window(10), IntervalLength::Window(0), IntervalLength::Window(20)] {
            let sum = |policy| -> u64 {
                (0..3).map(|seed| captured(&generated(seed, length), policy, 1000, 1.0)).sum()
            };
            let best = PAPERS_POLICIES.into_iter().map(|(_, policy)| sum(policy)).max().unwrap();
            assert!(sum(MARGINAL) > best, "{} of {best} with {length:?}", sum(MARGINAL));
        }
        return;
    };
    for (name, row) in reference.as_object().unwrap() {
        let path = shared(&format!("fixtures/cei/{name}.csv.gz")).unwrap();
        let workload = IntervalsFile::open(&path, 1000).unwrap().workload;
        let captured = captured(&workload, MARGINAL, 1000, row["budget"].as_f64().unwrap());
        let figure = |figure: &str| row[figure].as_u64().unwrap();
        let best = PAPERS_POLICIES.into_iter().map(|(name, _)| figure(name)).max().unwrap();
        assert!(captured >= best, "{name}: {captured}, the best of the papers' {best}");
        assert!(captured >= figure("marginal sketch"), "{name}: {captured}");
        assert!(captured as f64 <= row["lp bound"].as_f64().unwrap() + 1e-6, "{name}: {captured}");
    }
}

#[test]
fn wic_earns_what_the_reference_earns() {
    let Some(rows) = reference("fixtures/wic/reference.json") else {
        return wic_chooses_what_plain_wic_chooses();
    };
    let trace = TraceFile::open(&shared("traces/wiki_pages_a.csv.gz").unwrap()).unwrap();
    let noisy = shared("fixtures/wic/wiki_pages_a-noisy.csv.gz").unwrap();
    let (trace, noisy) = ProbabilitiesFile::open(&noisy, 1440).unwrap().join(trace);
    for row in rows.as_array().unwrap() {
        let epoch = Epoch {
            start: row["start"].as_i64().unwrap(),
            chronon_seconds: NonZeroU32::new(60).unwrap(),
            chronons: 1440,
        };
        let changes = trace.changes(epoch);
        let parameter = |name: &str| row[name].as_str().unwrap();
        let model =
            ValueModel::new(parameter("life").parse().unwrap(), parameter("urgency").parse().unwrap());
        let is_exact = parameter("knowledge") == "exact";
        let knowledge = if is_exact { ChangeProbabilities::exact(&changes) } else { noisy.clone() };
        let setup = Setup {
            policy: Choice { name: PolicyName::Wic, preemption: Preemptive },
            budget: Budget::constant(row["budget"].as_f64().unwrap()).unwrap(),
            costs: Costs::uniform(),
            chronons: 1440,
            seed: 0,
        };
        let score = simulate::trace(&changes, &knowledge, model, &setup, |_| ()).unwrap().score;
        let tolerance = if is_exact { 0.001 } else { 0.003 };
        for (figure, value) in [
            ("completeness", score.completeness),
            ("zero_delay", score.zero_delay),
            ("utility", score.utility),
        ] {
            let expected = row[figure].as_f64().unwrap();
            assert!((value - expected).abs() <= tolerance, "{figure} is {value} in {row}");
        }
        assert_eq!(
            (score.changes as u64, score.probes as u64),
            (row["changes"].as_u64().unwrap(), row["probes"].as_u64().unwrap()),
            "{row}"
        );
    }
}

/// A day of generated changes, seen through noise, under a few lives and urgencies.
fn wic_chooses_what_plain_wic_chooses() {
    let trace =
        Poisson { span: Span { sources: 60, seconds: 86_400 }, rate: Rate::of(40.0) }.generate(1).unwrap();
    let epoch = Epoch { start: 0, chronon_seconds: NonZeroU32::new(300).unwrap(), chronons: 288 };
    let changes = trace.changes(epoch);
    let knowledge = ChangeProbabilities::noisy(&changes, Noise { fpn: 0.1, sigma: 2.0 }, 1).unwrap();
    let budget = Budget::constant(2.0).unwrap();
    let run = |policy: &mut dyn Policy| {
        epoch::run(policy, 288, &budget, |now, policy| {
            for &(source, probability) in knowledge.at(now) {
                policy.arrive(now, Arrival::Change { source, probability });
            }
        })
    };
    for (life, urgency) in [("append", "exp:0.9"), ("overwrite", "uniform"), ("window:10", "poly:1")] {
        let model = ValueModel::new(life.parse().unwrap(), urgency.parse().unwrap());
        let plain = run(&mut PlainWic::new(&[model; 60], &Costs::uniform()));
        assert_eq!(run(&mut Wic::uniform(model, 60)), plain, "{life}, {urgency}");
    }
}
