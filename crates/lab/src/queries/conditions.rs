//! Whether each WHEN of an instance holds, where nobody knows what was captured: drawn, with a fixed share of them holding.

use dunlin_query::{Predicate, Select};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Whens;
use crate::stream::{Purpose, stream};

/// Random words that belong to one instance: two for each SELECT there may be.
const WORDS_PER_INSTANCE: u128 = 2 * dunlin_query::limits::MAX_SELECTS as u128;

/// The conditions of one query.
pub(super) struct Conditions {
    /// For each SELECT the one whose draw it shares: the first with the same WHEN. What is the same condition of the same
    /// captures holds for both or for neither.
    draws: Vec<usize>,
    share: f64,
    rng: ChaCha8Rng,
}

impl Conditions {
    /// Those of the query with this number.
    pub(super) fn new(selects: &[Select], whens: Whens, query: u32) -> Self {
        let first = |select: &Select| {
            selects.iter().position(|other| other.condition() == select.condition()).unwrap_or_default()
        };
        let draws = selects.iter().map(first).collect();
        Self { draws, share: whens.share, rng: stream(whens.seed, Purpose::Conditions, query) }
    }

    /// For each SELECT whether its WHEN holds in the instance that begins at a second, if nothing stands against it. The same
    /// second gives the same answer, whatever part of a trace is looked at.
    pub(super) fn drawn(&self, second: i64) -> Vec<bool> {
        let mut rng = self.rng.clone();
        rng.set_word_pos(u128::from(second.cast_unsigned()) * WORDS_PER_INSTANCE);
        let holds: Vec<bool> = self.draws.iter().map(|_| rng.random::<f64>() < self.share).collect();
        self.draws.iter().map(|draw| holds[*draw]).collect()
    }
}

/// Whether a condition may hold although nothing is known of some parts: what is not captured is neither so nor not so.
pub(super) fn may_hold(condition: &Predicate, is_there: &impl Fn(&str) -> bool) -> bool {
    match condition {
        Predicate::And(parts) => parts.iter().all(|part| may_hold(part, is_there)),
        Predicate::Or(parts) => parts.iter().any(|part| may_hold(part, is_there)),
        Predicate::Not(inner) => may_fail(inner, is_there),
        Predicate::Test(operand, _) => is_there(&operand.name),
    }
}

fn may_fail(condition: &Predicate, is_there: &impl Fn(&str) -> bool) -> bool {
    match condition {
        Predicate::And(parts) => parts.iter().any(|part| may_fail(part, is_there)),
        Predicate::Or(parts) => parts.iter().all(|part| may_fail(part, is_there)),
        Predicate::Not(inner) => may_hold(inner, is_there),
        Predicate::Test(operand, _) => is_there(&operand.name),
    }
}
