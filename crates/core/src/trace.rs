//! The true changes of every source over one epoch, in chronons. What really happened; no policy sees it.

use crate::{Chronon, Error, SourceIdx};

/// Changes per source, ascending; several changes of a source within one chronon count as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    chronons: u32,
    /// `at[offsets[i]..offsets[i + 1]]` are the changes of source i.
    offsets: Vec<usize>,
    at: Vec<Chronon>,
}

impl Changes {
    /// An epoch of `chronons` chronons in which source i changes at `by_source[i]`, in any order.
    pub fn new(chronons: u32, by_source: Vec<Vec<Chronon>>) -> Result<Self, Error> {
        let mut offsets = Vec::with_capacity(by_source.len() + 1);
        let mut at = Vec::new();
        offsets.push(0);
        for mut own in by_source {
            own.sort_unstable();
            own.dedup();
            if let Some(last) = own.last().filter(|last| last.get() > chronons) {
                return Err(Error::OutsideEpoch { chronon: last.get(), chronons });
            }
            at.append(&mut own);
            offsets.push(at.len());
        }
        Ok(Self { chronons, offsets, at })
    }

    /// Length of the epoch.
    pub const fn chronons(&self) -> u32 {
        self.chronons
    }

    /// Number of sources, silent ones included.
    pub const fn n_sources(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of changes.
    pub const fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether nothing ever changes.
    pub const fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// The changes of one source, ascending.
    pub fn of(&self, source: SourceIdx) -> &[Chronon] {
        &self.at[self.offsets[source.index()]..self.offsets[source.index() + 1]]
    }

    /// Every source with its changes.
    pub fn by_source(&self) -> impl Iterator<Item = (SourceIdx, &[Chronon])> {
        (0u32..).zip(self.offsets.windows(2)).map(|(i, pair)| (SourceIdx(i), &self.at[pair[0]..pair[1]]))
    }
}
