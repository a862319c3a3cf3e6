//! New content: read it, compare it with the items that were there, and decide what to report and what to learn. An answer that
//! stands in for the source says nothing about it: what was there stays what the next one is compared with.
//!
//! An entry that leaves a feed at its end has scrolled out: that is not reported, and if it comes back it is not new. One that leaves
//! from among others was withdrawn. On anything else an item that is gone is a change, unless the document may be incomplete.

mod dated;
mod first;

use std::collections::BTreeSet;
use std::time::Duration;

use dunlin_core::{Fault, Time};
use dunlin_extract::detect::compare;
use dunlin_extract::document::Format;
use dunlin_extract::flicker::{self, BurstState};
use dunlin_extract::recipe::Recipe;
use dunlin_extract::{Diagnostic, Document, Doubt, Extractor, Flicker, Input, Item, Work};
use dunlin_net::Fetched;
use dunlin_sched::model::Evidence;
use dunlin_store::{Capture, NewChange, NewVersion, Outcome};

use super::failure::shortened;
use super::stand_in::{self, StandIn, is_chosen_value, is_data};
use super::{
    Answer, Failure, FollowUp, PreparedSource, ProbeOutcome, Refusal, SourceResult, SuppressedParts, failure,
    health_of_reading, last_modified, note_after,
};
use crate::memory::{ProbeNote, flicker_note, stored_item, suppressed_note};
use crate::recipe::FlickerRule;

/// Two probes that are this close show what flickers, if something differs.
const CLOSE: Duration = Duration::from_mins(3);
/// And closer than this share of the time in which the source changed, if it took long.
const CLOSE_SHARE: u32 = 20;

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
    let format = Some(document.format);
    let note = ProbeNote { hash: answer.hash, charset, ended_early, format, is_doubted: false, ..before };
    let work = extractor.work();
    let reading = Reading { prepared, note, fetched, document, at, extractor, work, trouble: None };
    if let Some(missing) = stand_in::missing(&reading.document) {
        let reason = stand_in::in_words(missing, reading.doubt().as_ref());
        return reading.nothing(reason);
    }
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
    extractor: &'f Extractor,
    /// What comparing it may cost, all changes together.
    work: Work,
    /// What its owner has to do something about, though it is read.
    trouble: Option<String>,
}

