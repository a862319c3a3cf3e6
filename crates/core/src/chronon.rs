//! A chronon: the indivisible step of time in which decisions are made. Not a wall-clock instant; how
//! long a chronon lasts is decided by the caller.

use std::fmt;
use std::num::NonZeroU32;

/// A chronon, counted from 1. "Never" is `Option::<Chronon>::None`, which costs no extra space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chronon(NonZeroU32);

impl Chronon {
    /// The first chronon of an epoch.
    pub const FIRST: Self = Self(NonZeroU32::MIN);

    /// The chronon with this number, or `None` for 0.
    pub const fn new(number: u32) -> Option<Self> {
        match NonZeroU32::new(number) {
            Some(number) => Some(Self(number)),
            None => None,
        }
    }

    /// Its number, from 1.
    pub const fn get(self) -> u32 {
        self.0.get()
    }

    /// Its position in an array with one element per chronon.
    pub const fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// The chronon `steps` later; stays at the last representable one.
    #[must_use]
    pub const fn plus(self, steps: u32) -> Self {
        Self(self.0.saturating_add(steps))
    }

    /// Chronons from `earlier` to here; 0 when `earlier` is not earlier.
    pub const fn since(self, earlier: Self) -> u32 {
        self.get().saturating_sub(earlier.get())
    }

    /// The chronons 1 to `count`.
    pub fn first(count: u32) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (1..=count).filter_map(Self::new)
    }
}

impl fmt::Display for Chronon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
