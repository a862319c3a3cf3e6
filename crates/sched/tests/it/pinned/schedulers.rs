//! Hours of watching synthetic sources, with everything that can happen to a scheduler: who is chosen when and why, at what
//! price, and what is said of a source when somebody asks.

use std::fmt::Write as _;
use std::time::Duration;

use dunlin_core::{ResourceIdx, SourceIdx, Time};
use dunlin_sched::model::{Completeness, Evidence, Model, Prior};
use dunlin_sched::scheduler::{
    Choice, HostIdx, HostTerms, Input, Pace, Reason, Scheduler, Settings, Shown, SourceTerms, Strategy,
};
use dunlin_sched::value::ValueModel;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Fingerprint, check, row};

const BEGIN: i64 = 1_700_000_000;

fn at(second: u32) -> Time {
    Time::from_seconds(BEGIN + i64::from(second))
}

struct World {
    name: &'static str,
    sources: u32,
    hosts: u32,
    strategy: Strategy,
    values: &'static [(&'static str, &'static str)],
    chronon: u32,
    per_second: f64,
    costs: &'static [f64],
    /// What probes tell, by source.
    known: &'static [Option<Completeness>],
    initial_price: Option<f64>,
    hours: u32,
    /// Failures, requests, other budgets and terms, sources that come and go.
    is_eventful: bool,
}

const DATED: &[Option<Completeness>] = &[None, Some(Completeness::Latest), Some(Completeness::All)];
const PLAIN: World = World {
    name: "plain",
    sources: 90,
    hosts: 9,
    strategy: Strategy::Learned,
    values: &[("overwrite", "uniform")],
    chronon: 1,
    per_second: 0.4,
    costs: &[1.0],
    known: &[None],
    initial_price: None,
    hours: 3,
    is_eventful: false,
};
const MIXED: &[(&str, &str)] = &[
    ("append", "uniform"),
    ("append", "exp:0.99"),
    ("window:120", "uniform"),
    ("append", "sliding:90"),
    ("changes:3", "uniform"),
    ("overwrite", "exp:0.995"),
    ("append", "poly:1"),
    ("append", "polyexp:2:0.98"),
    ("window:300", "chordal:200"),
    ("overwrite", "chordal:600"),
];
const HALF_AN_HOUR: Strategy = Strategy::Cam { epoch: Duration::from_mins(30) };
const WORLDS: [World; 11] = [
    PLAIN,
    // More wait for the host than it keeps for their worth.
    World { name: "one host", sources: 400, hosts: 1, per_second: 0.9, hours: 2, ..PLAIN },
    World { name: "slow", per_second: 0.02, hours: 12, chronon: 7, ..PLAIN },
    World { name: "plenty", per_second: 6.5, known: DATED, hours: 1, ..PLAIN },
    World { name: "costs", costs: &[1.0, 0.25, 3.0, 1.5], initial_price: Some(0.3), ..PLAIN },
    World { name: "mixed", values: MIXED, known: DATED, per_second: 0.9, hours: 2, ..PLAIN },
    World { name: "eventful", known: DATED, is_eventful: true, ..PLAIN },
    World {
        name: "eventful and mixed",
        values: MIXED,
        costs: &[1.0, 2.0],
        is_eventful: true,
        hours: 2,
        ..PLAIN
    },
    World { name: "in turns", strategy: Strategy::RoundRobin, is_eventful: true, hours: 1, ..PLAIN },
    World { name: "planned", strategy: HALF_AN_HOUR, known: DATED, ..PLAIN },
    World {
        name: "planned and eventful",
        strategy: HALF_AN_HOUR,
        costs: &[1.0, 2.0],
        initial_price: Some(0.1),
        is_eventful: true,
        ..PLAIN
    },
];

/// A world as it goes on.
struct Life<'a> {
    world: &'a World,
    scheduler: Scheduler,
    rng: ChaCha8Rng,
    /// When each source changed, up to now, and when it was last seen.
    changes: Vec<Vec<u32>>,
    seen: Vec<u32>,
    in_flight: Vec<(u32, ResourceIdx)>,
}

