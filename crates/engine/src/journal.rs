//! The decision journal: one row per probe with the reason for it, and batches of all inputs of the scheduler, so that a run
//! can be replayed. Only this module knows which rows are which.

use dunlin_core::Time;
use dunlin_sched::scheduler::journal::JournalEntry;
use dunlin_sched::scheduler::{Choice, Input, Reason};
use dunlin_store::{Decision, DecisionId, DecisionQuery, NewDecision, ProbeId, SourceId, Store};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The reason of rows that hold a batch of entries.
const ENTRIES: &str = "entries";
/// The first byte of a batch: the form of what follows.
const FORM: u8 = 4;
/// The forms of releases whose scheduler decided by other rules. This one cannot repeat their decisions.
const EARLIER_FORMS: [u8; 3] = [1, 2, 3];
/// Entries in one row; a row is read as a whole.
const BATCH: usize = 256;
/// Rows read at a time.
const PAGE: u32 = 500;

/// Why a probe was made, as it is stored with its row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProbeFigures {
    /// Which probe.
    pub probe: ProbeId,
    /// What the probe was worth.
    pub value: f64,
    /// What it had to be worth.
    pub price: f64,
}

impl ProbeFigures {
    /// Reads the figures of a row about a source.
    pub fn read(decision: &NewDecision) -> Option<Self> {
        decision.source?;
        let Ok(figures) = <[u8; 16]>::try_from(decision.figures.as_slice()) else {
            // Earlier releases wrote more bytes than that.
            return postcard::from_bytes(&decision.figures).ok();
        };
        let [probe, worths] = *figures.as_chunks::<8>().0.as_array()?;
        let [value, price] = *worths.as_chunks::<4>().0.as_array()?;
        Some(Self {
            probe: ProbeId(u64::from_le_bytes(probe)),
            value: f32::from_le_bytes(value).into(),
            price: f32::from_le_bytes(price).into(),
        })
    }

    /// The same number of bytes for each, so that the store finds what they have in common. Seven digits of a
    /// probe's value are enough for people; a replay computes it again.
    fn write(self) -> Vec<u8> {
        let Self { probe, value, price } = self;
        let worths = [value as f32, price as f32].map(f32::to_le_bytes);
        [probe.0.to_le_bytes().as_slice(), worths.as_flattened()].concat()
    }
}

/// The value of a probe, if it was computed: a source that was never seen has an infinite one.
pub fn finite_value(value: f64) -> Option<f64> {
    Some(value).filter(|value| *value < f64::MAX)
}

/// A reason in a word, as journal rows have it.
pub const fn reason_word(reason: Reason) -> &'static str {
    match reason {
        Reason::Worth => "worth",
        Reason::Spare => "spare",
        Reason::New => "new",
        Reason::Overdue => "overdue",
        Reason::Requested => "requested",
        Reason::Planned => "planned",
        Reason::Interval => "interval",
    }
}

/// The row of one probe.
pub(crate) fn row_of(at: Time, source: SourceId, probe: ProbeId, choice: &Choice) -> NewDecision {
    let figures = ProbeFigures { probe, value: choice.value, price: choice.price };
    NewDecision {
        at,
        source: Some(source),
        reason: reason_word(choice.reason).into(),
        figures: figures.write(),
    }
}

/// The rows of a batch of entries.
pub(crate) fn rows_of(at: Time, mut entries: Vec<JournalEntry>) -> Vec<NewDecision> {
    let row = |batch: &mut [JournalEntry]| {
        let mut before = Time::from_micros(0);
        for (when, derived) in batch.iter_mut().filter_map(times) {
            let this = *when;
            *when = moved(this, before, i64::wrapping_sub);
            if let Some(derived) = derived {
                *derived = moved(*derived, this, i64::wrapping_sub);
            }
            before = this;
        }
        let figures = postcard::to_extend(batch, vec![FORM]).ok()?;
        Some(NewDecision { at, source: None, reason: ENTRIES.into(), figures })
    };
    entries.chunks_mut(BATCH).filter_map(row).collect()
}

