//! `dunlin tail`: changes as they are captured, until stopped.

use clap::Args;

use super::difference::below;
use crate::backend::records::{ChangeRecord, ResultRecord};
use crate::backend::{Backend, ReachArgs, find_query};
use crate::failure::Failure;
use crate::moments;
use crate::output::{json_line, print_line};
use crate::query::{order_of, result_lines};
use crate::terminal::{Paint, Tone, one_line};
use dunlin_engine::clock;
use dunlin_engine::control::is_about_health;

#[derive(Debug, Args)]
pub(crate) struct Tail {
    /// Begin after this cursor [default: only what is captured from now on]
    #[arg(long, value_name = "CURSOR")]
    after: Option<i64>,
    /// Only changes of this source, by number or address
    #[arg(long, value_name = "ID|URL")]
    source: Option<String>,
    /// Not changes, but the results of this query, by number or name; cursors are then those of results
    #[arg(long, value_name = "ID|NAME", conflicts_with_all = ["source", "diff"])]
    query: Option<String>,
    /// Stop after this many changes, or results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Show the words that are different below each change
    #[arg(long, conflicts_with = "json")]
    diff: bool,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
}

impl Tail {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let (backend, source) = super::open(&self.reach, self.source.as_deref())?;
        backend.liveness().mention();
        let paint = Paint::stdout();
        if let Some(query) = &self.query {
            return self.follow_results(&*backend, query, paint);
        }
        let mut n_changes = 0;
        let mut sink = |change: &ChangeRecord| {
            if self.json {
                print_line(&json_line(change)?)?;
            } else {
                print_line(&line(change, paint))?;
                if let Some(difference) = below(change, paint).filter(|_| self.diff) {
                    print_line(&difference)?;
                }
            }
            n_changes += 1;
            if self.count.is_some_and(|count| n_changes >= count) { Err(Failure::Enough) } else { Ok(()) }
        };
        match backend.follow(self.after, source, &mut sink) {
            Err(Failure::Enough) => Ok(()),
            ended => ended,
        }
    }
}

impl Tail {
    fn follow_results(&self, backend: &dyn Backend, query: &str, paint: Paint) -> Result<(), Failure> {
        let query = find_query(backend, query)?;
        let order = order_of(&query.text);
        let mut n_results = 0;
        let mut sink = |result: &ResultRecord| {
            if self.json {
                print_line(&json_line(result)?)?;
            } else {
                result_lines(&query.name, result, &order, paint)
                    .iter()
                    .try_for_each(|line| print_line(line))?;
            }
            n_results += 1;
            if self.count.is_some_and(|count| n_results >= count) { Err(Failure::Enough) } else { Ok(()) }
        };
        match backend.follow_results(query.id, self.after, &mut sink) {
            Err(Failure::Enough) => Ok(()),
            ended => ended,
        }
    }
}

/// A change as one line for people.
pub(crate) fn line(change: &ChangeRecord, paint: Paint) -> String {
    let clock = clock::parse_rfc3339(&change.detected_at)
        .map_or_else(|| change.detected_at.clone(), moments::time_of_day);
    let mark = match change.kind.as_str() {
        "added" => paint.paint(Tone::Good, "+"),
        "removed" => paint.paint(Tone::Bad, "−"),
        kind if is_about_health(kind) => paint.paint(Tone::Bad, "!"),
        _ => paint.paint(Tone::Doubtful, "~"),
    };
    format!(
        "{} {mark} {}  {}",
        paint.paint(Tone::Faint, &clock),
        paint.paint(Tone::Strong, &one_line(&change.shown_source(), 60)),
        one_line(&change.summary, 160),
    )
}
