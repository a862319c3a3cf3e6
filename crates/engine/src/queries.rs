//! Continuous queries as the engine installs ([`installing`]) and remembers them: from a text to what is stored ([`text`]), from there to what
//! control keeps ([`config`]), what is remembered of captures ([`parts`]), and what queries tell ([`told`]). Decides nothing:
//! which instance begins, goes on or ends is in [`crate::control`].

mod config;
mod installing;
mod parts;
mod rehearsal;
mod text;
mod told;

pub use config::{QueryConfig, load_needs};
pub use installing::{Installed, edit, install, pause, query, remove};
pub use parts::{
    CapturedPart, InstanceState, KeptItem, PartInterval, PartMemory, QueryMemory, QueryPartMemory, SeenItem,
};
pub use rehearsal::{Rehearsal, RehearsedMiss, RehearsedResult, rehearse};
pub use text::{judge_pick, read};
pub use told::{MissReason, MissedPart, item_json};
