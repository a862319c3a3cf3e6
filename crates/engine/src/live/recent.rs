//! What the store has about the sources that were looked at last, so that the next look need not read it again. Bounded;
//! what is not here is read from the store, which stays the truth.
//!
//! Invariant: what is handed out is what is stored. A source is taken out for its probe, and rests here again only when
//! what the probe brought is written and nobody has edited or removed the source meanwhile.

use std::sync::Arc;

use dunlin_extract::Flicker;
use dunlin_store::{ProbeId, SourceId};

use crate::by_id::ById;
use crate::capture::{Finding, Taken};
use crate::memory::{LookNote, flicker_in};
use crate::recipe::Checked;

/// The most bytes of each of two generations, about.
const GENERATION_BYTES: usize = 8 << 20;
/// What a source takes beside its texts and its flicker, about.
const BYTES_PER_SOURCE: usize = 1024;

/// What a probe of a source begins with.
#[derive(Debug, Clone)]
pub(super) struct Recalled {
    pub(super) checked: Arc<Checked>,
    pub(super) look: LookNote,
    pub(super) flicker: Flicker,
    /// Of a body whose hash is the one in `look`, once such a body has come again.
    pub(super) print: Option<u128>,
    /// What all this takes, about; counted where it is made, since whoever keeps it need not read it.
    pub(super) n_bytes: usize,
}

impl Recalled {
    fn new(checked: Arc<Checked>, look: LookNote, flicker: Flicker, print: Option<u128>) -> Self {
        let Checked { url, recipe, .. } = &*checked;
        let validators = [&look.validators.etag, &look.validators.last_modified];
        let n_said = validators.into_iter().flatten().map(String::len).sum::<usize>();
        let n_headers = recipe.headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>();
        let n_texts = url.as_str().len() + n_headers + n_said;
        let n_bytes = BYTES_PER_SOURCE + n_texts + flicker.n_fingerprints() * size_of::<u64>();
        Self { checked, look, flicker, print, n_bytes }
    }

    /// What the next probe will begin with once this one is written; `None` where control adds to that, or where it
    /// takes a look into the store. `flicker` is what the probe did not use up.
    pub(super) fn after(
        checked: Arc<Checked>,
        flicker: Option<Flicker>,
        print: Option<u128>,
        taken: &Taken,
    ) -> Option<Box<Self>> {
        let flicker = flicker_in(&taken.capture.notes).or(flicker)?;
        matches!(taken.finding, Finding::Seen { .. }).then(|| {
            let look = taken.look.clone();
            Box::new(Self::new(checked, look, flicker, print))
        })
    }
}

/// Where a source is.
#[derive(Debug)]
enum Place {
    /// With this probe, which may have left something that is not written yet.
    Out(ProbeId, Option<Box<Recalled>>),
    /// Here.
    Resting(Box<Recalled>),
}

/// What is held of a source, and how many bytes that takes, about.
#[derive(Debug)]
struct Held {
    place: Place,
    n_bytes: usize,
}

impl Held {
    fn with(probe: ProbeId, left: Option<Box<Recalled>>) -> Self {
        let n_bytes = left.as_ref().map_or(BYTES_PER_SOURCE, |left| left.n_bytes);
        Self { place: Place::Out(probe, left), n_bytes }
    }
}

/// The memory: sources that were looked at last. When the younger generation is full, the older one is forgotten.
#[derive(Debug, Default)]
pub(super) struct Recent {
    young: ById<SourceId, Held>,
    young_bytes: usize,
    old: ById<SourceId, Held>,
}

impl Recent {
    /// Takes a source out for a probe; what is known of it, if it was here.
    pub(super) fn take(&mut self, source: SourceId, probe: ProbeId) -> Option<Box<Recalled>> {
        match self.put(source, Held::with(probe, None))?.place {
            Place::Resting(recalled) => Some(recalled),
            Place::Out(..) => None,
        }
    }

    /// Takes in what a probe will have left once that is written.
    pub(super) fn leave(&mut self, source: SourceId, probe: ProbeId, recalled: Box<Recalled>) {
        if matches!(self.place(source), Some(Place::Out(by, _)) if *by == probe) {
            self.put(source, Held::with(probe, Some(recalled)));
        }
    }

    /// What a probe has brought is in the store.
    pub(super) fn written(&mut self, source: SourceId, probe: ProbeId) {
        if let Some(place) = self.place(source)
            && let Place::Out(by, left) = place
            && *by == probe
            && let Some(recalled) = left.take()
        {
            *place = Place::Resting(recalled);
        }
    }

