//! Everything that a web site, a network or a disk can do to a service, all at once. Each source ends in a state with a
//! reason that people are shown, none is asked in a hot loop, and those that are well are watched as ever.
//!
//! A clock that jumps is tested in the engine, where time is an argument.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dunlin_testbed::{FAULTS, Kind, Plan, Repeat, SourceFault, Speed};
use serde_json::Value;
use tokio_rustls::TlsAcceptor;

use crate::run::Desk;
use crate::service::Service;
use crate::stored_data::StoredData;
use crate::web::{Web, regular_trace, watching};

/// Short limits, so that what is too slow is found out soon; a back-off that is short too, so that a loop would show.
const SETTINGS: &str = "budget = \"200/s\"\nchronon = \"20ms\"\nshortest_gap = \"100ms\"\nlongest_gap = \"1m\"\n\
    log = \"warn\"\n[politeness]\ngap = \"100ms\"\nscope = \"url\"\nlimit_scope = \"url\"\nfirst_backoff = \"1s\"\n\
    [guard]\nnetworks = [\"127.0.0.1/32\"]\n\
    [limits]\nfirst_byte = \"2s\"\nidle = \"2s\"\nresolve = \"2s\"\ntotal = \"4s\"\ndecoded = \"5MiB\"\nsent = \"5MiB\"\n";
const FIRST_BACKOFF: f64 = 1.0;

