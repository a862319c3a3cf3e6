//! Pages made to keep their reader busy, all at once, beside one that is well: that one is watched as ever, the service
//! ends when it is told to, and its memory stays bounded. Which bound ends a reading is not what is tested here: most of these
//! pages are given up after so many steps of `extract`, and only a slow machine lets one come to the reader's deadline, which
//! `engine/tests/it/slow.rs` tests.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::run::{Desk, dunlin};
use crate::service::Service;

/// How often the healthy page is probed, at least; the promise is twice that.
const GAP: Duration = Duration::from_secs(10);
/// How long stopping may take: what the settings say, and ten seconds.
const STOP_WITHIN: Duration = Duration::from_secs(5);
const MARGIN: Duration = Duration::from_secs(10);
/// The most memory that the service may ever have taken.
const MOST_MEMORY: u64 = 1 << 30;

const SETTINGS: &str = "budget = \"50/s\"\nchronon = \"100ms\"\nshortest_gap = \"1s\"\nlongest_gap = \"10s\"\n\
    log = \"warn\"\nrobots = false\nstop_within = \"5s\"\n\
    [politeness]\ngap = \"10ms\"\nscope = \"url\"\nlimit_scope = \"url\"\n[guard]\nnetworks = [\"127.0.0.1/32\"]\n";

/// What each page is called, how it is watched, and what it shows the nth time.
struct Hostile {
    name: &'static str,
    args: &'static [&'static str],
    body: fn(usize) -> String,
}

const HOSTILE: &[Hostile] = &[
    Hostile { name: "nth", args: &["--selector", ".price:nth-of-type(2)"], body: distinct_elements },
    Hostile { name: "nth-last", args: &["--selector", "i:nth-last-of-type(2)"], body: distinct_elements },
    Hostile { name: "nth-ignored", args: &["--ignore", ".price:nth-of-type(2)"], body: distinct_elements },
    Hostile { name: "has", args: &["--selector", "div:HAS(b)"], body: without_match },
    Hostile {
        name: "pattern",
        args: &["--kind", "text", "--ignore-pattern", r"\d\d:\d\d(?:.*ago)?"],
        body: times,
    },
    Hostile { name: "words", args: &["--kind", "text", "--ignore-pattern", r"\w+\s(?:.*end)?"], body: times },
    Hostile { name: "path", args: &["--json-path", PATH], body: nested_lists },
    Hostile { name: "deep", args: &["--selector", "li li li"], body: deep },
    Hostile { name: "table", args: &["--kind", "page"], body: table },
    Hostile { name: "diff", args: &["--kind", "text", "--flicker", "tell"], body: other_words },
    Hostile { name: "parts", args: &["--kind", "page", "--flicker", "tell"], body: other_entries },
    Hostile { name: "names", args: &["--selector", "div"], body: long_names },
    Hostile { name: "attributes", args: &["--kind", "page"], body: attributes_of_one },
    Hostile { name: "ends", args: &["--kind", "page"], body: ends_inside_much },
];

const PATH: &str =
    "$[*,*][*,*][*,*][*,*][*,*][*,*][*,*][*,*][*,*][*,*][*,*][*,*][*,*][*,*][*,*][*,*][*,*][*,*]";

/// A hundred thousand elements, no two with the same name.
fn distinct_elements(n: usize) -> String {
    let mut page = format!("<html><p>{n}</p>");
    for name in 0..100_000 {
        write!(page, "<x{name} class=price>1</x{name}>").unwrap();
    }
    page
}

fn without_match(n: usize) -> String {
    format!("<html><p>{n}</p>{}{}", "<div>".repeat(400), "<div><i>x</i></div>".repeat(50_000))
}

/// One line of eight mebibytes.
fn times(n: usize) -> String {
    format!("{n} {}", "12:34 ".repeat((8 << 20) / 6))
}

fn nested_lists(n: usize) -> String {
    let depth = PATH.matches("[*,*]").count();
    format!("{}{n}{}", "[".repeat(depth), "]".repeat(depth))
}

fn deep(n: usize) -> String {
    format!("<html><p>{n}</p>{}", "<ul><li>x</li>".repeat(200_000))
}

fn table(n: usize) -> String {
    format!("<html><p>{n}</p><table>{}", "<tr><td>1<td>2<td>3<b>x".repeat(60_000))
}

/// A mebibyte of words of which none comes again.
fn other_words(n: usize) -> String {
    let mut text = String::new();
    for word in 0..120_000 {
        writeln!(text, "w{}", word * 7 + n * 1_000_003).unwrap();
    }
    text
}

