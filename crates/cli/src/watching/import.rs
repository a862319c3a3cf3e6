//! `dunlin import`: many addresses at once, from a list or another program's OPML.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::add::SourceArgs;
use crate::backend::records::SourceFields;
use crate::backend::{Access, Backend, ReachArgs, SourceFilter};
use crate::failure::Failure;
use crate::lists::{self, List, MAX_BYTES};
use crate::output::{print_json, print_line, progress};

/// Sources that are added in one call: few enough for its limits on time and size, also where addresses are long.
const BATCH: usize = 100;

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// One address per line (# begins a comment), or OPML; - is standard input
    file: PathBuf,
    /// Only say what would be added
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    fields: SourceArgs,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Default, Serialize)]
struct Report {
    added: usize,
    /// Listed twice, or watched already.
    duplicates: usize,
    bad: Vec<Bad>,
    dry_run: bool,
}

#[derive(Debug, Serialize)]
struct Bad {
    line: usize,
    problem: String,
}

impl Import {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let name = self.file.display().to_string();
        let list = List::read(&self.text()?);
        let backend = match self.dry_run {
            true if self.reach.is_empty()? => None,
            true => Some(self.reach.open(Access::Read)?),
            false => Some(self.reach.open(Access::Write)?),
        };
        let mut report = Report { dry_run: self.dry_run, ..Report::default() };
        let bad = list.unreadable.iter();
        report.bad = bad.map(|bad| Bad { line: bad.line, problem: bad.why.clone() }).collect();
        self.add_all(backend.as_deref(), list, &mut report)?;
        report.bad.sort_by_key(|bad| bad.line);
        for bad in &report.bad {
            crate::note(&format!("{name}:{}: {}", bad.line, bad.problem));
        }
        if self.json {
            print_json(&report)?;
        } else {
            let (would, n_bad) = (if self.dry_run { "would be added" } else { "added" }, report.bad.len());
            print_line(&format!(
                "{} {would}, {} already there, {n_bad} bad",
                report.added, report.duplicates
            ))?;
        }
        match report.bad.len() {
            0 => Ok(()),
            n_bad => Err(Failure::Input(format!(
                "{name}: {n_bad} of its lines {}",
                if self.dry_run {
                    "could not be used; the others could"
                } else {
                    "could not be used; the others were"
                }
            ))),
        }
    }

    fn add_all(&self, backend: Option<&dyn Backend>, list: List, report: &mut Report) -> Result<(), Failure> {
        let there = backend.map(|backend| backend.sources(&SourceFilter::default())).transpose()?;
        let mut known: BTreeSet<String> = there.into_iter().flatten().map(|source| source.url).collect();
        let given = self.reach.with_defaults(self.fields.fields())?;
        let judge = self.reach.judge()?;
        let mut add = |batch: &mut Vec<(usize, SourceFields)>, known: &mut BTreeSet<String>| {
            let (lines, all_fields): (Vec<usize>, Vec<SourceFields>) = batch.drain(..).unzip();
            let results = match backend {
                Some(backend) if !self.dry_run && !all_fields.is_empty() => backend.add_many(&all_fields)?,
                _ => all_fields.iter().map(&judge).collect(),
            };
            for ((line, fields), result) in lines.into_iter().zip(all_fields).zip(results) {
                match result {
                    Ok(()) => {
                        report.added += 1;
                        known.extend(fields.url);
                    }
                    Err(Failure::Input(problem)) => report.bad.push(Bad { line, problem }),
                    Err(other) => return Err(other),
                }
            }
            Ok(())
        };
        let bar = progress(list.entries.len() as u64, "adding");
        let mut duplicates = 0;
        let mut batch: Vec<(usize, SourceFields)> = Vec::new();
        for entry in list.entries {
            bar.inc(1);
            // What came of the same address before has to be known first: only one that was added is a duplicate.
            let is_waiting = |(_, fields): &(usize, SourceFields)| fields.url.as_ref() == Some(&entry.url);
            if batch.len() == BATCH || batch.iter().any(is_waiting) {
                add(&mut batch, &mut known)?;
            }
            if known.contains(&entry.url) {
                duplicates += 1;
                continue;
            }
            let mut tags = given.tags.clone().unwrap_or_default();
            tags.extend(entry.tags);
            let fields = SourceFields {
                url: Some(entry.url),
                name: given.name.clone().or(entry.name.map(Some)),
                kind: given.kind.clone().or(entry.kind.map(str::to_owned)),
                tags: (!tags.is_empty()).then_some(tags),
                ..given.clone()
            };
            batch.push((entry.line, fields));
        }
        add(&mut batch, &mut known)?;
        report.duplicates = duplicates;
        bar.finish_and_clear();
        Ok(())
    }

    fn text(&self) -> Result<String, Failure> {
        let name = self.file.display();
        let unreadable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => Failure::Input(format!("{name}: no such file")),
            _ => Failure::Input(format!("{name}: cannot be read: {error}")),
        };
        let reader: Box<dyn Read> = if self.file.as_os_str() == "-" {
            Box::new(std::io::stdin())
        } else {
            Box::new(File::open(&self.file).map_err(unreadable)?)
        };
        let mut bytes = Vec::new();
        reader.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(Failure::Input(format!("{name}: larger than {} MiB (split it)", MAX_BYTES >> 20)));
        }
        if let Some(text) = lists::decoded(&bytes) {
            return Ok(text);
        }
        String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..at].split(|byte| *byte == b'\n').count();
            Failure::Input(format!("{name}:{line}: not valid UTF-8 (save the list as UTF-8)"))
        })
    }
}
