//! Connections: accepted while there is room, read within limits, and ended in an orderly way. Knows no route.
//!
//! Invariant: after [`Running::stop`] nothing of the server runs any more.

mod stall;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use dunlin_engine::Handle;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::app::App;
use crate::{Error, Options, routes};
use stall::StallGuard;

/// How long a client may take to send the head of a request, or to begin another.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// How long to wait after the system refuses a connection, mostly because no descriptors are left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves an engine over HTTP.
#[derive(Debug, Clone, Copy)]
pub struct Server;

impl Server {
    /// Listens, and answers requests until [`Running::stop`].
    pub async fn start(engine: Handle, options: Options) -> Result<Running, Error> {
        Ok(Self::bind(options.listen).await?.serve(engine, options))
    }

    /// Takes an address without answering yet, for whoever wants to know that it is free before anything else is done.
    pub async fn bind(listen: SocketAddr) -> Result<Bound, Error> {
        let refused = |reason: std::io::Error| Error::Listen { address: listen, reason: reason.to_string() };
        let listener = TcpListener::bind(listen).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Bound { listener, address })
    }
}

/// An address that is taken. Connections to it wait.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

impl Bound {
    /// Answers requests until [`Running::stop`]. The address in the options does not count.
    pub fn serve(self, engine: Handle, options: Options) -> Running {
        let Self { listener, address } = self;
        let (stop, stopping) = watch::channel(false);
        let app = App::new(engine, options, stopping.clone());
        let limits = Limits {
            n_connections: app.options.max_connections.max(1),
            head_bytes: app.options.max_head_bytes,
            stall_time: app.options.stall_time,
            stop_within: app.options.stop_within,
        };
        let task = tokio::spawn(accept(listener, routes::router(app), limits, stopping));
        Running { address, stop, task }
    }
}

/// A server that answers. Dropping it stops it at once; [`Running::stop`] lets requests finish.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Running {
    /// Where it listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts nothing more, ends streams, lets requests finish within the limit of the options.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        // The task ends by itself within the limit; a panic in it has already been reported.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[derive(Clone, Copy)]
struct Limits {
    n_connections: usize,
    head_bytes: usize,
    stall_time: Duration,
    stop_within: Duration,
}

async fn accept(listener: TcpListener, router: Router, limits: Limits, mut stopping: watch::Receiver<bool>) {
    let room = Arc::new(Semaphore::new(limits.n_connections));
    let graceful = GracefulShutdown::new();
    // Dropping the set ends whatever is left in it.
    let mut connections = JoinSet::new();
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_headers(64)
        .max_buf_size(limits.head_bytes.max(8 << 10));
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stopping.wait_for(|is_stopping| *is_stopping) => break,
            Some(_) = connections.join_next() => continue,
            accepted = next(&listener, &room) => accepted,
        };
        let Some((stream, permit)) = accepted else { continue };
        let io = TokioIo::new(StallGuard::new(stream, limits.stall_time));
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful.watch(protocol.serve_connection(io, service));
        connections.spawn(async move {
            // A connection that breaks is the client's business.
            let _ = connection.await;
            drop(permit);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(limits.stop_within, graceful.shutdown()).await;
    connections.shutdown().await;
}

/// The next connection, once there is room for one.
async fn next(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(room).acquire_owned().await.ok()?;
    if let Ok((stream, _)) = listener.accept().await {
        // Events are small and should not wait for more.
        let _ = stream.set_nodelay(true);
        return Some((stream, permit));
    }
    tokio::time::sleep(ACCEPT_PAUSE).await;
    None
}
