//! The laws of the scheduling library, seen from outside.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod cam; // allocation and assignment against exhaustive search, and following a plan
mod curve; // value in continuous time against fine sums and against whole chronons
mod fast_is_plain; // every policy chooses what its plain version chooses
mod forecast; // what a forecast says agrees with itself, at any rate and over any time
mod guarantee; // WIC against the exhaustive optimum
mod instances; // random instances small enough to make ties common
mod learning; // rates found from probes of every kind, without bias
mod marginal; // the marginal policy: its plain version, its limits, what it is good for
mod papers; // the papers' worked examples and propositions
mod pinned; // figures and choices as they are today, to see what moves
mod plan_intervals; // offline plans and bounds against full enumeration
mod plan_local_ratio; // the approximation's share of the optimum
mod polling; // polling plans: exact is the best of all, regimes, many sources
mod rhythm; // rhythms are found where they are, and predictions come true as often as they say
mod scheduler; // the live scheduler: budgets, gaps, hosts, replay, and what it collects
mod score; // the evaluator on cases worked out by hand
mod sharing; // CAM for rates: sharing against exhaustive search, and where probes stand
mod sources; // synthetic sources and the probes of them
mod stored; // a model survives being written down, and nonsense is refused
mod value; // incremental values against the definition
