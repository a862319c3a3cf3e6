//! A web site as a function of time: a request and an instant in, a response out. No socket, no clock.
//!
//! Invariant: the version served at an instant is the number of updates that have happened by then, unless a fault
//! says otherwise; the response says which version it shows.

mod conditional;
mod control;
mod faulty;
mod gzip;

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_core::{SourceIdx, Time};

use crate::address::{Address, Kind, Route};
use crate::content::{self, Content, Edition, Family};
use crate::timeline::Timeline;
use crate::{Error, Fault, Plan, render, truth};

pub(crate) use conditional::http_date;

/// What is asked, and under which conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// Path and query.
    pub target: &'a str,
    /// Name and port by which the client knows the site; absolute addresses are made with it.
    pub host: &'a str,
    /// The header `If-None-Match`.
    pub if_none_match: Option<&'a str>,
    /// The header `If-Modified-Since`.
    pub if_modified_since: Option<&'a str>,
    /// How many requests for this source in this form came before: what differs on every fetch differs by this.
    pub visit: u64,
}

impl<'a> Request<'a> {
    /// An unconditional first request.
    pub const fn get(target: &'a str) -> Self {
        Self { target, host: "testbed.test", if_none_match: None, if_modified_since: None, visit: 0 }
    }

    /// Whether it asks only for what has changed.
    pub const fn is_conditional(&self) -> bool {
        self.if_none_match.is_some() || self.if_modified_since.is_some()
    }
}

/// What comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteResponse {
    /// The HTTP status.
    pub status: u16,
    /// Names in lower case, with their values. The length of the body is not among them.
    pub headers: Vec<(&'static str, String)>,
    /// The body, as sent.
    pub body: Vec<u8>,
    /// How it goes over the wire.
    pub delivery: Delivery,
    /// What it shows, if it is about a source.
    pub served: Option<ServedVersion>,
    /// The fault that made it what it is.
    pub fault: Option<Fault>,
}

/// How a response goes over the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// As it should.
    Plain,
    /// After a pause.
    Late(Duration),
    /// Byte by byte, with this pause between bytes of the body.
    Drip(Duration),
    /// Not at all, while the connection stays open.
    Never,
    /// Half of the body, although all of it was announced; then the connection is closed.
    Truncated,
    /// All of the body, although half of it was announced; then the connection is closed.
    Surplus,
    /// A reset connection instead of a response.
    Reset,
    /// Bytes that are not HTTP instead of a response.
    Garbage,
    /// Followed by so many more bytes of text.
    Padded(u64),
}

/// Which state of a source a response is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServedVersion {
    /// The source.
    pub source: SourceIdx,
    /// The version: 0 before the first update.
    pub version: u64,
}

impl SiteResponse {
    pub(crate) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type", content_type.to_owned())];
        Self { status, headers, body: body.into(), delivery: Delivery::Plain, served: None, fault: None }
    }

    pub(crate) fn text(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body)
    }

    pub(crate) fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "application/json", body)
    }

    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
    }
}

/// One change of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// When it happened.
    pub at: Time,
    /// When it happened in the trace; repetitions go on where the trace ended.
    pub trace_second: i64,
    /// The version it made, from 1.
    pub version: u64,
}

/// A fault in force.
#[derive(Debug, Clone)]
struct ActiveFault {
    fault: Fault,
    until: Option<Time>,
}

/// The whole site.
#[derive(Debug, Clone)]
pub struct Site {
    sources: Vec<String>,
    by_id: BTreeMap<String, SourceIdx>,
    families: Vec<Family>,
    timeline: Timeline,
    seed: u64,
    items: usize,
    filler: String,
    crawl_delay: Option<u32>,
    active_faults: BTreeMap<SourceIdx, ActiveFault>,
}

impl Site {
    /// The site that starts at `started`.
    pub fn new(plan: Plan, started: Time) -> Result<Self, Error> {
        plan.check()?;
        let Plan { trace, families, seed, speed, from, repeat, items, filler, crawl_delay, faults } = plan;
        let sources = trace.sources;
        let by_id: BTreeMap<String, SourceIdx> = sources.iter().cloned().zip((0..).map(SourceIdx)).collect();
        if by_id.len() != sources.len() {
            return Err(Error::MalformedTrace { what: "a source is named twice".to_owned() });
        }
        let mut site = Self {
            families: sources.iter().map(|id| families.get(id).copied().unwrap_or_default()).collect(),
            by_id,
            timeline: Timeline::new(trace.times, repeat, speed, started, from)?,
            seed,
            items,
            filler: content::filler(filler),
            crawl_delay,
            active_faults: BTreeMap::new(),
            sources,
        };
        for ailing in faults {
            site.set_fault(&ailing.source, Some(ailing.fault), None)?;
        }
        Ok(site)
    }

    /// Every source, in the order of the trace.
    pub fn sources(&self) -> &[String] {
        &self.sources
    }

