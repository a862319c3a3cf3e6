//! Under which names this server may be reached. A numeric address is always one: only names can be made to point
//! somewhere else.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The names that are ours.
#[derive(Debug)]
pub(crate) struct KnownHosts {
    names: BTreeSet<String>,
}

impl KnownHosts {
    pub(crate) fn new(configured: &[String]) -> Self {
        let names = configured.iter().map(|name| bare(name).to_ascii_lowercase());
        Self { names: names.chain(["localhost".to_owned()]).collect() }
    }

    /// Whether the value of a `Host` header is ours, with any port: there may be a proxy in front.
    pub(crate) fn knows(&self, host: &str) -> bool {
        let name = bare(host);
        if let Some(address) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            return address.parse::<Ipv6Addr>().is_ok();
        }
        name.parse::<Ipv4Addr>().is_ok() || self.names.contains(&name.to_ascii_lowercase())
    }
}

/// A host without its port and without the dot that ends an absolute name.
fn bare(host: &str) -> &str {
    let host = host.trim();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.strip_suffix('.').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_names_and_addresses_are_known_and_nothing_else() {
        let hosts = KnownHosts::new(&["Watch.Example.org".to_owned()]);
        for host in ["localhost", "LOCALHOST:7171", "127.0.0.1:7171", "[::1]:7171", "[::1]", "10.1.2.3"] {
            assert!(hosts.knows(host), "{host}");
        }
        assert!(hosts.knows("watch.example.org:443") && hosts.knows("watch.example.org."));
        for host in ["", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "::1", "[evil]"]
        {
            assert!(!hosts.knows(host), "{host}");
        }
    }
}
