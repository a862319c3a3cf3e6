//! `dunlin query check`: whether a text of queries can be taken, and what is wrong with it.

use std::path::PathBuf;

use clap::Args;
use dunlin_lab::Error;
use dunlin_lab::files::open_query_text;
use dunlin_query::{Query, Refused};
use serde::Serialize;

use super::{picks, refusal};
use crate::failure::Failure;
use crate::output::{print_json, print_line};

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Queries; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What other programs get. The names are only there when all can be taken.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(skip_serializing_if = "Option::is_none")]
    queries: Option<Vec<String>>,
    errors: Vec<ErrorReport>,
}

#[derive(Debug, Serialize)]
struct ErrorReport {
    line: u64,
    column: usize,
    message: String,
    hint: Option<String>,
}

impl Check {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let text = match open_query_text(&self.file) {
            Err(Error::BadLine { line, problem, .. }) if self.json => {
                let error = ErrorReport { line, column: 1, message: problem.to_string(), hint: None };
                print_json(&Report { queries: None, errors: vec![error] })?;
                return Err(Failure::input(format!("{}:{line}: {problem}", self.file.display())));
            }
            text => text?,
        };
        match picks::parse(&text) {
            Ok(queries) => self.accept(&queries),
            Err(refused) => self.refuse(&text, refused),
        }
    }

    fn accept(&self, queries: &[Query]) -> Result<(), Failure> {
        let names: Vec<String> = queries.iter().map(|query| query.name.clone()).collect();
        if self.json {
            return print_json(&Report { queries: Some(names), errors: Vec::new() });
        }
        let noun = if names.len() == 1 { "query" } else { "queries" };
        print_line(&format!("{} {noun}: {}", names.len(), names.join(", ")))
    }

    fn refuse(&self, text: &str, refused: Refused) -> Result<(), Failure> {
        let failure = refusal(&self.file, text, &refused);
        if self.json {
            let report = |error: dunlin_query::QueryError| ErrorReport {
                line: error.line as u64,
                column: error.column,
                message: error.message,
                hint: error.hint,
            };
            let errors = refused.0.into_iter().map(report).collect();
            print_json(&Report { queries: None, errors })?;
        }
        Err(failure)
    }
}
