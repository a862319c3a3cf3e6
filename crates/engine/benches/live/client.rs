//! Our own client in a loop over the same URLs: what the guard, the limits, the pool and decompression cost by
//! themselves, without deciding, reading and storing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use dunlin_net::{Client, Request, Validators};

use crate::figures::{Pace, Stopwatch};
use crate::probing::network;
use crate::{AT_ONE_TIME, WINDOW, Web, origin};

pub(crate) fn pace(web: &Web) -> Pace {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (answers, next) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicUsize::new(0)));
    let requests: Arc<Vec<Request>> = Arc::new((0..web.n_urls).map(|number| request(web, number)).collect());
    let watch = Stopwatch::start();
    let until = Instant::now() + WINDOW;
    runtime.block_on(async {
        let client = Client::new(network()).unwrap();
        let workers: Vec<_> = (0..AT_ONE_TIME)
            .map(|_| {
                let (client, requests) = (client.clone(), Arc::clone(&requests));
                let (answers, next) = (Arc::clone(&answers), Arc::clone(&next));
                tokio::spawn(async move {
                    while Instant::now() < until {
                        let number = next.fetch_add(1, Ordering::Relaxed) % requests.len();
                        client.fetch(requests[number].clone()).await.unwrap();
                        answers.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.await.unwrap();
        }
    });
    watch.pace_of(answers.load(Ordering::Relaxed), watch.elapsed())
}

fn request(web: &Web, number: usize) -> Request {
    let request = Request::parse(&web.url(number)).unwrap();
    if !web.is_known(number) {
        return request;
    }
    request.unless(Validators { etag: Some(origin::ETAG.to_owned()), last_modified: None })
}
