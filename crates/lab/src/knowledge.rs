//! What a policy knows beforehand about when sources change: everything, or everything with noise. What a
//! policy learns from its own probes is not here.

use dunlin_core::{Changes, Chronon, SourceIdx};
use rand::RngExt;
use rayon::prelude::*;

use crate::Error;
use crate::stream::{Purpose, stream};

/// Probabilities smaller than this are left out: a thousand of them would not make one probe worth while.
const NEGLIGIBLE: f64 = 1e-6;

/// The widest spread accepted, in chronons.
const SIGMA_LIMIT: f64 = 1e5;

/// For each chronon the sources that may change in it, with what probability. What is not listed is 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChangeProbabilities {
    /// The chronons that have any, ascending, each with where its entries end; they begin where those of
    /// the one before end.
    chronons: Vec<(Chronon, usize)>,
    entries: Vec<(SourceIdx, f64)>,
}

/// How knowledge differs from the truth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// The share of changes that are missed; each is replaced by a spurious one of the same source at a
    /// random chronon. From 0 to 1.
    pub fpn: f64,
    /// The standard deviation, in chronons, of the Gaussian over which each change's unit of probability is
    /// spread; 0 for none.
    pub sigma: f64,
}

impl ChangeProbabilities {
    /// Probability 1 where a source really changes.
    pub fn exact(changes: &Changes) -> Self {
        let of_source = |(source, own): (SourceIdx, &[Chronon])| -> Vec<_> {
            own.iter().map(|&chronon| (chronon, source, 1.0)).collect()
        };
        Self::from_entries(changes.by_source().flat_map(of_source).collect())
    }

    /// The truth seen through `noise`. Mass that is spread beyond the epoch is lost; where spreads overlap
    /// they add up, to 1 at most. The same seed gives the same knowledge.
    pub fn noisy(changes: &Changes, noise: Noise, seed: u64) -> Result<Self, Error> {
        if !(0.0..=1.0).contains(&noise.fpn) {
            return Err(Error::parameter("fpn", &noise.fpn, "a number from 0 to 1"));
        }
        if !(0.0..=SIGMA_LIMIT).contains(&noise.sigma) {
            let expected = format!("a number of chronons from 0 to {SIGMA_LIMIT}");
            return Err(Error::parameter("sigma", &noise.sigma, expected));
        }
        let bell = Bell::new(noise.sigma);
        let sources: Vec<_> = changes.by_source().collect();
        let entries: Vec<Vec<_>> = sources
            .into_par_iter()
            .map(|(source, own)| {
                let mut rng = stream(seed, Purpose::Noise, source.0);
                let believed = own.iter().map(|&chronon| {
                    if rng.random_bool(noise.fpn) {
                        Chronon::FIRST.plus(rng.random_range(0..changes.chronons()))
                    } else {
                        chronon
                    }
                });
                let spread = bell.spread(believed.collect(), changes.chronons());
                spread.into_iter().map(|(chronon, mass)| (chronon, source, mass)).collect()
            })
            .collect();
        Ok(Self::from_entries(entries.concat()))
    }

    /// A table of probabilities in any order, one per source and chronon; zeros are left out.
    pub fn from_entries(mut entries: Vec<(Chronon, SourceIdx, f64)>) -> Self {
        entries.retain(|&(_, _, probability)| probability > 0.0);
        entries.sort_unstable_by_key(|&(chronon, source, _)| (chronon, source));
        let mut chronons: Vec<(Chronon, usize)> = Vec::new();
        for (i, &(chronon, _, _)) in entries.iter().enumerate() {
            match chronons.last_mut().filter(|last| last.0 == chronon) {
                Some(last) => last.1 = i + 1,
                None => chronons.push((chronon, i + 1)),
            }
        }
        let entries = entries.into_iter().map(|(_, source, probability)| (source, probability)).collect();
        Self { chronons, entries }
    }

    /// The sources that may change at `now`, ascending, with what probability.
    pub fn at(&self, now: Chronon) -> &[(SourceIdx, f64)] {
        match self.chronons.binary_search_by_key(&now, |&(chronon, _)| chronon) {
            Ok(place) => self.entries_of(place),
            Err(_) => &[],
        }
    }

    fn entries_of(&self, place: usize) -> &[(SourceIdx, f64)] {
        let from = place.checked_sub(1).map_or(0, |before| self.chronons[before].1);
        &self.entries[from..self.chronons[place].1]
    }

    /// Every probability, in order of chronon, then of source.
    pub fn iter(&self) -> impl Iterator<Item = (Chronon, SourceIdx, f64)> {
        self.chronons.iter().enumerate().flat_map(move |(place, &(now, _))| {
            self.entries_of(place).iter().map(move |&(source, probability)| (now, source, probability))
        })
    }

    /// Number of probabilities above 0.
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing is ever expected to change.
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// A Gaussian on whole chronons, cut off at four standard deviations.
struct Bell {
    /// Share of the mass at each distance from the middle, on one side.
    shares: Vec<f64>,
}

impl Bell {
    fn new(sigma: f64) -> Self {
        let mut heights = vec![1.0];
        for distance in (1u32..).map(f64::from).take_while(|&distance| distance <= 4.0 * sigma) {
            heights.push((-0.5 * (distance / sigma).powi(2)).exp());
        }
        let total = 2.0 * heights.iter().sum::<f64>() - heights[0];
        Self { shares: heights.into_iter().map(|height| height / total).collect() }
    }

    /// The probabilities that result from spreading one unit at each of `centres`, ascending by chronon.
    fn spread(&self, mut centres: Vec<Chronon>, chronons: u32) -> Vec<(Chronon, f64)> {
        centres.sort_unstable();
        let reach = u32::try_from(self.shares.len() - 1).unwrap_or(u32::MAX);
        let mut masses = Vec::with_capacity(centres.len());
        for centre in centres {
            let first = centre.get().saturating_sub(reach).max(1);
            let last = centre.get().saturating_add(reach).min(chronons);
            let share = |chronon: Chronon| self.shares[chronon.get().abs_diff(centre.get()) as usize];
            masses.extend((first..=last).filter_map(Chronon::new).map(|chronon| (chronon, share(chronon))));
        }
        masses.sort_by_key(|&(chronon, _)| chronon);
        masses
            .chunk_by(|left, right| left.0 == right.0)
            .map(|same| (same[0].0, same.iter().map(|&(_, mass)| mass).sum::<f64>().min(1.0)))
            .filter(|&(_, mass)| mass >= NEGLIGIBLE)
            .collect()
    }
}
