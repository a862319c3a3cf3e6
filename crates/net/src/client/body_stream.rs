//! A body as it arrives, as a byte stream that counts and refuses to wait for ever. Does not decompress.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::{Buf, Bytes};
use hyper::body::{Body, Incoming};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

use crate::error::{Error, Phase, Stage};
use crate::guard::Target;

/// How many bytes of a body have come in, readable while something else reads the body.
#[derive(Debug, Clone, Default)]
pub(super) struct Received(Arc<AtomicU64>);

impl Received {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The stream. Its errors carry an [`Error`] inside; [`unwrap_error`] takes it out.
pub(super) struct BodyStream {
    body: Incoming,
    piece: Bytes,
    has_ended: bool,
    received: Received,
    expected: Option<u64>,
    max_bytes: u64,
    idle: Duration,
    /// Set when the next piece has to be waited for; most bodies are there with their heads.
    alarm: Option<Pin<Box<Sleep>>>,
    target: Target,
}

impl BodyStream {
    pub(super) fn new(body: Incoming, target: Target, max_bytes: u64, idle: Duration) -> Self {
        Self {
            expected: body.size_hint().exact(),
            body,
            piece: Bytes::new(),
            has_ended: false,
            received: Received::default(),
            max_bytes,
            idle,
            alarm: None,
            target,
        }
    }

    /// The length that was announced, if any.
    pub(super) fn expected(&self) -> Option<u64> {
        self.expected
    }

    pub(super) fn received(&self) -> Received {
        self.received.clone()
    }

    /// Reads to the end and keeps nothing, so that the framing is checked and the connection can be used again.
    pub(super) async fn drain(&mut self) -> io::Result<()> {
        loop {
            let n_bytes = self.fill_buf().await?.len();
            if n_bytes == 0 {
                return Ok(());
            }
            AsyncBufReadExt::consume(self, n_bytes);
        }
    }

    fn accept(&mut self, piece: Bytes) -> Result<(), Error> {
        let before = self.received.0.fetch_add(piece.len() as u64, Ordering::Relaxed);
        if before + piece.len() as u64 > self.max_bytes {
            return Err(Error::BodyTooLarge {
                host: self.target.host_name(),
                limit: self.max_bytes,
                stage: Stage::Sent,
            });
        }
        self.piece = piece;
        Ok(())
    }

    fn broken(&self, reason: hyper::Error) -> Error {
        let host = self.target.host_name();
        if is_malformed(&reason) {
            Error::Protocol { host, reason }
        } else {
            Error::Truncated { host, received: self.received.get(), expected: self.expected }
        }
    }
}

/// Invalid framing, as opposed to a stream that ends too early.
fn is_malformed(error: &hyper::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput};
    error.is_parse()
        || std::error::Error::source(error)
            .and_then(|source| source.downcast_ref::<io::Error>())
            .is_some_and(|io| matches!(io.kind(), InvalidData | InvalidInput))
}

impl AsyncBufRead for BodyStream {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        while this.piece.is_empty() && !this.has_ended {
            match Pin::new(&mut this.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => {
                    if let Some(alarm) = &mut this.alarm {
                        alarm.as_mut().reset(Instant::now() + this.idle);
                    }
                    // Trailers say nothing that we use.
                    if let Ok(piece) = frame.into_data() {
                        this.accept(piece).map_err(io::Error::other)?;
                    }
                }
                Poll::Ready(Some(Err(reason))) => {
                    return Poll::Ready(Err(io::Error::other(this.broken(reason))));
                }
                Poll::Ready(None) => this.has_ended = true,
                Poll::Pending => {
                    let alarm = this.alarm.get_or_insert_with(|| Box::pin(sleep(this.idle)));
                    ready!(alarm.as_mut().poll(cx));
                    let (host, limit) = (this.target.host_name(), this.idle);
                    let error = Error::TimedOut { host, phase: Phase::Body, limit };
                    return Poll::Ready(Err(io::Error::other(error)));
                }
            }
        }
        Poll::Ready(Ok(&this.piece))
    }

    fn consume(self: Pin<&mut Self>, n_bytes: usize) {
        self.get_mut().piece.advance(n_bytes);
    }
}

impl AsyncRead for BodyStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let piece = ready!(self.as_mut().poll_fill_buf(cx))?;
        let n_bytes = piece.len().min(buffer.remaining());
        buffer.put_slice(&piece[..n_bytes]);
        self.consume(n_bytes);
        Poll::Ready(Ok(()))
    }
}

/// The [`Error`] inside an error of [`BodyStream`], or the error itself if it came from elsewhere.
pub(super) fn unwrap_error(error: io::Error) -> Result<Error, io::Error> {
    error.downcast::<Error>()
}
