//! `dunlin query format`: queries in the one canonical form, on standard output or in their file.

use std::path::PathBuf;

use clap::Args;
use dunlin_lab::files::{open_query_text, save};
use dunlin_query::limits::MAX_TEXT;
use dunlin_query::{first_comment, format};

use super::{picks, refusal};
use crate::failure::Failure;
use crate::output::print_bytes;

#[derive(Debug, Args)]
pub(crate) struct Format {
    /// Queries; - is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace the file by the canonical text; refused if comments would be lost
    #[arg(long)]
    write: bool,
}

impl Format {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let file = self.file.display();
        if self.write && self.file.as_os_str() == "-" {
            return Err(Failure::input("--write replaces a file (name one, or leave out --write)"));
        }
        let text = open_query_text(&self.file)?;
        let queries = picks::parse(&text).map_err(|refused| refusal(&self.file, &text, &refused))?;
        let written = format(&queries);
        let comment = first_comment(&text);
        if !self.write {
            if let Some(line) = comment {
                crate::note(&format!("{file}:{line}: comments are not part of the canonical text"));
            }
            return print_bytes(written.as_bytes());
        }
        if let Some(line) = comment {
            return Err(Failure::input(format!(
                "{file}:{line}: a comment would be lost (take the comments out, or leave out --write)"
            )));
        }
        if written.len() > MAX_TEXT {
            return Err(Failure::input(format!(
                "{file}: the canonical text has {} bytes, more than can be read again (expected at most {MAX_TEXT}; split \
                 the queries over several files)",
                written.len()
            )));
        }
        if written != text {
            save(&self.file, |out| out.write_all(written.as_bytes()))?;
        }
        Ok(())
    }
}
