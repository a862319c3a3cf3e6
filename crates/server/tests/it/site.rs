//! A web site in the same process. What it serves is what the test last said; under `/growing/` every request finds one
//! entry more than the one before.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

#[derive(Default)]
struct Content {
    pages: BTreeMap<String, (String, String)>,
    asked: BTreeMap<String, (usize, HeaderMap)>,
}

#[derive(Clone)]
pub(crate) struct Site {
    address: SocketAddr,
    content: Arc<Mutex<Content>>,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let site = Self { address: listener.local_addr().unwrap(), content: Arc::default() };
        let serving = site.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let site = serving.clone();
                let answer = service_fn(move |request: hyper::Request<_>| {
                    let (path, headers) = (request.uri().path().to_owned(), request.headers().clone());
                    let answer = site.answer(&path, headers);
                    async move { Ok::<_, std::convert::Infallible>(answer) }
                });
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), answer));
            }
        });
        site
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// From now on, `path` shows this.
    pub(crate) fn show(&self, path: &str, media_type: &str, body: &str) {
        let mut content = self.content.lock().unwrap();
        content.pages.insert(path.to_owned(), (media_type.to_owned(), body.to_owned()));
    }

    /// The headers that came with the last request for `path`.
    pub(crate) fn last_headers(&self, path: &str) -> HeaderMap {
        self.content.lock().unwrap().asked.get(path).map(|(_, headers)| headers.clone()).unwrap_or_default()
    }

    fn answer(&self, path: &str, headers: HeaderMap) -> Response<Full<Bytes>> {
        let mut content = self.content.lock().unwrap();
        let asked = content.asked.entry(path.to_owned()).or_default();
        *asked = (asked.0 + 1, headers);
        let n_asked = asked.0;
        if path.starts_with("/growing/") {
            let entry = |n: usize| format!("<item><guid>{path}#{n}</guid><title>entry {n}</title></item>");
            let entries: String = (n_asked.saturating_sub(20)..=n_asked).rev().map(entry).collect();
            let feed = format!("<rss version='2.0'><channel><title>growing</title>{entries}</channel></rss>");
            return response(200, "application/rss+xml", feed);
        }
        match content.pages.get(path) {
            Some((media_type, body)) => response(200, media_type, body.clone()),
            None => response(404, "text/plain", "nothing here".to_owned()),
        }
    }
}

fn response(status: u16, media_type: &str, body: String) -> Response<Full<Bytes>> {
    let builder = Response::builder().status(status).header("content-type", media_type);
    builder.body(Full::new(body.into())).unwrap()
}
