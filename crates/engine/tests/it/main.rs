//! The engine as its users see it, over virtual time and over real sockets.
#![cfg(test)]

mod by_hand; // control by itself, event by event
mod elsewhere; // redirects to other sites, and sites across restarts
mod faults; // what goes wrong outside, and that it stays outside
mod given; // stores, settings, and a store that fails on demand
mod hand; // control by hand
mod lanes;
mod learning; // what looks teach, and that it is not forgotten
mod live; // the real clock, real sockets
mod looks; // what a look makes of a page
mod pace; // a host without a gap
mod polite; // gaps, robots.txt, Retry-After
mod slow; // pages that take too long to read, and what else may stand still
mod web; // a simulated web
mod weeks; // long runs: completeness, budget, nothing lost, replay
