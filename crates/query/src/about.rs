//! Keywords: what is about them, and how relevant a source is to them. The scores of texts come from a full-text index; here is what
//! they mean. Words are exact: there are no stems and no synonyms.

use crate::terms::Term;
use crate::tree::Watch;
use crate::words::words;

/// From this relevance on, a source is relevant to a WATCH: a text of average length that has each word three times.
pub const RELEVANT: f64 = 0.65;
/// A source that was relevant is so until it falls below this, so that one on the edge does not come and go.
pub const IRRELEVANT: f64 = 0.5;

/// Where BM25 has a word saturated: a text that repeats it without end scores so many times its rarity.
const SATURATED: f64 = 2.2;
/// The least rarity of a word, of one that is in half of the texts or more.
const LEAST_RARITY: f64 = 1e-6;

impl Watch {
    /// The different words, in alphabetical order.
    pub fn terms(&self) -> Vec<Term> {
        let mut all: Vec<String> = words(&self.words).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().map(Term::Word).collect()
    }
}

/// How many of so many different words have to be in an item that is about them: two thirds, rounded up. So both of two, two of
/// three, and three of four.
pub const fn words_needed(n_words: usize) -> usize {
    (2 * n_words).div_ceil(3)
}

/// How relevant a source is to some words, from 0 to 1: the score of its text by BM25 as a share of the highest that any text
/// could have for these words. `n_with` are the texts with each of the words, of `n_texts` in all.
///
/// A text of average length that has each word once gets 0.45, and one that has each five times, 0.8.
pub fn relevance(score: f64, n_texts: u64, n_with: &[u64]) -> f64 {
    let rarities = n_with.iter().filter(|n_with| **n_with > 0).map(|n_with| rarity(n_texts, *n_with));
    // A word that is nowhere is as rare as one that is in one text, or the rest would count for everything.
    let unseen = n_with.iter().filter(|n_with| **n_with == 0).map(|_| rarity(n_texts, 1));
    let best = SATURATED * rarities.chain(unseen).sum::<f64>();
    if best > 0.0 && score > 0.0 { (score / best).min(1.0) } else { 0.0 }
}

fn rarity(n_texts: u64, n_with: u64) -> f64 {
    let (n_texts, n_with) = (n_texts as f64, n_with as f64);
    ((n_texts - n_with + 0.5) / (n_with + 0.5)).ln().max(LEAST_RARITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BM25 as full-text indexes have it, of a text of average length.
    fn score(n_texts: u64, n_with: &[u64], times: &[f64]) -> f64 {
        let each = n_with.iter().zip(times);
        each.map(|(n_with, times)| rarity(n_texts, *n_with) * 2.2 * times / (times + 1.2)).sum()
    }

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-3
    }

    #[test]
    fn relevance_is_a_share_of_the_best_text_that_there_could_be() {
        let of = |n_with: &[u64], times: &[f64]| relevance(score(100, n_with, times), 100, n_with);
        assert!(near(of(&[3, 9], &[1.0, 1.0]), 0.4545) && near(of(&[3], &[5.0]), 0.8065));
        assert!(of(&[3, 9], &[1e9, 1e9]) <= 1.0 && near(of(&[3, 9], &[1e9, 1e9]), 1.0));
        assert!(of(&[3, 40], &[1.0, 0.0]) > of(&[3, 40], &[0.0, 1.0]), "the rare word counts for more");
        // As rare as each other, where none is rare.
        assert!(near(of(&[90, 90], &[1.0, 1.0]), 0.4545));
        assert!(near(of(&[3, 0], &[1.0, 0.0]), 0.2010), "a word that is nowhere is missed");
        assert_eq!((relevance(0.0, 100, &[3]), relevance(1.0, 0, &[])), (0.0, 0.0));
    }

    #[test]
    fn an_item_needs_two_thirds_of_the_words() {
        assert_eq!([1, 2, 3, 4, 5, 6, 9].map(words_needed), [1, 2, 2, 3, 4, 4, 6]);
        let watch = Watch { words: "Oil, price of OIL".to_owned(), importance: 1.0 };
        let word = |text: &str| Term::Word(text.to_owned());
        assert_eq!(watch.terms(), [word("of"), word("oil"), word("price")]);
    }
}
