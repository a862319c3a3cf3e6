//! Every policy for needs, fast and plain, on one small workload: for watching a change while working on
//! it. The figures to quote come from the `ratios` benchmark, at the sizes that matter.
#![expect(clippy::unwrap_used, reason = "a benchmark may panic")]

use criterion::{BatchSize, BenchmarkId, Criterion, criterion_group, criterion_main};
use dunlin_core::{Budget, Costs, Workload};
use dunlin_lab::generate::{AuctionWatch, PoissonUpdates};
use dunlin_lab::policies::{PolicyChoice, PolicyName};
use dunlin_sched::epoch;
use dunlin_sched::plain::PlainRanked;
use dunlin_sched::policy::{Policy, Preemption};

const CHRONONS: u32 = 1_000;

fn workload() -> Workload {
    let updates = PoissonUpdates::default();
    let watchers = AuctionWatch::default();
    watchers.generate(&updates.generate(1).unwrap(), &updates.names(), 1).unwrap().workload
}

fn policies(criterion: &mut Criterion) {
    let (workload, budget) = (workload(), Budget::constant(1.0).unwrap());
    let mut group = criterion.benchmark_group("needs");
    group.sample_size(20);
    let mut bench = |name: &str, kind: &str, make: &dyn Fn() -> Box<dyn Policy>| {
        group.bench_function(BenchmarkId::new(kind, name), |bencher| {
            bencher.iter_batched(
                make,
                |mut policy| epoch::run_workload(&mut *policy, &workload, CHRONONS, &budget, |_| ()),
                BatchSize::LargeInput,
            );
        });
    };
    for name in PolicyName::ALL.into_iter().filter(|name| !name.wants_changes()) {
        let choice = PolicyChoice { name, preemption: Preemption::Preemptive };
        bench(&name.to_string(), "fast", &|| {
            choice.for_needs(workload.n_sources(), &budget, &Costs::uniform(), 0).unwrap()
        });
    }
    let preemption = Preemption::Preemptive;
    bench("s-edf", "plain", &|| Box::new(PlainRanked::s_edf(preemption, Costs::uniform())));
    bench("mrsf", "plain", &|| Box::new(PlainRanked::mrsf(preemption, Costs::uniform())));
    bench("m-edf", "plain", &|| Box::new(PlainRanked::m_edf(preemption, Costs::uniform())));
    group.finish();
}

criterion_group!(benches, policies);
criterion_main!(benches);
