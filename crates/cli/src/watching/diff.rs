//! `dunlin diff`: two versions word by word, as `diff -u` does, or side by side; coloured on a terminal.

use clap::{Args, ValueEnum};
use dunlin_extract::Work;
use dunlin_extract::diff::{side_by_side, unified, words};
use serde::Serialize;

use super::difference::{in_columns, painted};
use super::show::{find_version, read, text_of};
use crate::backend::records::{PieceOperation, PieceRecord, SourceRecord, VersionRecord};
use crate::backend::{Access, Backend, ReachArgs};
use crate::failure::Failure;
use crate::output::{print_columns, print_json, print_line};
use crate::terminal::{Paint, harmless};

/// Characters of unchanged text that are shown on either side of a change.
const CONTEXT: usize = 200;

#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// A version (v7), compared with the one before it; or a source, for its last two
    what: String,
    /// Compare with this version instead
    #[arg(long, value_name = "VERSION")]
    against: Option<String>,
    /// Show all of the unchanged text, word by word
    #[arg(long, conflicts_with = "form")]
    full: bool,
    /// How to show it
    #[arg(long, value_enum, default_value = "words", conflicts_with = "json")]
    form: Form,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// How a difference is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Form {
    /// Word by word
    Words,
    /// Line by line, as `diff -u` writes it
    Unified,
    /// Line by line in two columns
    SideBySide,
}

#[derive(Debug, Serialize)]
struct Report {
    version: i64,
    against: Option<i64>,
    pieces: Vec<PieceRecord>,
}

/// The version, if it is one of `source`: another one is read in another way.
fn of_source(
    source: &SourceRecord,
    (its_source, version): (SourceRecord, VersionRecord),
) -> Result<VersionRecord, Failure> {
    if its_source.id == source.id {
        return Ok(version);
    }
    let (id, other) = (version.id, its_source.id);
    Err(Failure::input(format!(
        "version {id} is of source {other}, not {} (compare versions of one source)",
        source.id
    )))
}

impl Diff {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let backend = self.reach.open(Access::Read)?;
        let (source, version) = find_version(&*backend, &self.what)?;
        let before = match &self.against {
            Some(against) => Some(of_source(&source, find_version(&*backend, against)?)?),
            None => version_before(&*backend, &version)?,
        };
        let old = before.as_ref().map(|before| text(&*backend, &source, before)).transpose()?;
        let old = old.unwrap_or_default();
        let new = text(&*backend, &source, &version)?;
        if self.form == Form::Unified {
            let named = |version: &VersionRecord| format!("version {}\t{}", version.id, version.captured_at);
            let before = before.as_ref().map_or_else(|| "/dev/null".to_owned(), named);
            let lines = harmless(&unified(&old, &new));
            return print_line(&format!(
                "--- {before}\n+++ {}\n{}",
                named(&version),
                lines.trim_end_matches('\n')
            ));
        }
        let pieces = words(&old, &new, &Work::default());
        let mut pieces: Vec<PieceRecord> = pieces.into_iter().map(PieceRecord::from).collect();
        if self.json {
            let against = before.map(|before| before.id);
            return print_json(&Report { version: version.id, against, pieces });
        }
        match &before {
            Some(before) => crate::note(&format!("version {} against version {}", version.id, before.id)),
            None => crate::note(&format!("version {} is the first", version.id)),
        }
        if self.form == Form::SideBySide {
            let name = |version: &VersionRecord| format!("version {}", version.id);
            let (before, now) = (before.as_ref().map_or_else(|| "nothing".to_owned(), name), name(&version));
            let rows = in_columns(&side_by_side(&old, &new, &Work::default()));
            return print_columns([&before, "", &now], rows);
        }
        let unchanged = pieces.iter_mut().filter(|piece| piece.op == PieceOperation::Equal && !self.full);
        unchanged.for_each(|piece| piece.text = shortened(&piece.text));
        print_line(&painted(&pieces, Paint::stdout()))
    }
}

fn version_before(backend: &dyn Backend, version: &VersionRecord) -> Result<Option<VersionRecord>, Failure> {
    let mut limit = 2;
    loop {
        let versions = backend.versions(version.source, limit)?;
        let has_all = (versions.len() as u64) < u64::from(limit);
        let earlier = versions.into_iter().find(|other| other.id < version.id);
        if earlier.is_some() || has_all {
            return Ok(earlier);
        }
        limit = limit.saturating_mul(8).min(1_000);
        if limit == 1_000 {
            return Ok(backend
                .versions(version.source, limit)?
                .into_iter()
                .find(|other| other.id < version.id));
        }
    }
}

fn text(backend: &dyn Backend, source: &SourceRecord, version: &VersionRecord) -> Result<String, Failure> {
    Ok(text_of(&read(source, version, &backend.content(version.id)?)?))
}

fn shortened(text: &str) -> String {
    let count = text.chars().count();
    if count <= 2 * CONTEXT + 20 {
        return text.to_owned();
    }
    let head: String = text.chars().take(CONTEXT).collect();
    let tail: String = text.chars().skip(count - CONTEXT).collect();
    format!("{head}\n […]\n{tail}")
}
