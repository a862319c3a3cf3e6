//! Kills and stops in the middle of things, a clock that jumps, edits during probes, needs that span sources: what comes back, and
//! what is not done twice.

use dunlin_engine::Pace;
use dunlin_store::{NewCei, NewInterval, NewSource, SourceEdit, Store as _};

use super::diary::Day;
use super::town::{Shown, Town, html};
use crate::fixtures::{feed, page};
use crate::web::at;

fn town() -> Town {
    let state = |n: usize| Shown::Text(html(&["A page that changes.", &format!("Edition {n}.")]));
    let changing = |every: i64| {
        (0..).map(move |n| n * every).take_while(|at| *at < 15_000).zip(0..).map(|(at, n)| (at, state(n)))
    };
    Town::default()
        .at("http://a.test/", changing(1_700).collect())
        .at("http://a.test/two", changing(2_900).collect())
        .at("http://b.test/", changing(4_100).collect())
        .robots("c.test", &[(0, 200, "User-agent: *\nCrawl-delay: 60\n")])
        .at("http://c.test/", changing(3_300).collect())
        .at("http://ill.test/", vec![(0, state(0)), (900, Shown::Status(500)), (8_000, state(1))])
        .at("http://to.test/", vec![(0, Shown::To(302, "http://c.test/"))])
        .feed(
            "http://f.test/feed",
            5,
            &[(-5_000, "Old", "Old words."), (2_500, "New", "New words."), (7_500, "Newer", "Newer words.")],
        )
}

#[test]
fn kills_clocks_edits_and_needs() {
    let about =
        "Two sources of one address, needs, kills, stops, a clock that goes an hour back, edits and pauses.";
    let mut day = Day::new("restarts", about, town(), |settings| {
        settings.budget = Pace { per_second: 1.0 / 30.0 };
        settings.longest_gap = std::time::Duration::from_mins(20);
    });
    for (name, url) in [
        ("a", "a.test/"),
        ("two", "a.test/two"),
        ("b", "b.test/"),
        ("c", "c.test/"),
        ("ill", "ill.test/"),
        ("to", "to.test/"),
    ] {
        day.add(name, page(&format!("http://{url}")));
    }
    let recipe = r#"{"recipe":{"kind":"html_selector","css":"h1"}}"#.to_owned();
    day.add("heading of a", NewSource { recipe, ..page("http://a.test/") });
    day.add("feed", feed("http://f.test/feed"));
    let need = |day: &mut Day, of: &[(&str, i64, i64)], need: u32| {
        day.note(&format!("needs {need} of {of:?}"));
        let interval = |(name, from, until): &(&str, i64, i64)| NewInterval {
            source: day.id(name),
            start: at(*from),
            finish: at(*until),
        };
        let intervals = of.iter().map(interval).collect();
        let cei = NewCei { intervals, need, weight: 5.0, created: at(0) };
        day.run().add_cei(cei).unwrap()
    };
    day.until(300);
    need(&mut day, &[("a", 600, 660), ("b", 900, 960)], 2);
    need(&mut day, &[("c", 700, 705), ("two", 100, 200)], 1);
    let long = need(&mut day, &[("b", 1_000, 1_100), ("c", 5_000, 5_100), ("heading of a", 6_400, 6_500)], 2);
    let paused = need(&mut day, &[("feed", 2_000, 2_100), ("two", 2_200, 2_300)], 2);
    day.until(1_500);
    day.pause("two", true);
    day.until(1_800);
    day.note("extends the third need by c from 3000 to 3060");
    let more = vec![NewInterval { source: day.id("c"), start: at(3_000), finish: at(3_060) }];
    day.test_store.store.extend_cei(long, more, 1).unwrap();
    day.run().cei_extended(long);
    day.until(2_150);
    day.pause("two", false);
    day.until(2_400);
    let _ = paused;
    day.restart(true, 10);
    day.until(3_700);
    day.explain("ill");
    day.explain("c");
    day.restart(false, 1_200);
    day.until(5_300);
    day.probe("a");
    day.edit("a", "weight 4", SourceEdit { weight: Some(4.0), ..SourceEdit::default() });
    day.until(5_302);
    let url = Some("http://a.test/two".to_owned());
    day.edit("a", "http://a.test/two", SourceEdit { url, ..SourceEdit::default() });
    day.until(5_700);
    day.fill_disk(true);
    day.until(5_900);
    day.explain("b");
    day.fill_disk(false);
    day.until(6_000);
    day.set_clock(-3_600);
    day.until(7_000);
    day.explain("ill");
    day.explain("b");
    day.until(8_500);
    day.set_clock(3_600);
    day.until(9_000);
    day.explain("b");
    day.remove("two");
    let kind = Some("text".to_owned());
    day.edit("feed", "kind text", SourceEdit { kind, ..SourceEdit::default() });
    day.until(10_000);
    day.restart(true, 0);
    day.until(10_500);
    day.stats();
    day.end();
}
