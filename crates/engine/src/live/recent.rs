//! What the store has about the sources that were looked at last, so that the next look need not read it again. Bounded;
//! what is not here is read from the store, which stays the truth.
//!
//! Invariant: what is here is what is stored. A source is taken out for its probe, and comes back only when what the
//! probe brought is written and nobody has edited or removed the source meanwhile.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use dunlin_extract::Flicker;
use dunlin_store::{ProbeId, SourceId};

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
}

impl Recalled {
    /// What the next probe will begin with once this one is written; `None` where control adds to that, or where it
    /// takes a look into the store. `flicker` is what the probe did not use up.
    pub(super) fn after(checked: Arc<Checked>, flicker: Option<Flicker>, taken: &Taken) -> Option<Self> {
        let flicker = flicker_in(&taken.capture.notes).or(flicker)?;
        matches!(taken.finding, Finding::Seen { .. }).then(|| Self {
            checked,
            look: taken.look.clone(),
            flicker,
        })
    }

    fn n_bytes(&self) -> usize {
        BYTES_PER_SOURCE + self.checked.url.as_str().len() + self.flicker.n_fingerprints() * size_of::<u64>()
    }
}

/// Where a source is.
#[derive(Debug)]
enum Place {
    /// Here.
    Resting(Box<Recalled>),
    /// With this probe.
    Out(ProbeId),
}

/// Sources that were looked at last. When the younger generation is full, the older one is forgotten.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<SourceId, Place>,
    young_bytes: usize,
    old: HashMap<SourceId, Place>,
}

/// The memory, shared by the loop and the probes.
#[derive(Debug, Clone, Default)]
pub(super) struct Recent(Arc<Mutex<Generations>>);

impl Recent {
    /// Takes a source out for a probe, if it is here.
    pub(super) fn take(&self, source: SourceId, probe: ProbeId) -> Option<Recalled> {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match generations.replace(source, Place::Out(probe), BYTES_PER_SOURCE) {
            Some(Place::Resting(recalled)) => Some(*recalled),
            Some(Place::Out(_)) | None => None,
        }
    }

    /// Takes in what a probe has left in the store.
    pub(super) fn put(&self, source: SourceId, probe: ProbeId, recalled: Recalled) {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(generations.get(source), Some(Place::Out(by)) if *by == probe) {
            let n_bytes = recalled.n_bytes();
            generations.replace(source, Place::Resting(Box::new(recalled)), n_bytes);
        }
    }

    /// Forgets a source that was edited or removed, also if it is with a probe.
    pub(super) fn forget(&self, source: SourceId) {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        generations.young.remove(&source);
        generations.old.remove(&source);
    }
}

impl Generations {
    fn get(&self, source: SourceId) -> Option<&Place> {
        self.young.get(&source).or_else(|| self.old.get(&source))
    }

    fn replace(&mut self, source: SourceId, place: Place, n_bytes: usize) -> Option<Place> {
        if self.young_bytes > GENERATION_BYTES {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += n_bytes;
        let before = self.old.remove(&source);
        self.young.insert(source, place).or(before)
    }
}

#[cfg(test)]
mod tests {
    use dunlin_core::Time;
    use dunlin_store::NewSource;

    use super::*;
    use crate::Settings;
    use crate::recipe::check;

    fn recalled() -> Recalled {
        let source = NewSource::page("https://example.test/", Time::from_seconds(0));
        let checked = Arc::new(check(&source, &Settings::default()).unwrap());
        Recalled { checked, look: LookNote::default(), flicker: Flicker::default() }
    }

    #[test]
    fn a_source_comes_back_from_its_own_probe_only_and_not_after_an_edit() {
        let (recent, source) = (Recent::default(), SourceId(1));
        recent.put(source, ProbeId(1), recalled());
        assert!(recent.take(source, ProbeId(2)).is_none(), "nobody had taken it out");
        recent.put(source, ProbeId(1), recalled());
        assert!(recent.take(source, ProbeId(3)).is_none(), "another probe had it");
        recent.put(source, ProbeId(3), recalled());
        assert!(recent.take(source, ProbeId(4)).is_some());
        recent.forget(source);
        recent.put(source, ProbeId(4), recalled());
        assert!(recent.take(source, ProbeId(5)).is_none(), "it was edited under way");
    }

    #[test]
    fn it_holds_so_much_and_the_latest() {
        let recent = Recent::default();
        let n_sources = (4 * GENERATION_BYTES / BYTES_PER_SOURCE) as u64;
        for number in 0..n_sources {
            let (source, probe) = (SourceId(number.cast_signed()), ProbeId(number));
            recent.take(source, probe);
            recent.put(source, probe, recalled());
        }
        let generations = recent.0.lock().unwrap();
        let n_held = generations.young.len() + generations.old.len();
        assert!(n_held <= 2 * GENERATION_BYTES / BYTES_PER_SOURCE + 2, "{n_held}");
        assert!(generations.get(SourceId(n_sources.cast_signed() - 1)).is_some());
        assert!(generations.get(SourceId(0)).is_none());
    }
}
