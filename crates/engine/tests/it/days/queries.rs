//! Queries that name their sources: when their instances begin, what captures, what is told, and why something was missed.

use dunlin_engine::Pace;

use super::diary::Day;
use super::town::{Shown, Town, html};
use crate::fixtures::page;

fn rate(value: &str) -> Shown {
    Shown::Text(format!("<html><body><h1>Rates</h1><p>By hand.</p><b class='last'>{value}</b></body></html>"))
}

fn town() -> Town {
    let rates = ["80.00", "80.40", "78.00", "78.10", "76.00", "81.00"];
    let rates = (0..).step_by(900).zip(rates).map(|(at, value)| (at, rate(value))).collect();
    let prices = ["[50, 40]", "[50, 39]", "[51, 39, 7]", "[51, 30, 7]"];
    let prices = (0..)
        .step_by(1_300)
        .zip(prices)
        .map(|(at, rows)| (at, Shown::Text(format!("{{\"p\": {rows}}}"))))
        .collect();
    Town::default()
        .at("http://rates.test/brent", rates)
        .at("http://shop.test/", prices)
        .feed(
            "http://blog.test/feed",
            10,
            &[
                (-86_400, "First", "The first post of all."),
                (700, "Crude oil rises", "About the price of oil."),
                (1_500, "Gold", "Nothing of that."),
                (2_300, "Oil again", "More about oil, and the sea."),
                (4_100, "Oil and gas", "The last one about oil."),
            ],
        )
        .feed(
            "http://news.test/feed",
            3,
            &[
                (-7_200, "Markets open", "They open."),
                (800, "Tankers wait", "They wait at sea."),
                (900, "Pipes leak", "They leak."),
                (2_350, "Refinery closes", "It closes."),
                (4_000, "Ships leave", "They leave."),
            ],
        )
        .at("http://broken.test/", vec![(0, rate("1")), (1_000, Shown::Status(500)), (4_000, rate("2"))])
        .at("http://gone.test/", vec![(0, Shown::Status(404))])
        .page(
            "http://board.test/",
            &[
                (0, &["Choir on Monday at six.", "Boats on Tuesday at noon."]),
                (
                    1_100,
                    &["Choir on Monday at six.", "Boats on Tuesday at noon.", "Chess on Friday at eight."],
                ),
                (
                    2_700,
                    &["Choir on Monday at seven.", "Boats on Tuesday at noon.", "Chess on Friday at eight."],
                ),
            ],
        )
        .at("http://quiet.test/", vec![(0, Shown::Text(html(&["Nothing ever changes here."])))])
}

const OIL: &str = "QUERY oil \
    SELECT item AS post FROM feed 'http://blog.test/feed' EVERY 5 MINUTES WITHIN 2 MINUTES \
    SELECT item AS news FROM feed 'http://news.test/feed' WHEN post CONTAINS 'oil' WITHIN 5 MINUTES \
    SELECT value AS rate FROM page 'http://rates.test/brent' PICK '.last' WHEN post CONTAINS 'oil' WITHIN 5 MINUTES \
    WEIGHT 3";

