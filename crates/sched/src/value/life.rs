//! Life: how long what a change added stays on the page. The probability is over later changes only.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::ParseError;

/// How long information stays visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Life {
    /// Nothing is ever removed.
    Append,
    /// Removed once it is more than this many chronons old.
    Window(u32),
    /// Removed by the z-th later change, z ≥ 1.
    Changes(u32),
    /// Removed by the next change; the same as `Changes(1)`.
    Overwrite,
}

impl Life {
    /// How many later changes it takes to remove information, if changes remove it at all.
    pub(crate) const fn survives(self) -> Option<usize> {
        match self {
            Self::Append | Self::Window(_) => None,
            Self::Changes(z) => Some(z as usize),
            Self::Overwrite => Some(1),
        }
    }

    pub(crate) fn horizon(self) -> Option<u32> {
        match self {
            Self::Window(w) => Some(w.saturating_add(1)),
            _ => None,
        }
    }

    /// Whether a change is still visible when it is `age` chronons old and `later` changes have followed.
    pub const fn is_visible(self, age: u32, later: usize) -> bool {
        match self {
            Self::Append => true,
            Self::Window(w) => age <= w,
            Self::Changes(z) => later < z as usize,
            Self::Overwrite => later == 0,
        }
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Append => f.write_str("append"),
            Self::Window(w) => write!(f, "window:{w}"),
            Self::Changes(z) => write!(f, "changes:{z}"),
            Self::Overwrite => f.write_str("overwrite"),
        }
    }
}

impl FromStr for Life {
    type Err = ParseError;

    fn from_str(given: &str) -> Result<Self, ParseError> {
        let wrong = |problem| ParseError::Parameter { what: "life", given: given.to_owned(), problem };
        match given.split_once(':') {
            None if given == "append" => Ok(Self::Append),
            None if given == "overwrite" => Ok(Self::Overwrite),
            Some(("window", w)) => w
                .parse()
                .map(Self::Window)
                .map_err(|_| wrong("expected a whole number of chronons, 0 or more")),
            // Each of the z layers is carried per source; more than this is append in all but name.
            Some(("changes", z)) => match z.parse() {
                Ok(z @ 1..=1_000) => Ok(Self::Changes(z)),
                _ => Err(wrong("expected a whole number of changes, 1 to 1000")),
            },
            _ => Err(ParseError::Unknown {
                what: "life",
                given: given.to_owned(),
                expected: "append, window:W, changes:Z or overwrite",
            }),
        }
    }
}
