//! Why the guard refused a URL or an address. Only errors before anything is sent.

use std::net::IpAddr;

use super::AddressKind;

/// The reason for not going where a URL points.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// Neither http nor https.
    #[error("scheme `{scheme}` is not fetched (use http or https)")]
    Scheme {
        /// The part before the colon.
        scheme: String,
    },
    /// `user:password@host`; kept out of the message on purpose.
    #[error("the URL carries a user name or password (remove it, and give credentials as a header)")]
    Credentials,
    /// A URL that names no host.
    #[error("the URL has no host (write it as http://host/path)")]
    NoHost,
    /// A port outside the allowed ones, or of a service that does not speak HTTP.
    #[error("port {port} is not fetched from (use 80, 443 or another web port)")]
    Port {
        /// The port.
        port: u16,
    },
    /// A name that always means this machine.
    #[error("`{name}` names this machine (allow it in guard.hosts or guard.networks if that is meant)")]
    LocalName {
        /// The name.
        name: String,
    },
    /// An address where a cloud hands out credentials. No setting lets it through.
    #[error("{address} is a cloud metadata address, which is never fetched from (watch another address)")]
    Metadata {
        /// The address; for one wrapped in IPv6, the one inside.
        address: IpAddr,
    },
    /// An address that is not on the public internet.
    #[error(
        "{address} is {kind}, not on the public internet (allow it in guard.networks or guard.hosts if that is meant)"
    )]
    Address {
        /// The address; for one wrapped in an allowed IPv6 range, the one inside.
        address: IpAddr,
        /// What it is.
        kind: AddressKind,
    },
}
