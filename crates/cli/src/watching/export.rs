//! `dunlin export`: what is watched and what was captured, for other programs.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dunlin_lab::files::save;

use crate::backend::{Access, Backend, ChangeFilter, ReachArgs, SourceFilter};
use crate::failure::Failure;
use crate::lists::write_opml;
use crate::moments;

/// Changes asked for at a time.
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
        let text = match self.what {
            What::Opml => {
                let sources = backend.sources(&SourceFilter::default())?;
                write_opml(sources.iter().map(|s| (s.kind.as_str(), s.url.as_str(), s.tags.as_slice())))
            }
            What::Changes => changes(&*backend)?,
            What::Trace => trace(&*backend)?,
        };
        Ok(save(&self.out, |out| out.write_all(text.as_bytes()))?)
    }
}

fn changes(backend: &dyn Backend) -> Result<String, Failure> {
    let mut text = String::new();
    each_change(backend, |change| {
        text.push_str(&serde_json::to_string(change).map_err(std::io::Error::from)?);
        text.push('\n');
        Ok(())
    })?;
    Ok(text)
}

/// Removals are left out: what went is no update that a look could have caught.
fn trace(backend: &dyn Backend) -> Result<String, Failure> {
    let mut rows = Vec::new();
    each_change(backend, |change| {
        // The latest time at which it can have happened: its own date, or else when it was found.
        let time = &change.happened_between.1;
        if let Some(time) =
            moments::parse(time).filter(|time| change.kind != "removed" && time.seconds() >= 0)
        {
            rows.push((change.source, time.seconds()));
        }
        Ok(())
    })?;
    rows.sort_unstable();
    rows.dedup();
    let mut text = String::from("source,time\n");
    for (source, time) in rows {
        let _ = writeln!(text, "{source},{time}");
    }
    Ok(text)
}

fn each_change(
    backend: &dyn Backend,
    mut take: impl FnMut(&crate::backend::records::ChangeRecord) -> Result<(), Failure>,
) -> Result<(), Failure> {
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
