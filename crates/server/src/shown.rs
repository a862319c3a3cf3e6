//! What clients see, as JSON. Values only: each is made from what the store or the engine gave, and decides nothing.
//! A field is a promise: it is added, never renamed.

pub(crate) mod budget;
pub(crate) mod change;
pub(crate) mod explained;
pub(crate) mod source;
pub(crate) mod version;
