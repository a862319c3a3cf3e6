//! Each difference between two contents, described: what it is, where it is, by what it can be recognised when it happens again.
//! What is reported of it is decided elsewhere.

use std::collections::BTreeMap;

use super::places::Nature;
use super::spots::{Spot, note_columns};
use super::surroundings::Surroundings;
use super::verdict::{Changed, Reason};
use crate::detect::Change;
use crate::document::Item;
use crate::hashing::mixed;
use crate::outline::Region;
use crate::parts::{
    self, Line, Moment, Part, PartKind, Recognised, counts, is_measured, is_precious, key_of, lines_of,
    pieces_of, recognised_line,
};
use crate::tokens::{Token, tokens};
use crate::work::Work;

/// One difference between two contents.
#[derive(Debug)]
pub(super) struct Difference<'i> {
    pub(super) changed: Changed<'i>,
    pub(super) nature: Nature,
    /// Where it is, and what it is one of several in.
    pub(super) place: u32,
    pub(super) container: u32,
    /// Fingerprints of the lines that went and that came.
    pub(super) old_lines: Vec<u32>,
    pub(super) new_lines: Vec<u32>,
    /// The figures and words that are different, for an edited line.
    pub(super) slots: Vec<Spot>,
    /// The pieces of a line that lists things, old and new.
    pub(super) pieces: (Vec<u32>, Vec<u32>),
    /// Known to be no news, whatever is remembered.
    pub(super) reason: Option<Reason>,
    pub(super) is_in_container: bool,
    /// It is an entry of a list of which others left as it came, or came as it left.
    pub(super) may_rotate: bool,
    pub(super) is_last_in_container: bool,
}

impl Difference<'_> {
    /// Whether it may be news.
    pub(super) const fn is_open(&self) -> bool {
        self.reason.is_none()
    }
}

/// The container of whole items.
pub(super) const ITEMS: u32 = 2;

/// Describes changes; edited items part by part.
pub(super) fn differences<'i>(changes: Vec<Change<'i>>, moment: Moment, work: &Work) -> Vec<Difference<'i>> {
    let mut differences = Vec::new();
    for change in changes {
        match change {
            Change::Edited { old, new } => edits(change, old, new, moment, work, &mut differences),
            Change::Added(item) => differences.push(whole_item(change, item, PartKind::Added)),
            Change::Removed(item) => differences.push(whole_item(change, item, PartKind::Removed)),
        }
    }
    differences
}

fn whole_item<'i>(change: Change<'i>, item: &Item, kind: PartKind) -> Difference<'i> {
    let text = if item.text.is_empty() { item.title.clone() } else { item.text.clone() };
    let print = mixed(mixed(mixed(0, &item.id.to_string()), &item.title), &item.text);
    let is_added = kind == PartKind::Added;
    let (old, new) = if is_added { (String::new(), text) } else { (text, String::new()) };
    let (old_lines, new_lines) = if is_added { (vec![], vec![print]) } else { (vec![print], vec![]) };
    Difference {
        changed: Changed {
            change,
            kind: name_of(kind),
            heading: "",
            label: "",
            old,
            new,
            rank: 0,
            quiet: Vec::new(),
        },
        nature: Nature { kind, region: Region::Content, is_precious: false, is_measured: false },
        place: mixed(ITEMS, &item.id.to_string()),
        container: ITEMS,
        old_lines,
        new_lines,
        slots: Vec::new(),
        pieces: (Vec::new(), Vec::new()),
        reason: None,
        is_in_container: true,
        may_rotate: true,
        is_last_in_container: false,
    }
}

const fn name_of(kind: PartKind) -> &'static str {
    match kind {
        PartKind::Added => "added",
        PartKind::Edited { .. } => "edited",
        PartKind::Removed => "removed",
    }
}

fn edits<'i>(
    change: Change<'i>,
    old: &'i Item,
    new: &'i Item,
    moment: Moment,
    work: &Work,
    differences: &mut Vec<Difference<'i>>,
) {
    let (old_lines, new_lines) = (lines_of(old), lines_of(new));
    let parts = parts::compare(&old_lines, &new_lines, moment, work);
    // Places of one item are not those of another.
    // Where ids are made anew for each answer, an item is known by its title.
    let base = if old.id == new.id { mixed(0, &new.id.to_string()) } else { mixed(0, &new.title) };
    if parts.is_unknown {
        let mut whole = whole_item(change, new, PartKind::Edited { only_values: false });
        whole.changed.old.clone_from(&old.text);
        differences.push(whole);
        return;
    }
    let ignored = |reason, old: &str, new: &str| Difference {
        changed: Changed {
            change,
            kind: "edited",
            heading: "",
            label: "",
            old: old.to_owned(),
            new: new.to_owned(),
            rank: 0,
            quiet: Vec::new(),
        },
        nature: Nature {
            kind: PartKind::Edited { only_values: true },
            region: Region::Content,
            is_precious: false,
            is_measured: false,
        },
        place: 0,
        container: 0,
        old_lines: Vec::new(),
        new_lines: Vec::new(),
        slots: Vec::new(),
        pieces: (Vec::new(), Vec::new()),
        reason: Some(reason),
        is_in_container: false,
        may_rotate: false,
        is_last_in_container: false,
    };
    let (old_around, new_around) = (Surroundings::of(&old_lines), Surroundings::of(&new_lines));
    let n_before = differences.len();
    for (before, now, what, slots) in &parts.recognised {
        let (line_before, line) = (&old_lines[*before], &new_lines[*now]);
        let mut difference = ignored(Reason::Recognised(*what), line_before.text, line.text);
        difference.nature.region = line.context.region;
        difference.container = mixed(base, &line.context.container.to_string());
        difference.slots = slots.iter().map(|slot| Spot::of(slot, base)).collect();
        difference.changed.heading = new_around.heading_above(*now);
        differences.push(difference);
    }
    if parts.n_moved > 0 {
        differences.push(ignored(Reason::Moved, "", ""));
    }
    if parts.recognised.is_empty() && parts.n_moved == 0 && parts.open.is_empty() {
        differences.push(ignored(Reason::Recognised(Recognised::Formatting), &old.title, &new.title));
    }
    for part in parts.open {
        differences.push(difference(change, base, &part, &old_around, &new_around));
    }
    note_columns(&mut differences[n_before..], &new_lines, base, work);
    note_sides(&mut differences[n_before..]);
}

