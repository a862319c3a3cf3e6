//! Continuous queries as they are stored: their texts, the instances that have not ended, what they captured and what they
//! missed. What a query means is the caller's business.

use dunlin_core::Time;

use crate::{CeiId, Error, InstanceId, NewCei, NewSource, QueryId, ResultCursor, SourceId, VersionId};

/// The longest text of a query that is stored.
const MAX_TEXT_BYTES: usize = 64 << 10;

/// A query to be installed.
#[derive(Debug, Clone, PartialEq)]
pub struct NewQuery {
    /// What its owner calls it; no two queries have the same name.
    pub name: String,
    /// What it says.
    pub text: String,
    /// When it was installed.
    pub installed: Time,
    /// What each of its parts reads, in its own order.
    pub sources: Vec<QuerySource>,
}

impl NewQuery {
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.name.is_empty() || self.text.len() > MAX_TEXT_BYTES {
            let found = format!("{} bytes, called `{}`", self.text.len(), self.name);
            return Err(Error::BadValue {
                what: "query",
                found,
                expected: "a name, and a text of at most 64 KiB",
            });
        }
        self.sources.iter().try_for_each(|source| match source {
            QuerySource::Own(source) => source.check(),
            QuerySource::Watched(_) => Ok(()),
        })
    }
}

/// What a part of a query reads.
#[derive(Debug, Clone, PartialEq)]
pub enum QuerySource {
    /// A source that is there already.
    Watched(SourceId),
    /// A source for queries. Those that want the same share it, and it goes with the last of them.
    Own(Box<NewSource>),
}

/// An installed query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredQuery {
    /// Its number.
    pub id: QueryId,
    /// What its owner calls it.
    pub name: String,
    /// What it says.
    pub text: String,
    /// When it was installed, or last edited.
    pub installed: Time,
    /// Since when its owner has it paused.
    pub paused: Option<Time>,
    /// What each of its parts reads; a source that is gone keeps its number.
    pub sources: Vec<SourceId>,
    /// What it remembers of its captures, in an encoding that is the caller's business.
    pub memory: Vec<u8>,
    /// How many results it has had that are still stored.
    pub n_results: u64,
    /// How many instances it has missed that are still stored.
    pub n_missed: u64,
}

/// Which queries to list, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryFilter {
    /// Those after this one.
    pub after: Option<QueryId>,
    /// At most this many.
    pub limit: u32,
}

/// An instance of a query that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredInstance {
    /// Its number.
    pub id: InstanceId,
    /// Of which query.
    pub query: QueryId,
    /// The CEI of its intervals, once it has some.
    pub cei: Option<CeiId>,
    /// How far it is, in an encoding that is the caller's business.
    pub state: Vec<u8>,
}

/// What something means to an instance of a query. Steps of instances and of queries that are gone have no effect.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceStep {
    /// Which instance; one that is not there begins.
    pub instance: InstanceId,
    /// Of which query.
    pub query: QueryId,
    /// What becomes of it.
    pub next: InstanceNext,
    /// What its query remembers from now on; `None` leaves that as it is.
    pub memory: Option<Vec<u8>>,
}

impl InstanceStep {
    /// What it wants of its ledger from now on.
    pub const fn wants(&self) -> Option<&NewCei> {
        match &self.next {
            InstanceNext::Open { wants, .. } => wants.as_ref(),
            InstanceNext::Ended(_) => None,
        }
    }
}

/// What becomes of an instance.
#[derive(Debug, Clone, PartialEq)]
pub enum InstanceNext {
    /// It goes on.
    Open {
        /// How far it is.
        state: Vec<u8>,
        /// Intervals that it wants from now on, of which so many have to be captured: they extend its CEI if that is open, and
        /// begin one if not.
        wants: Option<NewCei>,
    },
    /// It has ended. What is open of its CEI is withdrawn.
    Ended(InstanceEnd),
}

/// How an instance ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InstanceEnd {
    /// With a result.
    Result(NewResult),
    /// With nothing new: another source tells what was told before.
    SeenAgain {
        /// The instance that told it.
        first: InstanceId,
        /// Where it was seen now.
        sighting: Sighting,
    },
    /// Without: something that it needs was missed.
    Missed(NewMiss),
    /// With nothing to tell.
    Silent,
}

/// What a query captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewResult {
    /// When its last part was captured.
    pub at: Time,
    /// Its parts, in the order of the query.
    pub parts: Vec<NewPart>,
    /// By what it is known again if another source tells it, in an encoding that is the caller's business.
    pub story: Option<Vec<u8>>,
}

/// Another source that tells what a result told before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// Where.
    pub source: SourceId,
    /// When it was first seen there.
    pub at: Time,
    /// The version that holds it, if that is known; `None` for the newest one of its source.
    pub version: Option<VersionId>,
    /// What it is called there.
    pub title: String,
    /// Where it links to.
    pub link: Option<String>,
}

/// A result that is known again by its story.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldStory {
    /// The instance that told it.
    pub instance: InstanceId,
    /// By what it is known again.
    pub story: Vec<u8>,
}

/// A part of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPart {
    /// What the query calls it.
    pub name: String,
    /// Where it is from.
    pub source: SourceId,
    /// When it was captured.
    pub at: Time,
    /// The version that holds it, if that is known; `None` for the newest one of its source.
    pub version: Option<VersionId>,
    /// What was captured, as a JSON text.
    pub items: String,
}

/// An instance that was missed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMiss {
    /// When it began.
    pub began: Time,
    /// When it could no longer be captured.
    pub at: Time,
    /// Which intervals were missed and why, as a JSON text.
    pub parts: String,
}

/// A stored result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredResult {
    /// Its position among all results.
    pub cursor: ResultCursor,
    /// Of which query.
    pub query: QueryId,
    /// What was captured.
    pub result: NewResult,
    /// Where else it was seen afterwards, in the order of time.
    pub also_at: Vec<Sighting>,
}

/// A stored miss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredMiss {
    /// Its position among all misses.
    pub cursor: ResultCursor,
    /// Of which query.
    pub query: QueryId,
    /// What was missed.
    pub miss: NewMiss,
}

/// Which results, or misses, to list, in the order of their cursors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultFilter {
    /// Those after this position.
    pub after: ResultCursor,
    /// Only those of this query.
    pub query: Option<QueryId>,
    /// At most this many.
    pub limit: u32,
}

/// What a query was given when it was installed or edited, and which sources went because no query needs them any more.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QuerySources {
    /// What each of its parts reads.
    pub sources: Vec<SourceId>,
    /// Those of them that are new.
    pub added: Vec<SourceId>,
    /// Sources for queries that were removed.
    pub removed: Vec<SourceId>,
}
