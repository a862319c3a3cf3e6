//! The description of the language is a test: its queries are read and written, its errors are the ones shown, and its
//! traces are what the plan of the query above them does.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_query::plan::{CapturedBy, Instance, Outcome, PlannedInterval, QueryPlan};
use dunlin_query::{Before, Captures, Query, Value, What, format, parse};

const PAGE: &str = include_str!("../../../../docs/query-language.md");

/// The fenced blocks of the page: the line and the word behind the fence, and the content.
fn blocks() -> Vec<(usize, &'static str, String)> {
    let mut blocks: Vec<(usize, &str, String)> = Vec::new();
    let mut is_inside = false;
    for (n, line) in PAGE.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(kind) if !is_inside => blocks.push((n + 1, kind, String::new())),
            None if is_inside => {
                let _ = writeln!(blocks.last_mut().unwrap().2, "{line}");
            }
            _ => {}
        }
        is_inside ^= line.starts_with("```");
    }
    blocks
}

fn queries(line: usize, text: &str) -> Vec<Query> {
    parse(text).unwrap_or_else(|refused| panic!("docs/query-language.md:{line}\n{}", refused.render(text)))
}

#[test]
fn every_query_is_read_and_written() {
    let blocks = blocks();
    let texts = blocks.iter().filter(|(_, kind, _)| *kind == "query");
    let mut n_queries = 0;
    for (line, _, text) in texts {
        let read = queries(*line, text);
        let written = format(&read);
        assert_eq!(queries(*line, &written), read);
        assert_eq!(format(&queries(*line, &written)), written);
        n_queries += read.len();
    }
    assert!(n_queries >= 10, "{n_queries} queries");
}

#[test]
fn every_error_is_shown_as_it_is() {
    let blocks = blocks();
    let mut n_errors = 0;
    for pair in blocks.windows(2).filter(|pair| pair[0].1 == "query-error") {
        let [(line, _, text), (_, kind, expected)] = pair else { unreachable!() };
        assert_eq!(*kind, "text", "line {line}: an error is followed by what is shown of it");
        let refused = parse(text).expect_err("it is an error");
        assert_eq!(&refused.render(text), expected, "docs/query-language.md:{line}");
        n_errors += refused.0.len();
    }
    assert!(n_errors >= 5, "{n_errors} errors");
}

#[test]
fn every_trace_is_what_happens() {
    let blocks = blocks();
    let mut query = None;
    let mut n_traces = 0;
    for (line, kind, text) in &blocks {
        match *kind {
            "query" => query = queries(*line, text).into_iter().next(),
            "trace" => {
                let played = played(query.as_ref().expect("a query before its trace"), text);
                assert_eq!(&played, text, "docs/query-language.md:{line}");
                n_traces += 1;
            }
            _ => {}
        }
    }
    assert!(n_traces >= 4, "{n_traces} traces");
}

#[test]
fn the_page_names_every_keyword_and_limit() {
    for word in ["OVERWRITTEN", "IMPORTANCE", "MATCHES", "64 KiB", "1000 queries", "32 ", "64 deep"] {
        assert!(PAGE.contains(word), "{word}");
    }
}

/// A trace with its right sides as the plan has them. A line is `TIME  WHAT HAPPENS -> WHAT FOLLOWS`.
fn played(query: &Query, trace: &str) -> String {
    let plan = QueryPlan::new(query, clock("00:00")).unwrap();
    let mut told = Told::default();
    let mut instance: Option<Instance> = None;
    let mut result = String::new();
    for line in trace.lines() {
        let (event, _) = line.split_once("->").expect("an arrow");
        let (time, what) = event.trim().split_once(' ').expect("a time and what happens");
        let (now, what) = (clock(time), what.trim());
        let follows = match (what, what.strip_suffix(" missed")) {
            ("the clock", _) => plan
                .next_instance(now)
                .map_or("no more".to_owned(), |next| format!("begins at {}", shown(next))),
            ("begins", _) => {
                told.captured.clear();
                let (begun, intervals) = plan.begin(now);
                let follows = wants(&plan, now, &intervals, None);
                instance = Some(begun);
                follows
            }
            (_, missed) => {
                let instance = instance.as_mut().expect("it has begun");
                let (name, values) = what.split_once(": ").unwrap_or((missed.unwrap_or(what), ""));
                let select = plan.selects().iter().position(|select| select.name == name).expect("a select");
                assert!(instance.is_open(select), "{line}: nothing is open there");
                let step = if missed.is_some() {
                    instance.missed(&plan, select, &told.captures(&plan), now)
                } else {
                    told.capture(name, values);
                    instance.captured(&plan, select, &told.captures(&plan), now)
                };
                wants(&plan, now, &step.extend, step.outcome)
            }
        };
        let width = event.trim_end().chars().count().max(event.chars().count() - 1);
        let _ = writeln!(result, "{:width$} -> {follows}", event.trim_end());
    }
    result
}

