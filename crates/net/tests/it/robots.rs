//! robots.txt: precedence against a matcher written straight from the standard, groups, fetching, caching.

use std::fmt::Write as _;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_net::robots::{self, MAX_BYTES, Robots, RobotsCache, RobotsVerdict, SiteState};
use dunlin_net::{Error, Fetched, ResolveError};
use proptest::prelude::*;
use url::Url;

use crate::names::local_client;
use crate::origin::{Origin, answer, redirect};

/// Whether a pattern matches, by trying everything a star could stand for.
fn oracle_matches(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern, path) {
        ([], _) => true,
        ([b'$'], rest) => rest.is_empty(),
        ([b'*', after @ ..], rest) => (0..=rest.len()).any(|skip| oracle_matches(after, &rest[skip..])),
        ([first, after @ ..], [head, rest @ ..]) => first == head && oracle_matches(after, rest),
        (_, []) => false,
    }
}

/// Longest match decides; of equals, the one that allows.
fn oracle_allows(rules: &[(bool, String)], path: &str) -> bool {
    let matching = rules.iter().filter(|(_, pattern)| oracle_matches(pattern.as_bytes(), path.as_bytes()));
    matching.map(|(allows, pattern)| (pattern.len(), *allows)).max().is_none_or(|(_, allows)| allows)
}

proptest! {
    #[test]
    fn the_longest_rule_decides(
        rules in prop::collection::vec((any::<bool>(), "/[ab*/]{0,6}[$]?"), 0..8),
        paths in prop::collection::vec("/[ab/]{0,8}", 1..8),
    ) {
        let mut text = String::from("User-agent: dunlin\n");
        for (allows, pattern) in &rules {
            writeln!(text, "{}: {pattern}", if *allows { "Allow" } else { "Disallow" }).unwrap();
        }
        let robots = Robots::parse(text.as_bytes(), "dunlin");
        for path in paths {
            let url = Url::parse("http://h.test").unwrap().join(&format!("http://h.test{path}")).unwrap();
            prop_assert_eq!(robots.allows(&url), oracle_allows(&rules, url.path()), "{} in\n{}", path, text);
        }
    }

    #[test]
    fn anything_can_be_read(text in prop::collection::vec(any::<u8>(), 0..400), path in "/[ -~]{0,30}") {
        let robots = Robots::parse(&text, "dunlin");
        if let Ok(url) = Url::parse(&format!("http://h.test{path}")) {
            robots.allows(&url);
        }
    }

    #[test]
    fn the_order_of_rules_does_not_matter(
        rules in prop::collection::vec((any::<bool>(), "/[ab*]{0,4}"), 1..6).prop_shuffle(),
        path in "/[ab]{0,6}",
    ) {
        let allows = |rules: &mut dyn Iterator<Item = &(bool, String)>| {
            let lines = rules.map(|(allow, pattern)| {
                format!("{}: {pattern}\n", if *allow { "Allow" } else { "Disallow" })
            });
            let text = format!("User-agent: *\n{}", lines.collect::<String>());
            Robots::parse(text.as_bytes(), "dunlin").allows(&Url::parse(&format!("http://h.test{path}")).unwrap())
        };
        prop_assert_eq!(allows(&mut rules.iter()), allows(&mut rules.iter().rev()));
    }
}

fn allows(text: &str, path: &str) -> bool {
    Robots::parse(text.as_bytes(), "dunlin").allows(&Url::parse(&format!("https://h.test{path}")).unwrap())
}

#[test]
fn our_own_group_counts_alone_and_all_of_them_together() {
    let text = "User-agent: *\nDisallow: /\n\nUser-agent: Other\nUser-Agent : DUNLIN/2.0 # us\nDisallow: /a\n\n\
                user-agent:dunlin\r\nDISALLOW:/b\r\nUser-agent: dunlinbot\nDisallow: /c\n";
    assert!(!allows(text, "/a") && !allows(text, "/b"));
    assert!(allows(text, "/c") && allows(text, "/"));
}

#[test]
fn everyone_is_meant_where_we_are_not_named() {
    let text =
        "\u{feff}User-agent: *\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: *\nDisallow: /c\n";
    assert!(!allows(text, "/a") && allows(text, "/b") && !allows(text, "/c"));
}

