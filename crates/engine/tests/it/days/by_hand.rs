//! Control by itself, event by event: what follows from each, with answers that come late, twice or never, crashes, a store in
//! trouble, and a clock that goes back. See `driver.rs`.

use std::fmt::Write as _;

use dunlin_core::Fault;
use dunlin_engine::Pace;
use dunlin_engine::capture::{FollowUp, ProbeOutcome, SourceEnd};
use dunlin_engine::control::Event;
use dunlin_net::politeness::Outcome as Politeness;
use dunlin_sched::model::Evidence;
use dunlin_store::SourceId;

use super::check;
use super::diary::{figures, written};
use crate::driver::ControlDriver;
use crate::web::at;

struct Hand {
    driver: ControlDriver,
    text: String,
    n_captures: usize,
}

impl Hand {
    /// What happened, what was asked for, and what was handed over to be written.
    fn tell(&mut self, seconds: i64, what: &str, asked: &[String]) {
        writeln!(self.text, "{} {what}: {}", written(at(seconds)), asked.join(", ")).unwrap();
        self.written();
    }

    fn written(&mut self) {
        for capture in &self.driver.captures[self.n_captures..] {
            let mut scopes: Vec<&str> = capture.politeness.iter().map(|own| own.scope.as_str()).collect();
            scopes.sort_unstable();
            let state = capture.state.as_ref().map_or("as before".to_owned(), |state| {
                format!(
                    "{:?} since {} (told {:?}) {}",
                    state.health,
                    written(state.since),
                    state.announced,
                    state.reason
                )
            });
            let told: Vec<String> = capture
                .changes
                .iter()
                .map(|own| {
                    let after = own.happened_after.map_or("-".to_owned(), written);
                    format!(
                        "{} `{}` between {after} and {}",
                        own.kind,
                        own.summary,
                        written(own.happened_before)
                    )
                })
                .collect();
            let notes: Vec<&str> = capture.notes.iter().map(|note| note.name.as_str()).collect();
            writeln!(
                self.text,
                "    writes {} at {}: {:?}; state {state}; tells {told:?}; notes {notes:?}; hosts {scopes:?}",
                capture.source,
                written(capture.at),
                capture.outcome
            )
            .unwrap();
        }
        self.n_captures = self.driver.captures.len();
    }

    /// Ticks up to a second, and tells those that bring something.
    fn ticks(&mut self, from: i64, until: i64) {
        for second in from..=until {
            let asked = self.driver.tick(second);
            if !asked.is_empty() || self.driver.captures.len() > self.n_captures {
                self.tell(second, "tick", &asked);
            }
        }
    }

    fn event(&mut self, seconds: i64, what: &str, event: Event) {
        let asked = self.driver.happen(seconds, event);
        self.tell(seconds, what, &asked);
    }

    fn robots(&mut self, seconds: i64, host: &str, status: u16, text: &str) {
        let asked = self.driver.robots(seconds, &format!("http://{host}/robots.txt"), status, text);
        self.tell(seconds, &format!("robots.txt of {host} answers {status}"), &asked);
    }

    fn seen(&mut self, seconds: i64, id: i64) {
        let asked = self.driver.seen(seconds, id);
        self.tell(seconds, &format!("{id} is as it was"), &asked);
    }

    fn failed(&mut self, seconds: i64, id: i64, fault: Fault, politeness: Politeness) {
        let asked = self.driver.failed(seconds, id, fault, politeness);
        self.tell(seconds, &format!("{id} fails by {fault:?} ({politeness:?})"), &asked);
    }

    fn redirected(&mut self, seconds: i64, id: i64, from: &str, to: &str) {
        let asked = self.driver.redirected(seconds, id, from, to);
        self.tell(seconds, &format!("{id} leads to {to}"), &asked);
    }

