//! From a host's name to its addresses. Judges none of them: that is the guard's task.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::LookupIpStrategy;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::Name;

use dunlin_core::Fault;

/// Why a name gave no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResolveError {
    /// The name does not exist.
    #[error("no such host (check the spelling)")]
    NoSuchHost,
    /// The name exists but has no address.
    #[error("the name has no address (check the spelling)")]
    NoAddress,
    /// Not a valid host name.
    #[error(
        "not a name that can be looked up (its parts have 1 to 63 characters, and all of it at most 253)"
    )]
    NotAName,
    /// The zone's name servers answered with a failure.
    #[error("the name servers failed to answer (the domain may be misconfigured)")]
    ServerFailure,
    /// No name server could be reached.
    #[error("no name server answered (check this machine's network)")]
    Unreachable,
    /// This machine has no usable DNS settings.
    #[error("cannot use the system's DNS settings: {0} (check /etc/resolv.conf)")]
    NotConfigured(String),
}

impl ResolveError {
    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoSuchHost | Self::NoAddress | Self::ServerFailure => Fault::Remote,
            Self::NotAName => Fault::User,
            Self::Unreachable | Self::NotConfigured(_) => Fault::Ours,
        }
    }
}

/// The addresses of a host, once they are known.
pub type Resolving<'r> = Pin<Box<dyn Future<Output = Result<Vec<IpAddr>, ResolveError>> + Send + 'r>>;

/// Something that knows the addresses of names. Tests give their own answers.
pub trait Resolve: Send + Sync {
    /// All addresses of `host`, which is a lower-case name without a final dot.
    fn resolve<'r>(&'r self, host: &'r str) -> Resolving<'r>;
}

/// Asks the name servers that this system is set up to use, and remembers answers for as long as they say.
#[derive(Debug)]
pub struct SystemResolver(TokioResolver);

impl SystemResolver {
    /// Reads the system's settings. There is no public server to fall back on: names that a machine may not
    /// look up must not leave it.
    pub fn new() -> Result<Self, ResolveError> {
        let not_configured = |error: NetError| ResolveError::NotConfigured(error.to_string());
        let mut builder = TokioResolver::builder_tokio().map_err(not_configured)?;
        builder.options_mut().ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        Ok(Self(builder.build().map_err(not_configured)?))
    }
}

impl Resolve for SystemResolver {
    fn resolve<'r>(&'r self, host: &'r str) -> Resolving<'r> {
        Box::pin(async move {
            let name = absolute_name(host)?;
            let found = self.0.lookup_ip(name).await.map_err(|error| reason(&error))?;
            let addresses: Vec<IpAddr> = found.iter().collect();
            if addresses.is_empty() { Err(ResolveError::NoAddress) } else { Ok(addresses) }
        })
    }
}

/// The name as it is, with all that URLs allow in one: `_` is common. It is complete, which keeps the system's search list
/// out: `wiki` must not become `wiki.corp.example`.
fn absolute_name(host: &str) -> Result<Name, ResolveError> {
    let labels = Name::from_labels(host.split('.').map(str::as_bytes));
    let mut name = labels.map_err(|_| ResolveError::NotAName)?;
    name.set_fqdn(true);
    Ok(name)
}

fn reason(error: &NetError) -> ResolveError {
    match error {
        NetError::Dns(DnsError::NoRecordsFound(none)) => match none.response_code {
            ResponseCode::NXDomain => ResolveError::NoSuchHost,
            ResponseCode::NoError => ResolveError::NoAddress,
            _ => ResolveError::ServerFailure,
        },
        NetError::Dns(_) => ResolveError::ServerFailure,
        _ => ResolveError::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up_as_they_are_written() {
        for host in
            ["example.com", "my_page.example.com", "_dmarc.example", "a-.example", "xn--bcher-kva.example"]
        {
            let name = absolute_name(host).unwrap();
            assert!(name.is_fqdn());
            assert_eq!(name.to_ascii(), format!("{host}."));
        }
        let long = "x".repeat(64);
        for host in ["", "a..b", ".a", long.as_str(), &"abcdefg.".repeat(40)] {
            assert_eq!(absolute_name(host), Err(ResolveError::NotAName), "{host}");
        }
        assert_eq!(ResolveError::NotAName.fault(), Fault::User, "so that the state of a source says it");
    }
}
