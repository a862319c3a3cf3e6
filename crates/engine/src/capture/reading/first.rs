//! The first content of a source: the baseline of later probes, if it is what the source is about.

use dunlin_core::Time;
use dunlin_extract::document::Format;
use dunlin_sched::model::{Completeness, Evidence};
use dunlin_store::{FoundAs, Outcome};

use super::super::{FollowUp, SourceResult, last_modified, stand_in};
use super::Reading;
use crate::memory::stored_item;

/// The most past dates that a first probe gives to the forecast.
const MAX_HISTORY: usize = 100;

impl Reading<'_> {
    /// The first content: the baseline of later probes.
    pub(super) fn first(mut self) -> SourceResult {
        if let Some(doubt) = self.doubt() {
            // Compared with a page that stands in for it, everything on the page itself would be new.
            let found = stand_in::of_first(&doubt);
            if found.is_believed(&self.prepared.note, self.at) {
                return self.held(found);
            }
            self.accept(found);
        }
        let at = self.at;
        let mut history: Vec<Time> = if self.is_feed() {
            self.document.evidence()
        } else {
            last_modified(self.fetched).into_iter().collect()
        };
        history.retain(|time| *time <= at);
        history.drain(..history.len().saturating_sub(MAX_HISTORY));
        let is_dated = self.is_feed() && self.document.items.iter().all(|item| item.published.is_some());
        let completeness = if is_dated { Completeness::All } else { Completeness::Latest };
        let items = self.document.items.iter().filter_map(stored_item).collect();
        let version = self.version();
        let found = self.found();
        let shown = if history.is_empty() {
            Evidence::Unchanged
        } else {
            Evidence::Changed { times: history, completeness }
        };
        let mut result = self.result(Outcome::Unchanged, shown, FollowUp::None);
        result.capture.version = Some(version);
        result.capture.items = Some(items);
        result.capture.found = Some(found);
        result
    }

    /// What its owner will know it by, whatever its title says later.
    fn found(&self) -> FoundAs {
        let kind = match self.document.format {
            Format::Feed | Format::JsonFeed => "feed",
            Format::Json => "json",
            Format::Html | Format::Xml => "page",
            Format::Text | Format::Binary => "text",
        };
        FoundAs { kind: kind.to_owned(), title: self.document.title.clone().unwrap_or_default() }
    }
}