#[test]
fn other_lines_do_not_end_a_group_and_rules_outside_of_one_do_not_count() {
    let text = "Disallow: /x\nUser-agent: a\nSitemap: https://h.test/map.xml\nUser-agent: dunlin\nNoise\nDisallow: /y\n";
    assert!(allows(text, "/x") && !allows(text, "/y"));
    let robots = Robots::parse(text.as_bytes(), "dunlin");
    assert_eq!(robots.sitemaps(), ["https://h.test/map.xml"]);
}

#[test]
fn examples_of_the_standard() {
    let text = "User-Agent: *\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    assert!(allows(text, "/example/page/") && !allows(text, "/example/page/disallowed.gif"));
    let text = "User-agent: *\nDisallow:\n";
    assert!(allows(text, "/anything"));
    let text = "User-agent: *\nDisallow: /page\nAllow: /page\n";
    assert!(allows(text, "/page"));
    assert!(allows("User-agent: *\nDisallow: /\n", "/robots.txt"));
    assert!(!allows("User-agent: *\nDisallow: /a?b\n", "/a?b=1"));
}

#[test]
fn crawl_delays_are_read_with_care() {
    let delay = |value: &str| {
        let text = format!("User-agent: *\nCrawl-delay: {value}\nDisallow: /x\n");
        Robots::parse(text.as_bytes(), "dunlin").crawl_delay()
    };
    assert_eq!(delay("10"), Some(Duration::from_secs(10)));
    assert_eq!(delay("0.5"), Some(Duration::from_millis(500)));
    assert_eq!(delay("1e300"), Some(Duration::from_hours(24)));
    for nonsense in ["-1", "NaN", "soon", ""] {
        assert_eq!(delay(nonsense), None, "{nonsense}");
    }
    // A site that says it twice means the longer one.
    for both in ["10\nCrawl-delay: 2", "2\nCrawl-delay: 10", "10\nCrawl-delay: soon"] {
        assert_eq!(delay(both), Some(Duration::from_secs(10)), "{both}");
    }
}

#[test]
fn what_lies_beyond_the_first_500_kib_is_not_read() {
    let mut text = b"User-agent: *\nDisallow: /near\n".to_vec();
    text.resize(MAX_BYTES, b'\n');
    text.extend(b"Disallow: /far\n");
    let text = String::from_utf8(text).unwrap();
    assert!(!allows(&text, "/near") && allows(&text, "/far"));
}

#[tokio::test]
async fn a_site_is_asked_once_and_believed_for_a_while() {
    let origin = Origin::start(|seen| match seen.path.as_str() {
        "/robots.txt" => redirect("/rules"),
        _ => answer(
            "200 OK",
            &["Cache-Control: max-age=3600"],
            b"User-agent: Dunlin\nDisallow: /x\nCrawl-delay: 3",
        ),
    })
    .await;
    let client = local_client(|_| {});
    let mut cache = RobotsCache::new("dunlin", 10);
    let now = Time::from_seconds(1_000_000);
    let url = |path: &str| Url::parse(&origin.url(path)).unwrap();

    let RobotsVerdict::Unknown { robots_txt } = cache.verdict(&url("/x?secret#y"), now) else { panic!() };
    assert_eq!(robots_txt.as_str(), origin.url("/robots.txt"));
    let fetched = robots::fetch(&client, &url("/x")).await;
    cache.remember(&url("/x"), &fetched, now);

    let allowed = RobotsVerdict::Allowed { crawl_delay: Some(Duration::from_secs(3)) };
    assert_eq!(cache.verdict(&url("/x"), now), RobotsVerdict::Forbidden);
    assert_eq!(cache.verdict(&url("/y"), now.plus(Duration::from_secs(3599))), allowed);
    let stale = cache.verdict(&url("/y"), now.plus(Duration::from_hours(1)));
    assert!(matches!(stale, RobotsVerdict::Unknown { .. }), "{stale:?}");
}

