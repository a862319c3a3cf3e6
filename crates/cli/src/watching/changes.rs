//! `dunlin changes`: what was captured, by cursor.

use clap::Args;

use super::difference::below;
use super::{Order, newest_only, tail};
use crate::backend::records::ChangeRecord;
use crate::backend::{ChangeFilter, ReachArgs};
use crate::failure::Failure;
use crate::moments;
use crate::output::{print_json, print_line, print_table_left};
use crate::terminal::{Paint, one_line};
use dunlin_engine::clock;

/// How many are listed by default.
const USUAL_LIMIT: u32 = 100;

#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Only those after this cursor; the `next` of one call is the `--after` of the following one
    #[arg(long, value_name = "CURSOR")]
    after: Option<i64>,
    /// Only those of this source, by number or address
    #[arg(long, value_name = "ID|URL")]
    source: Option<String>,
    /// At most this many, from the oldest or from --after on [default with --json: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: Option<u32>,
    /// So many of the newest [default without --json: 50]
    #[arg(long, value_name = "N", conflicts_with_all = ["after", "limit"], value_parser = clap::value_parser!(u32).range(1..=1_000))]
    last: Option<u32>,
    /// Show the words that are different below each change
    #[arg(long, conflicts_with = "json")]
    diff: bool,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Changes {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let (backend, source) = super::open(&self.reach, self.source.as_deref())?;
        let newest_only =
            newest_only(self.last, Order::of(&[self.after.is_some(), self.limit.is_some(), self.json]));
        let limit = self.limit.unwrap_or(USUAL_LIMIT);
        let page = match newest_only {
            Some(n_last) => backend.last_changes(source, n_last)?,
            None => backend.changes(ChangeFilter { after: self.after.unwrap_or(0), source, limit })?,
        };
        if self.json {
            return print_json(&page);
        }
        let now = clock::now();
        let row = |change: &ChangeRecord| {
            let detected = clock::parse_rfc3339(&change.detected_at);
            vec![
                change.cursor.to_string(),
                detected.map_or_else(|| change.detected_at.clone(), |at| moments::relative(at, now)),
                format!("{} {}", change.source, one_line(&change.shown_source(), 30)),
                change.kind.clone(),
                change.version.map_or_else(|| "-".to_owned(), |version| format!("v{version}")),
                one_line(&change.summary, 80),
            ]
        };
        if self.diff {
            let paint = Paint::stdout();
            for change in &page.changes {
                print_line(&tail::line(change, paint))?;
                below(change, paint).map_or(Ok(()), |difference| print_line(&difference))?;
            }
        } else {
            let rows = page.changes.iter().map(row).collect();
            print_table_left(&["cursor", "found", "source", "what", "version", "summary"], rows)?;
        }
        let n_shown = page.changes.len() as u64;
        if newest_only.is_some_and(|n_last| n_shown == u64::from(n_last)) {
            crate::note("these are the newest; --last N shows more, --after 0 begins with the oldest");
        } else if newest_only.is_none() && n_shown == u64::from(limit) {
            crate::note(&format!("there may be more: add --after {}", page.next));
        }
        Ok(())
    }
}
