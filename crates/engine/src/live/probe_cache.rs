//! A cache of what the store has about the sources that were probed last, so that the next probe need not read it again.
//! Bounded; the rest is read from the store, which stays the truth.
//!
//! Invariant: what is handed out is what is stored. A source is taken out for its probe, and comes back only when the
//! result is written and the source was not edited or removed in the meantime.

use std::sync::Arc;

use dunlin_extract::Flicker;
use dunlin_store::{ProbeId, SourceId};
use serde::{Deserialize, Serialize};

use crate::by_id::ById;
use crate::capture::{ProbeOutcome, SourceResult};
use crate::memory::{FetchState, ProbeNote, flicker_in};
use crate::recipe::SourceRecipe;

/// What a source takes beside its packed bytes: its slot in a map, which is half empty at times, and the header of an
/// allocation.
const BYTES_PER_SOURCE: usize = 80;

/// What a probe of a source starts from.
#[derive(Debug, Clone)]
pub(super) struct ProbeState {
    pub(super) recipe: Arc<SourceRecipe>,
    pub(super) note: ProbeNote,
    pub(super) flicker: Flicker,
    /// What the last fetch of the resource left.
    pub(super) fetch_state: FetchState,
    /// Of a body whose hash is the one in `fetch_state`, once such a body has come again.
    pub(super) fingerprint: Option<u128>,
}

/// The same in as few bytes as possible: all of many sources are kept, and only now and then one is needed.
#[derive(Debug, Clone)]
pub(super) struct PackedProbeState {
    recipe: Arc<SourceRecipe>,
    packed: Box<[u8]>,
}

/// What is packed. Without the flicker where there is none, as of most sources.
#[derive(Serialize, Deserialize)]
struct PackedFields {
    fingerprint: Option<u128>,
    fetch_state: FetchState,
    note: ProbeNote,
    flicker: Option<Flicker>,
}

impl PackedProbeState {
    fn new(recalled: ProbeState) -> Option<Self> {
        let ProbeState { recipe, note, flicker, fetch_state, fingerprint } = recalled;
        let flicker = Some(flicker).filter(|flicker| *flicker != Flicker::default());
        let packed = postcard::to_allocvec(&PackedFields { fingerprint, fetch_state, note, flicker }).ok()?;
        Some(Self { recipe, packed: packed.into() })
    }

    /// What the next probe will start from once this one is written; `None` where control adds to that, or where the store
    /// has to be read. `flicker` is what the probe did not use up.
    pub(super) fn after(
        recipe: Arc<SourceRecipe>,
        flicker: Option<Flicker>,
        fetch_state: FetchState,
        fingerprint: Option<u128>,
        result: &SourceResult,
    ) -> Option<Self> {
        if !matches!(result.outcome, ProbeOutcome::Observed { .. }) {
            return None;
        }
        let flicker = flicker_in(&result.capture.notes).or(flicker)?;
        Self::new(ProbeState { recipe, note: result.note.clone(), flicker, fetch_state, fingerprint })
    }

    /// What a probe starts from.
    pub(super) fn unpack(self) -> ProbeState {
        let PackedFields { fingerprint, fetch_state, note, flicker } =
            postcard::from_bytes(&self.packed).expect("this process has packed it, in the same form");
        let flicker = flicker.unwrap_or_default();
        ProbeState { recipe: self.recipe, note, flicker, fetch_state, fingerprint }
    }

    const fn n_bytes(&self) -> usize {
        BYTES_PER_SOURCE + self.packed.len()
    }
}

/// The cache: sources that were probed last. When the younger generation is full, the older one is dropped.
#[derive(Debug)]
pub(super) struct ProbeCache {
    /// Of each generation.
    most_bytes: usize,
    young: ById<SourceId, PackedProbeState>,
    young_bytes: usize,
    old: ById<SourceId, PackedProbeState>,
    /// Sources that are being probed, with what the probe leaves once it is written.
    out: ById<SourceId, Out>,
    most_out: usize,
}

