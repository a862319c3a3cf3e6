//! What commands about continuous queries need, from either backend.

use dunlin_query::Refused;
use serde_json::Value;

use super::Backend;
use super::records::{MissPage, QueryRecord, ResultPage, ResultRecord};
use crate::failure::Failure;

/// What a backend can do with queries. A text that is refused comes back with each place.
pub(crate) trait QueryBackend {
    /// Every query, by number.
    fn queries(&self) -> Result<Vec<QueryRecord>, Failure>;
    fn query(&self, id: i64) -> Result<QueryRecord, Failure>;
    fn add_query(&self, text: &str) -> Result<Result<QueryRecord, Refused>, Failure>;
    fn edit_query(&self, id: i64, text: &str) -> Result<Result<QueryRecord, Refused>, Failure>;
    fn pause_query(&self, id: i64, is_paused: bool) -> Result<QueryRecord, Failure>;
    fn remove_query(&self, id: i64) -> Result<(), Failure>;
    /// At most a thousand results after a cursor.
    fn results(&self, id: i64, after: i64, limit: u32) -> Result<ResultPage, Failure>;
    /// At most a thousand misses after a cursor.
    fn missed(&self, id: i64, after: i64, limit: u32) -> Result<MissPage, Failure>;
    /// How a query is doing, as the API sends it.
    fn explain_query(&self, id: i64) -> Result<Value, Failure>;
    /// What a query would have captured of what is stored, as the API sends it.
    fn test_query(&self, text: &str) -> Result<Result<Value, Refused>, Failure>;
    /// Passes results on as they come, after a cursor or from now on, until `sink` returns an error.
    fn follow_results(&self, id: i64, after: Option<i64>, sink: &mut ResultSink<'_>) -> Result<(), Failure>;
}

/// Receives each result; an error ends the stream.
pub(crate) type ResultSink<'t> = dyn FnMut(&ResultRecord) -> Result<(), Failure> + 't;

/// The query that a person means: a number, or a name.
pub(crate) fn find_query(backend: &dyn Backend, which: &str) -> Result<QueryRecord, Failure> {
    if let Ok(id) = which.parse() {
        return backend.query(id);
    }
    let queries = backend.queries()?;
    let names: Vec<String> = queries.iter().map(|query| query.name.clone()).collect();
    queries.into_iter().find(|query| query.name == which).ok_or_else(|| {
        let like = dunlin_query::nearest(which, names.iter().map(String::as_str));
        let hint =
            like.map_or("see `dunlin query list`".to_owned(), |like| format!("did you mean `{like}`?"));
        Failure::input(format!("no query is called `{which}` ({hint})"))
    })
}
