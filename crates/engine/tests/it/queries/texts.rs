//! A simulated web of which a test says word by word what it shows from when on.

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::simulated::{Answered, World};
use dunlin_net::{Error, Fetched, Request};
use url::Url;

use crate::web::{at, fetched, rfc822};

/// What each address shows, from when on.
#[derive(Debug)]
pub(super) struct Texts {
    shown: BTreeMap<String, Vec<(Time, String)>>,
    /// How long each answer takes.
    pub(super) latency: Duration,
    /// Addresses that answer with an error from then on.
    pub(super) broken: BTreeMap<String, Time>,
    /// When each address was asked for.
    pub(super) log: Vec<(Time, String, u16)>,
}

impl Default for Texts {
    fn default() -> Self {
        let latency = Duration::from_millis(200);
        Self { shown: BTreeMap::new(), latency, broken: BTreeMap::new(), log: Vec::new() }
    }
}

impl Texts {
    /// A feed with one entry at the start, and another at each of these times.
    pub(super) fn feed(self, url: &str, posts: &[(i64, &str)]) -> Self {
        let first = (-86_400, "First", "");
        let posts = posts.iter().map(|(seconds, title)| (*seconds, *title, ""));
        self.articles(url, &std::iter::once(first).chain(posts).collect::<Vec<_>>())
    }

    /// A feed with an entry at each of these times: its title and its text.
    pub(super) fn articles(mut self, url: &str, articles: &[(i64, &str, &str)]) -> Self {
        let mut items = String::new();
        let states = articles.iter().map(|(seconds, title, text)| {
            let (date, guid) = (rfc822(at(*seconds)), format!("{url}#{seconds}"));
            items = format!(
                "<item><guid>{guid}</guid><link>{guid}</link><title>{title}</title><pubDate>{date}</pubDate>
                 <description>{text}</description></item>{items}"
            );
            let feed = format!("<rss version='2.0'><channel><title>F</title>{items}</channel></rss>");
            (at(*seconds), feed)
        });
        self.shown.insert(url.to_owned(), states.collect());
        self
    }

    /// A page with a value in the class `last`, another one at each of these times.
    pub(super) fn page(mut self, url: &str, values: &[(i64, &str)]) -> Self {
        let html = |value: &str| {
            format!(
                "<html><body><h1>Rates</h1><p>A page about rates, written by hand.</p><b class='last'>{value}</b></body></html>"
            )
        };
        self.shown
            .insert(url.to_owned(), values.iter().map(|(from, value)| (at(*from), html(value))).collect());
        self
    }

    /// A document as it is, another one at each of these times.
    pub(super) fn raw(mut self, url: &str, texts: &[(i64, &str)]) -> Self {
        let texts = texts.iter().map(|(from, text)| (at(*from), (*text).to_owned()));
        self.shown.insert(url.to_owned(), texts.collect());
        self
    }

    /// When this address was asked for.
    pub(super) fn asked(&self, url: &str) -> Vec<Time> {
        self.log.iter().filter(|(_, asked, _)| asked == url).map(|(at, ..)| *at).collect()
    }

    fn respond(&self, request: &Request, url: &Url, now: Time) -> Fetched {
        if self.broken.get(url.as_str()).is_some_and(|from| *from <= now) {
            return fetched(500, &[], "broken".to_owned(), url, Vec::new());
        }
        let states = self.shown.get(url.as_str()).map_or(&[][..], Vec::as_slice);
        let n_shown = states.iter().filter(|(from, _)| *from <= now).count();
        let Some((_, body)) = states.get(n_shown.wrapping_sub(1)) else {
            return fetched(404, &[], String::new(), url, Vec::new());
        };
        let etag = format!("\"{n_shown}\"");
        if request.validators().etag.as_deref() == Some(&etag) {
            return fetched(304, &[("etag", &etag)], String::new(), url, Vec::new());
        }
        let media_type = match body.as_bytes().first() {
            Some(b'{' | b'[') => "application/json",
            _ if body.starts_with("<rss") => "application/rss+xml",
            _ => "text/html",
        };
        fetched(200, &[("etag", &etag), ("content-type", media_type)], body.clone(), url, Vec::new())
    }
}

impl World for Texts {
    fn answer(&mut self, request: &Request, now: Time) -> Answered {
        let url = request.beginning().0;
        let fetched = self.respond(request, &url, now);
        self.log.push((now, url.to_string(), fetched.status.as_u16()));
        let result: Result<Fetched, Error> = Ok(fetched);
        Answered { latency: self.latency, result }
    }
}
