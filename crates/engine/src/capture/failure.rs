//! A probe that gave no content: whose fault that was, what to tell people, and how it is to be tried again.

use std::time::Duration;

use dunlin_core::{Fault, Time};
use dunlin_net::{Fetched, politeness};
use dunlin_store::{Capture, Health, Outcome};

use super::{Finding, Job, Taken};

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
    /// Not before someone acts: the page is gone, forbidden, or somewhere nothing is fetched from.
    Lasting,
}

/// Reasons are shown in lists; a longer one says no more.
const LONGEST_REASON: usize = 500;

impl Failure {
    /// Whether it goes away by itself follows from whose fault it is.
    pub fn new(fault: Fault, reason: impl Into<String>) -> Self {
        let refusal = if fault == Fault::User { Refusal::Lasting } else { Refusal::Passing };
        let mut reason: String = reason.into();
        if let Some((cut, _)) = reason.char_indices().nth(LONGEST_REASON) {
            reason.truncate(cut);
        }
        Self { fault, refusal, reason }
    }

    /// How a source fares after it. Our own failures say nothing about the source.
    pub fn health(&self) -> Option<(Health, Option<String>)> {
        match (self.fault, self.refusal) {
            (Fault::Ours, _) => None,
            (_, Refusal::Lasting) => Some((Health::Refused, Some(self.reason.clone()))),
            (_, Refusal::Passing) => Some((Health::Failing, Some(self.reason.clone()))),
        }
    }
}

pub(super) fn of_error(
    job: &Job,
    error: &dunlin_net::Error,
    courtesy: politeness::Outcome,
    at: Time,
) -> Taken {
    let mut failure = Failure::new(error.fault(), error.to_string());
    if matches!(error, dunlin_net::Error::Refused { .. }) {
        // Also where a site leads to it: nothing will be fetched from there, however often the site is asked.
        failure.refusal = Refusal::Lasting;
    }
    taken(job, failure, courtesy, at)
}

pub(super) fn of_status(
    job: &Job,
    fetched: &Fetched,
    fault: Fault,
    courtesy: politeness::Outcome,
    at: Time,
) -> Taken {
    let what = match fetched.status.as_u16() {
        401 | 403 => "the server refuses access",
        404 => "the page is not there",
        410 => "the page is gone for good",
        429 => "the server asks for fewer requests",
        500..=599 => "the server fails",
        300..=399 => "the server redirects to nowhere",
        _ => "the server answers with an error",
    };
    let mut taken = taken(job, Failure::new(fault, format!("{what} ({})", fetched.status)), courtesy, at);
    taken.n_bytes = fetched.sent_bytes;
    taken.way = super::way(fetched);
    taken
}

/// The page is too much for its recipe, or the recipe for its page. The host has done nothing wrong; who watches it can help, and
/// until then it is read ever less often.
pub(super) fn of_reading(
    job: &Job,
    answer: &Result<Fetched, dunlin_net::Error>,
    within: Duration,
    at: Time,
) -> Taken {
    let shown = job.target.recipe.shown();
    let reason = format!(
        "reading it {shown} took longer than {within:?} (try a simpler selector, path or pattern, or watch less of it; \
         limits.reading allows more time)"
    );
    let courtesy = politeness::Outcome::of(answer);
    let mut taken = taken(job, Failure::new(Fault::User, reason), courtesy, at);
    if let Ok(fetched) = answer {
        taken.n_bytes = fetched.sent_bytes;
        taken.way = super::way(fetched);
    }
    taken
}

pub(super) fn taken(job: &Job, failure: Failure, courtesy: politeness::Outcome, at: Time) -> Taken {
    let outcome = Outcome::Failed { fault: failure.fault, reason: failure.reason.clone() };
    Taken {
        capture: Capture::bare(job.source, job.probe, at, outcome),
        courtesy,
        health: failure.health(),
        look: job.look.clone(),
        is_noted: false,
        finding: Finding::Failed(failure),
        n_bytes: 0,
        way: Vec::new(),
    }
}
