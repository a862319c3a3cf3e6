//! The two questions a failure has to answer, in one vocabulary for fetching, storing and delivering.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Whose fault a failure is, and so who has to do something about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Fault {
    /// The server that was asked, its name servers, or the way to it.
    Remote,
    /// This program, or the machine and network it runs on. A site must not be counted as dead for it.
    Ours,
    /// The user, who gave the URL, the request or the settings.
    User,
}

/// Whether the same attempt may succeed later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Not until something is changed by hand.
    No,
    /// Not before this long, as the answer says.
    After(Duration),
    /// After a growing pause.
    Backoff,
}
