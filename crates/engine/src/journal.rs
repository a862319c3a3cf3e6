//! The decision journal: one row per probe with the reason for it, and batches of everything that swayed the watch, so
//! that a run can be replayed. Which rows are which is known here only.

use dunlin_core::Time;
use dunlin_sched::watch::journal::Entry;
use dunlin_sched::watch::{Choice, Reason};
use dunlin_store::{Decision, DecisionId, DecisionQuery, NewDecision, ProbeId, SourceId, Store};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The reason of rows that hold a batch of entries.
const ENTRIES: &str = "entries";
/// The first byte of a batch: the form of what follows.
const FORM: u8 = 1;
/// The most bytes that the figures of a probe take.
const MOST_FIGURES: usize = 26;
/// Entries in one row; a row is read as a whole.
const BATCH: usize = 256;
/// Rows read at a time.
const PAGE: u32 = 500;

/// Why a probe was made, as it is stored with its row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProbeFigures {
    /// Which probe.
    pub probe: ProbeId,
    /// What the look was worth.
    pub value: f64,
    /// What it had to be worth.
    pub price: f64,
}

impl ProbeFigures {
    /// Reads the figures of a row about a source.
    pub fn read(decision: &NewDecision) -> Option<Self> {
        decision.source?;
        postcard::from_bytes(&decision.figures).ok()
    }
}

/// What a look is worth, if that was reckoned: a source that was never seen has its turn whatever others are worth.
pub fn reckoned(value: f64) -> Option<f64> {
    Some(value).filter(|value| *value < f64::MAX)
}

/// A reason in a word, as journal rows have it.
pub const fn reason_word(reason: Reason) -> &'static str {
    match reason {
        Reason::Worth => "worth",
        Reason::Spare => "spare",
        Reason::New => "new",
        Reason::Overdue => "overdue",
        Reason::Wanted => "wanted",
        Reason::Planned => "planned",
    }
}

/// The row of one probe.
pub(crate) fn row_of(at: Time, source: SourceId, probe: ProbeId, choice: &Choice) -> NewDecision {
    let figures = ProbeFigures { probe, value: choice.value, price: choice.price };
    NewDecision {
        at,
        source: Some(source),
        reason: reason_word(choice.reason).into(),
        figures: postcard::to_extend(&figures, Vec::with_capacity(MOST_FIGURES)).unwrap_or_default(),
    }
}

/// The rows of a batch of entries.
pub(crate) fn rows_of(at: Time, entries: &[Entry]) -> Vec<NewDecision> {
    let row = |batch: &[Entry]| {
        let figures = postcard::to_extend(batch, vec![FORM]).ok()?;
        Some(NewDecision { at, source: None, reason: ENTRIES.into(), figures })
    };
    entries.chunks(BATCH).filter_map(row).collect()
}

/// Reads what swayed decisions from `since` on, in order, to be given to
/// [`replay`](dunlin_sched::watch::journal::replay). What comes before the first start after `since` cannot be replayed
/// and is passed over there.
pub fn read(store: &dyn Store, since: Option<Time>) -> impl Iterator<Item = Result<Entry, Error>> {
    Rows { store, since, after: None, page: Vec::new().into_iter(), is_over: false }.flat_map(|row| match row
    {
        Ok(row) => unpack(&row),
        Err(error) => vec![Err(error)],
    })
}

fn unpack(row: &Decision) -> Vec<Result<Entry, Error>> {
    if row.decision.source.is_some() || row.decision.reason != ENTRIES {
        return Vec::new();
    }
    let wrong = |reason: String| vec![Err(Error::Journal { row: row.id.0, reason })];
    match row.decision.figures.split_first() {
        Some((&FORM, rest)) => match postcard::from_bytes::<Vec<Entry>>(rest) {
            Ok(entries) => entries.into_iter().map(Ok).collect(),
            Err(error) => wrong(error.to_string()),
        },
        _ => wrong("its form is not known".to_owned()),
    }
}

struct Rows<'s> {
    store: &'s dyn Store,
    since: Option<Time>,
    after: Option<DecisionId>,
    page: std::vec::IntoIter<Decision>,
    is_over: bool,
}

impl Iterator for Rows<'_> {
    type Item = Result<Decision, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(row) = self.page.next() {
            return Some(Ok(row));
        }
        if self.is_over {
            return None;
        }
        let query = DecisionQuery { after: self.after, since: self.since, ..DecisionQuery::first(PAGE) };
        match self.store.decisions(&query) {
            Ok(page) => {
                self.is_over = page.is_empty();
                self.after = page.last().map(|row| row.id).or(self.after);
                self.page = page.into_iter();
                self.page.next().map(Ok)
            }
            Err(error) => {
                self.is_over = true;
                Some(Err(error.into()))
            }
        }
    }
}
