//! Continuous queries as the engine installs ([`installing`]) and remembers them: from a text to what is stored ([`text`]), from there to what
//! control keeps ([`config`], [`watching`]), what is remembered of captures ([`parts`]), what captures bring to queries without sources ([`news`]), and what queries tell ([`told`]). Decides nothing:
//! which instance begins, goes on or ends is in [`crate::control`].

mod config;
mod installing;
mod news;
mod parts;
mod rehearsal;
mod text;
mod told;
mod watching;

pub use config::{Outline, QueryConfig, load_needs, outline};
pub use installing::{Installed, edit, install, pause, query, remove};
pub(crate) use news::index_portion;
pub use news::{News, NewsItem, Story, Told};
pub use parts::{
    CapturedPart, InstanceState, KeptItem, Newness, PartInterval, PartMemory, QueryMemory, SeenItem,
};
pub use rehearsal::{Rehearsal, RehearsedMiss, RehearsedResult, rehearse};
pub use text::{judge_pick, judge_words, read};
pub use told::{MissReason, MissedPart, item_json};
pub use watching::WatchConfig;
pub(crate) use watching::{ITEM, MOST_TOLD};
