//! Where the lines of a text stand on their page: under which elements, in which region. Not what they say.
//!
//! A line is recognised by its words; where it stands tells an article from the teaser beside it, and one place on a page
//! from another when the words there change.

use std::fmt::Write as _;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Which part of a page a line belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Region {
    /// What the page is about, as far as one can tell.
    #[default]
    Content,
    /// Menus, headers and footers.
    Frame,
    /// What stands beside the content.
    Aside,
    /// Advertising, recommendations, sharing, consent: made for each visitor, not for this page.
    Extra,
}

/// Where a line stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineContext {
    /// A fingerprint of the elements around it, with their stable names.
    pub path: u32,
    /// A fingerprint of the list, table or section that it is one of several lines of.
    pub container: u32,
    /// The region of the page.
    pub region: Region,
    /// Whether it is a heading.
    pub is_heading: bool,
    /// Whether it is the first line of a list item, a table row or an article.
    pub starts_entry: bool,
    /// Whether it is in one of those, or in another of several blocks of a kind.
    pub is_in_entry: bool,
}

/// The contexts of the lines of a text, in their order. Empty where nothing is known of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    lines: Vec<LineContext>,
}

impl Outline {
    /// Whether nothing is known.
    pub const fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The context of a line; that of plain content where nothing is known.
    pub fn line(&self, index: usize) -> LineContext {
        self.lines.get(index).copied().unwrap_or_default()
    }

    pub(crate) fn push(&mut self, line: LineContext) {
        self.lines.push(line);
    }

    /// Follows the text, of which something was removed: lines that are empty now are gone. Where lines were joined, nothing is
    /// known any more.
    pub(crate) fn keep_lines_of(&mut self, rest: &str, n_lines_before: usize) {
        if rest.lines().count() == n_lines_before {
            let mut lines = rest.lines();
            self.lines.retain(|_| lines.next().is_some_and(|line| !line.trim().is_empty()));
        } else {
            self.lines.clear();
        }
    }

    pub(crate) fn truncate(&mut self, n_lines: usize) {
        self.lines.truncate(n_lines);
    }

    /// A page is not advertising all over: a name that says so of most of it was misunderstood.
    pub(crate) fn drop_implausible_regions(&mut self) {
        let n_outside = self.lines.iter().filter(|line| line.region != Region::Content).count();
        if n_outside * 10 > self.lines.len() * 9 {
            self.lines.iter_mut().for_each(|line| line.region = Region::Content);
        }
    }

    /// Lines with the same context, one after the other, as 20 hexadecimal digits: their number, what is said of them, and
    /// the two fingerprints.
    fn to_text(&self) -> String {
        let mut text = String::new();
        for run in self.lines.chunk_by(|a, b| a == b) {
            for part in run.chunks(0xff) {
                let LineContext { path, container, region, is_heading, starts_entry, is_in_entry } = part[0];
                let flags = region as u8
                    | u8::from(is_heading) << 2
                    | u8::from(starts_entry) << 3
                    | u8::from(is_in_entry) << 4;
                let _ = write!(text, "{:02x}{flags:02x}{path:08x}{container:08x}", part.len());
            }
        }
        text
    }

    /// Reads what [`Self::to_text`] wrote; what cannot be read is not known.
    fn from_text(text: &str) -> Option<Self> {
        let mut outline = Self::default();
        let number = |text: &str| u32::from_str_radix(text, 16).ok();
        for start in (0..text.len()).step_by(RUN) {
            let run = text.get(start..start + RUN)?;
            let flags = number(run.get(2..4)?)?;
            let line = LineContext {
                path: number(run.get(4..12)?)?,
                container: number(run.get(12..20)?)?,
                region: match flags & 3 {
                    0 => Region::Content,
                    1 => Region::Frame,
                    2 => Region::Aside,
                    _ => Region::Extra,
                },
                is_heading: flags & 4 != 0,
                starts_entry: flags & 8 != 0,
                is_in_entry: flags & 16 != 0,
            };
            let n_lines = number(run.get(..2)?)?;
            outline.lines.extend((0..n_lines).map(|_| line));
        }
        Some(outline)
    }
}

/// Digits of a run of lines.
const RUN: usize = 20;

impl Serialize for Outline {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.to_text())
    }
}

impl<'de> Deserialize<'de> for Outline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(Self::from_text(&text).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_is_stored_and_read_again() {
        let line = |path, region, is_heading| LineContext {
            path,
            container: u32::MAX,
            region,
            is_heading,
            starts_entry: !is_heading,
            is_in_entry: region == Region::Aside,
        };
        let mut outline = Outline::default();
        let regions = [Region::Content, Region::Frame, Region::Aside, Region::Extra];
        for (path, region) in (0..).zip(regions) {
            outline.push(line(path, region, path == 2));
        }
        (0..600).for_each(|_| outline.push(line(7, Region::Content, true)));
        let stored = serde_json::to_string(&outline).unwrap();
        assert_eq!(serde_json::from_str::<Outline>(&stored).unwrap(), outline);
        for broken in ["\"01\"", "\"zz000000000000000000\"", "\"é0000000000000000000\""] {
            assert_eq!(serde_json::from_str::<Outline>(broken).unwrap(), Outline::default(), "{broken}");
        }
    }
}