/// Turns differences of times back into times.
fn whole_times(entries: &mut [JournalEntry]) {
    let mut before = Time::from_micros(0);
    for (when, derived) in entries.iter_mut().filter_map(times) {
        *when = moved(*when, before, i64::wrapping_add);
        if let Some(derived) = derived {
            *derived = moved(*derived, *when, i64::wrapping_add);
        }
        before = *when;
    }
}

/// The time of an entry, and a time derived from it, for the entries of every probe.
const fn times(entry: &mut JournalEntry) -> Option<(&mut Time, Option<&mut Time>)> {
    match entry {
        JournalEntry::Started(_) => None,
        JournalEntry::Input { at, input: Input::HostHeld { until, .. } } => Some((at, Some(until))),
        JournalEntry::Input { at, input: Input::ProbeFailed { not_before, .. } } => {
            Some((at, Some(not_before)))
        }
        JournalEntry::Input { at, .. }
        | JournalEntry::ChoseNothing { first: at, .. }
        | JournalEntry::Chose { at, .. } => Some((at, None)),
    }
}

fn moved(time: Time, by: Time, operation: impl Fn(i64, i64) -> i64) -> Time {
    Time::from_micros(operation(time.micros(), by.micros()))
}

/// Reads the inputs of decisions from `since` on, in order, for
/// [`replay`](dunlin_sched::scheduler::journal::replay). What comes before the first start after `since` cannot be replayed
/// and is passed over there.
pub fn read(store: &dyn Store, since: Option<Time>) -> impl Iterator<Item = Result<JournalEntry, Error>> {
    Rows { store, since, after: None, page: Vec::new().into_iter(), is_over: false }.flat_map(|row| match row
    {
        Ok(row) => unpack(&row),
        Err(error) => vec![Err(error)],
    })
}

