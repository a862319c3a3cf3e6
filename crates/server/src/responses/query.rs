//! Continuous queries as clients see them: what is installed, what was captured, what was missed, and how each is doing.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use dunlin_core::Time;
use dunlin_engine::clock::rfc3339;
use dunlin_engine::queries::{MissedPart, outline};
use dunlin_engine::{OpenPart, QueryReport, ReadPart, RelevantSource};
use dunlin_store::{NewPart, Sighting, SourceId, Store, StoredMiss, StoredQuery, StoredResult};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

/// An installed query.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct QueryResponse {
    id: i64,
    /// What its text calls it.
    name: String,
    text: String,
    /// running, paused, ended, or unreadable: written in a language that this release does not know.
    #[schema(value_type = String)]
    state: &'static str,
    /// When it was installed, or last edited.
    #[schema(format = DateTime)]
    installed_at: String,
    /// From when on no instance begins; null for never.
    #[schema(format = DateTime)]
    ends_at: Option<String>,
    /// What a result is worth.
    weight: Option<f64>,
    /// The sources that it reads, each once.
    sources: Vec<i64>,
    /// How many results are stored.
    results: u64,
    /// How many missed instances are stored.
    missed: u64,
}

impl QueryResponse {
    /// A query as it is at `now`.
    pub(crate) fn of(query: StoredQuery, now: Time) -> Self {
        let outline = outline(&query);
        let ends = outline.and_then(|outline| outline.end);
        let state = match outline {
            _ if query.paused.is_some() => "paused",
            Some(_) if ends.is_some_and(|end| end <= now) => "ended",
            Some(_) => "running",
            None => "unreadable",
        };
        let mut sources: Vec<i64> = query.sources.iter().map(|source| source.0).collect();
        sources.sort_unstable();
        sources.dedup();
        Self {
            id: query.id.0,
            name: query.name,
            text: query.text,
            state,
            installed_at: rfc3339(query.installed),
            ends_at: ends.map(rfc3339),
            weight: outline.map(|outline| outline.weight),
            sources,
            results: query.n_results,
            missed: query.n_missed,
        }
    }
}

/// What a query captured, together.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ResultResponse {
    /// Its position among the results of all queries.
    pub(crate) cursor: i64,
    query: i64,
    /// When its last part was captured.
    #[schema(format = DateTime)]
    captured_at: String,
    /// By the names that the query gives them.
    parts: BTreeMap<String, PartResponse>,
    /// Where else the same was seen, in the order of time; for a query with WATCH.
    also_at: Vec<SightingResponse>,
}

/// Where else a result was seen.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct SightingResponse {
    source: i64,
    /// Its address; null if the source is gone.
    url: Option<String>,
    /// When it was first seen there.
    #[schema(format = DateTime)]
    seen_at: String,
    /// The version that it is in; null if that is not kept.
    version: Option<i64>,
    /// What it is called there.
    title: String,
    /// The address that it points to there.
    link: Option<String>,
}

/// A part of a result.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct PartResponse {
    source: i64,
    /// Its address; null if the source is gone.
    url: Option<String>,
    /// The version that it is from; null if that is not kept.
    version: Option<i64>,
    /// When it was captured.
    #[schema(format = DateTime)]
    captured_at: String,
    /// The items, or the values. Of a trigger, and of a part that waits for changes, the new items only.
    #[schema(value_type = Vec<ResultItem>)]
    items: Value,
}

/// An item, or a value, of a part. It is stored as it is sent; this describes it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct ResultItem {
    /// Of an item.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// Of an item.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// False of an item that was there when the part was captured before.
    #[serde(skip_serializing_if = "Option::is_none")]
    new: Option<bool>,
    /// The address that an item points to.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
    /// Of an item that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    author: Option<String>,
    /// When the publisher of an item says that it appeared.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<String>,
    /// The text of a value.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
    /// The number that a value is, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<f64>,
}

impl ResultResponse {
    /// Results with the addresses of their sources.
    pub(crate) fn all(
        store: &dyn Store,
        results: Vec<StoredResult>,
    ) -> Result<Vec<Self>, dunlin_store::Error> {
        let mut urls: BTreeMap<SourceId, Option<String>> = BTreeMap::new();
        let of_parts = results.iter().flat_map(|stored| &stored.result.parts).map(|part| part.source);
        let of_sightings = results.iter().flat_map(|stored| &stored.also_at).map(|sighting| sighting.source);
        for source in of_parts.chain(of_sightings) {
            if let Entry::Vacant(unread) = urls.entry(source) {
                unread.insert(store.source(source)?.map(|source| source.spec.url));
            }
        }
        let sighting = |sighting: Sighting| SightingResponse {
            source: sighting.source.0,
            url: urls.get(&sighting.source).cloned().flatten(),
            seen_at: rfc3339(sighting.at),
            version: sighting.version.map(|version| version.0),
            title: sighting.title,
            link: sighting.link,
        };
        let part = |part: NewPart| {
            let response = PartResponse {
                source: part.source.0,
                url: urls.get(&part.source).cloned().flatten(),
                version: part.version.map(|version| version.0),
                captured_at: rfc3339(part.at),
                items: serde_json::from_str(&part.items).unwrap_or_default(),
            };
            (part.name, response)
        };
        let response = |stored: StoredResult| Self {
            cursor: stored.cursor.0,
            query: stored.query.0,
            captured_at: rfc3339(stored.result.at),
            parts: stored.result.parts.into_iter().map(part).collect(),
            also_at: stored.also_at.into_iter().map(sighting).collect(),
        };
        Ok(results.into_iter().map(response).collect())
    }
}

