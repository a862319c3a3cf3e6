//! What a query would have captured of what is stored, as clients see it.

use std::collections::BTreeMap;

use dunlin_engine::clock::rfc3339;
use dunlin_engine::queries::{Rehearsal, RehearsedMiss, RehearsedResult};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::query::ResultItem;

/// What a query would have captured, with probes to spare.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct RehearsalResponse {
    /// From when on something is stored of its sources; null if nothing is.
    #[schema(format = DateTime)]
    from: Option<String>,
    /// Until when.
    #[schema(format = DateTime)]
    until: Option<String>,
    /// SELECTs of whose sources nothing is stored.
    unknown: Vec<String>,
    /// How many instances began; 0 for a query with WATCH, which has none.
    instances: u64,
    /// How many results there would have been.
    complete: u64,
    /// How many were captured and not told: their WHERE did not hold, or none of their WHENs, or the same story was told before.
    not_told: u64,
    /// How many could not have been captured.
    missed: u64,
    /// The first results, up to 100.
    results: Vec<RehearsedResultResponse>,
    /// The first misses, up to 100.
    misses: Vec<RehearsedMissResponse>,
    /// Whether there was more history than is looked at.
    is_cut: bool,
}

/// A result that there would have been.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct RehearsedResultResponse {
    /// When its last part would have been captured.
    #[schema(format = DateTime)]
    captured_at: String,
    /// By the names that the query gives them.
    parts: BTreeMap<String, RehearsedPartResponse>,
}

/// A part of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct RehearsedPartResponse {
    source: i64,
    /// The version that it is from.
    version: Option<i64>,
    /// As in a result.
    #[schema(value_type = Vec<ResultItem>)]
    items: Value,
}

/// An instance that could not have been captured.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct RehearsedMissResponse {
    /// When it would have begun.
    #[schema(format = DateTime)]
    began_at: String,
    /// The part that was missed first.
    name: String,
}

impl From<Rehearsal> for RehearsalResponse {
    fn from(rehearsal: Rehearsal) -> Self {
        let (from, until) = rehearsal.span.unzip();
        Self {
            from: from.map(rfc3339),
            until: until.map(rfc3339),
            unknown: rehearsal.unknown,
            instances: rehearsal.n_instances,
            complete: rehearsal.n_results,
            not_told: rehearsal.n_silent,
            missed: rehearsal.n_missed,
            results: rehearsal.results.into_iter().map(RehearsedResultResponse::from).collect(),
            misses: rehearsal.misses.into_iter().map(RehearsedMissResponse::from).collect(),
            is_cut: rehearsal.is_cut,
        }
    }
}

impl From<RehearsedResult> for RehearsedResultResponse {
    fn from(result: RehearsedResult) -> Self {
        let parts = result.parts.into_iter().map(|(name, source, version, items)| {
            let version = version.map(|version| version.0);
            (name, RehearsedPartResponse { source: source.0, version, items })
        });
        Self { captured_at: rfc3339(result.at), parts: parts.collect() }
    }
}

impl From<RehearsedMiss> for RehearsedMissResponse {
    fn from(miss: RehearsedMiss) -> Self {
        Self { began_at: rfc3339(miss.began), name: miss.name }
    }
}
