//! The lab: traces and workloads in and out of files, synthetic ones for experiments, and what a policy may
//! know about them.
//!
//! Everything here is a function of its arguments: readers of the bytes given, generators of their seed.
//! Nothing is printed; warnings for the user are returned in `warnings`, beside the result.
//!
//! ```
//! use dunlin_lab::files::IntervalsFile;
//!
//! let text = "profile,cei,resource,start,finish\nme,1,blog,4,6\nme,1,news,9,11\n";
//! let file = IntervalsFile::read(text.as_bytes(), "example.csv", 20)?;
//! assert_eq!((file.workload.n_ceis(), file.resources.len()), (1, 2));
//!
//! let text = "profile,cei,resource,start,finish\n\nme,1,blog,4,2\n";
//! let error = IntervalsFile::read(text.as_bytes(), "example.csv", 20).unwrap_err();
//! assert_eq!(error.to_string(), "example.csv:3: finish 2 lies before start 4 (expected finish >= start)");
//! # Ok::<(), dunlin_lab::Error>(())
//! ```

pub mod cam;
mod error;
pub mod files;
pub mod generate;
pub mod guarantee;
pub mod knowledge;
pub mod learned;
mod live;
pub mod mixed;
mod one_host;
pub mod optimum;
pub mod planners;
pub mod policies;
pub mod polling;
pub mod queries;
pub mod simulate;
mod stream;
pub mod sweep;

pub use error::Error;
