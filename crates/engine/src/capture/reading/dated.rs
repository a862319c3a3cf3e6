//! When what is reported happened: after the last probe, and by the dates that the source gives, if they fit.

use std::collections::BTreeSet;

use dunlin_core::Time;
use dunlin_extract::flicker::Changed;
use dunlin_extract::summary::summary_of_all;
use dunlin_extract::{Change, Item};
use dunlin_sched::model::Completeness;
use dunlin_store::NewChange;

use super::super::{ChangeDetail, last_modified};
use super::Reading;

impl Reading<'_> {
    /// Whether `time` lies between the last probe and this one.
    fn is_between(&self, time: Time) -> bool {
        time <= self.at && self.prepared.note.last_probe.is_none_or(|last| time > last)
    }

    /// One change for each item, whatever number of its parts is different.
    pub(super) fn new_change(&self, parts: &[&Changed<'_>]) -> NewChange {
        let changed = parts[0];
        let dated = match changed.change {
            Change::Added(item) => item.published,
            Change::Edited { .. } | Change::Removed(_) => None,
        };
        let dated = dated.or_else(|| if self.is_feed() { None } else { last_modified(self.fetched) });
        NewChange {
            kind: changed.kind_of_item().to_owned(),
            item: Some(changed.item().id.to_string()),
            summary: summary_of_all(parts, &self.work),
            detail: ChangeDetail::of(parts, &self.work).to_bytes(),
            happened_after: self.prepared.note.last_probe,
            happened_before: dated.filter(|time| self.is_between(*time)).unwrap_or(self.at),
        }
    }

    /// When the changes happened, by the source's own dates.
    pub(super) fn evidence(&self, reported: &[Changed<'_>], present: &[Item]) -> (Vec<Time>, Completeness) {
        if !self.is_feed() {
            let date = last_modified(self.fetched).filter(|time| self.is_between(*time));
            return (date.into_iter().collect(), Completeness::Latest);
        }
        let date_of = |changed: &Changed<'_>| match changed.change {
            Change::Added(item) => item.published.filter(|time| self.is_between(*time)),
            _ => None,
        };
        let mut times: Vec<Time> = reported.iter().filter_map(date_of).collect();
        let ids: BTreeSet<_> = self.document.items.iter().map(|item| &item.id).collect();
        let has_run_over = !present.iter().any(|item| ids.contains(&item.id));
        let are_all = times.len() == reported.len() && !has_run_over;
        times.sort_unstable();
        (times, if are_all { Completeness::All } else { Completeness::Latest })
    }
}