/// What becomes of a source.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// It is watched as others are, though there may be something to say about it.
    Well,
    /// It is watched as others are, but is not what it should be; the reason contains this.
    Attention(&'static str),
    /// It is tried again, less and less often; the reason contains this.
    Failing(&'static str),
    /// It is left alone until someone acts.
    Refused(&'static str),
    /// It is left alone for as long as it asked, 120 seconds.
    Held(&'static str),
}

/// Every fault of the test bed, and what it leads to.
const DAYS: &[(&str, Fate)] = &[
    ("slow:300", Fate::Well),
    ("slow:10000", Fate::Failing("took longer than")),
    ("drip:200", Fate::Failing("took longer than")),
    ("hang", Fate::Failing("took longer than")),
    ("status:500", Fate::Failing("the server fails (500")),
    ("status:403", Fate::Refused("refuses access (403")),
    ("404", Fate::Refused("not there (404")),
    ("gone", Fate::Refused("gone for good (410")),
    ("429", Fate::Failing("fewer requests (429")),
    ("429:120", Fate::Held("fewer requests (429")),
    ("429-date:120", Fate::Held("fewer requests (429")),
    ("503", Fate::Failing("the server fails (503")),
    ("503:120", Fate::Held("the server fails (503")),
    ("truncated", Fate::Failing("cut off")),
    ("wrong-length", Fate::Well),
    ("redirect-loop", Fate::Failing("in a circle")),
    ("redirect-chain:3", Fate::Well),
    ("redirect-chain:30", Fate::Failing("redirects")),
    ("redirect-to:http://10.0.0.1/", Fate::Refused("not on the public internet")),
    ("gzip-bomb:100", Fate::Failing("decompress")),
    ("bad-gzip", Fate::Failing("gzip")),
    ("flicker", Fate::Well),
    ("flip-flop", Fate::Well),
    ("no-validators", Fate::Well),
    ("weak-etag", Fate::Well),
    ("always-new-etag", Fate::Well),
    ("reset", Fate::Failing("")),
    ("garbage", Fate::Failing("not a usable HTTP answer")),
    ("huge:20", Fate::Failing("body of more than")),
    ("deep-nesting", Fate::Well),
    ("bad-charset", Fate::Well),
    ("empty", Fate::Attention("the document is empty")),
];

/// Requests of a fetch that follows redirects to their end.
const MOST_HOPS: usize = 12;

#[test]
fn every_bad_day_has_a_state_with_a_reason_and_no_hot_loop() {
    for (fault, _) in FAULTS {
        let name = |text: &str| text.split([':', '[']).next().unwrap().to_owned();
        assert!(DAYS.iter().any(|(day, _)| name(day) == name(fault)), "what becomes of {fault}?");
    }
    let n_well = 3;
    // A change every half second.
    let trace = regular_trace("page", &vec![50; DAYS.len() + n_well], 3_600);
    let faults = trace.sources.iter().zip(DAYS);
    let faults = faults
        .map(|(source, (fault, _))| SourceFault { source: source.clone(), fault: fault.parse().unwrap() });
    let plan = Plan {
        faults: faults.collect(),
        speed: Speed::new(100.0).unwrap(),
        repeat: Repeat::Always,
        ..Plan::of(trace.clone())
    };
    let web = Web::start(plan);
    let tls = SelfSigned::start(&web);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut urls: Vec<String> = trace.sources.iter().map(|id| web.bed.url(&Kind::Page.path(id))).collect();
    let others: [(String, &str); 3] = [
        ("http://nowhere.invalid/".to_owned(), "nowhere.invalid"),
        (format!("http://{closed}/"), "cannot connect"),
        (format!("https://127.0.0.1:{}/", tls.port), "certificate"),
    ];
    urls.extend(others.iter().map(|(url, _)| url.clone()));
    let desk = Desk::new();
    let data = watching(&desk, "data", SETTINGS, &urls);
    let begun = web.now();
    let mut service = Service::start(&data);

    // Healthy ones are captured regardless of the others.
    let well = &trace.sources[DAYS.len()..];
    let is_well = |url: &str| well.iter().any(|id| url.ends_with(id.as_str()));
    let events = service.stream(0).filter(|event| is_well(event.change["url"].as_str().unwrap()));
    for _ in events.take(45) {
        assert!(service.is_alive());
    }
    let sources = service.until("every source has a state", |_| {
        let report = desk.json(&format!("sources --json --data {}", data.display()));
        let sources = report["sources"].as_array().unwrap().clone();
        sources.iter().all(|source| source["state"]["health"] != "new").then_some(sources)
    });

    let passed = web.now().since(begun).as_secs_f64();
    // Back-offs are at least three quarters of 1, 2, 4, … seconds, and an attempt on a kept connection that turns out to be
    // closed is made again on a new one. A loop would make ten a second.
    let begins = |attempt: &u32| 0.75 * FIRST_BACKOFF * f64::from((1_u32 << attempt) - 1);
    let most = 2 * (0..30).take_while(|attempt| begins(attempt) <= passed).count();
    for (index, source) in sources.iter().enumerate() {
        let explained = desk.run(&format!("explain {} --data {}", source["id"], data.display())).stdout;
        let url = source["url"].as_str().unwrap();
        let Some((fault, fate)) = DAYS.get(index) else {
            let reason = others.iter().find(|(other, _)| other == url).map(|(_, reason)| *reason);
            match reason {
                None => assert_eq!(source["state"]["health"], "well", "{source}"),
                Some(reason) => shows(source, &explained, "failing", reason),
            }
            continue;
        };
        let n_requests = web.requests(&trace.sources[index]).len();
        let n_hops = if fault.starts_with("redirect") { MOST_HOPS } else { 1 };
        match *fate {
            Fate::Well => assert_eq!(source["state"]["health"], "well", "{fault}: {source}"),
            Fate::Attention(reason) => shows(source, &explained, "attention", reason),
            Fate::Failing(reason) => {
                shows(source, &explained, "failing", reason);
                assert!(n_requests <= most * n_hops, "{fault}: {n_requests} requests in {passed} s");
            }
            Fate::Refused(reason) => {
                shows(source, &explained, "refused", reason);
                assert_eq!(n_requests, 1, "{fault}");
            }
            Fate::Held(reason) => {
                shows(source, &explained, "failing", reason);
                assert_eq!(n_requests, 1, "{fault}: it asked to be left alone");
                assert!(explained.contains("the server asked to wait"), "{fault}: {explained}");
                let hold = &service.get(&format!("/api/v1/sources/{}/explain", source["id"]))["hold"];
                let until = dunlin_engine::clock::parse_rfc3339(hold["until"].as_str().unwrap()).unwrap();
                let left = until.since(web.now()).as_secs_f64();
                assert!(left <= 121.0 && left >= 118.0 - passed, "{fault}: {left} s left after {passed} s");
            }
        }
    }
    let n_connections = tls.n_connections.load(Ordering::Relaxed);
    assert!((1..=most).contains(&n_connections), "{n_connections} handshakes in {passed} s");
    assert!(service.is_alive());
    let (status, messages) = service.interrupt();
    assert_eq!(status, Some(0), "{messages}");
}

/// The list and the explanation both say what is wrong.
fn shows(source: &Value, explained: &str, health: &str, reason: &str) {
    let state = &source["state"];
    assert_eq!(state["health"], health, "{source}");
    let reported = state["reason"].as_str().unwrap();
    assert!(!reported.is_empty() && reported.contains(reason), "expected `{reason}`: {source}");
    let line = format!("state       {health}: ");
    assert!(explained.contains(&line) && explained.contains(reason), "{explained}");
}

/// A web server with a self-signed certificate.
struct SelfSigned {
    port: u16,
    n_connections: Arc<AtomicUsize>,
}

impl SelfSigned {
    fn start(web: &Web) -> Self {
        let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
        let key = rustls::pki_types::PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = TlsAcceptor::from(Arc::new(server));
        let n_connections = Arc::new(AtomicUsize::new(0));
        let listener = web.runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let counter = Arc::clone(&n_connections);
        web.runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counter.fetch_add(1, Ordering::Relaxed);
                // The client hangs up when it sees the certificate, and that is that.
                let _ = acceptor.accept(stream).await;
            }
        });
        Self { port, n_connections }
    }
}

