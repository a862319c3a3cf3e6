//! OPML, the list format of feed readers. Outlines with `xmlUrl` are feeds, those with only `url` or `htmlUrl` are
//! pages; folders and categories become tags.
//!
//! Invariant: an outline is either taken in or reported; none is lost in silence.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::escape::{escape, unescape};
use quick_xml::events::{BytesStart, Event};

use super::{List, Unreadable};

/// Folders within folders; only a hostile file has more.
const MAX_DEPTH: usize = 64;

/// The most characters of a name.
const MAX_NAME: usize = 200;

/// Attributes that say what is watched, in small letters.
const WATCHED: [&str; 4] = ["xmlurl", "url", "htmlurl", "category"];

pub(super) fn read(text: &str) -> List {
    let mut list = List::default();
    let mut reader = Reader::from_str(text);
    let mut folders: Vec<Option<String>> = Vec::new();
    let mut lines = Lines { text, at: 0, line: 1 };
    let mut n_outlines = 0;
    loop {
        let event = reader.read_event();
        let line = lines.of(reader.buffer_position() as usize);
        match event {
            Ok(Event::Start(element)) => {
                if folders.len() >= MAX_DEPTH {
                    let why = format!("more than {MAX_DEPTH} elements within each other (flatten the file)");
                    list.unreadable.push(Unreadable { line, why });
                    return list;
                }
                n_outlines += usize::from(is_outline(&element));
                let folder = outline(&element, line, &folders, &mut list);
                folders.push(folder);
            }
            Ok(Event::Empty(element)) => {
                n_outlines += usize::from(is_outline(&element));
                outline(&element, line, &folders, &mut list);
            }
            Ok(Event::End(_)) => {
                folders.pop();
            }
            Ok(Event::Eof) => {
                let problem = match (folders.len(), n_outlines) {
                    (0, 0) => {
                        "no outlines, so nothing to watch (is it OPML? a list has one address per line)"
                    }
                    (0, _) => return list,
                    _ => "the file ends before its elements do (is it complete?)",
                };
                list.unreadable.push(Unreadable { line, why: problem.to_owned() });
                return list;
            }
            Ok(_) => {}
            Err(error) => {
                list.unreadable.push(Unreadable { line, why: format!("not well-formed XML: {error}") });
                return list;
            }
        }
    }
}

/// Takes in an outline; gives its name if it is a folder.
fn outline(
    element: &BytesStart<'_>,
    line: usize,
    folders: &[Option<String>],
    list: &mut List,
) -> Option<String> {
    if !is_outline(element) {
        return None;
    }
    let attributes = match attributes(element) {
        Ok(attributes) => attributes,
        Err(why) => {
            list.unreadable.push(Unreadable { line, why });
            return None;
        }
    };
    let attribute = |name: &str| attributes.get(name).filter(|value| !value.is_empty()).cloned();
    let mut tags: Vec<String> = folders.iter().flatten().cloned().collect();
    for category in attribute("category").unwrap_or_default().split(',').map(str::trim) {
        if !category.is_empty() && !tags.iter().any(|tag| tag == category) {
            tags.push(category.to_owned());
        }
    }
    let name = attribute("text").or_else(|| attribute("title"));
    match (attribute("xmlurl"), attribute("url").or_else(|| attribute("htmlurl"))) {
        (Some(url), _) => list.take(line, &url, name.and_then(|name| one_name(&name)), Some("feed"), tags),
        (None, Some(url)) => list.take(line, &url, name.and_then(|name| one_name(&name)), None, tags),
        (None, None) => return name,
    }
    None
}

/// A title as a name: on one line, and not too long.
fn one_name(title: &str) -> Option<String> {
    let words: Vec<&str> =
        title.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let name: String = words.join(" ").chars().take(MAX_NAME).collect();
    Some(name.trim_end().to_owned()).filter(|name| !name.is_empty())
}

fn is_outline(element: &BytesStart<'_>) -> bool {
    element.local_name().as_ref().eq_ignore_ascii_case("outline")
}

/// What an outline says of itself, by name in small letters; or which part of it cannot be read.
fn attributes(element: &BytesStart<'_>) -> Result<BTreeMap<String, String>, String> {
    let mut all = BTreeMap::new();
    for attribute in element.attributes() {
        let attribute = attribute.map_err(|error| format!("an attribute cannot be read: {error}"))?;
        let name = attribute.key.as_ref().to_ascii_lowercase();
        let value =
            attribute.normalized_value(XmlVersion::Implicit1_0).map(Cow::into_owned).or_else(|error| {
                // Addresses are full of ampersands, and many programs write them as they are.
                let written = with_escaped_ampersands(&attribute.value);
                unescape(&written).map(Cow::into_owned).map_err(|_| error)
            });
        match value {
            Ok(value) => {
                all.insert(name, value.trim().to_owned());
            }
            Err(error) if WATCHED.contains(&name.as_str()) => {
                return Err(format!("`{name}` cannot be read: {error} (write & as &amp;)"));
            }
            // A title with a slip in it is no reason not to watch the address.
            Err(_) => {}
        }
    }
    Ok(all)
}

