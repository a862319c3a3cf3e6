//! New content: read it, compare it with the items that were there, and decide what to report and what to learn.
//!
//! An entry that leaves a feed has scrolled out: that is not reported, and if it comes back it is not new. On anything else
//! an item that is gone is a change, unless the document may be incomplete.

use std::collections::BTreeSet;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_extract::detect::compare;
use dunlin_extract::document::Format;
use dunlin_extract::flicker::{self, BurstState, Changed};
use dunlin_extract::recipe::Recipe;
use dunlin_extract::summary::summary_of_all;
use dunlin_extract::{
    Change, Diagnostic, Document, Extractor, Flicker, Input, Item, NotThePage, Work, not_the_page,
};
use dunlin_net::Fetched;
use dunlin_sched::model::{Completeness, Evidence};
use dunlin_store::{Capture, FoundAs, Health, NewChange, NewVersion, Outcome};

use super::failure::shortened;
use super::{
    Answer, ChangeDetail, FollowUp, PreparedSource, ProbeOutcome, SourceResult, SuppressedParts,
    health_of_reading, last_modified, note_after,
};
use crate::memory::{ProbeNote, flicker_note, stored_item, suppressed_note};
use crate::recipe::FlickerRule;

/// Two probes that are this close show what flickers, if something differs.
const CLOSE: Duration = Duration::from_mins(3);
/// And closer than this share of the time in which the source changed, if it took long.
const CLOSE_SHARE: u32 = 20;

/// The most past dates that a first probe gives to the forecast.
const MAX_HISTORY: usize = 100;

/// The items of a source as they were.
#[derive(Debug, Clone, Default)]
pub struct Previous {
    /// Those present at the last probe, then those that were present before and are remembered.
    pub items: Vec<Item>,
    /// How many were present at the last probe.
    pub n_present: usize,
    /// What was not reported lately.
    pub suppressed: SuppressedParts,
}

pub(super) fn read(
    prepared: PreparedSource,
    answer: &Answer,
    fetched: &Fetched,
    previous: &Previous,
    extractor: &Extractor,
) -> SourceResult {
    let mut document = document_of(extractor, fetched, prepared.note.charset.as_deref());
    let ended_early = document.ends_early;
    document.ends_early &= !(prepared.note.has_baseline() && prepared.note.ended_early);
    let at = answer.at;
    let before = note_after(&prepared.note, Some(at));
    let charset = document.charset.map(str::to_owned).or(before.charset);
    let note = ProbeNote { hash: answer.hash, charset, ended_early, ..before };
    let mut reading = Reading { prepared, note, fetched, document, at, work: extractor.work() };
    (reading.note.is_missing, reading.note.remark) = (reading.is_empty(), reading.remark());
    if !reading.prepared.note.has_baseline() {
        return reading.first();
    }
    reading.compared(previous)
}

/// What an extractor reads of an answer.
pub(crate) fn document_of(extractor: &Extractor, fetched: &Fetched, last_charset: Option<&str>) -> Document {
    extractor.extract(&input_of(fetched, last_charset))
}

/// An answer as an extractor takes it.
pub(crate) fn input_of<'f>(fetched: &'f Fetched, last_charset: Option<&'f str>) -> Input<'f> {
    Input {
        body: &fetched.body,
        content_type: fetched.content_type.as_deref(),
        url: Some(fetched.final_url.as_str()),
        last_charset,
    }
}

struct Reading<'f> {
    prepared: PreparedSource,
    /// The note as it will be.
    note: ProbeNote,
    fetched: &'f Fetched,
    document: Document,
    at: Time,
    /// What comparing it may cost, all changes together.
    work: Work,
}

