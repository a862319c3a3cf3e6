//! The guarded client: one GET with its redirects, or one call without, and their limits. Does not decide when
//! something may be fetched; that is [`crate::politeness`].
//!
//! Invariant: every URL and every address passes the guard, on the first request as on every redirect.

mod body_memory;
mod body_stream;
mod connection;
mod content;
mod dial;
mod lines;
mod pool;
mod redirect;
mod settings;

use std::sync::Arc;
use std::time::Duration;

use http::header::HeaderMap;
use http::{HeaderValue, Response, StatusCode, response};
use hyper::body::{Body, Incoming};
use rustls::RootCertStore;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};
use tokio_rustls::TlsConnector;
use url::Url;

use crate::call::Call;
use crate::cross_site::CrossSiteRedirect;
use crate::error::{Error, Phase};
use crate::fetched::{Fetched, Hop, Timings};
use crate::guard::{Refusal, Target};
use crate::redacted_url::RedactedUrl;
use crate::request::{Connections, Request};
use crate::resolve::{Resolve, SystemResolver};
use body_memory::BodyMemory;
use body_stream::BodyStream;
pub(crate) use connection::MAX_HEADER_LINES;
use connection::{Connection, RequestParts};
pub(crate) use content::Content;
use content::{Encoding, Reading};
use dial::{Dialler, NotDialled, timed_out};
pub use lines::Lines;
use pool::Pool;
pub use settings::{Downgrade, PoolSize, Settings, Sizes, Timeouts};

/// The longest page of a redirect that is read, in bytes.
const REDIRECT_PAGE: u64 = 16 << 10;

/// How long the next piece of it is waited for.
const REDIRECT_PATIENCE: Duration = Duration::from_secs(1);

/// Fetches. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Arc<Settings>,
    user_agent: HeaderValue,
    dialler: Dialler,
    pool: Arc<Pool>,
    slots: Semaphore,
    body_memory: Arc<BodyMemory>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("settings", &self.shared.settings).finish_non_exhaustive()
    }
}

impl Client {
    /// A client that looks names up as this system does.
    pub fn new(settings: Settings) -> Result<Self, Error> {
        let resolver =
            SystemResolver::new().map_err(|reason| Error::Resolve { host: "any host".to_owned(), reason })?;
        Self::with_resolver(settings, Arc::new(resolver))
    }

