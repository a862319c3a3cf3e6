//! What kind of document a text is. The content type is a hint: servers send feeds as `text/html` and error
//! pages as `application/rss+xml`, so the content decides first.

use crate::document::{Diagnostic, Format};
use crate::feed;

/// What a content type promises; `None` when it promises nothing in particular.
fn promised(content_type: &str) -> Option<Format> {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/rss+xml" | "application/atom+xml" | "application/rdf+xml" => Some(Format::Feed),
        "application/feed+json" => Some(Format::JsonFeed),
        "application/json" | "text/json" => Some(Format::Json),
        "text/html" | "application/xhtml+xml" => Some(Format::Html),
        "text/xml" | "application/xml" => Some(Format::Xml),
        essence if essence.ends_with("+json") => Some(Format::Json),
        essence if essence.ends_with("+xml") => Some(Format::Xml),
        _ => None,
    }
}

/// The format of `text`, and whether the content type was wrong about it.
pub(crate) fn sniff(text: &str, content_type: Option<&str>, diagnostics: &mut Vec<Diagnostic>) -> Format {
    let promise = content_type.and_then(promised);
    let found = by_content(text, promise);
    let agrees = match (promise, found) {
        (None | Some(Format::Xml), _) | (Some(Format::Json), Format::JsonFeed) => true,
        (Some(promise), found) => promise == found,
    };
    if let (false, Some(declared)) = (agrees, content_type) {
        diagnostics.push(Diagnostic::WrongType { declared: declared.to_owned(), found });
    }
    found
}

fn by_content(text: &str, promise: Option<Format>) -> Format {
    let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if start.is_empty() {
        return promise.unwrap_or(Format::Text);
    }
    let root = if start.starts_with('<') { first_element(start) } else { None };
    // However damaged the text of a feed or a page is, its beginning says what it is.
    let names_itself = root.as_deref().is_some_and(|name| is_feed_root(name) || name == "html");
    if !names_itself && looks_binary(text) {
        return Format::Binary;
    }
    if start.starts_with(['{', '[']) && promise != Some(Format::Html) {
        return match json_kind(start) {
            Some(format) => format,
            // Broken or truncated JSON is still JSON if it was declared as JSON.
            None if matches!(promise, Some(Format::Json | Format::JsonFeed)) => Format::Json,
            None if begins_like_json(start) => Format::Json,
            None if is_feed_after_junk(start) => Format::Feed,
            None => Format::Text,
        };
    }
    if !start.starts_with('<') {
        return match promise {
            // A fragment of HTML may begin with text.
            Some(Format::Html) if start.contains('<') => Format::Html,
            _ if is_feed_after_junk(start) => Format::Feed,
            _ if feed::is_json_feed(start) => Format::JsonFeed,
            _ => Format::Text,
        };
    }
    match root.as_deref() {
        Some(name) if is_feed_root(name) => Format::Feed,
        Some("html" | "head" | "body") => Format::Html,
        // Its root is damaged.
        _ if feed::looks_like_feed(start) => Format::Feed,
        Some("div" | "p" | "title" | "table" | "ul" | "h1" | "meta" | "script") => Format::Html,
        _ if promise == Some(Format::Html) => Format::Html,
        _ if start.get(..14).is_some_and(|start| start.eq_ignore_ascii_case("<!doctype html")) => {
            Format::Html
        }
        Some(_) if start.starts_with("<?xml") => Format::Xml,
        Some(_) if matches!(promise, Some(Format::Xml | Format::Feed)) => Format::Xml,
        Some(_) => Format::Html,
        None if feed::is_json_feed(start) => Format::JsonFeed,
        None => Format::Text,
    }
}

/// Whether a text begins as objects do, which no prose does.
fn begins_like_json(text: &str) -> bool {
    let inside = text.trim_start_matches('[').trim_start();
    inside.strip_prefix('{').is_some_and(|name| name.trim_start().starts_with('"'))
}

/// Some servers print a warning before the feed; or its first byte is damaged.
fn is_feed_after_junk(text: &str) -> bool {
    let head = crate::text::cut(text, 2000);
    let at = ["<?xml", "<rss", "<feed", "<rdf:RDF"].iter().find_map(|begin| head.find(begin));
    let has_root = at.and_then(|at| first_element(&text[at..])).is_some_and(|name| is_feed_root(&name));
    (has_root && text.contains("</")) || (feed::looks_like_feed(text) && feed::ends_like_feed(text))
}

/// Whether the name of a root element, in lower case and with any prefix, is that of a feed.
fn is_feed_root(name: &str) -> bool {
    matches!(name.rsplit(':').next(), Some("rss" | "feed" | "rdf" | "channel"))
}

fn looks_binary(text: &str) -> bool {
    let head = crate::text::cut(text, 4096);
    let strange = |c: &char| *c == '\u{fffd}' || (c.is_control() && !c.is_whitespace());
    head.chars().filter(strange).count() * 10 > head.chars().count()
}