/// Twenty thousand entries of a list, each of which is another one.
fn other_entries(n: usize) -> String {
    let mut page = "<html><ul>".to_owned();
    for entry in 0..20_000 {
        write!(page, "<li>e{}</li>", entry * 7 + n * 1_000_003).unwrap();
    }
    page
}

/// A class that is read for each of the elements around it.
fn long_names(n: usize) -> String {
    format!("<html>{}<p class='{}'>{n}", "<div>".repeat(400), "a ".repeat(200_000))
}

/// The attributes of all these tags belong to one element, and each is compared with those before it.
fn attributes_of_one(n: usize) -> String {
    let mut page = format!("<html><p>{n}</p>");
    for name in (0..200_000).rev() {
        write!(page, "<html a{name}>").unwrap();
    }
    page
}

/// At each of these tags, a parser looks through all that is open.
fn ends_inside_much(n: usize) -> String {
    format!("<html>{n}{}{}", "<span>".repeat(500), "</p>".repeat(400_000))
}

fn healthy(n: usize) -> String {
    format!("<html><h1>News</h1><p>This is edition {n}.</p>")
}

/// Serves the pages, another one at every request.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    address
}

fn answer(mut stream: TcpStream) {
    static N_ANSWERS: AtomicUsize = AtomicUsize::new(0);
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head);
    let name = head.split(' ').nth(1).unwrap_or("/").trim_start_matches('/');
    let body = HOSTILE
        .iter()
        .find(|page| page.name == name)
        .map_or(healthy as fn(usize) -> String, |page| page.body);
    let body = body(N_ANSWERS.fetch_add(1, Ordering::Relaxed));
    let kind = if name == "path" { "application/json" } else { "text/html" };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    // A client that has seen enough may go.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}

/// Watches all the pages; the number of the one that is well.
fn watch_all(desk: &Desk) -> i64 {
    let address = serve();
    std::fs::create_dir(desk.path("data")).unwrap();
    std::fs::write(desk.path("data").join("dunlin.toml"), SETTINGS).unwrap();
    let add = |name: &str, args: &[&str]| {
        let url = format!("http://{address}/{name}");
        let mut command = dunlin(&desk.path(""), "add --data data --json");
        let done = command.arg(url).args(args).output().unwrap();
        let messages = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{name}: {messages}");
        let added: Value = serde_json::from_slice(&done.stdout).unwrap();
        added["id"].as_i64().or_else(|| added["sources"][0]["id"].as_i64()).unwrap()
    };
    for page in HOSTILE {
        add(page.name, page.args);
    }
    add("healthy", &["--flicker", "tell"])
}

/// A figure of a process, in bytes.
fn memory(pid: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn a_page_that_is_well_is_watched_beside_twelve_that_are_made_to_be_slow() {
    let desk = Desk::new();
    let well = watch_all(&desk);
    let mut service = Service::start(&desk.path("data"));
    let n_told = |service: &Service| {
        let page = service.get(&format!("/api/v1/changes?source={well}&limit=1000"));
        page["changes"].as_array().unwrap().len()
    };
    // Its first probes may come before the others are read; it has to go on while they are.
    let mut n_before = service.until("a first change", |service| Some(n_told(service)).filter(|n| *n > 0));
    let begun = Instant::now();
    while begun.elapsed() < 4 * GAP {
        let since = Instant::now();
        n_before = service.until("another change", |service| {
            assert!(since.elapsed() < 2 * GAP, "no capture in two gaps, after {n_before}");
            Some(n_told(service)).filter(|n| *n > n_before)
        });
        assert!(service.is_alive());
    }
    let memory = memory(service.pid(), "VmHWM");
    eprintln!("{n_before} captures in {:?}; VmHWM {} MiB", begun.elapsed(), memory >> 20);
    assert!(memory < MOST_MEMORY, "{} MiB", memory >> 20);
    let asked = Instant::now();
    service.signal("TERM");
    let ended = service.end_within(STOP_WITHIN + MARGIN);
    assert!(ended.is_some(), "no end in {:?}", asked.elapsed());
    let (code, messages) = ended.unwrap();
    eprintln!("ended with {code:?} after {:?}", asked.elapsed());
    // On a slow machine the last of the large pages may not be stored in time, which is reported; nothing that was announced is lost.
    assert!(
        code == Some(0) || code == Some(3) && messages.contains("which are lost"),
        "{code:?}: {messages}"
    );
    let kept = desk.json(&format!("changes --data data --source {well} --json --limit 1000"));
    assert!(kept["changes"].as_array().unwrap().len() >= n_before, "{kept}");
}
