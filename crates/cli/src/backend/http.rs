//! Answers from a running service, over its API. Nothing but the given server is talked to, and redirects are not
//! followed: the token goes nowhere else.
//!
//! Invariant: a service that was found by its data directory is sent the token only after it has proved, for this very
//! request, that it is the service of that directory.

mod queries;

use std::ops::ControlFlow;
use std::time::Duration;

use dunlin_net::{Call, Client, Events, Guard, Method, Request, Settings};
use dunlin_server::proof;
use dunlin_server::unit::Unit;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use url::Url;

use super::records::{
    BudgetRecord, ChangePage, ChangeRecord, DecisionPage, SourceFields, SourceRecord, TokenRecord,
    VersionRecord,
};
use super::{Backend, ChangeFilter, ChangeSink, Liveness, SourceFilter};
use crate::config::units::Pace;
use crate::failure::Failure;

/// The most that the API gives in one page.
const PAGE: u32 = 1_000;

/// A stream says that it is alive every few seconds; this much silence means that it is not.
const SILENCE: Duration = Duration::from_mins(1);

/// How long to wait before a broken stream is opened again.
const PAUSE: Duration = Duration::from_secs(1);

/// After this many failures in a row the service counts as gone.
const PATIENCE: u32 = 30;

/// How often a question is asked again that a service had no room for.
const ASKED_AGAIN: u32 = 3;

/// How long a service may take to prove its identity.
const PROOF_TIME: Duration = Duration::from_secs(10);

/// Why a service is sent the token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// A person named both.
    Given,
    /// It proves that it knows the token already.
    Proven,
}

/// A service.
pub(crate) struct HttpBackend {
    trust: Trust,
    client: Client,
    base: Url,
    token: String,
    runtime: Runtime,
}

#[derive(Debug, Deserialize)]
struct ErrorResponse {
    error: ErrorBody,
}

#[derive(Debug, Deserialize)]
struct ErrorBody {
    message: String,
    #[serde(default)]
    hint: String,
}

/// What came of one source of many.
#[derive(Debug, Deserialize)]
struct Added {
    status: u16,
    #[serde(default)]
    error: Option<ErrorBody>,
}

impl ErrorBody {
    fn into_failure(self, status: u16) -> Failure {
        let Self { message, hint } = self;
        let message = if hint.is_empty() { message } else { format!("{message} ({hint})") };
        match status {
            500.. | 300..400 => Failure::Environment(message),
            _ => Failure::Input(message),
        }
    }
}

/// How often a stream has broken without reporting anything, after it has broken once more; it began at one cursor and came
/// to another.
fn failures_in_a_row(failures: u32, began: Option<i64>, came_to: Option<i64>) -> u32 {
    if came_to > began { 0 } else { failures + 1 }
}

