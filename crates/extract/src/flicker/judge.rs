//! Which differences are reported: each is looked up in what is known of the page, and remembered. One pass; the caller's memory is
//! changed as it goes.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::difference::{Difference, ITEMS};
use super::places::Places;
use super::seen::Seen;
use super::verdict::{Reason, Suppressed, Verdict};
use crate::outline::Region;
use crate::parts::PartKind;
use crate::text::cut;

/// Judges differences by what is known of the page, and remembers them.
pub(super) fn judge<'i>(
    places: &mut Places,
    seen: &mut Seen,
    differences: Vec<Difference<'i>>,
    is_telling: bool,
) -> Verdict<'i> {
    places.begin(is_telling);
    seen.begin();
    let scrolled = scrolled(&differences);
    let has_returned: Vec<Returned> =
        differences.iter().map(|difference| returned(seen, difference)).collect();
    let mut changed: BTreeMap<u32, (bool, Ordering)> = BTreeMap::new();
    for (difference, has_returned) in differences.iter().zip(&has_returned) {
        if difference.is_open() {
            let mut note = |key, has_returned, direction| {
                let entry = changed.entry(key).or_insert((false, Ordering::Equal));
                *entry = (entry.0 | has_returned, direction);
            };
            note(difference.place, has_returned.here, difference.direction);
            note(difference.container, has_returned.anywhere, Ordering::Equal);
        }
    }
    for (key, (has_returned, direction)) in changed {
        places.is_different(key, has_returned, direction);
    }
    // Two parts of a page that return together are another variant of the page.
    let n_restless = places.n_restless();
    let is_text = |difference: &&Difference<'_>| {
        let kind = difference.nature.kind;
        kind != PartKind::Edited { only_values: true }
            && !places.record(difference.place).is_volatile(difference.nature, n_restless)
    };
    let returning = differences.iter().zip(&has_returned).filter(|(difference, has_returned)| {
        difference.is_open() && has_returned.here && is_text(difference)
    });
    let is_variant = returning.map(|(difference, _)| difference.container).collect::<BTreeSet<_>>().len() > 1;
    let mut verdict = Verdict::default();
    for (index, difference) in differences.into_iter().enumerate() {
        let reason = difference.reason.or_else(|| {
            if scrolled.contains(&index) {
                return Some(Reason::ScrolledOut);
            }
            reason_for(places, seen, &difference, has_returned[index], Page { n_restless, is_variant })
        });
        let is_added = difference.nature.kind == PartKind::Added;
        let is_edit = matches!(difference.nature.kind, PartKind::Edited { .. });
        for line in difference.old_lines.iter().chain(&difference.new_lines).take(MAX_LINES) {
            seen.toggled(*line, is_added);
            if is_edit {
                seen.toggled(at(difference.place, *line), false);
            }
        }
        keep(&mut verdict, difference, reason);
    }
    verdict.reported.sort_by_key(|changed| changed.rank);
    verdict
}

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
    let known = |print: &dyn Fn(u32) -> u32| {
        !lines.is_empty() && lines.iter().all(|line| seen.sighting(print(*line)).is_some())
    };
    let anywhere = known(&|line| line);
    let is_edit = matches!(difference.nature.kind, PartKind::Edited { .. });
    Returned { here: if is_edit { known(&|line| at(difference.place, line)) } else { anywhere }, anywhere }
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
    /// How many places are different nearly every time.
    n_restless: usize,
    /// Whether another variant of the page is shown.
    is_variant: bool,
}

fn reason_for(
    places: &Places,
    seen: &Seen,
    difference: &Difference<'_>,
    has_returned: Returned,
    page: Page,
) -> Option<Reason> {
    let nature = difference.nature;
    let place = places.record(difference.place);
    let is_beside = nature.region != Region::Content;
    match nature.kind {
        PartKind::Added if has_returned.anywhere => return Some(Reason::Returned),
        PartKind::Removed => {
            let sightings = difference.old_lines.iter().map(|line| seen.sighting(*line));
            let comes_and_goes = |sighting: Option<super::seen::Sighting>| {
                sighting.is_some_and(|line| {
                    line.n_toggles > 1 || line.was_added && line.age <= MOMENT || is_beside
                })
            };
            if !difference.old_lines.is_empty() && sightings.into_iter().all(comes_and_goes) {
                return Some(Reason::Returned);
            }
        }
        PartKind::Edited { only_values } => {
            let is_one_of_few = has_returned.here && (page.is_variant && !only_values || place.n_returns > 2);
            if !(is_one_of_few || is_beside && has_returned.anywhere) {
                return later(places, difference, page);
            }
            return Some(Reason::Returned);
        }
        PartKind::Added => {}
    }
    later(places, difference, page)
}

/// Whether the place is restless, or the list that it is in.
fn later(places: &Places, difference: &Difference<'_>, page: Page) -> Option<Reason> {
    let nature = difference.nature;
    let place = places.record(difference.place);
    let container = places.record(difference.container);
    if place.is_volatile(nature, page.n_restless) {
        return Some(Reason::Volatile);
    }
    let is_entry = !matches!(nature.kind, PartKind::Edited { only_values: true });
    (is_entry && difference.is_in_container && container.rotates(nature)).then_some(Reason::Volatile)
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
