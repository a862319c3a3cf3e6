//! What PICK says, judged by the parsers that will read it: those of the engine. The language only knows that it is a text.

use dunlin_engine::queries::judge_pick;
use dunlin_query::{Claim, Query, Refused, parse_with};

/// Reads queries, with each PICK.
pub(super) fn parse(text: &str) -> Result<Vec<Query>, Refused> {
    parse_with(text, |claim| match claim {
        Claim::Pick { from, text } => judge_pick(from, text),
        _ => Ok(()),
    })
}