    /// A client that looks names up with `resolver`.
    pub fn with_resolver(settings: Settings, resolver: Arc<dyn Resolve>) -> Result<Self, Error> {
        let user_agent = HeaderValue::from_str(&settings.user_agent)
            .map_err(|error| Error::BadSetting { setting: "user_agent", reason: error.to_string() })?;
        if settings.memory < Settings::LEAST_MEMORY {
            let reason = format!("less than {} bytes", Settings::LEAST_MEMORY);
            return Err(Error::BadSetting { setting: "limits.memory", reason });
        }
        let tls = TlsConnector::from(Arc::new(tls_settings(&settings)?));
        let settings = Arc::new(settings);
        let shared = Shared {
            user_agent,
            pool: Pool::new(settings.pool),
            body_memory: BodyMemory::new(
                settings.memory,
                content::largest(&settings.sizes, connection::most_in_transit(settings.sizes.head)),
                // Much less than a server that sends nothing is given, much more than one that sends takes.
                settings.timeouts.idle / 5,
            ),
            slots: Semaphore::new(settings.pool.in_flight.clamp(1, Semaphore::MAX_PERMITS)),
            dialler: Dialler { settings: Arc::clone(&settings), resolver, tls },
            settings,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Asks, follows redirects, and reads the answer to its end.
    pub async fn fetch(&self, request: Request) -> Result<Fetched, Error> {
        let work = |deadline| Box::pin(self.shared.follow(&request, deadline));
        self.shared.within_limits(&request.url, work).await
    }

    /// Sends a call once and reads the answer to its end, with any status. A redirect is an answer like any other.
    pub async fn call(&self, call: Call) -> Result<Fetched, Error> {
        let work = |deadline| Box::pin(self.shared.call(&call, deadline));
        self.shared.within_limits(&call.url, work).await
    }

    /// Requests an answer that is read line by line and may be endless, such as a stream of events. A `silence`
    /// of more than this is an error. Redirects are not followed.
    pub async fn lines(&self, request: Request, silence: Duration) -> Result<Lines, Error> {
        let shared = &self.shared;
        let mut headers = request.all_headers(&shared.user_agent)?;
        // Compressed, an event would wait in a buffer for the next one.
        headers.insert(http::header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        let mut timings = Timings::default();
        let mut exchange = Exchange { shared, url: &request.url, n_hops: 0, timings: &mut timings };
        let parts = RequestParts::new(&request.url, headers)?;
        let (answer, target, connection) = exchange.run_once(parts).await?;
        let status = answer.status();
        Encoding::read(answer.headers(), &target)?.must_be_plain(&target)?;
        let stream = BodyStream::new(answer.into_body(), target.clone(), u64::MAX, silence);
        Ok(Lines::new(status, stream, target.host_name(), connection))
    }

    /// How many bytes of bodies are in memory: those that arrive, and those that a reader still holds.
    pub fn held_bytes(&self) -> u64 {
        self.shared.body_memory.held()
    }

    /// How many connections are kept for later.
    pub fn idle_connections(&self) -> usize {
        self.shared.pool.len()
    }
}

impl Shared {
    /// `work` gets its deadline.
    async fn within_limits<W: Future<Output = Result<Fetched, Error>>>(
        &self,
        url: &Url,
        work: impl FnOnce(Instant) -> W,
    ) -> Result<Fetched, Error> {
        let limit = self.settings.timeouts.total;
        let begin = Instant::now();
        let host = || url.host_str().unwrap_or_default().to_owned();
        let slot = match self.slots.try_acquire() {
            Ok(slot) => Some(slot),
            // Usually a slot is free and no timer is needed.
            Err(_) => timeout(limit, self.slots.acquire()).await.ok().and_then(Result::ok),
        };
        let Some(_slot) = slot else {
            return Err(Error::TimedOut { host: host(), phase: Phase::Queue, limit });
        };
        let deadline = Instant::now() + limit;
        let ended = timeout_at(deadline, work(deadline)).await;
        let mut fetched =
            ended.map_err(|_| Error::TimedOut { host: host(), phase: Phase::Total, limit })??;
        fetched.timings.total = begin.elapsed();
        Ok(fetched)
    }

    async fn call(&self, call: &Call, deadline: Instant) -> Result<Fetched, Error> {
        let mut timings = Timings::default();
        let mut exchange = Exchange { shared: self, url: &call.url, n_hops: 0, timings: &mut timings };
        let parts = RequestParts::new(&call.url, call.all_headers(&self.user_agent))?;
        let parts = parts.with(call.method.clone(), call.body.clone());
        let (answer, target, connection) = exchange.run_once(parts).await?;
        let (head, body) = answer.into_parts();
        let content = self.read(None, &head, body, &target, connection, deadline).await?;
        Ok(Fetched::new(&head, Arc::new(call.url.clone()), Vec::new(), content, timings))
    }

    async fn follow(&self, request: &Request, deadline: Instant) -> Result<Fetched, Error> {
        let (mut url, mut hops) = request.beginning();
        let mut timings = Timings::default();
        loop {
            let mut headers = request.all_headers(&self.user_agent)?;
            redirect::strip_along(&mut headers, &request.headers, &hops, &url);
            let mut exchange =
                Exchange { shared: self, url: &url, n_hops: hops.len(), timings: &mut timings };
            let (answer, target, connection) = exchange.run(headers, request.connections).await?;
            if let Some(next) = redirect::target(&answer, &url, &hops, &self.settings)? {
                let is_followed = request.may_follow(&url, &next);
                let from = Arc::unwrap_or_clone(std::mem::replace(&mut url, Arc::new(next)));
                hops.push(Hop { status: answer.status(), from });
                self.pass_over(answer.into_body(), &target, connection).await;
                if is_followed {
                    continue;
                }
                // A target that the guard refuses needs no decision by the caller.
                Exchange { shared: self, url: &url, n_hops: hops.len(), timings: &mut timings }.target()?;
                return Err(Error::CrossSiteRedirect {
                    redirect: Box::new(CrossSiteRedirect::new(hops, Arc::unwrap_or_clone(url))),
                });
            }
            let (head, body) = answer.into_parts();
            let content = self.read(request.keep_first, &head, body, &target, connection, deadline).await?;
            return Ok(Fetched::new(&head, url, hops, content, timings));
        }
    }

    async fn read(
        &self,
        keep_first: Option<u64>,
        head: &response::Parts,
        body: Incoming,
        target: &Target,
        connection: Connection,
        deadline: Instant,
    ) -> Result<Content, Error> {
        let has_no_body = matches!(head.status, StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT);
        let encoding = if has_no_body { Encoding::Identity } else { Encoding::read(&head.headers, target)? };
        let sizes = self.settings.sizes;
        let stream = BodyStream::new(body, target.clone(), sizes.sent, self.settings.timeouts.idle);
        let expected = stream.expected().filter(|_| encoding == Encoding::Identity);
        let (memory, in_transit) = (&self.body_memory, connection.in_transit(sizes.head));
        let reading = Reading { target, encoding, sizes, keep_first, expected, memory, in_transit, deadline };
        let content = reading.read(stream).await.inspect_err(|_| self.pool.forget(target))?;
        if !content.is_cut {
            self.pool.put(target, connection);
        }
        Ok(content)
    }

    /// Lets go of a redirect's page. A short one is read, since the next request often goes to the same host and
    /// can then use the same connection; a long one costs more than a new connection does.
    async fn pass_over(&self, body: Incoming, target: &Target, connection: Connection) {
        let idle = self.settings.timeouts.idle.min(REDIRECT_PATIENCE);
        let is_short = body.size_hint().exact().is_some_and(|bytes| bytes <= REDIRECT_PAGE);
        let mut stream = BodyStream::new(body, target.clone(), REDIRECT_PAGE, idle);
        if connection.share().is_some() || (is_short && stream.drain().await.is_ok()) {
            self.pool.put(target, connection);
        }
    }
}

/// One request of a fetch, which may be the target of a redirect.
struct Exchange<'a> {
    shared: &'a Shared,
    url: &'a Url,
    n_hops: usize,
    timings: &'a mut Timings,
}

impl Exchange<'_> {
    async fn run(
        &mut self,
        headers: HeaderMap,
        connections: Connections,
    ) -> Result<(Response<Incoming>, Target, Connection), Error> {
        let target = self.target()?;
        let parts = RequestParts::new(self.url, headers)?;
        let kept = if connections == Connections::New { None } else { self.shared.pool.take(&target) };
        let Some(mut kept) = kept else { return self.run_on_new_connection(target, parts).await };
        // The server may close it just as we begin; a GET can be sent again, on a new connection.
        let again = (connections == Connections::Any).then(|| parts.clone());
        match self.send(&target, &mut kept, parts).await {
            Ok(answer) => Ok((answer, target, kept)),
            Err(error) => {
                self.shared.pool.forget(&target);
                match (error.is_stale_connection(), again) {
                    (false, _) => Err(error),
                    (true, None) => Err(Error::Stale { host: target.host_name() }),
                    (true, Some(parts)) => self.run_on_new_connection(target, parts).await,
                }
            }
        }
    }

    /// Sends on a new connection, so that there is never a reason to send a second time.
    async fn run_once(
        &mut self,
        parts: RequestParts,
    ) -> Result<(Response<Incoming>, Target, Connection), Error> {
        self.run_on_new_connection(self.target()?, parts).await
    }

    fn target(&self) -> Result<Target, Error> {
        self.shared.settings.guard.check_url(self.url).map_err(|refusal| self.refused(refusal))
    }

    async fn run_on_new_connection(
        &mut self,
        target: Target,
        parts: RequestParts,
    ) -> Result<(Response<Incoming>, Target, Connection), Error> {
        // Boxed: a handshake keeps kilobytes, and most fetches need none.
        let dialled = Box::pin(self.shared.dialler.dial(&target, self.timings)).await;
        let mut connection = dialled.map_err(|error| match error {
            NotDialled::Refused(refusal) => self.refused(refusal),
            NotDialled::Failed(error) => error,
        })?;
        let answer = self.send(&target, &mut connection, parts).await?;
        Ok((answer, target, connection))
    }

    async fn send(
        &mut self,
        target: &Target,
        connection: &mut Connection,
        parts: RequestParts,
    ) -> Result<Response<Incoming>, Error> {
        let begin = Instant::now();
        let limit = self.shared.settings.timeouts.first_byte;
        let answer = timeout(limit, connection.send(parts)).await;
        self.timings.first_byte += begin.elapsed();
        answer.map_err(|_| timed_out(target, Phase::FirstByte, limit))?.map_err(|reason| {
            let host = target.host_name();
            if reason.is_parse_too_large() {
                Error::HeadTooLarge { host, limit: self.shared.settings.sizes.head }
            } else {
                Error::Protocol { host, reason }
            }
        })
    }

    fn refused(&self, refusal: Refusal) -> Error {
        Error::Refused { url: RedactedUrl::of(self.url), refusal, hops: self.n_hops }
    }
}

fn tls_settings(settings: &Settings) -> Result<rustls::ClientConfig, Error> {
    let bad = |setting, reason: rustls::Error| Error::BadSetting { setting, reason: reason.to_string() };
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for root in &settings.extra_roots {
        roots.add(root.clone()).map_err(|reason| bad("extra_roots", reason))?;
    }
    // Named here rather than installed for the process, so that a library decides nothing for its program.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|reason| bad("TLS versions", reason))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(tls)
}
