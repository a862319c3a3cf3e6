//! Connections: accepted at once, given a slot, read within limits, and ended in an orderly way. Knows no route.
//!
//! Invariant: after [`Running::stop`] nothing of the server runs any more.

mod service;
mod slots;
mod stall;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use dunlin_engine::{Handle, clock};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use crate::app::App;
use crate::{Error, Options, routes};
use service::ConnectionService;
use slots::{ConnectionLimits, SlotGuard, Slots};
use stall::StallGuard;

/// How long to wait after the system refuses a connection, mostly because no descriptors are left.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How many connections that wait for a request are closed then.
const THINNED_OUT: usize = 8;

/// Serves an engine over HTTP.
#[derive(Debug, Clone, Copy)]
pub struct Server;

impl Server {
    /// Listens, and answers requests until [`Running::stop`].
    pub async fn start(engine: Handle, options: Options) -> Result<Running, Error> {
        Ok(Self::bind(options.listen).await?.serve(engine, options))
    }

    /// Binds an address without answering yet, so that a caller can check that it is free before anything else.
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
    /// Which address was taken.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers requests until [`Running::stop`]. The address in the options does not count.
    pub fn serve(self, engine: Handle, options: Options) -> Running {
        let Self { listener, address } = self;
        let (stop, stopping) = watch::channel(false);
        let app = App::new(engine, options, stopping.clone());
        let limits = Limits::of(&app.options);
        let task = tokio::spawn(accept(listener, app.clone(), routes::router(app), limits, stopping));
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
    connections: ConnectionLimits,
    head_bytes: usize,
    head_time: Duration,
    idle_time: Duration,
    stall_time: Duration,
    stop_within: Duration,
}

impl Limits {
    fn of(options: &Options) -> Self {
        Self {
            connections: ConnectionLimits {
                in_all: options.max_connections.max(1),
                of_one: options.max_connections_of_one.max(1),
                reserve: options.reserved_connections.max(1),
            },
            head_bytes: options.max_head_bytes,
            head_time: options.head_time,
            idle_time: options.idle_time,
            stall_time: options.stall_time,
            stop_within: options.stop_within,
        }
    }
}

async fn accept(
    listener: TcpListener,
    app: App,
    router: Router,
    limits: Limits,
    mut stopping: watch::Receiver<bool>,
) {
    let slots = Slots::new(limits.connections);
    let graceful = GracefulShutdown::new();
    // Dropping the set ends the remaining connections.
    let mut connections = JoinSet::new();
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(limits.idle_time)
        .max_headers(64)
        .max_buf_size(limits.head_bytes.max(8 << 10));
    loop {
        let accepted = tokio::select! {
            biased;
            _ = stopping.wait_for(|is_stopping| *is_stopping) => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Idle connections give their descriptors back, and the system gets time.
                app.served.accepting.failed(&error, clock::now());
                slots.thin_out(THINNED_OUT);
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        // Without a slot, dropping it closes it.
        let Some(guard) = slots.take(address.ip()) else { continue };
        app.served.connections.set(i64::try_from(slots.len()).unwrap_or(i64::MAX));
        // Events are small and should not wait for more.
        let _ = stream.set_nodelay(true);
        let guard = Arc::new(guard);
        let io = TokioIo::new(StallGuard::new(stream, limits.stall_time));
        let service = ConnectionService::new(router.clone(), Arc::clone(&guard));
        let connection = graceful.watch(protocol.serve_connection(io, service));
        connections.spawn(async move {
            tokio::select! {
                // A connection that breaks is the client's business.
                _ = connection => {}
                () = guard.dismissed() => {}
                () = stayed_silent(&guard, limits.head_time) => {}
            }
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(limits.stop_within, graceful.shutdown()).await;
    connections.shutdown().await;
}

/// Waits until a connection has had its time without a request; for ever when there was one.
async fn stayed_silent(guard: &SlotGuard, head_time: Duration) {
    tokio::time::sleep(head_time).await;
    if !guard.is_silent() {
        std::future::pending::<()>().await;
    }
}
