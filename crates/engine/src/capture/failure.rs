//! A probe without content: whose fault it was, what to tell people, and how to retry.

use std::time::Duration;

use dunlin_core::{Fault, Time};
use dunlin_net::Fetched;
use dunlin_store::{Capture, Health, Outcome};

use super::{PreparedSource, ProbeOutcome, SourceResult};
use crate::recipe::Target;

/// Why a probe gave nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// By whose fault.
    pub fault: Fault,
    /// Whether someone has to act before it works.
    pub refusal: Refusal,
    /// Why, for people.
    pub reason: String,
}

/// Whether a failure goes away by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It may well.
    Passing,
    /// It is no failure of the server's: something else is shown in place of the source, and most of that is over soon.
    Replaced,
    /// Not before a user acts: the page is gone, forbidden, or at an address that is never fetched from.
    Lasting,
}

/// Reasons are shown in lists; a longer one says no more.
const LONGEST_REASON: usize = 500;

/// A reason that is no longer than that.
pub(super) fn shortened(mut reason: String) -> String {
    if let Some((cut, _)) = reason.char_indices().nth(LONGEST_REASON) {
        reason.truncate(cut);
    }
    reason
}

impl Failure {
    /// Whether it goes away by itself follows from whose fault it is.
    pub fn new(fault: Fault, reason: impl Into<String>) -> Self {
        let refusal = if fault == Fault::User { Refusal::Lasting } else { Refusal::Passing };
        Self { fault, refusal, reason: shortened(reason.into()) }
    }

    /// The health of a source after it. Our own failures say nothing about the source.
    pub fn health(&self) -> Option<(Health, String)> {
        match (self.fault, self.refusal) {
            (Fault::Ours, _) => None,
            (_, Refusal::Lasting) => Some((Health::Refused, self.reason.clone())),
            (_, Refusal::Replaced) => Some((Health::Attention, self.reason.clone())),
            (_, Refusal::Passing) => Some((Health::Failing, self.reason.clone())),
        }
    }
}

pub(super) fn of_error(prepared: &PreparedSource, error: &dunlin_net::Error, at: Time) -> SourceResult {
    let mut failure = Failure::new(error.fault(), error.to_string());
    if matches!(error, dunlin_net::Error::Refused { .. }) {
        // Also for a redirect target: it will not be fetched, however often the site redirects to it.
        failure.refusal = Refusal::Lasting;
    }
    failed(prepared, failure, at)
}

pub(super) fn of_status(
    prepared: &PreparedSource,
    fetched: &Fetched,
    fault: Fault,
    at: Time,
) -> SourceResult {
    failed(prepared, Failure::new(fault, status_in_words(fetched)), at)
}

/// What an answer without content means.
pub(crate) fn status_in_words(fetched: &Fetched) -> String {
    let what = match fetched.status.as_u16() {
        401 | 403 => "the server refuses access",
        404 => "the page is not there",
        410 => "the page is gone for good",
        429 => "the server asks for fewer requests",
        500..=599 => "the server fails",
        300..=399 => "the server redirects to nowhere",
        _ => "the server answers with an error",
    };
    format!("{what} ({})", fetched.status)
}

/// The page is too much for its recipe, or the recipe for its page. The host has done nothing wrong; the user can help,
/// and until then it is read less and less often.
pub(super) fn of_reading(prepared: &PreparedSource, within: Duration, at: Time) -> SourceResult {
    failed(prepared, Failure::new(Fault::User, reading_took_too_long(&prepared.target, within)), at)
}

pub(crate) fn reading_took_too_long(target: &Target, within: Duration) -> String {
    let how = target.recipe.describe();
    format!(
        "reading it {how} took longer than {within:?} (try a simpler selector, path or pattern, or watch less of it; \
         limits.reading allows more time)"
    )
}

pub(super) fn failed(prepared: &PreparedSource, failure: Failure, at: Time) -> SourceResult {
    let outcome = Outcome::Failed { fault: failure.fault, reason: failure.reason.clone() };
    SourceResult {
        capture: Capture::bare(prepared.source, prepared.probe, at, outcome),
        health: failure.health(),
        note: prepared.note.clone(),
        suppressed: Vec::new(),
        is_noted: false,
        outcome: ProbeOutcome::Failed(failure),
        seen: Vec::new(),
        news: None,
    }
}
