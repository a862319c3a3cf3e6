//! What is expected of an epoch: when each source may be updated, how likely, and how much it matters.

use dunlin_core::{Chronon, SourceIdx};

use crate::plan::Error;

/// An instant at which a source may be updated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// When.
    pub at: Chronon,
    /// How likely (ρ), 0 to 1.
    pub probability: f64,
}

/// One source's weight and instants.
#[derive(Debug, Clone, PartialEq)]
struct SourceForecast {
    weight: f64,
    instants: Vec<Expected>,
}

/// The instants of all sources.
#[derive(Debug, Clone, PartialEq)]
pub struct UpdateForecast {
    chronons: u32,
    sources: Vec<SourceForecast>,
}

impl UpdateForecast {
    /// An epoch of `chronons` chronons in which source i has weight (W) and instants `sources[i]`, in any order.
    pub fn new(chronons: u32, sources: Vec<(f64, Vec<Expected>)>) -> Result<Self, Error> {
        let source_forecast = |(source_idx, (weight, mut instants)): (u32, (f64, Vec<Expected>))| {
            if !(weight.is_finite() && weight >= 0.0) {
                return Err(Error::BadWeight(weight));
            }
            instants.sort_by_key(|instant| instant.at);
            if let Some(bad) = instants.iter().find(|instant| !(0.0..=1.0).contains(&instant.probability)) {
                return Err(Error::BadProbability(bad.probability));
            }
            if let Some(late) = instants.last().filter(|instant| instant.at.get() > chronons) {
                return Err(Error::OutsideEpoch { chronon: late.at.get(), chronons });
            }
            if let Some(pair) = instants.windows(2).find(|pair| pair[0].at == pair[1].at) {
                return Err(Error::SameInstant { source_idx, chronon: pair[0].at.get() });
            }
            Ok(SourceForecast { weight, instants })
        };
        let sources = (0..).zip(sources).map(source_forecast).collect::<Result<_, _>>()?;
        Ok(Self { chronons, sources })
    }

    /// Length of the epoch.
    pub const fn chronons(&self) -> u32 {
        self.chronons
    }

    /// Number of sources.
    pub const fn n_sources(&self) -> usize {
        self.sources.len()
    }

    /// Number of instants over all sources.
    pub fn n_instants(&self) -> usize {
        self.sources.iter().map(|source| source.instants.len()).sum()
    }

    /// Every source with its weight and its instants in order.
    pub fn by_source(&self) -> impl Iterator<Item = (SourceIdx, f64, &[Expected])> {
        (0..).map(SourceIdx).zip(&self.sources).map(|(idx, own)| (idx, own.weight, own.instants.as_slice()))
    }
}
