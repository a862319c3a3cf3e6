//! The intervals file, `profile,cei,resource,start,finish[,weight,need]`: one line per execution interval.
//!
//! Resources, profiles and CEIs are numbered in order of first appearance, the intervals of a CEI in order
//! of their lines, wherever in the file those are.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::path::Path;

use dunlin_core::{ExecutionInterval, Need, ProfileIdx, SourceIdx, Workload};

use super::Problem;
use super::names::Names;
use super::open::open;
use super::save::save;
use super::table::{Layout, Row, Table};
use crate::Error;

static LAYOUT: Layout =
    Layout { required: &["profile", "cei", "resource", "start", "finish"], optional: &["weight", "need"] };
const PROFILE: usize = 0;
const CEI: usize = 1;
const RESOURCE: usize = 2;
const START: usize = 3;
const FINISH: usize = 4;
const WEIGHT: usize = 5;
const NEED: usize = 6;

/// A workload with the names that go with its indices.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IntervalsFile {
    /// The profiles' needs.
    pub workload: Workload,
    /// Names by source index.
    pub resources: Vec<String>,
    /// Names by profile index.
    pub profiles: Vec<String>,
    /// Names by CEI index; unique only within a profile.
    pub ceis: Vec<String>,
    /// Warnings about the file for the user.
    pub warnings: Vec<String>,
}

impl IntervalsFile {
    /// Reads intervals from a path, or from standard input for `-`.
    pub fn open(path: &Path, chronons: u32) -> Result<Self, Error> {
        Self::read(open(path)?, &path.display().to_string(), chronons)
    }

    /// Reads intervals, plain or gzip, of an epoch of `chronons` from `input`, called `file` in messages.
    /// An interval may outlast the epoch but not start after it.
    pub fn read(input: impl Read, file: &str, chronons: u32) -> Result<Self, Error> {
        let mut table = Table::new(input, file, &LAYOUT)?;
        let mut draft = Draft::default();
        while let Some(row) = table.next_row()? {
            draft.add(&row, chronons)?;
        }
        table.require_rows()?;
        let (workload, ceis) = draft.assemble().map_err(|(line, problem)| table.bad_line(line, problem))?;
        Ok(Self {
            workload,
            resources: draft.resources.into_names(),
            profiles: draft.profiles.into_names(),
            ceis,
            warnings: table.into_warnings(),
        })
    }

    /// Writes the intervals to a path, or to standard output for `-`; a name that ends in `.gz` is compressed.
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        save(path, |out| self.write(out))
    }

    /// Writes the intervals, CEI by CEI; `weight` and `need` only if any CEI has other than the defaults.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let plain =
            self.workload.ceis().all(|cei| cei.weight == 1.0 && cei.need as usize == cei.intervals.len());
        let n_columns = if plain { FINISH + 1 } else { NEED + 1 };
        let mut out = csv::Writer::from_writer(out);
        out.write_record(LAYOUT.required.iter().chain(LAYOUT.optional).take(n_columns))?;
        for cei in self.workload.ceis() {
            let profile = self.workload.profile_of(cei.idx);
            let (weight, need) = (cei.weight.to_string(), cei.need.to_string());
            for interval in cei.intervals {
                let (start, finish) = (interval.start().to_string(), interval.finish().to_string());
                let fields: [&str; NEED + 1] = [
                    &self.profiles[profile.0 as usize],
                    &self.ceis[cei.idx.0 as usize],
                    &self.resources[interval.source().index()],
                    &start,
                    &finish,
                    &weight,
                    &need,
                ];
                out.write_record(&fields[..n_columns])?;
            }
        }
        out.flush()
    }
}

/// What has been read so far: lines of one CEI need not be adjacent, so none is complete before the end.
#[derive(Default)]
struct Draft {
    resources: Names,
    profiles: Names,
    cei_names: Names,
    /// The index of a CEI by profile and name.
    cei_idx: HashMap<(u32, u32), u32>,
    ceis: Vec<CeiDraft>,
    /// Every interval with the index of its CEI, in order of lines.
    intervals: Vec<(u32, ExecutionInterval)>,
}

struct CeiDraft {
    profile: u32,
    name: u32,
    n_intervals: u32,
    /// The value of the first line that has one, and its number.
    weight: Option<(f64, u64)>,
    need: Option<(u32, u64)>,
}

impl Draft {
    fn add(&mut self, row: &Row<'_>, chronons: u32) -> Result<(), Error> {
        let profile = self.profiles.intern(row.id(PROFILE)?);
        let name = self.cei_names.intern(row.id(CEI)?);
        let source = SourceIdx(self.resources.intern(row.id(RESOURCE)?));
        let (start, finish) = (row.chronon(START, chronons)?, row.chronon(FINISH, u32::MAX)?);
        let interval = ExecutionInterval::new(source, start, finish).map_err(|error| row.bad(error))?;

        let next = u32::try_from(self.ceis.len()).expect("fewer CEIs than data lines, which are capped");
        let idx = *self.cei_idx.entry((profile, name)).or_insert(next);
        if idx == next {
            self.ceis.push(CeiDraft { profile, name, n_intervals: 0, weight: None, need: None });
        }
        let cei = &mut self.ceis[idx as usize];
        cei.n_intervals += 1;
        self.intervals.push((idx, interval));

        if row.gives(WEIGHT) {
            let weight = row.number(WEIGHT)?;
            if !weight.is_finite() || weight < 0.0 {
                return Err(row.bad(dunlin_core::Error::BadWeight(weight)));
            }
            let (earlier, earlier_line) = *cei.weight.get_or_insert((weight, row.line));
            if weight != earlier {
                let problem =
                    Problem::Disagreement { column: "weight", value: weight, earlier, earlier_line };
                return Err(row.bad(problem));
            }
        }
        if row.gives(NEED) {
            let need = row.chronon(NEED, u32::MAX)?.get();
            let (earlier, earlier_line) = *cei.need.get_or_insert((need, row.line));
            if need != earlier {
                let (value, earlier) = (f64::from(need), f64::from(earlier));
                let problem = Problem::Disagreement { column: "need", value, earlier, earlier_line };
                return Err(row.bad(problem));
            }
        }
        Ok(())
    }

    /// The workload and the names of its CEIs; or the line that makes it impossible.
    fn assemble(&mut self) -> Result<(Workload, Vec<String>), (u64, Problem)> {
        let mut workload = Workload::new();
        // Stable, so the intervals of a CEI stay in order of lines.
        self.intervals.sort_by_key(|&(cei, _)| cei);
        let cei_names = std::mem::take(&mut self.cei_names).into_names();
        let mut names = Vec::with_capacity(self.ceis.len());
        let mut rest = self.intervals.as_slice();
        let mut intervals = Vec::new();
        for cei in &self.ceis {
            let (own, others) = rest.split_at(cei.n_intervals as usize);
            rest = others;
            intervals.clear();
            intervals.extend(own.iter().map(|&(_, interval)| interval));
            if cei.profile as usize == workload.n_profiles() {
                workload.add_profile();
            }
            let need = cei.need.map_or(Need::All, |(need, _)| Need::Any(need));
            let weight = cei.weight.map_or(1.0, |(weight, _)| weight);
            workload
                .push(ProfileIdx(cei.profile), &intervals, need, weight)
                .map_err(|error| (cei.need.map_or(1, |(_, line)| line), error.into()))?;
            names.push(cei_names[cei.name as usize].clone());
        }
        Ok((workload, names))
    }
}
