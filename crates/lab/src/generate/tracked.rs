//! Pages that have been tracked: it is known at which instants each may change and how likely, and made up at which
//! it does. Some pages matter much more than others, and of a page's instants a few bring most of its changes.

use dunlin_core::{Changes, Chronon};
use dunlin_sched::plan::cam::{Expected, UpdateForecast};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{check_count, check_events, check_number};
use crate::Error;
use crate::stream::{Purpose, stream};

/// Parameters of the pages.
#[derive(Debug, Clone, PartialEq)]
pub struct Tracked {
    /// Number of pages.
    pub sources: u32,
    /// Instants per page and epoch, at random chronons; all of them if there are fewer chronons.
    pub instants: u32,
    /// Length of the epoch.
    pub chronons: u32,
    /// The page of the i-th rank weighs 1/i^this; 0: all alike.
    pub weight_skew: f64,
    /// How unevenly things change; 0: at every instant. The instant of the i-th rank of a page brings a change with
    /// probability 1/i^this, times how lively the page is: a number from 0 to 1, evenly spread, to that power.
    pub change_skew: f64,
}

impl Default for Tracked {
    fn default() -> Self {
        Self { sources: 1_000, instants: 20, chronons: 1_000, weight_skew: 1.5, change_skew: 1.5 }
    }
}

impl Tracked {
    /// What is expected of an epoch, and what then happens. The same seed gives the same epoch.
    pub fn generate(&self, seed: u64) -> Result<(UpdateForecast, Changes), Error> {
        check_count("sources", self.sources)?;
        check_count("instants", self.instants)?;
        check_count("chronons", self.chronons)?;
        check_number("weight skew", self.weight_skew, 0.0, 10.0)?;
        check_number("change skew", self.change_skew, 0.0, 10.0)?;
        check_events(f64::from(self.sources) * f64::from(self.instants))?;
        let shuffled = |of: u32| {
            let mut ranks: Vec<u32> = (1..=self.sources).collect();
            shuffle(&mut ranks, &mut stream(seed, Purpose::Profiles, of));
            ranks
        };
        let (mut expected, mut happening) = (Vec::new(), Vec::new());
        for (source, (rank, lively)) in (0..).zip(shuffled(0).into_iter().zip(shuffled(1))) {
            let mut rng = stream(seed, Purpose::Updates, source);
            let liveliness = f64::from(lively) / f64::from(self.sources);
            let instants = self.instants_of_page(liveliness.powf(self.change_skew), &mut rng);
            let happens = |instant: &&Expected| rng.random::<f64>() < instant.probability;
            happening.push(instants.iter().filter(happens).map(|instant| instant.at).collect());
            expected.push((f64::from(rank).powf(-self.weight_skew), instants));
        }
        Ok((UpdateForecast::new(self.chronons, expected)?, Changes::new(self.chronons, happening)?))
    }

    fn instants_of_page(&self, liveliness: f64, rng: &mut ChaCha8Rng) -> Vec<Expected> {
        let wanted = self.instants.min(self.chronons);
        let mut chronons: Vec<u32> = Vec::new();
        // Drawing again what was drawn before ends soon while at most half are taken; else leave some out.
        if wanted <= self.chronons / 2 {
            while chronons.len() < wanted as usize {
                let drawn = rng.random_range(1..=self.chronons);
                if !chronons.contains(&drawn) {
                    chronons.push(drawn);
                }
            }
        } else {
            chronons = (1..=self.chronons).collect();
            shuffle(&mut chronons, rng);
            chronons.truncate(wanted as usize);
        }
        // The order of drawing is random, and serves as the ranks.
        let instant = |(rank, at): (u32, u32)| {
            let probability = liveliness * f64::from(rank).powf(-self.change_skew);
            Chronon::new(at).map(|at| Expected { at, probability })
        };
        let mut instants: Vec<_> = (1..).zip(chronons).filter_map(instant).collect();
        instants.sort_by_key(|instant| instant.at);
        instants
    }
}

/// Fisher and Yates.
fn shuffle(numbers: &mut [u32], rng: &mut ChaCha8Rng) {
    for i in (1..numbers.len()).rev() {
        numbers.swap(i, rng.random_range(0..=i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_changes_as_the_ranks_promise() {
        let pages = Tracked { sources: 2_000, weight_skew: 1.0, change_skew: 1.0, ..Tracked::default() };
        let (forecast, changes) = pages.generate(1).unwrap();
        assert_eq!(forecast.n_instants(), 40_000);
        // 1 + 1/2 + … + 1/20 = 3.598 for the liveliest page, half of it for the mean one.
        assert!((changes.len() as f64 / 2_000.0 - 1.799).abs() < 0.1, "{}", changes.len());
        let weights: f64 = forecast.by_source().map(|(_, weight, _)| weight).sum();
        assert!((weights - 8.178).abs() < 0.001, "{weights}");
        assert_eq!(pages.generate(1).unwrap(), (forecast, changes));
        assert_ne!(pages.generate(2).unwrap(), pages.generate(1).unwrap());
    }

    #[test]
    fn every_chronon_may_be_an_instant() {
        let pages =
            Tracked { sources: 3, instants: 50, chronons: 40, change_skew: 0.0, ..Tracked::default() };
        let (forecast, changes) = pages.generate(1).unwrap();
        assert_eq!((forecast.n_instants(), changes.len()), (120, 120));
        assert!(Tracked { instants: 0, ..pages.clone() }.generate(1).is_err());
        assert!(Tracked { change_skew: -1.0, ..pages }.generate(1).is_err());
    }
}
