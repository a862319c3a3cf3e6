//! The probabilities file, `source,chronon,probability`: what is believed about each chronon. What is not
//! listed is 0.

use std::io::{self, Read, Write};
use std::path::Path;

use dunlin_core::{Chronon, SourceIdx};

use super::names::{self, Names};
use super::open::open;
use super::save::save;
use super::table::{Layout, Table};
use super::{Excerpt, Problem, TraceFile};
use crate::Error;
use crate::knowledge::ChangeProbabilities;

static LAYOUT: Layout = Layout { required: &["source", "chronon", "probability"], optional: &[] };
const SOURCE: usize = 0;
const CHRONON: usize = 1;
const PROBABILITY: usize = 2;

/// Probabilities with the names of their sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProbabilitiesFile {
    /// The sources, in byte order.
    pub sources: Vec<String>,
    /// The probabilities, by index into `sources`.
    pub probabilities: ChangeProbabilities,
    /// Warnings about the file for the user.
    pub warnings: Vec<String>,
}

struct Line {
    chronon: Chronon,
    source: u32,
    number: u64,
    probability: f64,
}

impl ProbabilitiesFile {
    /// Reads probabilities from a path, or from standard input for `-`.
    pub fn open(path: &Path, chronons: u32) -> Result<Self, Error> {
        Self::read(open(path)?, &path.display().to_string(), chronons)
    }

    /// Reads probabilities, plain or gzip, of an epoch of `chronons` from `input`, called `file` in messages.
    pub fn read(input: impl Read, file: &str, chronons: u32) -> Result<Self, Error> {
        let mut table = Table::new(input, file, &LAYOUT)?;
        let mut names = Names::default();
        let mut lines = Vec::new();
        while let Some(row) = table.next_row()? {
            let source = names.intern(row.id(SOURCE)?);
            let chronon = row.chronon(CHRONON, chronons)?;
            let probability = row.number(PROBABILITY)?;
            if !(0.0..=1.0).contains(&probability) {
                return Err(row.bad(Problem::BadProbability(probability)));
            }
            lines.push(Line { chronon, source, number: row.line, probability });
        }
        let (sources, places) = names.into_byte_order();
        lines.sort_unstable_by_key(|line| (line.chronon, line.source, line.number));
        let twice = |pair: &&[Line]| (pair[0].chronon, pair[0].source) == (pair[1].chronon, pair[1].source);
        if let Some(pair) = lines.windows(2).filter(twice).min_by_key(|pair| pair[1].number) {
            let source = Excerpt::from(sources[places[pair[1].source as usize] as usize].as_str());
            let key = format!("source {source}, chronon {}", pair[1].chronon);
            return Err(
                table.bad_line(pair[1].number, Problem::Repeated { key, earlier_line: pair[0].number })
            );
        }
        let entries = lines
            .iter()
            .map(|line| (line.chronon, SourceIdx(places[line.source as usize]), line.probability))
            .collect();
        let probabilities = ChangeProbabilities::from_entries(entries);
        Ok(Self { sources, probabilities, warnings: table.into_warnings() })
    }

    /// Brings probabilities and trace over the same sources: those of either, in byte order. One that only
    /// the trace has is never expected to change; one that only the probabilities have never does.
    pub fn join(&self, trace: TraceFile) -> (TraceFile, ChangeProbabilities) {
        let trace = trace.with_sources(&self.sources);
        let index = names::index(&trace.sources);
        let new_idx: Vec<_> = self.sources.iter().map(|name| SourceIdx(index[name.as_str()])).collect();
        let entries = self
            .probabilities
            .iter()
            .map(|(chronon, source, probability)| (chronon, new_idx[source.index()], probability));
        let probabilities = ChangeProbabilities::from_entries(entries.collect());
        (trace, probabilities)
    }

    /// Writes the probabilities to a path, or to standard output for `-`; a name that ends in `.gz` is
    /// compressed.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        save(path, |out| self.write(out))
    }

    /// Writes the probabilities in order of chronon, then of source.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut out = csv::Writer::from_writer(out);
        out.write_record(LAYOUT.required)?;
        for (chronon, source, probability) in self.probabilities.iter() {
            let (chronon, probability) = (chronon.to_string(), probability.to_string());
            out.write_record([self.sources[source.index()].as_str(), &chronon, &probability])?;
        }
        out.flush()
    }
}
