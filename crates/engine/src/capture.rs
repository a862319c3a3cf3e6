//! The result of a probe: a function from what was remembered and fetched to what to store and what to learn. It fetches
//! nothing, decides no times, and leaves politeness and forecasts to [`crate::control`].
//!
//! The order: an answer without content is a failure; content that is the same byte for byte is no change; the first
//! content is the baseline of later probes, and no change is reported for it; other content is read and compared. An answer
//! that stands in for the source ends like a failure of its server, with another state.

mod detail;
mod failure;
mod reading;
mod stand_in;
mod suppressed;

pub use detail::{ChangeDetail, DetailPiece};
pub use failure::{Failure, Refusal};
pub(crate) use failure::{reading_took_too_long, status_in_words};
pub use reading::Previous;
pub(crate) use reading::{document_of, input_of, is_noteworthy};
pub(crate) use stand_in::{missing, unexpected};
pub use suppressed::{SuppressedPart, SuppressedParts};

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::{Fault, Time};
use dunlin_extract::flicker::{Suppressed, Template};
use dunlin_extract::{Extractor, Flicker};
use dunlin_net::{Fetched, RedactedUrl, Request, http_date, politeness};
use dunlin_sched::model::Evidence;
use dunlin_store::{Capture, ContentHash, Health, Outcome, ProbeId, SourceId};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::memory::{FetchState, ProbeNote};
use crate::queries::{News, SeenItem};
use crate::recipe::Target;
use crate::{Error, Settings};

/// A probe to make: one fetch, for all sources of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeTask {
    /// Its id.
    pub probe: ProbeId,
    /// The address, as control knows it. Parsed once and shared; as plain data it is its text.
    #[serde(with = "url_text")]
    pub url: Arc<Url>,
    /// The sources that it serves, at least one.
    pub sources: Vec<SourceTask>,
}

/// One source that a probe serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceTask {
    /// The source.
    pub source: SourceId,
    /// When it was last probed successfully.
    pub last_probe: Option<Time>,
    /// Whether what is on it now is wanted, new or not.
    pub wants_items: bool,
    /// Whether what is new on it is wanted, word by word.
    pub wants_news: bool,
}

/// A probe that is ready to be fetched, with what its answer will be compared with.
#[derive(Debug, Clone)]
pub struct PreparedProbe {
    /// Which probe.
    pub probe: ProbeId,
    /// What the last fetch of the resource left.
    pub fetch_state: FetchState,
    /// The sources that it serves, at least one.
    pub sources: Vec<PreparedSource>,
    /// Sources that cannot be served, and why.
    pub dropped: Vec<(SourceId, String)>,
}

/// One source of a prepared probe.
#[derive(Debug, Clone)]
pub struct PreparedSource {
    /// Which source.
    pub source: SourceId,
    /// Which probe.
    pub probe: ProbeId,
    /// Where it is and how to read it.
    pub target: Target,
    /// What the last probe left.
    pub note: ProbeNote,
    /// What is known about its flicker.
    pub flicker: Flicker,
    /// What other pages of its site have shown.
    pub template: Template,
    /// How soon a probe must follow another one to belong to a burst.
    pub close: Duration,
    /// Whether what is on it now is wanted, new or not.
    pub wants_items: bool,
    /// Whether what is new on it is wanted, word by word.
    pub wants_news: bool,
}

/// Probes within this time of each other form a burst, if the settings allow them that soon.
const CLOSE: Duration = Duration::from_secs(15);

impl PreparedSource {
    /// A source of a probe, with the stored note of the last probe and the stored flicker.
    pub fn new(
        probe: ProbeId,
        task: SourceTask,
        target: Target,
        mut note: ProbeNote,
        flicker: Flicker,
        settings: &Settings,
    ) -> Self {
        let close = CLOSE.max((settings.politeness.gap + settings.chronon) * 2);
        // Most probes leave no note. A burst after a change counts from the probe before the change, which is noted.
        if note.confirming.is_none() {
            note.last_probe = task.last_probe.or(note.last_probe);
        }
        let SourceTask { source, wants_items, wants_news, .. } = task;
        let template = Template::default();
        Self { source, probe, target, note, flicker, template, close, wants_items, wants_news }
    }
}

impl PreparedProbe {
    /// What to ask the server for. Content that every source has read already need not come again; without that, "not
    /// changed" would be an answer without content.
    pub fn request(&self) -> Result<Request, Error> {
        // The same for all of them: that is what makes them sources of one resource.
        let first = self.sources.first().ok_or(Error::Stopped)?;
        let request = first.target.request()?;
        let has_read_it =
            |source: &PreparedSource| source.note.has_baseline() && source.note.hash == self.fetch_state.hash;
        let all_have = self.sources.iter().all(has_read_it);
        Ok(if all_have { request.unless(self.fetch_state.validators.clone()) } else { request })
    }
}

/// The answer to a fetch, with what every source has to know about it.
#[derive(Debug)]
pub struct Answer {
    /// What came.
    pub result: Result<Fetched, dunlin_net::Error>,
    /// When it was complete.
    pub at: Time,
    /// The hash of its body, if it has one.
    hash: Option<[u8; 32]>,
}

