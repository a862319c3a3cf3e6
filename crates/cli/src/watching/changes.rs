//! `dunlin changes`: what was captured, by cursor.

use clap::Args;

use crate::backend::records::ChangeRecord;
use crate::backend::{Access, ChangeFilter, ReachArgs, find_source};
use crate::failure::Failure;
use crate::moments;
use crate::output::{print_json, print_table_left};
use crate::terminal::one_line;

#[derive(Debug, Args)]
pub(crate) struct Changes {
    /// Only those after this cursor; the `next` of one call is the `--after` of the following one
    #[arg(long, value_name = "CURSOR", default_value_t = 0)]
    after: i64,
    /// Only those of this source, by number or address
    #[arg(long, value_name = "ID|URL")]
    source: Option<String>,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    limit: u32,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Changes {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let backend = self.reach.open(Access::Read)?;
        let source = self.source.as_deref().map(|source| find_source(&*backend, source)).transpose()?;
        let filter =
            ChangeFilter { after: self.after, source: source.map(|source| source.id), limit: self.limit };
        let page = backend.changes(filter)?;
        if self.json {
            return print_json(&page);
        }
        let now = moments::now();
        let row = |change: &ChangeRecord| {
            let detected = moments::parse(&change.detected_at);
            vec![
                change.cursor.to_string(),
                detected.map_or_else(|| change.detected_at.clone(), |at| moments::relative(at, now)),
                change.source.to_string(),
                change.kind.clone(),
                one_line(&change.summary, 80),
            ]
        };
        let rows = page.changes.iter().map(row).collect();
        print_table_left(&["cursor", "found", "source", "what", "summary"], rows)?;
        if page.changes.len() as u64 == u64::from(self.limit) {
            crate::note(&format!("there may be more: add --after {}", page.next));
        }
        Ok(())
    }
}
