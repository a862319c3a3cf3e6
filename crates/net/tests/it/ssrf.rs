//! The inside of the network cannot be reached: not by any spelling of an address, not by a name, not by a name
//! that changes its mind, not by a redirect.
//!
//! Nothing listens at these addresses on purpose: a connection that was tried would fail with another error.

use std::sync::Arc;

use dunlin_net::{Client, Error, Fault, Guard, Refusal, Request, Settings};
use url::Url;

use crate::names::{Names, local_client};
use crate::origin::{Origin, answer, redirect};

/// URL and a part of the reason for refusing it.
const HOSTILE: &[(&str, &str)] = &[
    // Spellings of 127.0.0.1.
    ("http://127.0.0.1/", "loopback"),
    ("http://127.1/", "loopback"),
    ("http://127.255.255.254/", "loopback"),
    ("http://2130706433/", "loopback"),
    ("http://0x7f000001/", "loopback"),
    ("http://0x7f.1/", "loopback"),
    ("http://0177.0.0.1/", "loopback"),
    ("http://017700000001/", "loopback"),
    ("http://127.0.0.1./", "loopback"),
    ("http://127\u{3002}0\u{3002}0\u{3002}1/", "loopback"),
    ("http://\u{ff11}\u{ff12}\u{ff17}.0.0.1/", "loopback"),
    ("http://%31%32%37.0.0.1/", "loopback"),
    ("http:\\\\127.0.0.1\\", "loopback"),
    ("http:127.0.0.1", "loopback"),
    ("https://127.0.0.1:8443/", "loopback"),
    ("http://localhost/", "names this machine"),
    ("http://LOCALHOST./", "names this machine"),
    ("http://api.localhost/", "names this machine"),
    ("http://loc\u{ad}alhost/", "names this machine"),
    ("http://0/", "unspecified"),
    ("http://0.0.0.0/", "unspecified"),
    // IPv6.
    ("http://[::1]/", "loopback"),
    ("http://[::]/", "unspecified"),
    ("http://[::ffff:127.0.0.1]/", "wrapped in IPv6"),
    ("http://[::ffff:7f00:1]/", "wrapped in IPv6"),
    ("http://[::127.0.0.1]/", "wrapped in IPv6"),
    ("http://[64:ff9b::7f00:1]/", "wrapped in IPv6"),
    ("http://[2002:7f00:1::]/", "wrapped in IPv6"),
    ("http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/", "wrapped in IPv6"),
    ("http://[fe80::1]/", "link-local"),
    ("http://[fd00::1]/", "private"),
    ("http://[fec0::1]/", "private"),
    ("http://[ff02::1]/", "multicast"),
    ("http://[2001:db8::1]/", "documentation"),
    ("http://[100::1]/", "reserved"),
    ("http://[fe80::1%25eth0]/", "not a URL"),
    // Other networks.
    ("http://10.0.0.1/", "private"),
    ("http://172.16.0.1/", "private"),
    ("http://192.168.1.1/", "private"),
    ("http://3232235777/", "private"),
    ("http://100.64.0.1/", "carrier-grade NAT"),
    ("http://169.254.0.1/", "link-local"),
    ("http://192.0.2.1/", "documentation"),
    ("http://198.18.0.1/", "benchmarking"),
    ("http://224.0.0.1/", "multicast"),
    ("http://240.0.0.1/", "reserved"),
    ("http://255.255.255.255/", "broadcast"),
    // Where clouds keep credentials.
    ("http://169.254.169.254/latest/meta-data/", "cloud metadata"),
    ("http://0xa9fea9fe/", "cloud metadata"),
    ("http://169.254.170.2/v2/credentials", "cloud metadata"),
    ("http://100.100.100.200/", "cloud metadata"),
    ("http://168.63.129.16/", "cloud metadata"),
    ("http://[fd00:ec2::254]/", "cloud metadata"),
    ("http://[fd20:ce::254]/", "cloud metadata"),
    // Names that point inside.
    ("http://127.0.0.1.nip.test/", "loopback"),
    ("http://metadata.test/", "cloud metadata"),
    ("http://inside.test/", "private"),
    ("http://all-inside.test/", "private"),
    ("http://six.test/", "wrapped in IPv6"),
    // Schemes, credentials, ports.
    ("file:///etc/passwd", "scheme `file`"),
    ("ftp://public.test/", "scheme `ftp`"),
    ("gopher://127.0.0.1:6379/_INFO", "scheme `gopher`"),
    ("data:text/html,hello", "scheme `data`"),
    ("http://public.test@127.0.0.1/", "user name or password"),
    ("http://me:hunter2@public.test/", "user name or password"),
    ("http://:password@public.test/", "user name or password"),
    ("http://public.test:22/", "port 22"),
    ("http://public.test:6379/", "port 6379"),
    ("http://public.test:0/", "port 0"),
    ("http://public.test:99999/", "not a URL"),
    ("http://", "not a URL"),
    ("http://256.256.256.256/", "not a URL"),
    ("//public.test/", "not a URL"),
];

