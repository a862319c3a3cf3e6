//! Which URLs and addresses may be reached. Not a firewall for the machine: it binds what goes through [`crate::Client`].
//!
//! People, feeds and redirects hand us URLs; any of them may point at the inside of the network we run in. The
//! guard judges a URL before its name is looked up, and every address before it is connected to.
//!
//! Invariant: a connection is made to an address that was judged, never to a name that is looked up again. A
//! name server that answers differently the second time is not asked a second time.

mod address;
mod refusal;

use std::collections::BTreeSet;
use std::net::IpAddr;

use ipnet::IpNet;
use url::{Host, Url};

pub use address::{AddressKind, classify};
pub use refusal::Refusal;

/// The ports that browsers never fetch from (the Fetch standard's "bad ports"): a request to one of them could be taken
/// for a command.
const BAD_PORTS: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// Ports of databases, queues, and of what runs machines: pages are not published there, and some of them obey any
/// request, over HTTP too. Ports that are as common for web sites (7001, 8080, 8123, 9000) are not among them.
const SERVICE_PORTS: &[u16] = &[
    445, 873, // shared files
    1433, 1434, 1521, 3050, 3306, 5432, 6432, 9042, 9160, 26257, 33060, 50000, // databases
    5984, 7474, 7687, 8086, 9200, 9300, 27017, 27018, 27019, 28015,
    28017, // and those that are no tables
    6379, 6380, 11211, 16379, 26379, // what is kept in memory
    1883, 4222, 5671, 5672, 8883, 9092, 15672, 61616, // queues
    2181, 2375, 2376, 2377, 2379, 2380, 4369, 8500, 10250, 10255, // what runs containers and clusters
    3389, 5900, 5901, 5985, 5986, // what runs machines from afar
];

/// The policy: the public internet over http and https, plus what was allowed by hand.
///
/// ```
/// use dunlin_net::{Guard, Refusal};
///
/// let guard = Guard::public_internet();
/// let url = "http://0x7f.1/admin".parse()?;
/// assert!(matches!(guard.check_url(&url), Err(Refusal::Address { .. })));
///
/// let at_home = guard.allowing_network("127.0.0.0/8".parse()?);
/// assert!(at_home.check_url(&url).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Guard {
    networks: Vec<IpNet>,
    hosts: BTreeSet<String>,
    ports: Option<BTreeSet<u16>>,
}

impl Guard {
    /// Everything that is not a public address is refused.
    pub fn public_internet() -> Self {
        Self::default()
    }

    /// Also allows the addresses of `network`, under any name; never those where clouds hand
    /// out credentials.
    #[must_use]
    pub fn allowing_network(mut self, network: IpNet) -> Self {
        self.networks.push(network);
        self
    }

    /// Also allows `host` with any address, except those where clouds hand out credentials. The owner of the name
    /// then controls where we connect to, so use this for your own names.
    #[must_use]
    pub fn allowing_host(mut self, host: &str) -> Self {
        self.hosts.insert(plain_name(host));
        self
    }

    /// Lets through these ports only.
    #[must_use]
    pub fn limiting_ports(mut self, ports: impl IntoIterator<Item = u16>) -> Self {
        self.ports = Some(ports.into_iter().collect());
        self
    }