/// The active probe of a source, and what it leaves.
#[derive(Debug)]
struct Out {
    probe: ProbeId,
    left: Option<PackedProbeState>,
}

impl ProbeCache {
    /// Holds at most about `most_bytes`, and drops nothing as long as half of that is enough; for at most this many active
    /// probes.
    pub(super) fn new(most_bytes: usize, max_active: usize) -> Self {
        Self {
            most_bytes: most_bytes / 2,
            young: ById::default(),
            young_bytes: 0,
            old: ById::default(),
            out: ById::default(),
            most_out: max_active.saturating_mul(2),
        }
    }

    /// Takes a source out for a probe; returns what is known about it, if it was here.
    pub(super) fn take(&mut self, source: SourceId, probe: ProbeId) -> Option<PackedProbeState> {
        if self.out.len() >= self.most_out {
            // Mostly sources whose probes were dropped. The others will be read from the store.
            self.out.clear();
        }
        self.out.insert(source, Out { probe, left: None });
        self.remove(source)
    }

    /// Adds what a probe will leave once it is written.
    pub(super) fn leave(&mut self, source: SourceId, probe: ProbeId, kept: PackedProbeState) {
        if let Some(out) = self.out.get_mut(&source)
            && out.probe == probe
        {
            out.left = Some(kept);
        }
    }

    /// The result of a probe is in the store.
    pub(super) fn written(&mut self, source: SourceId, probe: ProbeId) {
        if self.out.get(&source).is_some_and(|out| out.probe == probe)
            && let Some(Out { left: Some(kept), .. }) = self.out.remove(&source)
        {
            self.rest(source, kept);
        }
    }

    /// Forgets a source that was edited or removed, also during a probe.
    pub(super) fn forget(&mut self, source: SourceId) {
        self.out.remove(&source);
        self.remove(source);
    }

