//! `dunlin decisions` and `dunlin replay`: why each probe was made, and whether it would be made again.

use std::collections::BTreeMap;

use clap::Args;
use dunlin_engine::clock;
use dunlin_engine::journal;
use dunlin_sched::scheduler::Input;
use dunlin_sched::scheduler::journal::{JournalEntry, replay};
use dunlin_store::Store;
use serde::Serialize;

use super::{Order, newest_only};
use crate::backend::records::DecisionRecord;
use crate::backend::{DirectoryArgs, ReachArgs, SourceFilter};
use crate::data_dir;
use crate::failure::Failure;
use crate::output::{print_json, print_line, print_table_left};
use crate::terminal::one_line;

/// How many decisions are listed by default.
const USUAL_LIMIT: u32 = 100;

#[derive(Debug, Args)]
pub(crate) struct Decisions {
    /// Only those about this source, by number or address
    #[arg(long, value_name = "ID|URL")]
    source: Option<String>,
    /// Only those after this one
    #[arg(long, value_name = "ID")]
    after: Option<i64>,
    /// At most this many, from the oldest or from --after on [default with --json: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    limit: Option<u32>,
    /// So many of the newest [default without --json: 50]
    #[arg(long, value_name = "N", conflicts_with_all = ["after", "limit"], value_parser = clap::value_parser!(u32).range(1..=1_000))]
    last: Option<u32>,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Decisions {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let (backend, source) = super::open(&self.reach, self.source.as_deref())?;
        let newest_only =
            newest_only(self.last, Order::of(&[self.after.is_some(), self.limit.is_some(), self.json]));
        let page = match newest_only {
            Some(n_last) => backend.last_decisions(source, n_last)?,
            None => backend.decisions(source, self.after.unwrap_or(0), self.limit.unwrap_or(USUAL_LIMIT))?,
        };
        if self.json {
            return print_json(&page);
        }
        let has_rows = !page.decisions.is_empty();
        // Of one source, every row would say the same.
        let mut names: BTreeMap<i64, String> = BTreeMap::new();
        if source.is_none() && has_rows {
            let sources = backend.sources(&SourceFilter::default())?;
            names.extend(
                sources.iter().filter_map(|known| Some((known.id, one_line(known.shown_name()?, 30)))),
            );
        }
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
                match names.get(&decision.source) {
                    Some(name) => format!("{} {name}", decision.source),
                    None => decision.source.to_string(),
                },
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
    directory: DirectoryArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Replayed {
    runs: u64,
    probes: u64,
    passed_over: u64,
    same: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<String>,
}

impl Replay {
    /// Reads the data directory, also beside a running service: the journal is not part of the API.
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let effective = self.directory.configuration()?;
        let store = data_dir::open_to_read(&effective.config.data)?;
        let replayed = replayed(&store)?;
        if self.json {
            print_json(&replayed)?;
        } else {
            print_line(&replayed.in_words())?;
        }
        replayed.objection().map_or(Ok(()), |objection| Err(Failure::No(objection)))
    }
}

impl Replayed {
    fn in_words(&self) -> String {
        let passed_over = match self.passed_over {
            0 => String::new(),
            n => format!("; {n} probes were passed over, since the beginning of their run is no longer kept"),
        };
        format!("{} probes in {} runs of the service were chosen again{passed_over}", self.probes, self.runs)
    }

