//! What the engine remembers about one source between probes, as notes in the store. Reads and writes bytes only.
//!
//! Invariant: a note that cannot be read, because another release wrote it, counts as missing. Only a head start is lost.

mod earlier;

use std::collections::BTreeMap;

use dunlin_core::Time;
use dunlin_extract::document::Format;
use dunlin_extract::{Flicker, Item};
use dunlin_net::{Fetched, Validators};
use dunlin_sched::model::{Evidence, Model, Prior, ProbeEvidence};
use dunlin_store::{Capture, ContentHash, ItemScope, NewItem, NewSource, Note, ProbeBasis, SourceId, Store};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::capture::{Previous, SuppressedParts};
use crate::queries::SeenItem;

/// The first byte of a note: the form of what follows.
const FORM: u8 = 1;
/// The form of notes of a probe; [`earlier`] reads those before it.
const PROBE_FORM: u8 = 3;
/// The form of notes of what is learned. The first one had no time.
const LEARNED_FORM: u8 = 2;

/// The form of notes of what flickers. The first one knew lines only by their places, the
/// second one knew no figures within lines.
const FLICKER_FORM: u8 = 3;

const PROBE_NOTE: &str = "look";
const FLICKER_NOTE: &str = "flicker";
const MODEL_NOTE: &str = "model";
const SUPPRESSED_NOTE: &str = "suppressed";

/// What one probe leaves for the next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeNote {
    /// Which address, kind and recipe this is about; any other starts from scratch.
    pub spec: u64,
    /// The hash of the last body that was read.
    pub hash: Option<[u8; 32]>,
    /// The last probe that succeeded.
    pub last_probe: Option<Time>,
    /// Until when another probe would show what flickers, after a change.
    pub confirming: Option<Time>,
    /// How many times a change was reported; after 255 it continues at 128.
    pub n_reported: u8,
    /// Failures in a row.
    pub failures: u32,
    /// Not to be probed before this time.
    pub not_before: Option<Time>,
    /// The character set that was found for it, where none was declared or believed.
    pub charset: Option<String>,
    /// Whether the last content had no end where pages have one: then one that has none is not cut off.
    pub ended_early: bool,
    /// The last probe that failed.
    pub last_failure: Option<Time>,
    /// Whether the body of `hash` is hardly what its owner meant, though it is read.
    pub needs_attention: bool,
    /// What its owner should know of that body; empty if there is nothing.
    pub remark: String,
    /// What kind of document it was.
    pub format: Option<Format>,
    /// How many answers in a row stood in for the source since.
    pub n_held: u8,
    /// Since when.
    pub held_since: Option<Time>,
    /// Whether that body was taken although it looks like one that stands in for the source.
    pub is_doubted: bool,
}

impl ProbeNote {
    /// Whether there is something to compare with.
    pub const fn has_baseline(&self) -> bool {
        self.hash.is_some()
    }
}

/// What one fetch of a resource leaves for the next, whatever its sources make of the content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchState {
    /// What the server recognises its last content by.
    pub validators: Validators,
    /// The hash of that content.
    pub hash: Option<[u8; 32]>,
}

impl FetchState {
    /// The state after a successful fetch, of a body with this hash. A 304 may omit validators that are still valid.
    #[must_use]
    pub fn after(&self, fetched: &Fetched, hash: Option<[u8; 32]>) -> Self {
        let new = fetched.validators.clone();
        if !fetched.is_unchanged() {
            return Self { validators: new, hash };
        }
        let mut state = self.clone();
        state.validators.etag = new.etag.or(state.validators.etag);
        state.validators.last_modified = new.last_modified.or(state.validators.last_modified);
        state
    }

    /// As it is stored.
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        postcard::to_extend(self, vec![FORM]).ok()
    }

    /// Reads a stored state; as if new where it cannot be read.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (form, rest) = bytes.split_first()?;
        (*form == FORM).then(|| postcard::from_bytes(rest).ok()).flatten()
    }
}

/// A hash of address, kind and recipe.
pub fn spec_of(source: &NewSource) -> u64 {
    spec_hash(&source.url, &source.kind, &source.recipe)
}

fn spec_hash(url: &str, kind: &str, recipe: &str) -> u64 {
    let text = format!("{url}\n{kind}\n{recipe}");
    let ContentHash(hash) = ContentHash::of(text.as_bytes());
    hash.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// What is learned from probes; most leave nothing else to remember.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Learned {
    /// The last probe that it was learned from.
    pub last_probe: Option<Time>,
    /// How the source changes.
    pub model: Model,
}

/// What is remembered about a source between probes.
#[derive(Debug, Clone)]
pub struct Memory {
    /// What the last probe left.
    pub note: ProbeNote,
    /// What is known of how it changes.
    pub model: Model,
}

impl Memory {
    /// Reads what is stored about `source`; as if new where that is about another address or recipe.
    pub fn load(
        store: &dyn Store,
        id: SourceId,
        source: &NewSource,
        prior: Prior,
    ) -> Result<Self, dunlin_store::Error> {
        let spec = spec_of(source);
        let notes = store.notes(id)?;
        let note = probe_note_in(&notes).map(|(note, _)| note).filter(|note| note.spec == spec);
        let fresh = Self { note: ProbeNote { spec, ..ProbeNote::default() }, model: Model::new(prior) };
        Ok(match note {
            None => fresh,
            Some(note) => {
                let learned = decode::<Learned>(&notes, MODEL_NOTE, LEARNED_FORM);
                let last_probe = note.last_probe.max(learned.as_ref().and_then(|learned| learned.last_probe));
                Self {
                    note: ProbeNote { last_probe, ..note },
                    model: learned.map_or(fresh.model, |learned| learned.model),
                }
            }
        })
    }

