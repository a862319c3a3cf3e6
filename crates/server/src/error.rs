//! Why the server could not be started or a token not be made. What goes wrong with one request is in `failure`.

use std::net::SocketAddr;

use dunlin_core::Fault;

/// A failure of the server as a whole, or of the token book.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {reason} (stop what uses it, or choose another with --listen)")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        reason: String,
    },
    /// A name that would not fit into a token.
    #[error("token name `{name}` (expected 1 to 40 letters, digits, dots or hyphens)")]
    TokenName {
        /// What was given.
        name: String,
    },
    /// A token of that name is in use.
    #[error("there is a token `{name}` already (revoke it first, or choose another name)")]
    TokenExists {
        /// The name.
        name: String,
    },
    /// The token of local commands is made and replaced by the service alone.
    #[error(
        "`local-cli` is what commands on this machine talk to the service with (to get another, remove cli-token from the data directory and restart the service)"
    )]
    LocalToken,
    /// No token has that name.
    #[error("no token `{name}` (list the tokens to see which there are)")]
    NoSuchToken {
        /// The name.
        name: String,
    },
    /// What is stored under the name of a token is not one.
    #[error("the stored token `{name}` cannot be read: {reason} (revoke it and create another)")]
    DamagedToken {
        /// The name.
        name: String,
        /// What the reader met.
        reason: String,
    },
    /// The system gave no random numbers.
    #[error("no random numbers for a token: {reason} (try again)")]
    NoRandomness {
        /// What the system said.
        reason: String,
    },
    /// A description of a source that does not go together.
    #[error("{message} ({hint})")]
    Refused {
        /// What is wrong with it.
        message: String,
        /// What to try.
        hint: String,
    },
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] dunlin_store::Error),
}

impl Error {
    /// Whose fault it is: the user's, whose request cannot be granted, or ours.
    pub const fn fault(&self) -> Fault {
        match self {
            Self::TokenName { .. }
            | Self::TokenExists { .. }
            | Self::LocalToken
            | Self::NoSuchToken { .. }
            | Self::Refused { .. } => Fault::User,
            Self::Listen { .. } | Self::DamagedToken { .. } | Self::NoRandomness { .. } => Fault::Ours,
            Self::Store(error) => error.fault(),
        }
    }
}
