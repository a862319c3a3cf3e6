//! The page of a source: its latest state, among things that never change.

use std::fmt::Write as _;

use super::{View, escaped, heading};
use crate::address::Kind;
use crate::site::http_date;

/// What every page of every site has around what matters.
const NAVIGATION: &str = r#"<nav><ul>
<li><a href="/">All sources</a></li>
<li><a href="/sources.opml">Subscriptions</a></li>
<li><a href="/robots.txt">For robots</a></li>
</ul></nav>"#;
const FOOTER: &str = "<footer><p>Served by a test bed. Nothing here is true.</p>\
    <p><a href=\"#top\">Back to top</a></p></footer>";

/// The latest state as HTML, with `filler` below it.
pub(crate) fn page(view: &View<'_>, filler: &str) -> String {
    let View { version, content, .. } = view;
    let (name, title) = (escaped(&heading(view.source)), escaped(&content.title));
    let (feed, api) = (Kind::Feed.path(view.source), Kind::Api.path(view.source));
    let mut facts = String::new();
    for (name, value) in &content.facts {
        let _ = writeln!(facts, "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
    }
    let noise = view.noise.map_or_else(String::new, |noise| {
        format!("<aside class=\"visitors\"><p>{}</p></aside>\n", escaped(noise))
    });
    format!(
        r#"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} | {name}</title>
<link rel="alternate" type="application/rss+xml" title="{name}" href="{feed}">
<link rel="alternate" type="application/json" href="{api}">
</head>
<body id="top">
<header><p>{name}</p></header>
{NAVIGATION}
<main>
<article id="state" data-version="{version}">
<h1>{title}</h1>
<p class="summary">{summary}</p>
<dl class="facts">
{facts}</dl>
<p class="version">Version <b>{version}</b>, <time>{at}</time></p>
</article>
<section class="about">
{filler}</section>
</main>
{noise}{FOOTER}
</body>
</html>
"#,
        summary = escaped(&content.summary),
        at = http_date(view.at),
    )
}
