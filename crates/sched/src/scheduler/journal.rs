//! Everything that went into a scheduler and what came out, as entries that can be stored, and the way back: a new scheduler
//! fed with the same entries has to choose the same resources.
//!
//! Invariant: [`JournaledScheduler`] is the only way to drive a scheduler that is recorded, so nothing can be left out.

use std::time::Duration;

use dunlin_core::{ResourceIdx, Time};
use serde::{Deserialize, Serialize};

use super::{CeiEvent, Choice, Input, Scheduler, Settings};

/// One thing that happened to a scheduler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum JournalEntry {
    /// A scheduler started, without resources.
    #[serde(rename = "Began")]
    Started(Settings),
    /// Something came in.
    #[serde(rename = "Told")]
    Input {
        /// When.
        at: Time,
        /// What.
        input: Input,
    },
    /// It was asked this often, at equal steps, and chose nothing.
    #[serde(rename = "Quiet")]
    ChoseNothing {
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
        resources: Vec<ResourceIdx>,
    },
}

/// Entries that there is room for at once, after many more were written down.
const KEPT_ROOM: usize = 4096;

/// A scheduler that writes down all that happens to it.
#[derive(Debug)]
pub struct JournaledScheduler {
    scheduler: Scheduler,
    entries: Vec<JournalEntry>,
}

impl JournaledScheduler {
    /// Watches nothing yet.
    pub fn new(settings: Settings) -> Self {
        Self { entries: vec![JournalEntry::Started(settings.clone())], scheduler: Scheduler::new(settings) }
    }

    /// As [`Scheduler::apply`].
    pub fn apply(&mut self, now: Time, input: Input) {
        self.entries.push(JournalEntry::Input { at: now, input: input.clone() });
        self.scheduler.apply(now, input);
    }

    /// As [`Scheduler::choose`].
    pub fn choose(&mut self, now: Time, room: u32, chosen: &mut Vec<Choice>) {
        let already = chosen.len();
        self.scheduler.choose(now, room as usize, chosen);
        let resources: Vec<ResourceIdx> = chosen[already..].iter().map(|choice| choice.resource).collect();
        if resources.is_empty() {
            self.note_quiet(now, room);
        } else {
            self.entries.push(JournalEntry::Chose { at: now, room, resources });
        }
    }

    /// Times of quiet at equal steps are one entry, however long nothing happens.
    fn note_quiet(&mut self, now: Time, asked_room: u32) {
        if let Some(JournalEntry::ChoseNothing { first, step, count, room }) = self.entries.last_mut()
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
        self.entries.push(JournalEntry::ChoseNothing {
            first: now,
            step: Duration::ZERO,
            count: 1,
            room: asked_room,
        });
    }

    /// As [`Scheduler::take_cei_events`]. Taking them changes no choice.
    pub fn take_cei_events(&mut self) -> Vec<CeiEvent> {
        self.scheduler.take_cei_events()
    }

    /// The scheduler, to ask it things.
    pub const fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// What has happened since entries were last cleared.
    pub fn entries(&self) -> &[JournalEntry] {
        &self.entries
    }

    /// Takes the entries out, and reserves some space for as many again.
    pub fn take_entries(&mut self) -> Vec<JournalEntry> {
        let room = Vec::with_capacity(self.entries.len().min(KEPT_ROOM));
        std::mem::replace(&mut self.entries, room)
    }
}

/// What came of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Replayed {
    /// How often a scheduler started.
    pub starts: u64,
    /// How many probes were chosen, all as recorded.
    pub probes: u64,
    /// How many recorded probes were passed over, because the beginning of their run is missing.
    pub passed_over: u64,
}

/// Where a replay chose something else than was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("after {probes} probes as recorded, the replay chose {chosen:?} where the record has {recorded:?}")]
pub struct Diverged {
    /// Probes up to there.
    pub probes: u64,
    /// When.
    pub at: Time,
    /// What the record has.
    pub recorded: Vec<ResourceIdx>,
    /// What the replay chose.
    pub chosen: Vec<ResourceIdx>,
}

/// Feeds entries to new schedulers, one for each beginning. What comes before the first beginning is passed over: its
/// beginning was removed with old entries.
pub fn replay(entries: impl IntoIterator<Item = JournalEntry>) -> Result<Replayed, Diverged> {
    let mut done = Replayed::default();
    let mut scheduler: Option<Scheduler> = None;
    for entry in entries {
        match (&mut scheduler, entry) {
            (_, JournalEntry::Started(settings)) => {
                scheduler = Some(Scheduler::new(settings));
                done.starts += 1;
            }
            (None, JournalEntry::Chose { resources, .. }) => done.passed_over += resources.len() as u64,
            (None, _) => {}
            (Some(scheduler), JournalEntry::Input { at, input }) => scheduler.apply(at, input),
            (Some(scheduler), JournalEntry::ChoseNothing { first, step, count, room }) => {
                for times in 0..count {
                    compare(scheduler, nth(first, step, times), room, Vec::new(), &mut done)?;
                }
            }
            (Some(scheduler), JournalEntry::Chose { at, room, resources }) => {
                compare(scheduler, at, room, resources, &mut done)?;
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
    scheduler: &mut Scheduler,
    at: Time,
    room: u32,
    recorded: Vec<ResourceIdx>,
    done: &mut Replayed,
) -> Result<(), Diverged> {
    let mut choices = Vec::new();
    scheduler.choose(at, room as usize, &mut choices);
    let chosen: Vec<ResourceIdx> = choices.iter().map(|choice| choice.resource).collect();
    if chosen != recorded {
        return Err(Diverged { probes: done.probes, at, recorded, chosen });
    }
    done.probes += chosen.len() as u64;
    Ok(())
}
