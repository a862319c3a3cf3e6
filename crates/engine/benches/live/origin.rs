//! The pages that both sides fetch: `/304/N` answers "not changed" to its own `ETag`, `/same/N` is the same page
//! every time and says nothing to recognise it by, `/new/N` has a new line in every answer, `/seldom/N` in every fourth.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};

use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

pub(crate) const ETAG: &str = "\"one\"";

static ANSWERS: AtomicU64 = AtomicU64::new(0);
/// How often each of the pages that change now and then was asked for.
static ASKED: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

/// Serves until the process is ended. Its address is the first line of its output.
pub(crate) fn serve() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        println!("{}", listener.local_addr().unwrap());
        let pages: &'static [Bytes; 2] = Box::leak(Box::new([page(0), page(1)]));
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let service =
                service_fn(move |request| async move { Ok::<_, Infallible>(answer(&request, pages)) });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
}

fn answer(request: &Request<Incoming>, pages: &[Bytes; 2]) -> Response<Full<Bytes>> {
    let head = Response::builder().header(header::CONTENT_TYPE, "text/html; charset=utf-8");
    let path = request.uri().path();
    let full = if path.starts_with("/304/") {
        if request.headers().get(header::IF_NONE_MATCH).is_some_and(|tag| tag == ETAG) {
            return head
                .status(StatusCode::NOT_MODIFIED)
                .header(header::ETAG, ETAG)
                .body(Full::default())
                .unwrap();
        }
        head.header(header::ETAG, ETAG).body(Full::new(pages[0].clone()))
    } else if path.starts_with("/new/") || path.starts_with("/seldom/") {
        let edition = if path.starts_with("/new/") {
            ANSWERS.fetch_add(1, Ordering::Relaxed)
        } else {
            let mut asked = ASKED.lock().unwrap();
            let n_asked = asked.entry(path.to_owned()).or_default();
            *n_asked += 1;
            *n_asked / 4
        };
        let line = format!("<p>Edition {edition}.</p>");
        let mut body = Vec::with_capacity(pages[1].len() + line.len());
        body.extend_from_slice(&pages[1]);
        body.extend_from_slice(line.as_bytes());
        head.body(Full::new(Bytes::from(body)))
    } else {
        head.body(Full::new(pages[1].clone()))
    };
    full.unwrap()
}

/// The first state of a page.
pub(crate) fn first_page(path: &str) -> Vec<u8> {
    static PAGES: LazyLock<[Bytes; 2]> = LazyLock::new(|| [page(0), page(1)]);
    PAGES[usize::from(!path.starts_with("/304/"))].to_vec()
}

/// About 10 KB of paragraphs.
fn page(seed: u64) -> Bytes {
    const WORDS: [&str; 8] = ["harbour", "tide", "wind", "sand", "the", "rising", "of", "quiet"];
    let mut state = seed + 1;
    let mut html =
        String::from("<!doctype html><html><head><title>Shore</title></head><body><article><h1>Shore</h1>");
    while html.len() < 10_000 {
        html.push_str("<p>");
        for _ in 0..40 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            write!(html, "{} ", WORDS[(state >> 61) as usize]).unwrap();
        }
        html.push_str("</p>");
    }
    Bytes::from(html)
}
