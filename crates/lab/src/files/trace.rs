//! The trace file, `source,time`: one line per real update, in integer seconds.

use std::io::{self, Read, Write};
use std::num::NonZeroU32;
use std::path::Path;

use dunlin_core::{Changes, Chronon};

use super::names::{self, Names};
use super::open::open;
use super::save::save;
use super::table::{Layout, Table};
use crate::Error;

static LAYOUT: Layout = Layout { required: &["source", "time"], optional: &[] };
const SOURCE: usize = 0;
const TIME: usize = 1;

/// A trace: what changed when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceFile {
    /// The sources, in byte order.
    pub sources: Vec<String>,
    /// The update times of each source in seconds, ascending, every time once.
    pub times: Vec<Vec<i64>>,
    /// Warnings about the file for the user.
    pub warnings: Vec<String>,
}

/// Which stretch of a trace to look at, and in what steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// The second at which chronon 1 begins.
    pub start: i64,
    /// How long a chronon lasts.
    pub chronon_seconds: NonZeroU32,
    /// How many chronons there are.
    pub chronons: u32,
}

impl TraceFile {
    /// Reads a trace from a path, or from standard input for `-`.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::read(open(path)?, &path.display().to_string())
    }

    /// Reads a trace, plain or gzip, from `input`, called `file` in messages.
    pub fn read(input: impl Read, file: &str) -> Result<Self, Error> {
        let mut table = Table::new(input, file, &LAYOUT)?;
        let mut names = Names::default();
        let mut unsorted: Vec<Vec<i64>> = Vec::new();
        while let Some(row) = table.next_row()? {
            let source = names.intern(row.id(SOURCE)?) as usize;
            let time = row.integer(TIME, 0..=i64::MAX)?;
            if source == unsorted.len() {
                unsorted.push(Vec::new());
            }
            unsorted[source].push(time);
        }
        table.require_rows()?;
        let (sources, places) = names.into_byte_order();
        let mut times = vec![Vec::new(); sources.len()];
        for (mut own, place) in unsorted.into_iter().zip(places) {
            own.sort_unstable();
            own.dedup();
            times[place as usize] = own;
        }
        Ok(Self { sources, times, warnings: table.into_warnings() })
    }

    /// Writes the trace to a path, or to standard output for `-`; a name that ends in `.gz` is compressed.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        save(path, |out| self.write(out))
    }

    /// Writes the trace in order of time, then of source. A source without updates leaves no mark.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut updates: Vec<(i64, usize)> = Vec::with_capacity(self.n_updates());
        for (source, times) in self.times.iter().enumerate() {
            updates.extend(times.iter().map(|&time| (time, source)));
        }
        updates.sort_unstable();
        let mut out = csv::Writer::from_writer(out);
        out.write_record(LAYOUT.required)?;
        for (time, source) in updates {
            out.write_record([self.sources[source].as_str(), &time.to_string()])?;
        }
        out.flush()
    }

    /// Number of updates.
    pub fn n_updates(&self) -> usize {
        self.times.iter().map(Vec::len).sum()
    }

    /// The changes by chronon: one at second t falls into chronon ⌊(t − start) / length⌋ + 1. Changes before
    /// the epoch or after it are left out; several of a source in one chronon count as one.
    #[expect(clippy::missing_panics_doc, reason = "changes outside the epoch are filtered out")]
    pub fn changes(&self, epoch: Epoch) -> Changes {
        let in_epoch = |&time: &i64| {
            let chronon = u32::try_from(epoch.chronon_of(time)).ok().and_then(Chronon::new);
            chronon.filter(|chronon| chronon.get() <= epoch.chronons)
        };
        let by_source = self.times.iter().map(|own| own.iter().filter_map(in_epoch).collect()).collect();
        Changes::new(epoch.chronons, by_source).expect("only changes within the epoch are left")
    }

    /// The earliest update, rounded down to a whole number of chronons; 0 for a trace without updates.
    pub fn default_start(&self, chronon_seconds: NonZeroU32) -> i64 {
        let length = i64::from(chronon_seconds.get());
        let earliest = self.times.iter().filter_map(|own| own.first()).min().copied().unwrap_or(0);
        earliest.div_euclid(length) * length
    }

    /// The number of chronons from `start` through the last update, at least 1.
    pub fn default_chronons(&self, start: i64, chronon_seconds: NonZeroU32) -> u32 {
        let epoch = Epoch { start, chronon_seconds, chronons: u32::MAX };
        let latest = self.times.iter().filter_map(|own| own.last()).max().copied().unwrap_or(start);
        u32::try_from(epoch.chronon_of(latest).max(1)).unwrap_or(u32::MAX)
    }

    /// The same trace with these sources added, in byte order, as ones that never change.
    #[must_use]
    pub fn with_sources(self, more: &[String]) -> Self {
        let sources = names::union(&self.sources, more);
        let mut times = vec![Vec::new(); sources.len()];
        let index = names::index(&sources);
        for (source, own) in self.sources.iter().zip(self.times) {
            times[index[source.as_str()] as usize] = own;
        }
        drop(index);
        Self { sources, times, warnings: self.warnings }
    }
}

impl Epoch {
    /// The number of the chronon that second `time` falls into, if it went on for ever in both directions.
    pub(crate) fn chronon_of(self, time: i64) -> i128 {
        let since = i128::from(time) - i128::from(self.start);
        since.div_euclid(i128::from(self.chronon_seconds.get())) + 1
    }
}
