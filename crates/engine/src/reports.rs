//! What an engine says about itself and its sources when asked. Values only; nothing here decides.

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_sched::scheduler::{Pace, Reason};
use dunlin_store::{Note, Source, SourceId, Store};

use crate::capture::SuppressedPart;
use crate::control::{Control, Event};
use crate::handle::stored_budget;
use crate::memory::told_of;
use crate::source_config::{ProbesSinceNotes, SourceConfig};
use crate::{Error, Settings};

/// Everything there is to say about one source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceExplanation {
    /// The source as it is stored, with its state and the reason for it.
    pub source: Source,
    /// What the engine does with it at present.
    pub status: SourceStatus,
    /// The last probe that succeeded.
    pub last_probe: Option<Time>,
    /// The last probe that failed, if none has succeeded since.
    pub last_failure: Option<Time>,
    /// What was not reported of it lately, and why.
    pub suppressed: Vec<SuppressedPart>,
    /// Not to be probed before this time, after a failure.
    pub not_before: Option<Time>,
    /// What is expected of it.
    pub forecast: ForecastSummary,
    /// What a probe is worth now; `None` for a source that was never seen, which takes turns with the most valuable ones.
    pub value: Option<f64>,
    /// What it would have to be worth.
    pub price: f64,
    /// When the next probe is expected at the earliest; `None` when unknown.
    pub next_probe: Option<Time>,
    /// The other sources that are due, if it is due and has to wait.
    pub queue_position: Option<QueuePosition>,
    /// What keeps all sources from being probed: the store, or our network.
    pub trouble: Option<String>,
    /// Why it will be probed then.
    pub reason: Reason,
    /// What holds its host back, if anything does.
    pub hold: Option<Hold>,
}

impl SourceExplanation {
    /// With what the notes of the source say.
    pub(crate) fn with_notes(mut self, notes: &[Note]) -> Self {
        let (suppressed, last_failure) = told_of(notes);
        self.suppressed = suppressed.into_parts();
        self.last_failure = last_failure.filter(|at| self.last_probe.is_none_or(|last| last < *at));
        self
    }
}

/// The position of a source that is due and waits for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuePosition {
    /// How many others are due.
    pub others: u64,
    /// When it is probed if all of them go first and no more come; `None` without a budget.
    pub by: Option<Time>,
}

/// What the engine does with a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceStatus {
    /// It is probed when that is worth it.
    Watched,
    /// A probe is in progress.
    Probing,
    /// A user has it paused.
    Paused,
    /// What is stored about it cannot be used.
    Unusable {
        /// Why.
        reason: String,
    },
}

/// What is expected of a source.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForecastSummary {
    /// Changes per second, now.
    pub rate: f64,
    /// Changes expected in each of the next 24 hours.
    pub ahead: Vec<HourlyForecast>,
    /// How many changes' worth of evidence there is.
    pub evidence: f64,
    /// By how much the rate may well be larger than its mean.
    pub hope: f64,
    /// The chance that it has changed since the last probe, if there was one.
    pub chance: Option<f64>,
}

/// One of the hours to come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HourlyForecast {
    /// Its beginning.
    pub from: Time,
    /// Changes expected in it.
    pub expected: f64,
}

/// A host that is not asked at present.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// Until when.
    pub until: Time,
    /// Why, for people.
    pub reason: String,
}

/// How the budget is used.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetReport {
    /// The budget for all.
    pub pace: Pace,
    /// The budget for each host.
    pub host_pace: Option<Pace>,
    /// What a probe had to be worth when the last one was chosen.
    pub price: f64,
    /// Probes made.
    pub used: ProbeCounts,
    /// Active probes.
    pub in_flight: u32,
    /// The most there may be.
    pub max_in_flight: u32,
    /// The hosts that were asked most in the last day, at most 100.
    pub hosts: Vec<HostUsage>,
}

impl BudgetReport {
    /// The report of an engine that does nothing.
    pub(crate) fn unused(settings: &Settings) -> Self {
        Self {
            pace: settings.budget,
            host_pace: settings.host_budget,
            price: 0.0,
            used: ProbeCounts { minute: 0, hour: 0, day: 0 },
            in_flight: 0,
            max_in_flight: settings.max_active(settings.budget),
            hosts: Vec::new(),
        }
    }
}

