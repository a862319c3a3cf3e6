//! What is remembered of captures for queries: the parts of an instance that are captured, and when each part of a query was
//! last. Bounded, and stored as bytes; reading what another release wrote gives nothing.

use std::collections::{BTreeMap, BTreeSet};

use dunlin_core::Time;
use dunlin_extract::{Item, amounts};
use dunlin_query::plan::{Instance, PlannedInterval, QueryPlan};
use dunlin_query::{Before, Captures, Value, What, words};
use dunlin_store::VersionId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::told::MissedPart;

/// The first byte of what is stored: its form.
const FORM: u8 = 1;
/// The most items of one part that are kept; the newest come first in a feed.
const MOST_ITEMS: usize = 50;
/// The most bytes of an item's text.
const MOST_TEXT: usize = 2000;
/// The most bytes of its title, its link or its author.
const MOST_WORDS: usize = 500;

/// An item that is on a source now.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenItem {
    /// What it says.
    pub item: Item,
    /// When a probe first found it.
    pub first_seen: Time,
}

/// An item or a value of a captured part.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct KeptItem {
    /// Its text, or the value.
    pub text: String,
    /// Its title; empty for a value.
    pub title: String,
    /// Where it links to.
    pub link: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// When it was published.
    pub published: Option<Time>,
}

impl KeptItem {
    pub(super) fn of(item: &Item) -> Self {
        let words = |text: &str| shortened(text, MOST_WORDS);
        Self {
            text: shortened(&item.text, MOST_TEXT),
            title: words(&item.title),
            link: item.link.as_deref().map(words),
            author: item.author.as_deref().map(words),
            published: item.published,
        }
    }

    /// As predicates see an item.
    pub(crate) fn as_value(&self) -> Value<'_> {
        Value {
            text: &self.text,
            title: (!self.title.is_empty()).then_some(self.title.as_str()),
            link: self.link.as_deref(),
            author: self.author.as_deref(),
            published: self.published,
            ..Value::default()
        }
    }
}

fn shortened(text: &str, most: usize) -> String {
    text[..text.floor_char_boundary(most)].to_owned()
}

/// A part of an instance that is captured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapturedPart {
    /// When.
    pub at: Time,
    /// The version that holds it, as soon as it is known.
    pub version: Option<VersionId>,
    /// The new items, or the values.
    pub items: Vec<KeptItem>,
    /// The values at the capture before.
    pub before: Vec<String>,
}

impl CapturedPart {
    /// What a query captures now of what is on a source.
    pub fn of(what: What, newness: Newness, at: Time, seen: &[SeenItem], before: &[String]) -> Self {
        let first_read = seen.iter().map(|seen| seen.first_seen).min();
        let is_wanted = |seen: &&SeenItem| what == What::Value || newness.is_new(seen, at, first_read);
        let items =
            seen.iter().filter(is_wanted).take(MOST_ITEMS).map(|seen| KeptItem::of(&seen.item)).collect();
        let before = if what == What::Value { before.to_vec() } else { Vec::new() };
        Self { at, version: None, items, before }
    }

    /// The words of all its texts, for an index over queries.
    pub fn words(&self) -> BTreeSet<String> {
        let texts = self.items.iter().flat_map(|item| {
            let [link, author] = [&item.link, &item.author].map(|text| text.as_deref().unwrap_or_default());
            [item.title.as_str(), link, author, item.text.as_str()]
        });
        texts.flat_map(words).collect()
    }

    fn values(&self, what: What, reads_json: bool) -> Vec<Value<'_>> {
        let number = |text: &str| if what == What::Value { number_of(text, reads_json) } else { None };
        // With one more or less nobody knows which of them was which.
        let before = if self.before.len() == self.items.len() { self.before.as_slice() } else { &[] };
        let items = self.items.iter().enumerate();
        let values = items.map(|(position, item)| {
            let before = before.get(position).map(|text| Before { text, number: number(text) });
            Value { number: number(&item.text), before, ..item.as_value() }
        });
        values.collect()
    }
}

/// The number that a value is. JSON writes numbers in one way only; on a page, `1.299` may be more than a thousand.
pub(super) fn number_of(text: &str, is_json: bool) -> Option<f64> {
    let plain = text.trim().parse::<f64>().ok().filter(|number| is_json && number.is_finite());
    plain.or_else(|| text.lines().find_map(|line| amounts(line).first().map(|amount| amount.value)))
}

