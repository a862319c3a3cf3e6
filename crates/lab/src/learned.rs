//! A trace watched by a scheduler that starts with nothing and learns from its own probes: the live service's
//! `Watch`, in virtual time. What a probe reveals is decided here; what to make of it is not.
//!
//! Invariant: nothing of the trace reaches the watch but through a probe that it chose itself.

use std::str::FromStr;
use std::time::{Duration, Instant};

use dunlin_core::{Changes, Chronon, Meter, Probe, Schedule, SourceIdx, Time};
use dunlin_sched::model::{Known, Model, Parts, Prior, Seen};
use dunlin_sched::score::{TraceScore, score_trace};
use dunlin_sched::value::{Life, ValueModel};
use dunlin_sched::watch::{Choice, HostIdx, HostTerms, Input, Pace, Settings, Strategy, Terms, Watch};

use crate::Error;
use crate::files::{Epoch, TraceFile};
use crate::policies::PolicyName;
use crate::simulate::{Run, Setup};

/// What a probe tells of the changes since the one before, besides that there were any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reveal {
    /// Nothing, as a page without dates.
    Changes,
    /// When the last one was, as a page with its time of modification.
    Last,
    /// When each was that is still visible, of the last [`FEED_ITEMS`], as a feed.
    Timestamps,
}

/// How far ahead CAM plans: as the live service does by default.
const EPOCH: Duration = Duration::from_hours(1);
/// Where chronons are long, an epoch has at least so many.
const FEWEST_CHRONONS: u32 = 60;

/// How many entries a feed shows.
pub const FEED_ITEMS: usize = 20;

impl FromStr for Reveal {
    type Err = Error;

    fn from_str(given: &str) -> Result<Self, Error> {
        match given {
            "changes" => Ok(Self::Changes),
            "last" => Ok(Self::Last),
            "timestamps" => Ok(Self::Timestamps),
            _ => Err(Error::parameter("reveal", &given, "changes, last or timestamps")),
        }
    }
}

/// How the scheduler learns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learning {
    /// The share of the epoch, from its beginning, that is not scored. From 0 to below 1.
    pub warm_up: f64,
    /// What a probe tells.
    pub reveal: Reveal,
    /// What is learned of it.
    pub parts: Parts,
}

/// Runs the live scheduler on a trace and scores it after the warm-up. The schedule is whole.
pub fn learned(
    trace: &TraceFile,
    epoch: Epoch,
    value: ValueModel,
    setup: &Setup,
    learning: Learning,
    mut on_chronon: impl FnMut(Chronon),
) -> Result<Run<TraceScore>, Error> {
    let world_chronon = Duration::from_secs(u64::from(epoch.chronon_seconds.get()));
    let strategy = match setup.policy.name {
        PolicyName::Wic => Strategy::Learned,
        PolicyName::RoundRobin => Strategy::RoundRobin,
        PolicyName::Cam => Strategy::Cam { epoch: EPOCH.max(world_chronon * FEWEST_CHRONONS) },
        name => return Err(Error::parameter("policy", &name, "wic, cam or round-robin, which can learn")),
    };
    if !(0.0..1.0).contains(&learning.warm_up) {
        return Err(Error::parameter("warm-up", &learning.warm_up, "a share from 0 to below 1"));
    }
    if !setup.costs.is_uniform() {
        return Err(Error::parameter("costs", &"by source", "the same for all, with learned knowledge"));
    }
    let begin = Instant::now();
    let world = World { trace, epoch, life: value.life, reveal: learning.reveal };
    let settings =
        Settings { chronon: world.chronon(), strategy, budget: world.pace(0.0), initial_price: None };
    let mut watch = Watch::new(settings);
    world.introduce(&mut watch, value, learning.parts);
    let schedule = world.run(&mut watch, &mut setup.budget.meter(), setup, &mut on_chronon);
    let seconds = begin.elapsed().as_secs_f64();

    let is_warm_up =
        |chronon: &Chronon| f64::from(chronon.get()) <= f64::from(epoch.chronons) * learning.warm_up;
    let skipped = Chronon::first(epoch.chronons).take_while(is_warm_up).last().map_or(0, Chronon::get);
    let score = score_trace(
        &changes_after(&trace.changes(epoch), skipped)?,
        &schedule_after(&schedule, skipped),
        |_| value,
    );
    Ok(Run { schedule, score, seconds })
}

/// The trace as probes see it.
struct World<'a> {
    trace: &'a TraceFile,
    epoch: Epoch,
    life: Life,
    reveal: Reveal,
}

