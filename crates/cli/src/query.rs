//! `dunlin query`: continuous queries, from a text that is checked to results that are told. Each command is arguments in, a call of
//! the backend, a table or JSON out; `check` and `format` need no backend.

mod check;
mod format;
mod install;
mod list;
mod picks;
mod rehearse;
mod results;
mod shown;

use std::path::Path;

use clap::{Args, Subcommand};
use dunlin_lab::files::open_query_text;
use dunlin_query::{Query, Refused};

use crate::backend::records::QueryRecord;
use crate::backend::{Access, Backend, ReachArgs, find_query};
use crate::failure::Failure;
use crate::output::print_line;

pub(crate) use shown::{order_of, result_lines};

#[derive(Debug, Subcommand)]
pub(crate) enum QueryCommand {
    /// Check queries, and show what is wrong with them
    Check(check::Check),
    /// Write queries in their canonical form
    Format(format::Format),
    /// Say what a query would have captured of what is stored
    Test(rehearse::Test),
    /// Install queries
    Add(install::Add),
    /// List queries
    List(list::List),
    /// Show a query with its text
    Show(list::Show),
    /// Put another text in the place of that of a query, which begins anew and keeps its results
    Edit(install::Edit),
    /// Let no instance of a query begin, until it is resumed
    Pause(Which),
    /// Let a paused query go on
    Resume(Which),
    /// Remove a query with its results
    Remove(Which),
    /// List what a query captured
    Results(results::Results),
    /// List what a query missed, and why
    Missed(results::Missed),
    /// Say how a query is doing: when it begins next, what it waits for, what it reads
    Explain(list::Explain),
}

/// One query.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Its number or name
    #[arg(value_name = "ID|NAME")]
    query: String,
    #[command(flatten)]
    reach: ReachArgs,
}

impl Which {
    /// The backend, and the query in it.
    fn open(&self, access: Access) -> Result<(Box<dyn Backend>, QueryRecord), Failure> {
        let backend = self.reach.open(access)?;
        let query = find_query(&*backend, &self.query)?;
        Ok((backend, query))
    }

    fn pause(&self, is_paused: bool) -> Result<(), Failure> {
        let (backend, query) = self.open(Access::Write)?;
        let query = backend.pause_query(query.id, is_paused)?;
        print_line(&format!("query {} ({}): {}", query.id, query.name, query.state))
    }

    fn remove(&self) -> Result<(), Failure> {
        let (backend, query) = self.open(Access::Write)?;
        backend.remove_query(query.id)?;
        print_line(&format!("query {} ({}): removed", query.id, query.name))
    }
}

impl QueryCommand {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match self {
            Self::Check(command) => command.run(),
            Self::Format(command) => command.run(),
            Self::Test(command) => command.run(),
            Self::Add(command) => command.run(),
            Self::List(command) => command.run(),
            Self::Show(command) => command.run(),
            Self::Edit(command) => command.run(),
            Self::Pause(which) => which.pause(true),
            Self::Resume(which) => which.pause(false),
            Self::Remove(which) => which.remove(),
            Self::Results(command) => command.run(),
            Self::Missed(command) => command.run(),
            Self::Explain(command) => command.run(),
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