#[tokio::test]
async fn what_a_failing_site_means() {
    let origin = Origin::start(|seen| {
        let host = seen.header("host").unwrap();
        match &host[..1] {
            "n" => answer("404 Not Found", &[], b""),
            "e" => answer("500 Internal Server Error", &[], b""),
            "t" => answer("429 Too Many Requests", &["Retry-After: 7200"], b""),
            "l" => redirect("/robots.txt"),
            _ => answer("403 Forbidden", &[], b"User-agent: *\nDisallow: /"),
        }
    })
    .await;
    let mut settings = dunlin_net::Settings::default();
    settings.guard = dunlin_net::Guard::public_internet().allowing_network("127.0.0.1/32".parse().unwrap());
    let hosts = ["none.test", "error.test", "throttled.test", "loop.test", "forbidden.test"];
    let names = hosts.iter().fold(crate::names::Names::new(), |names, host| names.with(host, &["127.0.0.1"]));
    let client = dunlin_net::Client::with_resolver(settings, std::sync::Arc::new(names)).unwrap();
    let mut cache = RobotsCache::new("dunlin", 10);
    let now = Time::from_seconds(1_000_000);
    let allowed = RobotsVerdict::Allowed { crawl_delay: None };
    let until = |minutes| RobotsVerdict::Unreachable { until: now.plus(Duration::from_mins(minutes)) };
    for (host, expected) in [
        ("none.test", allowed.clone()),
        ("error.test", until(10)),
        ("throttled.test", until(120)),
        ("loop.test", allowed.clone()),
        ("forbidden.test", allowed.clone()),
        ("gone.test", until(10)),
    ] {
        let url = Url::parse(&origin.url_as(host, "/x")).unwrap();
        let fetched = robots::fetch(&client, &url).await;
        cache.remember(&url, &fetched, now);
        assert_eq!(cache.verdict(&url, now), expected, "{host}");
    }
}

#[tokio::test]
async fn known_rules_outlive_a_failure_and_old_sites_make_room() {
    let origin = Origin::start(|seen| match seen.connection {
        0 => answer("200 OK", &["Connection: close"], b"User-agent: *\nDisallow: /x"),
        _ => answer("503 Service Unavailable", &[], b""),
    })
    .await;
    let client = local_client(|_| {});
    let mut cache = RobotsCache::new("dunlin", 2);
    let url = Url::parse(&origin.url("/x")).unwrap();
    let fetched = robots::fetch(&client, &url).await;
    let now = Time::from_seconds(1_000_000);
    cache.remember(&url, &fetched, now);
    let later = now.plus(Duration::from_hours(30));
    let failed = robots::fetch(&client, &url).await;
    cache.remember(&url, &failed, later);
    assert_eq!(cache.verdict(&url, later), RobotsVerdict::Forbidden);
    assert_eq!(cache.verdict(&url.join("/y").unwrap(), later), RobotsVerdict::Allowed { crawl_delay: None });
    // Two more sites: the one whose entry ends first goes.
    for host in ["a.test", "b.test"] {
        cache.remember(&Url::parse(&format!("http://{host}/")).unwrap(), &fetched, later);
    }
    assert!(cache.robots(&url).is_none());
}

#[tokio::test]
async fn known_sites_can_be_stored_and_are_forgotten_when_unused() {
    let origin =
        Origin::start(|_| answer("200 OK", &[], b"User-agent: *\nDisallow: /x\nCrawl-delay: 7")).await;
    let url = Url::parse(&origin.url("/x")).unwrap();
    let fetched = robots::fetch(&local_client(|_| {}), &url).await;
    let now = Time::from_seconds(1_000_000);
    let mut cache = RobotsCache::new("dunlin", 2);
    cache.remember(&url, &fetched, now);
    let (site, state) = cache.to_store(&url).unwrap();
    let stored: SiteState = serde_json::from_str(&serde_json::to_string(&state).unwrap()).unwrap();

    let mut next = RobotsCache::new("dunlin", 2);
    next.restore([(site.clone(), stored.clone())]);
    assert_eq!(next.verdict(&url, now), RobotsVerdict::Forbidden);
    assert_eq!(next.robots(&url).unwrap().crawl_delay(), Some(Duration::from_secs(7)));
    assert!(matches!(next.verdict(&url, Time::from_seconds(5)), RobotsVerdict::Unknown { .. }), "set back");
    assert!(next.forget(now.plus(Duration::from_hours(48))).is_empty());
    assert_eq!(next.forget(now.plus(Duration::from_hours(9 * 24))), std::slice::from_ref(&site));

    let mut other = RobotsCache::new("somebody-else", 2);
    other.restore([(site.clone(), stored)]);
    assert!(matches!(other.verdict(&url, now), RobotsVerdict::Unknown { .. }), "the rules were for dunlin");
    assert_eq!(other.forget(now), [site]);
}

