//! `dunlin decisions` and `dunlin replay`: why each probe was made, and whether it would be made again.

use clap::Args;
use dunlin_engine::journal;
use dunlin_sched::watch::Input;
use dunlin_sched::watch::journal::{Entry, replay};
use dunlin_store::{SqliteStore, Store};
use serde::Serialize;

use crate::backend::records::DecisionRecord;
use crate::backend::{Access, ReachArgs, find_source};
use crate::failure::Failure;
use crate::moments;
use crate::output::{print_json, print_line, print_table_left};

#[derive(Debug, Args)]
pub(crate) struct Decisions {
    /// Only those about this source, by number or address
    #[arg(long, value_name = "ID|URL")]
    source: Option<String>,
    /// Only those after this one
    #[arg(long, value_name = "ID", default_value_t = 0)]
    after: i64,
    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    limit: u32,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Decisions {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let backend = self.reach.open(Access::Read)?;
        let source = self.source.as_deref().map(|source| find_source(&*backend, source)).transpose()?;
        let page = backend.decisions(source.map(|source| source.id), self.after, self.limit)?;
        if self.json {
            return print_json(&page);
        }
        let has_rows = !page.decisions.is_empty();
        let figure = |figure: Option<f64>| match figure {
            None => "-".to_owned(),
            Some(large) if large > 1e6 => format!("{large:.1e}"),
            Some(figure) => format!("{figure:.4}"),
        };
        let row = |decision: DecisionRecord| {
            let (value, price) = (figure(decision.value), figure(decision.price));
            vec![
                decision.id.to_string(),
                decision.at,
                decision.source.to_string(),
                decision.reason,
                value,
                price,
            ]
        };
        let rows = page.decisions.into_iter().map(row).collect();
        print_table_left(&["id", "at", "source", "reason", "worth", "price"], rows)?;
        if let Some(next) = page.next.filter(|_| has_rows) {
            crate::note(&format!("for what follows: add --after {next}"));
        }
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Replay {
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Replayed {
    runs: u64,
    looks: u64,
    same: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<String>,
}

impl Replay {
    /// Reads the data directory, also beside a running service: the journal is not part of the API.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let effective = self.reach.configuration()?;
        let store = SqliteStore::open_read_only(&effective.config.data)?;
        let replayed = replayed(&store)?;
        if self.json {
            print_json(&replayed)?;
        } else {
            print_line(&format!(
                "{} looks in {} runs of the service were chosen again",
                replayed.looks, replayed.runs
            ))?;
        }
        replayed.difference.map_or(Ok(()), |difference| Err(Failure::No(difference)))
    }
}

/// What comes of feeding the journal to a new watch.
fn replayed(store: &dyn Store) -> Result<Replayed, Failure> {
    let entries: Result<Vec<Entry>, _> = journal::read(store, None).collect();
    let entries = entries?;
    // Chosen and given back, since the host could not be asked after all.
    let is_returned = |entry: &&Entry| matches!(entry, Entry::Told { input: Input::Returned { .. }, .. });
    let returned = entries.iter().filter(is_returned).count() as u64;
    Ok(match replay(entries) {
        Ok(done) => {
            let looks = done.looks.saturating_sub(returned);
            Replayed { runs: done.starts, looks, same: true, difference: None }
        }
        Err(diverged) => {
            let difference = format!("at {}: {diverged}", moments::rfc3339(diverged.at));
            Replayed { runs: 0, looks: diverged.looks, same: false, difference: Some(difference) }
        }
    })
}

/// One line about the journal, for `dunlin doctor`.
pub(crate) fn sample(store: &dyn Store) -> Result<String, Failure> {
    let replayed = replayed(store)?;
    match replayed.difference {
        None => Ok(format!("{} looks in {} runs replay as recorded", replayed.looks, replayed.runs)),
        Some(difference) => Err(Failure::No(difference)),
    }
}
