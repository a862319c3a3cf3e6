//! The made-up web of a day: what each address shows from when on, word by word, and a log of what it was asked.

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::simulated::{Answered, World};
use dunlin_net::{CrossSiteRedirect, Error, Fetched, Hop, Request, ResolveError};
use http::StatusCode;
use url::Url;

use crate::web::{at, fetched, rfc822};

/// What an address shows.
#[derive(Debug, Clone)]
pub(super) enum Shown {
    /// A document, which is recognised by its `ETag`.
    Text(String),
    /// The same, with further headers and without an `ETag`.
    With(Vec<(&'static str, String)>, String),
    /// A document that is another one in every answer.
    Moving(fn(Time, usize) -> String),
    Status(u16),
    /// An error, and for how many seconds to wait.
    Wait(u16, u64),
    To(u16, &'static str),
    NoSuchHost,
    NoNetwork,
    NotConnected,
    /// An answer that ends too early.
    Broken,
    /// The kept connection is closed before the answer.
    Stale,
}

/// What each address shows, from when on.
#[derive(Debug, Default)]
pub(super) struct Town {
    shown: BTreeMap<String, Vec<(i64, Shown)>>,
    /// Addresses that take an hour to read.
    pub(super) slow: Vec<&'static str>,
    /// When it was asked what, and what it answered.
    pub(super) log: Vec<(Time, String, String)>,
    n_answers: BTreeMap<String, usize>,
}

impl Town {
    /// An address, and what it shows from which second on.
    pub(super) fn at(mut self, url: &str, shown: Vec<(i64, Shown)>) -> Self {
        self.shown.insert(url.to_owned(), shown);
        self
    }

    /// A page of paragraphs, other ones from each of these seconds on.
    pub(super) fn page(self, url: &str, states: &[(i64, &[&str])]) -> Self {
        let states = states.iter().map(|(from, lines)| (*from, Shown::Text(html(lines)))).collect();
        self.at(url, states)
    }

    /// A feed with so many entries, and a new one at each of these seconds: its title and its text.
    pub(super) fn feed(self, url: &str, most: usize, entries: &[(i64, &str, &str)]) -> Self {
        let states =
            (1..=entries.len()).map(|n| (entries[n - 1].0, Shown::Text(rss(url, most, &entries[..n]))));
        let states = states.collect();
        self.at(url, states)
    }

    /// The robots.txt of a host from these seconds on.
    pub(super) fn robots(self, host: &str, states: &[(i64, u16, &str)]) -> Self {
        let shown = |(from, status, text): &(i64, u16, &str)| {
            let is_there = *status == 200;
            (*from, if is_there { Shown::Text((*text).to_owned()) } else { Shown::Status(*status) })
        };
        self.at(&format!("http://{host}/robots.txt"), states.iter().map(shown).collect())
    }

    fn state(&self, url: &str, now: Time) -> Option<(usize, Shown)> {
        let states = self.shown.get(url)?;
        let n = states.iter().filter(|(from, _)| at(*from) <= now).count();
        Some((n, states.get(n.checked_sub(1)?)?.1.clone()))
    }

    fn respond(&mut self, request: &Request, now: Time) -> Result<Fetched, Error> {
        let (url, mut hops) = request.beginning();
        let mut url = Url::clone(&url);
        loop {
            let host = url.host_str().unwrap().to_owned();
            let Some((n, shown)) = self.state(url.as_str(), now) else {
                return Ok(fetched(404, &[], String::new(), &url, hops));
            };
            let n_answers = self.n_answers.entry(url.to_string()).or_default();
            *n_answers += 1;
            let n_answers = *n_answers;
            let target = match shown {
                Shown::To(status, target) => {
                    let status = StatusCode::from_u16(status).unwrap();
                    hops.push(Hop { status, from: url.clone() });
                    target.parse::<Url>().unwrap()
                }
                Shown::Text(text) => {
                    let etag = format!("\"{n}\"");
                    if request.validators().etag.as_deref() == Some(&etag) {
                        return Ok(fetched(304, &[("etag", &etag)], String::new(), &url, hops));
                    }
                    let own = [("etag", etag.as_str()), ("content-type", media_type(&text))];
                    return Ok(fetched(200, &own, text, &url, hops));
                }
                Shown::With(headers, text) => {
                    let mut all: Vec<(&str, &str)> =
                        headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
                    if !all.iter().any(|(name, _)| *name == "content-type") {
                        all.push(("content-type", media_type(&text)));
                    }
                    return Ok(fetched(200, &all, text.clone(), &url, hops));
                }
                Shown::Moving(text) => {
                    let text = text(now, n_answers);
                    return Ok(fetched(200, &[("content-type", media_type(&text))], text, &url, hops));
                }
                Shown::Status(status) => {
                    return Ok(fetched(status, &[], "something went wrong".to_owned(), &url, hops));
                }
                Shown::Wait(status, seconds) => {
                    let seconds = seconds.to_string();
                    return Ok(fetched(status, &[("retry-after", &seconds)], String::new(), &url, hops));
                }
                Shown::NoSuchHost => return Err(Error::Resolve { host, reason: ResolveError::NoSuchHost }),
                Shown::NoNetwork => return Err(Error::Resolve { host, reason: ResolveError::Unreachable }),
                Shown::NotConnected => {
                    return Err(Error::Connect {
                        host,
                        reason: std::io::ErrorKind::ConnectionRefused.into(),
                    });
                }
                Shown::Broken => return Err(Error::Truncated { host, received: 10, expected: Some(100) }),
                Shown::Stale => return Err(Error::Stale { host }),
            };
            if !request.may_follow(&url, &target) {
                let redirect = Box::new(CrossSiteRedirect::new(hops, target));
                return Err(Error::CrossSiteRedirect { redirect });
            }
            url = target;
        }
    }
}

impl World for Town {
    fn answer(&mut self, request: &Request, now: Time) -> Answered {
        let url = request.beginning().0.to_string();
        let result = self.respond(request, now);
        let said = match &result {
            Ok(fetched) => fetched.status.as_u16().to_string(),
            Err(Error::CrossSiteRedirect { redirect }) => format!("leads to {}", redirect.url()),
            Err(error) => error.to_string(),
        };
        // Every host takes its own time.
        let host = request.beginning().0.host_str().unwrap().bytes().map(u64::from).sum::<u64>();
        let latency = Duration::from_millis(100 + 100 * (host % 20));
        self.log.push((now, url, said));
        Answered { latency, result }
    }

    fn time_to_read(&mut self, url: &Url, _: Time) -> Duration {
        if self.slow.contains(&url.as_str()) { Duration::from_hours(1) } else { Duration::from_millis(1) }
    }
}

fn media_type(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'{' | b'[') => "application/json",
        _ if text.starts_with("<rss") => "application/rss+xml",
        Some(b'<') => "text/html",
        _ => "text/plain",
    }
}

/// A page with a heading and these paragraphs.
pub(super) fn html(lines: &[&str]) -> String {
    let lines = lines.join("</p><p>");
    format!("<html><head><title>Town</title></head><body><h1>The page</h1><p>{lines}</p></body></html>")
}

/// A feed of the last of these entries, the newest first.
pub(super) fn rss(url: &str, most: usize, entries: &[(i64, &str, &str)]) -> String {
    let item = |(seconds, title, text): &(i64, &str, &str)| {
        let (date, guid) = (rfc822(at(*seconds)), format!("{url}#{seconds}"));
        format!(
            "<item><guid>{guid}</guid><link>{guid}</link><title>{title}</title><author>ann@town.test (Ann)</author>\
             <pubDate>{date}</pubDate><description>{text}</description></item>"
        )
    };
    let items: String = entries.iter().rev().take(most).map(item).collect();
    format!("<rss version='2.0'><channel><title>Feed</title>{items}</channel></rss>")
}
