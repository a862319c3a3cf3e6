//! Every outbound connection of Dunlin: a guarded HTTP client, robots.txt, and politeness.
//!
//! Nothing here decides what is worth fetching. The parts, in reading order:
//! [`guard`] says which URLs and addresses may be reached at all; [`Client`] fetches one, within limits on time and
//! size; [`robots`] reads a site's robots.txt; [`politeness`] says when a host may receive the next request.
//!
//! ```
//! use dunlin_net::{Guard, Refusal};
//!
//! // A name on a public page that points inside is refused before anything is sent.
//! let inside = "http://169.254.169.254/latest/meta-data/".parse()?;
//! let refusal = Guard::public_internet().check_url(&inside).unwrap_err();
//! assert!(refusal.to_string().contains("a cloud metadata address"));
//! # Ok::<(), url::ParseError>(())
//! ```

mod call;
mod client;
mod cross_site;
mod error;
mod events;
mod fetched;
pub mod guard;
pub mod http_date;
pub mod politeness;
mod redacted_url;
mod request;
mod resolve;
pub mod robots;

pub use call::Call;
pub use client::{Client, Downgrade, Lines, PoolSize, Settings, Sizes, Timeouts};
pub use cross_site::CrossSiteRedirect;
pub use dunlin_core::{Fault, Retry};
pub use error::{Error, Phase, Stage};
pub use events::{Event, Events};
pub use fetched::{CacheHints, Fetched, Hop, RetryAfter, Timings};
pub use guard::{Guard, Refusal};
pub use http::{Method, StatusCode};
pub use redacted_url::RedactedUrl;
pub use request::{Connections, Request, Validators};
pub use resolve::{Resolve, ResolveError, Resolving, SystemResolver};
