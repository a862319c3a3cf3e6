//! A connection that gives up when the other side has not taken anything for too long. Without it, a reader that stops
//! reading would keep its slot for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// Bytes both ways, with a limit on how long writing may stand still. Reading may take any time.
pub(super) struct StallGuard<S> {
    stream: S,
    patience: Duration,
    /// Runs while a write waits.
    waiting: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl<S> StallGuard<S> {
    pub(super) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, waiting: Box::pin(tokio::time::sleep(patience)), is_waiting: false }
    }

    fn guard<T>(&mut self, context: &mut Context<'_>, done: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if done.is_ready() {
            self.is_waiting = false;
            return done;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.waiting.as_mut().reset(Instant::now() + self.patience);
        }
        match self.waiting.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for StallGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for StallGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.guard(context, done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(context);
        self.guard(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(context);
        self.guard(context, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.guard(context, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// It takes longer than the patience in all, but never so long for a byte.
    #[tokio::test]
    async fn a_reader_that_is_slow_but_goes_on_reading_is_waited_for() {
        let (patience, n_bytes) = (Duration::from_secs(1), 16);
        let (ours, mut theirs) = tokio::io::duplex(1);
        let begun = Instant::now();
        let mut guarded = StallGuard::new(ours, patience);
        let writing = tokio::spawn(async move { guarded.write_all(&vec![7; n_bytes]).await });
        let mut ticks = tokio::time::interval(patience / 8);
        for _ in 0..n_bytes {
            ticks.tick().await;
            assert_eq!(theirs.read_u8().await.unwrap(), 7);
        }
        writing.await.unwrap().unwrap();
        assert!(begun.elapsed() > patience);
    }
}
