//! Everything that went into a watch and what came out, as entries that can be stored, and the way back: a new watch
//! fed with the same entries has to choose the same sources.
//!
//! Invariant: [`Journaled`] is the only way to drive a watch that is recorded, so nothing can be left out.

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use serde::{Deserialize, Serialize};

use super::{Choice, Input, Settings, Watch};

/// One thing that happened to a watch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Entry {
    /// A watch began, of nothing.
    Began(Settings),
    /// Something came in.
    Told {
        /// When.
        at: Time,
        /// What.
        input: Input,
    },
    /// It was asked this often, at equal steps, and chose nothing.
    Quiet {
        /// The first time.
        first: Time,
        /// From one time to the next.
        step: Duration,
        /// How often.
        count: u32,
        /// How many could have been chosen each time.
        room: u32,
    },
    /// It was asked, and chose these.
    Chose {
        /// When.
        at: Time,
        /// How many could have been chosen.
        room: u32,
        /// Which ones were, in order.
        sources: Vec<SourceIdx>,
    },
}

/// Entries that there is room for at once, after many more were written down.
const KEPT_ROOM: usize = 4096;

/// A watch that writes down all that happens to it.
#[derive(Debug)]
pub struct Journaled {
    watch: Watch,
    entries: Vec<Entry>,
}

impl Journaled {
    /// Watches nothing yet.
    pub fn new(settings: Settings) -> Self {
        Self { entries: vec![Entry::Began(settings.clone())], watch: Watch::new(settings) }
    }

    /// As [`Watch::apply`].
    pub fn apply(&mut self, now: Time, input: Input) {
        self.entries.push(Entry::Told { at: now, input: input.clone() });
        self.watch.apply(now, input);
    }

    /// As [`Watch::choose`].
    pub fn choose(&mut self, now: Time, room: u32, chosen: &mut Vec<Choice>) {
        let already = chosen.len();
        self.watch.choose(now, room as usize, chosen);
        let sources: Vec<SourceIdx> = chosen[already..].iter().map(|choice| choice.source).collect();
        if sources.is_empty() {
            self.note_quiet(now, room);
        } else {
            self.entries.push(Entry::Chose { at: now, room, sources });
        }
    }

    /// Times of quiet at equal steps are one entry, however long nothing happens.
    fn note_quiet(&mut self, now: Time, asked_room: u32) {
        if let Some(Entry::Quiet { first, step, count, room }) = self.entries.last_mut()
            && *room == asked_room
            // A clock that was set back begins a new entry: steps go forward.
            && now >= *first
        {
            if *count == 1 {
                (*step, *count) = (now.since(*first), 2);
                return;
            }
            if *count < u32::MAX && nth(*first, *step, *count) == now {
                *count += 1;
                return;
            }
        }
        self.entries.push(Entry::Quiet { first: now, step: Duration::ZERO, count: 1, room: asked_room });
    }

    /// The watch, to ask it things.
    pub const fn watch(&self) -> &Watch {
        &self.watch
    }

    /// What has happened since entries were last cleared.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Gives the entries away, and makes some room for as many again.
    pub fn take_entries(&mut self) -> Vec<Entry> {
        let room = Vec::with_capacity(self.entries.len().min(KEPT_ROOM));
        std::mem::replace(&mut self.entries, room)
    }
}

/// What came of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Replayed {
    /// How often a watch began.
    pub starts: u64,
    /// How many looks were chosen, all as recorded.
    pub looks: u64,
    /// How many recorded looks were passed over, because the beginning of their run is missing.
    pub passed_over: u64,
}

/// Where a replay chose something else than was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("after {looks} looks as recorded, the replay chose {chosen:?} where the record has {recorded:?}")]
pub struct Diverged {
    /// Looks up to there.
    pub looks: u64,
    /// When.
    pub at: Time,
    /// What the record has.
    pub recorded: Vec<SourceIdx>,
    /// What the replay chose.
    pub chosen: Vec<SourceIdx>,
}

/// Feeds entries to new watches, one for each beginning. What comes before the first beginning is passed over: its
/// beginning was removed with old entries.
pub fn replay(entries: impl IntoIterator<Item = Entry>) -> Result<Replayed, Diverged> {
    let mut done = Replayed::default();
    let mut watch: Option<Watch> = None;
    for entry in entries {
        match (&mut watch, entry) {
            (_, Entry::Began(settings)) => {
                watch = Some(Watch::new(settings));
                done.starts += 1;
            }
            (None, Entry::Chose { sources, .. }) => done.passed_over += sources.len() as u64,
            (None, _) => {}
            (Some(watch), Entry::Told { at, input }) => watch.apply(at, input),
            (Some(watch), Entry::Quiet { first, step, count, room }) => {
                for times in 0..count {
                    compare(watch, nth(first, step, times), room, Vec::new(), &mut done)?;
                }
            }
            (Some(watch), Entry::Chose { at, room, sources }) => {
                compare(watch, at, room, sources, &mut done)?;
            }
        }
    }
    Ok(done)
}

/// The time that many steps after the first.
fn nth(first: Time, step: Duration, times: u32) -> Time {
    first.plus(step.saturating_mul(times))
}

fn compare(
    watch: &mut Watch,
    at: Time,
    room: u32,
    recorded: Vec<SourceIdx>,
    done: &mut Replayed,
) -> Result<(), Diverged> {
    let mut choices = Vec::new();
    watch.choose(at, room as usize, &mut choices);
    let chosen: Vec<SourceIdx> = choices.iter().map(|choice| choice.source).collect();
    if chosen != recorded {
        return Err(Diverged { looks: done.looks, at, recorded, chosen });
    }
    done.looks += chosen.len() as u64;
    Ok(())
}
