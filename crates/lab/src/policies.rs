//! The policies a user can name, and how each is built for a workload or for a trace. To add one, add it
//! here; nothing else in the lab or the command line lists policies.

use std::fmt;
use std::str::FromStr;

use dunlin_core::{Budget, Costs, SourceIdx};
use dunlin_sched::policy::{
    Marginal, PlanFollower, Policy, Preemption, Random, Ranked, RoundRobin, UpdateWic, Wic,
};
use dunlin_sched::value::ValueModel;

use crate::Error;
use crate::cam;
use crate::knowledge::ChangeProbabilities;
use crate::live::Live;
use crate::simulate::Setup;

/// A policy by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicyName {
    /// Every source in turn.
    RoundRobin,
    /// Sources drawn at random.
    Random,
    /// Largest expected utility first.
    Wic,
    /// A plan for each day, made beforehand from what is expected of it.
    Cam,
    /// Earliest deadline of a single interval first.
    SEdf,
    /// Fewest intervals left to capture first.
    Mrsf,
    /// Least time left over all intervals of a need first.
    MEdf,
    /// Largest contribution to a rolling, priced plan first.
    Marginal,
    /// The scheduler of the service.
    Live,
}

/// A policy and whether it may leave a need that it has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PolicyChoice {
    /// Which policy.
    pub name: PolicyName,
    /// Whether needs that have been begun come first. Only S-EDF, MRSF and M-EDF tell the difference.
    pub preemption: Preemption,
}

impl PolicyName {
    /// Every policy, in the order in which tables show them.
    pub const ALL: [Self; 9] = [
        Self::RoundRobin,
        Self::Random,
        Self::Wic,
        Self::Cam,
        Self::SEdf,
        Self::Mrsf,
        Self::MEdf,
        Self::Marginal,
        Self::Live,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Random => "random",
            Self::Wic => "wic",
            Self::Cam => "cam",
            Self::SEdf => "s-edf",
            Self::Mrsf => "mrsf",
            Self::MEdf => "m-edf",
            Self::Marginal => "marginal",
            Self::Live => "live",
        }
    }

    /// Whether it works on needs (CEIs) only, so that changes have to be known for certain to be put to it.
    pub const fn wants_needs(self) -> bool {
        matches!(self, Self::SEdf | Self::Mrsf | Self::MEdf | Self::Marginal)
    }

    /// Whether it uses only what its own probes reveal.
    pub const fn only_learns(self) -> bool {
        matches!(self, Self::Live)
    }

    /// Whether it can use what its own probes reveal.
    pub const fn learns(self) -> bool {
        matches!(self, Self::Wic | Self::Cam | Self::RoundRobin | Self::Live)
    }

    /// Whether it works on expected changes only, and has no use for needs.
    pub const fn wants_changes(self) -> bool {
        matches!(self, Self::Cam)
    }

    /// Whether it has a non-preemptive variant.
    pub const fn has_variants(self) -> bool {
        matches!(self, Self::SEdf | Self::Mrsf | Self::MEdf)
    }
}

impl PolicyChoice {
    /// The policy for a workload of needs over `n_sources` sources. One that plans for changes is refused.
    pub fn for_needs(
        self,
        n_sources: usize,
        budget: &Budget,
        costs: &Costs,
        seed: u64,
    ) -> Result<Box<dyn Policy>, Error> {
        let costs = costs.clone();
        Ok(match self.name {
            PolicyName::RoundRobin => Box::new(RoundRobin::new(count(n_sources), costs)),
            PolicyName::Random => Box::new(Random::new(count(n_sources), costs, seed)),
            PolicyName::Wic => Box::new(UpdateWic::new(n_sources, costs)),
            PolicyName::Cam => {
                return Err(Error::parameter(
                    "policy",
                    &self.name,
                    "a policy for needs; cam plans for changes",
                ));
            }
            PolicyName::SEdf => Box::new(Ranked::s_edf(self.preemption, costs)),
            PolicyName::Mrsf => Box::new(Ranked::mrsf(self.preemption, costs)),
            PolicyName::MEdf => Box::new(Ranked::m_edf(self.preemption, costs)),
            PolicyName::Marginal => Box::new(Marginal::new(budget, costs)),
            PolicyName::Live => Box::new(Live::new(count(n_sources), budget, costs)),
        })
    }

    /// The policy for an epoch of `chronons` of which `knowledge` is known, and whose sources are all valued by
    /// `model`. WIC gets change probabilities there, CAM plans by them; the others work as on needs.
    pub fn for_changes(
        self,
        model: ValueModel,
        n_sources: usize,
        setup: &Setup,
        knowledge: &ChangeProbabilities,
    ) -> Result<Box<dyn Policy>, Error> {
        let costs = &setup.costs;
        Ok(match self.name {
            PolicyName::Wic if costs.is_uniform() => Box::new(Wic::uniform(model, n_sources)),
            PolicyName::Wic => Box::new(Wic::new(&vec![model; n_sources], costs)),
            PolicyName::Cam => {
                let plan =
                    cam::plan(knowledge, &vec![model.weight; n_sources], &setup.budget, setup.chronons)?;
                Box::new(PlanFollower::new(&plan, costs.clone()))
            }
            name if name.only_learns() => {
                return Err(Error::parameter("policy", &name, "a policy that is told of changes"));
            }
            _ => return self.for_needs(n_sources, &setup.budget, costs, setup.seed),
        })
    }
}

fn count(n_sources: usize) -> u32 {
    u32::try_from(n_sources).unwrap_or(SourceIdx(u32::MAX).0)
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for PolicyChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.preemption {
            Preemption::NonPreemptive if self.name.has_variants() => write!(f, "{} (NP)", self.name),
            _ if self.name.has_variants() => write!(f, "{} (P)", self.name),
            _ => self.name.fmt(f),
        }
    }
}

impl FromStr for PolicyName {
    type Err = Error;

    fn from_str(given: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|name| name.as_str() == given).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|name| name.as_str()).collect();
            Error::parameter("policy", &given, format!("one of {}", names.join(", ")))
        })
    }
}
