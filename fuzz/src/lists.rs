//! Lists to import: plain text or OPML. Each entry is an address that can be watched, each problem has its line, and
//! what is exported reads back.

use crate::command::lists::{List, Outline, checked, write_opml};

/// Any text as a list.
pub fn lists(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let n_lines = text.split('\n').count();
    let list = List::read(&text);
    for entry in &list.entries {
        assert!((1..=n_lines).contains(&entry.line));
        assert_eq!(checked(&entry.url).as_ref(), Ok(&entry.url), "is in its normal form");
    }
    for problem in &list.unreadable {
        assert!((1..=n_lines).contains(&problem.line) && !problem.why.is_empty());
    }
    let exported = write_opml(list.entries.iter().map(|entry| Outline {
        url: &entry.url,
        name: entry.name.as_deref(),
        is_feed: entry.kind == Some("feed"),
        tags: &[],
    }));
    let again = List::read(&exported);
    let what = |list: &List| {
        list.entries.iter().map(|entry| (entry.url.clone(), entry.name.clone())).collect::<Vec<_>>()
    };
    assert_eq!(what(&again), what(&list));
}
