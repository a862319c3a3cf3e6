//! The extraction library seen from outside, in one binary.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#![expect(clippy::print_stdout, reason = "the counts on real pages are the point of counting")]

mod conformance; // what other projects' tests expect of feeds; their data are read by `reference`
mod corpus; // documents of each format and with each quirk, and what is read of them
mod damage; // feeds that are damaged once, and what stays the same
mod detect; // what is new, edited and gone, and what is not
mod flicker; // what is learned, and what is suppressed
mod hostile; // pages built to keep a parser busy
mod json_path; // what JSON paths select
mod laws; // what holds for any bytes and any items
mod layouts; // what the layout of a page says about its parts
mod reading; // short cuts to read documents in tests
mod recipes; // recipes that mean nothing, and where
mod reference; // successive versions of real pages; needs DUNLIN_REFERENCE
mod restless; // what is told from news by how it behaves
mod stand_ins; // answers that are not the page
mod successive; // successive versions of pages made here
mod told; // films of pages, and what is told of each content
