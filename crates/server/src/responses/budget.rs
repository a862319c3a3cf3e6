//! The budget as clients see and set it, and the decisions that spend it.

mod schema;

use dunlin_engine::journal::{ProbeFigures, finite_value};
use dunlin_engine::{BudgetReport, HostUsage, Pace};
use dunlin_store::Decision;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::failure::Failure;
use crate::unit::Unit;
use dunlin_engine::clock::rfc3339;

/// How the budget is used.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BudgetResponse {
    /// Probes per second over all sources.
    per_second: f64,
    /// The unit in which it was set; null when that is not known.
    unit: Option<Unit>,
    /// Probes per second of one host; null when only politeness limits them.
    host_per_second: Option<f64>,
    /// What a probe had to be worth when the last one was chosen.
    price: f64,
    /// Probes made.
    used: ProbeCountsResponse,
    /// Active probes.
    in_flight: u32,
    max_in_flight: u32,
    /// The hosts probed most in the last day.
    hosts: Vec<HostResponse>,
}

/// Probes made in the last minute, hour and day.
#[derive(Debug, Serialize, ToSchema)]
struct ProbeCountsResponse {
    minute: u64,
    hour: u64,
    day: u64,
}

/// One host's part.
#[derive(Debug, Serialize, ToSchema)]
struct HostResponse {
    host: String,
    sources: u32,
    /// Probes in the last hour and day.
    hour: u64,
    day: u64,
    /// Not to be probed before this instant.
    #[schema(format = DateTime)]
    held_until: Option<String>,
}

impl BudgetResponse {
    pub(crate) fn new(report: BudgetReport, unit: Option<Unit>) -> Self {
        Self {
            per_second: report.pace.per_second,
            unit,
            host_per_second: report.host_pace.map(|pace| pace.per_second),
            price: report.price,
            used: ProbeCountsResponse {
                minute: report.used.minute,
                hour: report.used.hour,
                day: report.used.day,
            },
            in_flight: report.in_flight,
            max_in_flight: report.max_in_flight,
            hosts: report.hosts.into_iter().map(HostResponse::from).collect(),
        }
    }
}

impl From<HostUsage> for HostResponse {
    fn from(host: HostUsage) -> Self {
        Self {
            host: host.scope,
            sources: host.sources,
            hour: host.hour,
            day: host.day,
            held_until: host.held_until.map(rfc3339),
        }
    }
}

/// A budget to be set: exactly one of the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "they are the names in the JSON")]
pub(crate) struct NewBudget {
    per_second: Option<f64>,
    per_minute: Option<f64>,
    per_hour: Option<f64>,
    per_day: Option<f64>,
}

impl NewBudget {
    /// The pace, and the unit in which it was given.
    pub(crate) fn pace(&self) -> Result<(Pace, Unit), Failure> {
        let given = [self.per_second, self.per_minute, self.per_hour, self.per_day];
        let mut given = given.into_iter().zip(Unit::ALL).filter_map(|(probes, unit)| Some((probes?, unit)));
        match (given.next(), given.next()) {
            (Some((probes, unit)), None) => {
                let per_second = probes / unit.seconds();
                // A figure that is too small to be divided is still none that was asked for.
                let per_second = if per_second == 0.0 { probes } else { per_second };
                Ok((Pace { per_second }, unit))
            }
            _ => Err(Failure::bad_value(
                "the budget must be given in one unit",
                "send one of per_second, per_minute, per_hour, per_day",
            )),
        }
    }
}

/// Why a probe was made.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DecisionResponse {
    id: i64,
    #[schema(format = DateTime)]
    at: String,
    source: i64,
    /// worth, spare, new, overdue, requested, interval or planned.
    reason: String,
    /// What the probe was worth; null for a first probe, which takes turns with the most valuable ones.
    value: Option<f64>,
    /// What it had to be worth.
    price: Option<f64>,
}

impl DecisionResponse {
    /// `None` for rows that are kept for replays and mean nothing to people.
    pub(crate) fn of(row: Decision) -> Option<Self> {
        let figures = ProbeFigures::read(&row.decision);
        Some(Self {
            id: row.id.0,
            at: rfc3339(row.decision.at),
            source: row.decision.source?.0,
            reason: row.decision.reason.into_owned(),
            value: figures.and_then(|figures| finite_value(figures.value)),
            price: figures.map(|figures| figures.price),
        })
    }
}
