//! The result of one probe, as one value that is stored as a whole or not at all.

use dunlin_core::Time;

use crate::{
    CapturedInterval, Cursor, Error, Fault, FoundAs, InstanceStep, ObservationId, ProbeId, ResultCursor,
    SourceId, SourceState, VersionId,
};

/// The largest content of one version. Larger pages are cut or refused before they come here; the limit keeps a
/// delta's window and a row within what every reader can hold.
pub const MAX_CONTENT_BYTES: usize = 64 << 20;

/// Everything that one probe of one source gives to keep. Recording it is one transaction: afterwards all of it is
/// there, or nothing. Recording it again under the same probe changes nothing and gives the first answer;
/// an unchanged capture may no longer be recognised after a few hundred others.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// The source probed.
    pub source: SourceId,
    /// Which probe it was.
    pub probe: ProbeId,
    /// When the answer was complete.
    pub at: Time,
    /// How the probe went.
    pub outcome: Outcome,
    /// What was read; `None` when there is nothing new to keep. Content equal to that of the newest version makes
    /// no new version.
    pub version: Option<NewVersion>,
    /// With a new version, at most this many of the source stay, the newest; `None` keeps all.
    pub keep_versions: Option<u32>,
    /// All items now on the source, in its order; `None` leaves the stored ones as they are.
    pub items: Option<Vec<NewItem>>,
    /// What changed, in the order in which to report it.
    pub changes: Vec<NewChange>,
    /// The messages to send.
    pub messages: Vec<NewMessage>,
    /// What to remember about the source for the next probe (learned noise), by name.
    pub notes: Vec<Note>,
    /// What the fetch leaves for the next one of the same resource (validators), in an encoding that is the caller's
    /// business; `None` leaves what is stored.
    pub fetch_state: Option<Vec<u8>>,
    /// What the source says now, for the index of texts: words in lower case with spaces between them. `None` leaves what is there.
    pub text: Option<String>,
    /// The intervals of open CEIs that it captures.
    pub intervals: Vec<CapturedInterval>,
    /// What it means to instances of queries.
    pub steps: Vec<InstanceStep>,
    /// What to remember about hosts, by scope.
    pub politeness: Vec<Politeness>,
    /// What the source was found to be; `None` leaves what was found before.
    pub found: Option<FoundAs>,
    /// The new health of the source; `None` leaves its state.
    pub state: Option<SourceState>,
}

impl Capture {
    /// A capture with only an outcome.
    pub const fn bare(source: SourceId, probe: ProbeId, at: Time, outcome: Outcome) -> Self {
        Self {
            source,
            probe,
            at,
            outcome,
            version: None,
            keep_versions: None,
            items: None,
            changes: Vec::new(),
            messages: Vec::new(),
            notes: Vec::new(),
            fetch_state: None,
            text: None,
            intervals: Vec::new(),
            steps: Vec::new(),
            politeness: Vec::new(),
            found: None,
            state: None,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        let size = self.version.as_ref().map_or(0, |version| version.content.len());
        if size > MAX_CONTENT_BYTES {
            return Err(Error::BadValue {
                what: "content",
                found: format!("{size} bytes"),
                expected: "at most 64 MiB",
            });
        }
        for message in &self.messages {
            if message.change.is_some_and(|index| index >= self.changes.len()) {
                return Err(Error::BadValue {
                    what: "message",
                    found: format!("about a change the capture does not have, key {}", message.key),
                    expected: "the index of one of the capture's changes",
                });
            }
        }
        Ok(())
    }
}

/// How a probe went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was read, and something was new.
    Changed,
    /// It was read, and nothing was new.
    Unchanged,
    /// It was not read.
    Failed {
        /// By whose fault.
        fault: Fault,
        /// Why, for people.
        reason: String,
    },
}

/// Content to keep as a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVersion {
    /// The bytes to keep, at most [`MAX_CONTENT_BYTES`].
    pub content: Vec<u8>,
    /// What they are, as `text/html; charset=utf-8`; empty when unknown.
    pub media_type: String,
}

/// An item now on the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewItem {
    /// What makes it this item and no other of the source. Of several with one key, the first is kept.
    pub key: String,
    /// What it says, in an encoding that is the caller's business.
    pub body: Vec<u8>,
}

/// A change found by this probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChange {
    /// What happened: `added`, `edited`, `removed`, …, in the caller's terms.
    pub kind: String,
    /// The item it happened to; `None` for the source as a whole.
    pub item: Option<String>,
    /// In one line, for people.
    pub summary: String,
    /// More about it, in an encoding that is the caller's business; may be empty.
    pub detail: Vec<u8>,
    /// It had not happened yet then; `None` when the source was never seen before.
    pub happened_after: Option<Time>,
    /// It had happened by then.
    pub happened_before: Time,
}

/// A message to be delivered until someone acknowledges it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMessage {
    /// Sent along with every attempt, so that the receiver can recognise a repetition. A key that already waits is not
    /// queued a second time.
    pub key: String,
    /// The destination, in the deliverer's notation.
    pub destination: String,
    /// The change it is about, by its index in the capture.
    pub change: Option<usize>,
    /// What to send, in an encoding that is the caller's business.
    pub payload: Vec<u8>,
    /// Not before this time.
    pub due: Time,
}

/// Something remembered about one source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// What it is.
    pub name: String,
    /// In an encoding that is the caller's business.
    pub value: Vec<u8>,
}

/// What a good citizen remembers about one host, address or domain: until when to wait, how often it was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Politeness {
    /// The scope it is about.
    pub scope: String,
    /// In an encoding that is the caller's business.
    pub state: Vec<u8>,
}

/// What came of recording a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its number among the observations.
    pub observation: ObservationId,
    /// The version that holds the content now: a new one, or the newest one if its content was the same.
    pub version: Option<VersionId>,
    /// The positions of its changes, first and last; `None` when it had none.
    pub cursors: Option<(Cursor, Cursor)>,
    /// The position of the last result of a query that it completed.
    pub last_result: Option<ResultCursor>,
    /// Whether this call stored it, or an earlier one under the same probe had.
    pub repeated: Repeated,
}

/// Whether a capture had been recorded before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeated {
    /// No: it has been stored now.
    No,
    /// Yes: nothing was stored now.
    Yes,
}
