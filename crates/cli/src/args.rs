//! Argument types and groups of flags that several commands share. Parsing only: nothing is opened here.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use dunlin_core::Budget;
use dunlin_lab::planners::SchedulerName;
use dunlin_lab::policies::PolicyName;
use dunlin_sched::value::{Life, Urgency};

/// How much may be probed.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct BudgetArgs {
    /// Probes per chronon; may be fractional (0.25 is one probe every four chronons)
    #[arg(long, value_name = "C", value_parser = budget, allow_negative_numbers = true)]
    pub(crate) budget: Option<Budget>,
    /// A file with one budget per line, one line per chronon
    #[arg(long, value_name = "FILE")]
    pub(crate) budget_file: Option<PathBuf>,
}

/// The same, where a budget need not be given.
#[derive(Debug, Args)]
#[group(required = false, multiple = false)]
pub(crate) struct OptionalBudgetArgs {
    /// Probes per chronon to check the schedule against; may be fractional
    #[arg(long, value_name = "C", value_parser = budget, allow_negative_numbers = true)]
    pub(crate) budget: Option<Budget>,
    /// A file with one budget per line, one line per chronon, to check the schedule against
    #[arg(long, value_name = "FILE")]
    pub(crate) budget_file: Option<PathBuf>,
}

/// Which intervals.
#[derive(Debug, Args)]
pub(crate) struct IntervalsArgs {
    /// Execution intervals: profile,cei,resource,start,finish[,weight,need]; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) intervals: PathBuf,
    /// Length of the epoch
    #[arg(long, value_name = "K", value_parser = chronons, allow_negative_numbers = true)]
    pub(crate) chronons: u32,
    /// Probe costs: resource,cost (default 1 each)
    #[arg(long, value_name = "FILE")]
    pub(crate) costs: Option<PathBuf>,
}

/// Which part of which trace.
#[derive(Debug, Args)]
pub(crate) struct TraceSpanArgs {
    /// Real updates: source,time in seconds; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: PathBuf,
    /// Length of a chronon, for instance 60s, 5m, 1h
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) chronon: NonZeroU32,
    /// Where chronon 1 begins, in the trace's seconds [default: the first update, rounded down to a chronon]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) start: Option<i64>,
    /// Length of the epoch [default: up to the last update]
    #[arg(long, value_name = "K", value_parser = chronons, allow_negative_numbers = true)]
    pub(crate) chronons: Option<u32>,
}

/// Which part of which trace, and how it is valued.
#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) span: TraceSpanArgs,
    /// How long a change stays visible: append, window:W, changes:Z or overwrite
    #[arg(long, default_value = "overwrite")]
    pub(crate) life: Life,
    /// What a late capture is worth: uniform, exp:R, sliding:W, poly:A, polyexp:K:R or chordal:W
    #[arg(long, default_value = "uniform")]
    pub(crate) urgency: Urgency,
    /// Probe costs: resource,cost (default 1 each)
    #[arg(long, value_name = "FILE")]
    pub(crate) costs: Option<PathBuf>,
}

/// Which policies: one, several, or `all`.
#[derive(Debug, Clone)]
pub(crate) enum Policies {
    All,
    These(Vec<PolicyName>),
}

pub(crate) fn policies(text: &str) -> Result<Policies, String> {
    if text == "all" {
        return Ok(Policies::All);
    }
    names(text).map(Policies::These)
}

/// Which policies or planners: one, several, or `all` policies.
#[derive(Debug, Clone)]
pub(crate) enum Schedulers {
    AllPolicies,
    These(Vec<SchedulerName>),
}

pub(crate) fn schedulers(text: &str) -> Result<Schedulers, String> {
    if text == "all" {
        return Ok(Schedulers::AllPolicies);
    }
    names(text).map(Schedulers::These)
}

fn names<Name: FromStr<Err = dunlin_lab::Error>>(text: &str) -> Result<Vec<Name>, String> {
    let names: Result<_, dunlin_lab::Error> = text.split(',').map(|name| name.trim().parse()).collect();
    names.map_err(|error| error.to_string())
}

/// Every chronon costs time, and memory if it is probed in: the longest epoch that still ends today.
pub(crate) const MOST_CHRONONS: u32 = 200_000_000;

pub(crate) fn chronons(text: &str) -> Result<u32, String> {
    let chronons = text.parse().ok().filter(|chronons| (1..=MOST_CHRONONS).contains(chronons));
    chronons.ok_or_else(|| format!("expected a whole number of chronons, 1 to {MOST_CHRONONS}"))
}

fn budget(text: &str) -> Result<Budget, String> {
    let grant: f64 = text.parse().map_err(|_| "expected a number of probes, 0 or more".to_owned())?;
    Budget::constant(grant).map_err(|error| error.to_string())
}

/// Whole seconds from `90`, `90s`, `5m`, `1h` or `2d`.
pub(crate) fn duration(text: &str) -> Result<NonZeroU32, String> {
    let expected = "expected a whole, positive duration such as 60s, 5m, 1h or 2d";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(expected.to_owned()),
    };
    let seconds = digits.parse::<u32>().ok().and_then(|count| count.checked_mul(unit));
    seconds.and_then(NonZeroU32::new).ok_or_else(|| expected.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let seconds = |text: &str| duration(text).map(NonZeroU32::get);
        assert_eq!([seconds("60s"), seconds("5m"), seconds("90")], [Ok(60), Ok(300), Ok(90)]);
        assert_eq!([seconds("1h"), seconds("2d")], [Ok(3_600), Ok(172_800)]);
        for nonsense in ["", "0s", "-1m", "1.5h", "9999999d", "1w", "h"] {
            assert!(duration(nonsense).is_err(), "{nonsense}");
        }
    }
}
