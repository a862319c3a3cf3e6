//! What stands around the lines of a text: the heading that each is below, and where each list or section ends. Found in one pass
//! over the text, since it is asked for each part, and a page may have as many parts as lines.

use std::collections::BTreeMap;

use crate::parts::Line;

/// A text, with what its lines are below and which are the last of their kind.
#[derive(Debug)]
pub(super) struct Surroundings<'l, 'i> {
    pub(super) lines: &'l [Line<'i>],
    /// For each line, the nearest heading above it that is about the same region.
    headings: Vec<&'i str>,
    /// The last line of each container.
    ends: BTreeMap<u32, usize>,
}

/// Lines of one entry that may stand between its label and a value.
const MAX_VALUES: usize = 3;
/// Bytes of a label.
const MAX_LABEL: usize = 40;

impl<'l, 'i> Surroundings<'l, 'i> {
    pub(super) fn of(lines: &'l [Line<'i>]) -> Self {
        // By region; a menu between two sections does not end what the article is about.
        let mut latest = BTreeMap::new();
        let heading_above = |line: &Line<'i>| {
            if line.context.is_heading {
                latest.insert(line.context.region, line.text);
                return "";
            }
            latest.get(&line.context.region).copied().unwrap_or_default()
        };
        let headings = lines.iter().map(heading_above).collect();
        let ends = lines.iter().enumerate().map(|(index, line)| (line.context.container, index)).collect();
        Self { lines, headings, ends }
    }

    /// The nearest heading above a line, as long as it is about the same region; a heading has none.
    pub(super) fn heading_above(&self, index: usize) -> &'i str {
        self.headings[index]
    }

    /// Whether no line below belongs to the same container as the one before `end`.
    pub(super) fn is_last(&self, end: usize) -> bool {
        let last = end.checked_sub(1).map(|last| self.lines[last].context.container);
        last.is_none_or(|container| self.ends[&container] < end)
    }

    /// The first line of the entry that a line is a value in, if it says what the value is of: words, and no figures.
    pub(super) fn label_before(&self, index: usize) -> &'i str {
        let line = &self.lines[index];
        if line.context.starts_entry || line.context.is_heading || line.text.len() > MAX_LABEL {
            return "";
        }
        let of_entry = self.lines[..index].iter().rev().take(MAX_VALUES);
        let mut of_entry = of_entry.take_while(|above| above.context.container == line.context.container);
        let label = of_entry.find(|above| above.context.starts_entry).map_or("", |first| first.text);
        let is_label = label.len() <= MAX_LABEL && !label.contains(char::is_numeric) && !label.contains(": ");
        if is_label { label } else { "" }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::document::{IdOrigin, Item, ItemId};
    use crate::outline::{LineContext, Outline, Region};
    use crate::parts::lines_of;

    fn item(contexts: &[LineContext]) -> Item {
        let mut outline = Outline::default();
        contexts.iter().for_each(|context| outline.push(*context));
        let lines: Vec<String> = (0..contexts.len()).map(|n| n.to_string()).collect();
        Item {
            id: ItemId { origin: IdOrigin::Guid, value: String::new() },
            title: String::new(),
            link: None,
            text: lines.join("\n"),
            outline,
            author: None,
            published: None,
        }
    }

    fn context() -> impl Strategy<Value = LineContext> {
        let region = prop::sample::select(vec![Region::Content, Region::Frame, Region::Aside]);
        (0..4_u32, region, prop::bool::weighted(0.3)).prop_map(|(container, region, is_heading)| {
            LineContext { container, region, is_heading, ..LineContext::default() }
        })
    }

    proptest! {
        /// As looking through all lines would find it.
        #[test]
        fn one_pass_finds_what_a_search_from_each_line_does(contexts in prop::collection::vec(context(), 0..12)) {
            let item = item(&contexts);
            let lines = lines_of(&item);
            let around = Surroundings::of(&lines);
            for (index, line) in contexts.iter().enumerate() {
                let is_above = |above: &&Line<'_>| above.context.is_heading && above.context.region == line.region;
                let heading = lines[..index].iter().rev().find(is_above).filter(|_| !line.is_heading);
                prop_assert_eq!(around.heading_above(index), heading.map_or("", |heading| heading.text));
                let is_more = contexts[index + 1..].iter().any(|below| below.container == line.container);
                prop_assert_eq!(around.is_last(index + 1), !is_more);
            }
            prop_assert!(around.is_last(0));
        }
    }
}
