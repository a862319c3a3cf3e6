//! The lab's tests, in one binary.
#![cfg(test)]

mod auctionwatch; // the papers' workload: ranks, intervals, how many
mod corpus; // what fuzzing found worth keeping
mod fixtures; // needs and traces in the repository, with what every policy makes of them
mod knowledge; // exact and noisy knowledge of changes
mod learned; // the live scheduler on traces: what it may know, what it makes of it
mod limits; // lines and files that would not fit in memory
mod live; // the scheduler of the service on needs, with every kind of budget
mod optimum; // exact optima and bounds of whole workloads
mod polling; // plans learnt on one half of a trace, measured on the other; CAM's headline
mod queries; // queries over traces as needs, worked out by hand; what is drawn; refusals
mod reference; // against data that are not in the repository: real traces, results of an independent program
mod refusals; // every kind of bad line, with its exact message
mod round_trip; // what is written is what is read
mod saving; // outputs are complete or not there
mod tolerated; // what is unusual but fine
mod traces; // synthetic traces keep their laws
