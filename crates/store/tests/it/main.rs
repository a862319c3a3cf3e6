//! The store's tests, in one binary.
#![cfg(test)]

#[macro_use]
mod contract; // what every store promises, with any database

mod against_model; // random calls against a model that fits on a page
mod crash; // killed at any moment, fifty times
mod fixtures; // sources and captures to store
mod full; // no space left, and space again
mod golden; // databases of every earlier schema
mod space;
mod sqlite; // the contract on SQLite, and what only SQLite has: locks, damage, reading beside a writer // what decisions take on disk
