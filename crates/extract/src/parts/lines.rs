//! The lines of an item, with where each stands: under which elements, below which heading, as which of several. Compares nothing.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use crate::document::Item;
use crate::hashing::mixed;
use crate::outline::LineContext;
use crate::tokens::{Kind, Token, tokens};

/// One line of an item, with where it stands. The title comes first.
#[derive(Debug, Clone)]
pub(crate) struct Line<'i> {
    pub(crate) text: &'i str,
    pub(crate) context: LineContext,
    /// How many lines with the same path are above it.
    pub(super) ordinal: u32,
    /// A fingerprint of the nearest heading above it.
    pub(super) section: u32,
    /// What it is cut into, once somebody has asked.
    tokens: OnceCell<Vec<Token<'i>>>,
}

impl<'i> Line<'i> {
    /// Its words, figures and marks. Most lines are the same on both sides and are never asked for them; the others often are.
    pub(crate) fn tokens(&self) -> &[Token<'i>] {
        self.tokens.get_or_init(|| tokens(self.text))
    }
}

/// The place of titles.
const TITLE_PATH: u32 = 1;

/// The lines of an item.
pub(crate) fn lines_of(item: &Item) -> Vec<Line<'_>> {
    let title =
        LineContext { path: TITLE_PATH, container: TITLE_PATH, is_heading: true, ..LineContext::default() };
    let mut above: BTreeMap<u32, u32> = BTreeMap::new();
    // A title that was made from the first line would be reported twice.
    let first = item.text.lines().next().unwrap_or_default();
    let has_title = !item.title.is_empty() && !first.starts_with(item.title.trim_end_matches('…'));
    let title = has_title.then_some((item.title.as_str(), title));
    let body = item.text.lines().enumerate().map(|(index, text)| (text, item.outline.line(index)));
    let with_ordinal = |(text, context): (_, LineContext)| {
        let ordinal = above.entry(context.path).or_default();
        *ordinal += 1;
        Line { text, context, ordinal: *ordinal - 1, section: 0, tokens: OnceCell::new() }
    };
    let mut lines: Vec<Line<'_>> = title.into_iter().chain(body).map(with_ordinal).collect();
    let mut section = 0;
    for line in &mut lines {
        line.section = section;
        if line.context.is_heading {
            section = mixed(0, line.text);
        }
    }
    drop_ranks(&mut lines);
    lines
}

/// The number that a list gives its lines is where they stand and not what they say: `1 …`, `2 …`, `3 …`, each its own ordinal.
fn drop_ranks(lines: &mut [Line<'_>]) {
    const FEWEST: usize = 3;
    let mut ranked: BTreeMap<(u32, u32), Vec<(usize, usize)>> = BTreeMap::new();
    let may_have_one = |line: &Line<'_>| line.text.starts_with(|c: char| c == '#' || c.is_ascii_digit());
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| may_have_one(line)) {
        let LineContext { path, container, .. } = line.context;
        let rows = ranked.entry((path, container)).or_default();
        if let Some(n_bytes) = rank(line.text, rows.len() + 1) {
            rows.push((index, n_bytes));
        }
    }
    for (index, n_bytes) in ranked.into_values().filter(|rows| rows.len() >= FEWEST).flatten() {
        lines[index].text = &lines[index].text[n_bytes..];
    }
}

/// The bytes of this rank at the beginning of a line that goes on with words: `3. `, `3 `, `#3 `, `3) `.
fn rank(text: &str, expected: usize) -> Option<usize> {
    let digits = text.trim_start_matches('#');
    let rest = digits.strip_prefix(expected.to_string().as_str())?;
    let body = rest.trim_start_matches(['.', ')', ':', ' ', '.']);
    let is_apart = body.len() < rest.len() && body.starts_with(char::is_alphabetic);
    // `1 day ago` has no rank, nor has `3 May`.
    let is_number = || tokens(digits).first().is_some_and(|first| first.kind == Kind::Number);
    (is_apart && is_number()).then(|| text.len() - body.len())
}
