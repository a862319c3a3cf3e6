//! What a site is made from, apart from the instant at which it starts.

use std::collections::BTreeMap;

use dunlin_lab::files::TraceFile;

use crate::{Error, Family, Repeat, SourceFault, Speed};

/// The most items that a feed may be asked to hold.
const ITEMS_LIMIT: usize = 1_000;
/// The most bytes of filler on a page.
const FILLER_LIMIT: usize = 10_000_000;

/// A trace and how to show it. [`Plan::of`] has the usual settings; change what you need to.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What changes when.
    pub trace: TraceFile,
    /// Which sources have content of a family; the others say "update N of SOURCE".
    pub families: BTreeMap<String, Family>,
    /// What the synthetic text comes from.
    pub seed: u64,
    /// How fast the trace runs.
    pub speed: Speed,
    /// The second of the trace at which the site starts: what lies before it has happened already. Without one,
    /// that of the first update.
    pub from: Option<i64>,
    /// What follows the last update.
    pub repeat: Repeat,
    /// How many of the latest updates a feed holds, 1 to 1,000.
    pub items: usize,
    /// Bytes of text on a page that never change, up to 10 million.
    pub filler: usize,
    /// Seconds that `robots.txt` asks crawlers to leave between requests.
    pub crawl_delay: Option<u32>,
    /// Which sources misbehave from the start.
    pub faults: Vec<SourceFault>,
}

impl Plan {
    /// The trace at the speed it was recorded, from its first update to its last.
    pub fn of(trace: TraceFile) -> Self {
        Self {
            trace,
            families: BTreeMap::new(),
            seed: 0,
            speed: Speed::REAL,
            from: None,
            repeat: Repeat::Never,
            items: 10,
            filler: 2_000,
            crawl_delay: None,
            faults: Vec::new(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.trace.sources.is_empty() {
            return Err(Error::NoSources);
        }
        let (sources, times) = (self.trace.sources.len(), self.trace.times.len());
        if sources != times {
            let what = format!("{sources} sources with {times} lists of updates");
            return Err(Error::MalformedTrace { what });
        }
        check_range("items per feed", self.items, 1, ITEMS_LIMIT)?;
        check_range("bytes of filler", self.filler, 0, FILLER_LIMIT)
    }
}

fn check_range(setting: &'static str, value: usize, least: usize, most: usize) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::BadSetting { setting, value: value.to_string(), expected: format!("{least} to {most}") })
}
