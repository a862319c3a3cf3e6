//! The JSON that clients receive. Values only: each is made from a value of the store or the engine, and decides nothing.
//! A field is a promise: it is added, never renamed.

pub(crate) mod budget;
pub(crate) mod change;
pub(crate) mod explanation;
pub(crate) mod query;
pub(crate) mod rehearsal;
pub(crate) mod source;
pub(crate) mod version;