impl Answer {
    /// Hashes the body, unless its hash is known.
    pub fn new(result: Result<Fetched, dunlin_net::Error>, at: Time, known_hash: Option<[u8; 32]>) -> Self {
        let body =
            result.as_ref().ok().filter(|fetched| fetched.fault().is_none() && !fetched.is_unchanged());
        let hash = body.map(|fetched| known_hash.unwrap_or_else(|| ContentHash::of(&fetched.body).0));
        Self { result, at, hash }
    }

    /// What the next fetch of the resource starts from.
    pub fn fetch_state(&self, before: &FetchState) -> FetchState {
        match &self.result {
            Ok(fetched) if fetched.fault().is_none() => before.after(fetched, self.hash),
            _ => before.clone(),
        }
    }
}

/// The result of a probe.
#[derive(Debug, Clone)]
pub struct ProbeResult {
    /// Which probe.
    pub probe: ProbeId,
    /// What it means for politeness towards the host.
    pub politeness_outcome: politeness::Outcome,
    /// Bytes of the body.
    pub n_bytes: u64,
    /// All fetched URLs, in order, where the resource redirects; empty otherwise.
    pub redirect_chain: Vec<Url>,
    /// What the next fetch starts from, if that is something else than before.
    pub fetch_state: Option<FetchState>,
    /// What became of each source.
    pub sources: Vec<SourceEnd>,
}

impl ProbeResult {
    /// The result of a fetch with this answer, for sources that came to this.
    pub fn of(prepared: &PreparedProbe, answer: &Answer, mut sources: Vec<SourceEnd>) -> Self {
        let fetched = answer.result.as_ref().ok();
        let fetch_state = answer.fetch_state(&prepared.fetch_state);
        let dropped = prepared.dropped.iter().cloned();
        sources.extend(dropped.map(|(source, reason)| SourceEnd::Dropped { source, reason }));
        Self {
            probe: prepared.probe,
            politeness_outcome: politeness::Outcome::of(&answer.result),
            n_bytes: fetched.map_or(0, |fetched| fetched.sent_bytes),
            redirect_chain: fetched.map_or_else(Vec::new, redirect_chain),
            fetch_state: (fetch_state != prepared.fetch_state).then_some(fetch_state),
            sources,
        }
    }
}

/// What became of one source of a probe.
#[derive(Debug, Clone)]
pub enum SourceEnd {
    /// It has a result.
    Result(Box<SourceResult>),
    /// Reading it has panicked.
    Crashed {
        /// Which source.
        source: SourceId,
        /// The panic message.
        reason: String,
    },
    /// It has no result that can be stored: the store could not be read, or the source is gone.
    Dropped {
        /// Which source.
        source: SourceId,
        /// Why.
        reason: String,
    },
}

impl SourceEnd {
    /// Which source.
    pub const fn source(&self) -> SourceId {
        match self {
            Self::Result(result) => result.capture.source,
            Self::Crashed { source, .. } | Self::Dropped { source, .. } => *source,
        }
    }
}

impl From<SourceResult> for SourceEnd {
    fn from(result: SourceResult) -> Self {
        Self::Result(Box::new(result))
    }
}

/// The result of a probe for one source.
#[derive(Debug, Clone)]
pub struct SourceResult {
    /// What to store, without politeness, forecast, state and the probe's note: control adds those.
    pub capture: Capture,
    /// What the probe showed.
    pub outcome: ProbeOutcome,
    /// What to leave for the next probe.
    pub note: ProbeNote,
    /// Whether the stored note is already the same, except for the time.
    pub is_noted: bool,
    /// Differences that are not reported, and why.
    pub suppressed: Vec<Suppressed>,
    /// The health of the source, and the reason, which may be empty. `None` leaves its state.
    pub health: Option<(Health, String)>,
    /// What is on the source now, where that is wanted.
    pub seen: Vec<SeenItem>,
    /// What is new on it, where that is wanted.
    pub news: Option<Box<News>>,
}

/// What a probe showed.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeOutcome {
    /// The source was observed.
    Observed {
        /// What a forecast can learn from it.
        evidence: Evidence,
        /// Whether a second probe soon would show what flickers.
        follow_up: FollowUp,
    },
    /// It was not.
    Failed(Failure),
}

/// Whether a second probe should follow soon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowUp {
    /// As soon as the host allows.
    Soon,
    /// When it is worth it.
    None,
}

/// What to do with an answer.
#[derive(Debug)]
pub enum Step<'a> {
    /// All is known already.
    Done(Box<SourceResult>),
    /// Its content is other than the last one: give it to [`read`], with what was there before.
    Read(&'a Fetched),
}

