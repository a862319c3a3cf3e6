//! What commands need, from either backend: a running service over HTTP, or a data directory that this process opens itself.
//! Each command is written once, against [`Backend`].
//!
//! Invariant: both answer with the same [`records`].

mod http;
mod queries;
mod reach;
pub(crate) mod records;
mod store;

pub(crate) use queries::{QueryBackend, ResultSink, find_query};
pub(crate) use reach::{Access, DirectoryArgs, ReachArgs, ask_whether_ready};

use serde_json::Value;

use self::records::{
    BudgetRecord, ChangePage, DecisionPage, SourceFields, SourceRecord, TokenRecord, VersionRecord,
};
use crate::config::units::Pace;
use crate::failure::Failure;

/// Which sources to list.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceFilter {
    pub(crate) tag: Option<String>,
    pub(crate) url: Option<String>,
}

/// Which changes to list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChangeFilter {
    pub(crate) after: i64,
    pub(crate) source: Option<i64>,
    pub(crate) limit: u32,
}

/// A backend.
pub(crate) trait Backend: QueryBackend {
    /// Every source that fits, by number.
    fn sources(&self, filter: &SourceFilter) -> Result<Vec<SourceRecord>, Failure>;
    fn source(&self, id: i64) -> Result<SourceRecord, Failure>;
    fn add(&self, fields: &SourceFields) -> Result<SourceRecord, Failure>;
    /// Adds many, each by itself; returns the results in the same order.
    fn add_many(&self, all_fields: &[SourceFields]) -> Result<Vec<Result<(), Failure>>, Failure>;
    fn edit(&self, id: i64, fields: &SourceFields) -> Result<SourceRecord, Failure>;
    fn remove(&self, id: i64) -> Result<(), Failure>;
    fn probe(&self, id: i64) -> Result<(), Failure>;
    fn changes(&self, filter: ChangeFilter) -> Result<ChangePage, Failure>;
    /// So many of the newest changes, in the order of their cursors.
    fn last_changes(&self, source: Option<i64>, n_last: u32) -> Result<ChangePage, Failure>;
    /// Passes changes on as they come, after a position or from now on, until `sink` returns an error.
    fn follow(
        &self,
        after: Option<i64>,
        source: Option<i64>,
        sink: &mut ChangeSink<'_>,
    ) -> Result<(), Failure>;
    /// The newest versions of a source, newest first.
    fn versions(&self, source: i64, limit: u32) -> Result<Vec<VersionRecord>, Failure>;
    fn version(&self, id: i64) -> Result<VersionRecord, Failure>;
    fn content(&self, id: i64) -> Result<Vec<u8>, Failure>;
    /// The forecast and what follows from it, as the API sends it.
    fn explain(&self, id: i64) -> Result<Value, Failure>;
    fn budget(&self) -> Result<BudgetRecord, Failure>;
    fn set_budget(&self, pace: Pace) -> Result<(), Failure>;
    /// Goes back to the budget of the configuration.
    fn reset_budget(&self) -> Result<(), Failure>;
    /// Decisions about one source or about all, in the order in which they were taken.
    fn decisions(&self, source: Option<i64>, after: i64, limit: u32) -> Result<DecisionPage, Failure>;
    /// So many of the newest decisions, in the same order.
    fn last_decisions(&self, source: Option<i64>, n_last: u32) -> Result<DecisionPage, Failure>;
    fn tokens(&self) -> Result<Vec<TokenRecord>, Failure>;
    /// The new token, which cannot be shown again.
    fn create_token(&self, name: &str) -> Result<String, Failure>;
    fn revoke_token(&self, name: &str) -> Result<(), Failure>;
    /// Whether anything is probed, or only what was captured before can be read.
    fn liveness(&self) -> Liveness;
}

/// Whether a service answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Liveness {
    Running,
    NoService,
}

impl Liveness {
    /// Notes, for a user who might wait, that nothing will come.
    pub(crate) fn mention(self) {
        if self == Self::NoService {
            crate::note(
                "no service runs in this data directory, so nothing is probed (start it with `dunlin serve`)",
            );
        }
    }
}

/// As many changes as `filter` allows, from pages of at most `most`; `read` gets the filter of each.
fn from_pages(
    mut filter: ChangeFilter,
    most: u32,
    mut read: impl FnMut(ChangeFilter) -> Result<ChangePage, Failure>,
) -> Result<ChangePage, Failure> {
    let mut whole = ChangePage { changes: Vec::new(), next: filter.after };
    loop {
        let limit = filter.limit.min(most);
        let page = read(ChangeFilter { limit, ..filter })?;
        let n_changes = page.changes.len() as u32;
        (whole.next, filter.after) = (page.next, page.next);
        filter.limit = filter.limit.saturating_sub(n_changes);
        whole.changes.extend(page.changes);
        if n_changes < limit || filter.limit == 0 {
            return Ok(whole);
        }
    }
}

/// Notes, for a user who follows changes, that some will not come.
fn mention_gap() {
    crate::note("some changes were removed before they could be shown here");
}

/// Receives each change; an error ends the stream.
pub(crate) type ChangeSink<'t> = dyn FnMut(&records::ChangeRecord) -> Result<(), Failure> + 't;

/// The source that a person means: a number, or an address.
pub(crate) fn find_source(backend: &dyn Backend, which: &str) -> Result<SourceRecord, Failure> {
    if let Ok(id) = which.parse() {
        return backend.source(id);
    }
    let url = crate::lists::checked(which).map_err(|_| {
        Failure::input(format!("`{which}` is neither the number nor the address of a source"))
    })?;
    let mut found = backend.sources(&SourceFilter { url: Some(url), tag: None })?;
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(Failure::input(format!("no source has the address {which} (see `dunlin sources`)"))),
        _ => {
            let ids: Vec<String> = found.iter().map(|source| source.id.to_string()).collect();
            Err(Failure::input(format!("sources {} have this address (give the number)", ids.join(", "))))
        }
    }
}