#[test]
fn triggers_conditions_and_misses() {
    let about = "Queries by the clock and by changes: a trigger with two parts, values that are compared, any two of three.";
    let mut day = Day::new("queries", about, town(), |settings| {
        settings.budget = Pace { per_second: 1.0 / 10.0 };
    });
    day.until(60);
    day.query(OIL);
    day.query("QUERY cheaper SELECT value AS rate FROM page 'http://rates.test/brent' PICK '.last' ON CHANGE WHERE rate DROPS BY 1%");
    day.query("QUERY prices SELECT value AS p FROM json 'http://shop.test/' PICK '$.p[*]' EVERY 10 MINUTES WITHIN 1 MINUTE WHERE p DROPS");
    day.query("QUERY board SELECT item AS notice FROM page 'http://board.test/' ON CHANGE FOR 1 HOURS");
    day.query(
        "QUERY two ANY 2 OF SELECT value AS rate FROM page 'http://rates.test/brent' PICK '.last' EVERY 20 MINUTES WITHIN 3 MINUTES \
         SELECT value AS bad FROM page 'http://broken.test/' PICK '.last' WITHIN 3 MINUTES \
         SELECT value AS never FROM page 'http://quiet.test/' PICK 'p' ON CHANGE WITHIN 10 MINUTES WEIGHT 2",
    );
    day.query("QUERY late SELECT value AS x FROM page 'http://gone.test/' AT 08:30, 09:00 WITHIN 5 MINUTES UNTIL 2027-01-16");
    day.query("QUERY over SELECT value AS x FROM page 'http://gone.test/' ON CHANGE UNTIL 2027-01-15");
    day.query(
        "QUERY fast SELECT value AS x FROM page 'http://gone.test/' PICK 'p' EVERY 5 SECONDS WITHIN 1 SECOND",
    );
    day.until(1_000);
    for name in ["oil", "cheaper", "two", "late", "board"] {
        day.explain_query(name);
    }
    day.until(2_500);
    day.stats();
    day.pause_query("oil", true);
    day.until(3_000);
    day.explain_query("oil");
    day.pause_query("oil", false);
    day.edit_query("prices", "QUERY prices SELECT value AS p FROM json 'http://shop.test/' PICK '$.p[*]' EVERY 7 MINUTES WITHIN 1 MINUTE WHERE p RISES");
    day.until(3_620);
    day.restart(true, 400);
    day.until(4_400);
    day.remove_query("two");
    day.until(6_000);
    day.explain_query("cheaper");
    day.explain_query("board");
    day.rehearse(OIL);
    for text in [
        "QUERY r SELECT value AS rate FROM page 'http://rates.test/brent' PICK '.last' ON CHANGE WHERE rate DROPS BY 1%",
        "QUERY r SELECT value AS rate FROM page 'http://rates.test/brent' PICK '.last' EVERY 10 MINUTES WITHIN 1 MINUTE WHERE rate RISES",
        "QUERY r SELECT item AS n FROM page 'http://board.test/' ON CHANGE SELECT item AS p FROM feed 'http://blog.test/feed' ON CHANGE WITHIN 20 MINUTES",
        "QUERY r SELECT item AS n FROM page 'http://nowhere.test/' EVERY 20 MINUTES",
        "QUERY r WATCH 'oil sea' IMPORTANCE 1 WHERE item.title CONTAINS 'oil'",
        "QUERY r WATCH 'chess friday' IMPORTANCE 1",
    ] {
        day.rehearse(text);
    }
    day.end();
}

#[test]
fn misses_and_their_reasons() {
    let about = "Too little budget, busy hosts, sources that are paused, that fail, and that do not change.";
    let town = town()
        .robots("slow.test", &[(0, 200, "User-agent: *\nCrawl-delay: 100\n")])
        .at("http://slow.test/a", vec![(0, rate("1"))])
        .at("http://slow.test/b", vec![(0, rate("2"))]);
    let mut day = Day::new("misses", about, town, |settings| {
        settings.budget = Pace { per_second: 1.0 / 25.0 };
        settings.longest_gap = std::time::Duration::from_mins(10);
    });
    day.add("quiet", page("http://quiet.test/"));
    day.add("board", page("http://board.test/"));
    day.until(400);
    let one = |name: &str, from: &str, rest: &str| {
        format!("QUERY {name} SELECT value AS v FROM page '{from}' PICK '.last' {rest}")
    };
    day.query(&one("cheap", "http://rates.test/brent", "EVERY 1 MINUTE WITHIN 10 SECONDS WEIGHT 0.1"));
    day.query(&one("dear", "http://broken.test/", "EVERY 2 MINUTES WITHIN 30 SECONDS WEIGHT 9"));
    day.query(&one("a", "http://slow.test/a", "EVERY 3 MINUTES WITHIN 1 MINUTE"));
    day.query(&one("b", "http://slow.test/b", "EVERY 3 MINUTES WITHIN 1 MINUTE"));
    let quiet = "QUERY quiet SELECT item AS q FROM source 1 EVERY 15 MINUTES WITHIN 5 MINUTES \
        SELECT item AS c FROM source 2 ON CHANGE WITHIN 4 MINUTES";
    day.query(quiet);
    day.query("QUERY replaced SELECT item AS q FROM source 2 EVERY 30 MINUTES OVERWRITTEN SELECT item AS c FROM source 1 ON CHANGE OVERWRITTEN");
    day.until(1_700);
    day.explain_query("replaced");
    day.explain_query("quiet");
    day.pause("quiet", true);
    day.until(2_900);
    day.pause("quiet", false);
    day.set_budget(0.0);
    day.until(3_300);
    day.set_budget(1.0 / 8.0);
    day.restart(false, 200);
    day.until(4_500);
    day.remove("quiet");
    day.until(5_600);
    day.explain_query("quiet");
    day.end();
}