fn unpack(row: &Decision) -> Vec<Result<JournalEntry, Error>> {
    if row.decision.source.is_some() || row.decision.reason != ENTRIES {
        return Vec::new();
    }
    let wrong = |reason: String| vec![Err(Error::Journal { row: row.id.0, reason })];
    match row.decision.figures.split_first() {
        // As what comes before the first start of a scheduler.
        Some((form, _)) if EARLIER_FORMS.contains(form) => Vec::new(),
        Some((&FORM, rest)) => match postcard::from_bytes::<Vec<JournalEntry>>(rest) {
            Ok(mut entries) => {
                whole_times(&mut entries);
                entries.into_iter().map(Ok).collect()
            }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dunlin_core::ResourceIdx;
    use dunlin_sched::model::Evidence;
    use dunlin_sched::scheduler::{HostIdx, Shown};

    use super::*;

    #[test]
    fn entries_come_back_as_they_were_and_those_of_earlier_releases_are_passed_over() {
        let at = |seconds: i64| Time::from_seconds(1_700_000_000 + seconds);
        let input_at = |seconds, input| JournalEntry::Input { at: at(seconds), input };
        let entries = vec![
            input_at(1, Input::ProbeRequested { resource: ResourceIdx(1) }),
            JournalEntry::Chose { at: at(2), room: 3, resources: vec![ResourceIdx(1)] },
            input_at(3, Input::HostHeld { host: HostIdx(1), until: at(5) }),
            // Behind the one before, by a clock that was set back.
            input_at(-100, Input::ProbeFailed { resource: ResourceIdx(1), not_before: at(900) }),
            JournalEntry::ChoseNothing { first: at(4), step: Duration::from_secs(1), count: 9, room: 3 },
            input_at(5, Input::HostHeld { host: HostIdx(1), until: Time::from_micros(i64::MAX) }),
        ];
        let read = |row: NewDecision| -> Vec<JournalEntry> {
            unpack(&Decision { id: DecisionId(1), decision: row }).into_iter().map(Result::unwrap).collect()
        };
        let mut new = rows_of(at(9), entries.clone());
        assert_eq!(read(new.remove(0)), entries);
        for form in EARLIER_FORMS {
            let figures = [&[form], &b"what an earlier release wrote"[..]].concat();
            let old = NewDecision { at: at(9), source: None, reason: ENTRIES.into(), figures };
            assert_eq!(read(old), [], "form {form} is passed over, and is no error");
        }
    }

    #[test]
    fn rows_of_other_kinds_are_no_entries() {
        let row = |source, reason: &'static str, figures: &[u8]| Decision {
            id: DecisionId(1),
            decision: NewDecision {
                at: Time::from_seconds(1),
                source,
                reason: reason.into(),
                figures: figures.to_vec(),
            },
        };
        assert!(unpack(&row(Some(SourceId(1)), ENTRIES, b"?")).is_empty(), "a probe's row");
        assert!(unpack(&row(None, "started", b"?")).is_empty());
        for unknown in [&b"\xff of a later release"[..], b"", &[FORM, 0xff]] {
            assert!(unpack(&row(None, ENTRIES, unknown)).iter().all(Result::is_err), "{unknown:?}");
        }
        let words = [
            Reason::Worth,
            Reason::Spare,
            Reason::New,
            Reason::Overdue,
            Reason::Requested,
            Reason::Planned,
            Reason::Interval,
        ];
        assert_eq!(
            words.map(reason_word),
            ["worth", "spare", "new", "overdue", "requested", "planned", "interval"]
        );
    }

    /// As control writes it when a thousand sources on a hundred hosts are probed, a hundred in a second.
    #[test]
    fn a_probe_takes_few_bytes_of_the_journal() {
        let directory = tempfile::tempdir().unwrap();
        let store = dunlin_store::SqliteStore::open(directory.path()).unwrap();
        let (mut entries, mut rows) = (Vec::new(), Vec::new());
        let scattered = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        for number in 0..2000_u64 {
            let source = scattered(number) % 1000;
            let micros = 1_700_000_000_000_000 + number * 10_000 + scattered(number) % 5000;
            let at = Time::from_micros(micros.cast_signed());
            let choice = Choice {
                resource: ResourceIdx(source as u32),
                reason: Reason::Worth,
                value: 1.0 + scattered(number) as f64 * 1e-9,
                price: 0.75,
            };
            rows.push(row_of(at, SourceId(source.cast_signed() + 1), ProbeId((7 << 60) + number), &choice));
            let (resource, host) = (choice.resource, HostIdx(choice.resource.0 % 100));
            entries.push(JournalEntry::Chose { at, room: 64, resources: vec![resource] });
            let answered = at.plus(Duration::from_micros(80_000 + scattered(number + 1) % 40_000));
            let until = answered.plus(Duration::from_secs(2));
            entries.push(JournalEntry::Input { at: answered, input: Input::HostHeld { host, until } });
            let evidence = Evidence::Unchanged;
            entries.push(JournalEntry::Input {
                at: answered,
                input: Input::Probed { resource, shown: Shown::All(evidence) },
            });
        }
        rows.extend(rows_of(Time::from_seconds(1_700_000_020), entries));
        store.append_decisions(&rows).unwrap();
        let n_bytes = store.statistics().unwrap().decision_bytes / 2000;
        assert!(n_bytes <= 45, "{n_bytes} bytes for each");
        assert_eq!(read(&store, None).count(), 6000);
    }

    #[test]
    fn figures_come_back_to_seven_digits_whichever_release_wrote_them() {
        let row = |figures| NewDecision {
            at: Time::from_seconds(1),
            source: Some(SourceId(1)),
            reason: "worth".into(),
            figures,
        };
        let written = ProbeFigures { probe: ProbeId(u64::MAX - 1), value: 0.125, price: 1.0 / 3.0 };
        let new = ProbeFigures::read(&row(written.write())).unwrap();
        assert_eq!((new.probe, new.value), (written.probe, written.value));
        assert!((new.price - written.price).abs() < 1e-7 * written.price);
        let unknown = ProbeFigures { value: f64::MAX, ..written };
        assert_eq!(finite_value(ProbeFigures::read(&row(unknown.write())).unwrap().value), None);
        for probe in [ProbeId(1), written.probe] {
            let old = ProbeFigures { probe, ..written };
            assert_eq!(ProbeFigures::read(&row(postcard::to_allocvec(&old).unwrap())), Some(old));
        }
    }
}