impl Reading<'_> {
    /// Whether the items are entries of a feed; one that is watched as a page has none.
    fn is_feed(&self) -> bool {
        let has_entries = matches!(self.prepared.target.recipe.recipe, Recipe::Auto | Recipe::Feed);
        has_entries && matches!(self.document.format, Format::Feed | Format::JsonFeed)
    }

    /// Whether the source is a feed, whatever was answered.
    fn is_feed_source(&self) -> bool {
        self.is_feed() || matches!(self.prepared.target.recipe.recipe, Recipe::Feed)
    }

    /// Nothing where something is expected: a failing server, or a recipe that no longer fits its page.
    fn is_empty(&self) -> bool {
        let says_so = |found: &Diagnostic| match found {
            Diagnostic::Empty | Diagnostic::NothingFound => true,
            Diagnostic::UnexpectedFormat { .. }
            | Diagnostic::Broken { .. }
            | Diagnostic::NotSelectable { .. } => self.document.items.is_empty(),
            _ => false,
        };
        self.document.diagnostics.iter().any(says_so)
    }

    /// What its owner should know of how it could be read, if anything.
    fn remark(&self) -> String {
        let noteworthy = self.document.diagnostics.iter().find(|found| is_noteworthy(found));
        noteworthy.map(|found| shortened(found.to_string())).unwrap_or_default()
    }

    /// The first content: the baseline of later probes.
    fn first(mut self) -> SourceResult {
        if self.is_empty() {
            // Compared with nothing, everything on the next page would be new.
            self.note.hash = None;
            return self.result(Outcome::Unchanged, Evidence::Unchanged, FollowUp::None);
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

    fn compared(mut self, previous: &Previous) -> SourceResult {
        let is_close = self.prepared.note.confirming.is_some_and(|until| self.at <= until);
        self.note.confirming = None;
        let mut flicker = std::mem::take(&mut self.prepared.flicker);
        let present = &previous.items[..previous.n_present.min(previous.items.len())];
        let is_other = (!self.is_feed_source()).then(|| not_the_page(present, &self.document)).flatten();
        if let Some(problem) = is_other.filter(|problem| flicker.may_hold(*problem, self.at)) {
            return self.held(problem, flicker);
        }
        if is_close {
            let (learned, state) = flicker.observe_burst(present, &self.document.items, &self.work);
            if state == BurstState::Continue {
                return self.withheld(&learned);
            }
            flicker = learned;
        }
        self.judged(previous, present, flicker)
    }

    /// A probe within a burst. The content of the burst's first probe stays, so that nothing is lost if the last one shows a
    /// change.
    fn withheld(mut self, flicker: &Flicker) -> SourceResult {
        let confirming = Some(self.at.plus(self.prepared.close));
        let before = std::mem::take(&mut self.prepared.note);
        self.note = ProbeNote { confirming, failures: 0, not_before: None, ..before };
        let mut result = self.result(Outcome::Unchanged, Evidence::Unchanged, FollowUp::Soon);
        result.capture.notes.extend(flicker_note(flicker));
        result
    }

    /// An answer that is not the page: what was there stays what the next content is compared with.
    fn held(mut self, problem: NotThePage, flicker: Flicker) -> SourceResult {
        let before = std::mem::take(&mut self.prepared.note);
        self.note = ProbeNote { failures: 0, not_before: None, ..before };
        // Soon at first: most of these are over in a moment.
        let follow_up = if flicker.n_held() < 2 { FollowUp::Soon } else { FollowUp::None };
        let at = self.at;
        let mut result = self.result(Outcome::Unchanged, Evidence::Unchanged, follow_up);
        result.health = Some((Health::Attention, problem.to_string()));
        result.capture.notes.extend(flicker_note(&flicker.hold(at)));
        result
    }

    fn judged(mut self, previous: &Previous, present: &[Item], flicker: Flicker) -> SourceResult {
        let old = if self.is_feed() { &previous.items[..] } else { present };
        let mut comparison = compare(old, &self.document.items);
        if self.is_feed() || !self.is_whole() {
            comparison.drop_removals();
        }
        let renamed: BTreeSet<String> =
            comparison.renamed.iter().map(|(old, _)| old.id.to_string()).collect();
        let reading = flicker::Reading { at: Some(self.at), last_probe: self.prepared.note.last_probe };
        let (flicker, verdict) = match self.prepared.target.recipe.flicker {
            FlickerRule::Learn => flicker.judge(comparison.changes, reading, &self.work),
            FlickerRule::Tell => (Flicker::default(), flicker::everything(comparison.changes, &self.work)),
        };
        let by_item = verdict.by_item();
        let mut changes: Vec<NewChange> = by_item.iter().map(|parts| self.new_change(parts)).collect();
        if self.is_feed() {
            // Feeds put the newest first; it is reported last.
            changes.reverse();
            changes.sort_by_key(|change| change.happened_before);
        }
        let (times, completeness) = self.evidence(&verdict.reported, present);
        let suppressed = verdict.suppressed;
        let at = self.at;
        let items = self.items_to_keep(present, &renamed);
        let mut result = if changes.is_empty() {
            self.result(Outcome::Unchanged, Evidence::Unchanged, FollowUp::None)
        } else {
            let version = self.version();
            let follow_up = self.follow_up();
            let mut result =
                self.result(Outcome::Changed, Evidence::Changed { times, completeness }, follow_up);
            result.capture.version = Some(version);
            result
        };
        result.capture.items = Some(items);
        result.capture.changes = changes;
        if !suppressed.is_empty() {
            let all = previous.suppressed.clone().with(&suppressed, at);
            result.capture.notes.extend(suppressed_note(&all));
        }
        result.suppressed = suppressed;
        result.capture.notes.extend(flicker_note(&flicker));
        result
    }

    /// Whether what is missing is gone.
    fn is_whole(&self) -> bool {
        self.document.is_complete && !self.fetched.is_cut && !self.is_empty()
    }

    /// A page that has changed may only flicker: a burst will show. Not after every change, but again and again: a page may
    /// begin to flicker at any time.
    fn follow_up(&mut self) -> FollowUp {
        let n_reported = self.prepared.note.n_reported.checked_add(1).unwrap_or(1 << 7);
        self.note.n_reported = n_reported;
        let learns = self.prepared.target.recipe.flicker == FlickerRule::Learn;
        // A server that dates its page states the change itself; flickering parts are made for every visitor and have no
        // date.
        let is_dated = last_modified(self.fetched).is_some();
        if self.is_feed() || !learns || is_dated || !n_reported.is_power_of_two() {
            return FollowUp::None;
        }
        let gap = self.prepared.note.last_probe.map_or(Duration::ZERO, |last| self.at.since(last));
        let close = (gap / CLOSE_SHARE).min(CLOSE).max(self.prepared.close);
        self.note.confirming = Some(self.at.plus(close));
        FollowUp::Soon
    }

    /// Whether `time` lies between the last probe and this one.
    fn is_between(&self, time: Time) -> bool {
        time <= self.at && self.prepared.note.last_probe.is_none_or(|last| time > last)
    }

    /// One change for each item, whatever number of its parts is different.
    fn new_change(&self, parts: &[&Changed<'_>]) -> NewChange {
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
    fn evidence(&self, reported: &[Changed<'_>], present: &[Item]) -> (Vec<Time>, Completeness) {
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

    /// The items now there; also those of before that may still be there, when the end is missing. Those that go by another
    /// id now are kept under that one only: under both, the old one would be reported as removed.
    fn items_to_keep(&self, present: &[Item], renamed: &BTreeSet<String>) -> Vec<dunlin_store::NewItem> {
        let mut items: Vec<_> = self.document.items.iter().filter_map(stored_item).collect();
        if !self.is_whole() && !self.is_feed() {
            let known: BTreeSet<String> = items.iter().map(|item| item.key.clone()).collect();
            let is_seen = |id: &String| known.contains(id) || renamed.contains(id);
            let unseen = present.iter().filter(|item| !is_seen(&item.id.to_string()));
            // A page that is never complete must not pile up items for ever.
            let room = (2 * present.len().max(items.len())).saturating_sub(items.len());
            items.extend(unseen.take(room).filter_map(stored_item));
        }
        items
    }

    fn version(&self) -> NewVersion {
        let media_type = self.fetched.content_type.clone().unwrap_or_default();
        NewVersion { content: self.fetched.body.to_vec(), media_type }
    }

    fn result(self, outcome: Outcome, evidence: Evidence, follow_up: FollowUp) -> SourceResult {
        // Of this content, also where the note keeps another one.
        let health = health_of_reading(self.is_empty(), self.fetched, &self.remark());
        SourceResult {
            capture: Capture::bare(self.prepared.source, self.prepared.probe, self.at, outcome),
            outcome: ProbeOutcome::Observed { evidence, follow_up },
            note: self.note,
            is_noted: false,
            suppressed: Vec::new(),
            health: Some(health),
        }
    }
}

/// Whether the owner of a source should know it.
pub(crate) fn is_noteworthy(found: &Diagnostic) -> bool {
    match found {
        // Feeds and pages are declared as each other all the time; data that is no data is another matter.
        Diagnostic::WrongType { declared, found } => {
            declared.contains("json") && !matches!(found, Format::Json | Format::JsonFeed)
        }
        Diagnostic::Repeated { .. } | Diagnostic::SharedId { .. } | Diagnostic::WrongCharset { .. } => false,
        _ => true,
    }
}
