//! `dunlin doctor`: is everything as it should be, and what to try where it is not? Reads only, and changes nothing.

mod checks;

use std::fmt::Write as _;

use clap::Args;
use serde::Serialize;

use crate::backend::DirectoryArgs;
use crate::failure::Failure;
use crate::output::{print_json, print_line};
use crate::terminal::{Paint, Tone, harmless};

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    directory: DirectoryArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Warn,
    Fail,
}

/// What one check found.
#[derive(Debug, Serialize)]
struct Finding {
    check: &'static str,
    verdict: Verdict,
    found: String,
    /// What to try; empty when there is nothing to do.
    #[serde(rename = "try")]
    advice: String,
}

impl Finding {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, found: found.into(), advice: String::new() }
    }

    fn warn(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Warn, found: found.into(), advice: advice.into() }
    }

    fn fail(check: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Fail, found: found.into(), advice: advice.into() }
    }

    fn line(&self, paint: Paint) -> String {
        let (tone, word) = match self.verdict {
            Verdict::Ok => (Tone::Good, "ok  "),
            Verdict::Warn => (Tone::Doubtful, "warn"),
            Verdict::Fail => (Tone::Bad, "fail"),
        };
        let mut line = format!("{}  {:<14}{}", paint.paint(tone, word), self.check, harmless(&self.found));
        if !self.advice.is_empty() {
            let _ = write!(line, "\n      {:<14}try: {}", "", harmless(&self.advice));
        }
        line
    }
}

#[derive(Debug, Serialize)]
struct Report {
    well: bool,
    findings: Vec<Finding>,
}

impl Doctor {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let findings = checks::all(&self.directory);
        let n_failed = findings.iter().filter(|finding| finding.verdict == Verdict::Fail).count();
        if self.json {
            print_json(&Report { well: n_failed == 0, findings })?;
        } else {
            let paint = Paint::stdout();
            findings.iter().try_for_each(|finding| print_line(&finding.line(paint)))?;
        }
        match n_failed {
            0 => Ok(()),
            1 => Err(Failure::No("one check failed".to_owned())),
            n => Err(Failure::No(format!("{n} checks failed"))),
        }
    }
}
