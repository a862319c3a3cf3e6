//! Where the server listens and how much it lets one client have. Not what the engine does.

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

/// A text that is never shown.
#[derive(Clone)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// What a server is started with. The defaults suit one machine and a handful of people.
#[derive(Debug, Clone)]
pub struct Options {
    /// The address to listen on; port 0 takes any that is free.
    pub listen: SocketAddr,
    /// Names under which clients may reach it, besides `localhost` and every numeric address. A request for another
    /// name is refused, so that no web page can talk to the server by pointing its own name here.
    pub host_names: Vec<String>,
    /// The token of local commands, by which the server proves that it is the one of its data directory; without it
    /// there is nothing to prove.
    pub local_token: Option<Secret>,
    /// Connections at one time. For one more, another that waits for a request has to go.
    pub max_connections: usize,
    /// Connections at one time from one address (of IPv6, from one network of 64 bits), so that others find room.
    pub max_connections_of_one: usize,
    /// Connections besides those, for health, metrics and proofs when all others are busy.
    pub reserved_connections: usize,
    /// Streams at one time; one more is refused for now.
    pub max_streams: usize,
    /// Calls of the store at one time. More wait for their turn.
    pub max_store_calls: usize,
    /// Contents read and versions compared at one time: what may take long, on threads of its own.
    pub max_heavy_calls: usize,
    /// How many more may wait for that; one more is refused for now.
    pub max_heavy_waiting: usize,
    /// How long one of these may take before it is given up.
    pub heavy_time: Duration,
    /// Bytes of a request's body.
    pub max_body_bytes: usize,
    /// Bytes of a request's head.
    pub max_head_bytes: usize,
    /// Sources in one bulk call.
    pub max_bulk: usize,
    /// How long a request may take, from its head to the head of the answer. Streams and waits are not bound by it.
    pub request_time: Duration,
    /// How long a new connection may take to send the head of its first request.
    pub head_time: Duration,
    /// How long a connection may wait for its next request, or take to send its head.
    pub idle_time: Duration,
    /// How long a client may leave an answer unread before it is disconnected.
    pub stall_time: Duration,
    /// How often an idle stream says that it is alive.
    pub keep_alive: Duration,
    /// How long stopping waits for active requests.
    pub stop_within: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 7171)),
            host_names: Vec::new(),
            local_token: None,
            max_connections: 1_024,
            max_connections_of_one: 768,
            reserved_connections: 8,
            max_streams: 256,
            max_store_calls: 8,
            max_heavy_calls: 2,
            max_heavy_waiting: 32,
            heavy_time: Duration::from_secs(10),
            max_body_bytes: 1 << 20,
            max_head_bytes: 32 << 10,
            max_bulk: 1_000,
            request_time: Duration::from_secs(30),
            head_time: Duration::from_secs(5),
            idle_time: Duration::from_secs(30),
            stall_time: Duration::from_mins(1),
            keep_alive: Duration::from_secs(15),
            stop_within: Duration::from_secs(10),
        }
    }
}
