//! What really changed when, for scoring a monitor: `/_truth` as JSON, `/_truth.csv` as a trace.

use dunlin_core::Time;
use dunlin_lab::files::TraceFile;
use serde::Serialize;

use crate::Error;
use crate::address::Address;
use crate::render::unix_seconds;
use crate::site::{Change, Site, SiteResponse};

/// How many changes one response has, apart from those of the very instant at which they become too many;
/// `after` gets the others.
const CHANGES_LIMIT: usize = 100_000;

#[derive(Serialize)]
struct Truth<'a> {
    speed: f64,
    /// Real time at which the site started, and where in the trace.
    started: f64,
    started_trace_time: i64,
    now: f64,
    now_trace_time: f64,
    /// Whether there is more; the changes of every source up to `complete_until` are all here.
    truncated: bool,
    complete_until: f64,
    sources: Vec<SourceTruth<'a>>,
}

#[derive(Serialize)]
struct SourceTruth<'a> {
    id: &'a str,
    changes: Vec<ChangeRecord>,
}

#[derive(Serialize)]
struct ChangeRecord {
    at: f64,
    trace_time: i64,
    version: u64,
}

/// What has happened by `now`, after `?after=` (Unix seconds), of `?source=` or of all.
pub(crate) fn json(site: &Site, address: &Address<'_>, now: Time) -> SiteResponse {
    let selection = match ChangeSelection::gather(site, address, now) {
        Ok(selection) => selection,
        Err(error) => return refused(&error),
    };
    let timeline = site.timeline();
    let sources = selection
        .by_source
        .iter()
        .map(|(id, changes)| SourceTruth { id, changes: changes.iter().map(change_record).collect() });
    let truth = Truth {
        speed: timeline.speed().get(),
        started: unix_seconds(timeline.started()),
        started_trace_time: timeline.from(),
        now: unix_seconds(now),
        now_trace_time: timeline.trace_now(now),
        truncated: selection.until < now,
        complete_until: unix_seconds(selection.until),
        sources: sources.collect(),
    };
    SiteResponse::json(serde_json::to_vec(&truth).expect("text and numbers always become JSON"))
}

/// The same as a trace file, in the trace's own seconds.
pub(crate) fn csv(site: &Site, address: &Address<'_>, now: Time) -> SiteResponse {
    let selection = match ChangeSelection::gather(site, address, now) {
        Ok(selection) => selection,
        Err(error) => return refused(&error),
    };
    let trace_seconds =
        |changes: Vec<Change>| changes.into_iter().map(|change| change.trace_second).collect();
    let (sources, times) =
        selection.by_source.into_iter().map(|(id, changes)| (id.to_owned(), trace_seconds(changes))).unzip();
    let trace = TraceFile { sources, times, warnings: Vec::new() };
    let mut body = Vec::new();
    trace.write(&mut body).expect("writing to memory does not fail");
    SiteResponse::new(200, "text/csv; charset=utf-8", body)
}

/// The changes that a request asks for.
struct ChangeSelection<'a> {
    by_source: Vec<(&'a str, Vec<Change>)>,
    until: Time,
}

impl<'a> ChangeSelection<'a> {
    fn gather(site: &'a Site, address: &Address<'_>, now: Time) -> Result<Self, Error> {
        let after = address.parameter("after").map(|text| instant(&text)).transpose()?;
        let only = address.parameter("source").map(|id| site.source(&id)).transpose()?;
        let sources = site.sources().iter().zip((0..).map(dunlin_core::SourceIdx));
        let wanted: Vec<_> = sources.filter(|(_, idx)| only.is_none_or(|only| only == *idx)).collect();
        let count_until = |until| -> u64 {
            let seen = |idx| after.map_or(0, |after| site.version(idx, after));
            wanted.iter().map(|&(_, idx)| site.version(idx, until).saturating_sub(seen(idx))).sum()
        };
        // The first instant at which they are enough, all of it: the next request goes on from there.
        let mut until = now;
        if count_until(now) > CHANGES_LIMIT as u64 {
            let (mut too_few, mut enough) =
                (after.unwrap_or(Time::from_micros(i64::MIN)).micros(), now.micros());
            while too_few.saturating_add(1) < enough {
                let middle = too_few.midpoint(enough);
                if count_until(Time::from_micros(middle)) < CHANGES_LIMIT as u64 {
                    too_few = middle;
                } else {
                    enough = middle;
                }
            }
            until = Time::from_micros(enough);
        }
        let by_source =
            wanted.into_iter().map(|(id, idx)| (id.as_str(), site.changes(idx, after, until).collect()));
        Ok(Self { by_source: by_source.collect(), until })
    }
}

fn change_record(change: &Change) -> ChangeRecord {
    ChangeRecord { at: unix_seconds(change.at), trace_time: change.trace_second, version: change.version }
}

fn refused(error: &Error) -> SiteResponse {
    SiteResponse::text(400, format!("{error}\n"))
}

fn instant(text: &str) -> Result<Time, Error> {
    let seconds = text.parse::<f64>().ok().filter(|seconds| seconds.abs() < 1e12);
    let micros = seconds.map(|seconds| (seconds * 1_000_000.0).round() as i64);
    micros.map(Time::from_micros).ok_or_else(|| Error::BadSetting {
        setting: "after",
        value: text.to_owned(),
        expected: "seconds since 1970, such as 1700000000.25".to_owned(),
    })
}
