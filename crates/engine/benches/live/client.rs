//! Our own client in a loop: what the guard, the limits, the pool and decompression cost by themselves, without
//! deciding, reading and storing.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dunlin_net::{Client, Request, Validators};

use crate::figures::{Pace, Stopwatch};
use crate::probing::network;
use crate::{AT_ONE_TIME, SECONDS};

pub(crate) fn pace(origin: SocketAddr, other_half: &str) -> Pace {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let answers = Arc::new(AtomicU64::new(0));
    let watch = Stopwatch::start();
    let until = Instant::now() + Duration::from_secs(SECONDS);
    runtime.block_on(async {
        let client = Client::new(network()).unwrap();
        let workers: Vec<_> = (0..AT_ONE_TIME)
            .map(|_| {
                tokio::spawn(ask_until(
                    client.clone(),
                    origin,
                    other_half.to_owned(),
                    until,
                    Arc::clone(&answers),
                ))
            })
            .collect();
        for worker in workers {
            worker.await.unwrap();
        }
    });
    watch.pace_of(answers.load(Ordering::Relaxed))
}

async fn ask_until(
    client: Client,
    origin: SocketAddr,
    other_half: String,
    until: Instant,
    answers: Arc<AtomicU64>,
) {
    let validators = Validators { etag: Some("\"one\"".to_owned()), last_modified: None };
    let known = Request::parse(&format!("http://{origin}/304/1")).unwrap().unless(validators);
    let other = Request::parse(&format!("http://{origin}/{other_half}/1")).unwrap();
    for request in [known, other].iter().cycle() {
        if Instant::now() >= until {
            return;
        }
        client.fetch(request.clone()).await.unwrap();
        answers.fetch_add(1, Ordering::Relaxed);
    }
}