fn names() -> Names {
    Names::new()
        .with("127.0.0.1.nip.test", &["127.0.0.1"])
        .with("metadata.test", &["169.254.169.254"])
        .with("inside.test", &["10.1.2.3"])
        .with("all-inside.test", &["192.168.0.1", "10.0.0.1", "::1"])
        .with("six.test", &["::ffff:10.0.0.1"])
        .with("public.test", &["192.0.2.1"])
}

#[tokio::test]
async fn every_hostile_url_is_refused_with_its_reason() {
    let client = Client::with_resolver(Settings::default(), Arc::new(names())).unwrap();
    for (url, reason) in HOSTILE {
        let error = match Request::parse(url) {
            Ok(request) => client.fetch(request).await.unwrap_err(),
            Err(error) => error,
        };
        assert!(matches!(error, Error::Refused { hops: 0, .. } | Error::BadUrl(_)), "{url}: {error:?}");
        assert!(error.to_string().contains(reason), "{url}: {error}, expected {reason}");
        assert_eq!(error.fault(), Fault::User, "{url}");
        for shown in [error.to_string(), format!("{error:?}")] {
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }
}

#[tokio::test]
async fn every_hostile_url_is_refused_as_a_redirect_too() {
    for (url, reason) in HOSTILE {
        // A target that is no URL by itself is a relative one, or another error; both are tested elsewhere.
        if Request::parse(url).is_err() || url.starts_with("http:127") {
            continue;
        }
        let location: String = url.to_string().bytes().map(char::from).collect();
        let origin = Origin::start(move |_| redirect(&location)).await;
        let mut settings = Settings::default();
        // The first host is allowed by name, so nothing else becomes reachable with it.
        settings.guard = Guard::public_internet().allowing_host("front.test");
        let names = names().with("front.test", &["127.0.0.1"]);
        let client = Client::with_resolver(settings, Arc::new(names)).unwrap();
        let request = Request::parse(&origin.url_as("front.test", "/")).unwrap();
        let error = client.fetch(request).await.unwrap_err();
        assert!(matches!(error, Error::Refused { hops: 1, .. }), "{url}: {error:?}");
        assert!(error.to_string().contains(reason), "{url}: {error}, expected {reason}");
        assert_eq!(error.fault(), Fault::Remote, "{url}");
        assert_eq!(origin.seen().len(), 1);
    }
}

#[tokio::test]
async fn long_ways_inside_are_no_ways_inside() {
    for last in
        ["http://169.254.169.254/", "http://[::ffff:127.0.0.1]/", "http://10.0.0.1/", "//inside.test/"]
    {
        let origin = Origin::start(move |seen| match seen.path.as_str() {
            "/1" => redirect("/2"),
            "/2" => redirect(
                "//front.test:PORT/3"
                    .replace("PORT", seen.header("host").unwrap().rsplit(':').next().unwrap())
                    .as_str(),
            ),
            _ => redirect(last),
        })
        .await;
        // Loopback as a whole is allowed here; the wrapped form of it is still a trick.
        let mut settings = Settings::default();
        settings.guard = Guard::public_internet().allowing_network("127.0.0.0/8".parse().unwrap());
        let names = names().with("front.test", &["127.0.0.1"]);
        let client = Client::with_resolver(settings, Arc::new(names)).unwrap();
        let error = client.fetch(Request::parse(&origin.url("/1")).unwrap()).await.unwrap_err();
        assert!(matches!(error, Error::Refused { hops: 3, .. }), "{last}: {error:?}");
    }
}

#[tokio::test]
async fn a_name_that_changes_its_mind_gains_nothing() {
    let origin = Origin::start(|seen| match seen.path.as_str() {
        "/again" => {
            let host = seen.header("host").unwrap();
            answer("302 Found", &["Connection: close", &format!("Location: http://{host}/inside")], b"")
        }
        _ => answer("200 OK", &["Connection: close"], b"outside"),
    })
    .await;
    // The second lookup points inside.
    let names = Names::new().with("rebind.test", &["127.0.0.1"]).with("rebind.test", &["10.0.0.1"]);
    let names =
        Arc::new(names.with("rebind2.test", &["127.0.0.1"]).with("rebind2.test", &["169.254.169.254"]));
    let mut settings = Settings::default();
    settings.guard = Guard::public_internet().allowing_network("127.0.0.1/32".parse().unwrap());
    let client = Client::with_resolver(settings, names.clone()).unwrap();

    let request = || Request::parse(&origin.url_as("rebind.test", "/")).unwrap();
    // Checked and connected to with one lookup: there is no second answer to fall for.
    assert_eq!(client.fetch(request()).await.unwrap().body, "outside");
    assert_eq!(names.asked(), ["rebind.test"]);
    let error = client.fetch(request()).await.unwrap_err();
    assert!(error.to_string().contains("10.0.0.1 is a private address"), "{error}");

    let request = Request::parse(&origin.url_as("rebind2.test", "/again")).unwrap();
    let error = client.fetch(request).await.unwrap_err();
    assert!(matches!(error, Error::Refused { hops: 1, .. }), "{error:?}");
    assert_eq!(origin.seen().len(), 2);
}

#[tokio::test]
async fn bad_addresses_among_good_ones_are_left_out() {
    let origin = Origin::start(|_| answer("200 OK", &[], b"good")).await;
    let names = Names::new().with("mixed.test", &["10.0.0.1", "::ffff:127.0.0.1", "127.0.0.1", "127.0.0.1"]);
    let mut settings = Settings::default();
    settings.guard = Guard::public_internet().allowing_network("127.0.0.1/32".parse().unwrap());
    let client = Client::with_resolver(settings, Arc::new(names)).unwrap();
    let fetched = client.fetch(Request::parse(&origin.url_as("mixed.test", "/")).unwrap()).await.unwrap();
    assert_eq!(fetched.body, "good");
}

#[tokio::test]
async fn the_allow_list_opens_what_it_names_and_no_more() {
    let origin = Origin::start(|_| answer("200 OK", &[], b"home")).await;
    let port = origin.address.port();
    let fetch = |guard: Guard, url: String| async move {
        let mut settings = Settings::default();
        settings.guard = guard;
        let names = Names::new().with("home.test", &["127.0.0.1"]).with("localhost", &["127.0.0.1"]);
        let client = Client::with_resolver(settings, Arc::new(names)).unwrap();
        client.fetch(Request::parse(&url).unwrap()).await.map(|fetched| fetched.body)
    };
    let strict = Guard::public_internet;
    let loopback = || strict().allowing_network("127.0.0.0/8".parse().unwrap());
    let by_name = || strict().allowing_host("Home.Test.");

    assert!(fetch(strict(), format!("http://home.test:{port}/")).await.is_err());
    for (guard, host) in [
        (loopback(), "home.test"),
        (loopback(), "localhost"),
        (loopback(), "127.1"),
        (by_name(), "home.test."),
    ] {
        assert_eq!(fetch(guard, format!("http://{host}:{port}/")).await.unwrap(), "home", "{host}");
    }
    for (guard, url) in [
        (by_name(), format!("http://127.0.0.1:{port}/")),
        (by_name(), format!("http://localhost:{port}/")),
        (loopback(), format!("http://[::ffff:127.0.0.1]:{port}/")),
        (loopback().limiting_ports([80, 443]), format!("http://127.0.0.1:{port}/")),
        // Opening NAT64 must not open what lies behind it.
        (
            strict().allowing_network("64:ff9b::/96".parse().unwrap()),
            "http://[64:ff9b::10.0.0.1]/".to_owned(),
        ),
    ] {
        let error = fetch(guard, url.clone()).await.unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{url}: {error:?}");
    }
}

#[tokio::test]
async fn nothing_on_the_allow_list_opens_where_clouds_hand_out_credentials() {
    let mut settings = Settings::default();
    let everything = ["0.0.0.0/0", "::/0", "169.254.0.0/16", "169.254.169.254/32", "64:ff9b::/96"];
    for network in everything {
        settings.guard = settings.guard.allowing_network(network.parse().unwrap());
    }
    for host in ["metadata.test", "wrapped.test", "169.254.169.254"] {
        settings.guard = settings.guard.allowing_host(host);
    }
    let names = names().with("wrapped.test", &["64:ff9b::a9fe:a9fe"]);
    let client = Client::with_resolver(settings, Arc::new(names)).unwrap();
    for url in [
        "http://169.254.169.254/latest/meta-data/",
        "http://0xa9fea9fe/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[fd00:ec2::254]/",
        "http://metadata.test/",
        "http://wrapped.test/",
    ] {
        let error = client.fetch(Request::parse(url).unwrap()).await.unwrap_err();
        assert!(
            matches!(error, Error::Refused { refusal: Refusal::Metadata { .. }, .. }),
            "{url}: {error:?}"
        );
        // It must not name a way that is none.
        let shown = error.to_string();
        assert!(shown.contains("never fetched from") && !shown.contains("allow"), "{shown}");
    }
}

#[tokio::test]
async fn a_refused_fetch_sends_nothing_and_looks_nothing_up() {
    let names = Arc::new(Names::new());
    let client = Client::with_resolver(Settings::default(), names.clone()).unwrap();
    for url in
        ["http://localhost/", "http://a:b@public.test/", "http://public.test:25/", "ftp://public.test/"]
    {
        client.fetch(Request::parse(url).unwrap()).await.unwrap_err();
    }
    assert_eq!(names.asked(), [""; 0]);
    let client = local_client(|_| {});
    assert_eq!(client.idle_connections(), 0);
}

/// The documentation has the whole list, and nothing else is refused.
#[test]
fn ports_of_other_services_are_refused_as_documented_and_no_others() {
    let text = include_str!("../../../../docs/fetching.md");
    let line = |label: &str| text.lines().find(|line| line.starts_with(label)).unwrap();
    let numbers = ["Ports that browsers refuse", "Ports of databases"].map(line).join(" ");
    let mut documented = std::collections::BTreeSet::new();
    for word in numbers.split(|c: char| !c.is_ascii_digit() && c != '–').filter(|word| !word.is_empty()) {
        let (first, last) = word.split_once('–').unwrap_or((word, word));
        documented.extend(first.parse::<u16>().unwrap()..=last.parse().unwrap());
    }
    let guard = Guard::public_internet();
    for port in 0..=u16::MAX {
        let url = Url::parse(&format!("http://public.test:{port}/")).unwrap();
        let is_refused = matches!(guard.check_url(&url), Err(Refusal::Port { .. }));
        assert_eq!(is_refused, documented.contains(&port), "{port}");
    }
    for port in [1433, 1521, 2375, 2379, 3306, 3389, 5432, 5984, 6379, 8086, 9042, 9092, 9200, 11211, 27017] {
        assert!(documented.contains(&port), "{port}");
    }
}

#[test]
fn metadata_addresses_stay_closed_in_a_network_that_is_allowed_and_however_they_are_wrapped() {
    let guard = Guard::public_internet()
        .allowing_network("0.0.0.0/0".parse().unwrap())
        .allowing_network("::/0".parse().unwrap())
        .allowing_network("169.254.169.254/32".parse().unwrap())
        .allowing_host("169.254.169.254");
    for host in [
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "[fd00:ec2::254]",
        "[fd00:ec2::23]",
        "[fd20:ce::254]",
        "[fe80::a9fe:a9fe]",
        "[::ffff:169.254.169.254]",
        "[::169.254.169.254]",
        "[64:ff9b::169.254.169.254]",
        "[64:ff9b:1::169.254.169.254]",
        "[64:ff9b:a9fe:a9fe::]",
        "[64:ff9b:1:a9fe:a9:fe00::]",
        "[2002:a9fe:a9fe::]",
        "[2001:0:a9fe:a9fe:8000:63bf:a247:28e0]",
    ] {
        let refused = guard.check_url(&Url::parse(&format!("http://{host}/")).unwrap());
        assert!(matches!(refused, Err(Refusal::Metadata { .. })), "{host}: {refused:?}");
    }
    let url = Url::parse("http://[64:ff9b:1:5db8:d8:2200::]/").unwrap();
    assert!(guard.check_url(&url).is_ok());
}

#[test]
fn a_private_address_inside_an_allowed_range_of_ipv6_is_refused_wherever_it_is_in_it() {
    let guard = Guard::public_internet().allowing_network("64:ff9b::/32".parse().unwrap());
    for host in ["64:ff9b::10.0.0.1", "64:ff9b:a00:1::", "64:ff9b:1:a00:0:100::", "64:ff9b:1::a:0:100:0"] {
        let refused = guard.check_url(&Url::parse(&format!("http://[{host}]/")).unwrap());
        assert!(matches!(refused, Err(Refusal::Address { .. })), "{host}: {refused:?}");
    }
    assert!(guard.check_url(&Url::parse("http://[64:ff9b::93.184.216.34]/").unwrap()).is_ok());
}