fn remember(cache: &mut RobotsCache, url: &Url, text: &[u8], now: Time) {
    let answer = http::Response::builder().status(200).body(text.to_vec().into()).unwrap();
    cache.remember(url, &Ok(Fetched::from_response(answer, url.clone(), Vec::new())), now);
}

fn site(n: usize) -> Url {
    Url::parse(&format!("http://site{n}.test/page")).unwrap()
}

#[test]
fn a_file_made_to_be_large_in_memory_is_not() {
    let now = Time::from_seconds(1_000_000);
    let fill = |unit: &str| {
        let lines = unit.as_bytes().iter().copied().cycle();
        [b"User-agent: *\n".to_vec(), lines.take(MAX_BYTES - 14).collect()].concat()
    };
    let one_long =
        |unit: &str| [b"User-agent: *\nDisallow: /".to_vec(), unit.repeat(MAX_BYTES).into()].concat();
    let most = robots::MAX_HELD + 20_000;
    for (what, text, most) in [
        ("stars", one_long("*"), 1_000),
        ("stars between letters", one_long("a*"), most),
        ("bytes that are escaped", one_long("\u{e9}"), most),
        ("short rules that allow", fill("Allow:*\n"), most),
        ("short rules that forbid", fill("Disallow:/x\n"), most),
        ("groups", fill("User-agent:*\nAllow:/\n"), most),
        ("groups of others", fill("User-agent:other\nAllow:/\n"), 1_000),
        ("sitemaps", fill("Sitemap:http://h.test/a/long/address/of/a/map.xml\n"), most),
        ("one sitemap", [b"Sitemap: ".to_vec(), vec![b'x'; MAX_BYTES]].concat(), 1_000),
    ] {
        let mut cache = RobotsCache::new("dunlin", 10);
        remember(&mut cache, &site(1), &text, now);
        assert!(cache.held_bytes() <= most, "{what}: {} bytes", cache.held_bytes());
        // What is stored is no larger.
        let stored = serde_json::to_vec(&cache.to_store(&site(1)).unwrap().1).unwrap();
        assert!(stored.len() <= 8 * most, "{what}: {}", stored.len());
    }
}

#[test]
fn a_file_that_says_more_than_is_kept_forbids_everything() {
    let rules = |what: &str, path: &str| {
        let mut text = String::from("User-agent: *\n");
        (0..40_000).for_each(|n| writeln!(text, "{what}: /{path}/{n:05}").unwrap());
        text
    };
    assert!(allows(&rules("Disallow", "a"), "/b"), "a long file of honest rules is kept whole");
    assert!(!allows(&rules("Disallow", "a"), "/a/25000"));
    let long = "\u{e9}".repeat(60);
    assert!(!allows(&rules("Disallow", &long), "/b"), "one that is cut forbids all");
    assert!(allows(&rules("Allow", &long), "/b"), "what would allow is only left out");
}

#[test]
fn the_last_line_of_a_file_that_is_cut_allows_nothing_by_being_cut() {
    let cut = |line: &str| {
        let mut text = b"User-agent: *\nDisallow: /x\n".to_vec();
        text.resize(MAX_BYTES - line.len(), b'\n');
        text.extend(line.as_bytes());
        text.extend(b"/public/only");
        String::from_utf8(text).unwrap()
    };
    assert!(!allows(&cut("Allow: /x"), "/x"), "it would have allowed /x/public/only");
    assert!(!allows(&cut("Disallow: /y"), "/y/z"), "half of what forbids forbids more");
}

#[test]
fn sites_with_many_rules_make_room_for_others_and_not_the_other_way_round() {
    let now = Time::from_seconds(1_000_000);
    let mut cache = RobotsCache::new("dunlin", 100_000).holding(2 << 20);
    for n in 0..100 {
        remember(&mut cache, &site(n), b"User-agent: *\nDisallow: /small", now);
    }
    // Each is larger than the one before, and would be the first to go.
    let mut large = String::from("User-agent: *\n");
    (0..5_000).for_each(|n| writeln!(large, "Disallow: /a/page/with/a/name/{n}").unwrap());
    for n in 100..140 {
        (0..20).for_each(|more| writeln!(large, "Disallow: /another/{n}/{more}").unwrap());
        remember(&mut cache, &site(n), large.as_bytes(), now);
        assert!(cache.held_bytes() <= 2 << 20, "{}", cache.held_bytes());
        assert!(cache.robots(&site(n)).is_some(), "what was just asked for is there");
    }
    assert!((0..100).all(|n| cache.robots(&site(n)).is_some()), "the small ones have not paid for it");
    let n_large = (100..140).filter(|n| cache.robots(&site(*n)).is_some()).count();
    assert!((5..20).contains(&n_large), "{n_large}");
    assert_eq!(cache.forget(now).len(), 40 - n_large, "displaced sites are not stored any more");
    // All of it is given back.
    let later = now.plus(Duration::from_hours(30 * 24));
    assert_eq!(cache.forget(later).len(), 100 + n_large);
    assert_eq!(cache.held_bytes(), 0);
}

