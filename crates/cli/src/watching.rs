//! The commands that work on what is watched: sources, their changes and versions, and why they are probed when.
//! Each is arguments in, a call of the backend, a table or JSON out.

pub(crate) mod add;
pub(crate) mod budget;
pub(crate) mod changes;
pub(crate) mod diff;
mod difference;
pub(crate) mod edit;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod journal;
pub(crate) mod show;
pub(crate) mod sources;
pub(crate) mod tail;
pub(crate) mod token;

use crate::backend::{Access, Backend, ReachArgs, find_source};
use crate::failure::Failure;

/// How many of the newest are listed by default.
const USUAL_LAST: u32 = 50;

/// What answers a command about one source or about all, and the number of the one that was named.
fn open(reach: &ReachArgs, source: Option<&str>) -> Result<(Box<dyn Backend>, Option<i64>), Failure> {
    let backend = reach.open(Access::Read)?;
    let source = source.map(|source| find_source(&*backend, source)).transpose()?;
    Ok((backend, source.map(|source| source.id)))
}

/// How many of the newest to list: as many as requested, or a few for people; programs, and users who say where to
/// begin, get the list in its order.
fn newest_only(last: Option<u32>, order: Order) -> Option<u32> {
    last.or((order == Order::NewestEnd).then_some(USUAL_LAST))
}

/// Which end of a list is wanted when no number of the newest is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    NewestEnd,
    FromBeginning,
}

impl Order {
    /// A user who gives one of `choices` wants the list from a position on.
    fn of(choices: &[bool]) -> Self {
        if choices.contains(&true) { Self::FromBeginning } else { Self::NewestEnd }
    }
}
