//! Continuous queries over the API.

use dunlin_net::Method;
use dunlin_query::{QueryError, Refused, Span};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{HttpBackend, PAGE, read};
use crate::backend::records::{MissPage, QueryRecord, ResultPage, ResultRecord};
use crate::backend::{QueryBackend, ResultSink};
use crate::failure::Failure;

/// What is wrong with a text, as the API says it.
#[derive(Deserialize)]
struct TextRefusal {
    error: TextErrors,
}

#[derive(Deserialize)]
struct TextErrors {
    #[serde(default)]
    errors: Vec<TextError>,
}

#[derive(Deserialize)]
struct TextError {
    message: String,
    hint: Option<String>,
    bytes: (usize, usize),
}

impl HttpBackend {
    /// Sends the text of a query; a refusal with places comes back as such.
    fn send_text<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        text: &str,
    ) -> Result<Result<T, Refused>, Failure> {
        let (status, answer) = self.ask(method, self.url(path, &[])?, Some(&json!({ "text": text })))?;
        if (200..300).contains(&status) {
            return read(&answer).map(Ok);
        }
        let errors = serde_json::from_slice(&answer).map(|refusal: TextRefusal| refusal.error.errors);
        let errors = errors.unwrap_or_default();
        if errors.is_empty() {
            return Err(self.refused(status, &answer));
        }
        let error = |TextError { message, hint, bytes: (start, end) }| {
            QueryError::at(text, Span { start, end }, message, hint)
        };
        Ok(Err(Refused(errors.into_iter().map(error).collect())))
    }

    fn page_of<T: DeserializeOwned>(
        &self,
        id: i64,
        what: &str,
        after: i64,
        limit: u32,
    ) -> Result<T, Failure> {
        let query = [("after", after.to_string()), ("limit", limit.min(PAGE).to_string())];
        self.get(&format!("queries/{id}/{what}"), &query)
    }
}

impl QueryBackend for HttpBackend {
    fn queries(&self) -> Result<Vec<QueryRecord>, Failure> {
        self.pages("queries", "queries", &[])
    }

    fn query(&self, id: i64) -> Result<QueryRecord, Failure> {
        self.get(&format!("queries/{id}"), &[])
    }

    fn add_query(&self, text: &str) -> Result<Result<QueryRecord, Refused>, Failure> {
        self.send_text(Method::POST, "queries", text)
    }

    fn edit_query(&self, id: i64, text: &str) -> Result<Result<QueryRecord, Refused>, Failure> {
        self.send_text(Method::PATCH, &format!("queries/{id}"), text)
    }

    fn pause_query(&self, id: i64, is_paused: bool) -> Result<QueryRecord, Failure> {
        self.send(Method::PATCH, &format!("queries/{id}"), &json!({ "paused": is_paused }))
    }

    fn remove_query(&self, id: i64) -> Result<(), Failure> {
        self.call(Method::DELETE, self.url(&format!("queries/{id}"), &[])?, None).map(drop)
    }

    fn results(&self, id: i64, after: i64, limit: u32) -> Result<ResultPage, Failure> {
        self.page_of(id, "results", after, limit)
    }

    fn missed(&self, id: i64, after: i64, limit: u32) -> Result<MissPage, Failure> {
        self.page_of(id, "missed", after, limit)
    }

    fn explain_query(&self, id: i64) -> Result<Value, Failure> {
        self.get(&format!("queries/{id}/explain"), &[])
    }

    fn test_query(&self, text: &str) -> Result<Result<Value, Refused>, Failure> {
        self.send_text(Method::POST, "queries/test", text)
    }

    fn follow_results(&self, id: i64, after: Option<i64>, sink: &mut ResultSink<'_>) -> Result<(), Failure> {
        let query = [("query", id.to_string())];
        self.follow_stream(after, &query, &mut |data| sink(&read::<ResultRecord>(data)?))
    }
}
