//! Which differences are reported: each is looked up in what is known of the page, and remembered. One pass; the caller's memory is
//! changed as it goes.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::difference::{Difference, ITEMS};
use super::places::{Pace, Places};
use super::seen::{How, Seen, Sighting};
use super::spots::Spot;
use super::template::Template;
use super::verdict::{Reason, Suppressed, Verdict};
use crate::document::IdOrigin;
use crate::hashing::mixed;
use crate::outline::Region;
use crate::parts::{PartKind, Shape};
use crate::text::cut;

/// Judges differences by what is known of the page, and remembers them.
pub(super) fn judge<'i>(
    places: &mut Places,
    seen: &mut Seen,
    differences: Vec<Difference<'i>>,
    pace: Pace,
    site: &Template,
) -> Verdict<'i> {
    let rested: Vec<bool> = differences.iter().map(|difference| has_rested(places, difference)).collect();
    places.begin(pace);
    let is_new_here = pace.is_telling && !places.have_shown_themselves();
    let has_stood = pace.has_stood;
    seen.begin();
    let scrolled = scrolled(&differences);
    let has_returned: Vec<Returned> =
        differences.iter().map(|difference| returned(seen, difference)).collect();
    note(places, seen, &differences, &has_returned);
    let is_one_of_many = places.n_restless() > 2;
    // Two parts of a page that return together are another variant of the page.
    let is_text = |difference: &&Difference<'_>| {
        matches!(difference.nature.kind, PartKind::Edited { only_values: false })
            && !is_volatile(places, difference, is_one_of_many)
    };
    let returning = differences.iter().zip(&has_returned).filter(|(difference, has_returned)| {
        difference.is_open() && has_returned.here && is_text(difference)
    });
    let is_variant = returning.map(|(difference, _)| difference.container).collect::<BTreeSet<_>>().len() > 1;
    let mut verdict = Verdict::default();
    for (index, mut difference) in differences.into_iter().enumerate() {
        let known = difference.reason.filter(|_| !rested[index]);
        let reason = known.or_else(|| {
            if scrolled.contains(&index) {
                return Some(Reason::ScrolledOut);
            }
            if rested[index] {
                return None;
            }
            reason_for(
                places,
                seen,
                &difference,
                has_returned[index],
                Page { is_one_of_many, is_variant, has_stood },
            )
            .or_else(|| (is_new_here && site.covers(&difference)).then_some(Reason::VolatileElsewhere))
        });
        let quiet = difference.slots.iter().filter(|spot| {
            !spot.is_open() && !rested[index] || is_quiet(places, &difference, spot, is_one_of_many)
        });
        difference.changed.quiet = quiet.map(|spot| spot.slot.span).take(MOST_QUIET).collect();
        let how = match difference.nature.kind {
            PartKind::Added if difference.container == ITEMS => How::AddedItem,
            PartKind::Added => How::Added,
            _ => How::Otherwise,
        };
        let is_edit = matches!(difference.nature.kind, PartKind::Edited { .. });
        let (old_pieces, new_pieces) = &difference.pieces;
        for piece in old_pieces
            .iter()
            .filter(|piece| !new_pieces.contains(piece))
            .chain(new_pieces.iter().filter(|piece| !old_pieces.contains(piece)))
            .take(MAX_LINES)
        {
            seen.toggled(at(difference.container, *piece), How::Otherwise);
        }
        for line in difference.old_lines.iter().chain(&difference.new_lines).take(MAX_LINES) {
            seen.toggled(*line, how);
        }
        if is_edit {
            for spot in difference.slots.iter().filter(|spot| spot.is_open()) {
                seen.toggled(at(spot.key, spot.slot.says.0), How::Otherwise);
                seen.toggled(at(spot.key, spot.slot.says.1), How::Otherwise);
            }
        }
        keep(&mut verdict, difference, reason);
    }
    verdict.reported.sort_by_key(|changed| changed.rank);
    verdict
}