impl Life<'_> {
    fn new(world: &World) -> Life<'_> {
        let mut scheduler = Scheduler::new(Settings {
            chronon: Duration::from_secs(world.chronon.into()),
            strategy: world.strategy,
            budget: Pace { per_second: world.per_second },
            initial_price: world.initial_price,
        });
        for host in 0..world.hosts {
            let budget = (host % 3 == 2).then_some(Pace { per_second: world.per_second / 12.0 });
            let terms = HostTerms { at_one_time: 1 + host % 2, budget };
            scheduler.apply(at(0), Input::Host { host: HostIdx(host), terms });
        }
        let n_sources = world.sources as usize;
        let mut life = Life {
            world,
            scheduler,
            rng: ChaCha8Rng::seed_from_u64(7),
            changes: vec![Vec::new(); n_sources],
            seen: vec![0; n_sources],
            in_flight: Vec::new(),
        };
        (0..world.sources).for_each(|source| life.join(0, source));
        life
    }

    fn terms(&self, source: u32, variant: u32) -> SourceTerms {
        let own = (source + variant) as usize;
        let (life, urgency) = self.world.values[own % self.world.values.len()];
        let value = ValueModel {
            weight: [1.0, 0.7, 2.5][own % 3],
            ..ValueModel::new(life.parse().unwrap(), urgency.parse().unwrap())
        };
        SourceTerms {
            host: HostIdx((source + variant) % self.world.hosts),
            value,
            cost: self.world.costs[own % self.world.costs.len()],
            shortest_gap: Duration::from_secs(5 + u64::from(source % 4) * 10),
            longest_gap: Duration::from_secs(if source.is_multiple_of(8) { 900 } else { 40_000 }),
            wants_changes: true,
        }
    }

    fn join(&mut self, now: u32, source: u32) {
        let prior = Prior { rate: 1.0 / 900.0, strength: 0.5 + f64::from(source % 3) };
        let last_probe = source.is_multiple_of(5).then(|| at(now.saturating_sub(source)));
        let not_before = source.is_multiple_of(11).then(|| at(now + source));
        let terms = self.terms(source, 0);
        let source = SourceIdx(source);
        let model = Model::new(prior);
        self.scheduler.apply(
            at(now),
            Input::SourceAdded {
                resource: ResourceIdx(source.0),
                source,
                terms,
                model,
                last_probe,
                not_before,
            },
        );
    }

    /// Sources change every 20 seconds to every two hours; every third is silent in every other quarter of an hour.
    fn change(&mut self, now: u32) {
        for source in 0..self.world.sources {
            let is_silent = source.is_multiple_of(3) && now / 900 % 2 == 1;
            let every = 20.0 * 360f64.powf(f64::from(source) / f64::from(self.world.sources));
            let chance = f64::from(self.world.chronon) / every;
            if self.rng.random::<f64>() < chance && !is_silent {
                self.changes[source as usize].push(now);
            }
        }
    }

    fn end_probe(&mut self, now: u32) {
        let landing: Vec<ResourceIdx> =
            self.in_flight.iter().filter(|(until, _)| *until <= now).map(|(_, resource)| *resource).collect();
        self.in_flight.retain(|(until, _)| *until > now);
        for resource in landing {
            let fate = if self.world.is_eventful { self.rng.random_range(0..20) } else { 9 };
            let input = match fate {
                0 => Input::ProbeFailed { resource, not_before: at(now + 45) },
                1 => Input::ProbeReturned { resource },
                _ => Input::Probed { resource, shown: Shown::All(self.probe(SourceIdx(resource.0), now)) },
            };
            self.scheduler.apply(at(now), input);
        }
    }

    fn probe(&mut self, source: SourceIdx, now: u32) -> Evidence {
        let since = std::mem::replace(&mut self.seen[source.index()], now);
        let own = &self.changes[source.index()];
        let new: Vec<Time> =
            own.iter().filter(|&&change| since < change && change <= now).map(|&change| at(change)).collect();
        match (self.world.known[source.index() % self.world.known.len()], new.last()) {
            (_, None) => Evidence::Unchanged,
            (None, _) => Evidence::Changed { times: Vec::new(), completeness: Completeness::Latest },
            (Some(Completeness::Latest), Some(&last)) => {
                Evidence::Changed { times: vec![last], completeness: Completeness::Latest }
            }
            (Some(Completeness::All), _) => Evidence::Changed { times: new, completeness: Completeness::All },
        }
    }

    /// Something from outside, now and then.
    fn disturb(&mut self, now: u32) {
        if !self.world.is_eventful || self.rng.random_range(0..40) != 0 {
            return;
        }
        let source = SourceIdx(self.rng.random_range(0..self.world.sources));
        let host = HostIdx(self.rng.random_range(0..self.world.hosts));
        let input = match self.rng.random_range(0..8) {
            0 | 1 | 5 => Input::ProbeRequested { resource: ResourceIdx(source.0) },
            2 | 3 => Input::HostHeld { host, until: at(now + 120) },
            4 => {
                Input::Budget(Pace { per_second: self.world.per_second * [0.5, 1.0, 3.0][now as usize % 3] })
            }
            6 => Input::SourceRemoved { resource: ResourceIdx(source.0), source },
            _ => return self.join(now, source.0),
        };
        self.scheduler.apply(at(now), input);
    }

    fn run(mut self, table: &mut String) {
        let mut chosen: Vec<Choice> = Vec::new();
        let (mut reasons, mut choices, mut worth) = ([0u32; 6], Fingerprint::new(), 0.0);
        let end = self.world.hours * 3_600;
        for now in (1..=end).step_by(self.world.chronon as usize) {
            self.change(now);
            self.end_probe(now);
            self.disturb(now);
            chosen.clear();
            self.scheduler.choose(at(now), 5, &mut chosen);
            for choice in &chosen {
                reasons[choice.reason as usize] += 1;
                choices.add(now.into());
                choices.add((u64::from(choice.resource.0) << 8) | choice.reason as u64);
                worth += choice.value;
                // Some probes take their time.
                let takes = if choice.resource.0.is_multiple_of(7) { 25 } else { 0 };
                self.in_flight.push((now + takes, choice.resource));
            }
            self.end_probe(now);
            if (now - 1) % (end / 4) < self.world.chronon {
                self.describe(table, now);
            }
        }
        let name = self.world.name;
        writeln!(table, "{name} choices: {:016x}", choices.0).unwrap();
        let by_reason =
            [Reason::Worth, Reason::Spare, Reason::New, Reason::Overdue, Reason::Requested, Reason::Planned]
                .map(|reason| f64::from(reasons[reason as usize]));
        row(table, &format!("{name} by reason"), &by_reason);
        row(table, &format!("{name} worth"), &[worth]);
    }

    fn describe(&self, table: &mut String, now: u32) {
        let name = format!("{} {now}", self.world.name);
        let stats = self.scheduler.stats();
        let counts = [stats.resources, stats.ready, stats.waiting_on_hosts, stats.in_flight];
        writeln!(table, "{name} counts: {counts:?}").unwrap();
        let due = self.scheduler.next_due(at(now)).map_or(-1.0, |due| due.since(at(now)).as_secs_f64());
        row(table, &format!("{name} price, next due"), &[stats.price, due]);
        for source in (0..self.world.sources).step_by(13).map(SourceIdx) {
            let Some(explained) = self.scheduler.explain(ResourceIdx(source.0), at(now)) else { continue };
            let next = explained.next_probe.map_or(-1.0, |next| next.since(at(now)).as_secs_f64());
            let forecast = self.scheduler.forecast(ResourceIdx(source.0), source).unwrap();
            let stats =
                [explained.value, explained.price, next, forecast.mean_rate() * 3_600.0, forecast.hope()];
            row(table, &format!("{name} source {}, {:?}", source.0, explained.reason), &stats);
            // The tables keep the names that they were written with.
            let held = format!("{:?}", explained.holds).replace("InFlight", "UnderWay");
            writeln!(table, "{name} source {} held: {held}", source.0).unwrap();
        }
    }
}

#[test]
fn what_the_scheduler_chooses() {
    for world in &WORLDS {
        let mut table = String::new();
        Life::new(world).run(&mut table);
        check(&format!("watch-{}", world.name.replace(' ', "-")), &table);
    }
}
