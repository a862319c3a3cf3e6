//! `dunlin serve` on a data directory, and what a test needs to talk to it: its API, its stream of changes, its end. Asserts
//! nothing about what it does.
//!
//! Invariant: nothing here waits without an end; a service that dies or says nothing for too long fails the test with
//! everything it has printed.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::dunlin;
use crate::running::Running;

/// How long anything may take that should take no time. Generous, since the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(90);

/// How long to wait between two checks of a condition.
const PAUSE: Duration = Duration::from_millis(20);

/// A running service. Dropping it kills it.
pub(crate) struct Service {
    running: Running,
    data: PathBuf,
    address: SocketAddr,
    token: String,
}

impl Service {
    /// Starts a service on a data directory that has its `dunlin.toml`, and returns when it listens.
    pub(crate) fn start(data: &Path) -> Self {
        Self::spawn(dunlin(data, ""), data)
    }

    /// The same through a command that ends by running `dunlin` with the arguments it is given.
    pub(crate) fn spawn(mut command: Command, data: &Path) -> Self {
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        let mut running = Running::spawn(command);
        let shown = running.line_with("listening on");
        let address = shown.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
        let address = address.parse().unwrap();
        let token = fs::read_to_string(data.join("cli-token")).unwrap().trim().to_owned();
        Self { running, data: data.to_owned(), address, token }
    }

    /// Waits until `check` finds something.
    pub(crate) fn until<T>(&mut self, what: &str, mut check: impl FnMut(&Self) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = check(self) {
                return found;
            }
            let is_running = self.running.wait(PAUSE).is_some();
            let in_time = Instant::now() < deadline && is_running;
            assert!(in_time, "not in time: {what}; the service said:\n{}", self.running.messages());
        }
    }

    /// Asks the API: status and body.
    pub(crate) fn ask(&self, method: &str, path: &str) -> (u16, String) {
        let mut answer = String::new();
        self.request(method, path).read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    /// The same for what must work and is JSON.
    pub(crate) fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path);
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Follows all changes after a cursor.
    pub(crate) fn stream(&self, after: i64) -> Events {
        Events { reader: BufReader::new(self.request("GET", &format!("/api/v1/stream?after={after}"))) }
    }

    /// An old version of HTTP, in which an answer is what comes until the connection closes.
    fn request(&self, method: &str, path: &str) -> TcpStream {
        let mut socket = TcpStream::connect(self.address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        let (host, token) = (self.address, &self.token);
        let head =
            format!("{method} {path} HTTP/1.0\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
        socket.write_all(head.as_bytes()).unwrap();
        socket
    }

    /// Whether it says that it is alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.ask("GET", "/healthz").0 == 200
    }

    /// Its process.
    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }

    /// Sends a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        self.running.signal(name);
    }

    /// Waits for the end, but no longer than so.
    pub(crate) fn end_within(self, time: Duration) -> Option<(Option<i32>, String)> {
        self.running.end_within(time)
    }

    /// As Ctrl-C does; gives the exit code and all that was printed.
    pub(crate) fn interrupt(self) -> (Option<i32>, String) {
        self.running.signal("INT");
        self.running.end()
    }

    /// As a power cut does.
    pub(crate) fn kill(self) {
        self.running.signal("KILL");
        self.running.end();
    }

    /// Where it keeps everything.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }
}

/// Changes as the service sends them.
pub(crate) struct Events {
    reader: BufReader<TcpStream>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) cursor: i64,
    pub(crate) change: Value,
}

impl Iterator for Events {
    type Item = Event;

    /// The next change; `None` when the service is gone.
    fn next(&mut self) -> Option<Event> {
        let (mut cursor, mut data) = (None, None);
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let line = line.trim_end_matches(['\r', '\n']);
            // An event that was cut off has no empty line after it, and is none.
            if line.is_empty()
                && let (Some(cursor), Some(change)) = (cursor.take(), data.take())
            {
                return Some(Event { cursor, change });
            }
            if let Some(id) = line.strip_prefix("id: ") {
                cursor = id.parse().ok();
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = serde_json::from_str(text).ok();
            }
        }
    }
}
