//! What a query would have captured of what is stored: its instances begin at their times in the past, and each part is captured
//! as soon as its interval begins, from the version that was the newest then. So it says what there was to capture with
//! probes to spare, and not what the budget would have allowed. Installs nothing, and fetches nothing.

mod history;
mod instances;
mod words;

use dunlin_core::Time;
use dunlin_query::Body;
use dunlin_query::plan::QueryPlan;
use dunlin_store::{SourceId, Store, VersionId};

use super::text;
use crate::{Error, Settings};
use history::History;

/// The most results, and misses, that are kept; the others are counted.
const MOST_SHOWN: usize = 100;

/// What a query would have captured.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rehearsal {
    /// The span of stored history that was looked at; none if nothing is stored of the sources.
    pub span: Option<(Time, Time)>,
    /// Parts of whose sources nothing is stored.
    pub unknown: Vec<String>,
    /// How many instances began.
    pub n_instances: u64,
    /// How many results there would have been.
    pub n_results: u64,
    /// How many were captured, but not told: their WHERE did not hold, or none of their WHENs, or the same story was told before.
    pub n_silent: u64,
    /// How many could not have been captured.
    pub n_missed: u64,
    /// The first results.
    pub results: Vec<RehearsedResult>,
    /// The first misses.
    pub misses: Vec<RehearsedMiss>,
    /// Whether there was more history than is looked at.
    pub is_cut: bool,
}

/// A result that there would have been.
#[derive(Debug, Clone, PartialEq)]
pub struct RehearsedResult {
    /// When its last part would have been captured.
    pub at: Time,
    /// Each part with its name, its source, its version and its items.
    pub parts: Vec<(String, SourceId, Option<VersionId>, serde_json::Value)>,
}

/// An instance that could not have been captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RehearsedMiss {
    /// When it would have begun.
    pub began: Time,
    /// The part that was missed first.
    pub name: String,
}

/// What a query would have captured of what is stored.
pub fn rehearse(text: &str, store: &dyn Store, settings: &Settings, now: Time) -> Result<Rehearsal, Error> {
    let query = text::parsed(text, store, settings)?;
    if let Body::Watch(watches) = &query.body {
        return words::rehearse(watches, query.filter.as_ref(), store, settings, now);
    }
    let mut rehearsal = Rehearsal::default();
    let mut histories = Vec::new();
    // FOR would end it before all was looked at; and what matters is what is stored.
    let Some(plan) = QueryPlan::new(&query, now) else { return Ok(rehearsal) };
    for (select, source) in text::sources_of(&query, store, now)?.into_iter().enumerate() {
        let mut history = History::of(source, store, settings)?;
        if instances::waits(&plan, select) {
            history.find_changes(store)?;
        }
        rehearsal.is_cut |= history.is_cut;
        histories.push(history);
    }
    // What is there now lasts until now.
    let Some(from) = histories.iter().filter_map(History::first).min() else { return Ok(rehearsal) };
    rehearsal.span = Some((from, now));
    let known = plan.selects().iter().zip(&histories);
    rehearsal.unknown =
        known.filter(|(_, own)| own.versions.is_empty()).map(|(select, _)| select.name.clone()).collect();
    instances::rehearse(plan, histories, store, (from, now), rehearsal)
}
