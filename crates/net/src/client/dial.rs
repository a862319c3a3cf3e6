//! From a target to an open connection: look up, judge, connect, handshake. Keeps nothing.
//!
//! Invariant: the socket is opened to an address that the guard passed, in the same call that looked it up.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsConnector;

use super::connection::Connection;
use super::settings::Settings;
use crate::error::{Error, Phase};
use crate::fetched::Timings;
use crate::guard::{Refusal, Target, TargetHost};
use crate::resolve::{Resolve, ResolveError};

/// How long an address is given before the next one is tried beside it (RFC 8305).
const HEAD_START: Duration = Duration::from_millis(250);

/// The most addresses that are tried for one connection.
const MAX_ADDRESSES: usize = 6;

/// Why no connection came about.
pub(super) enum NotDialled {
    /// The guard passed none of the addresses.
    Refused(Refusal),
    /// Something failed on the way.
    Failed(Error),
}

impl From<Error> for NotDialled {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// What connections are made with.
pub(super) struct Dialler {
    pub(super) settings: Arc<Settings>,
    pub(super) resolver: Arc<dyn Resolve>,
    pub(super) tls: TlsConnector,
}

impl Dialler {
    /// Opens a connection, adding the time each phase takes to `timings`.
    pub(super) async fn dial(
        &self,
        target: &Target,
        timings: &mut Timings,
    ) -> Result<Connection, NotDialled> {
        let addresses = self.addresses(target, timings).await?;
        let stream = self.connect(target, addresses, timings).await?;
        Ok(self.handshake(target, stream, timings).await?)
    }

    async fn addresses(&self, target: &Target, timings: &mut Timings) -> Result<Vec<IpAddr>, NotDialled> {
        let found = match &target.host {
            TargetHost::Address(address) => vec![*address],
            TargetHost::Name(name) => {
                let begin = Instant::now();
                let limit = self.settings.timeouts.resolve;
                let answer = timeout(limit, self.resolver.resolve(name)).await;
                timings.resolve += begin.elapsed();
                answer
                    .map_err(|_| timed_out(target, Phase::Resolve, limit))?
                    .map_err(|reason| Error::Resolve { host: name.clone(), reason })?
            }
        };
        let passed = self.settings.guard.check_addresses(target, &found).map_err(NotDialled::Refused)?;
        if passed.is_empty() {
            return Err(Error::Resolve { host: target.host_name(), reason: ResolveError::NoAddress }.into());
        }
        Ok(passed)
    }

    async fn connect(
        &self,
        target: &Target,
        addresses: Vec<IpAddr>,
        timings: &mut Timings,
    ) -> Result<TcpStream, Error> {
        let begin = Instant::now();
        let limit = self.settings.timeouts.connect;
        let sockets = alternate(addresses).into_iter().map(|ip| SocketAddr::new(ip, target.port)).collect();
        let connected = timeout(limit, first_to_connect(sockets)).await;
        timings.connect += begin.elapsed();
        connected
            .map_err(|_| timed_out(target, Phase::Connect, limit))?
            .map_err(|reason| Error::Connect { host: target.host_name(), reason })
    }

    async fn handshake(
        &self,
        target: &Target,
        stream: TcpStream,
        timings: &mut Timings,
    ) -> Result<Connection, Error> {
        let begin = Instant::now();
        let limit = self.settings.timeouts.handshake;
        let shaken = timeout(limit, self.handshake_without_limit(target, stream)).await;
        timings.handshake += begin.elapsed();
        shaken.map_err(|_| timed_out(target, Phase::Handshake, limit))?
    }

    async fn handshake_without_limit(&self, target: &Target, stream: TcpStream) -> Result<Connection, Error> {
        let max_head = self.settings.sizes.head;
        let not_http = |reason| Error::Protocol { host: target.host_name(), reason };
        if !target.is_tls {
            return Connection::http1(stream, max_head).await.map_err(not_http);
        }
        let name = match &target.host {
            TargetHost::Address(address) => ServerName::IpAddress((*address).into()),
            TargetHost::Name(name) => ServerName::try_from(name.clone()).map_err(|_| {
                let reason =
                    io::Error::new(io::ErrorKind::InvalidInput, "the name cannot be in a certificate");
                Error::Tls { host: name.clone(), reason }
            })?,
        };
        let stream = self.tls.connect(name, stream).await.map_err(|reason| tls_error(target, reason))?;
        if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
            Connection::http2(stream, max_head).await.map_err(not_http)
        } else {
            Connection::http1(stream, max_head).await.map_err(not_http)
        }
    }
}

pub(super) fn timed_out(target: &Target, phase: Phase, limit: Duration) -> Error {
    Error::TimedOut { host: target.host_name(), phase, limit }
}

fn tls_error(target: &Target, reason: io::Error) -> Error {
    let host = target.host_name();
    match reason.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(reason)) => {
            Error::Certificate { host, reason: reason.clone() }
        }
        _ => Error::Tls { host, reason },
    }
}

/// Families in turn, beginning with the first one's, so that a machine without one of them soon tries the other.
fn alternate(addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let begins_with_v4 = addresses.first().is_some_and(IpAddr::is_ipv4);
    let (same, other): (Vec<IpAddr>, Vec<IpAddr>) =
        addresses.into_iter().partition(|address| address.is_ipv4() == begins_with_v4);
    let (mut same, mut other) = (same.into_iter(), other.into_iter());
    let mut mixed = Vec::new();
    loop {
        let before = mixed.len();
        mixed.extend(same.next());
        mixed.extend(other.next());
        if mixed.len() == before {
            mixed.truncate(MAX_ADDRESSES);
            return mixed;
        }
    }
}

async fn first_to_connect(sockets: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut waiting = sockets.into_iter();
    let mut attempts = JoinSet::new();
    let mut last_error = io::Error::from(io::ErrorKind::AddrNotAvailable);
    loop {
        if let Some(socket) = waiting.next() {
            attempts.spawn(TcpStream::connect(socket));
        }
        if attempts.is_empty() {
            return Err(last_error);
        }
        // With no address left to try beside these, there is nothing to wake up for but their ends.
        let may_start_another = waiting.len() > 0;
        tokio::select! {
            Some(ended) = attempts.join_next() => match ended {
                Ok(Ok(stream)) => {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                Ok(Err(error)) => last_error = error,
                Err(ended_by_force) => last_error = io::Error::other(ended_by_force),
            },
            () = sleep(HEAD_START), if may_start_another => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_alternate_and_keep_their_order() {
        let addresses = ["1.0.0.1", "1.0.0.2", "1.0.0.3", "2000::1", "2000::2"].map(|a| a.parse().unwrap());
        let mixed: Vec<String> = alternate(addresses.to_vec()).iter().map(ToString::to_string).collect();
        assert_eq!(mixed, ["1.0.0.1", "2000::1", "1.0.0.2", "2000::2", "1.0.0.3"]);
        assert_eq!(alternate(vec![IpAddr::from([1, 0, 0, 1]); 40]).len(), MAX_ADDRESSES);
    }
}
