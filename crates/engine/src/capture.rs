//! The result of a probe: a function from what was remembered and fetched to what to store and what to learn. It fetches
//! nothing, decides no times, and leaves politeness and forecasts to [`crate::control`].
//!
//! The order: an answer without content is a failure; content that is the same byte for byte is no change; the first
//! content is the baseline of later probes, and no change is reported for it; other content is read and compared.

mod detail;
mod failure;
mod reading;

pub use detail::{ChangeDetail, DetailPiece};
pub use failure::{Failure, Refusal};
pub use reading::Previous;

use std::sync::Arc;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_extract::{Extractor, Flicker};
use dunlin_net::{Fetched, Request, http_date, politeness};
use dunlin_sched::model::Seen;
use dunlin_store::{Capture, ContentHash, Health, Outcome, ProbeId, SourceId};
use url::Url;

use crate::memory::{ProbeNote, flicker_note};
use crate::recipe::Target;
use crate::{Error, Settings};

/// A probe to make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeTask {
    /// Its id.
    pub probe: ProbeId,
    /// The source.
    pub source: SourceId,
    /// The source's address, as control knows it.
    pub url: Arc<Url>,
    /// When it was last probed successfully.
    pub last_probe: Option<Time>,
}

/// A probe that is ready to be fetched, with what its result will be compared with.
#[derive(Debug, Clone)]
pub struct PreparedProbe {
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
    /// How soon a probe must follow another one to belong to a burst.
    pub close: Duration,
}

/// Probes within this time of each other form a burst, if the settings allow them that soon.
const CLOSE: Duration = Duration::from_secs(15);

impl PreparedProbe {
    /// A probe of a source, with the stored note of the last probe and the stored flicker.
    pub fn new(
        task: &ProbeTask,
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
        Self { source: task.source, probe: task.probe, target, note, flicker, close }
    }

    /// What to ask the server for.
    pub fn request(&self) -> Result<Request, Error> {
        let request = self.target.request()?;
        // Without a baseline, "not changed" would be an answer without content.
        let is_first = !self.note.has_baseline();
        Ok(if is_first { request } else { request.unless(self.note.validators.clone()) })
    }
}

/// The result of a probe.
#[derive(Debug, Clone)]
pub struct ProbeResult {
    /// What to store, without politeness, forecast, state and the probe's note: control adds those.
    pub capture: Capture,
    /// What it means for politeness towards the host.
    pub politeness_outcome: politeness::Outcome,
    /// What the probe showed.
    pub outcome: ProbeOutcome,
    /// What to leave for the next probe.
    pub note: ProbeNote,
    /// Whether the stored note is already the same, except for the time.
    pub is_noted: bool,
    /// The health of the source, and the reason; without one, an earlier reason about reading still holds. `None` leaves its
    /// state.
    pub health: Option<(Health, Option<String>)>,
    /// Bytes of the body.
    pub n_bytes: u64,
    /// All fetched URLs, in order, where the source redirects; empty otherwise.
    pub redirect_chain: Vec<Url>,
}

/// What a probe showed.
#[derive(Debug, Clone, PartialEq)]
pub enum ProbeOutcome {
    /// The source was observed.
    Observed {
        /// What a forecast can learn from it.
        seen: Seen,
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
pub enum Step<'f> {
    /// All is known already.
    Done(Box<ProbeResult>),
    /// Its content is other than the last one: give it to [`read`], with what was there before.
    Read(&'f Fetched),
}

/// What is known about a body before it is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// It is the last one again.
    Last,
    /// Nothing.
    Any,
}

/// Judges an answer that came at `at` as far as possible without reading it.
pub fn first_step<'f>(
    prepared: &PreparedProbe,
    answer: &'f Result<Fetched, dunlin_net::Error>,
    body: Body,
    at: Time,
) -> Step<'f> {
    let politeness_outcome = politeness::Outcome::of(answer);
    let fetched = match answer {
        Err(error) => {
            return Step::Done(Box::new(failure::of_error(prepared, error, politeness_outcome, at)));
        }
        Ok(fetched) => fetched,
    };
    if let Some(fault) = fetched.fault() {
        return Step::Done(Box::new(failure::of_status(prepared, fetched, fault, politeness_outcome, at)));
    }
    let is_same = || Some(ContentHash::of(&fetched.body).0) == prepared.note.hash;
    if fetched.is_unchanged() || body == Body::Last || is_same() {
        return Step::Done(Box::new(unchanged(prepared, fetched, politeness_outcome, at)));
    }
    Step::Read(fetched)
}

