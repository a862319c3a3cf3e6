//! Someone else on the port of a service that was killed: is never sent the token, and keeps no reader from what is stored.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dunlin_store::SqliteStore;

use crate::run::Desk;
use crate::running::Running;

/// The longest wait for anything.
const LONGEST: Duration = Duration::from_mins(1);

/// Answers every request with the same, and remembers what it was sent.
struct Impostor {
    heard: Arc<Mutex<String>>,
}

impl Impostor {
    /// Takes an address that has just become free.
    fn listen(address: SocketAddr, answer: &'static str) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let heard = Arc::new(Mutex::new(String::new()));
        let book = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let book = Arc::clone(&book);
                std::thread::spawn(move || {
                    let mut bytes = [0; 4_096];
                    while let Ok(n @ 1..) = stream.read(&mut bytes) {
                        book.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..n]));
                        let length = answer.len();
                        let whole = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{answer}");
                        let _ = stream.write_all(whole.as_bytes());
                    }
                });
            }
        });
        Self { heard }
    }

    fn heard(&self) -> String {
        self.heard.lock().unwrap().clone()
    }
}

/// A service with one source, its address and its token. The one it had before, if any, is gone.
fn served(desk: &Desk) -> (Running, SocketAddr, String) {
    let mut running = Running::start(desk, "serve --data data --listen 127.0.0.1:0");
    let line = running.line_with("listening on");
    let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
    let token = fs::read_to_string(desk.path("data/cli-token")).unwrap().trim().to_owned();
    (running, address.parse().unwrap(), token)
}

fn killed(desk: &Desk) -> (SocketAddr, String) {
    let (running, address, token) = served(desk);
    assert_eq!(desk.run("add https://news.example/ --data data").code, 0);
    running.signal("KILL");
    running.end();
    assert!(desk.path("data/service.json").exists(), "what a killed service leaves behind");
    (address, token)
}

/// What is answered to a GET, whole.
fn answer(address: SocketAddr, path: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(LONGEST)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer);
    answer
}

/// Waits for something, while a program goes on; not for ever.
fn wait_until(running: &mut Running, what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < LONGEST, "no {what} in {LONGEST:?}: {}", running.messages());
        running.wait(Duration::from_millis(20)).expect("it goes on");
    }
}

#[test]
fn a_program_on_the_port_of_a_killed_service_is_not_sent_the_token() {
    for answer in ["{\"proof\":\"\"}", "{\"sources\":[],\"next\":null,\"status\":\"ok\"}", "nonsense"] {
        let desk = Desk::new();
        let (address, token) = killed(&desk);
        let impostor = Impostor::listen(address, answer);
        // As a command such as `store compact` does while it works.
        let locked = SqliteStore::open(&desk.path("data")).unwrap();

        let listed = desk.run("sources --data data");
        assert_eq!(listed.code, 0, "{}", listed.stderr);
        assert!(listed.stdout.contains("news.example"), "{}", listed.stdout);
        assert_eq!(desk.run("changes --data data --json").code, 0);
        let refused = desk.run("pause 1 --data data");
        assert!(refused.code != 0 && refused.stderr.contains("in use by process"), "{}", refused.stderr);
        let doctor = desk.run("doctor --data data");
        assert!(doctor.stdout.contains("is not the service of this data directory"), "{}", doctor.stdout);

        let heard = impostor.heard();
        assert!(heard.contains("/api/v1/proof?challenge="), "the impostor was asked for a proof: {heard}");
        assert!(!heard.to_lowercase().contains("authorization"), "{heard}");
        let secret = token.rsplit('_').next().unwrap();
        assert!(!heard.contains(secret), "{heard}");
        drop(locked);
    }
}

/// The lock is not held, so no service is contacted: not even one that would never answer.
#[test]
fn a_listener_is_not_contacted_where_no_service_runs() {
    let desk = Desk::new();
    let (address, _) = killed(&desk);
    let silent = TcpListener::bind(address).unwrap();
    let listed = desk.run("sources --data data");
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    silent.set_nonblocking(true).unwrap();
    assert!(silent.accept().is_err(), "no command has connected");
}

#[test]
fn a_reader_that_connects_again_asks_for_a_proof_again() {
    let desk = Desk::new();
    let (running, address, token) = served(&desk);
    // It talks to the service once it is there: the stream has been asked for.
    let mut tail = Running::start(&desk, "tail --data data --json");
    wait_until(&mut tail, "a stream", || answer(address, "/metrics").contains("dunlin_http_open_streams 1"));
    running.signal("KILL");
    running.end();
    let impostor = Impostor::listen(address, "{\"proof\":\"0\"}");
    let was_asked_twice = || impostor.heard().matches("/proof?challenge=").count() >= 2;
    wait_until(&mut tail, "a second challenge", was_asked_twice);
    let heard = impostor.heard();
    assert!(!heard.to_lowercase().contains("authorization"), "{heard}");
    assert!(!heard.contains(token.rsplit('_').next().unwrap()), "{heard}");
}

#[test]
fn a_service_proves_itself_and_keeps_its_token_for_the_next_start() {
    let desk = Desk::new();
    let (running, _, token) = served(&desk);
    assert_eq!(desk.run("add https://news.example/ --data data").code, 0);
    assert_eq!(desk.run("budget --data data").code, 0);
    running.signal("INT");
    assert_eq!(running.end().0, Some(0));
    let (running, _, again) = served(&desk);
    assert_eq!(again, token);
    // One that was damaged is replaced.
    running.signal("INT");
    running.end();
    fs::write(desk.path("data/cli-token"), "dunlin_local-cli_00").unwrap();
    let (_running, _, other) = served(&desk);
    assert_ne!(other, token);
    assert_eq!(desk.run("sources --data data").code, 0);
}
