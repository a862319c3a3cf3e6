//! The auction-watching workload of the papers' experiments: profiles that need the j-th update of each of a
//! few sources together.

use dunlin_core::{Changes, Chronon, ExecutionInterval, Need, ProfileIdx, SourceIdx, Workload};
use rayon::prelude::*;

use super::zipf::Zipf;
use super::{EVENT_LIMIT, check_count, check_events, check_number, span};
use crate::Error;
use crate::files::{IntervalsFile, numbered};
use crate::stream::{Purpose, stream};

/// The most sources a profile may watch; drawing them takes time quadratic in their number.
const RANK_LIMIT: u32 = 1000;

/// The profiles. The defaults are the baseline of the papers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AuctionWatch {
    /// Number of profiles, 1 to 10 million.
    pub profiles: u32,
    /// The largest number of sources a profile watches, 1 to 1000.
    pub rank: u32,
    /// Whether every profile watches that many, rather than a number drawn by Zipf's law.
    pub exact_rank: bool,
    /// Exponent of the Zipf law by which sources are picked, 0 (all alike) to 10.
    pub alpha: f64,
    /// Exponent of the Zipf law by which the number of sources is picked, 0 to 10.
    pub beta: f64,
    /// How long an update is worth fetching.
    pub length: IntervalLength,
}

/// How long after an update its interval lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalLength {
    /// This many further chronons; 0 is "at once".
    Window(u32),
    /// Until just before the source's next update, the last one until the end of the epoch.
    Overwrite,
}

impl Default for AuctionWatch {
    fn default() -> Self {
        Self {
            profiles: 100,
            rank: 3,
            exact_rank: false,
            alpha: 0.0,
            beta: 0.0,
            length: IntervalLength::Window(10),
        }
    }
}

impl AuctionWatch {
    /// The workload for `seed` over sources called `names`, which change at `changes`: a profile has as many
    /// CEIs as its least-updated source has updates. Sources nobody watches and profiles without CEIs are left
    /// out, and indices follow first appearance, so that the workload is the same after a trip through a file.
    pub fn generate(&self, changes: &Changes, names: &[String], seed: u64) -> Result<IntervalsFile, Error> {
        let n_sources = self.check(changes, names)?;
        let (ranks, popularity) = (Zipf::new(self.beta, self.rank), Zipf::new(self.alpha, n_sources));
        let watched: Vec<Vec<usize>> = (0..self.profiles)
            .into_par_iter()
            .map(|profile| {
                let mut rng = stream(seed, Purpose::Profiles, profile);
                let drawn = ranks.draw_distinct(1, &mut rng)[0] + 1;
                let rank = if self.exact_rank { self.rank as usize } else { drawn };
                popularity.draw_distinct(rank, &mut rng)
            })
            .collect();
        let n_ceis = |sources: &[usize]| {
            sources.iter().map(|&source| changes.of(source_idx(source)).len()).min().unwrap_or(0)
        };
        check_events(watched.iter().map(|sources| (sources.len() * n_ceis(sources)) as f64).sum())?;

        let mut file = IntervalsFile::default();
        let mut new_idx: Vec<Option<SourceIdx>> = vec![None; names.len()];
        for (sources, name) in watched.iter().zip(numbered("p", self.profiles as usize)) {
            let n_ceis = n_ceis(sources);
            if n_ceis == 0 {
                continue;
            }
            let profile = file.workload.add_profile();
            file.profiles.push(name);
            let updates: Vec<_> = sources
                .iter()
                .map(|&source| {
                    let idx = *new_idx[source].get_or_insert_with(|| {
                        file.resources.push(names[source].clone());
                        source_idx(file.resources.len() - 1)
                    });
                    (idx, changes.of(source_idx(source)))
                })
                .collect();
            self.add_ceis(&mut file.workload, profile, &updates, n_ceis, changes.chronons())?;
            file.ceis.extend((1..=n_ceis).map(|number| number.to_string()));
        }
        Ok(file)
    }