/// Reads content that is not the last one, and compares it with what was there.
pub fn read(
    prepared: PreparedProbe,
    fetched: &Fetched,
    previous: &Previous,
    at: Time,
    extractor: &Extractor,
) -> ProbeResult {
    reading::read(prepared, fetched, previous, at, extractor)
}

/// A failure that has nothing to do with an answer: the pipeline itself gave up.
pub fn given_up(prepared: &PreparedProbe, failure: Failure, at: Time) -> ProbeResult {
    failure::failed(prepared, failure, politeness::Outcome::Abandoned, at)
}

/// A reading that was abandoned because it took longer than `within`.
pub fn reading_timed_out(
    prepared: &PreparedProbe,
    answer: &Result<Fetched, dunlin_net::Error>,
    within: Duration,
    at: Time,
) -> ProbeResult {
    failure::of_reading(prepared, answer, within, at)
}

fn unchanged(
    prepared: &PreparedProbe,
    fetched: &Fetched,
    politeness_outcome: politeness::Outcome,
    at: Time,
) -> ProbeResult {
    let mut note =
        ProbeNote { confirming: None, ..note_after(&prepared.note, prepared.note.last_probe, fetched) };
    let is_noted = note == prepared.note;
    note.last_probe = Some(at);
    let mut capture = Capture::bare(prepared.source, prepared.probe, at, Outcome::Unchanged);
    if prepared.flicker.is_learned() {
        capture.notes.extend(flicker_note(&prepared.flicker.clone().stayed_the_same()));
    }
    ProbeResult {
        capture,
        politeness_outcome,
        outcome: ProbeOutcome::Observed { seen: Seen::Unchanged, follow_up: FollowUp::None },
        note,
        is_noted,
        health: Some((Health::Well, moved(fetched))),
        n_bytes: fetched.sent_bytes,
        redirect_chain: redirect_chain(fetched),
    }
}

fn redirect_chain(fetched: &Fetched) -> Vec<Url> {
    if fetched.hops.is_empty() {
        return Vec::new();
    }
    fetched.hops.iter().map(|hop| hop.from.clone()).chain([Url::clone(&fetched.final_url)]).collect()
}

/// The note of a successful probe, with the hash of the previous content. A 304 may omit validators that are still valid.
fn note_after(before: &ProbeNote, last_probe: Option<Time>, fetched: &Fetched) -> ProbeNote {
    let mut note = ProbeNote { last_probe, failures: 0, not_before: None, ..before.clone() };
    if fetched.is_unchanged() {
        let (etag, last_modified) = (&fetched.validators.etag, &fetched.validators.last_modified);
        note.validators.etag = etag.clone().or(note.validators.etag);
        note.validators.last_modified = last_modified.clone().or(note.validators.last_modified);
    } else {
        note.validators = fetched.validators.clone();
    }
    note
}

/// The new address of the source, if every redirect to it was permanent.
fn moved(fetched: &Fetched) -> Option<String> {
    let is_for_good = |status: u16| matches!(status, 301 | 308);
    let hops = &fetched.hops;
    let has_moved = !hops.is_empty() && hops.iter().all(|hop| is_for_good(hop.status.as_u16()));
    has_moved
        .then(|| format!("{MOVED} {} (edit its address)", dunlin_net::RedactedUrl::of(&fetched.final_url)))
}

const MOVED: &str = "moved permanently to";

/// Whether a reason is about a redirect, not about how the page could be read.
pub(crate) fn is_about_redirect(reason: &str) -> bool {
    reason.starts_with(MOVED)
}

/// When the server says the page was last changed.
fn last_modified(fetched: &Fetched) -> Option<Time> {
    http_date::parse(fetched.validators.last_modified.as_deref()?)
}