/// When a part of a query was last captured, and what it was.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PartMemory {
    /// When; nothing before the first time.
    pub captured: Option<Time>,
    /// The values then, if something asks about them.
    pub values: Vec<String>,
}

/// Which items of a source are new for a part of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Newness {
    /// For a trigger ON CHANGE: those that this change brought.
    WithThisChange,
    /// For any other trigger: those since its last capture, and at the first one, what came after the query was installed and
    /// its source first read.
    SinceInstalled {
        /// When the part was last captured.
        captured: Option<Time>,
        /// When the query was installed.
        installed: Time,
    },
    /// For any other part: those since its last capture, and at the first one, all.
    SinceCapture(Option<Time>),
}

impl Newness {
    /// What is new for a select that waits for a change, or not, when its part was last captured then.
    pub fn of(select: usize, waits_for_change: bool, captured: Option<Time>, installed: Time) -> Self {
        match select {
            0 if waits_for_change => Self::WithThisChange,
            0 => Self::SinceInstalled { captured, installed },
            _ => Self::SinceCapture(captured),
        }
    }

    fn is_new(self, item: &SeenItem, at: Time, first_read: Option<Time>) -> bool {
        match self {
            Self::WithThisChange => item.first_seen >= at,
            Self::SinceInstalled { captured, installed } => {
                item.first_seen
                    > captured.unwrap_or_else(|| first_read.max(Some(installed)).unwrap_or(installed))
            }
            Self::SinceCapture(captured) => captured.is_none_or(|captured| item.first_seen > captured),
        }
    }
}

/// What a query remembers between instances.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct QueryMemory {
    /// In the order of its selects.
    pub parts: Vec<PartMemory>,
    /// When the last instance began by the clock.
    pub begun: Option<Time>,
}

impl QueryMemory {
    /// Reads what is stored; as if new where it cannot be read.
    pub fn from_bytes(bytes: &[u8], n_selects: usize) -> Self {
        let mut memory: Self = decode(bytes).unwrap_or_default();
        memory.parts.resize_with(n_selects, PartMemory::default);
        memory
    }

    /// As it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// Notes which values are there before any was captured.
    pub fn note_values(&mut self, select: usize, seen: &[SeenItem]) {
        let memory = self.parts.get_mut(select).filter(|memory| memory.values.is_empty());
        if let Some(memory) = memory {
            memory.values = seen.iter().take(MOST_ITEMS).map(|seen| KeptItem::of(&seen.item).text).collect();
        }
    }

    /// Notes that a part was captured.
    pub fn captured(&mut self, select: usize, part: &CapturedPart, what: What) {
        let Some(memory) = self.parts.get_mut(select) else { return };
        memory.captured = memory.captured.max(Some(part.at));
        if what == What::Value {
            memory.values = part.items.iter().map(|item| item.text.clone()).collect();
        }
    }
}

/// An interval of an instance, with the end that it was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartInterval {
    /// What was planned.
    pub planned: PlannedInterval,
    /// The last moment that counts; where the plan has none, when the source is expected to change.
    pub finish: Time,
}

/// How far an instance is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceState {
    /// Which of its selects wait, are open, captured or missed.
    pub instance: Instance,
    /// The interval of each select that has one.
    pub intervals: BTreeMap<usize, PartInterval>,
    /// What was captured.
    pub parts: BTreeMap<usize, CapturedPart>,
    /// What was missed.
    pub missed: Vec<MissedPart>,
    /// How many intervals its CEI needs.
    pub need: u32,
}

impl InstanceState {
    /// Reads what is stored; none where it cannot be read.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        decode(bytes)
    }

    /// As it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// What was captured, as predicates see it.
    pub fn captures<'s>(&'s self, plan: &'s QueryPlan) -> Captures<'s> {
        let mut captures = Captures::new();
        for (position, part) in &self.parts {
            if let Some(select) = plan.selects().get(*position) {
                let reads_json = matches!(select.from, dunlin_query::From::Json(_));
                captures.insert(&select.name, part.values(select.what, reads_json));
            }
        }
        captures
    }
}

pub(super) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_extend(value, vec![FORM]).unwrap_or_default()
}

pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (form, rest) = bytes.split_first()?;
    (*form == FORM).then(|| postcard::from_bytes(rest).ok()).flatten()
}