    /// Forgets a source that was edited or removed, also if it is with a probe.
    pub(super) fn forget(&mut self, source: SourceId) {
        self.old.remove(&source);
        if let Some(held) = self.young.remove(&source) {
            self.young_bytes -= held.n_bytes;
        }
    }

    fn place(&mut self, source: SourceId) -> Option<&mut Place> {
        let held = self.young.get_mut(&source).or_else(|| self.old.get_mut(&source));
        held.map(|held| &mut held.place)
    }

    fn put(&mut self, source: SourceId, held: Held) -> Option<Held> {
        if self.young_bytes > GENERATION_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += held.n_bytes;
        let Some(before) = self.young.insert(source, held) else { return self.old.remove(&source) };
        self.young_bytes -= before.n_bytes;
        Some(before)
    }
}

#[cfg(test)]
mod tests {
    use dunlin_core::Time;
    use dunlin_store::NewSource;

    use super::*;
    use crate::Settings;
    use crate::recipe::check;

    fn recalled(look: LookNote) -> Box<Recalled> {
        let source = NewSource::page("https://example.test/", Time::from_seconds(0));
        let checked = Arc::new(check(&source, &Settings::default()).unwrap());
        Box::new(Recalled::new(checked, look, Flicker::default(), None))
    }

    fn is_here(recent: &mut Recent, source: SourceId) -> bool {
        matches!(recent.place(source), Some(Place::Resting(_)))
    }

    #[test]
    fn a_source_comes_back_from_its_own_probe_only_when_written_and_not_after_an_edit() {
        let (mut recent, source) = (Recent::default(), SourceId(1));
        recent.leave(source, ProbeId(1), recalled(LookNote::default()));
        assert!(recent.take(source, ProbeId(2)).is_none(), "nobody had taken it out");
        recent.leave(source, ProbeId(1), recalled(LookNote::default()));
        recent.written(source, ProbeId(1));
        assert!(recent.take(source, ProbeId(3)).is_none(), "another probe had it");
        recent.leave(source, ProbeId(3), recalled(LookNote::default()));
        assert!(!is_here(&mut recent, source), "it was not written");
        recent.written(source, ProbeId(3));
        assert!(recent.take(source, ProbeId(4)).is_some());
        recent.written(source, ProbeId(4));
        assert!(!is_here(&mut recent, source), "the probe has left nothing");
        recent.leave(source, ProbeId(4), recalled(LookNote::default()));
        recent.forget(source);
        recent.written(source, ProbeId(4));
        assert!(recent.take(source, ProbeId(5)).is_none(), "it was edited under way");
    }

    #[test]
    fn it_holds_so_much_and_the_latest() {
        let mut recent = Recent::default();
        let n_sources = (4 * GENERATION_BYTES / BYTES_PER_SOURCE) as u64;
        let look_at = |recent: &mut Recent, number: u64, recalled: Box<Recalled>| {
            let (source, probe) = (SourceId(number.cast_signed()), ProbeId(number));
            recent.take(source, probe);
            recent.leave(source, probe, recalled);
            recent.written(source, probe);
        };
        let look = |recent: &mut Recent, number: u64| look_at(recent, number, recalled(LookNote::default()));
        (0..n_sources).for_each(|number| look(&mut recent, number));
        let n_held = recent.young.len() + recent.old.len();
        assert!(n_held <= 2 * GENERATION_BYTES / BYTES_PER_SOURCE + 2, "{n_held}");
        assert!(is_here(&mut recent, SourceId(n_sources.cast_signed() - 1)));
        assert!(!is_here(&mut recent, SourceId(0)));
        (0..n_sources).for_each(|_| look(&mut recent, 7));
        let second_last = SourceId(n_sources.cast_signed() - 2);
        assert!(
            is_here(&mut recent, second_last),
            "one that is looked at often takes no more room than others"
        );
        let mut look = LookNote::default();
        look.validators.etag = Some("e".repeat(60_000));
        let verbose = recalled(look);
        (0..1000).for_each(|number| look_at(&mut recent, number, verbose.clone()));
        let n_held = recent.young.len() + recent.old.len();
        assert!(n_held <= 2 * GENERATION_BYTES / 60_000 + 2, "{n_held} with long validators");
    }
}
