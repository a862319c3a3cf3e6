//! What an element of a feed means, by its vocabulary and name: the one table. Not how its text is read.

use super::vocabulary::Vocabulary::{self, Atom, Content, Core, DublinCore, Itunes, Media, Rdf, Xhtml};

/// A part of an item or of a feed. The numbers say which of several counts: the least that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    Title(u8),
    Text(u8),
    Link,
    Id(u8),
    Author(u8),
    Date(Stage),
}

/// What happened at a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Published,
    Created,
    Updated,
}

/// The publisher's own words, and then those that repeat them elsewhere.
const OWN: u8 = 0;
/// An abstract, where the whole text may be beside it.
const SUMMARY: u8 = 1;

/// What an element with this name in lower case means, directly inside of an item or a feed.
pub(super) fn meaning(vocabulary: Vocabulary, name: &str) -> Option<Meaning> {
    use Meaning::{Author, Date, Id, Link, Text, Title};
    Some(match (vocabulary, name) {
        (Core | Atom, "title") => Title(OWN),
        (DublinCore, "title") => Title(1),
        (Media, "title") => Title(2),
        (Itunes, "title") => Title(3),
        // Somewhere the prefix of the module is that of RSS 1.0 itself.
        (Content | Core | Atom, "encoded") | (Core | Atom, "content") | (Xhtml, "body") => Text(OWN),
        (Core | Atom, "description" | "summary") => Text(SUMMARY),
        (DublinCore, "description" | "abstract") => Text(2),
        (Itunes, "summary") => Text(3),
        (Media, "description") => Text(4),
        (Itunes, "subtitle") => Text(5),
        (Core | Atom, "link") => Link,
        // Some RSS declares Atom's namespace for all that it has.
        (Core | Atom, "guid") => Id(OWN),
        (Core | Atom, "id") => Id(1),
        (Core | Atom, "author") => Author(OWN),
        (DublinCore, "creator") => Author(1),
        (Itunes, "author") => Author(2),
        (Core | Atom, "pubdate" | "published" | "issued") | (DublinCore, "issued") => Date(Stage::Published),
        (Core | Atom | DublinCore, "created") => Date(Stage::Created),
        (Core | Atom, "updated" | "modified" | "lastbuilddate") | (DublinCore, "modified" | "date") => {
            Date(Stage::Updated)
        }
        _ => return None,
    })
}

/// Whether the element holds an item; its name is in lower case.
pub(super) fn is_item(vocabulary: Vocabulary, name: &str) -> bool {
    matches!(vocabulary, Core | Atom | Rdf) && matches!(name, "item" | "entry")
}

/// Whether the element holds a whole feed, or may.
pub(super) fn is_feed(vocabulary: Vocabulary, name: &str) -> bool {
    match name {
        "rss" | "channel" | "feed" => matches!(vocabulary, Core | Atom),
        "rdf" => matches!(vocabulary, Core | Rdf),
        _ => false,
    }
}

/// Whether an element inside of an item only holds together what describes the item.
pub(super) fn is_group(vocabulary: Vocabulary, name: &str) -> bool {
    vocabulary == Media && matches!(name, "group" | "content")
}
