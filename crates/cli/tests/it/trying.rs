//! `dunlin try` against a real server: what would be watched, each warning, each suggestion, and the exit codes.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use serde_json::Value;

use crate::run::{Desk, Done, dunlin};

const SHOP: &str = "<html><head><title>Tea \u{1b}[31m shop</title>\
    <link rel=alternate type=application/rss+xml title=News href=/feed></head><body><nav><p>Home</p></nav>\
    <main><h1>Offers</h1><ul><li class=offer>Green tea: 5<li class=offer>Black tea: 7<li class=offer>White tea: 9</ul>\
    <p id=opening-hours>Open from nine to five</p></main></body></html>";

const FEED: &str = "<rss version='2.0'><channel><title>News</title><item><title>One</title><link>/1</link></item>\
    <item><title>Two</title></item></channel></rss>";

/// What is at a path: status, type, body.
fn page(path: &str) -> (&'static str, &'static str, &'static str) {
    match path {
        "/shop" | "/private/shop" => ("200 OK", "text/html", SHOP),
        "/moved" => ("301 Moved Permanently\r\nLocation: /shop", "text/html", ""),
        "/inside" => ("302 Found\r\nLocation: http://10.0.0.1/", "text/html", ""),
        "/feed" => ("200 OK", "application/rss+xml", FEED),
        "/app" => (
            "200 OK",
            "text/html",
            "<html><body><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div><script src=a.js>\
             </script></body></html>",
        ),
        "/login" => {
            ("200 OK", "text/html", "<html><form><p>Members only</p><input type=password></form></html>")
        }
        "/sorry" => ("200 OK", "text/html", "<html><body><h1>Something went wrong</h1></body></html>"),
        "/data" => {
            ("200 OK", "application/json", r#"{"data": {"items": [{"name": "Tea"}, {"name": "Cake"}]}}"#)
        }
        "/robots.txt" => ("200 OK", "text/plain", "User-agent: *\nDisallow: /private\n"),
        _ => ("404 Not Found", "text/html", "<html>Nothing is here</html>"),
    }
}

fn answer(mut stream: TcpStream) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head);
    let (status, kind, body) = page(head.split(' ').nth(1).unwrap_or("/"));
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
}

/// A site, and a data directory whose settings let it be reached.
struct Site {
    desk: Desk,
    address: SocketAddr,
}

impl Site {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || answer(stream));
            }
        });
        let desk = Desk::new();
        std::fs::create_dir(desk.path("data")).unwrap();
        std::fs::write(desk.path("data").join("dunlin.toml"), "[guard]\nnetworks = [\"127.0.0.1/32\"]\n")
            .unwrap();
        Self { desk, address }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn try_with(&self, path: &str, args: &[&str]) -> Done {
        let mut command = dunlin(&self.desk.path(""), "try --data data");
        Done::of(command.arg(self.url(path)).args(args).output().unwrap())
    }

    /// The JSON, whatever the exit code.
    fn json(&self, path: &str, args: &[&str]) -> (i32, Value) {
        let done = self.try_with(path, &[args, &["--json"]].concat());
        let value =
            serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{}{}", done.stdout, done.stderr));
        (done.code, value)
    }
}

/// The first warning.
fn warning(found: &Value) -> &str {
    found["warnings"][0].as_str().unwrap_or_default()
}