impl Reading<'_> {
    /// Whether the items are entries of a feed; one that is watched as a page has none.
    fn is_feed(&self) -> bool {
        let has_entries = matches!(self.prepared.target.recipe.recipe, Recipe::Auto | Recipe::Feed);
        has_entries && matches!(self.document.format, Format::Feed | Format::JsonFeed)
    }

    fn compared(mut self, previous: &Previous) -> SourceResult {
        let is_close = self.prepared.note.confirming.is_some_and(|until| self.at <= until);
        self.note.confirming = None;
        let mut flicker = std::mem::take(&mut self.prepared.flicker);
        let present = &previous.items[..previous.n_present.min(previous.items.len())];
        if let Some(found) = self.stand_in(present) {
            if found.is_believed(&self.prepared.note, self.at) {
                return self.held(found);
            }
            self.accept(found);
        } else if self.prepared.note.is_doubted
            && let Some(doubt) = self.doubt()
        {
            self.accept(stand_in::of_first(&doubt));
        }
        let rule = self.rule(present);
        if is_close && rule == FlickerRule::Learn {
            let (learned, state) = flicker.observe_burst(present, &self.document.items, &self.work);
            if state == BurstState::Continue {
                return self.withheld(&learned);
            }
            flicker = learned;
        }
        self.judged(previous, present, flicker, rule)
    }

    /// Why the document may not be what its owner meant.
    fn doubt(&self) -> Option<Doubt> {
        self.extractor.doubt(&input_of(self.fetched, self.prepared.note.charset.as_deref()), &self.document)
    }

    /// What the answer is instead of the source, by what was there before. A value that was chosen may become any other.
    fn stand_in(&self, present: &[Item]) -> Option<StandIn> {
        let recipe = &self.prepared.target.recipe.recipe;
        if is_chosen_value(recipe, present, &self.document.items) {
            return None;
        }
        stand_in::of_next(&self.prepared.note, recipe, present, &self.document, || self.doubt())
    }

    /// What to do about noise: what its owner has said, and where a value was chosen by itself, to tell it.
    fn rule(&self, present: &[Item]) -> FlickerRule {
        let recipe = &self.prepared.target.recipe;
        let is_value = is_chosen_value(&recipe.recipe, present, &self.document.items);
        if is_value { FlickerRule::Tell } else { recipe.flicker }
    }

    /// Takes an answer for what the source has become.
    fn accept(&mut self, found: StandIn) {
        self.note.is_doubted = found.lasts;
        self.trouble = found.lasts.then_some(found.reason);
    }

    /// A probe within a burst. The content of the burst's first probe stays, so that nothing is lost if the last one shows a
    /// change.
    fn withheld(mut self, flicker: &Flicker) -> SourceResult {
        let confirming = Some(self.at.plus(self.prepared.close));
        let before = std::mem::take(&mut self.prepared.note);
        let mut result = self.result(Outcome::Unchanged, Evidence::Unchanged, FollowUp::Soon);
        result.note = ProbeNote { confirming, failures: 0, not_before: None, ..before };
        result.capture.notes.extend(flicker_note(flicker));
        result
    }

    /// An answer that is not the source: what was there stays what the next content is compared with.
    fn held(mut self, found: StandIn) -> SourceResult {
        let note = &mut self.prepared.note;
        note.held_since = if note.n_held == 0 { Some(self.at) } else { note.held_since };
        note.n_held = note.n_held.saturating_add(1);
        self.nothing(found.reason)
    }

    /// An answer that says nothing of the source. It is as if there had been none, but for the state: nothing is learned, and
    /// what will be found next may have happened since the last good answer.
    fn nothing(self, reason: String) -> SourceResult {
        let failure = Failure { refusal: Refusal::Replaced, ..Failure::new(Fault::Remote, reason) };
        failure::failed(&self.prepared, failure, self.at)
    }

    fn judged(
        mut self,
        previous: &Previous,
        present: &[Item],
        flicker: Flicker,
        rule: FlickerRule,
    ) -> SourceResult {
        let old = if self.is_feed() { &previous.items[..] } else { present };
        let mut comparison = compare(old, &self.document.items);
        let was_data = self.prepared.note.format.is_some_and(is_data);
        // A page in the place of a feed or of data is another document: what was in those has not been removed.
        if !self.is_whole() || was_data && !is_data(self.document.format) {
            comparison.drop_removals();
        } else if self.is_feed() {
            comparison.keep_withdrawals(present);
        }
        let renamed: BTreeSet<String> =
            comparison.renamed.iter().map(|(old, _)| old.id.to_string()).collect();
        let reading = flicker::Reading { at: Some(self.at), last_probe: self.prepared.note.last_probe };
        let (flicker, verdict) = match rule {
            FlickerRule::Learn => {
                flicker.judge_on_site(comparison.changes, reading, &self.prepared.template, &self.work)
            }
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
            let follow_up = self.follow_up(rule);
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
        self.document.is_complete && !self.fetched.is_cut
    }

    /// A page that has changed may only flicker: a burst will show. Not after every change, but again and again: a page may
    /// begin to flicker at any time.
    fn follow_up(&mut self, rule: FlickerRule) -> FollowUp {
        let n_reported = self.prepared.note.n_reported.checked_add(1).unwrap_or(1 << 7);
        self.note.n_reported = n_reported;
        // A server that dates its page states the change itself; flickering parts are made for every visitor and have no
        // date.
        let is_dated = last_modified(self.fetched).is_some();
        if self.is_feed() || rule == FlickerRule::Tell || is_dated || !n_reported.is_power_of_two() {
            return FollowUp::None;
        }
        let gap = self.prepared.note.last_probe.map_or(Duration::ZERO, |last| self.at.since(last));
        let close = (gap / CLOSE_SHARE).min(CLOSE).max(self.prepared.close);
        self.note.confirming = Some(self.at.plus(close));
        FollowUp::Soon
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

    /// What its owner should know of this content, and whether it needs their attention.
    fn remark(&mut self) -> (bool, String) {
        let recipe = &self.prepared.target.recipe.recipe;
        let unexpected = stand_in::unexpected(recipe, &self.document);
        let unexpected = unexpected.map(|unexpected| stand_in::in_words(unexpected, None));
        let trouble = unexpected.or_else(|| self.trouble.take());
        let noteworthy = || self.document.diagnostics.iter().find(|found| is_noteworthy(found));
        let remark = trouble.clone().or_else(|| noteworthy().map(ToString::to_string));
        (trouble.is_some(), remark.map(shortened).unwrap_or_default())
    }

    fn result(mut self, outcome: Outcome, evidence: Evidence, follow_up: FollowUp) -> SourceResult {
        let (needs_attention, remark) = self.remark();
        let health = health_of_reading(needs_attention, self.fetched, &remark);
        (self.note.needs_attention, self.note.remark) = (needs_attention, remark);
        SourceResult {
            capture: Capture::bare(self.prepared.source, self.prepared.probe, self.at, outcome),
            outcome: ProbeOutcome::Observed { evidence, follow_up },
            note: self.note,
            is_noted: false,
            suppressed: Vec::new(),
            health: Some(health),
            seen: Vec::new(),
            news: None,
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
