//! Dunlin over HTTP: sources, changes as a list and as a stream, versions and their differences, forecasts, the budget and
//! the decisions that spend it. `docs/api.md` describes it for users, `/api/v1/openapi.json` for programs.
//!
//! - [`Server`], [`Options`], [`Running`]: starting and stopping it;
//! - [`tokens`]: who may use it;
//! - [`proof`]: how local commands know it before they send it a token;
//! - [`unit`]: in which unit a budget was set;
//! - [`offline`]: what it would say about a store in which no service runs.
//!
//! From outside in: `listen` (connections), `gate` (host, token, time), `routes` (one file per kind of thing), `input` and
//! `shown` (what comes in and goes out as JSON), `failure` (what is told when it does not work), `app` (the way to the store
//! and the engine).
//!
//! Invariants: nothing but `/healthz`, `/readyz`, `/metrics` and `/proof` is answered without a token; every error is JSON with a
//! stable code; a stream tells each change once, in order, and holds no more than one page of them.

mod accepting;
mod app;
mod clock;
mod compare;
mod error;
mod failure;
mod figures;
mod gate;
mod given;
mod input;
mod listen;
mod listing;
pub mod offline;
mod options;
mod pages;
pub mod proof;
mod routes;
mod shown;
pub mod tokens;
pub mod unit;

pub use error::Error;
pub use listen::{Bound, Running, Server};
pub use options::{Options, Secret};
