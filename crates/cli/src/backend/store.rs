//! Answers from a data directory in which no service runs. What is written is checked as the engine checks it, and
//! the JSON is that of the API.

mod queries;

use std::thread::sleep;
use std::time::Duration;

use dunlin_engine::clock;
use dunlin_engine::{explain_stored, recipe};
use dunlin_server::{offline, tokens, unit};
use dunlin_store::{
    Cursor, DecisionId, DecisionQuery, Error, NewSource, SourceEdit, SourceId, SourceQuery, SourceScope,
    SqliteStore, Store, VersionId, VersionQuery,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::records::{
    BudgetRecord, ChangePage, DecisionPage, SourceFields, SourceRecord, TokenRecord, VersionRecord,
};
use super::{Backend, ChangeFilter, ChangeSink, Liveness, SourceFilter};
use crate::config::Config;
use crate::config::units::Pace;
use crate::failure::Failure;

/// Sources or changes read at a time.
const PAGE: u32 = 1_000;

/// How often a data directory is checked for new changes.
const POLL: Duration = Duration::from_millis(500);

/// A data directory.
pub(crate) struct StoreBackend {
    store: SqliteStore,
    settings: dunlin_engine::Settings,
}

impl StoreBackend {
    pub(crate) fn new(store: SqliteStore, config: &Config) -> Self {
        Self { store, settings: config.engine_settings() }
    }

    fn shown(&self, id: SourceId) -> Result<SourceRecord, Failure> {
        let source = self.store.source(id)?.ok_or(Error::NoSuchSource(id))?;
        decoded(offline::source(source))
    }
}

/// The source that someone wants, if it can be watched.
pub(super) fn checked(
    fields: &SourceFields,
    settings: &dunlin_engine::Settings,
) -> Result<NewSource, Failure> {
    let source = offline::new_source(json!(fields), clock::now())?;
    recipe::check(&source, settings)?;
    Ok(source)
}

/// What the API would say, as a record.
fn decoded<T: DeserializeOwned>(value: Value) -> Result<T, Failure> {
    serde_json::from_value(value).map_err(|error| {
        Failure::Environment(format!(
            "internal error: a record cannot be shown: {error} (please report this)"
        ))
    })
}

impl Backend for StoreBackend {
    fn sources(&self, filter: &SourceFilter) -> Result<Vec<SourceRecord>, Failure> {
        let mut all = Vec::new();
        let mut query = SourceQuery {
            url: filter.url.clone(),
            tag: filter.tag.clone(),
            scope: SourceScope::Watched,
            ..SourceQuery::first(PAGE)
        };
        loop {
            let page = self.store.sources(&query)?;
            query.after = page.last().map(|source| source.id);
            let is_last = (page.len() as u64) < u64::from(PAGE);
            for source in page {
                all.push(decoded(offline::source(source))?);
            }
            if is_last {
                return Ok(all);
            }
        }
    }

    fn source(&self, id: i64) -> Result<SourceRecord, Failure> {
        self.shown(SourceId(id))
    }

    fn add(&self, fields: &SourceFields) -> Result<SourceRecord, Failure> {
        let source = checked(fields, &self.settings)?;
        let id = self.store.add_source(source)?;
        if fields.paused == Some(true) {
            let edit = SourceEdit { paused: Some(Some(clock::now())), ..SourceEdit::default() };
            self.store.edit_source(id, edit)?;
        }
        self.shown(id)
    }

    fn add_many(&self, all_fields: &[SourceFields]) -> Result<Vec<Result<(), Failure>>, Failure> {
        Ok(all_fields.iter().map(|fields| self.add(fields).map(drop)).collect())
    }

    fn edit(&self, id: i64, fields: &SourceFields) -> Result<SourceRecord, Failure> {
        let id = SourceId(id);
        let present = self.store.source(id)?.ok_or(Error::NoSuchSource(id))?;
        let edit = offline::source_edit(json!(fields), &present, clock::now())?;
        recipe::check_edit(&present, &edit, &self.settings)?;
        decoded(offline::source(self.store.edit_source(id, edit)?))
    }

    fn remove(&self, id: i64) -> Result<(), Failure> {
        let id = SourceId(id);
        self.store.source(id)?.ok_or(Error::NoSuchSource(id))?;
        Ok(self.store.remove_source(id)?)
    }

    fn probe(&self, _: i64) -> Result<(), Failure> {
        Err(Failure::Environment(
            "no service runs that could probe it (start it with `dunlin serve`)".to_owned(),
        ))
    }

    fn changes(&self, filter: ChangeFilter) -> Result<ChangePage, Failure> {
        super::from_pages(filter, PAGE, |ChangeFilter { after, source, limit }| {
            decoded(offline::changes(&self.store, Cursor(after), source.map(SourceId), limit)?)
        })
    }

    fn last_changes(&self, source: Option<i64>, n_last: u32) -> Result<ChangePage, Failure> {
        decoded(offline::last_changes(&self.store, source.map(SourceId), n_last)?)
    }

    fn follow(
        &self,
        after: Option<i64>,
        source: Option<i64>,
        sink: &mut ChangeSink<'_>,
    ) -> Result<(), Failure> {
        let mut after = after.map_or_else(|| self.store.cursor_range().map(|range| range.newest.0), Ok)?;
        loop {
            let (page, has_gap) =
                offline::changes_after(&self.store, Cursor(after), source.map(SourceId), PAGE)?;
            let page: ChangePage = decoded(page)?;
            if has_gap {
                super::mention_gap();
            }
            after = page.next;
            page.changes.iter().try_for_each(&mut *sink)?;
            if page.changes.is_empty() {
                sleep(POLL);
            }
        }
    }

    fn versions(&self, source: i64, limit: u32) -> Result<Vec<VersionRecord>, Failure> {
        let query = VersionQuery { source: SourceId(source), before: None, limit };
        self.store.versions(&query)?.into_iter().map(|version| decoded(offline::version(version))).collect()
    }

    fn version(&self, id: i64) -> Result<VersionRecord, Failure> {
        let id = VersionId(id);
        decoded(offline::version(self.store.version(id)?.ok_or(Error::NoSuchVersion(id))?))
    }

    fn content(&self, id: i64) -> Result<Vec<u8>, Failure> {
        Ok(self.store.content(VersionId(id))?)
    }

    fn explain(&self, id: i64) -> Result<Value, Failure> {
        let explained = explain_stored(&self.store, &self.settings, SourceId(id), clock::now())?;
        Ok(offline::explained(explained))
    }

    fn budget(&self) -> Result<BudgetRecord, Failure> {
        let stored = dunlin_engine::stored_budget(&self.store)?;
        let per_second = stored.unwrap_or(self.settings.budget).per_second;
        Ok(BudgetRecord {
            per_second,
            unit: unit::of(&self.store, per_second)?,
            host_per_second: self.settings.host_budget.map(|pace| pace.per_second),
            spending: None,
        })
    }

    fn set_budget(&self, pace: Pace) -> Result<(), Failure> {
        let per_second = pace.per_second;
        dunlin_engine::store_budget(&self.store, dunlin_engine::Pace { per_second })?;
        Ok(unit::remember(&self.store, per_second, pace.counted().1)?)
    }

    fn reset_budget(&self) -> Result<(), Failure> {
        dunlin_engine::forget_budget(&self.store)?;
        Ok(unit::forget(&self.store)?)
    }

    fn decisions(&self, source: Option<i64>, after: i64, limit: u32) -> Result<DecisionPage, Failure> {
        let query = DecisionQuery {
            source: source.map(SourceId),
            after: Some(DecisionId(after)),
            ..DecisionQuery::first(limit.min(PAGE))
        };
        decoded(offline::decisions(&self.store, query)?)
    }

    fn last_decisions(&self, source: Option<i64>, n_last: u32) -> Result<DecisionPage, Failure> {
        decoded(offline::last_decisions(&self.store, source.map(SourceId), n_last)?)
    }

    fn tokens(&self) -> Result<Vec<TokenRecord>, Failure> {
        let record = |token: tokens::Token| TokenRecord {
            name: token.name,
            created_at: clock::rfc3339(token.created),
        };
        Ok(tokens::list(&self.store)?.into_iter().map(record).collect())
    }

    fn create_token(&self, name: &str) -> Result<String, Failure> {
        Ok(tokens::create(&self.store, name, clock::now())?)
    }

    fn liveness(&self) -> Liveness {
        Liveness::NoService
    }

    fn revoke_token(&self, name: &str) -> Result<(), Failure> {
        Ok(tokens::revoke(&self.store, name)?)
    }
}