fn wants(plan: &QueryPlan, now: Time, intervals: &[PlannedInterval], outcome: Option<Outcome>) -> String {
    if let Some(outcome) = outcome {
        return match outcome {
            Outcome::Complete => "complete",
            Outcome::Filtered => "complete, but not told",
            Outcome::FellAway => "nothing to tell",
            Outcome::Missed => "missed",
        }
        .to_owned();
    }
    let wanted = |interval: &PlannedInterval| {
        let name = &plan.selects()[interval.select].name;
        let from =
            if interval.start == now { String::new() } else { format!(" from {}", shown(interval.start)) };
        let until = match interval.finish {
            None => "overwritten".to_owned(),
            Some(finish) if finish.micros() % 1_000_000 == 0 => shown(finish),
            Some(finish) => format!("just before {}", shown(finish.plus(Duration::from_micros(1)))),
        };
        let change = if interval.captured_by == CapturedBy::Change { ", a change" } else { "" };
        format!("{name}{from} until {until}{change}")
    };
    let wanted: Vec<String> = intervals.iter().map(wanted).collect();
    if wanted.is_empty() { "waits".to_owned() } else { format!("wants {}", wanted.join("; ")) }
}

/// What a trace says was captured: the texts of this instance by name, and those of the capture before.
#[derive(Default)]
struct Told {
    captured: BTreeMap<String, Vec<String>>,
    before: BTreeMap<String, String>,
    latest: BTreeMap<String, String>,
}

impl Told {
    /// `nothing new`, or texts in quotes with commas between.
    fn capture(&mut self, name: &str, values: &str) {
        let texts: Vec<String> = values.split('\'').skip(1).step_by(2).map(str::to_owned).collect();
        assert!(!texts.is_empty() || values == "nothing new", "{values}");
        if let Some(first) = texts.first() {
            let before = self.latest.insert(name.to_owned(), first.clone());
            self.before.remove(name);
            self.before.extend(before.map(|before| (name.to_owned(), before)));
        }
        self.captured.insert(name.to_owned(), texts);
    }

    fn captures<'a>(&'a self, plan: &QueryPlan) -> Captures<'a> {
        let mut captures = Captures::new();
        for (name, texts) in &self.captured {
            let is_item =
                plan.selects().iter().any(|select| select.name == *name && select.what == What::Item);
            let before = self.before.get(name).map(|text| Before { text, number: text.parse().ok() });
            let value = |text: &'a String| {
                if is_item {
                    Value { title: Some(text), ..Value::default() }
                } else {
                    Value { text, number: text.parse().ok(), before, ..Value::default() }
                }
            };
            captures.insert(name, texts.iter().map(value).collect());
        }
        captures
    }
}

/// A time of the day on which all traces play: Monday, 2 November 2026.
fn clock(text: &str) -> Time {
    let seconds = text.split(':').fold(0, |seconds, part| seconds * 60 + part.parse::<i64>().unwrap());
    let seconds = if text.len() > 5 { seconds } else { seconds * 60 };
    Time::from_seconds(1_793_577_600 + seconds)
}

fn shown(time: Time) -> String {
    let seconds = time.seconds() - 1_793_577_600;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if seconds == 0 {
        format!("{hours:02}:{minutes:02}")
    } else {
        format!("{hours:02}:{minutes:02}:{seconds:02}")
    }
}
