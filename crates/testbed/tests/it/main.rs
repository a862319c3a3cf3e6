//! The test bed from outside: the site as a value, and the site on a socket.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod client; // a client that shows what came over the wire, whatever it was
mod conditional; // ETag, Last-Modified, 304
mod contents; // pages, feeds, JSON and lists
mod control; // faults by request, bad requests
mod faults; // every fault as a client sees it
mod hostile; // whatever is asked, there is a response
mod readable; // what a monitor makes of it
mod serving; // the log, the truth and the end, on a socket
mod truth; // what a scorer of monitors is told
mod versions; // the version served is the number of updates so far
mod world; // the demonstration
