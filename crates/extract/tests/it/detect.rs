//! What is new, edited and gone; and what is none of these.

use dunlin_core::Time;
use dunlin_extract::detect::compare;
use dunlin_extract::diff::Piece;
use dunlin_extract::document::{IdOrigin, ItemId};
use dunlin_extract::recipe::Recipe;
use dunlin_extract::{Change, Item, Work, detect};

use crate::reading::{item, page, read};

fn reported(old: &[Item], new: &[Item]) -> Vec<String> {
    let tell = |change: &Change<'_>| match change {
        Change::Added(item) => format!("+{}", item.title),
        Change::Edited { old, new } => format!("{}>{}", old.title, new.title),
        Change::Removed(item) => format!("-{}", item.title),
    };
    detect(old, new).iter().map(tell).collect()
}

#[test]
fn added_edited_and_removed_are_distinguished() {
    let old = [item("1", "a", "x"), item("2", "b", "x"), item("3", "c", "x")];
    let new = [item("4", "d", "x"), item("2", "b2", "x"), item("3", "c", "y")];
    assert_eq!(reported(&old, &new), ["+d", "b>b2", "c>c", "-a"]);
    let words = detect(&old, &new)[2].words(&Work::default());
    assert_eq!(words, [Piece::Delete("x"), Piece::Insert("y")]);
}

#[test]
fn order_and_dates_are_not_content() {
    let old = [item("1", "a", "x"), item("2", "b", "x")];
    let mut new = [item("2", "b", "x"), item("1", "a", "x")];
    new[0].published = Some(Time::from_seconds(1));
    assert_eq!(reported(&old, &new), [""; 0]);
    let comparison = compare(&old, &new);
    assert_eq!(comparison.redated, [(&old[1], &new[0])]);
}

#[test]
fn new_guids_for_the_same_links_are_no_news() {
    let old = [item("1", "a", "x"), item("2", "b", "x")];
    let mut new = old.clone();
    for (index, item) in new.iter_mut().enumerate() {
        item.id.value = format!("churned-{index}");
    }
    new[1].title = "b2".to_owned();
    assert_eq!(reported(&old, &new), ["b>b2"]);
    assert_eq!(compare(&old, &new).renamed.len(), 2);
}

#[test]
fn a_link_that_several_items_had_does_not_say_which_of_them_is_left() {
    let mut old = [item("1", "a", "x"), item("2", "b", "y")];
    let mut new = [item("9", "b", "y")];
    old.iter_mut().chain(&mut new).for_each(|item| item.link = Some("https://x.example/all".to_owned()));
    assert_eq!(reported(&old, &new), ["-a"]);
}

#[test]
fn new_guids_and_links_for_the_same_content_are_no_news() {
    let old = [item("1", "a", "x"), item("2", "b", "x")];
    let new = [item("8", "b", "x"), item("9", "a", "x")];
    assert_eq!(reported(&old, &new), [""; 0]);
}

/// A feed without guids, whose links carry another parameter each time; items by number and text.
fn linked(parameter: &str, items: &[(u32, &str)]) -> Vec<Item> {
    let entry = |(n, text): &(u32, &str)| {
        format!(
            "<item><title>Story {n}</title><link>https://x.example/s/{n}?page=2&amp;{parameter}</link>\
             <description>{text}</description></item>"
        )
    };
    let items: String = items.iter().map(entry).collect();
    read(&Recipe::Auto, format!("<rss version='2.0'><channel>{items}</channel></rss>").as_bytes()).items
}

#[test]
fn links_that_are_made_up_for_each_reader_are_the_same_links() {
    let old = [(3, "c"), (2, "b"), (1, "a")];
    for parameter in ["sid=", "utm_campaign=", "x=9f86d081884c7d65"] {
        let of = |n: u32, items: &[(u32, &str)]| linked(&format!("{parameter}{n}"), items);
        // What is remembered holds each item under all the links that it had.
        let remembered: Vec<Item> = (1..4).rev().flat_map(|n| of(n, &old)).collect();
        let one_more = of(4, &[(4, "d"), (3, "c"), (2, "b"), (1, "a")]);
        assert_eq!(reported(&remembered[..3], &one_more), ["+Story 4"], "{parameter}");
        let news = |new: &[Item]| {
            let all = reported(&remembered, new);
            all.into_iter().filter(|told| !told.starts_with('-')).collect::<Vec<_>>()
        };
        assert_eq!(news(&one_more), ["+Story 4"], "{parameter}");
        let edited = of(4, &[(3, "c"), (2, "b, corrected"), (1, "a")]);
        assert_eq!(news(&edited), ["Story 2>Story 2"], "{parameter}");
    }
}

#[test]
fn a_code_that_tells_items_apart_is_part_of_their_links() {
    let item = |code: &str, title: &str| Item {
        link: Some(format!("https://x.example/article?id={code}")),
        ..item(title, title, "x")
    };
    let old = [item("9f86d081884c7d65", "a"), item("2c26b46b68ffc68f", "b")];
    let new = [item("fcde2b2edba56bf4", "c"), item("9f86d081884c7d65", "a")];
    assert_eq!(reported(&old, &new), ["+c", "-b"]);
}

