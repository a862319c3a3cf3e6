//! The network crate seen from outside: a guarded client against a hostile web server, and the laws of politeness.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bad_days; // servers that are slow, wrong, cut off or endless
mod calls; // methods, bodies, answers by lines
mod encodings; // packed bodies, good and evil
mod memory; // the bound over all bodies
mod names; // a resolver whose answers the test decides
mod origin; // the hostile web server
mod politeness; // laws: never too soon, never too many
mod redirects; // chains, loops, and what goes along
mod reference; // what others expect of robots.txt; needs DUNLIN_REFERENCE
mod reuse; // kept connections, conditional requests
mod robots; // robots.txt: laws against an oracle, fetching, caching
mod ssrf; // the table of hostile URLs, name servers and redirects
mod tls; // certificates, HTTP/2, downgrades
