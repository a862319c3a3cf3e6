//! What control says of a query with WATCH when asked. Changes nothing.

use dunlin_core::Time;
use dunlin_store::{QueryId, SourceId};

use super::Watches;

/// A source that is relevant to a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RelevantSource {
    /// Which source.
    pub source: SourceId,
    /// To the WATCH at this position of the query.
    pub watch: u32,
    /// How relevant it is to its words, from 0 to 1.
    pub relevance: f64,
    /// What that adds to its weight.
    pub weight: f64,
    /// Until when it is probed densely, to learn how it changes.
    pub tracked_until: Option<Time>,
}

/// The most relevant sources that are listed.
const MOST_LISTED: usize = 100;

impl Watches {
    /// The sources that are relevant to a query, the most relevant ones first; none if it has no WATCH.
    pub(in crate::control) fn relevant_to(&self, id: QueryId) -> Option<Vec<RelevantSource>> {
        self.installed.get(&id)?;
        let mut all = Vec::new();
        for (key, running) in self.running.range((id, 0)..=(id, u32::MAX)) {
            for source in &running.relevant {
                let demanded = self.demanded.get(source);
                let relevance = demanded.and_then(|own| own.relevance.get(key)).copied().unwrap_or(0.0);
                let tracked_until = self.tracked.get(source).map(|tracked| tracked.until);
                let weight = running.weight * relevance;
                all.push(RelevantSource { source: *source, watch: key.1, relevance, weight, tracked_until });
            }
        }
        all.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.source.cmp(&b.source)));
        all.truncate(MOST_LISTED);
        Some(all)
    }
}
