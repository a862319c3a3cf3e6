//! Detection alone: contents that are given one after the other, read and compared exactly as a probe's are. Fetches nothing,
//! stores nothing, and plans no probes; for trying recipes, and for looking back at stored versions.

use dunlin_core::Time;
use dunlin_extract::flicker::Suppressed;
use dunlin_extract::{Flicker, Item};
use dunlin_net::Fetched;
use dunlin_store::{Health, NewChange, NewSource, ProbeId, SourceId};

use crate::capture::{
    Answer, PreparedSource, Previous, ProbeOutcome, SourceTask, Step, first_step, read, unusable,
};
use crate::memory::{ProbeNote, flicker_in, spec_of};
use crate::recipe::{Target, interpret};
use crate::{Error, Settings};

/// One content, as a server would give it.
#[derive(Debug, Clone)]
pub struct Content<'c> {
    /// When it was there.
    pub at: Time,
    /// The bytes.
    pub body: &'c [u8],
    /// The value of `Content-Type`; empty when unknown.
    pub media_type: &'c str,
}

/// What would have been reported of a content, and what not.
#[derive(Debug, Clone)]
pub struct Detected {
    /// To report, in order.
    pub changes: Vec<NewChange>,
    /// Not to report, and why.
    pub suppressed: Vec<Suppressed>,
    /// The health of the source after it, and the reason.
    pub health: Health,
    /// What its owner should know; may be empty.
    pub reason: String,
}

/// A source that is shown contents.
#[derive(Debug)]
pub struct Detection {
    target: Target,
    settings: Settings,
    note: ProbeNote,
    flicker: Flicker,
    previous: Previous,
    last_probe: Option<Time>,
    n_probes: u64,
}

/// Items that left and are remembered, so that they are not new when they return.
const MAX_LEFT: usize = 5_000;

impl Detection {
    /// Begins with a source that nothing is known of.
    pub fn new(source: &NewSource, settings: Settings) -> Result<Self, Error> {
        let target = interpret(source, &settings)?.target;
        target.extractor(settings.extraction)?;
        Ok(Self {
            note: ProbeNote { spec: spec_of(source), ..ProbeNote::default() },
            target,
            settings,
            flicker: Flicker::default(),
            previous: Previous::default(),
            last_probe: None,
            n_probes: 0,
        })
    }

    /// Shows the next content.
    pub fn see(&mut self, content: &Content<'_>) -> Result<Detected, Error> {
        self.n_probes += 1;
        let (source, at) = (SourceId(1), content.at);
        let task = SourceTask { source, last_probe: self.last_probe, wants_items: false, wants_news: false };
        let prepared = PreparedSource::new(
            ProbeId(self.n_probes),
            task,
            self.target.clone(),
            self.note.clone(),
            self.flicker.clone(),
            &self.settings,
        );
        let answer = Answer::new(
            Ok(Fetched::of_content(&self.target.url, content.media_type, content.body.to_vec().into())),
            at,
            None,
        );
        let result = match first_step(&prepared, &answer) {
            Step::Done(result) => *result,
            Step::Read(fetched) => match self.target.extractor(self.settings.extraction) {
                Ok(extractor) => read(prepared, &answer, fetched, &self.previous, &extractor),
                Err(error) => unusable(&prepared, error.to_string(), at),
            },
        };
        if matches!(result.outcome, ProbeOutcome::Observed { .. }) {
            self.last_probe = Some(at);
        }
        self.note = result.note;
        if let Some(flicker) = flicker_in(&result.capture.notes) {
            self.flicker = flicker;
        }
        if let Some(items) = &result.capture.items {
            let present = items.iter().filter_map(|item| serde_json::from_slice::<Item>(&item.body).ok());
            self.replace_items(present.collect());
        }
        let (health, reason) = result.health.unwrap_or((Health::Well, String::new()));
        Ok(Detected { changes: result.capture.changes, suppressed: result.suppressed, health, reason })
    }

    /// What is there now, by all that was shown.
    pub fn present(&self) -> &[Item] {
        self.previous.items.get(..self.previous.n_present).unwrap_or_default()
    }

    /// Makes these the items that are there; those no longer among them are remembered, the latest first.
    fn replace_items(&mut self, present: Vec<Item>) {
        let is_there = |item: &Item| present.iter().any(|other| other.id == item.id);
        let mut left: Vec<Item> = std::mem::take(&mut self.previous.items);
        left.retain(|item| !is_there(item));
        left.truncate(MAX_LEFT);
        self.previous.n_present = present.len();
        self.previous.items = present;
        self.previous.items.extend(left);
    }
}
