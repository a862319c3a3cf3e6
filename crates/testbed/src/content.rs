//! The content of a source at each version: generated from word lists, so that pages and feeds look real.
//!
//! A function of seed, source and version: nothing is stored, and any version can be made at any time. A family
//! decides the kind of content; sources without one count their updates.

mod auction;
mod bulletin;
mod news;
mod ticker;
mod words;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub(crate) use auction::BIDS_PER_LOT;
pub(crate) use ticker::EVENTS_PER_MATCH;
pub(crate) use words::{capitalised, filler};

/// How a source speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Family {
    /// Lots under the hammer, a bid per version.
    Auction,
    /// A headline per version.
    News,
    /// A report of wind and water per version, with the time of day.
    Bulletin,
    /// A match, an event per version.
    Match,
    /// "Update 17 of SOURCE".
    #[default]
    Plain,
}

/// One version of a source, before it is a page or a feed item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) title: String,
    pub(crate) summary: String,
    pub(crate) facts: Vec<(&'static str, String)>,
}

/// Which version of which source.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edition<'a> {
    pub(crate) seed: u64,
    pub(crate) source: &'a str,
    /// Counted from 1.
    pub(crate) number: u64,
    /// When it appeared, in the trace's own time.
    pub(crate) trace_second: i64,
}

impl Edition<'_> {
    /// Random numbers for this source and the `part` of its story, whatever else is asked.
    fn numbers(&self, part: u64) -> ChaCha8Rng {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in self.source.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        let mut numbers = ChaCha8Rng::seed_from_u64(self.seed ^ hash);
        numbers.set_stream(part);
        numbers
    }

    /// The trace's time of day, as hours and minutes.
    fn time_of_day(&self) -> (i64, i64) {
        let minute = self.trace_second.rem_euclid(86_400) / 60;
        (minute / 60, minute % 60)
    }
}

/// What the source says in this edition.
pub(crate) fn content(family: Family, edition: Edition<'_>) -> Content {
    match family {
        Family::Auction => auction::content(edition),
        Family::News => news::content(edition),
        Family::Bulletin => bulletin::content(edition),
        Family::Match => ticker::content(edition),
        Family::Plain => plain(edition),
    }
}

/// What a source says before its first update.
pub(crate) fn before_the_first(source: &str) -> Content {
    Content {
        title: format!("Nothing yet from {source}"),
        summary: "The first update is still to come.".to_owned(),
        facts: Vec::new(),
    }
}

fn plain(edition: Edition<'_>) -> Content {
    let Edition { source, number, trace_second, .. } = edition;
    let mut numbers = edition.numbers(number);
    Content {
        title: format!("Update {number} of {source}"),
        summary: words::sentence(&mut numbers),
        facts: vec![("trace time", trace_second.to_string())],
    }
}
