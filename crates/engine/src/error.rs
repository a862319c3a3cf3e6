//! What an engine refuses or fails at, and what to try. A failed probe is not in here: it is an observation.

use dunlin_core::Fault;
use dunlin_query::Refused;
use dunlin_store::{QueryId, SourceId};

/// Why the engine refused a request or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The URL of a source is no URL, or points where nothing is fetched from.
    #[error("url: {0}")]
    Url(#[source] dunlin_net::Error),
    /// A header that cannot be sent with a source.
    #[error("headers: {0}")]
    Header(#[source] dunlin_net::Error),
    /// An unknown kind.
    #[error("kind `{given}` is not known (expected page, feed, json, text or auto)")]
    Kind {
        /// What was given.
        given: String,
    },
    /// The recipe is not a JSON object of the known fields.
    #[error("recipe: {reason} (write it as {{\"recipe\": {{\"kind\": \"html_selector\", \"css\": \"…\"}}}})")]
    Recipe {
        /// What the reader met, and where.
        reason: String,
    },
    /// A selector, path or pattern of the recipe cannot be used.
    #[error("recipe: {0}")]
    Extraction(#[from] dunlin_extract::Error),
    /// Life or urgency are written wrongly.
    #[error("{0}")]
    Value(#[from] dunlin_sched::value::ParseError),
    /// An invalid number.
    #[error("{what} `{given}` cannot be used (expected {expected})")]
    Number {
        /// What it is for.
        what: &'static str,
        /// What was given.
        given: String,
        /// What would do.
        expected: &'static str,
    },
    /// A source that does not exist, or no longer.
    #[error("no source {0} (list the sources to see which there are)")]
    NoSuchSource(SourceId),
    /// A query whose text has errors.
    #[error("{0}")]
    Query(Box<Refused>),
    /// A query that ends before it begins.
    #[error("the query `{name}` is over since {end} (give another UNTIL)")]
    QueryOver {
        /// Its name.
        name: String,
        /// Its end.
        end: String,
    },
    /// A query that would add more sources than there may be.
    #[error(
        "the query `{name}` adds up to {wanted} sources, and there are {n_there} of the {most} that queries may have (remove queries)"
    )]
    TooManyQuerySources {
        /// Its name.
        name: String,
        /// The sources that it adds at the most.
        wanted: usize,
        /// Those that there are.
        n_there: usize,
        /// The most.
        most: usize,
    },
    /// A query that wants more probes than there are.
    #[error(
        "the query `{name}` wants {wanted:.4} probes per second by its own clock, and the budget is {most:.4} (read less often, or \
         raise the budget)"
    )]
    QueryTooFast {
        /// Its name.
        name: String,
        /// Probes per second that it wants.
        wanted: f64,
        /// The most that it can have.
        most: f64,
    },
    /// A source that a query names and that is gone.
    #[error("no source is called `{name}` any more (say it by its number)")]
    NoSuchName {
        /// Its name.
        name: String,
    },
    /// A query that does not exist, or no longer.
    #[error("no query {0} (list the queries to see which there are)")]
    NoSuchQuery(QueryId),
    /// A probe of a paused source was requested.
    #[error("source {0} is paused (resume it first)")]
    Paused(SourceId),
    /// The client cannot be set up.
    #[error("cannot set up fetching: {0}")]
    Network(#[source] dunlin_net::Error),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] dunlin_store::Error),
    /// The engine is stopping or has stopped.
    #[error("the engine has stopped (start it again)")]
    Stopped,
    /// The engine had to stop while the store took nothing.
    #[error(
        "the store did not take the last captures and decisions, which are lost (make room or repair it, then start again)"
    )]
    Unwritten,
    /// A journal entry that cannot be read.
    #[error("decision {row} of the journal cannot be read: {reason} (it was written by another release)")]
    Journal {
        /// The number of the row.
        row: i64,
        /// What the reader met.
        reason: String,
    },
}

impl Error {
    /// Whose fault it is: the user's, whose request cannot be granted, or ours.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Url(_)
            | Self::Header(_)
            | Self::Kind { .. }
            | Self::Recipe { .. }
            | Self::Extraction(_)
            | Self::Value(_)
            | Self::Number { .. }
            | Self::NoSuchSource(_)
            | Self::Paused(_)
            | Self::Query(_)
            | Self::QueryOver { .. }
            | Self::TooManyQuerySources { .. }
            | Self::QueryTooFast { .. }
            | Self::NoSuchName { .. }
            | Self::NoSuchQuery(_) => Fault::User,
            Self::Network(error) => error.fault(),
            Self::Store(error) => error.fault(),
            Self::Stopped | Self::Unwritten | Self::Journal { .. } => Fault::Ours,
        }
    }
}
