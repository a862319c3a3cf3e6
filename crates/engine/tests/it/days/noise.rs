//! What is told of pages that flicker, of feeds that scroll, of answers that stand in for a page, and in which words.

use dunlin_core::Time;
use dunlin_engine::Pace;
use dunlin_store::NewSource;

use super::diary::Day;
use super::town::{Shown, Town, html, rss};
use crate::fixtures::{feed, page};
use crate::web::rfc822;

fn clock(now: Time, _: usize) -> String {
    let minutes = now.seconds() / 60;
    html(&[
        "A page about boats.",
        &format!("It is {:02}:{:02} now.", minutes / 60 % 24, minutes % 60),
        "The end.",
    ])
}

fn rotating(now: Time, n_answers: usize) -> String {
    let word = ["Buy soap today", "Fly to the sun", "Better shoes here", "A car for you"][n_answers * 7 % 4];
    let true_one =
        if now < crate::web::at(7_000) { "The ferry runs at nine." } else { "The ferry runs at ten." };
    html(&["The harbour.", word, true_one])
}

fn dated(seconds: i64, lines: &[&str]) -> Shown {
    let headers = vec![("last-modified", rfc822(crate::web::at(seconds)))];
    Shown::With(headers, html(lines))
}

#[test]
fn pages_and_feeds_with_noise() {
    let news = "http://news.test/feed";
    let entries: Vec<(i64, String, String)> = (-4..9_i64)
        .map(|n| (n * 1_500, format!("Story {n}"), format!("What happened in part {n} of the town.")))
        .collect();
    let entries: Vec<(i64, &str, &str)> =
        entries.iter().map(|(at, title, text)| (*at, title.as_str(), text.as_str())).collect();
    let with_edit = {
        let mut all = entries[..8].to_vec();
        all[7].2 = "What really happened in part 3 of the town.";
        all.remove(6);
        rss(news, 4, &all)
    };
    let scroll = vec![
        (0, Shown::Text(rss(news, 4, &entries[..5]))),
        (2_000, Shown::Text(rss(news, 4, &entries[..6]))),
        (3_500, Shown::Text(rss(news, 4, &entries[..8]))),
        (5_000, Shown::Text(with_edit)),
        (6_500, Shown::Text(html(&["Down for maintenance", "Back soon."]))),
        (8_000, Shown::Text(rss(news, 4, &entries[..12]))),
        (9_500, Shown::Text(rss(news, 4, &entries[..6]))),
    ];
    let long: Vec<String> =
        (0..12).map(|n| format!("Paragraph {n} of the long page, with some words of its own.")).collect();
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    let mut edited = long.clone();
    edited[3] = "Paragraph 3 of the long page, with other words of its own.";
    edited[9] = "Paragraph 9 is another one.";
    let town = Town::default()
        .at("http://clock.test/", vec![(0, Shown::Moving(clock))])
        .at("http://turn.test/", vec![(0, Shown::Moving(rotating))])
        .at(news, scroll)
        .at("http://long.test/", vec![(0, Shown::Text(html(&long))), (2_600, Shown::Text(html(&edited))), (5_200, Shown::Text(html(&long[..8]))), (7_800, Shown::Text(html(&long)))])
        .at("http://dated.test/", vec![(0, dated(-3_000, &["One.", "Two."])), (3_100, dated(3_000, &["One.", "Three."])), (6_000, dated(1_000, &["Four.", "Three."]))])
        .at("http://login.test/", vec![
            (0, Shown::Text(html(&["Opening hours: nine to five.", "Closed on Mondays.", "Ask Ann for the key of the hall."]))),
            (2_000, Shown::Text("<html><head><title>Sign in</title></head><body><h1>Sign in</h1><form><input type=password></form></body></html>".to_owned())),
            (4_400, Shown::Text(html(&["Opening hours: ten to five.", "Closed on Mondays.", "Ask Ann for the key of the hall."]))),
            (5_600, Shown::Text(html(&[]))),
        ])
        .at("http://price.test/", vec![
            (0, Shown::Text("<html><body><b class=p>10.00</b><i>x</i></body></html>".to_owned())),
            (2_900, Shown::Text("<html><body><b class=p>12.50</b><i>y</i></body></html>".to_owned())),
            (6_100, Shown::Text("<html><body><u class=q>12.50</u></body></html>".to_owned())),
            (9_000, Shown::Text("<html><body><b class=p>11.00</b></body></html>".to_owned())),
        ])
        .at("http://data.test/", vec![
            (0, Shown::Text("{\"a\": 1, \"b\": [\"x\", \"y\"]}".to_owned())),
            (3_300, Shown::Text("{\"a\": 2, \"b\": [\"x\", \"y\", \"z\"]}".to_owned())),
            (6_600, Shown::Text(html(&["Service unavailable"]))),
        ]);
    let about = "Pages with clocks and advertisements, a feed that scrolls, stand-ins, values and data.";
    let mut day = Day::new("noise", about, town, |settings| {
        settings.budget = Pace { per_second: 1.0 / 20.0 };
        settings.longest_gap = std::time::Duration::from_mins(15);
        settings.keep.n_versions = Some(3);
    });
    for name in ["clock", "turn", "long", "dated", "login"] {
        day.add(name, page(&format!("http://{name}.test/")));
    }
    day.add("news", feed(news));
    let recipe = r#"{"recipe":{"kind":"html_selector","css":".p"}}"#.to_owned();
    day.add("price", NewSource { recipe, ..page("http://price.test/") });
    day.add("data", NewSource { kind: "auto".to_owned(), ..page("http://data.test/") });
    day.add("b", NewSource { kind: "json".to_owned(), ..page("http://data.test/") });
    day.until(5_500);
    day.explain("turn");
    day.explain("clock");
    day.restart(true, 20);
    day.until(11_000);
    for name in ["turn", "news", "login", "price", "data"] {
        day.explain(name);
    }
    day.end();
}
