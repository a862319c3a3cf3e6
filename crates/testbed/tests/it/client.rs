//! A client that takes whatever comes: one request per connection, and every byte until its end.

use std::net::SocketAddr;
use std::time::Duration;

use dunlin_lab::files::TraceFile;
use dunlin_testbed::{Options, Plan, Running, Testbed};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// What came over the wire.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// How the connection ended, if not in good order.
    pub(crate) broken: Option<std::io::ErrorKind>,
}

impl Reply {
    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap_or_default().parse().unwrap_or(0)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn announced(&self) -> usize {
        self.header("content-length").unwrap().parse().unwrap()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

/// A site of two sources, of which `a` has had one update at the start; the next comes after three hours.
pub(crate) async fn start() -> Running {
    start_with(|_| {}).await
}

pub(crate) async fn start_with(change: impl FnOnce(&mut Plan)) -> Running {
    let trace = TraceFile::read("source,time\na,0\nb c,0\na,10000\n".as_bytes(), "two").unwrap();
    let mut plan = Plan::of(trace);
    change(&mut plan);
    Testbed::start(Options { plan, listen: "127.0.0.1:0".parse().unwrap() }).await.unwrap()
}

pub(crate) async fn send(address: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Waits until the site was asked for something.
pub(crate) async fn until_asked(running: &Running) {
    let asking = async {
        while running.log().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), asking).await.expect("a request is logged when it comes");
}

/// Asks once, with these header lines, and reads to the end.
pub(crate) async fn ask(running: &Running, method: &str, target: &str, headers: &[&str]) -> Reply {
    let mut request = format!("{method} {target} HTTP/1.1\r\nHost: site.test:81\r\nConnection: close\r\n");
    for header in headers {
        request += header;
        request += "\r\n";
    }
    request += "\r\n";
    let mut stream = send(running.address(), &request).await;
    let mut bytes = Vec::new();
    let ended = stream.read_to_end(&mut bytes).await;
    let split = bytes.windows(4).position(|window| window == b"\r\n\r\n");
    let body = split.map_or_else(Vec::new, |split| bytes[split + 4..].to_vec());
    let head = bytes[..split.unwrap_or(bytes.len())].iter().map(|byte| char::from(*byte)).collect();
    Reply { head, body, broken: ended.err().map(|error| error.kind()) }
}

pub(crate) async fn get(running: &Running, target: &str) -> Reply {
    ask(running, "GET", target, &[]).await
}
