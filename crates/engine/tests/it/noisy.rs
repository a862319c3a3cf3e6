//! An hour with pages as people meet them, by default settings and from nothing: one true change each, among clocks, counters and
//! rotations that are others in every answer. At most one false alarm, the truth told once, and no probe less for a quiet feed.

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::Settings;
use dunlin_engine::simulated::{Answered, Simulation, World};
use dunlin_net::Request;
use dunlin_store::SourceId;

use crate::fixtures::{all_changes, feed, page, test_store};
use crate::web::{Logged, at, fetched, rfc822};

/// Seconds from the start to the true change, and to the end.
const TRUE_CHANGE: i64 = 1_800;
const END: i64 = 3_600;

/// What is noise on a page: by the time, and by how many answers there were before.
type Noise = fn(Time, usize) -> String;

/// One of so many, in an order that looks like chance.
fn drawn(n_answers: usize, salt: usize, n_all: usize) -> usize {
    let mut state = (n_answers as u64 * 8 + salt as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state ^= state >> 29;
    state = state.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^= state >> 32;
    (state % n_all as u64) as usize
}

fn clock(now: Time, _: usize) -> String {
    let minutes = now.seconds().rem_euclid(86_400) / 60;
    format!("<p>Last updated {:02}:{:02}</p>", minutes / 60, minutes % 60)
}

fn posted(now: Time, _: usize) -> String {
    format!("<p>posted {} minutes ago</p>", (now.seconds() - at(-300).seconds()) / 60)
}

const STORIES: [&str; 8] = [
    "Harbour bridge closed for repairs",
    "Council votes on the new ferry",
    "Terns return to the northern sands",
    "Old lighthouse finds a buyer",
    "Record tide floods the market",
    "School choir wins in Bergen",
    "Fishermen protest against quota",
    "Library opens on Sundays",
];

fn most_read(_: Time, n_answers: usize) -> String {
    let first = drawn(n_answers, 0, 8);
    let step = 1 + 2 * drawn(n_answers, 1, 4);
    let rows = (0..3).map(|n| format!("<li><a href=\"/s{n}\">{}</a></li>", STORIES[(first + n * step) % 8]));
    format!("<h3>Most read</h3><ol>{}</ol>", rows.collect::<String>())
}

fn advertisement(_: Time, n_answers: usize) -> String {
    let all = [
        "Buy a boat before the summer",
        "Ropes and sails, half price",
        "Rent a cabin by the sea",
        "Learn to row in a week",
        "Smoked eel, sent to your door",
    ];
    format!("<div class=\"ad\"><p>{}</p></div>", all[drawn(n_answers, 2, 5)])
}

/// The same without a word that says what it is.
fn rotating_line(now: Time, n_answers: usize) -> String {
    advertisement(now, n_answers).replace(" class=\"ad\"", "")
}

fn counter(_: Time, n_answers: usize) -> String {
    format!("<p>{} views</p>", 12_041 + 17 * n_answers)
}

fn token(_: Time, n_answers: usize) -> String {
    let number = (n_answers as u64 + 77).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("<p>Request {number:016x}</p>")
}

const KINDS: [(&str, &[Noise]); 8] = [
    ("clock", &[clock]),
    ("posted", &[posted]),
    ("most-read", &[most_read]),
    ("advertisement", &[advertisement]),
    ("rotating-line", &[rotating_line]),
    ("counter", &[counter]),
    ("token", &[token]),
    ("all", &[clock, posted, most_read, advertisement, counter, token]),
];

/// A feed behind two servers, one of which is a day behind: an entry comes and goes, and another one says now this and now that.
fn flipping_feed(n_answers: usize) -> String {
    let is_stale = drawn(n_answers, 3, 2) == 1;
    let title = if is_stale { "Ferry to run" } else { "Ferry to run again from Monday" };
    let item = |n: i64, title: &str| {
        let date = rfc822(at(-86_400 * n));
        format!("<item><guid>{n}</guid><title>{title}</title><pubDate>{date}</pubDate></item>")
    };
    let newest = if is_stale { String::new() } else { item(1, "Library opens on Sundays") };
    let items = newest + &item(2, title) + &item(3, "Old lighthouse finds a buyer");
    format!("<rss version='2.0'><channel><title>Flipping</title>{items}</channel></rss>")
}

/// Noisy pages, and a quiet feed.
struct NoisyWeb {
    n_answers: BTreeMap<String, usize>,
    log: Vec<Logged>,
}

impl NoisyWeb {
    fn body(&self, path: &str, now: Time) -> (String, &'static str) {
        let is_after = now >= at(TRUE_CHANGE);
        let n_before = self.n_answers.get(path).copied().unwrap_or(0);
        if path == "/flipping" {
            return (flipping_feed(n_before), "application/rss+xml");
        }
        let Some((_, noises)) = KINDS.iter().find(|(name, _)| *name == &path[1..]) else {
            let item = |n: i64| {
                let date = rfc822(at(if n == 2 { TRUE_CHANGE } else { -86_400 }));
                format!("<item><guid>{n}</guid><title>Entry {n}</title><pubDate>{date}</pubDate></item>")
            };
            let items = if is_after { item(2) + &item(1) } else { item(1) };
            let body = format!("<rss version='2.0'><channel><title>Quiet</title>{items}</channel></rss>");
            return (body, "application/rss+xml");
        };
        let noise: String = noises.iter().map(|noise| noise(now, n_before)).collect();
        let price = if is_after { "€ 17.49" } else { "€ 19.99" };
        let body = format!(
            "<html><head><title>Shop</title></head><body><nav><a href=\"/\">Home</a></nav><main><h1>Teapot</h1>\
             <p>A pot of clay, made by hand.</p><p>Price: {price}</p>{noise}<p>Glazed blue.</p></main>\
             <footer>Written by hand.</footer></body></html>"
        );
        (body, "text/html")
    }
}

impl World for NoisyWeb {
    fn answer(&mut self, request: &Request, now: Time) -> Answered {
        let (url, hops) = request.beginning();
        let (status, (body, media_type)) = match url.path() {
            "/robots.txt" => (404, (String::new(), "text/plain")),
            path => (200, self.body(path, now)),
        };
        *self.n_answers.entry(url.path().to_owned()).or_default() += 1;
        let latency = Duration::from_millis(80);
        let host = url.host_str().unwrap().to_owned();
        let until = now.plus(latency);
        self.log.push(Logged { at: now, until, host, path: url.path().to_owned(), status });
        Answered { latency, result: Ok(fetched(status, &[("content-type", media_type)], body, &url, hops)) }
    }
}

/// An hour; the summaries told of each source, and how often the feed was probed.
fn an_hour(names: &[&str]) -> (BTreeMap<String, Vec<(i64, String)>>, usize) {
    let test_store = test_store();
    let web = NoisyWeb { n_answers: BTreeMap::new(), log: Vec::new() };
    let mut run = Simulation::new(test_store.store.clone(), Settings::default(), web, at(0)).unwrap();
    let url = |name: &str| format!("http://{name}.example/{name}");
    let mut ids: BTreeMap<SourceId, String> = BTreeMap::new();
    for name in names {
        ids.insert(run.add_source(page(&url(name))).unwrap(), (*name).to_owned());
    }
    ids.insert(run.add_source(feed(&url("quiet"))).unwrap(), "quiet".to_owned());
    run.run_until(at(END));
    for (id, name) in &ids {
        // Every silence can be explained, and the list of it is short.
        let suppressed = run.explain(*id).unwrap().suppressed;
        assert_eq!(suppressed.is_empty(), name == "quiet", "{name}: {suppressed:?}");
        assert!(suppressed.len() <= 12, "{name}: {suppressed:?}");
        let clocks = suppressed.iter().filter(|part| part.why == "clock");
        assert_eq!(
            clocks.clone().count(),
            usize::from(matches!(name.as_str(), "clock" | "all")),
            "{suppressed:?}"
        );
        assert!(clocks.into_iter().all(|part| part.times > 10), "{suppressed:?}");
    }
    let mut told: BTreeMap<String, Vec<(i64, String)>> =
        ids.values().map(|name| (name.clone(), Vec::new())).collect();
    for change in all_changes(&*test_store.store) {
        let seconds = change.detected.seconds() - at(0).seconds();
        told.get_mut(&ids[&change.source]).unwrap().push((seconds, change.found.summary));
    }
    let n_probes = run.world().log.iter().filter(|logged| logged.path == "/quiet").count();
    (told, n_probes)
}

#[test]
fn an_hour_of_noise_raises_at_most_one_alarm_a_page_and_hides_no_truth() {
    let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
    let (told, n_probes) = an_hour(&names);
    for name in names {
        let told = &told[name];
        let is_true = |summary: &String| summary.contains("19.99") && summary.contains("17.49");
        let n_true = told.iter().filter(|(at, summary)| *at >= TRUE_CHANGE && is_true(summary)).count();
        assert_eq!(n_true, 1, "{name}: {told:?}");
        // What nothing says to be advertising has to be seen a second time.
        let n_false = if name == "rotating-line" { 2 } else { 1 };
        assert!(told.len() <= 1 + n_false, "{name}: {told:?}");
    }
    let (alone, n_alone) = an_hour(&[]);
    assert_eq!(told["quiet"].len(), 1);
    assert_eq!(alone["quiet"].len(), 1);
    assert!(n_probes * 10 >= n_alone * 9, "{n_probes} probes of the feed, {n_alone} without noise beside it");
}

/// What is told of a page with a rotating line that is added when another one of `site` has been watched for a while.
fn told_of_a_second_page(site: &str) -> Vec<String> {
    let test_store = test_store();
    let web = NoisyWeb { n_answers: BTreeMap::new(), log: Vec::new() };
    let mut run = Simulation::new(test_store.store.clone(), Settings::default(), web, at(0)).unwrap();
    run.add_source(page(&format!("http://{site}/rotating-line"))).unwrap();
    run.run_until(at(TRUE_CHANGE - 600));
    let second = run.add_source(page("http://shop.example/rotating-line?page=2")).unwrap();
    run.run_until(at(END));
    let changes = all_changes(&*test_store.store).into_iter();
    changes.filter(|change| change.source == second).map(|change| change.found.summary).collect()
}

#[test]
fn what_one_page_of_a_site_has_taught_serves_the_next_from_its_first_minute() {
    let is_true = |summary: &String| summary.contains("19.99") && summary.contains("17.49");
    let told = told_of_a_second_page("shop.example");
    assert!(told.len() == 1 && is_true(&told[0]), "{told:?}");
    // Another site teaches nothing: there the line has to be seen to rotate.
    let told = told_of_a_second_page("other.example");
    assert!(told.len() > 1 && told.iter().any(is_true), "{told:?}");
}

#[test]
fn a_feed_that_flips_between_two_states_is_told_of_a_handful_of_times() {
    let test_store = test_store();
    let web = NoisyWeb { n_answers: BTreeMap::new(), log: Vec::new() };
    let mut run = Simulation::new(test_store.store.clone(), Settings::default(), web, at(0)).unwrap();
    run.add_source(feed("http://news.example/flipping")).unwrap();
    run.run_until(at(END));
    let n_answers = run.world().n_answers["/flipping"];
    let told: Vec<String> =
        all_changes(&*test_store.store).into_iter().map(|change| change.found.summary).collect();
    let n_of_title = told.iter().filter(|summary| summary.contains("Ferry")).count();
    assert!(n_answers > 50, "{n_answers} answers");
    assert!(n_of_title <= 3 && told.len() == n_of_title + 1, "{told:?}");
}
