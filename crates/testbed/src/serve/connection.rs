//! One connection: requests are read by hyper and answered by the site. Where a response has to break HTTP, the
//! connection is taken away from hyper and given to `raw`.

use std::convert::Infallible;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};

use super::{Shared, raw};
use crate::address::Address;
use crate::log::Logged;
use crate::{Delivery, Request, SiteResponse};

/// How long a client may take over the head of its request, or stay idle.
const HEAD_TIMEOUT: Duration = Duration::from_mins(1);

/// A response that hyper cannot give, and the request it is for.
#[derive(Debug)]
struct HandedOver {
    answer: SiteResponse,
    number: u64,
}

/// Serves a connection until the client, a fault or `stopped` ends it.
pub(super) async fn serve(stream: TcpStream, shared: Arc<Shared>, mut stopped: watch::Receiver<()>) {
    // Small writes are the point of some faults.
    let _ = stream.set_nodelay(true);
    let (hand_over, mut handed_over) = mpsc::channel::<HandedOver>(1);
    let service = service_fn(|request| respond(&shared, &hand_over, request));
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let taken = tokio::select! {
        // A client that breaks off is none of our business.
        _ = &mut connection => return,
        taken = handed_over.recv() => taken,
        _ = stopped.changed() => {
            std::pin::Pin::new(&mut connection).graceful_shutdown();
            tokio::select! {
                _ = &mut connection => {}
                _ = handed_over.recv() => {}
            }
            return;
        }
    };
    let Some(HandedOver { answer, number }) = taken else { return };
    let stream = connection.into_parts().io.into_inner();
    tokio::select! {
        () = raw::deliver(stream, &answer) => {}
        _ = stopped.changed() => {}
    }
    shared.log().note_answered(number, shared.clock.now());
}

async fn respond(
    shared: &Shared,
    hand_over: &mpsc::Sender<HandedOver>,
    request: hyper::Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let received = shared.clock.now();
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    if target.starts_with("/_") {
        return Ok(into_response(attend(shared, request.method(), target)));
    }
    let own_address = shared.address.to_string();
    let (number, mut answer) = {
        let site = shared.site.read().unwrap_or_else(PoisonError::into_inner);
        let asked = Request {
            target,
            host: host(request.headers()).unwrap_or(&own_address),
            if_none_match: text(request.headers(), header::IF_NONE_MATCH),
            if_modified_since: text(request.headers(), header::IF_MODIFIED_SINCE),
            visit: shared.visit(site.source_at(target)),
        };
        let answer = match *request.method() {
            Method::GET | Method::HEAD => site.respond(&asked, received),
            _ => SiteResponse::text(405, "only GET and HEAD\n"),
        };
        let is_sent = !matches!(answer.delivery, Delivery::Never | Delivery::Reset | Delivery::Garbage);
        let logged = Logged {
            number: 0,
            received,
            answered: None,
            method: request.method().to_string(),
            target: target.to_owned(),
            source: answer.served.map(|served| site.sources()[served.source.index()].clone()),
            status: is_sent.then_some(answer.status),
            conditional: asked.is_conditional(),
            version: answer.served.map(|served| served.version),
            fault: answer.fault.as_ref().map(ToString::to_string),
        };
        (shared.log().note(logged), answer)
    };
    match answer.delivery {
        Delivery::Plain => {}
        Delivery::Late(pause) => tokio::time::sleep(pause).await,
        _ => {
            if request.method() == Method::HEAD {
                answer.body.clear();
            }
            // The connection is taken away while this waits.
            let _ = hand_over.send(HandedOver { answer, number }).await;
            return std::future::pending().await;
        }
    }
    shared.log().note_answered(number, shared.clock.now());
    Ok(into_response(answer))
}

/// The addresses for the person who runs the test.
fn attend(shared: &Shared, method: &Method, target: &str) -> SiteResponse {
    let now = shared.clock.now();
    let address = Address::parse(target);
    match (method, address.path) {
        (&Method::GET, "/_log") => {
            let after = address.parameter("after").map_or(Ok(0), |number| number.parse());
            let Ok(after) = after else {
                return SiteResponse::text(400, "after (expected the number of a request)\n");
            };
            SiteResponse::new(200, "application/x-ndjson", shared.log().json_lines(after))
        }
        (&Method::GET, _) => {
            let site = shared.site.read().unwrap_or_else(PoisonError::into_inner);
            site.respond(&Request::get(target), now)
        }
        (&Method::POST, _) => {
            shared.site.write().unwrap_or_else(PoisonError::into_inner).control(target, now)
        }
        _ => SiteResponse::text(405, "only GET, and POST for /_fault\n"),
    }
}

fn into_response(answer: SiteResponse) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(answer.body)));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in answer.headers {
        if let Ok(value) = HeaderValue::from_str(&value) {
            response.headers_mut().append(HeaderName::from_static(name), value);
        }
    }
    response
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The name by which the client knows us, if it can stand in an address.
fn host(headers: &HeaderMap) -> Option<&str> {
    let fits = |host: &&str| {
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
        (1..=255).contains(&host.len()) && host.bytes().all(safe)
    };
    text(headers, header::HOST).filter(fits)
}
