//! The commands that work on what is watched: sources, their changes and versions, and why they are looked at when.
//! Each is arguments in, a call of the backend, a table or JSON out.

pub(crate) mod add;
pub(crate) mod budget;
pub(crate) mod changes;
pub(crate) mod diff;
pub(crate) mod edit;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod journal;
pub(crate) mod show;
pub(crate) mod sources;
pub(crate) mod tail;
pub(crate) mod token;
