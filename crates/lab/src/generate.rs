//! Synthetic traces and workloads for experiments, each a function of its parameters and a seed.
//!
//! A trace generator makes one kind of source: `poisson` (no pattern), `periodic` (a timetable), `daily`
//! (people's hours), `bursty` (one update makes others likely). Real sources are mixtures; traces can be joined.
//! `tracked` makes forecasts of pages and the changes that follow; `auctionwatch` makes the profiles of the papers' experiments over any changes.

mod auctionwatch;
mod bursty;
mod daily;
mod periodic;
mod poisson;
mod rate;
mod span;
mod tracked;
mod zipf;

pub use auctionwatch::{AuctionWatch, IntervalLength, PoissonUpdates};
pub use bursty::Bursty;
pub use daily::Daily;
pub use periodic::Periodic;
pub use poisson::Poisson;
pub use rate::Rate;
pub use span::Span;
pub use tracked::Tracked;

use crate::Error;

/// The most sources or profiles made at once.
const SOURCE_LIMIT: u32 = 10_000_000;

/// The most updates or intervals made at once, in expectation: as many as a file may have lines.
const EVENT_LIMIT: f64 = 50_000_000.0;

const SECONDS_PER_DAY: f64 = 86_400.0;

fn check_count(parameter: &'static str, count: u32) -> Result<(), Error> {
    if (1..=SOURCE_LIMIT).contains(&count) {
        return Ok(());
    }
    Err(Error::parameter(parameter, &count, format!("1 to {SOURCE_LIMIT}")))
}

fn check_number(parameter: &'static str, number: f64, least: f64, most: f64) -> Result<(), Error> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(Error::parameter(parameter, &number, format!("a number from {least} to {most}")))
}

fn check_events(expected: f64) -> Result<(), Error> {
    if expected <= EVENT_LIMIT {
        return Ok(());
    }
    Err(Error::parameter("expected number of events", &expected, format!("at most {EVENT_LIMIT}")))
}
