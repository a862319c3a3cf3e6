//! Dunlin over HTTP: sources, changes as a list and as a stream, versions and their differences, forecasts, the budget and
//! the decisions that spend it. `docs/api.md` describes it for users, `/api/v1/openapi.json` for programs.
//!
//! - [`Server`], [`Options`], [`Running`]: starting and stopping it;
//! - [`tokens`]: who may use it, by API tokens;
//! - [`proof`]: how local commands know it before they send it a token;
//! - [`unit`]: in which unit a budget was set;
//! - [`offline`]: what it would answer about a store without a running service.
//!
//! From outside in: `listen` (connections), `gate` (host, token, time), `routes` (one file per kind of thing), `input`,
//! `source_request` and `responses` (JSON in and out), `failure` (errors as JSON), `app` (the way to the store and the engine).
//!
//! Invariants: nothing but `/healthz`, `/readyz`, `/metrics` and `/proof` is answered without a token; every error is JSON with a
//! stable code; a stream sends each change once, in order, and holds at most one page of them.

mod accepting;
mod app;
mod compare;
mod error;
mod failure;
mod gate;
mod input;
mod listen;
mod listing;
mod metrics;
pub mod offline;
mod options;
mod pages;
pub mod proof;
mod responses;
mod routes;
mod source_request;
pub mod tokens;
pub mod unit;

pub use error::Error;
pub use listen::{Bound, Running, Server};
pub use options::{Options, Secret};
