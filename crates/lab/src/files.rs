//! Files of traces, intervals, probabilities, costs, schedules and budgets: read, checked, written.
//!
//! Hostile input is confined here. A reader takes any bytes and returns values that hold the model's
//! invariants or `file:line: what is wrong (what was expected)`; no line, however long or however well
//! compressed, costs more than a fixed amount of memory. Layers, from the bytes up: `open` (path, gzip),
//! `lines` (caps and line numbers), `records` (CSV), `table` (columns by name), then one file per format.

mod budget;
mod costs;
mod intervals;
mod lines;
mod names;
mod open;
mod probabilities;
mod problem;
mod query_text;
mod records;
mod save;
mod schedule;
mod table;
mod trace;

pub use budget::BudgetFile;
pub use costs::CostsFile;
pub use intervals::IntervalsFile;
pub use names::numbered;
pub use probabilities::ProbabilitiesFile;
pub use problem::{Excerpt, Problem};
pub use query_text::{open_query_text, read_query_text};
pub use save::save;
pub use schedule::{ScheduleFile, save_schedule, write_schedule};
pub use trace::{Epoch, TraceFile};

pub(crate) use table::is_printable;
