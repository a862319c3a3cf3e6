//! What is remembered of captures for queries: the parts of an instance that are captured, and when each part of a query was
//! last. Bounded, and stored as bytes; reading what another release wrote gives nothing.

use std::collections::{BTreeMap, BTreeSet};

use dunlin_core::Time;
use dunlin_extract::document::IdOrigin;
use dunlin_extract::{Item, amounts};
use dunlin_query::plan::{Instance, PlannedInterval, QueryPlan};
use dunlin_query::{Before, Captures, Value, What, words};
use dunlin_store::VersionId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::told::MissedPart;

/// The first byte of what is stored: its form.
const FORM: u8 = 1;
/// The most items of one part that are looked at; the newest come first in a feed.
const MOST_ITEMS: usize = 100;
/// The most bytes of an item's text that are looked at, and of the texts of all items of a part.
const MOST_TEXT: usize = 16 << 10;
const MOST_TEXT_OF_PART: usize = 128 << 10;
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
    /// Whether it was not there when the part was last captured.
    pub is_new: bool,
}

impl KeptItem {
    pub(super) fn of(item: &Item, room: usize, is_new: bool) -> Self {
        let words = |text: &str| shortened(text, MOST_WORDS);
        Self {
            is_new,
            text: shortened(&item.text, MOST_TEXT.min(room)),
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

/// Items, with as much of their texts as there is room for.
fn kept<'i>(items: impl Iterator<Item = (&'i Item, bool)>) -> Vec<KeptItem> {
    let mut room = MOST_TEXT_OF_PART;
    let keep = |(item, is_new): (&Item, bool)| {
        let kept = KeptItem::of(item, room, is_new);
        room -= kept.text.len();
        kept
    };
    items.map(keep).collect()
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
    /// The items, or the values.
    pub items: Vec<KeptItem>,
    /// The values at the capture before.
    pub before: Vec<String>,
}

impl CapturedPart {
    /// What a query captures now of what is on a source.
    pub fn of(what: What, newness: Newness, at: Time, seen: &[SeenItem], memory: &PartMemory) -> Self {
        let is_new = newness.judge(at, seen, memory);
        let wants_old = what == What::Value || matches!(newness, Newness::AllWithNew(_));
        let judged = seen.iter().map(|seen| (&seen.item, is_new(seen)));
        let mut wanted: Vec<(&Item, bool)> = judged.filter(|(_, is_new)| *is_new || wants_old).collect();
        if what == What::Item {
            // The new ones first, should there be more than are kept.
            wanted.sort_by_key(|(_, is_new)| !is_new);
        }
        let items = kept(wanted.into_iter().take(MOST_ITEMS));
        let before = if what == What::Value { memory.values.clone() } else { Vec::new() };
        Self { at, version: None, items, before }
    }

    /// Whether it is of items, none of which is new.
    pub fn has_nothing_new(&self, what: What) -> bool {
        what == What::Item && self.items.iter().all(|item| !item.is_new)
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
    /// What each part of a page said then that is known by its place, and so stays the same item when it says something else.
    pub places: BTreeSet<u64>,
}

impl PartMemory {
    /// Whether nothing is known of what was there.
    pub fn is_blank(&self) -> bool {
        self.values.is_empty() && self.places.is_empty()
    }

    fn note(&mut self, what: What, seen: &[SeenItem]) {
        match what {
            What::Value => {
                let values = kept(seen.iter().take(MOST_ITEMS).map(|seen| (&seen.item, false)));
                self.values = values.into_iter().map(|value| value.text).collect();
            }
            What::Item => {
                let places = seen.iter().filter(|seen| is_place(&seen.item)).take(MOST_ITEMS);
                self.places = places.map(|seen| said(&seen.item)).collect();
            }
        }
    }
}

fn is_place(item: &Item) -> bool {
    item.id.origin == IdOrigin::Place
}

fn said(item: &Item) -> u64 {
    xxh3_64(format!("{}\n{}", item.title, item.text).as_bytes())
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
    /// For any other part: what is there now was asked for, and those count as new that came since its last capture.
    AllWithNew(Option<Time>),
}

impl Newness {
    /// What is new for a select that waits for a change, or not, when its part was last captured then.
    pub fn of(select: usize, waits_for_change: bool, captured: Option<Time>, installed: Time) -> Self {
        match select {
            0 if waits_for_change => Self::WithThisChange,
            0 => Self::SinceInstalled { captured, installed },
            _ if waits_for_change => Self::WithThisChange,
            _ => Self::AllWithNew(captured),
        }
    }

