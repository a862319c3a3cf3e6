//! `dunlin query add` and `edit`: texts of queries on their way to a service, or into a data directory.

use std::path::{Path, PathBuf};

use clap::Args;
use dunlin_lab::files::open_query_text;
use dunlin_query::format;
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
    /// Installs all queries of a file, or up to the first that is refused; what is wrong with a text is found before any.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let text = open_query_text(&self.file)?;
        let parsed = picks::parse(&text).map_err(|refused| refusal(&self.file, &text, &refused))?;
        let texts: Vec<String> = match parsed.as_slice() {
            // As it was written, with its comments.
            [_] => vec![text],
            several => several.iter().map(|query| format(std::slice::from_ref(query))).collect(),
        };
        let backend = self.reach.open(Access::Write)?;
        backend.liveness().mention();
        let mut added = Vec::new();
        for text in &texts {
            match install(&*backend, &self.file, text) {
                Ok(query) => added.push(query),
                Err(failure) => {
                    if !added.is_empty() {
                        let names: Vec<&str> = added.iter().map(|query| query.name.as_str()).collect();
                        crate::note(&format!("installed before the error: {}", names.join(", ")));
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
}

fn install(backend: &dyn Backend, file: &Path, text: &str) -> Result<QueryRecord, Failure> {
    backend.add_query(text)?.map_err(|refused| refusal(file, text, &refused))
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
