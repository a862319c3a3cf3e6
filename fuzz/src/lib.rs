//! What must hold for any bytes, one function per parser. Each panics when it does not.
//!
//! The same functions run under libFuzzer (`cargo xtask fuzz`), which searches for bytes that break them, and in this
//! package's test, which replays the corpora on any compiler. The binaries only join a function to libFuzzer.
#![expect(clippy::missing_panics_doc, reason = "to panic is what a target does when something does not hold")]

/// The command is a program and no library, so what it reads is compiled here once more.
#[path = "../../crates/cli/src"]
#[expect(dead_code, reason = "the command needs more of it")]
mod command {
    pub(crate) mod lists;
    pub(crate) mod terminal;
}
use command::terminal;

mod compare;
mod configuration;
mod events;
mod extract;
mod feed;
mod guard;
mod headers;
mod intervals;
mod lists;
mod probabilities;
mod query;
mod recipe;
mod robots;
mod side_files;
mod stored;
mod trace;

use std::process::ExitCode;

pub use compare::compare;
pub use configuration::configuration;
pub use events::events;
pub use extract::extract;
pub use feed::feed;
pub use guard::guard;
pub use headers::headers;
pub use intervals::intervals;
pub use lists::lists;
pub use probabilities::probabilities;
pub use query::query;
pub use recipe::recipe;
pub use robots::robots;
pub use side_files::side_files;
pub use stored::stored;
pub use trace::trace;

/// A name and what must hold for any bytes.
pub type Target = (&'static str, fn(&[u8]));

/// Every target, in order of name.
pub const TARGETS: &[Target] = &[
    ("compare", compare),
    ("configuration", configuration),
    ("events", events),
    ("extract", extract),
    ("feed", feed),
    ("guard", guard),
    ("headers", headers),
    ("intervals", intervals),
    ("lists", lists),
    ("probabilities", probabilities),
    ("query", query),
    ("recipe", recipe),
    ("robots", robots),
    ("side_files", side_files),
    ("stored", stored),
    ("trace", trace),
];

/// Makes a program of a target.
#[macro_export]
macro_rules! target {
    ($name:ident) => {
        #[cfg(fuzzing)]
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::$name(bytes));

        #[cfg(not(fuzzing))]
        fn main() -> std::process::ExitCode {
            $crate::replay($crate::$name)
        }
    };
}

/// Runs a target on the files named on the command line, for instance to investigate an input that was found.
pub fn replay(target: fn(&[u8])) -> ExitCode {
    for path in std::env::args_os().skip(1) {
        match std::fs::read(&path) {
            Ok(bytes) => target(&bytes),
            Err(error) => {
                let message = format!("error: cannot read {}: {error}\n", path.display());
                // Nothing is left to be done about a closed standard error.
                let _ = std::io::Write::write_all(&mut std::io::stderr(), message.as_bytes());
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// The first byte, which picks among variants, and the rest.
fn choice(bytes: &[u8]) -> (usize, &[u8]) {
    bytes.split_first().map_or((0, bytes), |(first, rest)| (usize::from(*first), rest))
}

/// What comes before the first `mark`, and what after.
fn halves<'b>(bytes: &'b [u8], mark: &[u8]) -> (&'b [u8], &'b [u8]) {
    match bytes.windows(mark.len()).position(|window| window == mark) {
        Some(at) => (&bytes[..at], &bytes[at + mark.len()..]),
        None => (bytes, &[]),
    }
}
