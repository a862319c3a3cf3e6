//! What the API would answer about a store without a running service, and how it would read a request body: for commands
//! that open a data directory themselves. Nothing is served here, and nothing written.
//!
//! Invariant: the JSON is the API's own; there is no second form of it.

use dunlin_core::Time;
use dunlin_engine::SourceExplanation;
use dunlin_engine::queries::Rehearsal;
use dunlin_store::{
    Change, Cursor, Decision, DecisionId, DecisionQuery, NewSource, ResultFilter, Source, SourceEdit,
    SourceId, Store, StoredQuery, Version,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Error;
use crate::failure::Failure;
use crate::listing;
use crate::pages::{self, StreamPosition};
use crate::responses::budget::DecisionResponse;
use crate::responses::change::ChangeResponse;
use crate::responses::explanation::ExplanationResponse;
use crate::responses::query::{QueryExplanationResponse, QueryResponse};
use crate::responses::rehearsal::RehearsalResponse;
use crate::responses::source::SourceResponse;
use crate::responses::version::VersionResponse;
use crate::source_request::SourceRequest;

fn to_json(response: impl Serialize) -> Value {
    serde_json::to_value(response).unwrap_or_default()
}

/// A source, as `GET /sources/{id}` shows it.
pub fn source(source: Source) -> Value {
    to_json(SourceResponse::from(source))
}

/// A change, as in `GET /changes`.
pub fn change(change: Change) -> Value {
    to_json(ChangeResponse::from(change))
}

/// A page of changes, as `GET /changes` shows it; refused where that refuses it.
pub fn changes(
    store: &dyn Store,
    after: Cursor,
    source: Option<SourceId>,
    limit: u32,
) -> Result<Value, Error> {
    let position = StreamPosition { after, source };
    let page = position.page_of(position.gather(store, limit)?).map_err(refused)?;
    match page.gone_until {
        Some(gone_until) => Err(refused(pages::pruned("changes", after.0, gone_until.0))),
        None => Ok(json!({ "changes": page.changes, "next": page.next.0 })),
    }
}

/// The same for a follower, as `GET /stream` continues: past what has been removed. The second part says whether
/// something was.
pub fn changes_after(
    store: &dyn Store,
    after: Cursor,
    source: Option<SourceId>,
    limit: u32,
) -> Result<(Value, bool), Error> {
    let position = StreamPosition { after, source };
    let page = position.page_of(position.gather(store, limit)?).map_err(refused)?;
    Ok((json!({ "changes": page.changes, "next": page.next.0 }), page.gone_until.is_some()))
}

/// The newest changes of a store, as `GET /changes?last=N` shows them.
pub fn last_changes(store: &dyn Store, source: Option<SourceId>, n_last: u32) -> Result<Value, Error> {
    let (changes, newest) = listing::last_changes(store, source, n_last)?;
    let changes: Vec<ChangeResponse> = changes.into_iter().map(ChangeResponse::from).collect();
    Ok(json!({ "changes": changes, "next": newest.0 }))
}

/// A page of decisions, as `GET /decisions` shows it.
pub fn decisions(store: &dyn Store, query: DecisionQuery) -> Result<Value, Error> {
    let (rows, next) = listing::decisions(store, query)?;
    Ok(decision_page(rows, next))
}

/// The newest decisions of a store, as `GET /decisions?last=N` shows them.
pub fn last_decisions(store: &dyn Store, source: Option<SourceId>, n_last: u32) -> Result<Value, Error> {
    let (rows, newest) = listing::last_decisions(store, source, n_last)?;
    Ok(decision_page(rows, newest))
}

fn decision_page(rows: Vec<Decision>, next: Option<DecisionId>) -> Value {
    let response: Vec<DecisionResponse> = rows.into_iter().filter_map(DecisionResponse::of).collect();
    json!({ "decisions": response, "next": next.map(|id| id.0) })
}

/// A version, as `GET /versions/{id}` shows it.
pub fn version(version: Version) -> Value {
    to_json(VersionResponse::from(version))
}

/// A query, as `GET /queries/{id}` shows it.
pub fn query(query: StoredQuery, now: Time) -> Value {
    to_json(QueryResponse::of(query, now))
}

/// A page of results of a query, as `GET /queries/{id}/results` shows it.
pub fn results(store: &dyn Store, filter: &ResultFilter) -> Result<Value, Error> {
    let listing::ResultPage { results, next, .. } =
        listing::results(store, filter)?.for_list(filter.after).map_err(refused)?;
    Ok(json!({ "results": results, "next": next.0 }))
}

/// A page of what a query missed, as `GET /queries/{id}/missed` shows it.
pub fn missed(store: &dyn Store, filter: &ResultFilter) -> Result<Value, Error> {
    let listing::MissPage { missed, next, .. } =
        listing::missed(store, filter)?.for_list(filter.after).map_err(refused)?;
    Ok(json!({ "missed": missed, "next": next }))
}

/// What `GET /queries/{id}/explain` says of a query while nothing runs.
pub fn explained_query(query: StoredQuery, now: Time) -> Value {
    to_json(QueryExplanationResponse::of(QueryResponse::of(query, now), None))
}

/// What a query would have captured, as `POST /queries/test` shows it.
pub fn rehearsed(rehearsal: Rehearsal) -> Value {
    to_json(RehearsalResponse::from(rehearsal))
}

/// What `GET /sources/{id}/explain` says.
pub fn explained(explained: SourceExplanation) -> Value {
    to_json(ExplanationResponse::from(explained))
}

/// The source that the body of `POST /sources` describes. The engine checks its values.
pub fn new_source(body: Value, now: Time) -> Result<NewSource, Error> {
    read(body)?.into_new(now).map_err(refused)
}

/// What the body of `PATCH /sources/{id}` changes about a source.
pub fn source_edit(body: Value, present: &Source, now: Time) -> Result<SourceEdit, Error> {
    read(body)?.into_edit(present, now).map_err(refused)
}

fn read(body: Value) -> Result<SourceRequest, Error> {
    serde_json::from_value(body)
        .map_err(|error| Error::Refused { message: error.to_string(), hint: "leave it out".to_owned() })
}

fn refused(failure: Failure) -> Error {
    let to_json = failure.into_body();
    Error::Refused { message: to_json.message, hint: to_json.hint }
}
