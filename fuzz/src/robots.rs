//! robots.txt: any bytes are one, its own address is never forbidden, and what is stored of it means the same.

use dunlin_net::robots::{Robots, location};
use url::Url;

/// The first line is a path; the rest is the file.
pub fn robots(bytes: &[u8]) {
    let (path, text) = crate::halves(bytes, b"\n");
    let robots = Robots::parse(text, "dunlin");
    let base = Url::parse("https://x.example/").expect("is an address");
    let Ok(url) = base.join(&String::from_utf8_lossy(path)) else { return };
    let allows = robots.allows(&url);
    assert!(robots.allows(&location(&base)));
    assert!(Robots::parse(b"", "dunlin").allows(&url));
    let stored = postcard::to_stdvec(&robots).expect("fits into memory");
    let restored: Robots = postcard::from_bytes(&stored).expect("was written just now");
    assert_eq!((restored.allows(&url), restored.crawl_delay()), (allows, robots.crawl_delay()));
    // A product name matches in any case.
    assert_eq!(Robots::parse(text, "DUNLIN").allows(&url), allows);
}
