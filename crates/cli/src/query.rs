//! `dunlin query`: texts of queries, checked and written in their canonical form. No query is installed anywhere: so far, queries
//! run in the lab alone ([`crate::simulate`]).

mod check;
mod format;
mod picks;

use std::path::Path;

use clap::Subcommand;
use dunlin_lab::files::open_query_text;
use dunlin_query::{Query, Refused};

use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum QueryCommand {
    /// Check queries, and show what is wrong with them
    Check(check::Check),
    /// Write queries in their canonical form
    Format(format::Format),
}

impl QueryCommand {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Check(command) => command.run(),
            Self::Format(command) => command.run(),
        }
    }
}

/// Reads queries from a path, or from standard input for `-`; what is wrong with them is shown.
pub(crate) fn read(
    path: &Path,
    parse: impl FnOnce(&str) -> Result<Vec<Query>, Refused>,
) -> Result<Vec<Query>, Failure> {
    let text = open_query_text(path)?;
    parse(&text).map_err(|refused| refusal(path, &text, &refused))
}

/// Shows each error with its line, and sums them up.
fn refusal(path: &Path, text: &str, refused: &Refused) -> Failure {
    let file = path.display().to_string();
    eprintln!("{}", refused.render_in(&file, text));
    let errors = match refused.0.len() {
        1 => "an error".to_owned(),
        n if n >= dunlin_query::limits::MAX_ERRORS => format!("{n} errors or more"),
        n => format!("{n} errors"),
    };
    Failure::input(format!("{file}: {errors}, so none of its queries is taken"))
}