    /// Learns from a probe that showed nothing new and is not in the notes yet.
    pub fn catch_up(&mut self, at: Time) {
        let since = self.note.last_probe;
        if since.is_some_and(|last| at > last) {
            self.model.observe(&ProbeEvidence { since, at, evidence: Evidence::Unchanged });
            self.note.last_probe = Some(at);
        }
    }
}

/// The names of the notes that a probe begins with.
pub(crate) const PROBE_NOTES: [&str; 2] = [PROBE_NOTE, FLICKER_NOTE];

/// What a probe starts from: the note of the last probe, the known flicker, and what the last fetch left. As if new where
/// those are about another address or recipe.
pub(crate) fn read_probe_notes(basis: &ProbeBasis) -> (ProbeNote, Flicker, FetchState) {
    let spec = spec_hash(&basis.url, &basis.kind, &basis.recipe);
    let stored = FetchState::read(&basis.fetch_state);
    match probe_note_in(&basis.notes).filter(|(note, _)| note.spec == spec) {
        Some((note, earlier)) => {
            let flicker = decode(&basis.notes, FLICKER_NOTE, FLICKER_FORM).unwrap_or_default();
            (note, flicker, stored.or(earlier).unwrap_or_default())
        }
        None => (ProbeNote { spec, ..ProbeNote::default() }, Flicker::default(), stored.unwrap_or_default()),
    }
}

/// The note of the last probe; from an earlier release, also what its fetch left.
fn probe_note_in(notes: &[Note]) -> Option<(ProbeNote, Option<FetchState>)> {
    match decode(notes, PROBE_NOTE, PROBE_FORM) {
        Some(note) => Some((note, None)),
        None => earlier::probe_note_in(notes),
    }
}

/// The note that a probe leaves.
pub fn probe_note(note: &ProbeNote) -> Option<Note> {
    encode(PROBE_NOTE, PROBE_FORM, note)
}

/// The note of what flickers.
pub fn flicker_note(flicker: &Flicker) -> Option<Note> {
    encode(FLICKER_NOTE, FLICKER_FORM, flicker)
}

/// The flicker in these notes, if it is among them.
pub(crate) fn flicker_in(notes: &[Note]) -> Option<Flicker> {
    decode(notes, FLICKER_NOTE, FLICKER_FORM)
}

/// The note of what was not reported lately.
pub fn suppressed_note(suppressed: &SuppressedParts) -> Option<Note> {
    encode(SUPPRESSED_NOTE, FORM, suppressed)
}

/// What these notes say of what was not reported lately, and of the last probe that failed.
pub(crate) fn told_of(notes: &[Note]) -> (SuppressedParts, Option<Time>) {
    let last_failure = probe_note_in(notes).and_then(|(note, _)| note.last_failure);
    (decode(notes, SUPPRESSED_NOTE, FORM).unwrap_or_default(), last_failure)
}

/// The note of what is learned.
pub fn learned_note(learned: &Learned) -> Option<Note> {
    encode(MODEL_NOTE, LEARNED_FORM, learned)
}

fn encode<T: Serialize>(name: &str, form: u8, value: &T) -> Option<Note> {
    let value = postcard::to_extend(value, vec![form]).ok()?;
    Some(Note { name: name.to_owned(), value })
}

fn decode<T: DeserializeOwned>(notes: &[Note], name: &str, expected: u8) -> Option<T> {
    let note = notes.iter().find(|note| note.name == name)?;
    let (form, rest) = note.value.split_first()?;
    (*form == expected).then(|| postcard::from_bytes(rest).ok()).flatten()
}

/// An item as it is stored. JSON, since an item leaves out what it does not have.
pub fn stored_item(item: &Item) -> Option<NewItem> {
    Some(NewItem { key: item.id.to_string(), body: serde_json::to_vec(item).ok()? })
}

/// The items of a source as they were: those present at the last probe first.
pub fn previous(store: &dyn Store, id: SourceId) -> Result<Previous, dunlin_store::Error> {
    let stored = store.items(id, ItemScope::Remembered)?;
    let (present, left): (Vec<_>, Vec<_>) = stored.into_iter().partition(|item| item.left.is_none());
    let read = |item: &dunlin_store::Item| serde_json::from_slice::<Item>(&item.body).ok();
    let mut items: Vec<Item> = present.iter().filter_map(read).collect();
    let n_present = items.len();
    items.extend(left.iter().filter_map(read));
    let basis = store.probe_bases(&[id], &[SUPPRESSED_NOTE])?.into_iter().flatten().next();
    let suppressed = basis.map(|basis| told_of(&basis.notes).0).unwrap_or_default();
    Ok(Previous { items, n_present, suppressed })
}

/// What is on a source after a capture, with when each item was first found.
pub fn seen(
    store: &dyn Store,
    id: SourceId,
    capture: &Capture,
) -> Result<Vec<SeenItem>, dunlin_store::Error> {
    let stored = store.items(id, ItemScope::Remembered)?;
    let read = |body: &[u8], first_seen| {
        serde_json::from_slice::<Item>(body).ok().map(|item| SeenItem { item, first_seen })
    };
    let Some(items) = &capture.items else {
        let present = stored.iter().filter(|item| item.left.is_none());
        return Ok(present.filter_map(|item| read(&item.body, item.first_seen)).collect());
    };
    let known: BTreeMap<&str, Time> =
        stored.iter().map(|item| (item.key.as_str(), item.first_seen)).collect();
    let first_seen = |key: &str| known.get(key).copied().unwrap_or(capture.at);
    Ok(items.iter().filter_map(|item| read(&item.body, first_seen(&item.key))).collect())
}

#[cfg(test)]
mod tests;
