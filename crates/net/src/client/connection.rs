//! One HTTP connection of either version. Knows nothing about hosts, pools or limits on time.

use bytes::Bytes;
use http::header::{HOST, HeaderMap, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{Method, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use url::{Position, Url};

use crate::error::Error;
use crate::redacted_url::RedactedUrl;

/// The most header lines in an answer. A line costs memory beyond its bytes.
pub(crate) const MAX_HEADER_LINES: usize = 256;

/// The least that one read of HTTP/1.1 may bring; hyper accepts nothing below 8 KiB.
const LEAST_READ: usize = 64 << 10;

/// What a server may send of one HTTP/2 body before any of it is read, and of all bodies of a connection. More would
/// make distant servers faster, and every unread body larger.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 1 << 20;

/// The most that may have been received of a body and not yet been read.
pub(super) fn most_in_transit(max_head: usize) -> u64 {
    (max_head.max(LEAST_READ) as u64).max(u64::from(STREAM_WINDOW))
}

/// Something a request can be sent on. A task of its own drives the socket and ends when this is dropped.
#[derive(Debug)]
pub(super) enum Connection {
    /// One request at a time.
    Http1(http1::SendRequest<Full<Bytes>>),
    /// Many requests at a time, over clones.
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Connection {
    /// Begins HTTP/1.1 on an open stream.
    pub(super) async fn http1<S>(stream: S, max_head: usize) -> Result<Self, hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, driver) = http1::Builder::new()
            .max_header_size(max_head)
            // Also what one read of a body may bring.
            .max_buf_size(max_head.max(LEAST_READ))
            .max_headers(MAX_HEADER_LINES)
            .handshake(TokioIo::new(stream))
            .await?;
        // Its error, if any, also reaches the active request.
        tokio::spawn(driver);
        Ok(Self::Http1(sender))
    }

    /// Begins HTTP/2 on an open stream.
    pub(super) async fn http2<S>(stream: S, max_head: usize) -> Result<Self, hyper::Error>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, driver) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(u32::try_from(max_head).unwrap_or(u32::MAX))
            .handshake(TokioIo::new(stream))
            .await?;
        tokio::spawn(driver);
        Ok(Self::Http2(sender))
    }

    /// What may have been received of a body over it and not yet been read.
    pub(super) fn in_transit(&self, max_head: usize) -> u64 {
        match self {
            Self::Http1(_) => max_head.max(LEAST_READ) as u64,
            Self::Http2(_) => u64::from(STREAM_WINDOW),
        }
    }

    /// A second handle, where the protocol allows one.
    pub(super) fn share(&self) -> Option<Self> {
        match self {
            Self::Http1(_) => None,
            Self::Http2(sender) => Some(Self::Http2(sender.clone())),
        }
    }

    /// Whether the other side is known to have closed it.
    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Http1(sender) => sender.is_closed(),
            Self::Http2(sender) => sender.is_closed(),
        }
    }

    /// Sends a request and waits for the head of the answer.
    pub(super) async fn send(&mut self, parts: RequestParts) -> Result<Response<Incoming>, hyper::Error> {
        match self {
            Self::Http1(sender) => {
                sender.ready().await?;
                sender.send_request(parts.for_http1()).await
            }
            Self::Http2(sender) => {
                sender.ready().await?;
                sender.send_request(parts.for_http2()).await
            }
        }
    }
}

/// A request in the parts that both versions of the protocol are made from.
#[derive(Debug, Clone)]
pub(super) struct RequestParts {
    scheme: Scheme,
    authority: Authority,
    path: PathAndQuery,
    headers: HeaderMap,
    method: Method,
    body: Bytes,
}

impl RequestParts {
    /// A GET.
    pub(super) fn new(url: &Url, headers: HeaderMap) -> Result<Self, Error> {
        let bad_path = || Error::BadPath { url: RedactedUrl::of(url) };
        let scheme = if url.scheme() == "https" { Scheme::HTTPS } else { Scheme::HTTP };
        let authority = url[Position::BeforeHost..Position::AfterPort].parse().map_err(|_| bad_path())?;
        let path = url[Position::BeforePath..Position::AfterQuery].parse().map_err(|_| bad_path())?;
        Ok(Self { scheme, authority, path, headers, method: Method::GET, body: Bytes::new() })
    }

    /// The same with another method and a body.
    pub(super) fn with(mut self, method: Method, body: Bytes) -> Self {
        (self.method, self.body) = (method, body);
        self
    }

    fn for_http1(mut self) -> http::Request<Full<Bytes>> {
        let host = HeaderValue::from_str(self.authority.as_str()).expect("an authority is visible ASCII");
        self.headers.insert(HOST, host);
        let uri = Uri::from(self.path);
        request(self.method, uri, self.headers, self.body)
    }

    fn for_http2(self) -> http::Request<Full<Bytes>> {
        let mut parts = http::uri::Parts::default();
        parts.scheme = Some(self.scheme);
        parts.authority = Some(self.authority);
        parts.path_and_query = Some(self.path);
        let uri = Uri::from_parts(parts).expect("all three parts are there");
        request(self.method, uri, self.headers, self.body)
    }
}

fn request(method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> http::Request<Full<Bytes>> {
    let mut request = http::Request::new(Full::new(body));
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    request
}
