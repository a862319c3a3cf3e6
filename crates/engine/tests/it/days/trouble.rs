//! Errors and what they cost: refusals, Retry-After, robots.txt, redirects, gaps and budgets of hosts, a network that fails.

use dunlin_engine::Pace;
use dunlin_store::{NewSource, SourceEdit};

use super::diary::Day;
use super::town::{Shown, Town};
use crate::fixtures::page;

fn on_a_page(lines: &[&str]) -> Shown {
    Shown::Text(super::town::html(lines))
}

#[test]
fn sources_that_fail_in_every_way() {
    let fine = || on_a_page(&["All is well.", "It is quiet."]);
    let town = Town::default()
        .at("http://busy.test/", vec![(0, fine()), (1_000, Shown::Wait(429, 1_800)), (1_900, fine())])
        .at("http://down.test/", vec![(0, fine()), (1_500, Shown::Status(503)), (9_000, fine())])
        .at("http://lost.test/", vec![(0, fine()), (2_000, Shown::Status(404)), (9_500, fine())])
        .at("http://gone.test/", vec![(0, Shown::Status(410)), (4_000, Shown::Status(403))])
        .at("http://none.test/", vec![(0, Shown::NoSuchHost), (7_000, fine()), (7_500, Shown::NotConnected)])
        .at("http://cut.test/", vec![(0, fine()), (3_000, Shown::Broken), (3_600, fine())])
        .at("http://slow.test/", vec![(0, fine()), (2_400, on_a_page(&["All is well.", "It is slow."]))])
        .at("http://stale.test/", vec![(0, fine()), (1_200, Shown::Stale), (1_900, fine())])
        .at("http://kind.test/", vec![(0, fine())])
        .at("http://kind.test/two", vec![(0, fine()), (2_000, Shown::Status(500)), (2_400, fine())]);
    let mut day = Day::new("trouble", "Ten sources, most of which fail for a while.", town, |settings| {
        settings.budget = Pace { per_second: 1.0 / 30.0 };
    });
    for name in ["busy", "down", "lost", "gone", "none", "cut", "slow", "stale", "kind"] {
        day.add(name, page(&format!("http://{name}.test/")));
    }
    day.add("kind two", page("http://kind.test/two"));
    day.until(1_800);
    day.explain("busy");
    day.explain("none");
    day.run().world().slow = vec!["http://slow.test/"];
    day.until(4_200);
    day.stats();
    for name in ["down", "lost", "gone", "none", "slow", "kind two"] {
        day.explain(name);
    }
    day.probe("down");
    day.probe("gone");
    day.until(4_500);
    day.pause("down", true);
    day.until(6_000);
    day.pause("down", false);
    let url = Some("http://kind.test/".to_owned());
    day.edit("gone", "http://kind.test/", SourceEdit { url, ..SourceEdit::default() });
    day.run().world().slow.clear();
    day.until(8_000);
    day.restart(true, 60);
    day.until(8_400);
    day.probe("lost");
    day.until(12_000);
    day.remove("busy");
    day.remove("kind");
    day.until(14_400);
    day.explain("down");
    day.explain("none");
    day.end();
}

#[test]
fn robots_txt_redirects_and_hosts_with_a_budget() {
    let fine = || on_a_page(&["All is well.", "It is quiet."]);
    let town = Town::default()
        .robots("strict.test", &[(0, 200, "User-agent: *\nDisallow: /secret\nCrawl-delay: 45\n")])
        .at("http://strict.test/open", vec![(0, fine())])
        .at("http://strict.test/secret", vec![(0, fine())])
        .robots("mute.test", &[(0, 503, ""), (2_500, 200, "User-agent: *\nDisallow:\n")])
        .at("http://mute.test/", vec![(0, fine())])
        .at("http://mute.test/two", vec![(0, fine())])
        .at(
            "http://old.test/",
            vec![(0, Shown::To(301, "http://new.test/")), (5_400, Shown::To(302, "http://new.test/"))],
        )
        .at("http://new.test/", vec![(0, fine()), (3_000, on_a_page(&["All is well.", "It moves."]))])
        .at("http://new.test/own", vec![(0, fine())])
        .at("http://slip.test/", vec![(0, Shown::To(302, "http://strict.test/secret"))])
        .at("http://into.test/", vec![(0, Shown::To(302, "http://mute.test/"))])
        .at("http://far.test/", vec![(0, Shown::To(307, "http://wait.test/"))])
        .at("http://wait.test/", vec![(0, fine()), (1_000, Shown::Wait(503, 2_000)), (1_400, fine())])
        .at("http://fail.test/", vec![(0, Shown::To(302, "http://bad.test/"))])
        .at("http://bad.test/", vec![(0, fine()), (1_500, Shown::Status(500)), (6_000, fine())])
        .at("http://many.test/one", vec![(0, fine())])
        .at("http://many.test/two", vec![(0, fine())])
        .at("http://many.test/three", vec![(0, Shown::To(302, "http://many.test/one"))]);
    let about = "Sites with rules, pages that lead elsewhere, and a probe in two minutes for each host.";
    let mut day = Day::new("rules", about, town, |settings| {
        settings.budget = Pace { per_second: 1.0 / 20.0 };
        settings.host_budget = Some(Pace { per_second: 1.0 / 120.0 });
        settings.longest_gap = std::time::Duration::from_mins(20);
    });
    let urls = [
        ("open", "strict.test/open"),
        ("secret", "strict.test/secret"),
        ("mute", "mute.test/"),
        ("mute two", "mute.test/two"),
        ("old", "old.test/"),
        ("own", "new.test/own"),
        ("slip", "slip.test/"),
        ("into", "into.test/"),
        ("far", "far.test/"),
        ("fail", "fail.test/"),
        ("one", "many.test/one"),
        ("two", "many.test/two"),
        ("three", "many.test/three"),
    ];
    for (name, url) in urls {
        day.add(name, page(&format!("http://{url}")));
    }
    day.until(600);
    for name in ["open", "secret", "mute", "old", "slip"] {
        day.explain(name);
    }
    day.until(2_000);
    for name in ["into", "far", "fail", "three"] {
        day.explain(name);
    }
    day.until(4_000);
    day.restart(false, 30);
    day.until(5_000);
    day.set_budget(0.0);
    day.until(5_600);
    day.explain("one");
    day.set_budget(0.2);
    day.until(7_200);
    day.remove("old");
    day.remove("own");
    day.until(9_000);
    day.end();
}

#[test]
fn a_network_that_fails_and_comes_back() {
    let town = (0..6).fold(Town::default(), |town, n| {
        let url = format!("http://site{n}.test/");
        let text = on_a_page(&["Something.", "Written by hand."]);
        let other = on_a_page(&["Something else.", "Written by hand."]);
        town.at(&url, vec![(0, text), (1_200, Shown::NoNetwork), (2_700, other)])
    });
    let town = town.robots("late.test", &[(0, 404, "")]).at("http://late.test/", vec![(0, Shown::NoNetwork)]);
    let mut day =
        Day::new("network", "Six sources whose network is gone for 25 minutes.", town, |settings| {
            settings.budget = Pace { per_second: 1.0 / 15.0 };
            settings.longest_gap = std::time::Duration::from_mins(10);
        });
    for n in 0..6 {
        let source = NewSource { weight: 1.0 + f64::from(n), ..page(&format!("http://site{n}.test/")) };
        day.add(&format!("site {n}"), source);
    }
    day.until(1_500);
    day.stats();
    day.explain("site 0");
    day.until(2_400);
    day.add("late", page("http://late.test/"));
    day.until(3_600);
    day.end();
}