/// Judges an answer as far as possible without reading it.
pub fn first_step<'a>(prepared: &PreparedSource, answer: &'a Answer) -> Step<'a> {
    let fetched = match &answer.result {
        Err(error) => return Step::Done(Box::new(failure::of_error(prepared, error, answer.at))),
        Ok(fetched) => fetched,
    };
    if let Some(fault) = fetched.fault() {
        return Step::Done(Box::new(failure::of_status(prepared, fetched, fault, answer.at)));
    }
    if fetched.is_unchanged() || answer.hash == prepared.note.hash {
        return Step::Done(Box::new(unchanged(prepared, fetched, answer.at)));
    }
    Step::Read(fetched)
}

/// Reads content that is not the last one, and compares it with what was there.
pub fn read(
    prepared: PreparedSource,
    answer: &Answer,
    fetched: &Fetched,
    previous: &Previous,
    extractor: &Extractor,
) -> SourceResult {
    reading::read(prepared, answer, fetched, previous, extractor)
}

/// A failure that has nothing to do with an answer: the pipeline itself gave up.
pub fn given_up(prepared: &PreparedProbe, failure: &Failure, at: Time) -> ProbeResult {
    let failed = |source: &PreparedSource| failure::failed(source, failure.clone(), at).into();
    ProbeResult {
        probe: prepared.probe,
        politeness_outcome: politeness::Outcome::Abandoned,
        n_bytes: 0,
        redirect_chain: Vec::new(),
        fetch_state: None,
        sources: prepared.sources.iter().map(failed).collect(),
    }
}

/// The recipe of a source cannot be used.
pub fn unusable(prepared: &PreparedSource, reason: String, at: Time) -> SourceResult {
    failure::failed(prepared, Failure::new(Fault::User, reason), at)
}

/// A reading that was abandoned because it took longer than `within`.
pub fn reading_timed_out(prepared: &PreparedSource, within: Duration, at: Time) -> SourceResult {
    failure::of_reading(prepared, within, at)
}

/// The health that follows from how the content was read goes on with the content.
fn unchanged(prepared: &PreparedSource, fetched: &Fetched, at: Time) -> SourceResult {
    let mut note = ProbeNote { confirming: None, ..note_after(&prepared.note, prepared.note.last_probe) };
    let is_noted = note == prepared.note;
    note.last_probe = Some(at);
    let health = health_of_reading(note.needs_attention, fetched, &note.remark);
    SourceResult {
        capture: Capture::bare(prepared.source, prepared.probe, at, Outcome::Unchanged),
        outcome: ProbeOutcome::Observed { evidence: Evidence::Unchanged, follow_up: FollowUp::None },
        note,
        is_noted,
        suppressed: Vec::new(),
        health: Some(health),
        seen: Vec::new(),
        news: None,
    }
}

/// The health of a source whose content could be fetched, and the reason: the page has moved, or could not be read as it
/// should.
fn health_of_reading(needs_attention: bool, fetched: &Fetched, remark: &str) -> (Health, String) {
    // Fetched, and yet not what its owner meant.
    let health = if needs_attention { Health::Attention } else { Health::Well };
    (health, moved(fetched).unwrap_or_else(|| remark.to_owned()))
}

fn redirect_chain(fetched: &Fetched) -> Vec<Url> {
    if fetched.hops.is_empty() {
        return Vec::new();
    }
    fetched.hops.iter().map(|hop| hop.from.clone()).chain([Url::clone(&fetched.final_url)]).collect()
}

/// The note of a successful probe, with the hash of the previous content.
fn note_after(before: &ProbeNote, last_probe: Option<Time>) -> ProbeNote {
    ProbeNote { last_probe, failures: 0, not_before: None, n_held: 0, held_since: None, ..before.clone() }
}

/// The new address of the source, if every redirect to it was permanent.
pub(crate) fn moved(fetched: &Fetched) -> Option<String> {
    let is_for_good = |status: u16| matches!(status, 301 | 308);
    let hops = &fetched.hops;
    let has_moved = !hops.is_empty() && hops.iter().all(|hop| is_for_good(hop.status.as_u16()));
    has_moved
        .then(|| format!("moved permanently to {} (edit its address)", RedactedUrl::of(&fetched.final_url)))
}

/// When the server says the page was last changed.
fn last_modified(fetched: &Fetched) -> Option<Time> {
    http_date::parse(fetched.validators.last_modified.as_deref()?)
}

/// A URL as its text.
mod url_text {
    use std::sync::Arc;

    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};
    use url::Url;

    pub(super) fn serialize<S: Serializer>(url: &Url, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(url.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Url>, D::Error> {
        let text = String::deserialize(deserializer)?;
        Url::parse(&text).map(Arc::new).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_success_ends_rows_of_failures_and_of_stand_ins_and_keeps_the_rest() {
        let at = Time::from_seconds;
        let before = ProbeNote {
            spec: 7,
            hash: Some([1; 32]),
            last_probe: Some(at(10)),
            n_reported: 5,
            failures: 2,
            not_before: Some(at(50)),
            n_held: 3,
            held_since: Some(at(20)),
            ..ProbeNote::default()
        };
        let after = ProbeNote {
            last_probe: Some(at(30)),
            failures: 0,
            not_before: None,
            n_held: 0,
            held_since: None,
            ..before.clone()
        };
        assert_eq!(note_after(&before, Some(at(30))), after);
    }
}
