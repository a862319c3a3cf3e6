//! The `dunlin` command as a user meets it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bad_input; // every kind of nonsense: a message with its place, exit code 2, no output
mod configuration; // settings from four places
mod generate; // made-up inputs and what can be done with them
mod nonsense; // bad input to the commands of the service
mod run; // running the binary
mod running; // a binary that keeps running
mod score; // schedules from files
mod serve; // the service, from start to end
mod simulate; // policies on needs and traces
mod watching; // sources and changes, with and without a service