#[test]
fn changes_that_are_waited_for() {
    let about = "Queries that wait for changes of sources that are watched: twice of one, until they end, paused, overwritten.";
    let notices = |n: usize| -> Vec<&str> { ["One.", "Two.", "Three.", "Four.", "Five."][..n].to_vec() };
    let states: Vec<(i64, Vec<&str>)> = (0..).step_by(1_000).zip((1..=5).map(notices)).collect();
    let states: Vec<(i64, &[&str])> = states.iter().map(|(at, lines)| (*at, lines.as_slice())).collect();
    let town = town().page("http://list.test/", &states);
    let mut day = Day::new("changes", about, town, |settings| {
        settings.budget = Pace { per_second: 1.0 / 20.0 };
        settings.longest_gap = std::time::Duration::from_mins(10);
    });
    day.add("list", page("http://list.test/"));
    day.add("board", page("http://board.test/"));
    day.add("quiet", page("http://quiet.test/"));
    day.until(300);
    for name in ["list", "board", "quiet"] {
        day.explain(name);
    }
    day.query(
        "QUERY twice SELECT item AS a FROM source 1 ON CHANGE SELECT item AS b FROM source 1 ON CHANGE WITHIN 30 MINUTES WEIGHT 3",
    );
    day.query("QUERY short SELECT item AS a FROM source 2 ON CHANGE WEIGHT 5 FOR 20 MINUTES");
    day.query("QUERY pair SELECT item AS a FROM source 1 ON CHANGE SELECT item AS b FROM source 2 ON CHANGE OVERWRITTEN WEIGHT 2");
    day.query("QUERY chess SELECT item AS a FROM source 2 ON CHANGE SELECT item AS b FROM source 3 WITHIN 5 MINUTES SELECT item AS c FROM feed 'http://blog.test/feed' WHEN a CONTAINS 'chess' WITHIN 2 MINUTES");
    day.until(330);
    for name in ["list", "board", "quiet"] {
        day.explain(name);
    }
    day.until(1_120);
    for name in ["twice", "pair", "chess"] {
        day.explain_query(name);
    }
    day.restart(true, 5);
    day.until(1_600);
    day.explain("board");
    day.pause_query("twice", true);
    day.until(1_800);
    day.explain("list");
    day.until(2_600);
    day.pause_query("twice", false);
    day.set_clock(-600);
    day.until(3_100);
    day.explain_query("twice");
    day.fill_disk(true);
    day.until(3_500);
    day.stats();
    day.fill_disk(false);
    day.until(4_600);
    day.remove_query("pair");
    day.until(5_000);
    day.explain("list");
    day.explain("board");
    day.end();
}

#[test]
fn instances_by_the_clock() {
    let about = "Instances that begin by the clock: around kills, a paused query and a clock set back, any two of four.";
    let town = (1..=4).fold(town(), |town, n| {
        let status = if n == 4 { Shown::Status(500) } else { rate("7") };
        town.at(&format!("http://n{n}.test/"), vec![(0, rate("5")), (2_000, status), (3_500, rate("6"))])
    });
    let mut day = Day::new("instances", about, town, |settings| {
        settings.budget = Pace { per_second: 1.0 / 8.0 };
    });
    day.until(100);
    day.query(
        "QUERY some ANY 2 OF SELECT value AS a FROM page 'http://n1.test/' PICK '.last' EVERY 10 MINUTES WITHIN 2 MINUTES \
         SELECT value AS b FROM page 'http://n2.test/' PICK '.last' WITHIN 3 MINUTES \
         SELECT value AS c FROM page 'http://n3.test/' PICK '.last' EVERY 5 MINUTES WITHIN 1 MINUTE \
         SELECT value AS d FROM page 'http://n4.test/' PICK '.last' WITHIN 4 MINUTES",
    );
    day.query(
        "QUERY chain SELECT value AS a FROM page 'http://n1.test/' PICK '.last' EVERY 15 MINUTES WITHIN 10 MINUTES \
         SELECT value AS b FROM page 'http://n2.test/' PICK '.last' WHEN a < 6 WITHIN 2 MINUTES \
         SELECT value AS c FROM page 'http://n3.test/' PICK '.last' WHEN b > 4 WITHIN 2 MINUTES WEIGHT 4",
    );
    day.query("QUERY held SELECT value AS a FROM page 'http://n2.test/' PICK '.last' EVERY 4 MINUTES WITHIN 2 MINUTES");
    day.pause_query("held", true);
    day.until(700);
    for name in ["some", "chain", "held"] {
        day.explain_query(name);
    }
    day.until(915);
    day.restart(true, 2);
    day.until(930);
    day.restart(true, 2);
    day.until(1_900);
    day.restart(true, 600);
    day.until(2_800);
    day.set_clock(-1_200);
    day.until(3_600);
    day.explain_query("some");
    day.pause_query("held", false);
    day.until(4_300);
    day.end();
}
