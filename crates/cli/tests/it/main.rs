//! The `dunlin` command as a user meets it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod bad_input; // every kind of nonsense: a message with its place, exit code 2, no output
mod generate; // made-up inputs and what can be done with them
mod run; // running the binary
mod score; // schedules from files
mod simulate; // policies on needs and traces
