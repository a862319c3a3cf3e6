//! Queries that watch for words: which sources they make relevant, how closely those are followed, and what is told once.

use dunlin_engine::Pace;
use dunlin_store::{NewSource, SourceEdit};

use super::diary::Day;
use super::town::Town;
use crate::fixtures::{feed, page};

const STORY: &str = "The hurricane has reached the coast of Florida near Tampa this morning. Roofs were torn off in three towns and \
    two hundred thousand homes are without power. The governor asked people to stay where they are until the water is gone.";
const RETOLD: &str = "The hurricane has reached the coast of Florida near Tampa this morning. Roofs were torn off in three towns and \
    two hundred thousand homes are without power, officials said. The governor asked people to stay until the water is gone.";
const OTHER: &str = "In Florida a second hurricane is expected on Friday; schools close on Thursday, and the port is empty already. \
    Nobody knows whether the new sea wall of Naples holds.";

fn town() -> Town {
    let mut town = Town::default();
    for n in 0..8_i64 {
        let usual = if n % 4 == 1 {
            "The hurricane centre looks at Florida, and at how a hurricane grows.".to_owned()
        } else {
            format!("Subject{n} again: matters{n} of gardens{n}, and a recipe{n} with onions.")
        };
        let mut entries: Vec<(i64, String, String)> =
            (-4..9).map(|k| (k * 3_600 + n * 61, format!("Notes {k} of {n}"), usual.clone())).collect();
        match n {
            1 => {
                entries.push((9_000, "Landfall in Florida".to_owned(), STORY.to_owned()));
                entries.push((12_000, "Again: landfall in Florida".to_owned(), STORY.to_owned()));
                entries.push((
                    22_200,
                    "A new hurricane in Florida".to_owned(),
                    OTHER.replace("Friday", "Sunday"),
                ));
            }
            2 => entries.push((15_500, "Hurricane in Florida".to_owned(), OTHER.to_owned())),
            5 => entries.push((9_700, "Hurricane reaches Florida".to_owned(), RETOLD.to_owned())),
            6 => entries.push((
                10_000,
                "Football in Florida".to_owned(),
                "After the hurricane, football.".to_owned(),
            )),
            _ => {}
        }
        entries.sort();
        let entries: Vec<(i64, &str, &str)> =
            entries.iter().map(|(at, title, text)| (*at, title.as_str(), text.as_str())).collect();
        town = town.feed(&format!("http://site{n}.test/feed"), 20, &entries);
    }
    let page = |edition: &str| format!("The hurricane over Florida, edition {edition}.");
    let pages: Vec<String> = ["one", "two", "three", "four"].map(page).to_vec();
    let pages: Vec<(i64, [&str; 2])> = (0..)
        .step_by(5_000)
        .zip(&pages)
        .map(|(at, line)| (at, ["About the weather.", line.as_str()]))
        .collect();
    let pages: Vec<(i64, &[&str])> = pages.iter().map(|(at, lines)| (*at, lines.as_slice())).collect();
    town.page("http://paper.test/", &pages).feed(
        "http://own.test/feed",
        9,
        &[
            (-9_000, "Old", "Old words."),
            (6_000, "Hurricane Florida", "A hurricane in Florida, read for a query."),
        ],
    )
}

#[test]
fn words_and_the_sources_that_say_them() {
    let about = "Eight feeds and a page of small weight, and queries that watch for words.";
    let mut day = Day::new("words", about, town(), |settings| {
        settings.budget = Pace { per_second: 1.0 / 60.0 };
        settings.longest_gap = std::time::Duration::from_hours(2);
    });
    for n in 0..8 {
        let source = NewSource { weight: 0.02, ..feed(&format!("http://site{n}.test/feed")) };
        day.add(&format!("site {n}"), source);
    }
    day.add("paper", NewSource { weight: 0.02, ..page("http://paper.test/") });
    day.until(3_600);
    day.query(
        "QUERY own SELECT item AS n FROM feed 'http://own.test/feed' EVERY 20 MINUTES WITHIN 5 MINUTES",
    );
    day.query(
        "QUERY storms WATCH 'hurricane florida' IMPORTANCE 0.8 WATCH 'onions recipe3' IMPORTANCE 0.1 \
         WHERE NOT item.title CONTAINS 'football' FOR 5 HOURS",
    );
    day.until(3_900);
    day.explain_query("storms");
    day.query("QUERY ports WATCH 'sea wall port' IMPORTANCE 1 UNTIL 2027-01-17");
    day.until(8_000);
    day.explain_query("storms");
    day.query("QUERY notes SELECT item AS n FROM source 4 ON CHANGE WEIGHT 2");
    day.edit("site 1", "weight 0.05", SourceEdit { weight: Some(0.05), ..SourceEdit::default() });
    day.until(11_000);
    day.explain_query("storms");
    day.restart(true, 60);
    day.until(13_000);
    day.remove("site 5");
    day.pause_query("ports", true);
    day.until(15_000);
    day.explain_query("ports");
    day.pause_query("ports", false);
    day.until(15_100);
    day.explain_query("ports");
    day.explain("site 1");
    day.explain("site 3");
    day.until(19_000);
    day.explain_query("storms");
    for name in ["site 0", "site 3", "paper"] {
        day.explain(name);
    }
    day.remove_query("notes");
    day.until(23_000);
    day.explain_query("storms");
    day.explain_query("ports");
    day.explain("site 1");
    day.explain("site 3");
    day.rehearse("QUERY r WATCH 'hurricane florida' IMPORTANCE 1 WHERE NOT item.title CONTAINS 'notes'");
    day.remove_query("ports");
    day.remove_query("storms");
    day.until(25_000);
    day.explain("site 1");
    day.end();
}
