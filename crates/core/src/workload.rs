//! A workload: every profile's complex execution intervals (CEIs) over one epoch, in one flat table.

use crate::{Chronon, Error, ExecutionInterval};

/// A CEI by its order of first appearance, which also breaks ties between CEIs of equal value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CeiIdx(pub u32);

/// A profile by its order of first appearance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProfileIdx(pub u32);

/// How many of a CEI's intervals have to be captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Every one.
    All,
    /// This many of them, any.
    Any(u32),
}

/// One complex execution interval, as a policy gets it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cei<'a> {
    /// Its order of appearance.
    pub idx: CeiIdx,
    /// Its intervals, in the order of their lines; never empty.
    pub intervals: &'a [ExecutionInterval],
    /// How many of them have to be captured, 1 to all.
    pub need: u32,
    /// What capturing it is worth.
    pub weight: f64,
    /// The largest `need` of any CEI of its profile, rank(p): a property of the profile, known beforehand.
    pub profile_rank: u32,
}

impl Cei<'_> {
    /// The chronon at which it becomes known: the start of its earliest interval.
    pub fn release(&self) -> Chronon {
        self.intervals.iter().map(ExecutionInterval::start).min().unwrap_or(Chronon::FIRST)
    }
}

#[derive(Debug, Clone, PartialEq)]
struct CeiRecord {
    first: u32,
    len: u32,
    need: u32,
    profile: ProfileIdx,
    weight: f64,
}

/// Heavier CEIs would make sums of weights overflow.
const MOST_WEIGHT: f64 = 1e100;

/// CEIs of all profiles, in order of appearance.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Workload {
    intervals: Vec<ExecutionInterval>,
    ceis: Vec<CeiRecord>,
    profile_ranks: Vec<u32>,
    n_sources: usize,
}

impl Workload {
    /// A workload without profiles.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a profile without CEIs.
    pub fn add_profile(&mut self) -> ProfileIdx {
        self.profile_ranks.push(0);
        ProfileIdx(u32::try_from(self.profile_ranks.len() - 1).unwrap_or(u32::MAX))
    }

    /// Adds a CEI to a profile.
    pub fn push(
        &mut self,
        profile: ProfileIdx,
        intervals: &[ExecutionInterval],
        need: Need,
        weight: f64,
    ) -> Result<CeiIdx, Error> {
        const LIMIT: u32 = u32::MAX - 1;
        if intervals.is_empty() {
            return Err(Error::NoIntervals);
        }
        let profiles = self.profile_ranks.len();
        let Some(rank) = self.profile_ranks.get_mut(profile.0 as usize) else {
            return Err(Error::UnknownProfile { profile: profile.0, profiles });
        };
        let len = intervals.len();
        let end = u32::try_from(self.intervals.len() + len).ok().filter(|&end| end <= LIMIT);
        let (Some(end), Ok(len)) = (end, u32::try_from(len)) else {
            return Err(Error::TooMany { what: "intervals", limit: LIMIT });
        };
        let need = match need {
            Need::All => len,
            Need::Any(need) if (1..=len).contains(&need) => need,
            Need::Any(need) => return Err(Error::NeedOutOfRange { need, intervals: intervals.len() }),
        };
        if !(0.0..=MOST_WEIGHT).contains(&weight) {
            return Err(Error::BadWeight(weight));
        }
        *rank = (*rank).max(need);
        let n_sources = intervals.iter().map(|interval| interval.source().index() + 1).max().unwrap_or(0);
        self.n_sources = self.n_sources.max(n_sources);
        let idx = CeiIdx(u32::try_from(self.ceis.len()).unwrap_or(LIMIT));
        self.intervals.extend_from_slice(intervals);
        self.ceis.push(CeiRecord { first: end - len, len, need, profile, weight });
        Ok(idx)
    }

    /// One CEI.
    ///
    /// # Panics
    /// If there is no such CEI.
    pub fn cei(&self, idx: CeiIdx) -> Cei<'_> {
        let record = &self.ceis[idx.0 as usize];
        Cei {
            idx,
            intervals: &self.intervals[record.first as usize..(record.first + record.len) as usize],
            need: record.need,
            weight: record.weight,
            profile_rank: self.profile_ranks[record.profile.0 as usize],
        }
    }

    /// The profile a CEI belongs to.
    ///
    /// # Panics
    /// If there is no such CEI.
    pub fn profile_of(&self, idx: CeiIdx) -> ProfileIdx {
        self.ceis[idx.0 as usize].profile
    }

    /// Every CEI in order of appearance.
    pub fn ceis(&self) -> impl ExactSizeIterator<Item = Cei<'_>> {
        let n_ceis = u32::try_from(self.ceis.len()).unwrap_or(u32::MAX);
        (0..n_ceis).map(|i| self.cei(CeiIdx(i)))
    }

    /// The CEIs in the order in which they become known; within a chronon in order of appearance.
    pub fn by_release(&self) -> Vec<(Chronon, CeiIdx)> {
        let mut order: Vec<_> = self.ceis().map(|cei| (cei.release(), cei.idx)).collect();
        order.sort_unstable();
        order
    }

    /// Number of CEIs.
    pub const fn n_ceis(&self) -> usize {
        self.ceis.len()
    }

    /// Number of intervals over all CEIs.
    pub const fn n_intervals(&self) -> usize {
        self.intervals.len()
    }

    /// Number of profiles.
    pub const fn n_profiles(&self) -> usize {
        self.profile_ranks.len()
    }

    /// One more than the largest source index in use.
    pub const fn n_sources(&self) -> usize {
        self.n_sources
    }
}
