//! The second attempt at a feed that is not well-formed: what can be recognised of its items is written again
//! as plain RSS 2.0, which the feed parser then reads. Not a parser of feeds: it knows a dozen element names.

use quick_xml::escape::{escape, resolve_predefined_entity};
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

/// What was saved of a broken feed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Repaired {
    /// A well-formed feed.
    pub(super) rss: String,
    /// False when the feed ends in the middle.
    pub(super) is_complete: bool,
}

/// The parts of an item, by the name they get in RSS 2.0.
const FIELDS: &[(&str, &str)] = &[
    ("title", "title"),
    ("link", "link"),
    ("guid", "guid"),
    ("id", "guid"),
    ("description", "description"),
    ("summary", "description"),
    ("encoded", "content:encoded"),
    ("content", "content:encoded"),
    ("pubdate", "pubDate"),
    ("published", "pubDate"),
    ("updated", "pubDate"),
    ("date", "pubDate"),
];

/// Saves up to `max_items` items.
pub(super) fn repair(text: &str, max_items: usize) -> Repaired {
    let mut reader = Reader::from_str(text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let mut items = Items::default();
    let mut is_complete = false;
    while items.done.len() < max_items {
        let before = reader.buffer_position();
        match reader.read_event() {
            Ok(Event::Start(tag)) => items.open(&tag),
            Ok(Event::Empty(tag)) => items.lone(&tag),
            Ok(Event::End(tag)) => {
                let name = local_name(tag.name().0);
                is_complete |= matches!(name.as_str(), "rss" | "feed" | "rdf");
                items.close(&name);
            }
            Ok(Event::Text(text)) => items.text.push_str(&text.into_inner()),
            Ok(Event::CData(text)) => items.text.push_str(&text.into_inner()),
            Ok(Event::GeneralRef(reference)) => items.reference(&reference.into_inner()),
            Ok(Event::Eof) => break,
            // Where the reader cannot continue, nothing after it can be trusted.
            Err(_) if reader.buffer_position() <= before => break,
            Ok(_) | Err(_) => {}
        }
    }
    Repaired { rss: items.into_rss(), is_complete }
}

/// The items seen so far.
#[derive(Debug, Default)]
struct Items {
    /// The title of the feed.
    title: String,
    done: Vec<String>,
    /// The item that is open: the RSS written for it.
    open: Option<String>,
    /// Text since the last field began.
    text: String,
    /// The field that is open, and how deep inside of it we are: content may hold elements.
    field: Option<(String, &'static str, usize)>,
}

impl Items {
    fn open(&mut self, tag: &BytesStart<'_>) {
        let name = local_name(tag.name().0);
        if is_item(&name) {
            // An item inside an item: the end of the first is missing.
            self.finish();
            self.open = Some(String::new());
            return;
        }
        let field = FIELDS.iter().find(|(known, _)| *known == name);
        // Titles, links and the like hold no elements: when another field begins, the end of this one is missing.
        if field.is_some() && self.field.as_ref().is_some_and(|(_, rss, _)| !may_hold_elements(rss)) {
            self.end_field();
        }
        if let Some((open, _, depth)) = &mut self.field {
            *depth += usize::from(*open == name);
        } else {
            self.field = field.map(|(_, rss)| (name, *rss, 0));
            self.text.clear();
        }
    }

    fn lone(&mut self, tag: &BytesStart<'_>) {
        let href = tag.try_get_attribute("href").ok().flatten();
        if let (Some(item), Some(href), "link") = (&mut self.open, href, local_name(tag.name().0).as_str()) {
            write_field(item, "link", &href.value);
        }
    }

    fn close(&mut self, name: &str) {
        if is_item(name) {
            self.finish();
            return;
        }
        let is_end = self.field.as_ref().is_some_and(|(open, _, depth)| open == name && *depth == 0);
        if is_end {
            self.end_field();
        } else if let Some((open, _, depth)) = &mut self.field {
            *depth -= usize::from(open == name);
        }
    }

    fn end_field(&mut self) {
        match (self.field.take(), &mut self.open) {
            (Some((_, rss, _)), Some(item)) => write_field(item, rss, &self.text),
            (Some((_, "title", _)), None) if self.title.is_empty() => self.text.clone_into(&mut self.title),
            _ => {}
        }
        self.text.clear();
    }

    /// Ends the open item, if there is one with anything in it.
    fn finish(&mut self) {
        // A field whose end is missing has swallowed what followed: better nothing than that.
        self.field = None;
        self.done.extend(self.open.take().filter(|item| !item.is_empty()));
    }

    fn reference(&mut self, name: &str) {
        if let Some(known) = resolve_predefined_entity(name) {
            self.text.push_str(known);
        } else {
            // HTML's own names mean something when the text is read as HTML.
            self.text.push('&');
            self.text.push_str(name);
            self.text.push(';');
        }
    }

    fn into_rss(self) -> String {
        // An item that is still open was cut off, perhaps within its text: it does not count as whole.
        let items = self.done.join("</item><item>");
        let items = if items.is_empty() { items } else { format!("<item>{items}</item>") };
        let mut title = String::new();
        write_field(&mut title, "title", &self.title);
        let namespace = "http://purl.org/rss/1.0/modules/content/";
        format!("<rss version=\"2.0\" xmlns:content=\"{namespace}\"><channel>{title}{items}</channel></rss>")
    }
}

fn write_field(item: &mut String, name: &str, text: &str) {
    let text: String = text.chars().filter(|c| !c.is_control() || c.is_whitespace()).collect();
    let text = escape(text.trim());
    for piece in ["<", name, ">", &text, "</", name, ">"] {
        item.push_str(piece);
    }
}

fn may_hold_elements(rss: &str) -> bool {
    matches!(rss, "description" | "content:encoded")
}

fn is_item(name: &str) -> bool {
    matches!(name, "item" | "entry")
}

/// The name without its prefix, in lower case.
fn local_name(name: &str) -> String {
    name.rsplit(':').next().unwrap_or_default().to_ascii_lowercase()
}
