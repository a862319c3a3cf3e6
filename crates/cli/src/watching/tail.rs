//! `dunlin tail`: changes as they are captured, until stopped.

use clap::Args;

use crate::backend::records::ChangeRecord;
use crate::backend::{Access, ReachArgs, find_source};
use crate::failure::Failure;
use crate::moments;
use crate::output::{json_line, print_line};
use crate::terminal::{Paint, Tone, harmless, one_line};

#[derive(Debug, Args)]
pub(crate) struct Tail {
    /// Begin after this cursor [default: only what is captured from now on]
    #[arg(long, value_name = "CURSOR")]
    after: Option<i64>,
    /// Only changes of this source, by number or address
    #[arg(long, value_name = "ID|URL")]
    source: Option<String>,
    /// Stop after this many changes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

impl Tail {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let backend = self.reach.open(Access::Read)?;
        let source = self.source.as_deref().map(|source| find_source(&*backend, source)).transpose()?;
        backend.liveness().mention();
        let paint = Paint::stdout();
        let mut n_changes = 0;
        let mut sink = |change: &ChangeRecord| {
            if self.json {
                print_line(&json_line(change)?)?;
            } else {
                print_line(&line(change, paint))?;
            }
            n_changes += 1;
            if self.count.is_some_and(|count| n_changes >= count) { Err(Failure::Enough) } else { Ok(()) }
        };
        match backend.follow(self.after, source.map(|source| source.id), &mut sink) {
            Err(Failure::Enough) => Ok(()),
            ended => ended,
        }
    }
}

/// A change as one line for people.
pub(crate) fn line(change: &ChangeRecord, paint: Paint) -> String {
    let clock =
        moments::parse(&change.detected_at).map_or_else(|| change.detected_at.clone(), moments::time_of_day);
    let mark = match change.kind.as_str() {
        "added" => paint.paint(Tone::Good, "+"),
        "removed" => paint.paint(Tone::Bad, "−"),
        _ => paint.paint(Tone::Doubtful, "~"),
    };
    format!(
        "{} {mark} {}  {}",
        paint.paint(Tone::Faint, &clock),
        paint.paint(Tone::Strong, &harmless(&change.shown_url())),
        one_line(&change.summary, 160),
    )
}