#[test]
fn an_item_known_by_its_content_is_edited_under_its_title() {
    let text = |text: &str| read(&Recipe::Text, text.as_bytes()).items;
    let old = text("Monday\nopen\n\nSunday\nopen");
    let new = text("Monday\nclosed\n\nSunday\nopen");
    assert_eq!(reported(&old, &new), ["Monday>Monday"]);
}

#[test]
fn a_whole_page_is_edited_never_added() {
    assert_eq!(detect(&page("<p>a"), &page("<p>b")).len(), 1);
    assert!(matches!(detect(&page("<p>a"), &page("<p>b"))[..], [Change::Edited { .. }]));
}

#[test]
fn a_document_without_its_end_removes_nothing() {
    let whole =
        "<rss version='2.0'><channel><item><guid>1</guid></item><item><guid>2</guid></item></channel></rss>";
    let old = read(&Recipe::Auto, whole.as_bytes());
    let new = read(&Recipe::Auto, &whole.as_bytes()[..70]);
    assert!(old.is_complete && !new.is_complete);
    let mut comparison = compare(&old.items, &new.items);
    assert_eq!((new.items.len(), comparison.changes.len()), (1, 1));
    comparison.drop_removals();
    assert_eq!(comparison.changes, []);
}

#[test]
fn an_entry_that_leaves_a_feed_from_among_others_was_withdrawn() {
    let dated = |hours: &[i64]| -> Vec<Item> {
        let entry = |hour: &i64| Item {
            published: Some(Time::from_seconds(3_600 * hour)),
            ..item(&hour.to_string(), "t", "x")
        };
        hours.iter().map(entry).collect()
    };
    let gone = |old: &[Item], new: &[Item]| {
        let mut comparison = compare(old, new);
        comparison.keep_withdrawals(old);
        let removed = comparison.changes.iter().filter(|change| matches!(change, Change::Removed(_)));
        removed.map(|change| change.item().id.value.clone()).collect::<Vec<_>>()
    };
    let old = dated(&[9, 8, 7, 6, 5]);
    assert_eq!(gone(&old, &dated(&[10, 9, 7, 6, 5])), ["8"]);
    assert_eq!(gone(&old, &dated(&[11, 10, 9, 8, 7])), [""; 0], "it scrolled out");
    assert_eq!(gone(&old, &dated(&[9, 8, 7, 5])), [""; 0], "too near the end");
    assert_eq!(gone(&dated(&[5, 9, 8, 7, 6]), &dated(&[5, 8, 7, 6])), [""; 0], "in another order");
    let undated: Vec<Item> = old.iter().map(|item| Item { published: None, ..item.clone() }).collect();
    assert_eq!(gone(&undated, &undated[2..]), [""; 0]);
    let of_one_hour: Vec<Item> =
        old.iter().map(|item| Item { published: old[0].published, ..item.clone() }).collect();
    let without = [&of_one_hour[..1], &of_one_hour[2..]].concat();
    assert_eq!(gone(&of_one_hour, &without), ["8"], "entries of one hour are in order");
}

/// A row that has nothing to be known by but what it says.
fn row(title: &str, text: &str, link: Option<&str>) -> Item {
    let id = ItemId { origin: IdOrigin::Content, value: text.to_owned() };
    Item { id, link: link.map(str::to_owned), ..item("", title, text) }
}

#[test]
fn rows_with_other_figures_are_the_same_rows_and_other_links_are_other_stories() {
    let (old, new) = ([row("", "Oak 12 13 14 15", None)], [row("", "Oak 22 23 24 25", None)]);
    assert!(matches!(compare(&old, &new).changes[..], [Change::Edited { .. }]));
    let of = |title, text, link| [row(title, text, Some(link))];
    let old = of("Red", "The red lamp of the hall", "https://x.example/1");
    let new = of("Blue", "The blue lamp of the hall", "https://x.example/2");
    assert!(matches!(compare(&old, &new).changes[..], [Change::Added(_), Change::Removed(_)]));
}

#[test]
fn an_item_without_a_link_is_known_by_its_content_when_its_id_is_another() {
    let without_link = |guid| Item { link: None, ..item(guid, "Lamp", "It is red") };
    let old = [item("a", "Story", "Text"), without_link("b")];
    let new = [item("a", "Story", "Text"), without_link("c")];
    let comparison = compare(&old, &new);
    assert_eq!((comparison.changes.len(), comparison.renamed.len()), (0, 1));
    // With a link of its own it is another story that says the same.
    let (old, new) = ([item("a", "S", "T"), item("b", "L", "R")], [item("a", "S", "T"), item("c", "L", "R")]);
    assert_eq!(compare(&old, &new).changes.len(), 2);
}