    /// What is wrong, if anything is: another choice, or nothing that could be tried.
    fn objection(&self) -> Option<String> {
        let nothing = || {
            let reason = "none of the recorded probes could be tried: the beginning of their run is no longer kept \
                          (restart the service to begin a new one)";
            (self.runs == 0 && self.passed_over > 0).then(|| reason.to_owned())
        };
        self.difference.clone().or_else(nothing)
    }
}

/// The result of feeding the journal to a new watch.
fn replayed(store: &dyn Store) -> Result<Replayed, Failure> {
    replay_of(journal::read(store, None))
}

fn replay_of(
    entries: impl Iterator<Item = Result<JournalEntry, dunlin_engine::Error>>,
) -> Result<Replayed, Failure> {
    let mut failure = None;
    // Chosen and returned, since the host had to wait after all.
    let mut n_returned = 0;
    let mut has_begun = false;
    let entries = entries.map_while(|entry| {
        let entry = entry.map_err(|error| failure = Some(error)).ok()?;
        has_begun |= matches!(entry, JournalEntry::Started(_));
        let is_returned = matches!(
            entry,
            JournalEntry::Input { input: Input::ProbeReturned { .. } | Input::ProbePostponed { .. }, .. }
        );
        n_returned += u64::from(has_begun && is_returned);
        Some(entry)
    });
    let outcome = replay(entries);
    if let Some(error) = failure {
        return Err(error.into());
    }
    Ok(match outcome {
        Ok(done) => {
            let probes = done.probes.saturating_sub(n_returned);
            let passed_over = done.passed_over;
            Replayed { runs: done.starts, probes, passed_over, same: true, difference: None }
        }
        Err(diverged) => {
            let difference = format!("at {}: {diverged}", clock::rfc3339(diverged.at));
            let probes = diverged.probes;
            Replayed { runs: 0, probes, passed_over: 0, same: false, difference: Some(difference) }
        }
    })
}

/// One line about the journal, for `dunlin doctor`.
pub(crate) fn sample(store: &dyn Store) -> Result<String, Failure> {
    let replayed = replayed(store)?;
    replayed.objection().map_or_else(|| Ok(replayed.in_words()), |objection| Err(Failure::No(objection)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dunlin_core::{ResourceIdx, SourceIdx, Time};
    use dunlin_sched::model::{Evidence, Model, Prior};
    use dunlin_sched::scheduler::journal::JournaledScheduler;
    use dunlin_sched::scheduler::{HostIdx, HostTerms, Pace, Settings, Shown, SourceTerms, Strategy};
    use dunlin_sched::value::{Life, Urgency, ValueModel};

    use super::*;

    #[test]
    fn a_probe_that_was_returned_is_not_counted() {
        let at = Time::from_seconds;
        let chronon = Duration::from_secs(1);
        let budget = Pace { per_second: 1.0 };
        let mut scheduler = JournaledScheduler::new(Settings {
            chronon,
            strategy: Strategy::Learned,
            budget,
            initial_price: None,
        });
        let host = HostIdx(0);
        scheduler.apply(at(0), Input::Host { host, terms: HostTerms { at_one_time: 9, budget: None } });
        let terms = SourceTerms {
            host,
            value: ValueModel::new(Life::Overwrite, Urgency::Uniform),
            cost: 1.0,
            shortest_gap: Duration::from_secs(10),
            longest_gap: Duration::from_hours(24),
            wants_changes: true,
        };
        let model = Model::new(Prior { rate: 0.01, strength: 100.0 });
        for source in (0..3).map(SourceIdx) {
            let joined = Input::SourceAdded {
                resource: ResourceIdx(source.0),
                source,
                terms,
                model: model.clone(),
                last_probe: None,
                not_before: None,
            };
            scheduler.apply(at(0), joined);
        }
        let mut n_chosen = 0;
        for second in 1..=4 {
            let mut chosen = Vec::new();
            scheduler.choose(at(second), 1, &mut chosen);
            for choice in chosen {
                n_chosen += 1;
                let resource = choice.resource;
                let ended = if n_chosen == 1 {
                    Input::ProbeReturned { resource }
                } else {
                    Input::Probed { resource, shown: Shown::All(Evidence::Unchanged) }
                };
                scheduler.apply(at(second), ended);
            }
        }
        assert!(n_chosen > 1);
        let replayed = replay_of(scheduler.entries().iter().cloned().map(Ok)).unwrap();
        assert_eq!((replayed.runs, replayed.probes, replayed.same), (1, n_chosen - 1, true));
        // Nor is one of an earlier run whose beginning is no longer kept.
        let rest_of_another = scheduler.entries()[1..].iter();
        let entries = rest_of_another.chain(scheduler.entries()).cloned().map(Ok);
        let replayed = replay_of(entries).unwrap();
        assert_eq!((replayed.runs, replayed.probes, replayed.same), (1, n_chosen - 1, true));
        assert!(replayed.passed_over > 0);
    }
}
