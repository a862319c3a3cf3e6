//! Addresses: what the guard lets through is HTTP to a name or to an address that the standard library, too, takes for
//! one outside.

use std::net::IpAddr;

use dunlin_net::{Guard, RedactedUrl};
use url::{Host, Url};

/// Any text as an address.
pub fn guard(bytes: &[u8]) {
    let Ok(url) = Url::parse(&String::from_utf8_lossy(bytes)) else { return };
    let _ = RedactedUrl::of(&url).to_string();
    let Ok(target) = Guard::public_internet().check_url(&url) else { return };
    assert!(matches!(url.scheme(), "http" | "https"));
    assert!(url.username().is_empty() && url.password().is_none());
    assert_ne!(target.port(), 0);
    let address: IpAddr = match url.host() {
        Some(Host::Ipv4(address)) => address.into(),
        Some(Host::Ipv6(address)) => address.into(),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            assert!(name != "localhost" && !name.ends_with(".localhost"), "{name}");
            return;
        }
        None => panic!("let through without a host: {url}"),
    };
    let address = address.to_canonical();
    let is_inside = address.is_loopback()
        || address.is_unspecified()
        || address.is_multicast()
        || match address {
            IpAddr::V4(address) => address.is_private() || address.is_link_local() || address.is_broadcast(),
            IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
        };
    assert!(!is_inside, "{address} was let through");
}
