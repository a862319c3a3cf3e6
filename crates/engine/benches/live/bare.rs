//! The yardstick: the HTTP library in a loop over the same URLs, one connection per active request, nothing done with
//! the answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::figures::{Pace, Stopwatch};
use crate::{AT_ONE_TIME, WINDOW, Web, origin};

pub(crate) fn pace(web: &Web) -> Pace {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (answers, next) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicUsize::new(0)));
    let watch = Stopwatch::start();
    let until = Instant::now() + WINDOW;
    runtime.block_on(async {
        let ask = |_| tokio::spawn(ask_until(web.clone(), until, Arc::clone(&answers), Arc::clone(&next)));
        let workers: Vec<_> = (0..AT_ONE_TIME).map(ask).collect();
        for worker in workers {
            worker.await.unwrap();
        }
    });
    watch.pace_of(answers.load(Ordering::Relaxed), watch.elapsed())
}

async fn ask_until(web: Web, until: Instant, answers: Arc<AtomicU64>, next: Arc<AtomicUsize>) {
    let stream = TcpStream::connect(web.origin).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sender, driver) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(driver);
    while Instant::now() < until {
        let number = next.fetch_add(1, Ordering::Relaxed) % web.n_urls;
        let mut request = Request::get(web.path(number)).header(header::HOST, "127.0.0.1");
        if web.is_known(number) {
            request = request.header(header::IF_NONE_MATCH, origin::ETAG);
        }
        sender.ready().await.unwrap();
        let answer = sender.send_request(request.body(Empty::<Bytes>::new()).unwrap()).await.unwrap();
        answer.into_body().collect().await.unwrap();
        answers.fetch_add(1, Ordering::Relaxed);
    }
}
