//! Which sources are relevant to which WATCH, by what the index of texts says.

use dunlin_core::Time;
use dunlin_query::{IRRELEVANT, RELEVANT};
use dunlin_store::{SourceId, TextScope};

use super::{Index, WatchKey};
use crate::control::{Command, Control, Write};

impl Control {
    /// How relevant sources are to some words, as the index says.
    pub(in crate::control) fn texts_found(
        &mut self,
        now: Time,
        scope: TextScope,
        found: Vec<(WatchKey, Vec<(SourceId, f64)>)>,
        commands: &mut Vec<Command>,
    ) {
        for (key, scores) in found {
            match scope {
                TextScope::Source(source) => {
                    let found = scores.first().map_or(0.0, |(_, score)| *score);
                    self.set_relevance(key, source, found);
                }
                TextScope::Best(_) => {
                    let before = self.watches.running.get(&key).map(|running| running.relevant.clone());
                    let mut gone = before.unwrap_or_default();
                    for (source, score) in scores {
                        gone.remove(&source);
                        self.set_relevance(key, source, score);
                    }
                    gone.into_iter().for_each(|source| self.set_relevance(key, source, 0.0));
                    if let Some(running) = self.watches.running.get_mut(&key)
                        && !std::mem::replace(&mut running.is_found, true)
                    {
                        self.watches.estimated = None;
                    }
                }
            }
        }
        if matches!(scope, TextScope::Best(_)) {
            self.watches.is_finding = false;
            self.find_next(now, commands);
        }
    }

    fn set_relevance(&mut self, key: WatchKey, source: SourceId, score: f64) {
        let watches = &mut self.watches;
        let Some(running) = watches.running.get_mut(&key) else { return };
        let was_relevant = running.relevant.contains(&source);
        let is_relevant = score >= if was_relevant { IRRELEVANT } else { RELEVANT };
        if is_relevant && self.sources.find(source).is_some() {
            let demanded = watches.demanded.entry(source).or_default();
            let is_first = demanded.relevance.is_empty();
            demanded.relevance.insert(key, score);
            if running.relevant.insert(source) {
                running.n_joined += u64::from(running.is_found);
                if is_first {
                    watches.to_track.insert(source);
                }
            }
        } else if was_relevant {
            running.relevant.remove(&source);
            if let Some(demanded) = watches.demanded.get_mut(&source) {
                demanded.relevance.remove(&key);
            }
        } else {
            return;
        }
        watches.to_weigh.insert(source);
    }

    /// Asks how relevant a source is after its text has changed in the store.
    pub(in crate::control) fn rank_text(
        &self,
        source: SourceId,
        to_rank: &[WatchKey],
        commands: &mut Vec<Command>,
    ) {
        let words = to_rank.iter().filter_map(|key| Some((*key, self.watches.words(*key)?)));
        let watches: Vec<_> = words.collect();
        if self.watches.index == Index::Complete && !watches.is_empty() {
            let scope = TextScope::Source(source);
            commands.push(Command::Write(Write::FindTexts { scope, watches }));
        }
    }

    /// A source is gone, and with it what it was relevant to.
    pub(in crate::control) fn forget_relevance(&mut self, source: SourceId) {
        let watches = &mut self.watches;
        for key in watches.demanded.remove(&source).into_iter().flat_map(|own| own.relevance.into_keys()) {
            if let Some(running) = watches.running.get_mut(&key) {
                running.relevant.remove(&source);
            }
        }
        watches.to_weigh.remove(&source);
        watches.to_track.remove(&source);
        watches.tracked.remove(&source);
    }
}