fn json_kind(text: &str) -> Option<Format> {
    if feed::is_json_feed(text) {
        return Some(Format::JsonFeed);
    }
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    Some(Format::Json)
}

/// The name of the first element, in lower case, past declarations, comments and document types.
fn first_element(text: &str) -> Option<String> {
    // Each declaration is searched for its end.
    const MOST_SEARCHED: usize = 64 << 10;
    const MAX_DECLARATIONS: usize = 100;
    let mut rest = crate::text::cut(text, MOST_SEARCHED);
    for _ in 0..MAX_DECLARATIONS {
        rest = &rest[rest.find('<')?..];
        let end = if rest.starts_with("<!--") {
            rest.find("-->")
        } else if rest.starts_with("<!") && rest.find('[') < rest.find('>') && rest.contains('[') {
            rest.find("]>").or_else(|| rest.find('>'))
        } else if rest.starts_with("<!") || rest.starts_with("<?") {
            rest.find('>')
        } else {
            let name = &rest[1..];
            let end = name.find(|c: char| c.is_whitespace() || c == '>' || c == '/').unwrap_or(name.len());
            let starts_like_a_name = name.starts_with(|c: char| c.is_alphabetic());
            return starts_like_a_name.then(|| crate::text::cut(&name[..end], 100).to_ascii_lowercase());
        };
        rest = &rest[end? + 1..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_wins_over_the_content_type() {
        let cases = [
            ("<?xml version='1.0'?><!-- <html> --><rss version='2.0'/>", "text/html", Format::Feed),
            ("<!DOCTYPE html><html></html>", "application/rss+xml", Format::Html),
            (" {\"version\": \"https://jsonfeed.org/version/1.1\"}", "application/json", Format::JsonFeed),
            ("[1, 2]", "text/plain", Format::Json),
            ("[see below] text", "text/plain", Format::Text),
            ("{\"cut\": ", "application/json", Format::Json),
            ("{\"cut\": ", "text/plain", Format::Json),
            ("{cut} [1]", "application/json", Format::Json),
            ("{cut} [1]", "text/plain", Format::Text),
            ("{\"items\": [{\"id\": \"1\", \"content_html\": \"", "application/json", Format::JsonFeed),
            ("<feed xmlns='x'/>", "application/xml", Format::Feed),
            ("<rdf:RDF xmlns='x'/>", "", Format::Feed),
            ("<!DOCTYPE rss [<!ENTITY a \"b\">]><rss/>", "", Format::Feed),
            ("<?xml version='1.0'?><config/>", "", Format::Xml),
            ("<article>x</article>", "", Format::Html),
            ("Warning: mysql on line 3\n<?xml version='1.0'?><rss></rss>", "", Format::Feed),
            ("<?xml version='1.0'?><rsX><channel><item></item></channel></rss>", "", Format::Feed),
            ("<feXd xmlns='http://www.w3.org/2005/Atom'><entry></entry></feed>", "", Format::Feed),
            ("<Xxml version='1.0'?><a:feed><a:entry></a:entry></a:feed>", "text/html", Format::Feed),
            ("?xml version='1.0'?><x:rss><channel><item>", "", Format::Text),
            ("?xml version='1.0'?><x:rss><channel><item></item></channel></x:rss>", "", Format::Feed),
            ("<Xrss><channel><item><![CDATA[<html>]]></item></channel></rss>", "", Format::Feed),
            ("An RSS feed has <rss>, <channel> and <item>.", "", Format::Text),
            ("<custom><html><pre><rss><channel><item></pre></html></custom>", "", Format::Html),
            ("hello <b>world</b>", "text/html", Format::Html),
            ("hello <b>world</b>", "text/plain", Format::Text),
            ("\u{0}\u{1}PNG\u{fffd}", "text/html", Format::Binary),
            ("<a\u{0}\u{1}PNG\u{fffd}", "", Format::Binary),
            ("<rss><channel><item><title>\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}</title>", "", Format::Feed),
            ("<!doctype html><html>\u{fffd}\u{fffd}\u{fffd}\u{fffd}\u{fffd}", "", Format::Html),
            ("<", "", Format::Text),
            ("", "text/html", Format::Html),
        ];
        for (text, content_type, format) in cases {
            assert_eq!(sniff(text, Some(content_type), &mut Vec::new()), format, "{text}");
        }
    }

    #[test]
    fn a_wrong_content_type_is_said() {
        let mut diagnostics = Vec::new();
        sniff("<html>", Some("application/rss+xml; charset=utf-8"), &mut diagnostics);
        assert_eq!(
            diagnostics[0].to_string(),
            "declared as `application/rss+xml; charset=utf-8`, but it is HTML"
        );
    }
}
