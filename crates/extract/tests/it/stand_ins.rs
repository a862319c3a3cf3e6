//! Answers that are not the page: what is taken for one, and what for the page itself.

use std::time::Duration;

use dunlin_extract::recipe::Recipe;
use dunlin_extract::{Document, NotThePage, likeness};

use crate::reading::read;

/// A page whose lines are these.
fn document(title: &str, lines: &[&str]) -> Document {
    let lines = lines.join("</p><p>");
    let page = format!("<html><head><title>{title}</title></head><body><p>{lines}</p></body></html>");
    read(&Recipe::Auto, page.as_bytes())
}

/// The same, without an end.
fn cut_document(lines: &[&str]) -> Document {
    read(&Recipe::Auto, format!("<html><body><p>{}", lines.join("</p><p>")).as_bytes())
}

/// Sixteen lines of 20 letters.
fn lines() -> Vec<String> {
    (10..26).map(|n| format!("Line {n} of the page..")).collect()
}

fn refs(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

fn check(old: &[&str], new: &Document) -> Option<NotThePage> {
    likeness(&document("Box", old).items, new).stands_in
}

#[test]
fn a_page_is_another_when_less_than_a_seventh_of_its_lines_is_left() {
    let lines = lines();
    let page = document("Box", &refs(&lines)[..14]);
    let with = |n_left: usize| document("Box", &[&refs(&lines)[..n_left], &["Other"; 1]].concat());
    assert!(likeness(&page.items, &with(0)).is_another);
    assert!(likeness(&page.items, &with(1)).is_another);
    assert!(!likeness(&page.items, &with(2)).is_another);
    assert!(!likeness(&page.items, &with(3)).is_another);
    // A line that is there twice is one line.
    let twice = document("Box", &[lines[0].as_str(), "Other", lines[0].as_str(), "Else", lines[0].as_str()]);
    assert!(likeness(&page.items, &twice).is_another);
}

#[test]
fn another_page_of_a_quarter_of_the_size_is_what_remains() {
    let lines = lines();
    let old = refs(&lines);
    for (n, expected) in [(1, true), (3, true), (5, false), (7, false), (9, false)] {
        let others: Vec<String> = (0..n).map(|n| format!("Other {n} of the town.")).collect();
        let found = check(&old[..15], &document("Box", &refs(&others)));
        assert_eq!(found == Some(NotThePage::Remains), expected, "{n} {found:?}");
    }
}

#[test]
fn a_notice_is_short_or_smaller_than_the_page() {
    let lines = lines();
    let old = refs(&lines);
    let notice = |n: usize| {
        let mut all = vec!["Service unavailable".to_owned()];
        all.extend(
            (0..n).map(|n| format!("Advice {n}: you may want to call us, or to come back soon after that.")),
        );
        document("Sorry", &refs(&all))
    };
    // Larger than the page, but of few lines.
    assert_eq!(check(&old, &notice(8)), Some(NotThePage::Notice));
    assert_eq!(check(&old, &notice(10)), Some(NotThePage::Notice));
    assert_eq!(check(&old, &notice(12)), None);
    let by_title = document("502 Bad Gateway", &["nginx"]);
    assert_eq!(check(&old, &by_title), Some(NotThePage::Notice));
}

#[test]
fn of_a_page_of_two_lines_only_a_short_notice_under_another_title_is_none() {
    let old = document("Pump", &["42 bar", "17 rounds"]);
    let told = |n: usize| {
        let mut all = vec!["nginx".to_owned()];
        all.extend((1..n).map(|n| format!("Advice {n}")));
        likeness(&old.items, &document("503 Service Unavailable", &refs(&all))).stands_in
    };
    assert_eq!((told(1), told(11)), (Some(NotThePage::Notice), Some(NotThePage::Notice)));
    assert_eq!((told(12), told(20)), (None, None));
    let keeps_line = document("503 Service Unavailable", &["42 bar"]);
    assert_eq!(likeness(&old.items, &keeps_line).stands_in, None);
}

#[test]
fn a_page_that_lost_its_end_was_cut_off() {
    let lines = lines();
    let old = refs(&lines);
    let half = |line: &'static str| line;
    // Without the end of the document.
    assert_eq!(check(&old, &cut_document(&old[..8])), Some(NotThePage::CutOff));
    assert_eq!(check(&old, &cut_document(&old)), None, "all of it is there");
    assert_eq!(check(&old, &cut_document(&["Other", "lines", "only"])), Some(NotThePage::CutOff));
    let longer = [&old[..], &["More"]].concat();
    assert_eq!(check(&old, &cut_document(&longer)), None, "it only grew");
    // With an end, but the last line is cut and more than it is missing.
    let cut = [&old[..8], &[half("Line 18 of")]].concat();
    assert_eq!(check(&old, &document("Box", &cut)), Some(NotThePage::CutOff));
    let only_one = [&old[..15], &[half("Line 25 of")]].concat();
    assert_eq!(check(&old, &document("Box", &only_one)), None, "one line may be edited");
    let other_end = [&old[..8], &[half("Imprint")]].concat();
    assert_eq!(check(&old, &document("Box", &other_end)), None, "a page that got shorter");
    let rewritten = [&old[..4], &["one"; 1], &["two"; 1], &["three"; 1]].concat();
    assert_eq!(check(&old[..6], &cut_document(&rewritten)), None, "as many lines came as went");
    assert_eq!(check(&old, &cut_document(&[])), Some(NotThePage::CutOff));
    assert_ne!(check(&old, &document("Box", &[])), Some(NotThePage::CutOff));
}

#[test]
fn patience_is_a_few_probes_and_a_time() {
    let (hour, day) = (Duration::from_hours(1), Duration::from_hours(24));
    let patience = [NotThePage::CutOff, NotThePage::Remains, NotThePage::Notice].map(NotThePage::patience);
    assert_eq!(patience, [(3, hour), (3, hour), (6, day)]);
}