    /// Which of the items that are there are new.
    fn judge(self, at: Time, seen: &[SeenItem], memory: &PartMemory) -> impl Fn(&SeenItem) -> bool {
        let first_read = seen.iter().map(|seen| seen.first_seen).min();
        let n_places = seen.iter().filter(|seen| is_place(&seen.item)).count();
        move |item: &SeenItem| {
            if is_place(&item.item) {
                // If there is only one, it is what has changed.
                if self == Self::WithThisChange && (n_places == 1 || memory.places.is_empty()) {
                    return true;
                }
                if !memory.places.is_empty() {
                    return !memory.places.contains(&said(&item.item));
                }
            }
            match self {
                Self::WithThisChange => item.first_seen >= at,
                Self::SinceInstalled { captured, installed } => {
                    item.first_seen
                        > captured.unwrap_or_else(|| first_read.max(Some(installed)).unwrap_or(installed))
                }
                Self::AllWithNew(captured) => captured.is_none_or(|captured| item.first_seen > captured),
            }
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

    /// Notes what is there before anything was captured.
    pub fn note_first(&mut self, select: usize, what: What, seen: &[SeenItem]) {
        if let Some(memory) = self.parts.get_mut(select).filter(|memory| memory.is_blank()) {
            memory.note(what, seen);
        }
    }

    /// Notes that a part was captured then, when this was there.
    pub fn captured(&mut self, select: usize, what: What, at: Time, seen: &[SeenItem]) {
        let Some(memory) = self.parts.get_mut(select) else { return };
        memory.captured = memory.captured.max(Some(at));
        memory.note(what, seen);
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

    /// Whether it captured items only, and none of them is new: then there is nothing to tell.
    pub fn has_nothing_new(&self, plan: &QueryPlan) -> bool {
        let selects = plan.selects();
        let is_old = |(position, part): (&usize, &CapturedPart)| {
            selects.get(*position).is_none_or(|select| part.has_nothing_new(select.what))
        };
        self.parts.iter().all(is_old)
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

#[cfg(test)]
mod tests {
    use dunlin_extract::ItemId;

    use super::*;

    fn at(second: i64) -> Time {
        Time::from_seconds(1_000 + second)
    }

    fn item(origin: IdOrigin, id: &str, text: &str) -> Item {
        let mut item = Item {
            id: ItemId { origin, value: id.to_owned() },
            title: String::new(),
            link: None,
            text: text.to_owned(),
            outline: dunlin_extract::outline::Outline::default(),
            author: None,
            published: None,
        };
        item.title = format!("title of {id}");
        item
    }

    fn entry(id: &str, first_seen: i64) -> SeenItem {
        SeenItem { item: item(IdOrigin::Guid, id, "words"), first_seen: at(first_seen) }
    }

    fn place(id: &str, text: &str, first_seen: i64) -> SeenItem {
        SeenItem { item: item(IdOrigin::Place, id, text), first_seen: at(first_seen) }
    }

    fn new_of(newness: Newness, now: i64, seen: &[SeenItem], memory: &PartMemory) -> Vec<String> {
        let part = CapturedPart::of(What::Item, newness, at(now), seen, memory);
        part.items.iter().filter(|item| item.is_new).map(|item| item.title.clone()).collect()
    }

    #[test]
    fn what_is_new_depends_on_what_the_part_waits_for() {
        let seen = [entry("a", 0), entry("b", 50), entry("c", 100)];
        let blank = PartMemory::default();
        let titles = |ids: &[&str]| ids.iter().map(|id| format!("title of {id}")).collect::<Vec<_>>();
        assert_eq!(new_of(Newness::WithThisChange, 100, &seen, &blank), titles(&["c"]));
        let since = |captured, installed| Newness::SinceInstalled { captured, installed: at(installed) };
        assert_eq!(
            new_of(since(Some(at(50)), 10), 100, &seen, &blank),
            titles(&["c"]),
            "after its last capture"
        );
        assert_eq!(
            new_of(since(None, 10), 100, &seen, &blank),
            titles(&["b", "c"]),
            "after it was installed"
        );
        assert_eq!(
            new_of(since(None, -10), 100, &seen, &blank),
            titles(&["b", "c"]),
            "but not what was there when its source was first read"
        );
        assert_eq!(new_of(Newness::AllWithNew(Some(at(50))), 100, &seen, &blank), titles(&["c"]));
        assert_eq!(new_of(Newness::AllWithNew(None), 100, &seen, &blank), titles(&["a", "b", "c"]));
        let all = CapturedPart::of(What::Item, Newness::AllWithNew(Some(at(50))), at(100), &seen, &blank);
        let order: Vec<&str> = all.items.iter().map(|item| item.title.as_str()).collect();
        assert_eq!(order, ["title of c", "title of a", "title of b"], "what is new comes first");
    }

    #[test]
    fn a_part_of_a_page_is_new_when_it_says_something_else() {
        let before = [place("1", "one", 0), place("2", "two", 0)];
        let now = [place("1", "one", 0), place("2", "another", 0)];
        let mut memory = QueryMemory::from_bytes(&[], 1);
        memory.note_first(0, What::Item, &before);
        let first = memory.clone();
        memory.note_first(0, What::Item, &now);
        assert_eq!(memory, first, "only what was there first is noted");
        assert_eq!(new_of(Newness::WithThisChange, 9, &now, &memory.parts[0]), ["title of 2"]);
        assert_eq!(new_of(Newness::AllWithNew(Some(at(5))), 9, &now, &memory.parts[0]), ["title of 2"]);
        let one = [place("2", "two", 0)];
        assert_eq!(
            new_of(Newness::WithThisChange, 9, &one, &memory.parts[0]),
            ["title of 2"],
            "the only one"
        );
        let entries = [entry("a", 0)];
        memory.captured(0, What::Item, at(9), &entries);
        assert!(memory.parts[0].places.is_empty(), "entries are known by their ids");
    }

    #[test]
    fn what_was_captured_last_is_remembered_in_any_order() {
        let mut memory = QueryMemory::from_bytes(&[], 2);
        let value = |text: &str| SeenItem { item: item(IdOrigin::Place, "v", text), first_seen: at(0) };
        memory.captured(1, What::Value, at(20), &[value("8"), value("9")]);
        memory.captured(1, What::Value, at(10), &[value("7")]);
        assert_eq!((memory.parts[1].captured, memory.parts[0].captured), (Some(at(20)), None));
        assert_eq!(QueryMemory::from_bytes(&memory.to_bytes(), 2), memory);
        assert_eq!(QueryMemory::from_bytes(b"other", 2), QueryMemory::from_bytes(&[], 2));
        assert_eq!(QueryMemory::from_bytes(&memory.to_bytes(), 3).parts.len(), 3);
    }

    #[test]
    fn the_texts_of_a_part_are_bounded_one_by_one_and_together() {
        let long = "é".repeat(MOST_TEXT);
        let seen: Vec<SeenItem> = (0..200).map(|n| place(&n.to_string(), &long, 0)).collect();
        let part =
            CapturedPart::of(What::Value, Newness::AllWithNew(None), at(0), &seen, &PartMemory::default());
        let bytes: Vec<usize> = part.items.iter().map(|item| item.text.len()).collect();
        assert_eq!((bytes.len(), bytes[0]), (MOST_ITEMS, MOST_TEXT));
        assert_eq!(bytes.iter().sum::<usize>(), MOST_TEXT_OF_PART);
    }

    #[test]
    fn values_are_compared_with_those_before_only_if_there_are_as_many() {
        let part = |before: &[&str]| CapturedPart {
            at: at(0),
            version: None,
            items: ["8", "9"].map(|text| KeptItem { text: text.to_owned(), ..KeptItem::default() }).to_vec(),
            before: before.iter().map(|text| (*text).to_owned()).collect(),
        };
        let before = |part: &CapturedPart| -> Vec<Option<f64>> {
            part.values(What::Value, true).iter().map(|value| value.before.as_ref()?.number).collect()
        };
        assert_eq!(before(&part(&["1", "2"])), [Some(1.0), Some(2.0)]);
        assert_eq!(before(&part(&["1"])), [None, None]);
        assert_eq!(before(&part(&["1", "2", "3"])), [None, None]);
    }

    #[test]
    fn numbers_are_read_as_their_document_writes_them() {
        assert_eq!((number_of("1.299", true), number_of("1.299", false)), (Some(1.299), Some(1299.0)));
        assert_eq!((number_of("1e3", true), number_of("€ 19.99", false)), (Some(1000.0), Some(19.99)));
        assert_eq!((number_of("NaN", true), number_of("none", false)), (None, None));
    }
}
