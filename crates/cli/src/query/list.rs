//! `dunlin query list`, `show` and `explain`: what is installed, and how it is doing.

use clap::Args;
use dunlin_engine::clock;
use serde::Serialize;
use serde_json::Value;

use super::Which;
use super::shown::watches_for_words;
use crate::backend::records::QueryRecord;
use crate::backend::{Access, ReachArgs};
use crate::failure::Failure;
use crate::moments;
use crate::output::{print_bytes, print_json, print_line, print_table_left};
use crate::terminal::one_line;

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    which: Which,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    which: Which,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    queries: Vec<QueryRecord>,
}

impl List {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let queries = self.reach.open(Access::Read)?.queries()?;
        if self.json {
            return print_json(&Report { queries });
        }
        let now = clock::now();
        let row = |query: QueryRecord| {
            let installed = clock::parse_rfc3339(&query.installed_at);
            vec![
                query.id.to_string(),
                one_line(&query.name, 40),
                query.state,
                query.results.to_string(),
                query.missed.to_string(),
                query.sources.len().to_string(),
                installed.map_or(query.installed_at, |at| moments::relative(at, now)),
            ]
        };
        if queries.is_empty() {
            return print_line("no queries (install one with `dunlin query add FILE`)");
        }
        let header = ["id", "name", "state", "results", "missed", "sources", "installed"];
        print_table_left(&header, queries.into_iter().map(row).collect())
    }
}

impl Show {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let (_, query) = self.which.open(Access::Read)?;
        if self.json {
            return print_json(&query);
        }
        crate::note(&format!(
            "query {}: {}, {} results, {} missed",
            query.id, query.state, query.results, query.missed
        ));
        let end = if query.text.ends_with('\n') { "" } else { "\n" };
        print_bytes(format!("{}{end}", query.text).as_bytes())
    }
}

impl Explain {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let (backend, query) = self.which.open(Access::Read)?;
        let explained = backend.explain_query(query.id)?;
        if self.json {
            return print_json(&explained);
        }
        backend.liveness().mention();
        let now = clock::now();
        let at = |value: &Value| {
            let at = value.as_str().and_then(clock::parse_rfc3339);
            at.map_or_else(|| "-".to_owned(), |at| moments::relative(at, now))
        };
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        print_line(&format!(
            "query {} ({}): {}, {} results, {} missed",
            query.id, query.name, query.state, query.results, query.missed
        ))?;
        if !explained["next_begin"].is_null() {
            print_line(&format!("the next instance begins {}", at(&explained["next_begin"])))?;
        }
        let watches = watches_for_words(&query.text);
        if !watches {
            print_line(&format!("{} instances are open", explained["open"]))?;
        }
        let rows = |name: &str| explained[name].as_array().cloned().unwrap_or_default();
        let reads: Vec<_> = rows("reads")
            .iter()
            .map(|part| {
                let health = text(&part["health"]);
                let reason = part["reason"].as_str().filter(|reason| !reason.is_empty());
                vec![
                    text(&part["name"]),
                    part["source"].to_string(),
                    reason.map_or_else(
                        || health.clone(),
                        |reason| format!("{health}: {}", one_line(reason, 60)),
                    ),
                    at(&part["last_probe"]),
                    at(&part["last_capture"]),
                ]
            })
            .collect();
        if !reads.is_empty() {
            print_line("")?;
            print_table_left(&["reads", "source", "state", "probed", "captured"], reads)?;
        }
        let relevant: Vec<_> = rows("relevant")
            .iter()
            .map(|source| {
                let figure =
                    |name: &str| source[name].as_f64().map_or_else(String::new, |n| format!("{n:.2}"));
                vec![
                    source["source"].to_string(),
                    figure("relevance"),
                    figure("weight"),
                    at(&source["tracked_until"]),
                ]
            })
            .collect();
        if watches && relevant.is_empty() && query.state == "running" {
            print_line(
                "no source that is watched is about its words yet; what any of them says of it is told all the same",
            )?;
        }
        if !relevant.is_empty() {
            print_line("")?;
            print_table_left(&["relevant", "relevance", "adds weight", "tracked densely until"], relevant)?;
        }
        let waiting: Vec<_> = rows("waiting")
            .iter()
            .map(|part| {
                vec![text(&part["name"]), at(&part["began_at"]), at(&part["from"]), at(&part["until"])]
            })
            .collect();
        if !waiting.is_empty() {
            print_line("")?;
            print_table_left(&["waits for", "instance began", "from", "until"], waiting)?;
        }
        Ok(())
    }
}
