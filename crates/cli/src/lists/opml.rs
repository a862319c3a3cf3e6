//! OPML, the list format of feed readers. Outlines with `xmlUrl` are feeds, those with only `url` or `htmlUrl` are
//! pages; folders become tags.

use std::fmt::Write as _;

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};

use super::{List, Unreadable};

/// Folders within folders; nobody has more, and a hostile file could.
const MAX_DEPTH: usize = 64;

pub(super) fn read(text: &str) -> List {
    let mut list = List::default();
    let mut reader = Reader::from_str(text);
    let mut folders: Vec<Option<String>> = Vec::new();
    let mut lines = Lines { text, at: 0, line: 1 };
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
                let folder = outline(&element, line, &folders, &mut list);
                folders.push(folder);
            }
            Ok(Event::Empty(element)) => {
                outline(&element, line, &folders, &mut list);
            }
            Ok(Event::End(_)) => {
                folders.pop();
            }
            Ok(Event::Eof) => return list,
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
    if !element.local_name().as_ref().eq_ignore_ascii_case("outline") {
        return None;
    }
    let attribute = |name: &str| {
        element
            .attributes()
            .flatten()
            .find(|found| found.key.as_ref().eq_ignore_ascii_case(name))
            .and_then(|found| found.normalized_value(XmlVersion::Implicit1_0).ok())
            .map(|value| value.trim().to_owned())
    };
    let attribute = |name: &str| attribute(name).filter(|value| !value.is_empty());
    let tags: Vec<String> = folders.iter().flatten().cloned().collect();
    match (attribute("xmlUrl"), attribute("url").or_else(|| attribute("htmlUrl"))) {
        (Some(url), _) => list.take(line, &url, Some("feed"), tags),
        (None, Some(url)) => list.take(line, &url, None, tags),
        (None, None) => return attribute("text").or_else(|| attribute("title")),
    }
    None
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

/// One outline per address: kind, address and tags.
pub(crate) fn write<'a>(sources: impl Iterator<Item = (&'a str, &'a str, &'a [String])>) -> String {
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opml version=\"2.0\">\n  <head><title>Dunlin</title></head>\n  <body>\n",
    );
    for (kind, url, tags) in sources {
        let url = escape(url);
        let place = if kind == "feed" { "type=\"rss\" xmlUrl" } else { "type=\"link\" url" };
        let _ = write!(text, "    <outline text=\"{url}\" {place}=\"{url}\"");
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
             <outline type='link' url='https://b.example/'/>\n<outline xmlUrl='nonsense'/></body></opml>",
        );
        let found: Vec<_> =
            list.entries.iter().map(|e| (e.line, e.url.as_str(), e.kind, e.tags.clone())).collect();
        let expected = [
            (4, "https://a.example/feed?x=1&y=2", Some("feed"), vec!["News & more".to_owned()]),
            (6, "https://b.example/", None, vec![]),
        ];
        assert_eq!(found, expected);
        assert_eq!(list.unreadable.iter().map(|bad| bad.line).collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn what_is_written_reads_back() {
        let tags = ["a<b".to_owned()];
        let sources =
            [("feed", "https://a.example/?a=1&b=\"2\"", &tags[..]), ("page", "https://b.example/", &[])];
        let list = read(&write(sources.into_iter()));
        let urls: Vec<_> = list.entries.iter().map(|entry| (entry.kind, entry.url.as_str())).collect();
        assert_eq!(urls, [(Some("feed"), "https://a.example/?a=1&b=%222%22"), (None, "https://b.example/")]);
        assert_eq!(list.unreadable, []);
    }

    #[test]
    fn hostile_files_end_with_a_message() {
        let deep = "<outline text='x'>".repeat(100_000);
        assert_eq!(read(&deep).unreadable.len(), 1);
        assert_eq!(read("<opml><body><outline xmlUrl='https://a.example/'").entries.len(), 0);
        assert!(!read("<opml></body>").unreadable.is_empty());
    }
}
