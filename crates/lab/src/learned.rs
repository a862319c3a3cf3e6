//! A trace probed by a scheduler that starts with nothing and learns from its own probes: the live service's
//! `Scheduler`, in virtual time. What a probe reveals is decided here; what follows from it is not.
//!
//! Invariant: the scheduler learns nothing of the trace except through probes that it chose itself.

use std::str::FromStr;
use std::time::{Duration, Instant};

use dunlin_core::{Budget, Changes, Chronon, Probe, Schedule, SourceIdx, Time, Workload};
use dunlin_sched::model::{Completeness, Evidence, Parts};
use dunlin_sched::scheduler::{Choice, Input, Scheduler, Shown, SourceTerms, Strategy};
use dunlin_sched::score::{TraceScore, score_trace};
use dunlin_sched::value::{Life, ValueModel};

use crate::Error;
use crate::files::{Epoch, TraceFile};
use crate::live::arrival;
use crate::one_host::{Grants, HOST, introduce};
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
        PolicyName::Wic | PolicyName::Live => Strategy::Learned,
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
    let world = World { trace, epoch, value, learning, needs: &Workload::new() };
    let schedule = world.watched(strategy, &setup.budget, &mut on_chronon);
    let seconds = begin.elapsed().as_secs_f64();
    Ok(Run { score: world.score(&schedule)?, schedule, seconds })
}

/// The trace as probes see it, and needs that may have to be met beside it.
pub(crate) struct World<'a> {
    pub(crate) trace: &'a TraceFile,
    pub(crate) epoch: Epoch,
    /// What a change is worth.
    pub(crate) value: ValueModel,
    pub(crate) learning: Learning,
    /// Over the sources of the trace, and others after these.
    pub(crate) needs: &'a Workload,
}

impl World<'_> {
    /// What the scheduler probes within a budget, from nothing.
    pub(crate) fn watched(
        &self,
        strategy: Strategy,
        budget: &Budget,
        on_chronon: &mut impl FnMut(Chronon),
    ) -> Schedule {
        let mut scheduler = self.introduce(strategy);
        self.run(&mut scheduler, budget, on_chronon)
    }

    /// What a schedule is worth on the trace, after the warm-up.
    pub(crate) fn score(&self, schedule: &Schedule) -> Result<TraceScore, Error> {
        let chronons = self.epoch.chronons;
        let is_warm_up =
            |chronon: &Chronon| f64::from(chronon.get()) <= f64::from(chronons) * self.learning.warm_up;
        let skipped = Chronon::first(chronons).take_while(is_warm_up).last().map_or(0, Chronon::get);
        let changes = changes_after(&self.trace.changes(self.epoch), skipped)?;
        Ok(score_trace(&changes, &schedule_after(schedule, skipped), |_| self.value))
    }

    fn chronon(&self) -> Duration {
        Duration::from_secs(u64::from(self.epoch.chronon_seconds.get()))
    }

    /// The end of a chronon: a probe sees every change up to and including its own.
    fn end_of(&self, chronon: Chronon) -> i64 {
        self.epoch.start + i64::from(chronon.get()) * i64::from(self.epoch.chronon_seconds.get())
    }

    /// All sources, those that only needs know after those of the trace.
    fn introduce(&self, strategy: Strategy) -> Scheduler {
        let n_watched = self.trace.sources.len();
        let terms = |index| SourceTerms {
            host: HOST,
            value: self.value,
            cost: 1.0,
            shortest_gap: Duration::ZERO,
            longest_gap: self.chronon() * self.epoch.chronons,
            wants_changes: index < n_watched,
        };
        let sources = (0..n_watched.max(self.needs.n_sources())).map(terms);
        let start = Time::from_seconds(self.epoch.start);
        introduce(self.chronon(), strategy, self.learning.parts, start, sources)
    }

    fn run(
        &self,
        scheduler: &mut Scheduler,
        budget: &Budget,
        on_chronon: &mut impl FnMut(Chronon),
    ) -> Schedule {
        let (mut schedule, mut meter) = (Schedule::new(), budget.meter());
        let mut arriving = self.needs.by_release().into_iter().peekable();
        let mut last_probe: Vec<Option<i64>> = vec![None; self.trace.sources.len()];
        let (mut choices, mut sources): (Vec<Choice>, Vec<SourceIdx>) = Default::default();
        let mut grants = Grants::new(self.chronon());
        // A pace brings what is granted, but for the first chronons: needs are planned for when it comes.
        let is_exact = self.needs.n_ceis() > 0 || !budget.is_constant();
        for chronon in Chronon::first(self.epoch.chronons) {
            on_chronon(chronon);
            let (end, grant) = (self.end_of(chronon), budget.at(chronon));
            let now = Time::from_seconds(end);
            grants.tell_pace(scheduler, now, grant);
            while let Some((_, cei)) = arriving.next_if(|(release, _)| *release <= chronon) {
                scheduler.apply(now, arrival(&self.needs.cei(cei), |at| Time::from_seconds(self.end_of(at))));
            }
            let mut allowance = meter.open(chronon);
            let mut room = 0;
            while allowance.spend(1.0) {
                room += 1;
            }
            let mut allowance = meter.open(chronon);
            if is_exact {
                Grants::tell_grant(scheduler, now, &allowance);
            }
            choices.clear();
            scheduler.choose(now, room, &mut choices);
            sources.clear();
            for &Choice { resource, .. } in &choices {
                let source = SourceIdx(resource.0);
                allowance.spend(1.0);
                sources.push(source);
                let last = last_probe.get_mut(source.index());
                let evidence =
                    last.map_or(Evidence::Unchanged, |last| self.reveal(source, last.replace(end), end));
                scheduler.apply(now, Input::Probed { resource, shown: Shown::All(evidence) });
            }
            meter.close(chronon, &allowance);
            schedule.extend(chronon, &sources);
        }
        schedule
    }

    /// What a probe that ends at `now` shows of a source last probed at `last`, in seconds.
    fn reveal(&self, source: SourceIdx, last: Option<i64>, now: i64) -> Evidence {
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
        let visible = match self.value.life {
            Life::Window(width) => {
                let oldest = chronon_of(now - 1) - i64::from(width);
                &fresh[fresh.partition_point(|&time| chronon_of(time) < oldest)..]
            }
            Life::Changes(count) => &fresh[fresh.len().saturating_sub(count as usize)..],
            Life::Append | Life::Overwrite => &fresh[..],
        };
        let Some(&newest) = visible.last() else { return Evidence::Unchanged };
        let dated = &visible[visible.len().saturating_sub(FEED_ITEMS)..];
        let (reported, completeness) = match self.learning.reveal {
            Reveal::Changes => (&[][..], Completeness::Latest),
            Reveal::Last => (&[newest][..], Completeness::Latest),
            Reveal::Timestamps if dated.len() < fresh.len() => (dated, Completeness::Latest),
            Reveal::Timestamps => (dated, Completeness::All),
        };
        Evidence::Changed {
            times: reported.iter().map(|&time| Time::from_seconds(time)).collect(),
            completeness,
        }
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
