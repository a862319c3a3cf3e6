//! Which of many queries a text concerns, by its words: an index that is asked once for a text, whatever the number of queries.
//! What it does not name cannot hold of the text; what it names has to be looked at. Not the looking.

use std::collections::{BTreeMap, BTreeSet};

use crate::terms::Term;

/// By so many letters at the beginning, a part of a word is looked for.
const GRAM: usize = 3;

/// Words, and parts of words, with those that asked for them. An asker is named once however often it asked.
#[derive(Debug, Clone)]
pub struct TermIndex<K> {
    words: BTreeMap<String, Vec<K>>,
    /// Parts by their first letters.
    parts: BTreeMap<String, BTreeMap<String, Vec<K>>>,
}

impl<K> Default for TermIndex<K> {
    fn default() -> Self {
        Self { words: BTreeMap::new(), parts: BTreeMap::new() }
    }
}

impl<K: Copy + Ord> TermIndex<K> {
    /// Whether nobody asks.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.parts.is_empty()
    }

    /// Somebody asks for these terms. Each term is given once.
    pub fn insert(&mut self, asker: K, terms: &[Term]) {
        for term in terms {
            let askers = match term {
                Term::Word(word) => self.words.entry(word.clone()).or_default(),
                Term::Part(part) => {
                    self.parts.entry(gram(part).to_owned()).or_default().entry(part.clone()).or_default()
                }
            };
            askers.push(asker);
        }
    }

    /// Somebody who asked for these terms does so no longer.
    pub fn remove(&mut self, asker: K, terms: &[Term]) {
        for term in terms {
            match term {
                Term::Word(word) => forget(&mut self.words, word, asker),
                Term::Part(part) => {
                    let Some(parts) = self.parts.get_mut(gram(part)) else { continue };
                    forget(parts, part, asker);
                    if parts.is_empty() {
                        self.parts.remove(gram(part));
                    }
                }
            }
        }
    }

    /// Those who asked for a term that is in a text with these words, each with how many of its terms are.
    pub fn concerned<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> BTreeMap<K, usize> {
        let mut concerned = BTreeMap::new();
        if self.is_empty() {
            return concerned;
        }
        let words: BTreeSet<&str> = words.into_iter().collect();
        let mut found_parts = BTreeSet::new();
        for word in words {
            for asker in self.words.get(word).into_iter().flatten() {
                *concerned.entry(*asker).or_default() += 1;
            }
            if !self.parts.is_empty() {
                self.parts_of(word, &mut found_parts);
            }
        }
        for part in found_parts {
            let askers = self.parts.get(gram(part)).and_then(|parts| parts.get(part));
            for asker in askers.into_iter().flatten() {
                *concerned.entry(*asker).or_default() += 1;
            }
        }
        concerned
    }

    /// The parts that somebody asks for in a word.
    fn parts_of<'i>(&'i self, word: &str, found: &mut BTreeSet<&'i str>) {
        for (start, _) in word.char_indices() {
            let rest = &word[start..];
            for n_letters in 1..=GRAM {
                let Some(gram) = first_letters(rest, n_letters) else { break };
                let parts = self.parts.get(gram).into_iter().flatten();
                found.extend(parts.map(|(part, _)| part.as_str()).filter(|part| rest.starts_with(part)));
            }
        }
    }
}

fn forget<K: Copy + Ord>(askers: &mut BTreeMap<String, Vec<K>>, term: &str, asker: K) {
    if let Some(known) = askers.get_mut(term) {
        known.retain(|other| *other != asker);
        if known.is_empty() {
            askers.remove(term);
        }
    }
}

fn gram(part: &str) -> &str {
    first_letters(part, GRAM).unwrap_or(part)
}

/// The first so many letters of a text, if it has as many.
fn first_letters(text: &str, n_letters: usize) -> Option<&str> {
    let mut ends = text.char_indices().map(|(start, letter)| start + letter.len_utf8());
    ends.nth(n_letters - 1).map(|end| &text[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn term() -> impl Strategy<Value = Term> {
        let letters = prop_oneof!["[aä]{1,5}", "[abä]{1,4}"];
        (letters, any::<bool>())
            .prop_map(|(text, is_word)| if is_word { Term::Word(text) } else { Term::Part(text) })
    }

    fn is_in(term: &Term, words: &[String]) -> bool {
        match term {
            Term::Word(wanted) => words.contains(wanted),
            Term::Part(wanted) => words.iter().any(|word| word.contains(wanted.as_str())),
        }
    }

    proptest! {
        #[test]
        fn it_names_exactly_those_who_ask_for_what_is_there(
            asked in prop::collection::vec(prop::collection::btree_set(term(), 0..4), 0..12),
            gone in prop::collection::vec(any::<bool>(), 12),
            words in prop::collection::vec("[abä]{1,6}", 0..6),
        ) {
            let asked: Vec<Vec<Term>> = asked.into_iter().map(|terms| terms.into_iter().collect()).collect();
            let mut index = TermIndex::default();
            for (asker, terms) in asked.iter().enumerate() {
                index.insert(asker, terms);
            }
            for (asker, terms) in asked.iter().enumerate().filter(|(asker, _)| gone[*asker]) {
                index.remove(asker, terms);
            }
            let there = asked.iter().enumerate().filter(|(asker, _)| !gone[*asker]);
            let expected: BTreeMap<usize, usize> = there
                .map(|(asker, terms)| (asker, terms.iter().filter(|term| is_in(term, &words)).count()))
                .filter(|(_, n_terms)| *n_terms > 0)
                .collect();
            prop_assert_eq!(index.concerned(words.iter().map(String::as_str)), expected);
            prop_assert_eq!(index.is_empty(), (0..asked.len()).all(|asker| gone[asker] || asked[asker].is_empty()));
        }
    }
}
