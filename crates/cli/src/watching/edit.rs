//! `dunlin edit`, `pause`, `resume`, `remove` and `probe`: sources that are there already.

use clap::Args;

use super::add::SourceArgs;
use crate::backend::records::SourceFields;
use crate::backend::{Access, ReachArgs, find_source};
use crate::failure::Failure;
use crate::lists;
use crate::output::{print_json, print_line};

#[derive(Debug, Args)]
pub(crate) struct Edit {
    /// Number or address of the source
    source: String,
    /// A new address
    #[arg(long)]
    url: Option<String>,
    #[command(flatten)]
    fields: SourceArgs,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Edit {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let url = self.url.as_deref().map(lists::checked).transpose().map_err(Failure::Input)?;
        let fields = SourceFields { url, ..self.fields.fields() };
        if fields.is_empty() {
            return Err(Failure::input(
                "nothing to change (give --weight, --tag, --selector or another flag)",
            ));
        }
        let backend = self.reach.open(Access::Write)?;
        let source = find_source(&*backend, &self.source)?;
        let source = backend.edit(source.id, &fields)?;
        if self.json {
            return print_json(&source);
        }
        print_line(&format!("source {}: changed", source.id))
    }
}

/// One or several sources.
#[derive(Debug, Args)]
pub(crate) struct Several {
    /// Numbers or addresses of sources
    #[arg(required = true)]
    sources: Vec<String>,
    #[command(flatten)]
    reach: ReachArgs,
}

/// What is done to each of them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Pause,
    Resume,
    Remove,
    Probe,
}

impl Several {
    pub(crate) fn run(&self, action: Action) -> Result<(), Failure> {
        let backend = self.reach.open(Access::Write)?;
        // All are found before the first is touched: a slip in the last must not leave half of them done.
        let found: Result<Vec<_>, _> =
            self.sources.iter().map(|source| find_source(&*backend, source)).collect();
        for source in found? {
            let paused = |paused| SourceFields { paused: Some(paused), ..SourceFields::default() };
            let done = match action {
                Action::Pause => backend.edit(source.id, &paused(true)).map(|_| "paused")?,
                Action::Resume => backend.edit(source.id, &paused(false)).map(|_| "resumed")?,
                Action::Remove => {
                    backend.remove(source.id).map(|()| "removed, with everything captured from it")?
                }
                Action::Probe => {
                    backend.probe(source.id).map(|()| "will be probed as soon as its host allows")?
                }
            };
            print_line(&format!("source {}: {done}", source.id))?;
        }
        Ok(())
    }
}
