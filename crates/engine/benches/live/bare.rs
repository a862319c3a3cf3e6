//! The yardstick: the HTTP library in a loop, one connection per request under way, nothing done with the answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, header};
use http_body_util::{BodyExt as _, Empty};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::SECONDS;
use crate::figures::{Pace, Stopwatch};

pub(crate) fn pace(origin: SocketAddr, other_half: &str, at_one_time: usize) -> Pace {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let answers = Arc::new(AtomicU64::new(0));
    let watch = Stopwatch::start();
    let until = Instant::now() + Duration::from_secs(SECONDS);
    runtime.block_on(async {
        let workers: Vec<_> = (0..at_one_time)
            .map(|_| tokio::spawn(ask_until(origin, other_half.to_owned(), until, Arc::clone(&answers))))
            .collect();
        for worker in workers {
            worker.await.unwrap();
        }
    });
    watch.pace_of(answers.load(Ordering::Relaxed))
}

async fn ask_until(origin: SocketAddr, other_half: String, until: Instant, answers: Arc<AtomicU64>) {
    let stream = TcpStream::connect(origin).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sender, driver) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(driver);
    let other = format!("/{other_half}/1");
    for path in ["/304/1", &other].iter().cycle() {
        if Instant::now() >= until {
            return;
        }
        let request = Request::get(*path)
            .header(header::HOST, "127.0.0.1")
            .header(header::IF_NONE_MATCH, "\"one\"")
            .body(Empty::<Bytes>::new())
            .unwrap();
        sender.ready().await.unwrap();
        let answer = sender.send_request(request).await.unwrap();
        answer.into_body().collect().await.unwrap();
        answers.fetch_add(1, Ordering::Relaxed);
    }
}
