//! How results are shown: aligned tables for people, exactly one JSON object for programs, and progress on
//! standard error for the user.

use std::collections::BTreeMap;
use std::io::{self, Write};

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use dunlin_lab::planners::{OptimalityBound, PlannerName};
use dunlin_lab::policies::PolicyChoice;
use dunlin_sched::policy::Preemption;
use dunlin_sched::score::{IntervalScore, TraceScore};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use crate::failure::Failure;
use crate::terminal::{harmless, harmless_json};

/// Writes one JSON object and a line end to standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = harmless_json(&serde_json::to_string_pretty(value).map_err(io::Error::from)?);
    text.push('\n');
    io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// A JSON object on one line, for lists of them.
pub(crate) fn json_line(value: &impl Serialize) -> io::Result<String> {
    Ok(harmless_json(&serde_json::to_string(value)?))
}

/// Writes one line.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(format!("{line}\n").as_bytes())?;
    Ok(stdout.flush()?)
}

/// Writes bytes as they are.
pub(crate) fn print_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    Ok(stdout.flush()?)
}

/// Writes a title and a blank line.
pub(crate) fn print_title(title: &str) -> Result<(), Failure> {
    Ok(io::stdout().write_all(format!("{title}\n\n").as_bytes())?)
}

/// Writes a table: the first column to the left, the rest to the right.
pub(crate) fn print_table(header: &[&str], rows: Vec<Vec<String>>) -> Result<(), Failure> {
    print_aligned(header, rows, |column| if column == 0 { CellAlignment::Left } else { CellAlignment::Right })
}

/// Writes a table of words: every column to the left.
pub(crate) fn print_table_left(header: &[&str], rows: Vec<Vec<String>>) -> Result<(), Failure> {
    print_aligned(header, rows, |_| CellAlignment::Left)
}

/// Writes two texts in columns that share the width of the terminal, with a mark between them.
pub(crate) fn print_columns(header: [&str; 3], rows: Vec<[String; 3]>) -> Result<(), Failure> {
    const USUAL_WIDTH: u16 = 120;
    let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header);
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width.unwrap_or(USUAL_WIDTH).max(40));
    for row in rows {
        table.add_row(row);
    }
    let lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    print_line(&lines.join("\n"))
}

fn print_aligned(
    header: &[&str],
    rows: Vec<Vec<String>>,
    alignment: impl Fn(usize) -> CellAlignment,
) -> Result<(), Failure> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    for row in rows {
        table.add_row(row.iter().map(|cell| harmless(cell)));
    }
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(alignment(i));
    }
    let lines: Vec<_> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    io::stdout().write_all((lines.join("\n") + "\n").as_bytes())?;
    Ok(())
}

/// A bar on standard error; invisible when that is not a terminal.
pub(crate) fn progress(length: u64, what: &'static str) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} {eta}").map(|s| s.progress_chars("=> "));
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(5));
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.set_message(what);
    bar
}

/// Whose schedule it is.
#[derive(Debug)]
pub(crate) struct Label {
    name: String,
    preemptive: Option<bool>,
    /// Name and variant in one.
    title: String,
}

impl Label {
    /// A schedule from a file.
    pub(crate) fn file() -> Self {
        Self { name: "file".to_owned(), preemptive: None, title: "file".to_owned() }
    }
}

impl From<PlannerName> for Label {
    fn from(planner: PlannerName) -> Self {
        Self { name: planner.to_string(), preemptive: None, title: planner.to_string() }
    }
}

impl From<PolicyChoice> for Label {
    fn from(choice: PolicyChoice) -> Self {
        let is_preemptive = choice.preemption == Preemption::Preemptive;
        Self {
            name: choice.name.to_string(),
            preemptive: choice.name.has_variants().then_some(is_preemptive),
            title: choice.to_string(),
        }
    }
}

/// The figures of a run on needs, under the names that other programs rely on.
#[derive(Debug, Serialize)]
pub(crate) struct IntervalsReport {
    #[serde(skip)]
    pub(crate) title: String,
    policy: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    preemptive: Option<bool>,
    ceis: usize,
    captured: usize,
    gained_completeness: f64,
    weight_captured: f64,
    weighted_completeness: f64,
    intervals_captured: usize,
    probes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) within_budget: Option<bool>,
    #[serde(flatten)]
    pub(crate) guarantee: Option<GuaranteeReport>,
}

/// How good a plan is, where its planner knows.
#[derive(Debug, Serialize)]
pub(crate) struct GuaranteeReport {
    bound: f64,
    proven: bool,
    method: &'static str,
}

