//! What was not reported of a source lately, and why, so that every silence can be explained. A bounded list; parts that are alike
//! but for their figures are one entry.

use dunlin_core::Time;
use dunlin_extract::flicker::Suppressed;
use serde::{Deserialize, Serialize};

/// The most entries; of more, those that were suppressed longest ago go.
const MAX_PARTS: usize = 12;
/// The most bytes of each text.
const MAX_TEXT: usize = 80;

/// Parts of a source that were not reported, the latest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuppressedParts(Vec<SuppressedPart>);

/// A part that was not reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuppressedPart {
    /// A stable name of the reason.
    pub why: String,
    /// The reason, for people.
    pub because: String,
    /// What was there the last time; may be empty.
    pub old: String,
    /// What came the last time; may be empty.
    pub new: String,
    /// How many times.
    pub times: u32,
    /// When it was last suppressed, in microseconds.
    last: i64,
}

impl SuppressedPart {
    /// When it was last suppressed.
    pub const fn last(&self) -> Time {
        Time::from_micros(self.last)
    }

    /// What it has in common with the same part at another time.
    fn sort(&self) -> (&str, String) {
        let text = if self.new.is_empty() { &self.old } else { &self.new };
        (&self.why, text.chars().filter(|c| !c.is_numeric()).take(MAX_TEXT / 2).collect())
    }
}

impl SuppressedParts {
    /// With what one more content had.
    #[must_use]
    pub fn with(mut self, suppressed: &[Suppressed], at: Time) -> Self {
        for part in suppressed.iter().rev() {
            let shown = |text: &str| text[..text.floor_char_boundary(MAX_TEXT)].to_owned();
            let mut part = SuppressedPart {
                why: part.reason.code().to_owned(),
                because: part.reason.to_string(),
                old: shown(&part.old),
                new: shown(&part.new),
                times: 1,
                last: at.micros(),
            };
            if let Some(known) = self.0.iter().position(|known| known.sort() == part.sort()) {
                part.times = self.0.remove(known).times.saturating_add(1);
            }
            self.0.insert(0, part);
        }
        self.0.truncate(MAX_PARTS);
        self
    }

    /// The parts, the latest first.
    pub fn into_parts(self) -> Vec<SuppressedPart> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use dunlin_extract::flicker::Reason;

    use super::*;

    fn part(reason: Reason, old: &str, new: &str) -> Suppressed {
        Suppressed { reason, old: old.to_owned(), new: new.to_owned() }
    }

    #[test]
    fn parts_alike_but_for_their_figures_are_one_entry_and_the_list_is_bounded() {
        let mut parts = SuppressedParts::default();
        for minute in 1_u8..=50 {
            let clock =
                part(Reason::Volatile, &format!("at 14:{:02}", minute - 1), &format!("at 14:{minute:02}"));
            let words = "é".repeat(200) + &"word ".repeat(usize::from(minute));
            parts = parts.with(
                &[clock, part(Reason::Returned, "", &words[usize::from(minute) * 2..])],
                Time::from_seconds(i64::from(minute)),
            );
        }
        let clock = &parts.0[0];
        assert_eq!((clock.old.as_str(), clock.new.as_str(), clock.times), ("at 14:49", "at 14:50", 50));
        assert_eq!(clock.last(), Time::from_seconds(50));
        assert!(parts.0.len() <= MAX_PARTS);
        assert!(postcard::to_allocvec(&parts).unwrap().len() < 4_096);
    }
}
