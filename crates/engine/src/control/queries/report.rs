//! What control says of a query when asked. Changes nothing.

use dunlin_core::Time;
use dunlin_store::{QueryId, SourceId, SourceState};

use crate::control::{Control, RelevantSource};

/// How a query is doing.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryReport {
    /// When its next instance begins by the clock; none for one that begins with changes, is paused or has ended.
    pub next_begin: Option<Time>,
    /// How many instances are open.
    pub n_open: usize,
    /// Parts that wait for a capture, the first that end first; the rest are only counted.
    pub waiting: Vec<OpenPart>,
    /// What each select reads.
    pub reads: Vec<ReadPart>,
    /// The sources that are relevant to its words, the most relevant ones first; at most 100.
    pub relevant: Vec<RelevantSource>,
}

/// A part of an open instance that is not captured yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenPart {
    /// When its instance began.
    pub began: Time,
    /// What the query calls it.
    pub name: String,
    /// The first moment that counts.
    pub from: Time,
    /// The last one.
    pub until: Time,
}

/// What a select reads.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadPart {
    /// What the query calls it.
    pub name: String,
    /// The source.
    pub source: SourceId,
    /// Its state; none if it is gone.
    pub state: Option<SourceState>,
    /// When it was last probed.
    pub last_probe: Option<Time>,
    /// When it was last captured for the query.
    pub last_capture: Option<Time>,
}

/// The most open parts that are listed.
const MOST_WAITING: usize = 100;

impl Control {
    /// How a query is doing; none if it is not installed.
    pub fn explain_query(&self, id: QueryId) -> Option<QueryReport> {
        let Some(installed) = self.queries.installed.get(&id) else {
            let relevant = self.watches.relevant_to(id)?;
            return Some(QueryReport {
                next_begin: None,
                n_open: 0,
                waiting: Vec::new(),
                reads: Vec::new(),
                relevant,
            });
        };
        let selects = installed.config.plan.selects();
        let mut waiting = Vec::new();
        for instance in &installed.open {
            let Some(open) = self.queries.open.get(instance) else { continue };
            for (select, part) in &open.state.intervals {
                if open.state.instance.is_open(*select)
                    && let Some(select) = selects.get(*select)
                {
                    let (from, until) = (part.planned.start, part.finish);
                    let name = select.name.clone();
                    waiting.push(OpenPart { began: open.state.instance.start(), name, from, until });
                }
            }
        }
        waiting.sort_by_key(|part| (part.until, part.began));
        waiting.truncate(MOST_WAITING);
        let reads = selects.iter().zip(&installed.config.sources).zip(&installed.config.memory.parts);
        let reads = reads.map(|((select, source), memory)| {
            let known = self.sources.find(*source).and_then(|index| self.sources.get(index));
            ReadPart {
                name: select.name.clone(),
                source: *source,
                state: known.map(|known| known.state.clone()),
                last_probe: known.and_then(|known| known.last_probe),
                last_capture: memory.captured,
            }
        });
        let reads = reads.collect();
        Some(QueryReport {
            next_begin: installed.next,
            n_open: installed.open.len(),
            waiting,
            reads,
            relevant: Vec::new(),
        })
    }
}
