//! The server seen from outside: real sockets, a real engine, a real store, and a web site that changes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod admission; // tokens, hosts, what is open to all
mod changes; // the list: pages, waiting, cursors that are gone or ahead
mod client; // asks, and follows streams
mod conformity; // answers against the OpenAPI document
mod heavy; // calls that take long, while others are served
mod limits; // sizes, numbers, times
mod queries; // continuous queries, their results and misses
mod schema; // as much of JSON Schema as the document uses
mod service; // store, engine and server in one
mod site; // pages and feeds that change when told to
mod sources; // adding, listing, changing, removing
mod spending; // budget, decisions, explanations
mod stopping; // requests finish, streams end
mod stream; // each change once, in order, despite failures
mod supervision; // health, figures, the OpenAPI document
mod versions; // content, served safely; differences