/// Probes made, by how long ago.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProbeCounts {
    /// In the last minute.
    pub minute: u64,
    /// In the last hour.
    pub hour: u64,
    /// In the last day.
    pub day: u64,
}

/// One host's part of the budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostUsage {
    /// The host, domain or URL that shares a politeness limit.
    pub scope: String,
    /// Probes in the last hour, in steps of five minutes.
    pub hour: u64,
    /// Probes in the last day, in steps of an hour.
    pub day: u64,
    /// Sources it has.
    pub sources: u32,
    /// Not to be probed before this time.
    pub held_until: Option<Time>,
}

/// Counters since the start, and how much there is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EngineStats {
    /// Probes started.
    pub probes: u64,
    /// Probes that read something new.
    pub changed: u64,
    /// Probes that read nothing new.
    pub unchanged: u64,
    /// Probes that failed by the server's fault.
    pub failed_remote: u64,
    /// Probes that failed by our own.
    pub failed_ours: u64,
    /// Probes that failed by the user's, or were refused.
    pub failed_user: u64,
    /// Pipelines that panicked; each is a failed probe too.
    pub crashed: u64,
    /// Choices returned because the host had to wait.
    pub returned: u64,
    /// Fetches of robots.txt.
    pub robots: u64,
    /// Changes stored.
    pub changes: u64,
    /// Versions stored.
    pub versions: u64,
    /// Bytes of bodies received.
    pub bytes: u64,
    /// Attempts to write that the store refused.
    pub store_failures: u64,
    /// Captures stored: completed probes, with any outcome.
    pub captures: u64,
    /// Captures that could not be stored at all.
    pub lost_captures: u64,
    /// CEIs captured.
    pub ceis_captured: u64,
    /// CEIs lost.
    pub ceis_lost: u64,
    /// Open CEIs.
    pub ceis_open: u64,
    /// Queries that are installed.
    pub queries: u64,
    /// Sources known.
    pub sources: u64,
    /// Sources watched: known, not paused, usable.
    pub watched: u64,
    /// Watched sources that can be fetched and are not what they should be.
    pub attention: u64,
    /// Hosts known.
    pub hosts: u64,
    /// Active probes.
    pub in_flight: u64,
    /// Journal entries not yet written.
    pub journal_waiting: u64,
    /// Readings that were abandoned and still run.
    pub abandoned_readings: u64,
}

/// Whether the engine is alive, and what keeps it from working.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// When it last decided; `None` before the first time.
    pub last_tick: Option<Time>,
    /// How long a tick may be ago for the engine to count as alive.
    pub patience: Duration,
    /// Why the store cannot be written, while that is so. No probe starts then.
    pub store_trouble: Option<String>,
    /// Why nothing can be fetched, while our own network fails.
    pub network_trouble: Option<String>,
    /// Whether it is stopping or has stopped.
    pub is_stopping: bool,
}

impl Health {
    /// Whether decisions are being made at `now`.
    pub fn is_alive(&self, now: Time) -> bool {
        !self.is_stopping && self.last_tick.is_some_and(|tick| now.since(tick) <= self.patience)
    }

    /// Whether it does all it should at `now`.
    pub fn is_well(&self, now: Time) -> bool {
        self.is_alive(now) && self.store_trouble.is_none() && self.network_trouble.is_none()
    }
}

/// Everything there is to say about a source without a running engine, from what is stored. The price is not known then,
/// and neither is anything about robots.txt.
pub fn explain_stored(
    store: &dyn Store,
    settings: &Settings,
    id: SourceId,
    now: Time,
) -> Result<SourceExplanation, Error> {
    let source = store.source(id)?.ok_or(Error::NoSuchSource(id))?;
    let config = SourceConfig::load(store, &source, settings, &ProbesSinceNotes::read(store)?)?;
    let budget = stored_budget(store)?.unwrap_or(settings.budget);
    let mut control = Control::new(Arc::new(settings.clone()), budget, 0);
    control.restore_politeness(&store.politeness()?);
    control.handle(now, Event::Configured(vec![config]), &mut Vec::new());
    Ok(control.explain(source, now).with_notes(&store.notes(id)?))
}