#[test]
fn a_site_stored_in_another_format_is_fetched_again() {
    let now = Time::from_seconds(1_000_000);
    let mut cache = RobotsCache::new("dunlin", 10);
    remember(&mut cache, &site(1), b"User-agent: *\nDisallow: /page", now);
    let (name, state) = cache.to_store(&site(1)).unwrap();
    let mut written = serde_json::to_value(&state).unwrap();
    let read = |written: &serde_json::Value| {
        let mut next = RobotsCache::new("dunlin", 10);
        next.restore([(name.clone(), serde_json::from_value(written.clone()).unwrap())]);
        next.verdict(&site(1), now)
    };
    assert_eq!(read(&written), RobotsVerdict::Forbidden);
    written["form"] = 1.into();
    assert!(matches!(read(&written), RobotsVerdict::Unknown { .. }));
}

/// What is made of an answer: whether the site is open, and for how many seconds that is believed.
fn judged(answer: &Result<Fetched, Error>) -> (Option<bool>, u64) {
    let now = Time::from_seconds(1_000_000);
    let mut cache = RobotsCache::new("dunlin", 10);
    cache.remember(&site(1), answer, now);
    let is_open = match cache.verdict(&site(1), now) {
        RobotsVerdict::Allowed { .. } => Some(true),
        RobotsVerdict::Forbidden => Some(false),
        RobotsVerdict::Unreachable { .. } => None,
        RobotsVerdict::Unknown { .. } => panic!("it has just been asked"),
    };
    (is_open, cache.known_until(&site(1)).unwrap().since(now).as_secs())
}

#[test]
fn how_long_an_answer_is_believed_is_bounded_both_ways() {
    const DAY: u64 = 86_400;
    let answer = |status: u16, header: (&str, &str)| {
        let answer = http::Response::builder().status(status).header(header.0, header.1);
        let answer = answer.body("User-agent: *\nDisallow: /page".into()).unwrap();
        judged(&Ok(Fetched::from_response(answer, site(1), Vec::new())))
    };
    let (closed, open, unreachable) = (Some(false), Some(true), None);
    for (status, header, expected) in [
        (200, ("x-none", ""), (closed, DAY)),
        (200, ("cache-control", "max-age=3600"), (closed, 3_600)),
        (200, ("cache-control", "max-age=5"), (closed, 600)),
        (200, ("cache-control", "max-age=31536000"), (closed, DAY)),
        (200, ("cache-control", "no-cache"), (closed, DAY)),
        (404, ("x-none", ""), (open, DAY)),
        (403, ("cache-control", "max-age=3600"), (open, 3_600)),
        (429, ("x-none", ""), (unreachable, 600)),
        (500, ("x-none", ""), (unreachable, 600)),
        (503, ("retry-after", "5"), (unreachable, 600)),
        (503, ("retry-after", "7200"), (unreachable, 7_200)),
        (503, ("retry-after", "999999"), (unreachable, DAY)),
    ] {
        assert_eq!(answer(status, header), expected, "{status} {header:?}");
    }
    let url = || dunlin_net::RedactedUrl::of(&site(1));
    let host = || "site1.test".to_owned();
    let refused = || std::io::ErrorKind::ConnectionRefused.into();
    for (error, expected) in [
        (Error::Connect { host: host(), reason: refused() }, (unreachable, 600)),
        (Error::Resolve { host: host(), reason: ResolveError::Unreachable }, (unreachable, 60)),
        (Error::RedirectLoop { url: url() }, (open, DAY)),
        (Error::TooManyRedirects { limit: 5, url: url() }, (open, DAY)),
    ] {
        let shown = error.to_string();
        assert_eq!(judged(&Err(error)), expected, "{shown}");
    }
}
