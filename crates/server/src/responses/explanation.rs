//! When and why a source is probed, and what is expected of it, as clients see it.

use std::time::Duration;

use dunlin_engine::capture::SuppressedPart;
use dunlin_engine::journal::reason_word;
use dunlin_engine::{ForecastSummary, Hold, Reason, SourceExplanation, SourceStatus};
use serde::Serialize;
use utoipa::ToSchema;

use super::source::SourceResponse;
use dunlin_engine::clock::rfc3339;

/// Everything there is to say about one source.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExplanationResponse {
    source: SourceResponse,
    /// `watched`, `in_flight`, `paused` or `unusable`.
    #[schema(value_type = String)]
    standing: &'static str,
    /// Why it is unusable.
    standing_reason: Option<String>,
    #[schema(format = DateTime)]
    last_probe: Option<String>,
    /// The last probe that failed; null if one has succeeded since.
    #[schema(format = DateTime)]
    last_failure: Option<String>,
    /// Not to be probed before this instant, after a failure.
    #[schema(format = DateTime)]
    not_before: Option<String>,
    /// When the next probe is expected at the earliest; null when unknown.
    #[schema(format = DateTime)]
    next_probe: Option<String>,
    /// How many others are due too, when it is due and waits for its turn.
    others_due: u64,
    /// When it is probed if all of those go first; null when it does not wait, or there is no budget.
    #[schema(format = DateTime)]
    next_probe_by: Option<String>,
    /// What keeps all sources from being probed: the store cannot be written, or nothing can be fetched.
    trouble: Option<String>,
    /// Why it will be probed: worth, spare, new, overdue, requested, interval or planned.
    #[schema(value_type = String)]
    reason: &'static str,
    /// The same for people.
    #[schema(value_type = String)]
    because: &'static str,
    /// What a probe is worth now; null for a source that was never seen, which takes turns with the most valuable ones.
    value: Option<f64>,
    /// What it would have to be worth.
    price: f64,
    /// What keeps the host from being asked.
    hold: Option<HoldResponse>,
    forecast: ForecastResponse,
    /// What was different lately and not reported, the latest first. `flicker: tell` reports everything.
    suppressed: Vec<SuppressedResponse>,
}

/// A part of a source that was different and was not reported.
#[derive(Debug, Serialize, ToSchema)]
struct SuppressedResponse {
    /// Why: `clock`, `relative_time`, `counter`, `code`, `pleasantry`, `formatting`, `moved`, `extra`, `scrolled_out`, `returned`,
    /// `volatile` or `volatile_elsewhere`.
    why: String,
    /// The same for people.
    because: String,
    /// What was there the last time, shortened.
    old: String,
    /// What came the last time, shortened.
    new: String,
    /// How many times.
    times: u32,
    /// When it was last suppressed.
    #[schema(format = DateTime)]
    last: String,
    /// How to hear of it.
    #[schema(value_type = String)]
    remedy: &'static str,
}

/// What its owner has said wins over what is taken for noise.
const REMEDY: &str = "edit the source: with flicker `tell` every difference is reported; with a selector or path for this part alone, \
                      so is whatever it says";

impl From<SuppressedPart> for SuppressedResponse {
    fn from(part: SuppressedPart) -> Self {
        let last = rfc3339(part.last());
        let SuppressedPart { why, because, old, new, times, .. } = part;
        Self { why, because, old, new, times, last, remedy: REMEDY }
    }
}

/// A host that is not asked at present.
#[derive(Debug, Serialize, ToSchema)]
struct HoldResponse {
    #[schema(format = DateTime)]
    until: String,
    reason: String,
}

/// What is expected of a source.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ForecastResponse {
    source: i64,
    /// Changes per hour, now.
    rate_per_hour: f64,
    /// The chance that it has changed since the last probe; null before the first.
    chance: Option<f64>,
    /// How many changes' worth of evidence there is.
    evidence: f64,
    /// By how much the rate may well be larger than its mean.
    hope: f64,
    /// Changes expected in each of the next hours.
    curve: Vec<ForecastHour>,
}

/// One of the hours to come.
#[derive(Debug, Serialize, ToSchema)]
struct ForecastHour {
    #[schema(format = DateTime)]
    from: String,
    #[schema(format = DateTime)]
    until: String,
    /// Changes expected in it.
    expected: f64,
}

impl From<SourceExplanation> for ExplanationResponse {
    fn from(explained: SourceExplanation) -> Self {
        let (standing, standing_reason) = match explained.status {
            SourceStatus::Watched => ("watched", None),
            SourceStatus::Probing => ("in_flight", None),
            SourceStatus::Paused => ("paused", None),
            SourceStatus::Unusable { reason } => ("unusable", Some(reason)),
        };
        Self {
            forecast: ForecastResponse::new(explained.source.id.0, &explained.forecast),
            source: explained.source.into(),
            standing,
            standing_reason,
            last_probe: explained.last_probe.map(rfc3339),
            last_failure: explained.last_failure.map(rfc3339),
            suppressed: explained.suppressed.into_iter().map(SuppressedResponse::from).collect(),
            not_before: explained.not_before.map(rfc3339),
            next_probe: explained.next_probe.map(rfc3339),
            others_due: explained.queue_position.map_or(0, |position| position.others),
            next_probe_by: explained.queue_position.and_then(|position| position.by).map(rfc3339),
            trouble: explained.trouble,
            reason: reason_word(explained.reason),
            because: sentence(explained.reason),
            value: explained.value,
            price: explained.price,
            hold: explained.hold.map(|Hold { until, reason }| HoldResponse { until: rfc3339(until), reason }),
        }
    }
}

impl ForecastResponse {
    pub(crate) fn new(source: i64, forecast: &ForecastSummary) -> Self {
        let curve = forecast.ahead.iter().map(|hour| ForecastHour {
            from: rfc3339(hour.from),
            until: rfc3339(hour.from.plus(Duration::from_hours(1))),
            expected: hour.expected,
        });
        Self {
            source,
            rate_per_hour: forecast.rate * 3_600.0,
            chance: forecast.chance,
            evidence: forecast.evidence,
            hope: forecast.hope,
            curve: curve.collect(),
        }
    }
}

const fn sentence(reason: Reason) -> &'static str {
    match reason {
        Reason::Worth => "what a probe is expected to bring is worth its price",
        Reason::Spare => "nothing was worth more, and the budget would have gone unspent",
        Reason::New => "it has never been seen",
        Reason::Overdue => "it has not been probed for as long as its settings allow",
        Reason::Requested => "a probe was requested",
        Reason::Interval => "it captures intervals that needs are waiting for",
        Reason::Planned => "the plan has a probe of it for this time, or is renewed then",
    }
}