impl From<OptimalityBound> for GuaranteeReport {
    fn from(guarantee: OptimalityBound) -> Self {
        let OptimalityBound { bound, is_proven, method } = guarantee;
        Self { bound, proven: is_proven, method: method.as_str() }
    }
}

impl IntervalsReport {
    pub(crate) fn new(label: &Label, score: &IntervalScore, seconds: Option<f64>) -> Self {
        Self {
            title: label.title.clone(),
            policy: label.name.clone(),
            preemptive: label.preemptive,
            ceis: score.ceis,
            captured: score.captured,
            gained_completeness: score.gained_completeness,
            weight_captured: score.weight_captured,
            weighted_completeness: score.weighted_completeness,
            intervals_captured: score.intervals_captured,
            probes: score.probes,
            seconds,
            within_budget: None,
            guarantee: None,
        }
    }

    pub(crate) const HEADER_WITH_BOUND: [&'static str; 9] =
        ["policy", "captured", "of CEIs", "completeness", "weighted", "probes", "seconds", "bound", "proven"];

    pub(crate) fn row_with_bound(&self) -> Vec<String> {
        let dash = || "-".to_owned();
        let mut row = self.row();
        row.push(self.guarantee.as_ref().map_or_else(dash, |it| format!("{:.2}", it.bound)));
        row.push(
            self.guarantee.as_ref().map_or_else(dash, |it| if it.proven { "yes" } else { "no" }.to_owned()),
        );
        row
    }

    pub(crate) const HEADER: [&'static str; 7] =
        ["policy", "captured", "of CEIs", "completeness", "weighted", "probes", "seconds"];

    pub(crate) fn row(&self) -> Vec<String> {
        vec![
            self.title.clone(),
            self.captured.to_string(),
            self.ceis.to_string(),
            format!("{:.4}", self.gained_completeness),
            format!("{:.4}", self.weighted_completeness),
            self.probes.to_string(),
            self.seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.3}")),
        ]
    }
}

/// The figures of a run on a trace, under the names that other programs rely on. Times are in chronons.
#[derive(Debug, Serialize)]
pub(crate) struct TraceReport {
    #[serde(skip)]
    title: String,
    policy: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    preemptive: Option<bool>,
    sources: usize,
    changes: usize,
    captured: usize,
    completeness: f64,
    zero_delay: f64,
    utility: f64,
    mean_delay: Option<f64>,
    p95_delay: Option<u32>,
    /// How many changes were captured with each delay, by delay.
    delay_histogram: BTreeMap<u32, usize>,
    change_recall: f64,
    freshness: f64,
    mean_age: f64,
    probes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) within_budget: Option<bool>,
    /// What ran under the name of the policy, where that is not plain from the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ran: Option<&'static str>,
}

impl TraceReport {
    pub(crate) fn new(label: &Label, score: TraceScore, seconds: Option<f64>) -> Self {
        Self {
            title: label.title.clone(),
            policy: label.name.clone(),
            preemptive: label.preemptive,
            sources: score.sources,
            changes: score.changes,
            captured: score.captured,
            completeness: score.completeness,
            zero_delay: score.zero_delay,
            utility: score.utility,
            mean_delay: score.mean_delay,
            p95_delay: score.p95_delay,
            delay_histogram: score.delay_histogram,
            change_recall: score.change_recall,
            freshness: score.freshness,
            mean_age: score.mean_age,
            probes: score.probes,
            seconds,
            within_budget: None,
            ran: None,
        }
    }

    pub(crate) const HEADER: [&'static str; 12] = [
        "policy",
        "captured",
        "of changes",
        "completeness",
        "zero delay",
        "utility",
        "mean delay",
        "p95 delay",
        "freshness",
        "mean age",
        "probes",
        "seconds",
    ];

    pub(crate) fn row(&self) -> Vec<String> {
        let dash = || "-".to_owned();
        vec![
            self.title.clone(),
            self.captured.to_string(),
            self.changes.to_string(),
            format!("{:.4}", self.completeness),
            format!("{:.4}", self.zero_delay),
            format!("{:.4}", self.utility),
            self.mean_delay.map_or_else(dash, |delay| format!("{delay:.2}")),
            self.p95_delay.map_or_else(dash, |delay| delay.to_string()),
            format!("{:.4}", self.freshness),
            format!("{:.2}", self.mean_age),
            self.probes.to_string(),
            self.seconds.map_or_else(dash, |seconds| format!("{seconds:.3}")),
        ]
    }
}
