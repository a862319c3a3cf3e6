//! Continuous queries in a data directory in which no service runs: what is written takes effect at the next start.

use std::thread::sleep;

use dunlin_engine::{Error, clock, queries};
use dunlin_query::Refused;
use dunlin_server::offline;
use dunlin_store::{QueryFilter, QueryId, ResultCursor, ResultFilter, Store as _, StoredQuery};
use serde_json::Value;

use super::{PAGE, POLL, StoreBackend, decoded};
use crate::backend::records::{MissPage, QueryRecord, ResultPage};
use crate::backend::{QueryBackend, ResultSink};
use crate::failure::Failure;

/// A refused text by itself, and any other failure as such.
fn refused_or<T>(result: Result<T, Error>) -> Result<Result<T, Refused>, Failure> {
    match result {
        Ok(done) => Ok(Ok(done)),
        Err(Error::Query(refused)) => Ok(Err(*refused)),
        Err(error) => Err(error.into()),
    }
}

fn shown(query: StoredQuery) -> Result<QueryRecord, Failure> {
    decoded(offline::query(query, clock::now()))
}

impl StoreBackend {
    fn filter(&self, id: i64, after: i64, limit: u32) -> Result<ResultFilter, Failure> {
        queries::query(&self.store, QueryId(id))?;
        Ok(ResultFilter { after: ResultCursor(after), query: Some(QueryId(id)), limit: limit.min(PAGE) })
    }
}

impl QueryBackend for StoreBackend {
    fn queries(&self) -> Result<Vec<QueryRecord>, Failure> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = self.store.queries(&QueryFilter { after, limit: PAGE })?;
            let Some(last) = page.last() else { return Ok(all) };
            after = Some(last.id);
            for query in page {
                all.push(shown(query)?);
            }
        }
    }

    fn query(&self, id: i64) -> Result<QueryRecord, Failure> {
        shown(queries::query(&self.store, QueryId(id))?)
    }

    fn add_query(&self, text: &str) -> Result<Result<QueryRecord, Refused>, Failure> {
        let installed = refused_or(queries::install(&self.store, &self.settings, text, clock::now()))?;
        installed
            .map(|installed| shown(installed.query))
            .map_or_else(|refused| Ok(Err(refused)), |query| query.map(Ok))
    }

    fn edit_query(&self, id: i64, text: &str) -> Result<Result<QueryRecord, Refused>, Failure> {
        let edited = refused_or(queries::edit(&self.store, &self.settings, QueryId(id), text, clock::now()))?;
        edited
            .map(|edited| shown(edited.query))
            .map_or_else(|refused| Ok(Err(refused)), |query| query.map(Ok))
    }

    fn pause_query(&self, id: i64, is_paused: bool) -> Result<QueryRecord, Failure> {
        let paused = is_paused.then(clock::now);
        shown(queries::pause(&self.store, &self.settings, QueryId(id), paused)?.query)
    }

    fn remove_query(&self, id: i64) -> Result<(), Failure> {
        queries::remove(&self.store, QueryId(id), clock::now())?;
        Ok(())
    }

    fn results(&self, id: i64, after: i64, limit: u32) -> Result<ResultPage, Failure> {
        decoded(offline::results(&self.store, &self.filter(id, after, limit)?)?)
    }

    fn missed(&self, id: i64, after: i64, limit: u32) -> Result<MissPage, Failure> {
        decoded(offline::missed(&self.store, &self.filter(id, after, limit)?)?)
    }

    fn explain_query(&self, id: i64) -> Result<Value, Failure> {
        Ok(offline::explained_query(queries::query(&self.store, QueryId(id))?, clock::now()))
    }

    fn test_query(&self, text: &str) -> Result<Result<Value, Refused>, Failure> {
        let rehearsed = queries::rehearse(text, &self.store, &self.settings, clock::now());
        Ok(refused_or(rehearsed)?.map(offline::rehearsed))
    }

    fn follow_results(&self, id: i64, after: Option<i64>, sink: &mut ResultSink<'_>) -> Result<(), Failure> {
        let mut after = after.map_or_else(|| self.store.newest_result().map(|newest| newest.0), Ok)?;
        loop {
            let page = self.results(id, after, PAGE)?;
            after = page.next;
            page.results.iter().try_for_each(&mut *sink)?;
            if page.results.is_empty() {
                sleep(POLL);
            }
        }
    }
}
