//! An HTTP client that does what tests want: any header, any body, streams event by event. One connection per request.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{HeaderMap, Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// Nothing in these tests takes this long unless it is broken.
const PATIENCE: Duration = Duration::from_mins(1);

#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Status and code of an error, after checking that it has the form that all errors have.
    pub(crate) fn error(&self) -> (u16, String) {
        let error = &self.json()["error"];
        assert!(!error["message"].as_str().unwrap().is_empty(), "{error}");
        assert!(!error["hint"].as_str().unwrap().is_empty(), "{error}");
        (self.status, error["code"].as_str().unwrap().to_owned())
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Client {
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path, Bytes::new())).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path, Bytes::new())).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::POST, path, body.to_string().into())).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PUT, path, body.to_string().into())).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PATCH, path, body.to_string().into())).await
    }

    /// A request under `/api/v1` with what every client sends; the test may alter it.
    pub(crate) fn request(&self, method: Method, path: &str, body: Bytes) -> Request<Full<Bytes>> {
        Request::builder()
            .method(method)
            .uri(format!("/api/v1{path}"))
            .header("host", self.address.to_string())
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .body(Full::new(body))
            .unwrap()
    }

    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Answer {
        let answered = async {
            let (head, body) = self.begin(request).await.into_parts();
            let body = body.collect().await.unwrap().to_bytes();
            Answer { status: head.status.as_u16(), headers: head.headers, body }
        };
        tokio::time::timeout(PATIENCE, answered).await.expect("an answer")
    }

    async fn begin(&self, request: Request<Full<Bytes>>) -> Response<Incoming> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request).await.unwrap()
    }

    /// Follows `/stream`; the query may be empty.
    pub(crate) async fn follow(&self, query: &str, last_event: Option<i64>) -> Follower {
        let mut request = self.request(Method::GET, &format!("/stream{query}"), Bytes::new());
        if let Some(cursor) = last_event {
            request.headers_mut().insert("last-event-id", cursor.into());
        }
        let response = self.begin(request).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Follower { body: response.into_body(), unread: String::new() }
    }
}

/// A stream of events, read as the standard says.
pub(crate) struct Follower {
    body: Incoming,
    unread: String,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<i64>,
    pub(crate) name: String,
    pub(crate) data: String,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

impl Follower {
    /// The next block of lines, even one without data; `None` at the end.
    pub(crate) async fn block(&mut self) -> Option<Event> {
        let reading = async {
            loop {
                if let Some((block, rest)) = self.unread.split_once("\n\n") {
                    let event = parsed(block);
                    self.unread = self.unread.split_off(self.unread.len() - rest.len());
                    return Some(event);
                }
                let frame = self.body.frame().await?.ok()?;
                let data = frame.into_data().unwrap_or_default();
                self.unread += std::str::from_utf8(&data).expect("whole characters in each page");
            }
        };
        tokio::time::timeout(PATIENCE, reading).await.expect("an event")
    }

    /// The next event that has data.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        loop {
            let event = self.block().await?;
            if !event.data.is_empty() {
                return Some(event);
            }
        }
    }
}

fn parsed(block: &str) -> Event {
    let mut event = Event::default();
    for line in block.lines() {
        match line.split_once(": ").unwrap_or((line, "")) {
            ("id", id) => event.id = Some(id.parse().unwrap()),
            ("event", name) => name.clone_into(&mut event.name),
            ("data", data) => event.data += data,
            _ => {}
        }
    }
    event
}
