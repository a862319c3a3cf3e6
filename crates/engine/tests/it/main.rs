//! The engine as its users see it, over virtual time and over real sockets.
#![cfg(test)]

mod attention; // sources that are not what they should be, and stay so
mod ceis; // needs that span sources, and fifty kills
mod configured; // what the configuration of a source means
mod control; // control by itself, event by event
mod days; // whole days, told line by line
mod detection; // true changes among noise, page by page
mod driver; // drives control event by event
mod faults; // what goes wrong outside, and that it stays outside
mod fixtures; // stores, settings, and a store that fails on demand
mod in_flight; // more probes than may be fetched at one time
mod instances; // when instances of queries begin, event by event
mod learning; // what probes teach, and that it is not forgotten
mod live; // the real clock, real sockets
mod noisy; // an hour of clocks, counters and rotations, by default settings
mod pace; // a host without a gap
mod polite; // gaps, robots.txt, Retry-After
mod probes;
mod queries; // what a probe makes of a page
mod redirects; // redirects to other sites, and sites across restarts
mod reference; // pages of others with known changes and known noise; needs DUNLIN_REFERENCE
mod relevance; // which sources are relevant to words, event by event
mod scoring; // how well what was told fits what is known
mod sharing; // sources of one resource
mod slow; // pages that take too long to read, and what else may stand still
mod stand_ins; // answers that are not what their source is about
mod waits; // how long sources wait, and what is counted once
mod web; // a simulated web
mod weeks; // long runs: completeness, budget, nothing lost, replay
mod words; // how well words find sources, and retold stories are known again
