//! What a client may do and how much of it. Defaults suit a polite watcher of public pages; each limit says what it
//! protects.

use std::time::Duration;

use rustls::pki_types::CertificateDer;

use crate::guard::Guard;

/// Everything a client is made from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// Where it may connect to.
    pub guard: Guard,
    /// How it introduces itself. An honest name lets a site's owner complain, or make an exception.
    pub user_agent: String,
    /// Time limits of the phases of a fetch.
    pub timeouts: Timeouts,
    /// Size limits of an answer.
    pub sizes: Sizes,
    /// The most bytes of bodies in memory, over all fetches, from the first byte until the last reader lets go of the
    /// content.
    pub memory: u64,
    /// How many connections are kept.
    pub pool: PoolSize,
    /// The most redirects that are followed.
    pub max_redirects: usize,
    /// What to do about redirects from https to http.
    pub downgrade: Downgrade,
    /// Issuers to trust besides those that browsers trust.
    pub extra_roots: Vec<CertificateDer<'static>>,
}

impl Settings {
    /// The least `memory` with which anything can be fetched.
    pub const LEAST_MEMORY: u64 = 1 << 20;
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            guard: Guard::public_internet(),
            user_agent: concat!("Dunlin/", env!("CARGO_PKG_VERSION"), " (page and feed watcher)").to_owned(),
            timeouts: Timeouts::default(),
            sizes: Sizes::default(),
            memory: 256 << 20,
            pool: PoolSize::default(),
            max_redirects: 5,
            downgrade: Downgrade::Refuse,
            extra_roots: Vec::new(),
        }
    }
}

/// Whether a redirect may leave encryption behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Downgrade {
    /// Ends the fetch with an error.
    Refuse,
    /// Follows.
    Follow,
}

/// The longest each phase may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Looking up one name.
    pub resolve: Duration,
    /// Opening a TCP connection, over all addresses of the host.
    pub connect: Duration,
    /// TLS and HTTP/2 handshakes.
    pub handshake: Duration,
    /// From the request to the head of the answer.
    pub first_byte: Duration,
    /// Between two pieces of the body.
    pub idle: Duration,
    /// The whole fetch, redirects included. A server that drips one byte at a time ends here.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            resolve: Duration::from_secs(10),
            connect: Duration::from_secs(10),
            handshake: Duration::from_secs(10),
            first_byte: Duration::from_secs(30),
            idle: Duration::from_secs(15),
            total: Duration::from_secs(90),
        }
    }
}

/// The most of everything in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Bytes of status line and headers.
    pub head: usize,
    /// Bytes of the body as sent.
    pub sent: u64,
    /// Bytes of the body after decompression.
    pub decoded: u64,
    /// How many times larger decompression may make a body. Pages and feeds stay below 50; a bomb of gzip
    /// reaches 1000, one of brotli or zstd far more.
    pub growth: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { head: 64 << 10, sent: 10 << 20, decoded: 32 << 20, growth: 200 }
    }
}

/// How many connections there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSize {
    /// Fetches at one time; more wait. Together with `idle`, this bounds the open sockets.
    pub in_flight: usize,
    /// Connections kept for later, in all.
    pub idle: usize,
    /// Connections kept for later, per host.
    pub idle_per_host: usize,
    /// How long an unused connection is kept.
    pub idle_time: Duration,
}

impl Default for PoolSize {
    fn default() -> Self {
        Self { in_flight: 256, idle: 256, idle_per_host: 2, idle_time: Duration::from_mins(1) }
    }
}