/// Remembers where the page is different.
fn note(places: &mut Places, seen: &Seen, differences: &[Difference<'_>], has_returned: &[Returned]) {
    for spot in differences.iter().flat_map(|difference| &difference.slots) {
        places.rename(spot.key_before, spot.key);
    }
    let mut changed: BTreeMap<u32, (bool, Ordering)> = BTreeMap::new();
    for (difference, has_returned) in differences.iter().zip(has_returned) {
        let mut note = |key, has_returned, direction| {
            let entry = changed.entry(key).or_insert((false, Ordering::Equal));
            *entry = (entry.0 | has_returned, direction);
        };
        for spot in &difference.slots {
            // What the clock explains needs no history.
            if spot.is_open() || spot.slot.is_by_words {
                note(spot.key, spot.is_open() && is_back(seen, spot), spot.slot.direction);
            }
            if let Some(column) = spot.column.filter(|_| spot.column_moves) {
                note(column, false, Ordering::Equal);
            }
        }
        if difference.is_open() {
            if difference.slots.is_empty() || places.knows(difference.place) {
                note(difference.place, has_returned.here, Ordering::Equal);
            }
            // A line that says something else of the same thing is no entry that comes or goes.
            if difference.slots.is_empty()
                || difference.slots.iter().any(|spot| spot.slot.shape.is_replaced())
            {
                note(difference.container, has_returned.anywhere, Ordering::Equal);
            }
        }
    }
    for (key, (has_returned, direction)) in changed {
        places.is_different(key, has_returned, direction);
    }
}

/// Whether only words say that it is no news, and it was never different on a page that changed often: then it is no counter and no
/// code of each answer.
fn has_rested(places: &Places, difference: &Difference<'_>) -> bool {
    let is_by_words = difference.slots.iter().any(|spot| spot.slot.is_by_words);
    let is_noise = difference.reason.is_some() && difference.reason != Some(Reason::Extra);
    let is_settled = !places.knows(difference.container)
        && !places.knows(mixed(ITEMS, &difference.changed.item().id.to_string()));
    is_noise
        && is_by_words
        && is_settled
        && difference.slots.iter().all(|spot| {
            !spot.is_open()
                && places.has_rested(spot.key)
                && spot.column.is_none_or(|column| places.has_rested(column))
        })
}

/// Whether a figure or words that are different are so all the time, by themselves or with most of their column.
fn is_quiet(places: &Places, difference: &Difference<'_>, spot: &Spot, is_one_of_many: bool) -> bool {
    if places.record(difference.place).is_convicted() {
        return true;
    }
    let column = spot.column.map(|column| places.record(column)).unwrap_or_default();
    places.record(spot.key).is_restless_spot(spot, difference.nature, is_one_of_many)
        || spot.slot.shape == Shape::Figure && !spot.slot.is_precious && column.changes_often(4, 60)
}

/// Whether all that is different of it is so all the time.
fn is_volatile(places: &Places, difference: &Difference<'_>, is_one_of_many: bool) -> bool {
    if difference.slots.is_empty() {
        return places.record(difference.place).is_volatile(difference.nature);
    }
    let is_quiet = |spot: &Spot| !spot.is_open() || is_quiet(places, difference, spot, is_one_of_many);
    difference.slots.iter().all(is_quiet)
}

/// Quiet figures of a line that are known to those who say what changed.
const MOST_QUIET: usize = 64;

/// Lines of one part that are remembered.
const MAX_LINES: usize = 40;

/// Whether what comes was there before: at this place, or anywhere on the page.
#[derive(Debug, Clone, Copy)]
struct Returned {
    here: bool,
    anywhere: bool,
}

fn returned(seen: &Seen, difference: &Difference<'_>) -> Returned {
    let lines = &difference.new_lines;
    let anywhere = !lines.is_empty() && lines.iter().all(|line| seen.sighting(*line).is_some());
    let mut open = difference.slots.iter().filter(|spot| spot.is_open()).peekable();
    let here = if open.peek().is_some() { open.all(|spot| is_back(seen, spot)) } else { anywhere };
    Returned { here, anywhere }
}

/// Whether a figure or words were at this place before.
fn is_back(seen: &Seen, spot: &Spot) -> bool {
    seen.sighting(at(spot.key, spot.slot.says.1)).is_some()
}

/// The fingerprint of a line at a place.
const fn at(place: u32, line: u32) -> u32 {
    place.rotate_left(16) ^ line
}

/// Contents within which something that came may leave again without being missed.
const MOMENT: u8 = 1;

/// What all differences of a content say together: found once, since there may be very many.
#[derive(Debug, Clone, Copy)]
struct Page {
    /// Whether several lines are different nearly every time.
    is_one_of_many: bool,
    /// Whether another variant of the page is shown.
    is_variant: bool,
    /// Whether the content before stood for several probes.
    has_stood: bool,
}

fn reason_for(
    places: &Places,
    seen: &Seen,
    difference: &Difference<'_>,
    has_returned: Returned,
    page: Page,
) -> Option<Reason> {
    let nature = difference.nature;
    // A line returns as often as what returned least of it.
    let spots = difference.slots.iter().filter(|spot| spot.is_open());
    let n_returns = spots.map(|spot| places.record(spot.key).n_returns).min().unwrap_or_default();
    let is_beside = nature.region != Region::Content;
    match nature.kind {
        PartKind::Added
            if has_returned.anywhere && (is_beside || !was_gone_for_long(seen, difference, page)) =>
        {
            return Some(Reason::Returned);
        }
        PartKind::Removed => {
            let sightings = difference.old_lines.iter().map(|line| seen.sighting(*line));
            let comes_and_goes = |sighting: Option<Sighting>| {
                sighting.is_some_and(|line| {
                    line.n_toggles > 1 && !has_lasted(line, page)
                        || line.was_added && line.age <= MOMENT
                        || is_beside
                })
            };
            if !difference.old_lines.is_empty() && sightings.into_iter().all(comes_and_goes) {
                return Some(Reason::Returned);
            }
        }
        PartKind::Edited { only_values } => {
            let is_code =
                || difference.slots.iter().all(|spot| !spot.is_open() || spot.slot.shape == Shape::Code);
            let is_text = || difference.slots.iter().any(|spot| spot.slot.shape.is_replaced());
            // Two servers answer in turn, and one is behind. A real state stands for a while.
            let is_entry_in_doubt = || {
                let is_entry = matches!(difference.changed.item().id.origin, IdOrigin::Guid | IdOrigin::Link);
                let hardly_stands = |spot: &Spot| places.record(spot.key).hardly_stands();
                is_entry && difference.slots.iter().filter(|spot| spot.is_open()).all(hardly_stands)
            };
            let is_one_of_few = has_returned.here
                && (page.is_variant && !only_values
                    || n_returns > 2
                    || n_returns > 1 && (is_text() || is_entry_in_doubt())
                    || is_code())
                || lists_known_pieces(seen, difference);
            let is_back = is_one_of_few && !stood(places, seen, difference, page);
            if !(is_back || is_beside && has_returned.anywhere) {
                return later(places, difference, page);
            }
            return Some(Reason::Returned);
        }
        PartKind::Added => {}
    }
    later(places, difference, page)
}

/// A part that stays the same for so many contents, while the page changes elsewhere, has lasted.
const LONG_STAY: u8 = 8;
/// A line that came and went more often than this is rotating, however long it stays.
const FEW_TOGGLES: u8 = 3;

/// Whether a line lasted before it comes or goes again, and has seldom come and gone.
const fn has_lasted(line: Sighting, page: Page) -> bool {
    (page.has_stood || line.age >= LONG_STAY) && line.n_toggles <= FEW_TOGGLES
}

/// Whether all lines that come back had been gone for long: that is news again.
fn was_gone_for_long(seen: &Seen, difference: &Difference<'_>, page: Page) -> bool {
    let mut lines = difference.new_lines.iter().filter_map(|line| seen.sighting(*line));
    lines.all(|line| has_lasted(line, page))
}

/// Whether what was replaced had lasted. Then a state that returns is news: out of stock, down, the old price. A text that returns
/// is news only if the replaced text had taken its place. What stands beside the content is never news for this reason.
fn stood(places: &Places, seen: &Seen, difference: &Difference<'_>, page: Page) -> bool {
    let has_stood = |spot: &Spot| {
        let came = |says: u32| seen.sighting(at(spot.key, says)).map(|sighting| sighting.age);
        let (before, now) = (came(spot.slot.says.0), came(spot.slot.says.1));
        // What hardly ever stands has stood by chance.
        let is_long = page.has_stood && !places.record(spot.key).hardly_stands()
            || before.is_some_and(|age| age >= LONG_STAY);
        let is_state = !spot.slot.shape.is_replaced() && spot.slot.shape != Shape::Code;
        is_long && (is_state || before.is_some() && before == now)
    };
    let mut open = difference.slots.iter().filter(|spot| spot.is_open()).peekable();
    difference.nature.region == Region::Content && open.peek().is_some() && open.all(has_stood)
}

/// Whether all that a list in one line has now and had not before was there earlier.
fn lists_known_pieces(seen: &Seen, difference: &Difference<'_>) -> bool {
    let (old, new) = &difference.pieces;
    let is_known = |piece: &&u32| seen.sighting(at(difference.container, **piece)).is_some();
    new.len() > 1
        && new.len() == old.len()
        && new.iter().filter(|piece| !old.contains(piece)).all(|piece| is_known(&piece))
}

/// Whether the place is restless, or the list that it is in.
fn later(places: &Places, difference: &Difference<'_>, page: Page) -> Option<Reason> {
    let nature = difference.nature;
    let container = places.record(difference.container);
    if is_volatile(places, difference, page.is_one_of_many) {
        return Some(Reason::Volatile);
    }
    let is_entry =
        difference.slots.is_empty() || difference.slots.iter().any(|spot| spot.slot.shape.is_replaced());
    // That a text beside it takes turns with others says nothing of a paragraph, nor of a list that grows or shrinks.
    let is_of_a_list = difference.may_rotate || nature.region != Region::Content;
    (is_entry && is_of_a_list && difference.is_in_container && container.rotates(nature))
        .then_some(Reason::Volatile)
}

/// Entries that left a list at its end while others came, or came at its end while others left.
fn scrolled(differences: &[Difference<'_>]) -> BTreeSet<usize> {
    let mut by_container: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (index, difference) in differences.iter().enumerate() {
        if difference.is_open()
            && !matches!(difference.nature.kind, PartKind::Edited { .. })
            && difference.container != ITEMS
        {
            by_container.entry(difference.container).or_default().push(index);
        }
    }
    let mut scrolled = BTreeSet::new();
    for indices in by_container.values() {
        let of = |kind: PartKind, is_last: bool| {
            let is_such = move |index: &&usize| {
                let difference = &differences[**index];
                difference.nature.kind == kind && difference.is_last_in_container == is_last
            };
            indices.iter().filter(is_such)
        };
        // A list of one length: what comes at its top pushes out what is at its end, and the other way round.
        if of(PartKind::Added, false).next().is_some() && of(PartKind::Added, true).next().is_none() {
            scrolled.extend(of(PartKind::Removed, true));
        }
        if of(PartKind::Removed, false).next().is_some() && of(PartKind::Removed, true).next().is_none() {
            scrolled.extend(of(PartKind::Added, true));
        }
    }
    scrolled
}

/// All differences, as they are.
pub(super) fn everything(differences: Vec<Difference<'_>>) -> Verdict<'_> {
    let mut verdict = Verdict::default();
    for difference in differences {
        let has_text = !difference.changed.old.is_empty() || !difference.changed.new.is_empty();
        let reason = (!has_text).then_some(Reason::Moved);
        keep(&mut verdict, difference, reason);
    }
    verdict.reported.sort_by_key(|changed| changed.rank);
    verdict
}

/// Suppressed differences that are listed.
const MAX_LISTED: usize = 50;
/// Bytes of each side of them.
const LONGEST_LISTED: usize = 160;

fn keep<'i>(verdict: &mut Verdict<'i>, difference: Difference<'i>, reason: Option<Reason>) {
    match reason {
        None => verdict.reported.push(difference.changed),
        Some(reason) if verdict.suppressed.len() < MAX_LISTED => {
            let shown = |text: &str| cut(text, LONGEST_LISTED).to_owned();
            let (old, new) = (shown(&difference.changed.old), shown(&difference.changed.new));
            verdict.suppressed.push(Suppressed { reason, old, new });
        }
        Some(_) => {}
    }
}
