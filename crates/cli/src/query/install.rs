//! `dunlin query add` and `edit`: texts of queries on their way to a service, or into a data directory.

use std::path::PathBuf;

use clap::Args;
use dunlin_lab::files::open_query_text;
use dunlin_query::{Span, split};
use serde::Serialize;

use super::{picks, refusal};
use crate::backend::records::QueryRecord;
use crate::backend::{Access, Backend, ReachArgs, find_query};
use crate::failure::Failure;
use crate::output::{print_json, print_line};

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// Queries; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Edit {
    /// Its number or name
    #[arg(value_name = "ID|NAME")]
    query: String,
    /// The other text, with one query; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    queries: Vec<QueryRecord>,
}

impl Add {
    /// Installs all queries of a file, or none.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let text = open_query_text(&self.file)?;
        picks::parse(&text).map_err(|refused| refusal(&self.file, &text, &refused))?;
        let backend = self.reach.open(Access::Write)?;
        backend.liveness().mention();
        let mut added: Vec<QueryRecord> = Vec::new();
        // As they were written, with their comments.
        for span in split(&text) {
            match self.install(&*backend, &text, span) {
                Ok(query) => added.push(query),
                Err(failure) => {
                    for query in added {
                        backend.remove_query(query.id)?;
                    }
                    return Err(failure);
                }
            }
        }
        if self.json {
            return print_json(&Report { queries: added });
        }
        added
            .iter()
            .try_for_each(|query| print_line(&format!("query {}: {} is installed", query.id, query.name)))
    }

    fn install(&self, backend: &dyn Backend, text: &str, span: Span) -> Result<QueryRecord, Failure> {
        let added = backend.add_query(text[span.start..span.end].trim())?;
        let n_blank = text[span.start..span.end].len() - text[span.start..span.end].trim_start().len();
        added.map_err(|refused| refusal(&self.file, text, &refused.moved_into(text, span.start + n_blank)))
    }
}

impl Edit {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let text = open_query_text(&self.file)?;
        let backend = self.reach.open(Access::Write)?;
        let query = find_query(&*backend, &self.query)?;
        let edited = backend.edit_query(query.id, &text)?;
        let edited = edited.map_err(|refused| refusal(&self.file, &text, &refused))?;
        if self.json {
            return print_json(&edited);
        }
        print_line(&format!("query {} ({}): edited", edited.id, edited.name))
    }
}