    /// The source with this id.
    pub fn source(&self, id: &str) -> Result<SourceIdx, Error> {
        self.by_id
            .get(id)
            .copied()
            .ok_or_else(|| Error::UnknownSource { source_id: id.to_owned(), sources: self.sources.len() })
    }

    /// The source that a request is about, and the form in which it is asked for.
    pub fn source_at(&self, target: &str) -> Option<(SourceIdx, Kind)> {
        match Address::parse(target).route() {
            Route::Source { id, kind, .. } => self.source(&id).ok().map(|source| (source, kind)),
            _ => None,
        }
    }

    /// How many updates of the source have happened by `now`.
    pub fn version(&self, source: SourceIdx, now: Time) -> u64 {
        self.timeline.version(source, now)
    }

    /// The changes of a source that have happened by `now`, after `after`; oldest first.
    pub fn changes(
        &self,
        source: SourceIdx,
        after: Option<Time>,
        now: Time,
    ) -> impl DoubleEndedIterator<Item = Change> {
        let seen = after.map_or(0, |after| self.version(source, after));
        (seen..self.version(source, now)).map(move |before| {
            let moment = self.timeline.change(source, before + 1);
            Change { at: moment.at, trace_second: moment.trace_second, version: before + 1 }
        })
    }

    /// Puts a fault on a source until then, or without end; `None` removes it.
    pub fn set_fault(&mut self, id: &str, fault: Option<Fault>, until: Option<Time>) -> Result<(), Error> {
        let source = self.source(id)?;
        match fault {
            Some(fault) => self.active_faults.insert(source, ActiveFault { fault, until }),
            None => self.active_faults.remove(&source),
        };
        Ok(())
    }

    /// What the site answers at `now`.
    pub fn respond(&self, request: &Request<'_>, now: Time) -> SiteResponse {
        let address = Address::parse(request.target);
        match address.route() {
            Route::Index => SiteResponse::new(200, "text/html; charset=utf-8", render::index(&self.sources)),
            Route::Opml => SiteResponse::new(200, "text/x-opml", render::opml(&self.sources, request.host)),
            Route::List(kind) => SiteResponse::text(200, render::list(&self.sources, kind, request.host)),
            Route::Robots => SiteResponse::text(200, render::robots(self.crawl_delay)),
            Route::Truth => truth::json(self, &address, now),
            Route::TruthCsv => truth::csv(self, &address, now),
            Route::Source { id, kind, fault } => {
                let asked = match (self.source(&id), fault.map(|fault| fault.parse()).transpose()) {
                    (Ok(source), Ok(fault)) => Asked { source, kind, request, address, now, fault },
                    (Err(error), _) | (_, Err(error)) => {
                        return SiteResponse::text(404, format!("{error}\n"));
                    }
                };
                let fault = asked.fault.clone().or_else(|| self.fault(asked.source, now).cloned());
                self.answer_with(&asked, fault.as_ref())
            }
            Route::Nothing => SiteResponse::text(404, "no such page; GET / lists what there is\n"),
        }
    }

    /// The fault of a source that is in force.
    fn fault(&self, source: SourceIdx, now: Time) -> Option<&Fault> {
        let active_fault = self.active_faults.get(&source)?;
        active_fault.until.is_none_or(|until| now < until).then_some(&active_fault.fault)
    }

    pub(crate) const fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// One version of a source.
    fn edition(&self, source: SourceIdx, version: u64) -> (Content, Time) {
        let id = &self.sources[source.index()];
        if version == 0 {
            return (content::before_the_first(id), self.timeline.started());
        }
        let moment = self.timeline.change(source, version);
        let edition =
            Edition { seed: self.seed, source: id, number: version, trace_second: moment.trace_second };
        (content::content(self.families[source.index()], edition), moment.at)
    }

    /// A version of a source in the form asked for, and when it appeared. `noise` is what differs every time.
    fn render(&self, asked: &Asked<'_>, version: u64, noise: Option<&str>) -> (String, Time) {
        let source = &self.sources[asked.source.index()];
        let (content, at) = self.edition(asked.source, version);
        let view = render::View { source, host: asked.request.host, version, content: &content, at, noise };
        let text = match asked.kind {
            Kind::Page => render::page(&view, &self.filler),
            Kind::Api => render::api(&view),
            Kind::Feed => {
                let oldest = version.saturating_sub(self.items as u64);
                let items = (oldest..version).rev().map(|before| {
                    let (content, at) = self.edition(asked.source, before + 1);
                    render::Item { number: before + 1, content, at }
                });
                render::feed(&view, items)
            }
        };
        (text, at)
    }
}

/// A request for a source, taken apart.
#[derive(Debug)]
struct Asked<'a> {
    source: SourceIdx,
    kind: Kind,
    request: &'a Request<'a>,
    address: Address<'a>,
    now: Time,
    /// From the address itself.
    fault: Option<Fault>,
}
