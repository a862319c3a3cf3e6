//! The `dunlin` command as a user meets it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(clippy::print_stderr, reason = "a test may say what it measured")]

mod bad_days; // everything a web site, a network or a disk can do to a service
mod bad_input; // every kind of nonsense: a message with its place, exit code 2, no output
mod configuration; // settings from four sources
#[cfg(unix)]
mod descriptors; // few files may be open; addresses that others reach
mod detecting; // versions of a page, told as a service would; lists in any character set
mod end_to_end; // two services on a sped-up web: every promise, and learning pays
mod ending; // the end of a service, also when it hangs
mod generate; // made-up inputs and what can be done with them
mod harmless; // control characters from sites
mod hostile; // pages made to keep their reader busy, beside one that is well
mod impostor; // someone else on the port of a killed service
mod installed_queries; // queries that are installed, with and without a service
mod killed; // kill -9, fifty times: nothing lost, nothing doubled
mod manners; // what the web's log says of a client
mod nonsense; // bad input to the commands of the service
mod optimum; // planners and bounds
mod pages; // more than one page of anything
mod plan; // polling plans
mod planned; // the service by plans
mod queries; // texts of queries: checked and formatted
mod reference; // the service on a real trace; needs DUNLIN_REFERENCE
mod run; // running the binary
mod running; // a binary that keeps running
mod score; // schedules from files
mod serve; // the service, from start to end
mod service; // a service on a data directory: its API, its stream, its end
mod sharing; // several sources on one page, one request
mod simulate; // policies on needs and traces
mod simulated_queries; // policies on queries over a trace
mod ssrf; // addresses that must not be reached, by hand and by redirect
mod stored_data; // what a service leaves behind, and the laws for it
mod trying; // one look at an address: warnings, suggestions, exit codes
#[cfg(unix)]
mod unwritable; // a full or read-only data directory
mod watching; // sources and changes, with and without a service
mod web; // the test bed, and data directories that watch it
