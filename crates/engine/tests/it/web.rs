//! A simulated web: pages and feeds that change at given times, faults, and a log of every request.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use dunlin_core::Time;
use dunlin_engine::simulated::{Answered, World};
use dunlin_net::{CrossSiteRedirect, Error, Fetched, Hop, Request, ResolveError};
use http::{Response, StatusCode};
use url::Url;

/// The beginning of every run.
pub(crate) const START: i64 = 1_800_000_000;

pub(crate) fn at(seconds: i64) -> Time {
    Time::from_seconds(START + seconds)
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Page,
    /// A page with a few words that are others in every answer.
    Flickering,
    /// The last so many entries.
    Feed(usize),
}

#[derive(Debug, Clone)]
pub(crate) enum Fault {
    Status(u16),
    RetryAfter(u16, u64),
    NoSuchHost,
    NoNetwork,
    ConnectionRefused,
    Truncated,
    Moved,
    /// It answers, but with another page that says to wait.
    Notice,
    /// It has other markup and no heading; with this `ETag`, if any.
    Redesigned(Option<&'static str>),
    /// For now it is elsewhere.
    SeeOther(&'static str),
}

#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) kind: Kind,
    /// When it changes, in order.
    pub(crate) changes: Vec<Time>,
    /// What is wrong with it, from when to when.
    pub(crate) faults: Vec<(Time, Time, Fault)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Logged {
    pub(crate) at: Time,
    /// When the answer was complete.
    pub(crate) until: Time,
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) status: u16,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Web {
    pub(crate) sites: BTreeMap<String, Site>,
    /// What each host answers for robots.txt.
    pub(crate) robots: BTreeMap<String, (u16, String)>,
    /// Pages that take an hour to read, from when to when.
    pub(crate) slow: BTreeMap<String, (Time, Time)>,
    /// No server listens at these ports of any host.
    pub(crate) dead_ports: Vec<u16>,
    pub(crate) log: Vec<Logged>,
}

impl Web {
    pub(crate) fn put(&mut self, url: &str, kind: Kind, changes: &[i64]) {
        let changes = changes.iter().map(|seconds| at(*seconds)).collect();
        self.sites.insert(url.to_owned(), Site { kind, changes, faults: Vec::new() });
    }

    pub(crate) fn fail(&mut self, url: &str, from: i64, until: i64, fault: Fault) {
        self.sites.get_mut(url).unwrap().faults.push((at(from), at(until), fault));
    }

    /// Requests that are not for robots.txt.
    pub(crate) fn probes(&self) -> impl Iterator<Item = &Logged> {
        self.log.iter().filter(|logged| logged.path != "/robots.txt")
    }

    pub(crate) fn probes_of(&self, path: &str) -> Vec<Time> {
        self.probes().filter(|logged| logged.path == path).map(|logged| logged.at).collect()
    }

    fn respond(&self, request: &Request, now: Time) -> Result<Fetched, Error> {
        let (url, mut hops) = request.beginning();
        let url = &*url;
        let host = url.host_str().unwrap();
        if url.port().is_some_and(|port| self.dead_ports.contains(&port)) {
            let reason = std::io::ErrorKind::ConnectionRefused.into();
            return Err(Error::Connect { host: host.to_owned(), reason });
        }
        if url.path() == "/robots.txt" {
            let (status, body) = self.robots.get(host).cloned().unwrap_or((404, String::new()));
            return Ok(fetched(status, &[], body, url, Vec::new()));
        }
        let Some(site) = self.sites.get(url.as_str()) else {
            return Ok(fetched(404, &[], String::new(), url, hops));
        };
        let fault = site.faults.iter().find(|(from, until, _)| *from <= now && now < *until);
        if let Some((_, _, fault)) = fault {
            let host = host.to_owned();
            match fault {
                Fault::Status(status) => {
                    return Ok(fetched(*status, &[], "broken".to_owned(), url, hops));
                }
                Fault::RetryAfter(status, seconds) => {
                    let seconds = seconds.to_string();
                    return Ok(fetched(*status, &[("retry-after", &seconds)], String::new(), url, hops));
                }
                Fault::NoSuchHost => {
                    return Err(Error::Resolve { host, reason: ResolveError::NoSuchHost });
                }
                Fault::NoNetwork => {
                    return Err(Error::Resolve { host, reason: ResolveError::Unreachable });
                }
                Fault::ConnectionRefused => {
                    let reason = std::io::ErrorKind::ConnectionRefused.into();
                    return Err(Error::Connect { host, reason });
                }
                Fault::Truncated => {
                    return Err(Error::Truncated { host, received: 10, expected: Some(100) });
                }
                Fault::Moved => {
                    hops.push(Hop { status: StatusCode::MOVED_PERMANENTLY, from: url.clone() });
                }
                Fault::Notice => {
                    let body = "<html><body><h1>Down for maintenance</h1><p>Back soon.</p></body></html>";
                    let headers = [("content-type", "text/html")];
                    return Ok(fetched(200, &headers, body.to_owned(), url, hops));
                }
                Fault::Redesigned(etag) => {
                    if etag.is_some() && request.validators().etag.as_deref() == *etag {
                        return Ok(fetched(304, &[], String::new(), url, hops));
                    }
                    let body = "<html><body><div>A page</div><p>Nothing that was here is.</p></body></html>";
                    let headers = [("content-type", "text/html"), ("etag", etag.unwrap_or_default())];
                    let headers = if etag.is_some() { &headers[..] } else { &headers[..1] };
                    return Ok(fetched(200, headers, body.to_owned(), url, hops));
                }
                Fault::SeeOther(target) => {
                    hops.push(Hop { status: StatusCode::SEE_OTHER, from: url.clone() });
                    let target = target.parse().unwrap();
                    if !request.may_follow(url, &target) {
                        let redirect = Box::new(CrossSiteRedirect::new(hops, target));
                        return Err(Error::CrossSiteRedirect { redirect });
                    }
                    return Ok(fetched(200, &[], page(0, None), &target, hops));
                }
            }
        }
        let version = site.changes.iter().filter(|change| **change <= now).count();
        let etag = format!("\"{version}\"");
        if site.kind != Kind::Flickering && request.validators().etag.as_deref() == Some(&etag) {
            return Ok(fetched(304, &[("etag", &etag)], String::new(), url, hops));
        }
        let n_answers = self.log.len();
        let (body, media_type) = match site.kind {
            Kind::Page => (page(version, None), "text/html"),
            Kind::Flickering => (page(version, Some(n_answers)), "text/html"),
            Kind::Feed(length) => (feed(url, &site.changes[..version], length), "application/rss+xml"),
        };
        let headers = [("etag", etag.as_str()), ("content-type", media_type)];
        let headers = if site.kind == Kind::Flickering { &headers[1..] } else { &headers[..] };
        Ok(fetched(200, headers, body, url, hops))
    }
}

impl World for Web {
    fn answer(&mut self, request: &Request, now: Time) -> Answered {
        let result = self.respond(request, now);
        // Every host takes its own time.
        let (asked, _) = request.beginning();
        let host = asked.host_str().unwrap();
        let latency = Duration::from_millis(50 + 37 * (host.bytes().map(u64::from).sum::<u64>() % 20));
        self.log.push(Logged {
            at: now,
            until: now.plus(latency),
            host: host.to_owned(),
            path: asked.path().to_owned(),
            status: result.as_ref().map_or(0, |fetched| fetched.status.as_u16()),
        });
        Answered { latency, result }
    }

    fn time_to_read(&mut self, url: &Url, now: Time) -> Duration {
        let is_slow = self.slow.get(url.as_str()).is_some_and(|(from, until)| (*from..*until).contains(&now));
        if is_slow { Duration::from_hours(1) } else { Duration::from_millis(1) }
    }
}

fn page(version: usize, counter: Option<usize>) -> String {
    // Words that mean nothing and are others in every answer.
    let word = |n: usize| ["tern", "gull", "knot", "ruff", "sand", "wave", "tide", "reef"][n % 8];
    let counter =
        counter.map_or_else(String::new, |n| format!("<p>{} {} {}</p>", word(n), word(n / 8), word(n / 64)));
    format!(
        "<html><body><h1>A page</h1><p>Something that stays.</p><p>This is edition {version} of it.</p>\
         {counter}<p>Written by hand.</p></body></html>"
    )
}

fn feed(url: &Url, changes: &[Time], length: usize) -> String {
    let mut items = String::new();
    // There is always an entry from long ago, so that a feed is never empty.
    let old = std::iter::once((0, Time::from_seconds(START - 40 * 86_400)));
    let entries: Vec<(usize, Time)> = old.chain((1..).zip(changes.iter().copied())).collect();
    for (number, time) in entries.iter().rev().take(length) {
        let date = rfc822(*time);
        write!(
            items,
            "<item><guid>{url}#{number}</guid><title>Entry {number}</title><description>Words of entry {number}\
             </description><pubDate>{date}</pubDate></item>"
        )
        .unwrap();
    }
    format!("<rss version='2.0'><channel><title>Feed</title>{items}</channel></rss>")
}

/// A date as feeds write it; only good enough for tests.
pub(crate) fn rfc822(time: Time) -> String {
    let (days, seconds) = (time.seconds().div_euclid(86_400), time.seconds().rem_euclid(86_400));
    // Days to civil date, by Howard Hinnant's well-known arithmetic.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let name = names[usize::try_from(month - 1).unwrap()];
    format!("{day:02} {name} {year} {:02}:{:02}:{:02} GMT", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

pub(crate) fn fetched(
    status: u16,
    headers: &[(&str, &str)],
    body: String,
    url: &Url,
    hops: Vec<Hop>,
) -> Fetched {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    Fetched::from_response(response.body(Bytes::from(body)).unwrap(), url.clone(), hops)
}

/// Times of changes at random, about one in `every` seconds, by a small generator of its own.
pub(crate) fn random_changes(seed: u64, every: f64, until: i64) -> Vec<i64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    for _ in 0..20 {
        next();
    }
    let mut times = Vec::new();
    let mut time = 0.0;
    loop {
        time += -every * (1.0 - next()).ln();
        if time >= until as f64 {
            return times;
        }
        times.push(time as i64 + 1);
    }
}
