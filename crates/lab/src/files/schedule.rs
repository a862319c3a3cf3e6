//! The schedule file, `chronon,resource`: what was or will be probed.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::Path;

use dunlin_core::{Probe, Schedule, SourceIdx};

use super::open::open;
use super::save::save;
use super::table::{Layout, Table};
use super::{Excerpt, Problem, names};
use crate::Error;

static LAYOUT: Layout = Layout { required: &["chronon", "resource"], optional: &[] };
const CHRONON: usize = 0;
const RESOURCE: usize = 1;

/// A schedule over known resources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScheduleFile {
    /// The probes, by index into the resources given; within a chronon in order of lines.
    pub schedule: Schedule,
    /// Warnings about the file for the user.
    pub warnings: Vec<String>,
}

impl ScheduleFile {
    /// Reads a schedule from a path, or from standard input for `-`.
    pub fn open(path: &Path, resources: &[String], chronons: u32) -> Result<Self, Error> {
        Self::read(open(path)?, &path.display().to_string(), resources, chronons)
    }

    /// Reads a schedule of `resources` over an epoch of `chronons`, plain or gzip, from `input`, called `file`
    /// in messages. Lines may be in any order of chronons.
    pub fn read(input: impl Read, file: &str, resources: &[String], chronons: u32) -> Result<Self, Error> {
        let mut table = Table::new(input, file, &LAYOUT)?;
        let index = names::index(resources);
        let mut lines = HashMap::new();
        let mut probes = Vec::new();
        while let Some(row) = table.next_row()? {
            let chronon = row.chronon(CHRONON, chronons)?;
            let resource = row.id(RESOURCE)?;
            let Some(&idx) = index.get(resource) else {
                let problem = Problem::UnknownResource { resource: resource.into(), known: resources.len() };
                return Err(row.bad(problem));
            };
            let probe = Probe { chronon, source: SourceIdx(idx) };
            if let Some(earlier_line) = lines.insert(probe, row.line) {
                let key = format!("chronon {chronon}, resource {}", Excerpt::from(resource));
                return Err(row.bad(Problem::Repeated { key, earlier_line }));
            }
            probes.push(probe);
        }
        // Stable, so the order of lines within a chronon is kept.
        probes.sort_by_key(|probe| probe.chronon);
        let mut schedule = Schedule::new();
        for probe in probes {
            schedule.extend(probe.chronon, &[probe.source]);
        }
        Ok(Self { schedule, warnings: table.into_warnings() })
    }
}

/// Writes a schedule to a path, or to standard output for `-`; a name that ends in `.gz` is compressed.
pub fn save_schedule(schedule: &Schedule, resources: &[String], path: &Path) -> Result<(), Error> {
    save(path, |out| write_schedule(schedule, resources, out))
}

/// Writes a schedule in its order, with the names of `resources`.
///
/// # Panics
/// If a probe's source has no name.
pub fn write_schedule(schedule: &Schedule, resources: &[String], out: impl Write) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    out.write_record(LAYOUT.required)?;
    for probe in schedule.probes() {
        out.write_record([probe.chronon.to_string().as_str(), &resources[probe.source.index()]])?;
    }
    out.flush()
}
