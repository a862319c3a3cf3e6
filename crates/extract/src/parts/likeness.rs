//! Which of the lines that went became which of the lines that came. Decides by words and places, within one hunk.

use crate::parts::anchors::aligned;
use crate::parts::{Line, values};
use crate::tokens::{Kind, Token, tokens};
use crate::work::Work;

/// What a line is compared by.
#[derive(Debug)]
pub(super) struct Features {
    template: u64,
    path: u32,
    starts_entry: bool,
    /// Fingerprints of its words, in rising order.
    words: Vec<u64>,
}

pub(super) fn features(line: &Line<'_>) -> Features {
    Features { starts_entry: line.context.starts_entry, ..features_of(line.tokens(), line.context.path) }
}

impl Features {
    fn is_like(&self, other: &Self) -> bool {
        self.template == other.template || alike(&self.words, &other.words) >= 0.5
    }
}

fn features_of(tokens: &[Token<'_>], path: u32) -> Features {
    let is_word = |kind| matches!(kind, Kind::Word | Kind::Number | Kind::Date | Kind::Time);
    let words = tokens.iter().filter(|token| is_word(token.kind));
    let mut words: Vec<u64> = words.map(|token| values::hash_of(token.text)).collect();
    words.sort_unstable();
    Features { template: values::template_of(tokens), path, starts_entry: false, words }
}

/// Pairs of texts that have half of their words in common, or all of them but the figures, in the order of both.
pub(crate) fn alike_texts(old: &[&str], new: &[&str], work: &Work) -> Vec<(usize, usize)> {
    let read = |texts: &[&str]| -> Vec<Features> {
        // Different places, so that nothing is paired for where it stands.
        let line = |text: &&str| Features { starts_entry: true, ..features_of(&tokens(text), 0) };
        texts.iter().map(line).collect()
    };
    let (old, new) = (read(old), read(new));
    paired(&old, &new, work)
        .into_iter()
        .filter(|(at_old, at_new)| old[*at_old].is_like(&new[*at_new]))
        .collect()
}

/// Words of a line that says a state rather than a story.
const FEW_WORDS: usize = 5;

/// Pairs of lines are compared up to this number; a hunk with more is another text.
const MAX_PAIRS: usize = 20_000;

/// Words that are compared in one step.
const WORDS_PER_STEP: usize = 4;

/// Lines that became others, in the order of both.
pub(super) fn paired(old: &[Features], new: &[Features], work: &Work) -> Vec<(usize, usize)> {
    let templates = |lines: &[Features]| lines.iter().map(|line| line.template).collect::<Vec<_>>();
    let anchors = aligned(&templates(old), &templates(new), work);
    let mut pairs = Vec::new();
    let (mut next_old, mut next_new) = (0, 0);
    for anchor in anchors.into_iter().map(Some).chain([None]) {
        let (old_end, new_end) = anchor.unwrap_or((old.len(), new.len()));
        let found = between(&old[next_old..old_end], &new[next_new..new_end], work);
        pairs.extend(found.into_iter().map(|(at_old, at_new)| (next_old + at_old, next_new + at_new)));
        if let Some((at_old, at_new)) = anchor {
            pairs.push((at_old, at_new));
            (next_old, next_new) = (at_old + 1, at_new + 1);
        }
    }
    pairs
}

/// Pairs lines that are alike in words; and those that took the place of another, where as many came as went.
fn between(old: &[Features], new: &[Features], work: &Work) -> Vec<(usize, usize)> {
    let n_pairs = old.len() * new.len();
    let mut pairs = Vec::new();
    if n_pairs == 0 || n_pairs > MAX_PAIRS {
        return pairs;
    }
    let n_words = |lines: &[Features]| lines.iter().map(|line| line.words.len()).sum::<usize>();
    let n_compared = n_words(old) * new.len() + n_words(new) * old.len();
    if !work.take((n_pairs + n_compared / WORDS_PER_STEP) as u64) {
        return pairs;
    }
    // One short line for another, wherever it stands: a class may say what the text says, `ok` and then `down`.
    let takes_its_place = |a: &Features, b: &Features| {
        let is_alone = old.len() == 1 && a.words.len().max(b.words.len()) <= FEW_WORDS;
        // Another entry of a list is another entry, not the old one with other words.
        let is_slot = a.path == b.path && (old.len() == 1 || !b.starts_entry);
        old.len() == new.len() && (is_slot || is_alone)
    };
    let mut next = 0;
    for (at_old, line) in old.iter().enumerate() {
        let likeness = |at_new: &usize| alike(&line.words, &new[*at_new].words);
        let best = (next..new.len()).max_by(|a, b| likeness(a).total_cmp(&likeness(b)).then(b.cmp(a)));
        let opposite = || new.get(at_old).filter(|other| at_old >= next && takes_its_place(line, other));
        let found = best.filter(|best| likeness(best) >= 0.5).or_else(|| opposite().map(|_| at_old));
        if let Some(at_new) = found {
            pairs.push((at_old, at_new));
            next = at_new + 1;
        }
    }
    pairs
}

/// The share of words that two lines have in common.
fn alike(a: &[u64], b: &[u64]) -> f64 {
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let (mut at_a, mut at_b, mut n_common) = (0, 0, 0_u32);
    while at_a < a.len() && at_b < b.len() {
        match a[at_a].cmp(&b[at_b]) {
            std::cmp::Ordering::Less => at_a += 1,
            std::cmp::Ordering::Greater => at_b += 1,
            std::cmp::Ordering::Equal => {
                n_common += 1;
                at_a += 1;
                at_b += 1;
            }
        }
    }
    let total = u32::try_from(a.len() + b.len()).unwrap_or(u32::MAX);
    2.0 * f64::from(n_common) / f64::from(total)
}
