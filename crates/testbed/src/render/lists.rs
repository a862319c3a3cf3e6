//! Lists of the sources: an index for people, OPML and plain lists for programs, `robots.txt`.

use std::fmt::Write as _;

use super::{absolute, escaped, heading};
use crate::address::Kind;

/// Every source with its three addresses.
pub(crate) fn index(sources: &[String]) -> String {
    let mut rows = String::new();
    for source in sources {
        let _ = writeln!(
            rows,
            "<li><a href=\"{}\">{}</a> <a href=\"{}\">feed</a> <a href=\"{}\">json</a></li>",
            Kind::Page.path(source),
            escaped(&heading(source)),
            Kind::Feed.path(source),
            Kind::Api.path(source),
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>Test bed</title></head>\n<body>\n\
         <h1>Test bed</h1>\n<p>{} sources. <a href=\"/sources.opml\">OPML</a>, <a href=\"/sources.txt\">pages as \
         text</a>, <a href=\"/_truth\">truth</a>, <a href=\"/_log\">log</a></p>\n<ul>\n{rows}</ul>\n</body>\n</html>\n",
        sources.len()
    )
}

/// Every feed, as feed readers import them.
pub(crate) fn opml(sources: &[String], host: &str) -> String {
    let mut outlines = String::new();
    for source in sources {
        let _ = writeln!(
            outlines,
            "<outline type=\"rss\" text=\"{}\" xmlUrl=\"{}\" htmlUrl=\"{}\"/>",
            escaped(&heading(source)),
            escaped(&absolute(host, Kind::Feed, source)),
            escaped(&absolute(host, Kind::Page, source)),
        );
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<opml version=\"2.0\">\n<head><title>Test bed</title></head>\n\
         <body>\n{outlines}</body>\n</opml>\n"
    )
}

/// Every source's address, one per line.
pub(crate) fn list(sources: &[String], kind: Kind, host: &str) -> String {
    let mut lines = String::new();
    for source in sources {
        lines.push_str(&absolute(host, kind, source));
        lines.push('\n');
    }
    lines
}

/// Everything is allowed, at a pace.
pub(crate) fn robots(crawl_delay: Option<u32>) -> String {
    let delay = crawl_delay.map_or_else(String::new, |seconds| format!("Crawl-delay: {seconds}\n"));
    format!("User-agent: *\nAllow: /\n{delay}")
}