/// The text with every ampersand escaped that begins no reference.
fn with_escaped_ampersands(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut escaped = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let name = piece.split_once(';').map_or("", |(name, _)| name);
        let is_reference = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '#');
        escaped.push_str(if is_reference { "&" } else { "&amp;" });
        escaped.push_str(piece);
    }
    escaped
}

/// Line numbers of growing positions, in one pass.
struct Lines<'t> {
    text: &'t str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, position: usize) -> usize {
        let position = position.min(self.text.len());
        let passed = self.text.as_bytes().get(self.at..position).unwrap_or_default();
        self.line += passed.split(|byte| *byte == b'\n').count() - 1;
        self.at = self.at.max(position);
        self.line
    }
}

/// What an outline says of a source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline<'a> {
    pub(crate) url: &'a str,
    pub(crate) name: Option<&'a str>,
    /// Whether feed readers can read it.
    pub(crate) is_feed: bool,
    pub(crate) tags: &'a [String],
}

/// One outline per address.
pub(crate) fn write<'a>(outlines: impl Iterator<Item = Outline<'a>>) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n  <head><title>Dunlin</title></head>\n  <body>\n",
    );
    for Outline { url, name, is_feed, tags } in outlines {
        let (url, name) = (escape(url), escape(name.unwrap_or(url)));
        let attribute = if is_feed { "type=\"rss\" xmlUrl" } else { "type=\"link\" url" };
        let _ = write!(text, "    <outline text=\"{name}\" title=\"{name}\" {attribute}=\"{url}\"");
        if !tags.is_empty() {
            let _ = write!(text, " category=\"{}\"", escape(tags.join(",")));
        }
        text.push_str("/>\n");
    }
    text.push_str("  </body>\n</opml>\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feeds_pages_and_folders() {
        let list = read(
            "<?xml version='1.0'?>\n<opml><body>\n<outline text='News &amp; more'>\n\
             <outline xmlUrl='https://a.example/feed?x=1&amp;y=2'/>\n<outline text='no address'/></outline>\n\
             <outline type='link' url='https://b.example/'/>\n<outline xmlUrl='nonsense'/>\n\
             <outline text='c' htmlUrl='https://c.example/'/></body></opml>",
        );
        let found: Vec<_> = list
            .entries
            .iter()
            .map(|e| (e.line, e.url.as_str(), e.name.as_deref(), e.kind, e.tags.clone()))
            .collect();
        let expected = [
            (4, "https://a.example/feed?x=1&y=2", None, Some("feed"), vec!["News & more".to_owned()]),
            (6, "https://b.example/", None, None, vec![]),
            (8, "https://c.example/", Some("c"), None, vec![]),
        ];
        assert_eq!(found, expected);
        assert_eq!(list.unreadable.iter().map(|bad| bad.line).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn what_is_written_reads_back() {
        let tags = ["a<b".to_owned(), "Deep".to_owned()];
        let outline = |url, name, is_feed, tags| Outline { url, name, is_feed, tags };
        let outlines = [
            outline("https://a.example/?a=1&b=\"2\"", Some("All <the> news"), true, &tags[..]),
            outline("https://b.example/", None, false, &[]),
        ];
        let list = read(&write(outlines.into_iter()));
        let names: Vec<_> = list.entries.iter().map(|entry| entry.name.as_deref()).collect();
        assert_eq!(names, [Some("All <the> news"), None]);
        assert_eq!(list.entries[0].tags, tags);
        let urls: Vec<_> = list.entries.iter().map(|entry| (entry.kind, entry.url.as_str())).collect();
        assert_eq!(urls, [(Some("feed"), "https://a.example/?a=1&b=%222%22"), (None, "https://b.example/")]);
        assert_eq!(list.unreadable, []);
    }

    #[test]
    fn bare_ampersands_are_what_they_are() {
        let list = read(
            "<opml><body><outline text='Q&A'><outline xmlUrl='https://a.example/?a=1&b=2&amp;c=3&'/></outline></body></opml>",
        );
        assert_eq!(list.entries[0].url, "https://a.example/?a=1&b=2&c=3&");
        assert_eq!((list.entries[0].tags.as_slice(), list.unreadable.len()), (&["Q&A".to_owned()][..], 0));
    }

    #[test]
    fn nothing_is_lost_in_silence() {
        let list = read(
            "<opml><body><outline xmlUrl='https://a.example/'/>\n<outline xmlUrl='https://b.example/&bogus;'/>\n\
             <outline xmlUrl='https://c.example/'/>\n",
        );
        assert_eq!(list.entries.len(), 2);
        let problems: Vec<_> = list.unreadable.iter().map(|bad| (bad.line, bad.why.as_str())).collect();
        assert_eq!((problems.len(), problems[0].0), (2, 2), "{problems:?}");
        assert!(problems[0].1.contains("xmlurl") && problems[1].1.contains("ends before"), "{problems:?}");
        let page = read("<html><body><p>Not a list</p></body></html>");
        assert!(page.unreadable[0].why.contains("no outlines"), "{page:?}");
    }

    #[test]
    fn hostile_files_end_with_a_message() {
        let deep = "<outline text='x'>".repeat(100_000);
        assert_eq!(read(&deep).unreadable.len(), 1);
        assert_eq!(read("<opml><body><outline xmlUrl='https://a.example/'").entries.len(), 0);
        assert!(!read("<opml></body>").unreadable.is_empty());
    }
}
