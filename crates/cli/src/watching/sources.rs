//! `dunlin sources`: what is watched, and its health.

use clap::Args;
use dunlin_core::Time;
use serde::Serialize;
use serde_json::Value;

use crate::backend::records::SourceRecord;
use crate::backend::{Access, Backend, ReachArgs, SourceFilter};
use crate::failure::Failure;
use crate::moments;
use crate::output::{print_json, print_table_left};
use crate::terminal::one_line;
use dunlin_engine::clock;

/// Up to this many sources, the table also shows when each was last and will next be probed.
const MOST_EXPLAINED: usize = 500;

#[derive(Debug, Args)]
pub(crate) struct Sources {
    /// Only those with this tag
    #[arg(long)]
    tag: Option<String>,
    /// Only those in this state
    #[arg(long, value_parser = ["new", "well", "attention", "failing", "refused", "paused"])]
    state: Option<String>,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    sources: Vec<SourceRecord>,
}

impl Sources {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let backend = self.reach.open(Access::Read)?;
        let mut sources = backend.sources(&SourceFilter { tag: self.tag.clone(), url: None })?;
        sources.retain(|source| self.state.as_deref().is_none_or(|state| source.state_word() == state));
        if self.json {
            return print_json(&Report { sources });
        }
        if sources.is_empty() {
            crate::note(&self.none());
            return Ok(());
        }
        let is_short = sources.len() <= MOST_EXPLAINED;
        let mut header = vec!["id", "name", "state", "kind", "url"];
        if is_short {
            header.extend(["last probe", "next probe", "changes/day"]);
        }
        let rows = sources.iter().map(|source| {
            let mut row = row(source);
            if is_short {
                row.extend(probes(&*backend, source));
            }
            row
        });
        print_table_left(&header, rows.collect())?;
        if !is_short {
            crate::note(&format!(
                "probes and changes are shown for up to {MOST_EXPLAINED} sources (narrow the list with --tag or --state, or `dunlin explain` one)"
            ));
        }
        backend.liveness().mention();
        Ok(())
    }

    /// What to say when there is nothing to list.
    fn none(&self) -> String {
        let of_tag = self.tag.as_deref().map(|tag| one_line(tag, 50));
        let state = self.state.as_deref().map(|state| match state {
            "attention" => "in need of attention",
            state => state,
        });
        match (state, of_tag) {
            (None, None) => {
                "no sources (add one with `dunlin add URL`, or many with `dunlin import FILE`)".to_owned()
            }
            (None, Some(tag)) => format!("no source has the tag {tag} (`dunlin sources` lists all)"),
            (Some(state), None) => format!("no source is {state} (`dunlin sources` lists all)"),
            (Some(state), Some(tag)) => {
                format!("no source with the tag {tag} is {state} (`dunlin sources --tag {tag}` lists those)")
            }
        }
    }
}

fn row(source: &SourceRecord) -> Vec<String> {
    let word = source.state_word().to_owned();
    let state = match source.state.reason.as_str() {
        "" => word,
        reason => format!("{word}: {}", one_line(reason, 50)),
    };
    let name = one_line(source.shown_name().unwrap_or("-"), 30);
    vec![source.id.to_string(), name, state, source.kind.clone(), one_line(&source.shown_url(), 70)]
}

/// The last probe, the next one and how often it is expected to change; dashes where that is not known.
fn probes(backend: &dyn Backend, source: &SourceRecord) -> [String; 3] {
    let Ok(explained) = backend.explain(source.id) else { return ["-", "-", "-"].map(str::to_owned) };
    let now = clock::now();
    let when = |name: &str| when(&explained, name, now);
    let curve = explained["forecast"]["curve"].as_array();
    let expected: Option<f64> =
        curve.map(|hours| hours.iter().filter_map(|hour| hour["expected"].as_f64()).sum());
    let next = next_probe(&explained, now);
    // Of a source that is not watched nothing is expected, not even nothing.
    let is_watched = next != "-" && explained["last_probe"] != Value::Null;
    let expected = expected.filter(|_| is_watched).map(|changes| format!("{:.1}", changes.max(0.0)));
    let last = match explained["last_failure"].as_str() {
        Some(_) => format!("{}, failed", when("last_failure")),
        None => when("last_probe"),
    };
    [last, next, expected.unwrap_or_else(|| "-".to_owned())]
}

/// A time in what is known of a source, as people read it; a dash where there is none.
fn when(explained: &Value, name: &str, now: Time) -> String {
    let time = explained[name].as_str().and_then(clock::parse_rfc3339);
    time.map_or_else(|| "-".to_owned(), |time| moments::relative(time, now))
}

/// When the next probe is expected.
fn next_probe(explained: &Value, now: Time) -> String {
    match explained["standing"].as_str() {
        Some("in_flight") => "now".to_owned(),
        Some("paused" | "unusable") => "-".to_owned(),
        // It is due, and so are others: the latest is what can be promised.
        _ if explained["others_due"].as_u64().unwrap_or(0) > 0 => {
            match when(explained, "next_probe_by", now).as_str() {
                "-" => "in its turn".to_owned(),
                by => by.replacen("in ", "within ", 1),
            }
        }
        _ => when(explained, "next_probe", now),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_source_that_waits_for_others_is_not_probed_now() {
        let now = Time::from_seconds(1_700_000_000);
        let at = |seconds: i64| clock::rfc3339(Time::from_seconds(1_700_000_000 + seconds));
        let mut explained = json!({"standing": "watched", "next_probe": at(0), "others_due": 0});
        assert_eq!(next_probe(&explained, now), "now");
        explained["others_due"] = 40.into();
        assert_eq!(next_probe(&explained, now), "in its turn", "there is no budget");
        explained["next_probe_by"] = at(300).into();
        assert_eq!(next_probe(&explained, now), "within 5 min");
        explained["standing"] = "paused".into();
        assert_eq!(next_probe(&explained, now), "-");
    }
}