impl HttpBackend {
    pub(super) fn new(server: &Url, token: &str, trust: Trust) -> Result<Self, Failure> {
        let host = server
            .host_str()
            .ok_or_else(|| Failure::input("--server: expected an address such as http://127.0.0.1:7171"))?;
        let mut settings = Settings::default();
        settings.guard = Guard::public_internet().allowing_host(host);
        concat!("dunlin/", env!("CARGO_PKG_VERSION")).clone_into(&mut settings.user_agent);
        let mut base = server.clone();
        base.set_query(None);
        base.set_fragment(None);
        if !base.path().ends_with('/') {
            base.set_path(&format!("{}/", base.path()));
        }
        let base = base.join("api/v1/").map_err(|error| Failure::input(format!("--server: {error}")))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::Environment(format!("cannot start: {error}")))?;
        Ok(Self { trust, client: Client::new(settings)?, base, token: token.to_owned(), runtime })
    }

    fn url(&self, path: &str, query: &[(&str, String)]) -> Result<Url, Failure> {
        let mut url = self.base.join(path).map_err(|error| Failure::input(format!("{path}: {error}")))?;
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        Ok(url)
    }

    /// The header that lets us in, for a service that may have it.
    async fn bearer(&self) -> Result<String, Failure> {
        if self.trust == Trust::Proven && !self.is_proven().await? {
            let origin = self.base.origin().ascii_serialization();
            return Err(Failure::Environment(format!(
                "what answers at {origin} is not the service of this data directory, and was sent nothing (start the \
                 service with `dunlin serve`, on another port if this one is taken)"
            )));
        }
        Ok(format!("Bearer {}", self.token))
    }

    /// Whether the service may be sent the token. One that does not listen any more may not; one that listens and does
    /// not answer is an error.
    pub(super) fn is_trusted(&self) -> Result<bool, Failure> {
        Ok(self.trust == Trust::Given || self.runtime.block_on(self.is_proven())?)
    }

    /// Whether the listener knows the token.
    async fn is_proven(&self) -> Result<bool, Failure> {
        let challenge = proof::challenge()?;
        let call = Call::new(Method::GET, self.url("proof", &[("challenge", challenge.clone())])?);
        let answered = tokio::time::timeout(PROOF_TIME, self.client.call(call)).await;
        let Ok(answered) = answered else {
            let origin = self.base.origin().ascii_serialization();
            return Err(Failure::Environment(format!("no answer from the service at {origin} within 10 s")));
        };
        match answered {
            Ok(answer) => {
                let given = serde_json::from_slice::<Value>(&answer.body).unwrap_or_default();
                Ok(proof::is_proven(&self.token, &challenge, given["proof"].as_str().unwrap_or_default()))
            }
            Err(error @ dunlin_net::Error::TimedOut { .. }) => Err(self.unreachable(&error)),
            // No listener, or one that does not speak HTTP.
            Err(_) => Ok(false),
        }
    }

    fn call(&self, method: Method, url: Url, body: Option<&Value>) -> Result<Vec<u8>, Failure> {
        let (status, answer) = self.ask(method, url, body)?;
        if (200..300).contains(&status) { Ok(answer) } else { Err(self.refused(status, &answer)) }
    }

    /// The status of an answer, and its body.
    fn ask(&self, method: Method, url: Url, body: Option<&Value>) -> Result<(u16, Vec<u8>), Failure> {
        let is_repeatable = method == Method::GET;
        let mut call = Call::new(method, url);
        if let Some(body) = body {
            call = call.body("application/json", body.to_string())?;
        }
        self.runtime.block_on(async {
            let mut n_asked = 0;
            loop {
                n_asked += 1;
                let call = call.clone().header("Authorization", &self.bearer().await?)?;
                match self.client.call(call).await {
                    Ok(answer) => return Ok((answer.status.as_u16(), answer.body.to_vec())),
                    // A busy service closes connections that have not said anything yet. What only reads may be asked again.
                    Err(error) if n_asked <= ASKED_AGAIN && is_repeatable && error.is_stale_connection() => {
                        tokio::time::sleep(PAUSE / ASKED_AGAIN).await;
                    }
                    Err(error) => return Err(self.unreachable(&error)),
                }
            }
        })
    }

    /// Whether everything works that should.
    pub(super) fn ready(&self) -> Result<(), Failure> {
        self.call(Method::GET, self.url("readyz", &[])?, None).map(drop)
    }

    /// The error of a request that the service refused.
    fn refused(&self, status: u16, body: &[u8]) -> Failure {
        let body = serde_json::from_slice::<ErrorResponse>(body).map(|problem| problem.error);
        let body = body.unwrap_or_else(|_| ErrorBody {
            message: format!("{} answered with status {status}", self.base),
            hint: "is it a Dunlin service?".to_owned(),
        });
        body.into_failure(status)
    }

    /// Why there was no answer, with the port: a person may have given the wrong one.
    fn unreachable(&self, error: &dunlin_net::Error) -> Failure {
        let origin = self.base.origin().ascii_serialization();
        let message = format!("no answer from the service at {origin}: {error}");
        match error.fault() {
            dunlin_net::Fault::User => Failure::Input(message),
            _ => Failure::Environment(message),
        }
    }

    fn get<T: DeserializeOwned>(&self, path: &str, query: &[(&str, String)]) -> Result<T, Failure> {
        read(&self.call(Method::GET, self.url(path, query)?, None)?)
    }

    fn send<T: DeserializeOwned>(&self, method: Method, path: &str, body: &Value) -> Result<T, Failure> {
        read(&self.call(method, self.url(path, &[])?, Some(body))?)
    }

    /// All pages of a list that is walked by `next`.
    fn pages<T: DeserializeOwned>(
        &self,
        path: &str,
        name: &str,
        query: &[(&str, String)],
    ) -> Result<Vec<T>, Failure> {
        let mut all = Vec::new();
        let mut after = None;
        loop {
            let mut query = query.to_vec();
            query.push(("limit", PAGE.to_string()));
            query.extend(after.map(|after: i64| ("after", after.to_string())));
            let page: Value = self.get(path, &query)?;
            let rows: Vec<T> = part(&page, name)?;
            let is_last = (rows.len() as u64) < u64::from(PAGE);
            all.extend(rows);
            after = page["next"].as_i64();
            if is_last || after.is_none() {
                return Ok(all);
            }
        }
    }

    /// Passes events on until the stream breaks or the sink ends it; an error says why the stream broke.
    /// `after` advances once a change has been passed on, so that none is skipped.
    async fn listen(
        &self,
        after: &mut Option<i64>,
        query: &[(&str, String)],
        sink: &mut DataSink<'_>,
    ) -> Result<ControlFlow<Failure>, Failure> {
        let mut request = Request::new(self.url("stream", query)?)
            .header("Authorization", &self.bearer().await?)?
            .header("Accept", "text/event-stream")?;
        if let Some(after) = after {
            request = request.header("Last-Event-ID", &after.to_string())?;
        }
        let lines = self.client.lines(request, SILENCE).await;
        let mut lines = lines.map_err(|error| self.unreachable(&error))?;
        let status = lines.status();
        if !status.is_success() {
            return Err(self.refused(status.as_u16(), &lines.rest().await?));
        }
        let mut events = Events::default();
        while let Some(line) = lines.next().await? {
            match events.line(&line) {
                Some(event) if event.name == "gap" => {
                    super::mention_gap();
                }
                Some(event) => {
                    if let Err(ended) = sink(event.data.as_bytes()) {
                        return Ok(ControlFlow::Break(ended));
                    }
                }
                None => {}
            }
            if line.is_empty() {
                *after = events.last_id().and_then(|id| id.parse().ok()).or(*after);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Passes the data of events on, over streams that break, until the sink ends it.
    fn follow_stream(
        &self,
        mut after: Option<i64>,
        query: &[(&str, String)],
        sink: &mut DataSink<'_>,
    ) -> Result<(), Failure> {
        let mut failures = 0;
        self.runtime.block_on(async {
            loop {
                let before = after;
                match self.listen(&mut after, query, sink).await {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(ended)) => return Err(ended),
                    Err(Failure::Environment(_)) if failures < PATIENCE => {}
                    Err(other) => return Err(other),
                }
                failures = failures_in_a_row(failures, before, after);
                tokio::time::sleep(PAUSE).await;
            }
        })
    }
}

/// Receives the data of each event; an error ends the stream.
type DataSink<'t> = dyn FnMut(&[u8]) -> Result<(), Failure> + 't;

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Failure> {
    serde_json::from_slice(body).map_err(|error| unexpected(&error))
}

fn unexpected(error: &serde_json::Error) -> Failure {
    let why = format!("the service answered with something else than expected: {error}");
    Failure::Environment(format!("{why} (is it of the same release?)"))
}

fn part<T: DeserializeOwned>(answer: &Value, name: &str) -> Result<T, Failure> {
    T::deserialize(&answer[name]).map_err(|error| unexpected(&error))
}

/// The parameters that ask for the newest end of a list.
fn last_of(source: Option<i64>, n_last: u32) -> Vec<(&'static str, String)> {
    let mut query = vec![("last", n_last.min(PAGE).to_string())];
    query.extend(source.map(|source| ("source", source.to_string())));
    query
}

impl Backend for HttpBackend {
    fn sources(&self, filter: &SourceFilter) -> Result<Vec<SourceRecord>, Failure> {
        let mut query = Vec::new();
        query.extend(filter.tag.clone().map(|tag| ("tag", tag)));
        query.extend(filter.url.clone().map(|url| ("url", url)));
        self.pages("sources", "sources", &query)
    }

    fn source(&self, id: i64) -> Result<SourceRecord, Failure> {
        self.get(&format!("sources/{id}"), &[])
    }

    fn add(&self, fields: &SourceFields) -> Result<SourceRecord, Failure> {
        self.send(Method::POST, "sources", &json!(fields))
    }

    fn add_many(&self, all_fields: &[SourceFields]) -> Result<Vec<Result<(), Failure>>, Failure> {
        let answer: Value = self.send(Method::POST, "sources/bulk", &json!({ "sources": all_fields }))?;
        let results: Vec<Added> = part(&answer, "results")?;
        let came_of = |added: Added| match added.error {
            None => Ok(()),
            Some(body) => Err(body.into_failure(added.status)),
        };
        Ok(results.into_iter().map(came_of).collect())
    }

    fn edit(&self, id: i64, fields: &SourceFields) -> Result<SourceRecord, Failure> {
        self.send(Method::PATCH, &format!("sources/{id}"), &json!(fields))
    }

    fn remove(&self, id: i64) -> Result<(), Failure> {
        self.call(Method::DELETE, self.url(&format!("sources/{id}"), &[])?, None).map(drop)
    }

    fn probe(&self, id: i64) -> Result<(), Failure> {
        self.call(Method::POST, self.url(&format!("sources/{id}/probe"), &[])?, None).map(drop)
    }

    fn changes(&self, filter: ChangeFilter) -> Result<ChangePage, Failure> {
        super::from_pages(filter, PAGE, |ChangeFilter { after, source, limit }| {
            let mut query = vec![("limit", limit.to_string())];
            // Left out, the list begins with the oldest that is still there.
            query.extend((after > 0).then(|| ("after", after.to_string())));
            query.extend(source.map(|source| ("source", source.to_string())));
            self.get("changes", &query)
        })
    }

    fn last_changes(&self, source: Option<i64>, n_last: u32) -> Result<ChangePage, Failure> {
        self.get("changes", &last_of(source, n_last))
    }

    fn follow(
        &self,
        after: Option<i64>,
        source: Option<i64>,
        sink: &mut ChangeSink<'_>,
    ) -> Result<(), Failure> {
        let query: Vec<_> = source.map(|source| ("source", source.to_string())).into_iter().collect();
        self.follow_stream(after, &query, &mut |data| sink(&read::<ChangeRecord>(data)?))
    }

    fn versions(&self, source: i64, limit: u32) -> Result<Vec<VersionRecord>, Failure> {
        let path = format!("sources/{source}/versions");
        let page: Value = self.get(&path, &[("limit", limit.min(PAGE).to_string())])?;
        part(&page, "versions")
    }

    fn version(&self, id: i64) -> Result<VersionRecord, Failure> {
        self.get(&format!("versions/{id}"), &[])
    }

    fn content(&self, id: i64) -> Result<Vec<u8>, Failure> {
        self.call(Method::GET, self.url(&format!("versions/{id}/content"), &[])?, None)
    }

    fn explain(&self, id: i64) -> Result<Value, Failure> {
        self.get(&format!("sources/{id}/explain"), &[])
    }

    fn budget(&self) -> Result<BudgetRecord, Failure> {
        self.get("budget", &[])
    }

    fn set_budget(&self, pace: Pace) -> Result<(), Failure> {
        let (count, unit) = pace.counted();
        let field = match unit {
            Unit::Second => "per_second",
            Unit::Minute => "per_minute",
            Unit::Hour => "per_hour",
            Unit::Day => "per_day",
        };
        self.send::<Value>(Method::PUT, "budget", &json!({ field: count })).map(drop)
    }

    fn reset_budget(&self) -> Result<(), Failure> {
        self.call(Method::DELETE, self.url("budget", &[])?, None).map(drop)
    }

    fn decisions(&self, source: Option<i64>, after: i64, limit: u32) -> Result<DecisionPage, Failure> {
        let mut query = vec![("after", after.to_string()), ("limit", limit.min(PAGE).to_string())];
        query.extend(source.map(|source| ("source", source.to_string())));
        self.get("decisions", &query)
    }

    fn last_decisions(&self, source: Option<i64>, n_last: u32) -> Result<DecisionPage, Failure> {
        self.get("decisions", &last_of(source, n_last))
    }

    fn tokens(&self) -> Result<Vec<TokenRecord>, Failure> {
        let page: Value = self.get("tokens", &[])?;
        part(&page, "tokens")
    }

    fn create_token(&self, name: &str) -> Result<String, Failure> {
        let made: Value = self.send(Method::POST, "tokens", &json!({ "name": name }))?;
        made["token"].as_str().map(str::to_owned).ok_or_else(|| {
            Failure::Environment("the service made no token (is it of the same release?)".to_owned())
        })
    }

    fn liveness(&self) -> Liveness {
        Liveness::Running
    }

    fn revoke_token(&self, name: &str) -> Result<(), Failure> {
        let mut url = self.url("tokens/", &[])?;
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().push(name);
        }
        self.call(Method::DELETE, url, None).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_breaks_now_and_then_is_followed_for_ever() {
        let mut failures = 0;
        for cursor in 0..10 * i64::from(PATIENCE) {
            failures = failures_in_a_row(failures, Some(cursor), Some(cursor + 1));
            failures = failures_in_a_row(failures, Some(cursor + 1), Some(cursor + 1));
            assert!(failures < PATIENCE, "{failures} after {cursor}");
        }
        let in_vain = (0..PATIENCE).fold(0, |failures, _| failures_in_a_row(failures, None, None));
        assert_eq!(in_vain, PATIENCE, "one that never reports anything is not");
        assert_eq!(failures_in_a_row(PATIENCE - 1, None, Some(0)), 0);
    }

    #[test]
    fn what_the_user_cannot_mend_is_no_mistake_of_theirs() {
        let failure =
            |status| ErrorBody { message: "m".to_owned(), hint: String::new() }.into_failure(status);
        for status in [301, 302, 307, 500, 503] {
            assert!(matches!(failure(status), Failure::Environment(_)), "{status}");
        }
        for status in [400, 404, 422] {
            assert!(matches!(failure(status), Failure::Input(_)), "{status}");
        }
    }
}