    /// Checks the parameters; says how many sources there are.
    fn check(&self, changes: &Changes, names: &[String]) -> Result<u32, Error> {
        check_count("profiles", self.profiles)?;
        let n_sources = u32::try_from(changes.n_sources()).unwrap_or(u32::MAX);
        check_count("sources", n_sources)?;
        if names.len() != changes.n_sources() {
            return Err(Error::parameter(
                "number of names",
                &names.len(),
                format!("{n_sources}, one per source"),
            ));
        }
        let most = n_sources.min(RANK_LIMIT);
        if !(1..=most).contains(&self.rank) {
            let expected = format!("1 to {most}, and no more than there are sources");
            return Err(Error::parameter("rank", &self.rank, expected));
        }
        // Unlike the number of CEIs this does not depend on luck, and it bounds the time spent drawing.
        let watched = f64::from(self.profiles) * f64::from(self.rank);
        if watched > EVENT_LIMIT {
            let expected = format!("at most {EVENT_LIMIT}");
            return Err(Error::parameter("profiles times rank", &watched, expected));
        }
        check_number("alpha", self.alpha, 0.0, 10.0)?;
        check_number("beta", self.beta, 0.0, 10.0)?;
        Ok(n_sources)
    }

    fn add_ceis(
        &self,
        workload: &mut Workload,
        profile: ProfileIdx,
        sources: &[(SourceIdx, &[Chronon])],
        n_ceis: usize,
        chronons: u32,
    ) -> Result<(), Error> {
        for number in 0..n_ceis {
            let intervals: Result<Vec<_>, _> = sources
                .iter()
                .map(|&(source, updates)| {
                    let start = updates[number];
                    ExecutionInterval::new(
                        source,
                        start,
                        self.finish(start, updates.get(number + 1), chronons),
                    )
                })
                .collect();
            workload.push(profile, &intervals?, Need::All, 1.0)?;
        }
        Ok(())
    }

    fn finish(&self, start: Chronon, next: Option<&Chronon>, chronons: u32) -> Chronon {
        let steps = match (self.length, next) {
            (IntervalLength::Window(steps), _) => steps.min(chronons - start.get()),
            (IntervalLength::Overwrite, Some(next)) => next.since(start) - 1,
            (IntervalLength::Overwrite, None) => chronons - start.get(),
        };
        start.plus(steps)
    }
}

fn source_idx(position: usize) -> SourceIdx {
    SourceIdx(u32::try_from(position).expect("the number of sources is capped far below"))
}

/// Changes of sources that change at random, all at the same rate. The defaults are the baseline of the papers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoissonUpdates {
    /// Number of sources, 1 to 10 million.
    pub sources: u32,
    /// Length of the epoch.
    pub chronons: u32,
    /// Mean number of updates of a source in the epoch; those that fall into one chronon count as one.
    pub lambda: f64,
}

impl Default for PoissonUpdates {
    fn default() -> Self {
        Self { sources: 1000, chronons: 1000, lambda: 20.0 }
    }
}

impl PoissonUpdates {
    /// The changes for `seed`.
    pub fn generate(&self, seed: u64) -> Result<Changes, Error> {
        check_count("sources", self.sources)?;
        check_number("chronons", f64::from(self.chronons), 1.0, f64::from(u32::MAX))?;
        if !(self.lambda > 0.0 && self.lambda.is_finite()) {
            return Err(Error::parameter("lambda", &self.lambda, "a finite number above 0"));
        }
        check_events(self.lambda * f64::from(self.sources))?;
        let length = f64::from(self.chronons);
        let one_source = |source| {
            let mut rng = stream(seed, Purpose::Updates, source);
            span::arrivals(self.lambda / length, length, &mut rng)
                .filter_map(|moment| u32::try_from(span::second(moment) + 1).ok().and_then(Chronon::new))
                .collect()
        };
        Ok(Changes::new(self.chronons, (0..self.sources).into_par_iter().map(one_source).collect())?)
    }

    /// Names for its sources.
    pub fn names(&self) -> Vec<String> {
        numbered("s", self.sources as usize)
    }
}
