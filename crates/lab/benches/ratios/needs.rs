//! The policies for complex needs at a million CEIs, against their plain versions.

use dunlin_core::{Budget, Costs, Workload};
use dunlin_lab::generate::{AuctionWatch, IntervalLength, PoissonUpdates};
use dunlin_sched::epoch;
use dunlin_sched::plain::PlainRanked;
use dunlin_sched::policy::{Marginal, Policy, Preemption, Ranked};

use crate::measure::Measured;

const CHRONONS: u32 = 1_000;
const BUDGET: f64 = 1_000.0;

/// A kind of workload, about a million CEIs of two intervals each.
#[derive(Clone, Copy)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    what: &'static str,
    length: IntervalLength,
    /// Updates per source and epoch.
    lambda: f64,
    /// As many as give a million CEIs: the least-updated of its sources limits a profile's.
    profiles: u32,
    sources: u32,
}

pub(crate) const FAMILIES: [Family; 3] = [
    Family {
        name: "window",
        what: "the papers' baseline scaled up: 20 updates per source, intervals of 11 chronons",
        length: IntervalLength::Window(10),
        lambda: 20.0,
        profiles: 56_500,
        sources: 565_000,
    },
    Family {
        name: "overwrite",
        what: "20 updates per source, each until the next",
        length: IntervalLength::Overwrite,
        lambda: 20.0,
        profiles: 56_500,
        sources: 565_000,
    },
    Family {
        name: "slow",
        what: "3 updates per source, each until the next",
        length: IntervalLength::Overwrite,
        lambda: 3.0,
        profiles: 470_000,
        sources: 940_000,
    },
];

const POLICIES: [&str; 4] = ["s-edf", "mrsf", "m-edf", "marginal"];

fn workload(family: &Family) -> Workload {
    let &Family { length, lambda, profiles, sources, .. } = family;
    let updates = PoissonUpdates { sources, chronons: CHRONONS, lambda };
    let watchers = AuctionWatch { profiles, length, ..AuctionWatch::default() };
    watchers.generate(&updates.generate(1).unwrap(), &updates.names(), 1).unwrap().workload
}

/// Runs `needs-FAMILY-fast-POLICY` or `needs-FAMILY-plain-POLICY`.
pub(crate) fn run(case: &str) -> Option<Measured> {
    let (family, case) = case.strip_prefix("needs-")?.split_once('-')?;
    let (kind, policy) = case.split_once('-')?;
    let family = FAMILIES.iter().find(|known| known.name == family)?;
    let (preemption, costs) = (Preemption::Preemptive, Costs::uniform());
    let budget = Budget::constant(BUDGET).unwrap();
    let mut policy: Box<dyn Policy> = match (kind, policy) {
        ("fast", "s-edf") => Box::new(Ranked::s_edf(preemption, costs)),
        ("fast", "mrsf") => Box::new(Ranked::mrsf(preemption, costs)),
        ("fast", "m-edf") => Box::new(Ranked::m_edf(preemption, costs)),
        ("fast", "marginal") => Box::new(Marginal::new(&budget, costs)),
        ("plain", "s-edf") => Box::new(PlainRanked::s_edf(preemption, costs)),
        ("plain", "mrsf") => Box::new(PlainRanked::mrsf(preemption, costs)),
        ("plain", "m-edf") => Box::new(PlainRanked::m_edf(preemption, costs)),
        _ => return None,
    };
    let workload = workload(family);
    Some(Measured::of(workload.n_intervals(), || {
        epoch::run_workload(&mut *policy, &workload, CHRONONS, &budget, |_| ());
    }))
}

pub(crate) fn report(family: &Family) {
    println!("needs, {}: {}", family.name, family.what);
    println!("about a million CEIs, {CHRONONS} chronons, budget {BUDGET}");
    println!(
        "{:>10} {:>10} {:>9} {:>9} {:>11} {:>7}",
        "policy", "intervals", "µs/EI", "bytes/EI*", "plain µs/EI", "ratio"
    );
    for policy in POLICIES {
        let measure = |kind| Measured::in_child(&format!("needs-{}-{kind}-{policy}", family.name));
        let fast = measure("fast");
        // What is plain about the plain planner is its store of jobs; it is an oracle, and no opponent.
        let plain = (policy != "marginal").then(|| measure("plain"));
        let plain = plain.map(|plain| (plain.nanos_per_unit() / 1e3, plain.seconds / fast.seconds));
        println!(
            "{policy:>10} {:>10} {:>9.3} {:>9.0} {:>11} {:>7}",
            fast.units,
            fast.nanos_per_unit() / 1e3,
            fast.peak_mib * 1024.0 * 1024.0 / fast.units,
            plain.map_or_else(|| "-".to_owned(), |(micros, _)| format!("{micros:.3}")),
            plain.map_or_else(|| "-".to_owned(), |(_, ratio)| format!("{ratio:.1}x")),
        );
    }
    println!("* peak memory of the whole process, the workload included\n");
}