/// An instance that could not be captured.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct MissResponse {
    /// Its position among the misses of all queries.
    cursor: i64,
    query: i64,
    /// When the instance began.
    #[schema(format = DateTime)]
    began_at: String,
    /// When it could no longer be captured.
    #[schema(format = DateTime)]
    missed_at: String,
    /// What was missed of it.
    parts: Vec<MissedPartResponse>,
}

/// A part that was missed, and why.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct MissedPartResponse {
    name: String,
    source: i64,
    /// From when its source had to be probed.
    #[schema(format = DateTime)]
    from: String,
    /// Until when.
    #[schema(format = DateTime)]
    until: String,
    /// `budget`, `host`, `failed`, `unchanged`, `not_watched`, `not_running` or `too_many`.
    #[schema(value_type = String)]
    why: Value,
    /// The same for people.
    message: String,
}

impl From<StoredMiss> for MissResponse {
    fn from(stored: StoredMiss) -> Self {
        let parts: Vec<MissedPart> = serde_json::from_str(&stored.miss.parts).unwrap_or_default();
        let part = |part: MissedPart| MissedPartResponse {
            name: part.name,
            source: part.source,
            from: rfc3339(Time::from_micros(part.from)),
            until: rfc3339(Time::from_micros(part.until)),
            why: serde_json::to_value(part.why).unwrap_or_default(),
            message: part.message,
        };
        Self {
            cursor: stored.cursor.0,
            query: stored.query.0,
            began_at: rfc3339(stored.miss.began),
            missed_at: rfc3339(stored.miss.at),
            parts: parts.into_iter().map(part).collect(),
        }
    }
}

/// How a query is doing.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub(crate) struct QueryExplanationResponse {
    /// As it is installed.
    query: QueryResponse,
    /// When its next instance begins by the clock; null for one that begins with changes, is paused or has ended.
    #[schema(format = DateTime)]
    next_begin: Option<String>,
    /// How many instances are open.
    open: usize,
    /// Parts that wait for a capture, those first that end first; at most 100.
    waiting: Vec<WaitingResponse>,
    /// What each SELECT reads.
    reads: Vec<ReadResponse>,
    /// The sources that are relevant to the words that it watches for, those first that get the most of it; at most 100.
    relevant: Vec<RelevantResponse>,
}

/// A source that is relevant to a WATCH.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct RelevantResponse {
    source: i64,
    /// To which WATCH of the query, counted from 0.
    watch: u32,
    /// How relevant it is, from 0 to 1.
    relevance: f64,
    /// What that adds to its weight.
    weight: f64,
    /// Until when it is probed densely, to learn how it changes.
    #[schema(format = DateTime)]
    tracked_until: Option<String>,
}

/// A part of an open instance that is not captured yet.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct WaitingResponse {
    name: String,
    /// When its instance began.
    #[schema(format = DateTime)]
    began_at: String,
    /// The first moment that counts.
    #[schema(format = DateTime)]
    from: String,
    /// The last one.
    #[schema(format = DateTime)]
    until: String,
}

/// What a SELECT reads.
#[derive(Debug, Clone, Serialize, ToSchema)]
struct ReadResponse {
    name: String,
    source: i64,
    /// The health of the source: new, well, attention, failing or refused; null if it is gone.
    #[schema(value_type = Option<String>)]
    health: Option<&'static str>,
    /// Why, for people; empty when there is nothing to say.
    reason: String,
    #[schema(format = DateTime)]
    last_probe: Option<String>,
    /// When it was last captured for the query.
    #[schema(format = DateTime)]
    last_capture: Option<String>,
}

impl QueryExplanationResponse {
    pub(crate) fn of(query: QueryResponse, report: Option<QueryReport>) -> Self {
        let report = report.unwrap_or(QueryReport {
            next_begin: None,
            n_open: 0,
            waiting: vec![],
            reads: vec![],
            relevant: vec![],
        });
        Self {
            query,
            next_begin: report.next_begin.map(rfc3339),
            open: report.n_open,
            waiting: report.waiting.into_iter().map(WaitingResponse::from).collect(),
            reads: report.reads.into_iter().map(ReadResponse::from).collect(),
            relevant: report.relevant.into_iter().map(RelevantResponse::from).collect(),
        }
    }
}

impl From<RelevantSource> for RelevantResponse {
    fn from(relevant: RelevantSource) -> Self {
        Self {
            source: relevant.source.0,
            watch: relevant.watch,
            relevance: relevant.relevance,
            weight: relevant.weight,
            tracked_until: relevant.tracked_until.map(rfc3339),
        }
    }
}

impl From<OpenPart> for WaitingResponse {
    fn from(part: OpenPart) -> Self {
        let OpenPart { began, name, from, until } = part;
        Self { name, began_at: rfc3339(began), from: rfc3339(from), until: rfc3339(until) }
    }
}

impl From<ReadPart> for ReadResponse {
    fn from(part: ReadPart) -> Self {
        let (health, reason) = match part.state {
            Some(state) => (Some(super::source::health_text(state.health)), state.reason),
            None => (None, String::new()),
        };
        Self {
            name: part.name,
            source: part.source.0,
            health,
            reason,
            last_probe: part.last_probe.map(rfc3339),
            last_capture: part.last_capture.map(rfc3339),
        }
    }
}
