//! The words without which a predicate cannot hold, for an index over installed queries: what has none of them need not be
//! evaluated. Not the evaluation; that is [`crate::evaluate`].

use crate::tree::longest;
use crate::tree::{Comparison, Literal, Predicate, Test};
use crate::words::words;

/// What has to be in a text, in lower case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// One of its [`crate::words`].
    Word(String),
    /// Part of one of its words.
    Part(String),
}

impl Term {
    /// The letters.
    pub fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Part(text) => text,
        }
    }
}

impl Predicate {
    /// Terms of which at least one is in a text of the parts asked about, whenever this holds: in a title, a link, an
    /// author or a text. Ascending, each once. None if it can hold without any term.
    ///
    /// ```
    /// use dunlin_query::{Body, Term, parse};
    ///
    /// let queries = parse("QUERY q SELECT item AS post FROM feed 'https://a.example/' EVERY 1 HOUR
    ///                      WHERE post CONTAINS 'crude oil' OR post CONTAINS '%petrol%'")?;
    /// let terms = queries[0].filter.as_ref().and_then(|filter| filter.required_terms());
    /// assert_eq!(terms, Some(vec![Term::Word("crude".into()), Term::Part("petrol".into())]));
    /// # Ok::<(), dunlin_query::Refused>(())
    /// ```
    pub fn required_terms(&self) -> Option<Vec<Term>> {
        Some(distinct(self.required(None)?))
    }

    /// The same, of the parts of this name: whatever the others say, at least one of these terms is in a text of it.
    pub fn required_terms_of(&self, name: &str) -> Option<Vec<Term>> {
        Some(distinct(self.required(Some(name))?))
    }

    /// Whether it compares a part of this name with the capture before.
    pub fn looks_back_at(&self, name: &str) -> bool {
        match self {
            Self::And(parts) | Self::Or(parts) => parts.iter().any(|part| part.looks_back_at(name)),
            Self::Not(inner) => inner.looks_back_at(name),
            Self::Test(operand, Test::Moves(..) | Test::Changes) => operand.name == name,
            Self::Test(..) => false,
        }
    }

    fn required(&self, of: Option<&str>) -> Option<Vec<Term>> {
        match self {
            // Any part will do; the one that fewest texts meet is the best guess at the rarest.
            Self::And(parts) => parts.iter().filter_map(|part| part.required(of)).reduce(rarer),
            Self::Or(parts) => {
                let terms: Option<Vec<Vec<Term>>> = parts.iter().map(|part| part.required(of)).collect();
                terms.map(|terms| terms.concat())
            }
            Self::Test(operand, _) if of.is_some_and(|name| name != operand.name) => None,
            Self::Test(_, Test::Contains(phrase)) => phrase.required().map(|term| vec![term]),
            Self::Test(_, Test::Compares(Comparison::Equal, Literal::Text(text))) => {
                longest(words(text)).map(|word| vec![Term::Word(word)])
            }
            // That a word is missing can hold of a text without any.
            Self::Not(_) | Self::Test(..) => None,
        }
    }
}

/// Ascending, each once.
pub(crate) fn distinct(mut terms: Vec<Term>) -> Vec<Term> {
    terms.sort();
    terms.dedup();
    terms
}

/// The fewer terms; of as many, those of which the shortest is longer.
fn rarer(a: Vec<Term>, b: Vec<Term>) -> Vec<Term> {
    let shortest = |terms: &[Term]| terms.iter().map(|term| term.text().len()).min().unwrap_or(0);
    let key = |terms: &[Term]| (terms.len(), usize::MAX - shortest(terms));
    if key(&b) < key(&a) { b } else { a }
}