/// What is suggested, in one line each.
fn suggested(found: &Value) -> Vec<String> {
    let one = |suggestion: &Value| {
        let what = ["url", "selector", "path"].iter().find_map(|key| suggestion[*key].as_str()).unwrap();
        format!("{} {what} {}", suggestion["kind"].as_str().unwrap(), suggestion["n_matches"])
    };
    found["suggestions"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn a_page_is_shown_with_its_feed_and_its_parts() {
    let site = Site::start();
    let (code, found) = site.json("/shop", &[]);
    assert_eq!(
        (code, &found["status"], &found["kind"], &found["n_items"]),
        (0, &200.into(), &"html".into(), &1.into())
    );
    assert_eq!(
        (found["url"].as_str(), &found["final_url"]),
        (Some(site.url("/shop").as_str()), &found["url"])
    );
    assert!(found["items"][0]["text"].as_str().unwrap().contains("Green tea: 5\nBlack tea: 7"), "{found}");
    assert_eq!(found["warnings"], Value::Array(Vec::new()));
    let feed = format!("feed {} null", site.url("/feed"));
    assert_eq!(
        suggested(&found),
        [feed.as_str(), "selector main 1", "selector li.offer 3", "selector #opening-hours 1"]
    );
    let command = found["suggestions"][2]["command"].as_str().unwrap();
    assert_eq!(command, format!("dunlin add {} --selector li.offer", site.url("/shop")));

    // What is suggested can be done, and finds what it promises.
    let added = site.desk.run(&format!("{} --data data", command.strip_prefix("dunlin ").unwrap()));
    assert_eq!(added.code, 0, "{}", added.stderr);
    let (code, chosen) = site.json("/shop", &["--selector", "li.offer"]);
    assert_eq!(
        (code, &chosen["n_items"], &chosen["items"][2]["text"]),
        (0, &3.into(), &"White tea: 9".into())
    );
    assert_eq!(suggested(&chosen), [feed.as_str()]);

    let shown = site.try_with("/shop", &[]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    assert!(shown.stdout.contains("HTML") && shown.stdout.contains("  Green tea: 5\n"), "{}", shown.stdout);
    assert!(
        shown.stdout.contains(&format!("dunlin add {} --kind feed\n", site.url("/feed"))),
        "{}",
        shown.stdout
    );
    assert!(!shown.stdout.contains('\u{1b}'), "{:?}", shown.stdout);
    assert!(!site.desk.path("data").join("service.json").exists());
}

#[test]
fn feeds_and_data_are_shown_item_by_item() {
    let site = Site::start();
    let (code, found) = site.json("/feed", &["--kind", "feed"]);
    assert_eq!(
        (code, &found["kind"], &found["title"], &found["n_items"]),
        (0, &"feed".into(), &"News".into(), &2.into())
    );
    assert_eq!(found["items"][0]["link"], site.url("/1"));
    assert!(site.try_with("/feed", &[]).stdout.contains("a feed, \"News\", 2 items\n  One"));
    let (code, found) = site.json("/data", &["--json-path", "$.data.items[*].title"]);
    assert_eq!((code, suggested(&found)), (1, vec!["path $.data.items[*] 2".to_owned()]));
    assert!(warning(&found).contains("`$.data.items[*].title` finds nothing here (the nearest"), "{found}");
    let (code, found) = site.json("/data", &[]);
    assert_eq!((code, suggested(&found)), (0, vec!["path $.data.items[*] 2".to_owned()]));
}

#[test]
fn what_is_asked_for_and_not_there_is_a_no() {
    let site = Site::start();
    for (path, args, expected) in [
        (
            "/shop",
            &["--selector", "main .offers li.offer"][..],
            "finds nothing here (the nearest that does is `li.offer`, 3 times)",
        ),
        ("/shop", &["--selector", "main .price"], "(the nearest that does is `main`, once)"),
        ("/shop", &["--selector", "table"], "the selector `table` finds nothing here"),
        ("/feed", &["--selector", "li"], "expected HTML, but it is a feed"),
        ("/shop", &["--kind", "feed"], "expected a feed, but it is HTML"),
        ("/shop", &["--kind", "json"], "expected JSON, but it is HTML"),
        ("/nothing", &[], "the page is not there (404 Not Found)"),
    ] {
        let (code, found) = site.json(path, args);
        assert_eq!(code, 1, "{path} {args:?}: {found}");
        assert!(warning(&found).contains(expected), "{path} {args:?}: {found}");
        let done = site.try_with(path, args);
        assert!(done.code == 1 && done.stderr.contains("error: "), "{path} {args:?}: {}", done.stderr);
    }
    assert_eq!(
        suggested(&site.json("/shop", &["--selector", "main .offers li.offer"]).1)[1],
        "selector li.offer 3"
    );
    let (_, missing) = site.json("/nothing", &[]);
    assert_eq!((&missing["status"], &missing["kind"]), (&404.into(), &Value::Null));
}

#[test]
fn pages_that_are_not_what_was_meant_are_warned_about() {
    let site = Site::start();
    for (path, expected) in [
        ("/app", "empty without JavaScript"),
        ("/login", "sign-in page"),
        ("/sorry", "\"Something went wrong\""),
        ("/private/shop", "robots.txt forbids it"),
        ("/moved", "moved permanently to"),
    ] {
        let (code, found) = site.json(path, &[]);
        assert_eq!(code, 0, "{path}: {found}");
        assert!(warning(&found).contains(expected), "{path}: {found}");
        let shown = site.try_with(path, &[]);
        assert!(
            shown.stdout.contains("warning  ") && shown.stdout.contains(expected),
            "{path}: {}",
            shown.stdout
        );
    }
    assert_eq!(site.json("/moved", &[]).1["final_url"], site.url("/shop"));
}

#[test]
fn bad_input_and_a_failing_network_have_codes_of_their_own() {
    let site = Site::start();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, args, code, expected) in [
        ("nonsense".to_owned(), "", 2, "https://host/path"),
        ("ftp://127.0.0.1/".to_owned(), "", 2, "only http and https"),
        ("http://10.0.0.1/".to_owned(), "", 2, "refused"),
        (site.url("/shop"), "--selector li[", 2, "css selector"),
        (site.url("/shop"), "--config missing.toml", 2, "missing.toml"),
        (format!("http://{closed}/"), "", 3, "cannot connect"),
        (site.url("/inside"), "", 3, "refused"),
    ] {
        let done = site.desk.run(&format!("try {url} {args} --data data --json"));
        assert_eq!((done.code, done.stdout.as_str()), (code, ""), "{url} {args}: {}", done.stderr);
        assert!(done.stderr.contains(expected), "{url} {args}: {}", done.stderr);
    }
    // Without settings that allow it, the service would not go there either.
    let done = site.desk.run(&format!("try {}", site.url("/shop")));
    assert_eq!((done.code, done.stderr.contains("loopback")), (2, true), "{}", done.stderr);
}

#[test]
fn headers_are_sent_and_not_shown() {
    let site = Site::start();
    let done = site.try_with("/shop", &["--header", "Authorization: s3cret"]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("left out of the commands"), "{}", done.stderr);
    assert!(!format!("{}{}", done.stdout, done.stderr).contains("s3cret"));
}
