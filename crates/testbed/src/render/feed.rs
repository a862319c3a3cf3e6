//! The feed of a source: its latest updates as RSS 2.0, newest first.

use std::fmt::Write as _;

use dunlin_core::Time;

use super::{View, absolute, escaped, heading};
use crate::address::{Kind, encoded};
use crate::content::Content;
use crate::site::http_date;

/// One update.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) number: u64,
    pub(crate) content: Content,
    pub(crate) at: Time,
}

/// The updates as RSS. An item's id and text never change; its date is when it really happened.
pub(crate) fn feed(view: &View<'_>, items: impl Iterator<Item = Item>) -> String {
    let page = escaped(&absolute(view.host, Kind::Page, view.source));
    let name = escaped(&heading(view.source));
    let mut channel = format!(
        "<title>{name}</title>\n<link>{page}</link>\n<description>Updates of {name}</description>\n\
         <lastBuildDate>{}</lastBuildDate>\n",
        http_date(view.at)
    );
    if let Some(noise) = view.noise {
        let _ = writeln!(channel, "<copyright>{}</copyright>", escaped(noise));
    }
    for Item { number, content, at } in items {
        let _ = writeln!(
            channel,
            "<item>\n<title>{title}</title>\n<link>{page}#v{number}</link>\n\
             <guid isPermaLink=\"false\">{id}-{number}</guid>\n<pubDate>{date}</pubDate>\n\
             <description>{summary}</description>\n</item>",
            title = escaped(&content.title),
            id = encoded(view.source),
            date = http_date(at),
            summary = escaped(&content.summary),
        );
    }
    bare_feed(&channel)
}

/// A feed around what its channel holds.
pub(crate) fn bare_feed(channel: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\">\n<channel>\n{channel}</channel>\n</rss>\n"
    )
}