    fn budget(&mut self, seconds: i64) {
        let report = self.driver.control.budget(at(seconds));
        let (used, price) = (report.used, report.price);
        writeln!(
            self.text,
            "{} budget: {:?} used {used:?}, {} of {} in flight, price {price:.2}, hosts {:?}, next {}",
            written(at(seconds)),
            report.pace,
            report.in_flight,
            report.max_in_flight,
            report
                .hosts
                .iter()
                .map(|host| (
                    host.scope.as_str(),
                    host.hour,
                    host.day,
                    host.sources,
                    host.held_until.map(written)
                ))
                .collect::<Vec<_>>(),
            self.driver.control.next_due(at(seconds)).map_or("-".to_owned(), written)
        )
        .unwrap();
        let health = self.driver.control.health();
        writeln!(self.text, "    {}", figures(self.driver.control.stats())).unwrap();
        writeln!(
            self.text,
            "    store {:?}, network {:?}, stopping {}, journals {}, stored {:?}",
            health.store_trouble,
            health.network_trouble,
            health.is_stopping,
            self.driver.n_journals,
            self.driver
                .remembered
                .iter()
                .map(|(scope, state)| (scope.as_str(), !state.is_empty()))
                .collect::<Vec<_>>()
        )
        .unwrap();
    }
}

#[test]
fn event_by_event() {
    let mut driver = ControlDriver::new(|settings| {
        settings.host_budget = Some(Pace { per_second: 0.2 });
        settings.in_flight = 4;
    });
    for (id, url) in [
        (1, "http://a.test/"),
        (2, "http://a.test/two"),
        (3, "http://b.test/"),
        (4, "http://c.test/"),
        (5, "http://c.test:81/"),
    ] {
        driver.join(0, id, url);
    }
    driver.join_resource(0, 6, 2, "http://b.test/");
    let text = "# Control by itself: each event, and after the colon what fetchers are told to ask for.\n\n"
        .to_owned();
    let mut hand = Hand { driver, text, n_captures: 0 };
    hand.ticks(0, 2);
    hand.budget(2);
    hand.robots(3, "a.test", 200, "User-agent: *\nDisallow: /two\nCrawl-delay: 20\n");
    hand.robots(3, "b.test", 404, "");
    hand.robots(4, "c.test", 503, "");
    hand.ticks(4, 30);
    hand.seen(31, 1);
    hand.budget(31);
    let probe = hand.driver.probe_of(3);
    hand.event(32, "connection of 3 is closed", Event::ConnectionClosed { probe });
    hand.ticks(32, 50);
    let outcome = ProbeOutcome::Observed { evidence: Evidence::Unchanged, follow_up: FollowUp::Soon };
    let asked = hand.driver.probed(51, 3, Politeness::Fine, outcome);
    hand.tell(51, "3 has changed, perhaps", &asked);
    hand.ticks(52, 80);
    hand.budget(80);
    let probe = hand.driver.probe_of(3);
    hand.event(81, "3 crashes", Event::Crashed { probe, reason: "a bug".to_owned() });
    hand.ticks(82, 100);
    hand.redirected(101, 1, "http://a.test/", "http://b.test/new");
    hand.ticks(102, 130);
    hand.failed(131, 1, Fault::Remote, Politeness::Fine);
    hand.ticks(132, 170);
    let probe = hand.driver.probe_of(3);
    let ends = vec![
        SourceEnd::Crashed { source: SourceId(3), reason: "another bug".to_owned() },
        SourceEnd::Dropped { source: SourceId(6), reason: "the store cannot be read".to_owned() },
    ];
    let asked = hand.driver.ended(171, probe, Politeness::Fine, ends);
    hand.tell(171, "3 crashes and 6 is dropped", &asked);
    hand.ticks(172, 260);
    hand.event(261, "the store is full", Event::StoreTrouble(Some("disk full".to_owned())));
    hand.ticks(262, 300);
    hand.budget(300);
    hand.event(301, "the store is fine", Event::StoreTrouble(None));
    hand.ticks(302, 330);
    for (second, fault) in [(331, Fault::Ours), (332, Fault::Ours)] {
        hand.failed(second, 1, fault, Politeness::LocalFailure);
        hand.ticks(second, second + 1);
    }
    hand.budget(334);
    hand.event(335, "a budget of one in ten seconds", Event::Budget(Pace { per_second: 0.1 }));
    hand.ticks(336, 700);
    hand.robots(701, "c.test", 200, "User-agent: *\nDisallow:\n");
    hand.ticks(702, 760);
    hand.event(761, "2 is removed", Event::Removed(SourceId(2)));
    hand.ticks(762, 800);
    hand.budget(800);
    // The clock goes back.
    hand.ticks(500, 560);
    hand.budget(560);
    hand.event(561, "it stops", Event::Stopping);
    hand.ticks(562, 600);
    hand.budget(600);
    check("by_hand", &hand.text);
}