impl World<'_> {
    fn chronon(&self) -> Duration {
        Duration::from_secs(u64::from(self.epoch.chronon_seconds.get()))
    }

    /// The end of a chronon: a probe sees every change up to and including its own.
    fn end_of(&self, chronon: Chronon) -> i64 {
        self.epoch.start + i64::from(chronon.get()) * i64::from(self.epoch.chronon_seconds.get())
    }

    fn pace(&self, grant: f64) -> Pace {
        Pace { per_second: grant / self.chronon().as_secs_f64() }
    }

    /// All sources, on one host that does not mind.
    fn introduce(&self, watch: &mut Watch, value: ValueModel, parts: Parts) {
        let now = Time::from_seconds(self.epoch.start);
        let host = HostIdx(0);
        watch.apply(now, Input::Host { host, terms: HostTerms { at_one_time: u32::MAX, budget: None } });
        let terms = Terms {
            host,
            value,
            cost: 1.0,
            shortest_gap: Duration::ZERO,
            longest_gap: self.chronon() * self.epoch.chronons,
        };
        for (source, _) in (0u32..).map(SourceIdx).zip(&self.trace.sources) {
            let model = Model::of_parts(Prior::default(), parts);
            watch.apply(now, Input::Joined { source, terms, model, last_look: None, not_before: None });
        }
    }

    fn run(
        &self,
        watch: &mut Watch,
        meter: &mut Meter<'_>,
        setup: &Setup,
        on_chronon: &mut impl FnMut(Chronon),
    ) -> Schedule {
        let mut schedule = Schedule::new();
        let mut last_probe: Vec<Option<i64>> = vec![None; self.trace.sources.len()];
        let (mut choices, mut sources): (Vec<Choice>, Vec<SourceIdx>) = Default::default();
        let mut told = 0.0;
        for chronon in Chronon::first(self.epoch.chronons) {
            on_chronon(chronon);
            let (end, grant) = (self.end_of(chronon), setup.budget.at(chronon));
            let now = Time::from_seconds(end);
            if grant != told {
                watch.apply(now, Input::Budget(self.pace(grant)));
                told = grant;
            }
            let mut allowance = meter.open(chronon);
            let mut room = 0;
            while allowance.spend(1.0) {
                room += 1;
            }
            let mut allowance = meter.open(chronon);
            choices.clear();
            watch.choose(now, room, &mut choices);
            sources.clear();
            for &Choice { source, .. } in &choices {
                allowance.spend(1.0);
                sources.push(source);
                let seen = self.reveal(source, last_probe[source.index()].replace(end), end);
                watch.apply(now, Input::Looked { source, seen });
            }
            meter.close(chronon, &allowance);
            schedule.extend(chronon, &sources);
        }
        schedule
    }

    /// What a probe that ends at `now` shows of a source last probed at `last`, in seconds.
    fn reveal(&self, source: SourceIdx, last: Option<i64>, now: i64) -> Seen {
        let length = i64::from(self.epoch.chronon_seconds.get());
        let times = &self.trace.times[source.index()];
        let until = times.partition_point(|&time| time < now);
        let from = times.partition_point(|&time| time < last.unwrap_or(self.epoch.start));
        // Of several changes within one chronon the last counts, as in the score.
        let chronon_of = |time: i64| (time - self.epoch.start).div_euclid(length);
        let fresh: Vec<i64> = times[from..until]
            .chunk_by(|&left, &right| chronon_of(left) == chronon_of(right))
            .filter_map(|same| same.last().copied())
            .collect();
        let visible = match self.life {
            Life::Window(width) => {
                let oldest = chronon_of(now - 1) - i64::from(width);
                &fresh[fresh.partition_point(|&time| chronon_of(time) < oldest)..]
            }
            Life::Changes(count) => &fresh[fresh.len().saturating_sub(count as usize)..],
            Life::Append | Life::Overwrite => &fresh[..],
        };
        let Some(&newest) = visible.last() else { return Seen::Unchanged };
        let dated = &visible[visible.len().saturating_sub(FEED_ITEMS)..];
        let (told, known) = match self.reveal {
            Reveal::Changes => (&[][..], Known::Latest),
            Reveal::Last => (&[newest][..], Known::Latest),
            Reveal::Timestamps if dated.len() < fresh.len() => (dated, Known::Latest),
            Reveal::Timestamps => (dated, Known::All),
        };
        Seen::Changed { times: told.iter().map(|&time| Time::from_seconds(time)).collect(), known }
    }
}

fn changes_after(changes: &Changes, skipped: u32) -> Result<Changes, Error> {
    let later = |own: &[Chronon]| own.iter().filter_map(|at| shifted(*at, skipped)).collect();
    let by_source = changes.by_source().map(|(_, own)| later(own)).collect();
    Ok(Changes::new(changes.chronons() - skipped, by_source)?)
}

fn schedule_after(schedule: &Schedule, skipped: u32) -> Schedule {
    let later = |probe: &Probe| shifted(probe.chronon, skipped).map(|chronon| Probe { chronon, ..*probe });
    Schedule::from_probes(schedule.probes().iter().filter_map(later).collect())
}

/// The chronon with its number counted from after those skipped.
fn shifted(chronon: Chronon, skipped: u32) -> Option<Chronon> {
    chronon.get().checked_sub(skipped).and_then(Chronon::new)
}
