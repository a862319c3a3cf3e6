//! Versions of a page made to keep a comparison busy: thousands of parts, one endless line, more figures than a page has. Each
//! has an end, and what it costs is counted. Not what is reported of them: that is tested where it is decided.

use dunlin_core::Time;
use dunlin_extract::detect::compare;
use dunlin_extract::flicker::{Reading, Verdict, everything};
use dunlin_extract::recipe::Recipe;
use dunlin_extract::summary::summary_of_all;
use dunlin_extract::{Flicker, Item, Limits, Work};

use super::with_limits;
use crate::reading::{item, page};

/// What is reported of two texts, and the steps that it took.
fn judged(old: &[Item], new: &[Item]) -> (usize, u64) {
    let work = Work::default();
    let reading = Reading { at: Some(Time::from_seconds(0)), last_probe: None };
    let (_, verdict) = Flicker::default().judge(compare(old, new).changes, reading, &work);
    (verdict.reported.len(), Work::default().left() - work.left())
}

fn text(text: &str) -> [Item; 1] {
    [item("1", "", text)]
}

fn list(n_entries: usize, entry: impl Fn(usize) -> String) -> Vec<Item> {
    let entries: Vec<String> = (0..n_entries).map(|n| format!("<li>{}</li>", entry(n))).collect();
    page(&format!("<ul>{}</ul>", entries.concat()))
}

/// The summary of all that is different, and how many parts that is.
fn told(old: &[Item], new: &[Item], work: &Work) -> (String, usize) {
    let changes = compare(old, new).changes;
    let verdict = everything(changes, &Work::default());
    let by_item = verdict.by_item();
    (summary_of_all(&by_item[0], work), by_item[0].len())
}

#[test]
fn a_summary_reads_the_first_parts_and_counts_all() {
    let old = list(1, |_| "one".to_owned());
    let new = |n_entries: usize| {
        list(n_entries, |n| match n {
            0 => "one".to_owned(),
            1..=70 => "again and again".to_owned(),
            _ => format!("entry {n}"),
        })
    };
    let (said, n_parts) = told(&old, &new(101), &Work::default());
    assert_eq!((said.as_str(), n_parts), ("+ again and again · 36 more", 100));
    // Reading all of these against each other would take minutes; a test that ends has not done it.
    let work = Work::default();
    let (old, new) = (list(20_000, |n| format!("was {n:06}")), list(20_000, |n| format!("is now {n:06}")));
    let (said, n_parts) = told(&old, &new, &work);
    let n_said = said.matches(" · ").count();
    assert!(said.ends_with(&format!(" · {} more", n_parts - n_said)), "{said}");
    assert!(Work::default().left() - work.left() < 1_000_000);
}

#[test]
fn a_summary_beyond_the_work_says_both_sides_as_a_whole() {
    let line =
        |word: &str| format!("It is a {word} notebook for long working days with a case from one block");
    let (old, new) = (text(&line("quiet")), text(&line("silent")));
    assert!(told(&old, &new, &Work::default()).0.starts_with("It is a quiet notebook → silent notebook"));
    let without_work = told(&old, &new, &Work::new(1)).0;
    assert_eq!(without_work, format!("{} → {}", line("quiet"), line("silent")));
}

/// Each line would look at all lines for its heading, for the end of its list, and for its like.
#[test]
fn a_part_is_not_looked_for_among_all_lines() {
    let limits = Limits { max_item_text: 8 << 20, ..Limits::default() };
    let name = |n: usize| -> String {
        (0..4).map(|digit| char::from(b'a' + u8::try_from(n / 26_usize.pow(digit) % 26).unwrap())).collect()
    };
    let read = |word: &str| {
        let lines: Vec<String> = (0..200_000).map(|n| format!("<p class=x{}>{word}{n}", name(n))).collect();
        with_limits(limits, &Recipe::Auto, &format!("<html><body>{}", lines.concat())).items
    };
    let (old, new) = (read("old"), read("new"));
    let (n_reported, n_steps) = judged(&old, &new);
    assert!(n_reported > 10_000, "{n_reported}");
    assert!(n_steps > old[0].text.len() as u64, "{n_steps}: every line that is different is paid for");
}

#[test]
fn lines_are_paid_for_by_the_words_that_are_compared() {
    // Words without figures, of which no two are the same.
    let word = |n: usize| -> String {
        (0..5).map(|digit| char::from(b'a' + u8::try_from(n / 26_usize.pow(digit) % 26).unwrap())).collect()
    };
    let lines = |salt: usize| {
        let line = |n: usize| (0..500).map(|index| word((n * 500 + index) * 2 + salt)).collect::<Vec<_>>();
        text(&(0..100).map(|n| line(n).join(" ")).collect::<Vec<_>>().join("\n"))
    };
    let (old, new) = (lines(0), lines(1));
    let (_, n_steps) = judged(&old, &new);
    // A hundred lines with a hundred lines, five hundred words each, besides what reading the lines takes.
    let n_bytes = (old[0].text.len() + new[0].text.len()) as u64;
    assert!(n_steps > 4 * n_bytes + 2_000_000, "{n_steps}");
}

/// Each time of the day would look for today's date among all the dates beside it.
#[test]
fn the_dates_of_a_line_are_read_once() {
    let line = |minute: usize| {
        let times = format!("12:{minute:02} ").repeat(60_000);
        format!("{times} {} 1970-01-01", "1999-12-31 ".repeat(60_000))
    };
    assert_eq!(judged(&text(&line(1)), &text(&line(2))).0, 0);
}

/// From every one of these dashes on, the rest of the line may be an identifier.
#[test]
fn a_line_is_not_searched_for_codes_over_and_over() {
    let line = |end: &str| format!("{}{end}", "a-".repeat(500_000));
    assert_eq!(judged(&text(&line("b")), &text(&line("c"))).0, 1);
}

/// Work that is used up leaves each item as one part.
#[test]
fn beyond_the_work_an_item_is_reported_as_a_whole() {
    let line = |word: &str| (0..1_000).map(|n| format!("{word} {n}")).collect::<Vec<_>>().join("\n");
    let (old, new) = (text(&line("was")), text(&line("is")));
    let Verdict { reported, .. } = everything(compare(&old, &new).changes, &Work::new(5_000));
    assert_eq!(reported.len(), 1);
}
