//! Queries over the sources of a trace, as needs: each instance of a query is one CEI. So a workload of real queries can be put
//! to every policy, and compared with the best possible.
//!
//! A trace has times and no texts. Whether a WHEN holds is therefore drawn, a WHERE is not looked at, and a WATCH, which finds
//! its sources by their texts, is refused. All intervals of an instance are known when it begins: the policies of the lab are
//! told of whole CEIs, and a plan made beforehand could not be compared with one that learns of intervals by its own probes.

mod conditions;
mod instances;
mod sources;

use std::collections::HashMap;

use dunlin_core::{CeiIdx, Need, ProfileIdx, Schedule, SourceIdx, Time, Workload};
use dunlin_query::plan::QueryPlan;
use dunlin_query::{Body, Length, Query, Select, Start};
use dunlin_sched::score::captured_ceis;

use crate::Error;
use crate::files::{Epoch, IntervalsFile, TraceFile};
use conditions::Conditions;
use instances::Instances;
use sources::Ids;

pub use sources::parse_over;

/// The most intervals that queries may come to: a file of them could hold more, a person would hardly mean it.
const MOST_INTERVALS: usize = 10_000_000;

/// The last second that the language has a time for, in both directions.
const MOST_SECONDS: i128 = i64::MAX as i128 / 1_000_000;

/// What a WHEN does where nobody knows what it asks about.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Whens {
    /// With which probability it holds, from 0 to 1.
    pub share: f64,
    /// Of the random numbers that decide. A larger share with the same seed only adds.
    pub seed: u64,
}

/// Queries as needs.
#[derive(Debug, Clone)]
pub struct CompiledQueries {
    /// Profiles are queries, and CEIs instances, called by the second at which they begin. What has no instance is not
    /// there, so that the file reads back as the same workload.
    pub needs: IntervalsFile,
    /// In the order of the text.
    pub queries: Vec<CompiledQuery>,
    /// Whether anything was drawn.
    pub has_whens: bool,
}

/// What became of one query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompiledQuery {
    /// What its owner calls it.
    pub name: String,
    /// How many instances of it are needs.
    pub instances: usize,
    /// How many others begin in the epoch and could be met by nobody: a change that they want does not come in time, or an
    /// interval begins after the epoch.
    pub left_out: usize,
}

impl CompiledQueries {
    /// How many instances of each query a schedule captures, in the order of the text.
    pub fn captured(&self, schedule: &Schedule) -> Vec<usize> {
        let mut captured = captured_ceis(&self.needs.workload, schedule).into_iter();
        let counted =
            |query: &CompiledQuery| captured.by_ref().take(query.instances).filter(|it| *it).count();
        self.queries.iter().map(counted).collect()
    }
}

/// The instances of queries in an epoch of a trace. Sources that the trace does not have are an error, as is more than can be
/// held; [`parse_over`] refuses the former with their places.
pub fn compile(
    queries: &[Query],
    trace: &TraceFile,
    epoch: Epoch,
    whens: Whens,
) -> Result<CompiledQueries, Error> {
    if !(0.0..=1.0).contains(&whens.share) {
        return Err(Error::parameter("when", &whens.share, "a probability from 0 to 1"));
    }
    let seconds = i128::from(epoch.chronons) * i128::from(epoch.chronon_seconds.get());
    if ![0, seconds].iter().all(|after| (i128::from(epoch.start) + after).abs() < MOST_SECONDS) {
        return Err(Error::parameter("start", &epoch.start, "an epoch within 290,000 years of 1970"));
    }
    let ids = Ids::of(trace);
    let mut draft = Draft::default();
    let mut compiled = Vec::new();
    let mut warnings = Vec::new();
    let mut has_whens = false;
    for (number, query) in (0..).zip(queries) {
        let mut own = CompiledQuery { name: query.name.clone(), instances: 0, left_out: 0 };
        if let Some(plan) = QueryPlan::new(query, Time::from_seconds(epoch.start)) {
            has_whens |= plan.selects().iter().any(|select| select.condition().is_some());
            warnings.extend(too_short(query, epoch));
            let sources = ids.of_selects(plan.selects())?;
            let conditions = Conditions::new(plan.selects(), whens, number);
            let instances = Instances { plan: &plan, query, trace, sources: &sources, epoch };
            for start in instances.starts() {
                draft.n_instances += 1;
                match instances.begin(start, &conditions) {
                    Some(instance) => {
                        draft.push(query, own.instances == 0, start, &instance, trace)?;
                        own.instances += 1;
                    }
                    None => own.left_out += 1,
                }
                if draft.workload.n_intervals().max(draft.n_instances) > MOST_INTERVALS {
                    let expected = format!("at most {MOST_INTERVALS} intervals in all; try fewer --chronons");
                    return Err(Error::parameter("queries", &query.name, expected));
                }
            }
        }
        compiled.push(own);
    }
    let Draft { workload, resources, profiles, ceis, .. } = draft;
    let needs = IntervalsFile { workload, resources, profiles, ceis, warnings };
    Ok(CompiledQueries { needs, queries: compiled, has_whens })
}

/// The needs so far. Sources are numbered in order of first appearance, as a file of intervals numbers them when it is read:
/// that order breaks ties.
#[derive(Default)]
struct Draft {
    workload: Workload,
    resources: Vec<String>,
    /// By index in the trace.
    numbers: HashMap<usize, u32>,
    profiles: Vec<String>,
    ceis: Vec<String>,
    n_instances: usize,
}

impl Draft {
    fn push(
        &mut self,
        query: &Query,
        is_first: bool,
        start: Time,
        instance: &instances::Instance,
        trace: &TraceFile,
    ) -> Result<CeiIdx, Error> {
        if is_first {
            self.workload.add_profile();
            self.profiles.push(query.name.clone());
        }
        let mut intervals = Vec::with_capacity(instance.intervals.len());
        for wanted in &instance.intervals {
            let next = u32::try_from(self.resources.len()).unwrap_or(u32::MAX);
            let number = *self.numbers.entry(wanted.source).or_insert(next);
            if number == next {
                self.resources.push(trace.sources[wanted.source].clone());
            }
            intervals.push(wanted.interval(SourceIdx(number))?);
        }
        self.ceis.push(start.seconds().to_string());
        let profile = ProfileIdx(u32::try_from(self.profiles.len() - 1).unwrap_or(u32::MAX));
        Ok(self.workload.push(profile, &intervals, Need::Any(instance.need), query.weight)?)
    }
}

/// Where chronons are too long to tell the intervals of a query apart.
fn too_short(query: &Query, epoch: Epoch) -> Option<String> {
    let Body::Select(block) = &query.body else { return None };
    let chronon = u64::from(epoch.chronon_seconds.get());
    let shortest = |select: &Select| {
        let period = match select.start {
            Some(Start::Every(period)) => Some(period),
            _ => None,
        };
        let length = match select.length {
            Some(Length::Within(length)) => Some(length),
            _ => None,
        };
        period.into_iter().chain(length).map(|it| it.as_secs()).min()
    };
    let seconds = block.selects.iter().filter_map(shortest).min().filter(|seconds| *seconds < chronon)?;
    Some(format!(
        "{}: {seconds} s is shorter than a chronon of {chronon} s, and counts as one (try a shorter --chronon)",
        query.name
    ))
}
