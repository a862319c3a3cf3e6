//! Control by itself, event by event: fetchers that answer by a plan, and what follows from each answer. With answers that come late
//! or never, crashes, a store in trouble, hosts with room for two, and a clock that goes back. See `driver.rs`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use dunlin_core::Fault;
use dunlin_engine::Pace;
use dunlin_engine::capture::{Failure, FollowUp, ProbeOutcome, Refusal, SourceEnd};
use dunlin_engine::control::Event;
use dunlin_engine::source_config::{Activity, SourceConfig, WatchedSource};
use dunlin_net::RetryAfter;
use dunlin_net::politeness::Outcome as Politeness;
use dunlin_sched::model::{Completeness, Evidence};
use dunlin_store::{
    CeiId, CeiState, Health, NewInterval, ObservationId, ProbeId, Recorded, Repeated, ResourceId, SourceId,
    SourceState, StoredCei, StoredInterval,
};
use url::Url;

use super::check;
use super::diary::{figures, written};
use crate::driver::ControlDriver;
use crate::web::at;

/// What a probe comes to.
#[derive(Debug, Clone, Copy)]
enum Reply {
    Same,
    Changed,
    Follow,
    Fails(Fault, Politeness),
    Refused,
    Replaced,
    LeadsTo(&'static str),
    Through(&'static str),
    Closed,
    Crash,
    Drop,
    /// The first source of the resource is read, the others are not.
    Half,
    Never,
}

/// Sources, where they are, and what their probes come to in order, again and again.
const SOURCES: [(i64, i64, &str, &[Reply]); 13] = [
    (
        1,
        1,
        "http://a.test/",
        &[Reply::Same, Reply::Changed, Reply::Same, Reply::Crash, Reply::Crash, Reply::Drop],
    ),
    (2, 2, "http://a.test/two", &[Reply::Same, Reply::Follow, Reply::Half, Reply::Changed]),
    (3, 2, "http://a.test/two", &[]),
    (4, 4, "http://b.test/", &[Reply::Closed, Reply::Same, Reply::Closed, Reply::Closed, Reply::Same]),
    (5, 5, "http://b.test:81/", &[Reply::Fails(Fault::Remote, Politeness::Broken), Reply::Replaced]),
    (6, 6, "http://c.test/", &[Reply::Refused, Reply::Fails(Fault::Ours, Politeness::LocalFailure)]),
    (
        7,
        7,
        "http://d.test/",
        &[
            Reply::LeadsTo("http://e.test/new"),
            Reply::Same,
            Reply::LeadsTo("http://e.test/new"),
            Reply::Fails(Fault::Remote, Politeness::Unreachable),
            Reply::LeadsTo("http://f.test/shut"),
            Reply::LeadsTo("http://g.test/"),
        ],
    ),
    (
        8,
        8,
        "http://e.test/own",
        &[Reply::Same, Reply::Through("http://e.test:82/"), Reply::Through("http://h.test/")],
    ),
    (9, 9, "http://h.test/", &[Reply::Fails(Fault::Remote, LIMITED), Reply::Same, Reply::Same]),
    (10, 10, "http://i.test/", &[Reply::Never]),
    (
        11,
        11,
        "http://j.test/",
        &[
            Reply::LeadsTo("http://k.test/far"),
            Reply::Same,
            Reply::LeadsTo("http://k.test/far"),
            Reply::Changed,
        ],
    ),
    (
        12,
        12,
        "http://k.test/own",
        &[Reply::Same, Reply::Fails(Fault::Ours, Politeness::LocalFailure), Reply::Changed],
    ),
    (13, 13, "http://k.test/shut", &[Reply::Same]),
];

const LIMITED: Politeness =
    Politeness::Limited { retry_after: Some(RetryAfter::Delay(Duration::from_secs(90))) };

/// What robots.txt says of each host; nothing of others.
const ROBOTS: [(&str, u16, &str); 5] = [
    ("http://a.test/robots.txt", 200, "User-agent: *\nCrawl-delay: 20\n"),
    ("http://f.test/robots.txt", 200, "User-agent: *\nDisallow: /shut\n"),
    ("http://g.test/robots.txt", 503, ""),
    ("http://i.test/robots.txt", 429, ""),
    ("http://k.test/robots.txt", 200, "User-agent: *\nCrawl-delay: 330\nDisallow: /shut\n"),
];

struct Hand {
    driver: ControlDriver,
    text: String,
    n_captures: usize,
    /// What fetchers were told and have not answered, by when they will.
    due: BTreeMap<i64, Vec<String>>,
    n_replies: BTreeMap<i64, usize>,
    is_network_down: bool,
    /// Whether all probes find what was there before.
    is_quiet: bool,
    now: i64,
}

impl Hand {
    fn new(about: &str, driver: ControlDriver) -> Self {
        let text = format!(
            "# {about}\n# Each event, and after the colon what fetchers are told to ask for; `writes`: what is stored of a source.\n\n"
        );
        let (due, n_replies) = Default::default();
        Self { driver, text, n_captures: 0, due, n_replies, is_network_down: false, is_quiet: false, now: 0 }
    }

    fn happened(&mut self, what: &str, asked: Vec<String>) {
        if !asked.is_empty() || what != "tick" || self.has_written() {
            writeln!(self.text, "{} {what}: {}", written(at(self.now)), asked.join(", ")).unwrap();
        }
        self.written();
        for asked in asked {
            let takes = if asked.starts_with("robots") { 1 } else { 2 };
            self.due.entry(self.now + takes).or_default().push(asked);
        }
    }

    fn has_written(&self) -> bool {
        self.driver.captures.len() > self.n_captures || !self.driver.handed_over.is_empty()
    }

    fn written(&mut self) {
        for capture in &self.driver.captures[self.n_captures..] {
            let mut scopes: Vec<&str> = capture.politeness.iter().map(|own| own.scope.as_str()).collect();
            scopes.sort_unstable();
            let state = capture.state.as_ref().map_or("as before".to_owned(), |state| {
                let since = written(state.since);
                format!("{:?} since {since} (told {:?}) {}", state.health, state.announced, state.reason)
            });
            let told = capture.changes.iter().map(|own| {
                let after = own.happened_after.map_or("-".to_owned(), written);
                format!("{} `{}` between {after} and {}", own.kind, own.summary, written(own.happened_before))
            });
            let captured: Vec<(i64, u32)> =
                capture.intervals.iter().map(|own| (own.cei.0, own.position)).collect();
            let notes: Vec<&str> = capture.notes.iter().map(|note| note.name.as_str()).collect();
            writeln!(
                self.text,
                "    writes {}: {:?}; state {state}; tells {:?}; notes {notes:?}; hosts {scopes:?}; captures {captured:?}",
                capture.source,
                capture.outcome,
                told.collect::<Vec<_>>()
            )
            .unwrap();
        }
        self.n_captures = self.driver.captures.len();
        for line in std::mem::take(&mut self.driver.handed_over) {
            writeln!(self.text, "    hands over {line}").unwrap();
        }
    }

    /// Lets time pass up to a second: answers come, then it ticks.
    fn until(&mut self, end: i64) {
        while self.now < end {
            self.now += 1;
            for asked in self.due.remove(&self.now).unwrap_or_default() {
                self.answer(&asked);
            }
            let asked = self.driver.tick(self.now);
            self.happened("tick", asked);
        }
    }

    /// Lets time pass until a source is being probed.
    fn until_probe(&mut self, id: i64) {
        let is_it = |asked: &String| asked.split([' ', '+']).any(|word| word == id.to_string());
        for _ in 0..1_000 {
            if self.due.values().flatten().any(is_it) {
                return;
            }
            self.until(self.now + 1);
        }
    }

    /// A source has another configuration.
    fn configure(
        &mut self,
        id: i64,
        resource: i64,
        url: &str,
        activity: impl FnOnce(Box<WatchedSource>) -> Activity,
    ) {
        let watched = self.driver.watched(url);
        let state = SourceState { health: Health::New, reason: String::new(), since: at(0), announced: None };
        let config = SourceConfig {
            id: SourceId(id),
            resource: ResourceId(resource),
            state,
            activity: activity(Box::new(watched)),
        };
        let kind = match config.activity {
            Activity::Watch(_) => "watched",
            Activity::Pause(_) => "paused",
            Activity::Invalid { .. } => "invalid",
        };
        self.event(&format!("{id} is {kind} at {url}"), Event::Configured(vec![config]));
    }

    fn event(&mut self, what: &str, event: Event) {
        let asked = self.driver.happen(self.now, event);
        self.happened(what, asked);
    }

    fn answer(&mut self, asked: &str) {
        let now = self.now;
        if let Some(url) = asked.strip_prefix("robots ") {
            let known = ROBOTS.iter().find(|(of, ..)| *of == url);
            let (status, text) = known.map_or((404, ""), |(_, status, text)| (*status, *text));
            let asked = self.driver.robots(now, url, status, text);
            return self.happened(&format!("{url} answers {status}"), asked);
        }
        let ids: Vec<i64> =
            asked.split(' ').nth(1).unwrap().split('+').map(|id| id.parse().unwrap()).collect();
        let id = ids[0];
        let (_, _, url, plan) = SOURCES.iter().find(|(own, ..)| *own == id).copied().unwrap();
        let n = self.n_replies.entry(id).or_default();
        let reply = if self.is_quiet {
            Reply::Same
        } else if self.is_network_down {
            Reply::Fails(Fault::Ours, Politeness::LocalFailure)
        } else {
            *n += 1;
            plan[(*n - 1) % plan.len()]
        };
        let follow = self.reply(&ids, url, reply);
        self.happened(&format!("{asked} comes to {reply:?}"), follow);
    }

    fn reply(&mut self, ids: &[i64], url: &str, reply: Reply) -> Vec<String> {
        let (now, id) = (self.now, ids[0]);
        let probe = self.driver.probe_of(id);
        let observed = |evidence, follow_up| ProbeOutcome::Observed { evidence, follow_up };
        let changed = || Evidence::Changed { times: Vec::new(), completeness: Completeness::Latest };
        let failed = |fault, refusal: Option<Refusal>| {
            let failure = Failure::new(fault, format!("it fails by {fault:?}"));
            ProbeOutcome::Failed(Failure { refusal: refusal.unwrap_or(failure.refusal), ..failure })
        };
        let (outcome, politeness) = match reply {
            Reply::Same => (observed(Evidence::Unchanged, FollowUp::None), Politeness::Fine),
            Reply::Changed | Reply::Half => (observed(changed(), FollowUp::None), Politeness::Fine),
            Reply::Follow => (observed(changed(), FollowUp::Soon), Politeness::Fine),
            Reply::Fails(fault, politeness) => (failed(fault, None), politeness),
            Reply::Refused => (failed(Fault::User, None), Politeness::Fine),
            Reply::Replaced => (failed(Fault::Remote, Some(Refusal::Replaced)), Politeness::Fine),
            Reply::LeadsTo(target) => return self.driver.redirected(now, id, url, target),
            Reply::Through(target) => {
                let chain = [url, target, url, target].map(|url| Url::parse(url).unwrap());
                self.driver.redirect_chain = chain.to_vec();
                (observed(Evidence::Unchanged, FollowUp::None), Politeness::Fine)
            }
            Reply::Closed => return self.driver.happen(now, Event::ConnectionClosed { probe }),
            Reply::Crash => {
                return self.driver.happen(now, Event::Crashed { probe, reason: "a bug".to_owned() });
            }
            Reply::Drop => {
                return self.driver.happen(now, Event::Dropped { probe, reason: "no store".to_owned() });
            }
            Reply::Never => return Vec::new(),
        };
        let mut ends: Vec<SourceEnd> =
            ids.iter().map(|id| self.driver.end_of(now, *id, outcome.clone())).collect();
        if matches!(reply, Reply::Half) {
            for end in &mut ends[1..] {
                *end = SourceEnd::Crashed { source: end.source(), reason: "another bug".to_owned() };
            }
        }
        self.driver.ended(now, probe, politeness, ends)
    }

    /// What is said when somebody asks.
    fn report(&mut self) {
        let now = at(self.now);
        let report = self.driver.control.budget(now);
        let next = self.driver.control.next_due(now).map_or("-".to_owned(), written);
        writeln!(
            self.text,
            "{} budget {} a second, used {:?}, {} of {} in flight, price {:.2}, next {next}",
            written(now),
            report.pace.per_second,
            report.used,
            report.in_flight,
            report.max_in_flight,
            report.price
        )
        .unwrap();
        for host in report.hosts {
            let held = host.held_until.map_or("-".to_owned(), written);
            let (scope, hour, day, sources) = (host.scope, host.hour, host.day, host.sources);
            writeln!(
                self.text,
                "    {scope}: {hour} in the hour, {day} in the day, {sources} sources, held until {held}"
            )
            .unwrap();
        }
        let health = self.driver.control.health();
        let stored: Vec<&str> = self
            .driver
            .remembered
            .iter()
            .filter(|(_, state)| !state.is_empty())
            .map(|(scope, _)| scope.as_str())
            .collect();
        writeln!(
            self.text,
            "    {}\n    store {:?}, network {:?}, stopping {}, journals {}, stored {}",
            figures(self.driver.control.stats()),
            health.store_trouble,
            health.network_trouble,
            health.is_stopping,
            self.driver.n_journals,
            stored.join(", ")
        )
        .unwrap();
    }
}

fn hand(about: &str, concurrent: u32) -> Hand {
    let mut driver = ControlDriver::new(|settings| {
        settings.budget = Pace { per_second: 1.0 };
        settings.host_budget = Some(Pace { per_second: 0.05 });
        settings.politeness.concurrent = concurrent;
        settings.in_flight = 4;
        settings.longest_gap = Duration::from_mins(4);
    });
    for (id, resource, url, _) in SOURCES {
        driver.join_resource(0, id, resource, url);
    }
    Hand::new(about, driver)
}

#[test]
fn an_hour_of_answers() {
    let mut hand = hand("Ten sources whose probes come to all that there is.", 1);
    hand.until(300);
    hand.report();
    hand.until(900);
    hand.event("the store is full", Event::StoreTrouble(Some("disk full".to_owned())));
    hand.until(960);
    hand.report();
    hand.event("the store is fine", Event::StoreTrouble(None));
    hand.until(1_300);
    hand.is_network_down = true;
    hand.until(1_500);
    hand.report();
    hand.is_network_down = false;
    hand.until(1_700);
    hand.event("a budget of one in twenty seconds", Event::Budget(Pace { per_second: 0.05 }));
    hand.until(2_400);
    hand.report();
    hand.event("4 is removed", Event::Removed(SourceId(4)));
    hand.event("9 is removed", Event::Removed(SourceId(9)));
    hand.until(3_300);
    hand.report();
    hand.event("it stops", Event::Stopping);
    hand.until(3_400);
    hand.report();
    check("answers", &hand.text);
}

#[test]
fn requests_writes_that_fail_and_a_clock_that_goes_back() {
    let mut hand = hand(
        "Two at a time at each host, requests of users, captures that are not stored, a clock set back.",
        2,
    );
    hand.until(200);
    for id in [1, 5, 6, 9] {
        let granted = hand.driver.control.request_probe(at(hand.now), SourceId(id));
        hand.happened(&format!("a probe of {id} is requested, {granted:?}"), Vec::new());
    }
    hand.until(400);
    hand.driver.is_store_slow = true;
    hand.until(410);
    let unwritten: Vec<(ProbeId, SourceId)> =
        hand.driver.captures.iter().rev().take(4).map(|own| (own.probe, own.source)).collect();
    hand.until(440);
    hand.report();
    for (number, (probe, source)) in (0..).zip(unwritten) {
        let recorded = Recorded {
            observation: ObservationId(900),
            version: None,
            cursors: None,
            last_result: None,
            repeated: if number == 2 { Repeated::Yes } else { Repeated::No },
        };
        let result = match number {
            0 => Err(dunlin_store::Error::NoSuchSource(source)),
            1 => Err(dunlin_store::Error::NoSuchVersion(dunlin_store::VersionId(1))),
            _ => Ok(recorded),
        };
        hand.event(
            &format!("the capture of {source} is stored or not ({number})"),
            Event::Written { probe, source, result },
        );
    }
    hand.driver.is_store_slow = false;
    hand.event("a batch of the journal is written", Event::JournalWritten);
    hand.until(900);
    hand.report();
    // What is under way is answered by the old clock.
    hand.due.clear();
    hand.now = 300;
    hand.until(700);
    hand.report();
    hand.configure(5, 55, "http://b.test/another", Activity::Watch);
    hand.until(800);
    hand.until_probe(1);
    hand.configure(1, 1, "http://a.test/", Activity::Pause);
    hand.until_probe(9);
    let granted = hand.driver.control.request_probe(at(hand.now), SourceId(9));
    hand.happened(&format!("a probe of 9 is requested while it is probed, {granted:?}"), Vec::new());
    hand.configure(9, 9, "http://h.test/", Activity::Watch);
    hand.until_probe(8);
    hand.configure(8, 88, "http://e.test/elsewhere", Activity::Watch);
    hand.until_probe(2);
    hand.event("3 is removed", Event::Removed(SourceId(3)));
    hand.until(1_000);
    hand.configure(1, 1, "http://a.test/", Activity::Watch);
    let reason = "no such recipe".to_owned();
    hand.configure(4, 4, "http://b.test/", |_| Activity::Invalid { reason });
    hand.until(1_200);
    hand.report();
    hand.event("it stops", Event::Stopping);
    hand.until(1_250);
    hand.report();
    check("requests", &hand.text);
}

/// A need as the store has it: how many of these, by source, from when to when, and whether they are captured.
fn need(id: i64, need: u32, of: &[(i64, i64, i64, bool)]) -> StoredCei {
    let interval = |(source, start, finish, is_captured): &(i64, i64, i64, bool)| StoredInterval {
        interval: NewInterval { source: SourceId(*source), start: at(*start), finish: at(*finish) },
        captured: is_captured.then_some(ObservationId(1)),
    };
    let intervals = of.iter().map(interval).collect();
    let (created, weight) = (at(0), id as f64);
    StoredCei { id: CeiId(id), need, weight, state: CeiState::Open, created, ended: None, intervals }
}

#[test]
fn needs_of_sources_that_come_and_go() {
    let mut driver = ControlDriver::new(|settings| {
        settings.budget = Pace { per_second: 0.1 };
        settings.longest_gap = Duration::from_hours(1);
    });
    for id in [1, 4, 6] {
        let (_, resource, url, _) = SOURCES.iter().find(|(own, ..)| *own == id).copied().unwrap();
        driver.join_resource(0, id, resource, url);
    }
    let about = "Needs: extended, withdrawn, waiting for sources that are paused or gone, captured in part.";
    let mut hand = Hand::new(about, driver);
    hand.is_quiet = true;
    hand.until(100);
    let added = |ceis: Vec<StoredCei>| Event::CeisAdded(ceis);
    hand.event("1: both", added(vec![need(1, 2, &[(1, 200, 260, false), (6, 220, 300, false)])]));
    hand.event("2: soon over", added(vec![need(2, 1, &[(4, 90, 100, false)])]));
    hand.event("3: nobody has source 9", added(vec![need(3, 1, &[(9, 100, 600, false)])]));
    hand.event(
        "4: half of it is captured",
        added(vec![need(4, 2, &[(9, 50, 60, true), (1, 300, 360, false)])]),
    );
    hand.until(205);
    hand.configure(6, 6, "http://c.test/", Activity::Pause);
    hand.until(250);
    hand.configure(6, 6, "http://c.test/", Activity::Watch);
    hand.until(320);
    hand.report();
    hand.event("5: one of two", added(vec![need(5, 1, &[(4, 400, 420, false), (6, 405, 425, false)])]));
    hand.event("6: to be extended", added(vec![need(6, 1, &[(1, 430, 470, false)])]));
    hand.event("6 is extended", Event::CeiExtended(CeiId(6)));
    hand.event("6 is extended again", Event::CeiExtended(CeiId(6)));
    let more = [(1, 430, 470, false), (4, 500, 540, false), (6, 520, 580, false)];
    hand.event("6 is read", Event::CeiRead(need(6, 2, &more[..2])));
    hand.event("6 is read again", Event::CeiRead(need(6, 3, &more)));
    hand.event("7: to be withdrawn", added(vec![need(7, 1, &[(4, 450, 480, false)])]));
    hand.event("7 is extended", Event::CeiExtended(CeiId(7)));
    hand.event("7 is withdrawn", Event::CeiWithdrawn(CeiId(7)));
    hand.event("7 is read", Event::CeiRead(need(7, 1, &[(4, 450, 480, false), (1, 480, 500, false)])));
    hand.event("3 is extended", Event::CeiExtended(CeiId(3)));
    let both = [(9, 100, 600, false), (1, 610, 680, false)];
    hand.event("3 is read", Event::CeiRead(need(3, 1, &both)));
    hand.until(700);
    hand.report();
    hand.event(
        "8: while it is being probed",
        added(vec![need(8, 2, &[(1, 700, 800, false), (4, 700, 900, false)])]),
    );
    hand.until_probe(1);
    hand.configure(4, 4, "http://b.test/", Activity::Pause);
    hand.until(820);
    hand.configure(4, 4, "http://b.test/", Activity::Watch);
    hand.until(910);
    hand.event(
        "9: waits until it is too late",
        added(vec![need(9, 1, &[(9, 1_000, 1_201, false), (9, 1_000, 1_100, false)])]),
    );
    hand.event(
        "10: of a source that goes",
        added(vec![need(10, 1, &[(6, 950, 1_400, false), (1, 1_500, 1_560, false)])]),
    );
    hand.event(
        "11: all of it must be captured",
        added(vec![need(11, 2, &[(1, 950, 990, false), (6, 1_000, 1_100, false)])]),
    );
    hand.until(1_000);
    hand.event("6 is removed", Event::Removed(SourceId(6)));
    hand.until(1_600);
    hand.report();
    hand.event("10 is withdrawn", Event::CeiWithdrawn(CeiId(10)));
    hand.until(1_900);
    hand.report();
    check("needs", &hand.text);
}
