//! What the scheduler collects, against the plain scheduler that probes every source in every chronon. Both learn; both are
//! judged by the true rates.

use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use dunlin_sched::forecast::Segment;
use dunlin_sched::model::{Evidence, Model, Prior};
use dunlin_sched::plain::PlainScheduler;
use dunlin_sched::scheduler::{Choice, HostIdx, Input, Scheduler, Shown, SourceTerms};
use dunlin_sched::value::ValueModel;
use dunlin_sched::value::curve::{Curve, Rates};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{at, changed, host, settings};

const CHRONON: Duration = Duration::from_secs(1);

/// A rate that never changes and is known.
#[derive(Clone, Copy)]
struct Flat(f64);

impl Rates for Flat {
    fn segment(&self, at: Time) -> Segment {
        Segment { rate: self.0, until: at.plus(Duration::from_hours(1_000_000)) }
    }

    fn chance_since(&self, last_probe: Time, now: Time) -> f64 {
        -(-self.expected(last_probe, now)).exp_m1()
    }

    fn changes_for(&self, chance: f64) -> f64 {
        -(-chance).ln_1p()
    }

    fn hope(&self) -> f64 {
        1.0
    }

    fn expected(&self, from: Time, to: Time) -> f64 {
        self.0 * to.since(from).as_secs_f64()
    }
}

struct World {
    name: &'static str,
    values: &'static [(&'static str, &'static str)],
    sources: u32,
    sources_per_host: u32,
    per_second: f64,
    seconds: i64,
}

const WORLDS: [World; 7] = [
    World {
        name: "overwrite",
        values: &[("overwrite", "uniform")],
        sources: 300,
        sources_per_host: 10,
        per_second: 1.0,
        seconds: 4_000,
    },
    World {
        name: "slow",
        values: &[("overwrite", "uniform")],
        sources: 60,
        sources_per_host: 6,
        per_second: 0.05,
        seconds: 20_000,
    },
    World {
        name: "urgent",
        values: &[("append", "exp:0.99")],
        sources: 300,
        sources_per_host: 10,
        per_second: 2.0,
        seconds: 3_000,
    },
    World {
        name: "windows",
        values: &[("window:120", "uniform"), ("append", "sliding:60")],
        sources: 200,
        sources_per_host: 10,
        per_second: 1.5,
        seconds: 3_000,
    },
    World {
        name: "everything",
        values: &[
            ("append", "poly:1"),
            ("overwrite", "chordal:300"),
            ("changes:3", "uniform"),
            ("append", "polyexp:2:0.99"),
        ],
        sources: 120,
        sources_per_host: 10,
        per_second: 1.0,
        seconds: 1_200,
    },
    World {
        name: "plenty",
        values: &[("overwrite", "uniform")],
        sources: 20,
        sources_per_host: 5,
        per_second: 3.0,
        seconds: 3_000,
    },
    World {
        name: "one host",
        values: &[("overwrite", "uniform")],
        sources: 400,
        sources_per_host: 400,
        per_second: 5.0,
        seconds: 3_000,
    },
];

struct Truth {
    terms: SourceTerms,
    rate: f64,
    last: Time,
    next_change: Time,
}

impl World {
    fn truths(&self, rng: &mut ChaCha8Rng) -> Vec<Truth> {
        (0..self.sources)
            .map(|source| {
                let (life, urgency) = self.values[rng.random_range(0..self.values.len())];
                let rate = 10f64.powf(rng.random_range(-4.5..-1.5));
                let value = ValueModel {
                    life: life.parse().unwrap(),
                    urgency: urgency.parse().unwrap(),
                    weight: rng.random_range(0.2..1.0),
                };
                let terms = SourceTerms {
                    host: HostIdx(source / self.sources_per_host),
                    value,
                    cost: 1.0,
                    shortest_gap: Duration::from_secs(5),
                    longest_gap: Duration::from_hours(3),
                    wants_changes: true,
                };
                Truth { terms, rate, last: at(0), next_change: at(0).plus(gap(rng, rate)) }
            })
            .collect()
    }

    /// The utility that a scheduler collects by the true rates.
    fn collected(&self, seed: u64, scheduler: &mut impl FnMut(Time, Option<Input>, &mut Vec<Choice>)) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut truths = self.truths(&mut rng);
        let mut chosen = Vec::new();
        for number in 0..=self.sources / self.sources_per_host {
            scheduler(at(0), Some(host(number, 4)), &mut chosen);
        }
        for (source, truth) in (0..).zip(&truths) {
            // Known for a while: what is compared is how probes are chosen, not how soon a rate is learned.
            let model = Model::new(Prior { rate: truth.rate * rng.random_range(0.5..2.0), strength: 5.0 });
            let input = super::joined(source, truth.terms, model, Some(at(0)));
            scheduler(at(0), Some(input), &mut chosen);
        }
        let mut sum = 0.0;
        for second in 1..=self.seconds {
            let now = at(second);
            chosen.clear();
            scheduler(now, None, &mut chosen);
            let probes: Vec<SourceIdx> = chosen.iter().map(|choice| SourceIdx(choice.resource.0)).collect();
            for source in probes {
                let truth = &mut truths[source.index()];
                // The first probes only show where the clocks stand.
                if second > self.seconds / 4 {
                    sum += Curve::new(&truth.terms.value, Flat(truth.rate), truth.last, CHRONON).at(now);
                }
                truth.last = now;
                let has_changed = truth.next_change <= now;
                while truth.next_change <= now {
                    truth.next_change = truth.next_change.plus(gap(&mut rng, truth.rate));
                }
                let shown = if has_changed { changed() } else { Evidence::Unchanged };
                scheduler(
                    now,
                    Some(Input::Probed { resource: ResourceIdx(source.0), shown: Shown::All(shown) }),
                    &mut Vec::new(),
                );
            }
        }
        sum
    }
}

fn gap(rng: &mut ChaCha8Rng, rate: f64) -> Duration {
    let share: f64 = rng.random();
    Duration::from_secs_f64((-(-share).ln_1p() / rate).min(1e9))
}

#[test]
fn it_collects_nearly_what_evaluating_every_source_all_the_time_does() {
    for world in &WORLDS {
        let [mut fast_sum, mut plain_sum] = [0.0; 2];
        for seed in 1..=3 {
            let mut fast = Scheduler::new(settings(world.per_second));
            let by_fast = world.collected(seed, &mut |now, input, chosen| match input {
                Some(input) => fast.apply(now, input),
                None => fast.choose(now, usize::MAX, chosen),
            });
            let mut plain = PlainScheduler::new(settings(world.per_second));
            let by_plain = world.collected(seed, &mut |now, input, chosen| match input {
                Some(input) => plain.apply(now, input),
                None => plain.choose(now, usize::MAX, chosen),
            });
            println!(
                "{:>10} {seed}: {by_fast:>9.2} of {by_plain:>9.2}: {:.3}",
                world.name,
                by_fast / by_plain
            );
            (fast_sum, plain_sum) = (fast_sum + by_fast, plain_sum + by_plain);
        }
        let ratio = fast_sum / plain_sum;
        assert!(ratio >= 0.95, "{}: collected only {ratio:.3} of what the plain scheduler does", world.name);
    }
}