    fn rest(&mut self, source: SourceId, kept: PackedProbeState) {
        if self.young_bytes > self.most_bytes {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += kept.n_bytes();
        self.young.insert(source, kept);
    }

    fn remove(&mut self, source: SourceId) -> Option<PackedProbeState> {
        if let Some(kept) = self.young.remove(&source) {
            self.young_bytes -= kept.n_bytes();
            return Some(kept);
        }
        self.old.remove(&source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 1 << 20;

    fn kept(note: ProbeNote) -> PackedProbeState {
        kept_with(note, "")
    }

    fn kept_with(note: ProbeNote, etag: &str) -> PackedProbeState {
        let mut fetch_state = FetchState::default();
        fetch_state.validators.etag = Some(etag.to_owned());
        let (recipe, flicker) = (Arc::default(), Flicker::default());
        PackedProbeState::new(ProbeState { recipe, note, flicker, fetch_state, fingerprint: Some(7) })
            .unwrap()
    }

    fn probe_at(recent: &mut ProbeCache, number: u64, kept: PackedProbeState) {
        let (source, probe) = (SourceId(number.cast_signed()), ProbeId(number));
        recent.take(source, probe);
        recent.leave(source, probe, kept);
        recent.written(source, probe);
    }

    fn is_here(recent: &ProbeCache, number: u64) -> bool {
        let source = SourceId(number.cast_signed());
        recent.young.contains_key(&source) || recent.old.contains_key(&source)
    }

    #[test]
    fn a_source_comes_back_from_its_own_probe_only_when_written_and_not_after_an_edit() {
        let (mut recent, source) = (ProbeCache::new(MOST, 9), SourceId(1));
        recent.leave(source, ProbeId(1), kept(ProbeNote::default()));
        assert!(recent.take(source, ProbeId(2)).is_none(), "it had not been taken out");
        recent.leave(source, ProbeId(1), kept(ProbeNote::default()));
        recent.written(source, ProbeId(1));
        assert!(recent.take(source, ProbeId(3)).is_none(), "another probe had it");
        recent.leave(source, ProbeId(3), kept(ProbeNote::default()));
        assert!(!is_here(&recent, 1), "it was not written");
        recent.written(source, ProbeId(3));
        assert!(recent.take(source, ProbeId(4)).is_some());
        recent.written(source, ProbeId(4));
        assert!(!is_here(&recent, 1), "the probe has left nothing");
        recent.take(source, ProbeId(5));
        recent.leave(source, ProbeId(5), kept(ProbeNote::default()));
        recent.forget(source);
        recent.written(source, ProbeId(5));
        assert!(recent.take(source, ProbeId(6)).is_none(), "it was edited under way");
    }

    /// The second probe read the store, and what it did may be newer than what the first one leaves.
    #[test]
    fn what_a_probe_leaves_that_was_given_up_is_not_used() {
        let (mut recent, source) = (ProbeCache::new(MOST, 9), SourceId(1));
        recent.take(source, ProbeId(1));
        recent.take(source, ProbeId(2));
        recent.leave(source, ProbeId(1), kept(ProbeNote::default()));
        recent.written(source, ProbeId(2));
        assert!(recent.take(source, ProbeId(3)).is_none());
    }

    #[test]
    fn what_a_probe_leaves_waits_for_its_own_write_and_no_earlier_one() {
        let (mut recent, source) = (ProbeCache::new(MOST, 9), SourceId(1));
        recent.take(source, ProbeId(1));
        recent.take(source, ProbeId(2));
        recent.leave(source, ProbeId(2), kept(ProbeNote::default()));
        recent.written(source, ProbeId(1));
        assert!(!is_here(&recent, 1));
        recent.written(source, ProbeId(2));
        assert!(is_here(&recent, 1));
    }

    #[test]
    fn what_comes_out_is_what_went_in() {
        let note = ProbeNote { spec: 3, hash: Some([9; 32]), n_reported: 200, ..ProbeNote::default() };
        let mut recent = ProbeCache::new(MOST, 9);
        probe_at(&mut recent, 1, kept_with(note.clone(), "\"tag\""));
        let recalled = recent.take(SourceId(1), ProbeId(9)).unwrap().unpack();
        assert_eq!((recalled.note, recalled.fingerprint), (note, Some(7)));
        assert_eq!(recalled.flicker, Flicker::default());
        assert_eq!(recalled.fetch_state.validators.etag.as_deref(), Some("\"tag\""));
    }

    #[test]
    fn it_holds_so_much_and_the_latest() {
        let mut recent = ProbeCache::new(MOST, 9);
        let plain = || kept(ProbeNote::default());
        let n_fit = (MOST / plain().n_bytes()) as u64;
        (0..n_fit / 2).for_each(|number| probe_at(&mut recent, number, plain()));
        assert!((0..n_fit / 2).all(|number| is_here(&recent, number)), "half of it is enough for these");
        (0..4 * n_fit).for_each(|number| probe_at(&mut recent, number, plain()));
        let n_held = recent.young.len() + recent.old.len();
        assert!(n_held as u64 <= n_fit + 2, "{n_held}");
        assert!(is_here(&recent, 4 * n_fit - 1) && !is_here(&recent, 0));
        (0..4 * n_fit).for_each(|_| probe_at(&mut recent, 7, plain()));
        assert!(is_here(&recent, 4 * n_fit - 2), "one that is probed often takes no more room than others");
        let etag = "e".repeat(60_000);
        (0..1000).for_each(|number| probe_at(&mut recent, number, kept_with(ProbeNote::default(), &etag)));
        let n_held = recent.young.len() + recent.old.len();
        assert!(n_held <= MOST / 60_000 + 2, "{n_held} with long validators");
    }

    #[test]
    fn probes_that_come_to_nothing_take_no_room_for_ever() {
        let mut recent = ProbeCache::new(MOST, 10);
        (0..1000).for_each(|number| drop(recent.take(SourceId(number), ProbeId(number.cast_unsigned()))));
        assert!(recent.out.len() <= 20, "{}", recent.out.len());
    }
}