    /// Judges what can be judged without a name server: scheme, credentials, port, and the host if it is an
    /// address or a name that never means another machine.
    pub fn check_url(&self, url: &Url) -> Result<Target, Refusal> {
        let is_tls = match url.scheme() {
            "http" => false,
            "https" => true,
            other => return Err(Refusal::Scheme { scheme: other.to_owned() }),
        };
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Credentials);
        }
        let port = url.port_or_known_default().ok_or(Refusal::NoHost)?;
        let listed = self.ports.as_ref().map(|ports| ports.contains(&port));
        if !listed.unwrap_or_else(|| !is_foreign(port)) {
            return Err(Refusal::Port { port });
        }
        let host = match url.host().ok_or(Refusal::NoHost)? {
            Host::Domain(name) => TargetHost::Name(self.check_name(name)?),
            Host::Ipv4(address) => TargetHost::Address(address.into()),
            Host::Ipv6(address) => TargetHost::Address(address.into()),
        };
        let target = Target { host, port, is_tls };
        if let TargetHost::Address(address) = target.host {
            self.check_address(&target, address)?;
        }
        Ok(target)
    }

    fn check_name(&self, name: &str) -> Result<String, Refusal> {
        let name = plain_name(name);
        if name.is_empty() {
            return Err(Refusal::NoHost);
        }
        let is_local = name == "localhost" || name.ends_with(".localhost");
        // A loopback network on the allow-list means that loopback is wanted, under its usual name too.
        let loopback_allowed = self.judge(IpAddr::from([127, 0, 0, 1])).is_none();
        if is_local && !loopback_allowed && !self.hosts.contains(&name) {
            return Err(Refusal::LocalName { name });
        }
        Ok(name)
    }

    fn check_address(&self, target: &Target, address: IpAddr) -> Result<(), Refusal> {
        if let Some(address) = leads_to_metadata(address) {
            return Err(Refusal::Metadata { address });
        }
        if !self.hosts.is_empty() && self.hosts.contains(&target.host_name()) {
            return Ok(());
        }
        match self.judge(address) {
            Some((address, kind)) => Err(Refusal::Address { address, kind }),
            None => Ok(()),
        }
    }

    /// The addresses of `target` that may be connected to, out of those its name has; an error when none is left.
    pub fn check_addresses(&self, target: &Target, found: &[IpAddr]) -> Result<Vec<IpAddr>, Refusal> {
        let mut kept = Vec::new();
        let mut first_refusal = None;
        for &address in found {
            match self.check_address(target, address) {
                Ok(()) if kept.contains(&address) => {}
                Ok(()) => kept.push(address),
                Err(refusal) => {
                    first_refusal.get_or_insert(refusal);
                }
            }
        }
        match first_refusal {
            Some(refusal) if kept.is_empty() => Err(refusal),
            _ => Ok(kept),
        }
    }

    /// What is wrong with `address` that the allow-list could mend, if anything is.
    fn judge(&self, address: IpAddr) -> Option<(IpAddr, AddressKind)> {
        let allowed = self.networks.iter().any(|network| network.contains(&address));
        if let Some(kind) = classify(address).filter(|_| !allowed) {
            return Some((address, kind));
        }
        address::embedded(address).into_iter().find_map(|inner| self.judge(inner.into()))
    }
}

/// Whether something else than a web site is behind a port.
fn is_foreign(port: u16) -> bool {
    BAD_PORTS.contains(&port) || SERVICE_PORTS.contains(&port)
}

/// The address itself, or the one wrapped in it, if credentials are handed out there.
fn leads_to_metadata(address: IpAddr) -> Option<IpAddr> {
    if classify(address) == Some(AddressKind::Metadata) {
        return Some(address);
    }
    address::embedded(address).into_iter().find_map(|inner| leads_to_metadata(inner.into()))
}

/// A URL's host, port and scheme after [`Guard::check_url`] has passed them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    pub(crate) host: TargetHost,
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
}

/// A host that still has to be looked up, or one that is an address already.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TargetHost {
    /// Lower case, without the final dot.
    Name(String),
    /// Written as an address in the URL.
    Address(IpAddr),
}

impl Target {
    /// The host as certificates and allow-lists spell it.
    pub fn host_name(&self) -> String {
        match &self.host {
            TargetHost::Name(name) => name.clone(),
            TargetHost::Address(address) => address.to_string(),
        }
    }

    /// The port, given or implied by the scheme.
    pub fn port(&self) -> u16 {
        self.port
    }
}

/// `Example.COM.` and `example.com` are one host.
fn plain_name(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    name.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_owned()
}
