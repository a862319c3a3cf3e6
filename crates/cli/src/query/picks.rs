//! What PICK and WATCH say, judged by what will read it: that of the engine. The language only knows that it is a text.

use dunlin_engine::queries::{judge_pick, judge_words};
use dunlin_query::{Claim, Query, Refused, parse_with};

/// Reads queries, with each PICK and WATCH.
pub(super) fn parse(text: &str) -> Result<Vec<Query>, Refused> {
    parse_with(text, |claim| match claim {
        Claim::Pick { from, text } => judge_pick(from, text),
        Claim::Watch(words) => judge_words(words),
        Claim::From(_) => Ok(()),
    })
}
