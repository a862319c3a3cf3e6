//! The execution interval: a stretch of chronons in which one source has to be probed once.

use crate::{Chronon, Error, SourceIdx};

/// An execution interval (EI): probe `source` at any chronon of `[start, finish]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExecutionInterval {
    source: SourceIdx,
    start: Chronon,
    finish: Chronon,
}

impl ExecutionInterval {
    /// An interval over the chronons `start` to `finish`, both included.
    pub fn new(source: SourceIdx, start: Chronon, finish: Chronon) -> Result<Self, Error> {
        if finish < start {
            return Err(Error::FinishBeforeStart { start: start.get(), finish: finish.get() });
        }
        Ok(Self { source, start, finish })
    }

    /// The source to probe.
    pub const fn source(&self) -> SourceIdx {
        self.source
    }

    /// First chronon in which a probe counts.
    pub const fn start(&self) -> Chronon {
        self.start
    }

    /// Last chronon in which a probe counts.
    pub const fn finish(&self) -> Chronon {
        self.finish
    }

    /// Number of chronons in which a probe counts.
    pub const fn width(&self) -> u32 {
        self.finish.since(self.start).saturating_add(1)
    }

    /// Whether a probe at `now` captures it.
    pub fn covers(&self, now: Chronon) -> bool {
        self.start <= now && now <= self.finish
    }
}