/// Where something came and nothing left, or the other way round, nothing rotated: that keeps the length of a list.
fn note_sides(differences: &mut [Difference<'_>]) {
    let mut sides: BTreeMap<u32, (bool, bool)> = BTreeMap::new();
    for difference in differences.iter().filter(|difference| difference.is_open()) {
        let is_replaced = difference.slots.iter().any(|spot| spot.slot.shape.is_replaced());
        let (comes, leaves) = match difference.nature.kind {
            PartKind::Added => (true, false),
            PartKind::Removed => (false, true),
            PartKind::Edited { .. } => (is_replaced, is_replaced),
        };
        let entry = sides.entry(difference.container).or_default();
        *entry = (entry.0 | comes, entry.1 | leaves);
    }
    for difference in differences {
        let is_one_sided = sides.get(&difference.container).is_some_and(|(comes, leaves)| comes != leaves);
        difference.may_rotate &= !is_one_sided;
    }
}

fn difference<'i>(
    change: Change<'i>,
    base: u32,
    part: &Part,
    around_old: &Surroundings<'_, 'i>,
    around_new: &Surroundings<'_, 'i>,
) -> Difference<'i> {
    let (old, new) = (&around_old.lines[part.old.clone()], &around_new.lines[part.new.clone()]);
    let text = |lines: &[Line<'_>]| lines.iter().map(|line| line.text).collect::<Vec<_>>().join("\n");
    let print = |text: &str, tokens: &[Token<'_>]| mixed(base, &print_of(text, tokens));
    let prints = |lines: &[Line<'_>]| -> Vec<u32> {
        lines.iter().map(|line| print(line.text, line.tokens())).collect()
    };
    let pieces = |lines: &[Line<'_>]| match lines {
        [line] if !part.slots.is_empty() => {
            pieces_of(line.text).into_iter().map(|piece| print(piece, &tokens(piece))).collect()
        }
        _ => Vec::new(),
    };
    let (side, range) = if part.new.is_empty() { (around_old, &part.old) } else { (around_new, &part.new) };
    let lines = || new.iter().chain(old);
    let pleasantry = || {
        let kinds: Vec<_> = lines().map(|line| recognised_line(line.text)).collect();
        kinds
            .iter()
            .all(Option::is_some)
            .then(|| kinds.first().copied().flatten())
            .flatten()
            .map(Reason::Recognised)
    };
    let is_precious = lines().any(|line| is_precious(line.tokens()));
    let is_value = matches!(part.kind, PartKind::Edited { only_values: true });
    let is_measured = new.iter().any(|line| is_measured(line.tokens()))
        || is_value && counts(old[0].tokens(), new[0].tokens());
    let by_region = match part.region {
        Region::Content => 0,
        Region::Aside => 4,
        Region::Frame => 6,
        Region::Extra => 8,
    };
    let is_title = side.lines[range.start].context.is_heading;
    let rank = by_region
        + if is_precious || is_title {
            0
        } else if is_value {
            1
        } else {
            2
        };
    Difference {
        changed: Changed {
            change,
            kind: name_of(part.kind),
            heading: side.heading_above(range.start),
            label: side.label_before(range.start),
            old: text(old),
            new: text(new),
            rank,
            quiet: Vec::new(),
        },
        nature: Nature {
            kind: part.kind,
            region: part.region,
            is_precious: is_title || is_precious && part.slots.is_empty(),
            is_measured,
        },
        place: mixed(base, &part.place.to_string()),
        container: mixed(base, &part.container.to_string()),
        old_lines: prints(old),
        new_lines: prints(new),
        slots: part.slots.iter().map(|slot| Spot::of(slot, base)).collect(),
        pieces: (pieces(old), pieces(new)),
        reason: (part.region == Region::Extra).then_some(Reason::Extra).or_else(pleasantry),
        is_in_container: part.container != 0,
        may_rotate: lines().any(|line| line.context.is_in_entry || line.context.starts_entry),
        is_last_in_container: side.is_last(range.end),
    }
}

/// What a line is remembered by: without its counters and relative times, where words are left to know it by.
fn print_of(text: &str, tokens: &[Token<'_>]) -> String {
    const FEWEST_WORDS: usize = 3;
    let has_words =
        text.split_whitespace().filter(|word| !word.contains(char::is_numeric)).nth(FEWEST_WORDS).is_some();
    if has_words { key_of(tokens).to_string() } else { text.to_owned() }
}
