//! `dunlin export`: what is watched and what was captured, for other programs.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dunlin_engine::clock;
use dunlin_engine::control::is_about_health;
use dunlin_lab::files::save;

use crate::backend::records::SourceRecord;
use crate::backend::{Access, Backend, ChangeFilter, ReachArgs, SourceFilter};
use crate::failure::Failure;
use crate::lists::{Outline, write_opml};
use crate::output::json_line;

/// Changes requested at a time.
const PAGE: u32 = 10_000;

#[derive(Debug, Args)]
pub(crate) struct Export {
    what: What,
    /// Where to; - is standard output
    #[arg(long, value_name = "FILE", default_value = "-")]
    out: PathBuf,
    #[command(flatten)]
    reach: ReachArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// The sources, for feed readers
    Opml,
    /// Every change, one JSON object per line
    Changes,
    /// When each source changed (source,time), for `dunlin simulate trace`
    Trace,
}

impl Export {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let backend = self.reach.open(Access::Read)?;
        let mut failed = None;
        let written = save(&self.out, |out| match write(&*backend, self.what, out) {
            Ok(()) => Ok(()),
            Err(Stopped::Writing(error)) => Err(error),
            Err(Stopped::Reading(failure)) => {
                failed = Some(failure);
                Err(io::Error::other("there was nothing to write"))
            }
        });
        match failed {
            Some(failure) => Err(failure),
            None => Ok(written?),
        }
    }
}

/// Why not everything was written.
enum Stopped {
    Reading(Failure),
    Writing(io::Error),
}

impl From<Failure> for Stopped {
    fn from(failure: Failure) -> Self {
        Self::Reading(failure)
    }
}

impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Self::Writing(error)
    }
}

/// Writes a page at a time: there may be more changes than memory.
fn write(backend: &dyn Backend, what: What, out: &mut dyn Write) -> Result<(), Stopped> {
    match what {
        What::Opml => {
            let sources = backend.sources(&SourceFilter::default())?;
            // What it was found to be, whatever it was said to be.
            let is_feed =
                |source: &SourceRecord| source.found_kind.as_ref().unwrap_or(&source.kind) == "feed";
            let text = write_opml(sources.iter().map(|source| Outline {
                url: &source.url,
                name: source.shown_name(),
                is_feed: is_feed(source),
                tags: &source.tags,
            }));
            Ok(out.write_all(text.as_bytes())?)
        }
        What::Changes => each_change(backend, |change| writeln!(out, "{}", json_line(change)?)),
        What::Trace => {
            let rows = trace(backend)?;
            writeln!(out, "source,time")?;
            Ok(rows.into_iter().try_for_each(|(source, time)| writeln!(out, "{source},{time}"))?)
        }
    }
}

/// Removals and news about a source itself are left out: they are no updates that a probe could have captured.
fn trace(backend: &dyn Backend) -> Result<BTreeSet<(i64, i64)>, Stopped> {
    let mut rows = BTreeSet::new();
    each_change(backend, |change| {
        // The latest time at which it can have happened: its own date, or else when it was found.
        let is_update = change.kind != "removed" && !is_about_health(&change.kind);
        let time = &change.happened_between.1;
        if let Some(time) = clock::parse_rfc3339(time).filter(|time| is_update && time.seconds() >= 0) {
            rows.insert((change.source, time.seconds()));
        }
        Ok(())
    })?;
    Ok(rows)
}

fn each_change(
    backend: &dyn Backend,
    mut take: impl FnMut(&crate::backend::records::ChangeRecord) -> io::Result<()>,
) -> Result<(), Stopped> {
    let mut filter = ChangeFilter { after: 0, source: None, limit: PAGE };
    loop {
        let page = backend.changes(filter)?;
        page.changes.iter().try_for_each(&mut take)?;
        if (page.changes.len() as u64) < u64::from(PAGE) {
            return Ok(());
        }
        filter.after = page.next;
    }
}
