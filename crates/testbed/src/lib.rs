//! A trace as a real web site, so that any monitor can be scored against what really changed.
//!
//! Every source of the trace has a page, a feed and a JSON address that change at the trace's times, sped up.
//! [`Site`] is the whole of it as a value: a request and an instant in, a response out. [`Testbed`] puts it
//! on a socket. Faults are asked for by address or switched on by request; `/_truth` lists what changed when,
//! `/_log` the requests.
//!
//! ```
//! use dunlin_core::Time;
//! use dunlin_lab::files::TraceFile;
//! use dunlin_testbed::{Plan, Request, Site, Speed};
//!
//! let trace = TraceFile::read("source,time\nnews,100\nnews,160\n".as_bytes(), "example.csv")?;
//! let plan = Plan { speed: Speed::new(60.0)?, ..Plan::of(trace) };
//! let started = Time::from_seconds(1_800_000_000);
//! let site = Site::new(plan, started)?;
//!
//! let page = site.respond(&Request::get("/pages/news"), started);
//! assert_eq!((page.status, page.served.unwrap().version), (200, 1));
//! let etag = page.header("etag");
//! let again = site.respond(&Request { if_none_match: etag, ..Request::get("/pages/news") }, started);
//! assert_eq!(again.status, 304);
//! let a_second_later = Time::from_seconds(1_800_000_001);
//! let later = site.respond(&Request { if_none_match: etag, ..Request::get("/pages/news") }, a_second_later);
//! assert_eq!((later.status, later.served.unwrap().version), (200, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here fetches anything, and only `serve` reads a clock.

mod address;
mod content;
mod error;
mod fault;
mod log;
mod plan;
mod render;
mod serve;
mod site;
mod timeline;
mod truth;
mod world;

pub use address::{Kind, encoded};
pub use content::Family;
pub use error::Error;
pub use fault::{FAULTS, Fault, SourceFault};
pub use log::Logged;
pub use plan::Plan;
pub use serve::{Options, Running, Testbed};
pub use site::{Change, Delivery, Request, ServedVersion, Site, SiteResponse};
pub use timeline::{Repeat, Speed};
pub use world::World;
