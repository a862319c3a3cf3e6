//! Text out of values: pages, feeds, JSON and lists. Decides nothing; everything from outside is escaped here.

mod feed;
mod lists;
mod page;

use dunlin_core::Time;
use serde::Serialize;

use crate::address::Kind;
use crate::content::Content;

pub(crate) use feed::{Item, bare_feed, feed};
pub(crate) use lists::{index, list, opml, robots};
pub(crate) use page::page;

/// A state of a source, to be shown.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) source: &'a str,
    pub(crate) host: &'a str,
    pub(crate) version: u64,
    pub(crate) content: &'a Content,
    pub(crate) at: Time,
    /// What differs although the state does not.
    pub(crate) noise: Option<&'a str>,
}

/// A source's id as a heading.
fn heading(source: &str) -> String {
    crate::content::capitalised(&source.replace(['-', '_'], " "))
}

/// Seconds since 1970, to the microsecond.
pub(crate) fn unix_seconds(time: Time) -> f64 {
    time.micros() as f64 / 1_000_000.0
}

/// Text in HTML or XML, in an element or an attribute. What XML cannot hold at all is left out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => {
                safe.push(letter);
            }
            _ => {}
        }
    }
    safe
}

fn absolute(host: &str, kind: Kind, source: &str) -> String {
    format!("http://{host}{}", kind.path(source))
}

/// The latest state as JSON.
pub(crate) fn api(view: &View<'_>) -> String {
    #[derive(Serialize)]
    struct State<'a> {
        source: &'a str,
        version: u64,
        updated: f64,
        title: &'a str,
        summary: &'a str,
        facts: std::collections::BTreeMap<&'a str, &'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        visitor: Option<&'a str>,
    }
    let content = view.content;
    let state = State {
        source: view.source,
        version: view.version,
        updated: unix_seconds(view.at),
        title: &content.title,
        summary: &content.summary,
        facts: content.facts.iter().map(|(name, value)| (*name, value.as_str())).collect(),
        visitor: view.noise,
    };
    serde_json::to_string_pretty(&state).expect("text and numbers always become JSON")
}
