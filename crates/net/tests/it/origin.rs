//! A hostile web server on 127.0.0.1: answers each request with the bytes, pauses and hang-ups of a script.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One thing that the server does.
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Sends this again and again until the client hangs up.
    Flood(Vec<u8>),
    /// The same, slowly.
    Drip(Vec<u8>),
    /// Sends this byte by byte, twenty in a second.
    Slowly(Vec<u8>),
    /// Says nothing until the client hangs up.
    Hang,
    Close,
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Connections are counted from 0.
    pub(crate) connection: usize,
    pub(crate) path: String,
    /// The whole head, as Latin-1.
    pub(crate) head: String,
    /// As many bytes as `Content-Length` says.
    pub(crate) body: Vec<u8>,
}

impl Seen {
    /// The value of a header, if it was sent.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

type Script = dyn Fn(&Seen) -> Vec<Step> + Send + Sync;

/// A running server; ends with the test's runtime.
pub(crate) struct Origin {
    pub(crate) address: SocketAddr,
    log: Arc<Mutex<Vec<Seen>>>,
}

impl Origin {
    /// Serves plain HTTP.
    pub(crate) async fn start(script: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> Self {
        Self::start_over(script, |stream| Box::pin(async move { Some(Box::new(stream) as Stream) })).await
    }

    /// Serves over the stream that `wrap` makes of a TCP stream.
    pub(crate) async fn start_over<W>(
        script: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static,
        wrap: W,
    ) -> Self
    where
        W: Fn(TcpStream) -> Pin<Box<dyn Future<Output = Option<Stream>> + Send>> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (script, seen): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&log));
        tokio::spawn(async move {
            for connection in 0.. {
                let (stream, _) = listener.accept().await.unwrap();
                let (script, seen, stream) = (Arc::clone(&script), Arc::clone(&seen), wrap(stream));
                tokio::spawn(async move {
                    if let Some(stream) = stream.await {
                        serve(stream, connection, &*script, &seen).await;
                    }
                });
            }
        });
        Self { address, log }
    }

    /// The URL of `path` under the server's address.
    pub(crate) fn url(&self, path: &str) -> String {
        self.url_as("127.0.0.1", path)
    }

    /// The URL of `path` under a name that a resolver of the test knows.
    pub(crate) fn url_as(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.address.port())
    }

    /// Every request so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.log.lock().unwrap().clone()
    }

    /// Paths with the number of their connection, in order of arrival.
    pub(crate) fn paths(&self) -> Vec<(usize, String)> {
        self.seen().into_iter().map(|seen| (seen.connection, seen.path)).collect()
    }
}

pub(crate) trait ReadWrite: AsyncRead + AsyncWrite + Unpin + Send {}
impl<T: AsyncRead + AsyncWrite + Unpin + Send> ReadWrite for T {}
pub(crate) type Stream = Box<dyn ReadWrite>;

async fn serve(mut stream: Stream, connection: usize, script: &Script, log: &Mutex<Vec<Seen>>) {
    while let Some(head) = read_head(&mut stream).await {
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let mut seen = Seen { connection, path, head, body: Vec::new() };
        let length = seen.header("content-length").map_or(0, |length| length.parse().unwrap());
        seen.body = vec![0; length];
        if stream.read_exact(&mut seen.body).await.is_err() {
            return;
        }
        log.lock().unwrap().push(seen.clone());
        for step in script(&seen) {
            if !play(&mut stream, step).await {
                return;
            }
        }
    }
}

async fn read_head(stream: &mut Stream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    Some(head.into_iter().map(char::from).collect())
}

/// Whether the connection goes on.
async fn play(stream: &mut Stream, step: Step) -> bool {
    match step {
        Step::Send(bytes) => stream.write_all(&bytes).await.is_ok() && stream.flush().await.is_ok(),
        Step::Flood(bytes) => {
            while stream.write_all(&bytes).await.is_ok() {}
            false
        }
        Step::Drip(bytes) => {
            let mut drops = tokio::time::interval(Duration::from_millis(2));
            while stream.write_all(&bytes).await.is_ok() && stream.flush().await.is_ok() {
                drops.tick().await;
            }
            false
        }
        Step::Slowly(bytes) => {
            let mut drops = tokio::time::interval(Duration::from_millis(50));
            for byte in bytes {
                drops.tick().await;
                if stream.write_all(&[byte]).await.is_err() || stream.flush().await.is_err() {
                    return false;
                }
            }
            true
        }
        Step::Hang => {
            while stream.read_u8().await.is_ok() {}
            false
        }
        Step::Close => {
            // Over TLS this says goodbye; over TCP it ends the sending side.
            let _ = stream.shutdown().await;
            false
        }
    }
}

/// An answer with a right `Content-Length`.
pub(crate) fn answer(status: &str, headers: &[&str], body: &[u8]) -> Vec<Step> {
    let mut bytes = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len()).into_bytes();
    for header in headers {
        bytes.extend(header.chars().map(|c| u8::try_from(c).unwrap()));
        bytes.extend(b"\r\n");
    }
    bytes.extend(b"\r\n");
    bytes.extend(body);
    vec![Step::Send(bytes)]
}

/// An answer that sends the client elsewhere.
pub(crate) fn redirect(to: &str) -> Vec<Step> {
    answer("302 Found", &[&format!("Location: {to}")], b"")
}

/// Exactly these bytes, and then the end.
pub(crate) fn raw(bytes: &[u8]) -> Vec<Step> {
    vec![Step::Send(bytes.to_vec()), Step::Close]
}
