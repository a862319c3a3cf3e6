//! The live loop of Dunlin: decide which source to probe, fetch it, read it, compare it with what was there, store
//! what is new, learn from it.
//!
//! - [`Engine`], [`Handle`], [`Settings`]: the running service, and how to talk to it;
//! - [`recipe`]: the configuration of one source, checked;
//! - [`control`]: every decision as one synchronous state machine: no clock, no sockets, no store;
//! - [`queries`]: continuous queries as they are installed and remembered;
//! - [`capture`]: the result of a probe, as a function from what was remembered and fetched to what to store;
//! - [`detection`]: the same reading and comparing for contents that are given;
//! - [`trial`]: the same reading of one answer, for a source that is not watched yet;
//! - [`simulated`]: the same control and the same capture over virtual time and a simulated web;
//! - [`Readers`]: threads with a deadline, for work on untrusted content;
//! - [`ageing`]: when stored data is too old to be kept;
//! - [`clock`]: what time it is;
//! - [`journal`]: the inputs of every decision, read back to be replayed.
//!
//! Invariant: nothing is published before it is written. A source is not probed again before its last probe is in the
//! store, and the newest cursor is announced after the commit.

pub mod ageing;
mod by_id;
pub mod capture;
pub mod clock;
pub mod control;
pub mod detection;
mod error;
mod handle;
mod heartbeat;
pub mod journal;
mod live;
pub mod memory;
mod probe;
pub mod queries;
mod readers;
pub mod recipe;
mod reports;
mod settings;
pub mod simulated;
pub mod source_config;
mod templates;
pub mod trial;
mod writing;

pub use control::{OpenPart, QueryReport, ReadPart, RelevantSource};
pub use error::Error;
pub use handle::{Handle, forget_budget, store_budget, stored_budget};
pub use heartbeat::Standstill;
pub use live::Engine;
pub use readers::{ReaderLimits, Readers, WorkError};
pub use reports::{
    BudgetReport, EngineStats, ForecastSummary, Health, Hold, HostUsage, HourlyForecast, ProbeCounts,
    QueuePosition, SourceExplanation, SourceStatus, explain_stored,
};
pub use settings::{Keep, RobotsRule, Settings};

pub use dunlin_net::politeness::{Rules, Scope};
pub use dunlin_query::{QueryError, Refused};
pub use dunlin_sched::scheduler::{Pace, Reason, Strategy};