/// A full disk: files may not grow beyond a limit, and writing more fails as it would on a disk without room.
#[test]
fn a_full_disk_stops_probes_but_not_the_service_and_loses_nothing() {
    let trace = regular_trace("page", &[20; 20], 3_600);
    let speed = Speed::new(100.0).unwrap();
    let web = Web::start(Plan { speed, repeat: Repeat::Always, ..Plan::of(trace.clone()) });
    let urls: Vec<String> = trace.sources.iter().map(|id| web.bed.url(&Kind::Page.path(id))).collect();
    let desk = Desk::new();
    let data = watching(&desk, "data", SETTINGS, &urls);

    let mut service = Service::spawn(confined(&data), &data);
    let reported: Vec<_> = service.stream(0).take(20).collect();
    service.until("the store is known to be full", |service| {
        let (status, body) = service.ask("GET", "/readyz");
        (status == 503 && body.contains("the store cannot be written")).then_some(())
    });
    assert!(service.is_alive());
    let n_requests = web.bed.log().len();
    service.until("some time has passed", |service| {
        assert!(service.is_alive());
        (web.now().since(web.bed.log()[n_requests - 1].received) > Duration::from_secs(3)).then_some(())
    });
    // Those that were under way may still arrive, and nothing after them.
    assert!(web.bed.log().len() <= n_requests + 64, "it goes on asking, for nothing");
    // What was in progress and not announced is lost, and it says so.
    let (status, messages) = service.interrupt();
    assert_eq!(status, Some(3), "{messages}");

    // With room again, all is as it was.
    let service = Service::start(&data);
    let last = reported.last().unwrap().cursor;
    let more: Vec<_> = service.stream(last).take(20).collect();
    assert_eq!(more.first().unwrap().cursor, last + 1);
    assert_eq!(service.interrupt().0, Some(0));
    let stored = StoredData::read(&data);
    for (event, change) in reported.iter().chain(&more).zip(&stored.changes) {
        assert_eq!(
            (event.cursor, &event.change["summary"]),
            (change.cursor.0, &Value::from(change.found.summary.as_str()))
        );
    }
}

/// `dunlin` with files of at most 12 MiB (of 512 bytes, as POSIX counts). A shell sets the limit, and sees to it that breaking it is an error to the
/// program and not its end.
fn confined(data: &Path) -> Command {
    let mut command = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 24576; exec \"$0\" \"$@\"";
    command.current_dir(data).args(["-c", script, env!("CARGO_BIN_EXE_dunlin")]);
    command
}
