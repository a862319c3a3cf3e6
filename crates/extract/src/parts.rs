//! Two texts to the parts in which they differ: lines that came, lines that went, lines that say something else. What moved, or
//! differs only in what a clock, a counter or a server makes, is told apart here; what is worth reporting is decided elsewhere.

mod anchors;
mod clock;
mod likeness;
mod lines;
mod slots;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::hashing::mixed;
use crate::outline::{LineContext, Region};
use crate::work::Work;

use anchors::{aligned, anchors};
use clock::Elapsed;
pub(crate) use likeness::alike_texts as alike;
use likeness::{Features, features, paired};
pub(crate) use lines::{Line, lines_of};
pub(crate) use slots::{Shape, Slot, columns_of, pieces as pieces_of};
pub use values::Recognised;
pub(crate) use values::{
    Moment, counts, is_measured, is_precious, key_of, recognised_alone, recognised_line,
};

/// What happened to a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartKind {
    Added,
    Edited {
        /// Only figures, dates and the like are different.
        only_values: bool,
    },
    Removed,
}

/// A part in which two texts differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) kind: PartKind,
    /// The lines that were there.
    pub(crate) old: Range<usize>,
    /// The lines that are there.
    pub(crate) new: Range<usize>,
    /// A fingerprint of where it is.
    pub(crate) place: u32,
    /// A fingerprint of what it is one of several in.
    pub(crate) container: u32,
    pub(crate) region: Region,
    /// In what an edited line differs.
    pub(crate) slots: Vec<Slot>,
}

/// How two texts differ.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    /// In the order of the new text; what is gone comes last.
    pub(crate) open: Vec<Part>,
    /// Pairs of lines that differ only in what is recognised as noise.
    pub(crate) recognised: Vec<(usize, usize, Recognised, Vec<Slot>)>,
    /// Lines that are somewhere else now.
    pub(crate) n_moved: usize,
    /// The texts are too long and too different to be compared line by line.
    pub(crate) is_unknown: bool,
}

/// Steps for each byte of a line that is not the same on both sides.
const STEPS_PER_BYTE: u64 = 4;

/// Compares two texts; as a whole where there is too little work left for more.
pub(crate) fn compare<'i>(old: &[Line<'i>], new: &[Line<'i>], moment: Moment, work: &Work) -> Parts {
    if !work.take((old.len() + new.len()) as u64) {
        return Parts { is_unknown: true, ..Parts::default() };
    }
    let hunks = hunks(old, new);
    let n_bytes = |lines: &[Line<'_>]| lines.iter().map(|line| line.text.len() as u64).sum::<u64>();
    let n_different = hunks
        .iter()
        .map(|(removed, inserted)| n_bytes(&old[removed.clone()]) + n_bytes(&new[inserted.clone()]));
    // A line that is different is cut into words several times.
    if !work.take(n_different.sum::<u64>() * STEPS_PER_BYTE) {
        return Parts { is_unknown: true, ..Parts::default() };
    }
    let mut comparison = Comparing { old, new, elapsed: Elapsed::of(moment), work, parts: Parts::default() };
    let mut left = (Vec::new(), Vec::new());
    let mut groups = Vec::new();
    for (removed, inserted) in hunks {
        let (removed, inserted) = comparison.without_recognised(removed, inserted);
        let start = (left.0.len(), left.1.len());
        left.0.extend(removed);
        left.1.extend(inserted);
        groups.push((start.0..left.0.len(), start.1..left.1.len()));
    }
    let moved = comparison.moved(&left.0, &left.1);
    let (mut pairs, mut removed_alone, mut inserted_alone) = (Vec::new(), Vec::new(), Vec::new());
    for (removed, inserted) in groups {
        let keep = |lines: &[Candidate], range: Range<usize>, moved: &[bool]| -> Vec<usize> {
            range.filter(|at| !moved[*at]).map(|at| lines[at].index).collect()
        };
        removed_alone.extend(keep(&left.0, removed.clone(), &moved.0));
        inserted_alone.extend(keep(&left.1, inserted.clone(), &moved.1));
        pairs.extend(comparison.pairs(&keep(&left.0, removed, &moved.0), &keep(&left.1, inserted, &moved.1)));
    }
    let without =
        |indices: &mut Vec<usize>, taken: BTreeSet<usize>| indices.retain(|index| !taken.contains(index));
    for round in 0..3 {
        if round > 0 {
            let more = comparison.pairs_elsewhere(&removed_alone, &inserted_alone, round == 1);
            pairs.extend(more);
        }
        without(&mut removed_alone, pairs.iter().map(|(old, _)| *old).collect());
        without(&mut inserted_alone, pairs.iter().map(|(_, new)| *new).collect());
    }
    pairs.sort_unstable_by_key(|(_, new)| *new);
    for (old, new) in pairs {
        comparison.add_edit(old, new);
    }
    comparison.add_inserted(&inserted_alone);
    comparison.add_removed(&removed_alone);
    comparison.parts.open.sort_by_key(|part| (part.new.is_empty(), part.new.start, part.old.start));
    comparison.parts
}

/// The runs of lines between lines that both sides have once, without what is equal at the ends of such a run.
fn hunks(old: &[Line<'_>], new: &[Line<'_>]) -> Vec<(Range<usize>, Range<usize>)> {
    let prints = |lines: &[Line<'_>]| lines.iter().map(|line| values::hash_of(line.text)).collect::<Vec<_>>();
    let (mut hunks, mut at_old, mut at_new) = (Vec::new(), 0, 0);
    for (next_old, next_new) in
        anchors(&prints(old), &prints(new)).into_iter().chain([(old.len(), new.len())])
    {
        let (mut start, mut end) = ((at_old, at_new), (next_old, next_new));
        while start.0 < end.0 && start.1 < end.1 && old[start.0].text == new[start.1].text {
            start = (start.0 + 1, start.1 + 1);
        }
        while start.0 < end.0 && start.1 < end.1 && old[end.0 - 1].text == new[end.1 - 1].text {
            end = (end.0 - 1, end.1 - 1);
        }
        if start != end {
            hunks.push((start.0..end.0, start.1..end.1));
        }
        (at_old, at_new) = (next_old + 1, next_new + 1);
    }
    hunks
}

/// A line that has no partner yet, and what it is recognised by.
#[derive(Debug)]
struct Candidate {
    index: usize,
    key: u64,
}

struct Comparing<'c, 'i> {
    old: &'c [Line<'i>],
    new: &'c [Line<'i>],
    elapsed: Option<Elapsed>,
    work: &'c Work,
    parts: Parts,
}

impl Comparing<'_, '_> {
    /// The lines of a hunk that are still different once what is recognised as noise is set aside.
    fn without_recognised(
        &mut self,
        removed: Range<usize>,
        inserted: Range<usize>,
    ) -> (Vec<Candidate>, Vec<Candidate>) {
        let candidates = |lines: &[Line<'_>], range: Range<usize>| -> Vec<Candidate> {
            range.map(|index| Candidate { index, key: key_of(lines[index].tokens()) }).collect()
        };
        let (mut removed, mut inserted) = (candidates(self.old, removed), candidates(self.new, inserted));
        // Lines with the same words, whatever their figures, are found first: rows of a table keep their order.
        let templates = |lines: &[Line<'_>], candidates: &[Candidate]| -> Vec<u64> {
            candidates.iter().map(|line| values::template_of(lines[line.index].tokens())).collect()
        };
        let pairs = aligned(&templates(self.old, &removed), &templates(self.new, &inserted), self.work);
        let mut is_paired = (vec![false; removed.len()], vec![false; inserted.len()]);
        for (old, new) in pairs {
            if removed[old].key != inserted[new].key {
                continue;
            }
            (is_paired.0[old], is_paired.1[new]) = (true, true);
            let (old, new) = (removed[old].index, inserted[new].index);
            if self.old[old].text != self.new[new].text {
                let slots = slots::slots(&self.old[old], &self.new[new], self.elapsed, self.work);
                let what = slots.iter().filter_map(|slot| slot.noise).max();
                self.parts.recognised.push((old, new, what.unwrap_or(Recognised::Formatting), slots));
            }
        }
        let mut at = is_paired.0.iter();
        removed.retain(|_| !at.next().copied().unwrap_or_default());
        let mut at = is_paired.1.iter();
        inserted.retain(|_| !at.next().copied().unwrap_or_default());
        (removed, inserted)
    }

    /// Which lines are on the other side as well, somewhere else.
    fn moved(&mut self, removed: &[Candidate], inserted: &[Candidate]) -> (Vec<bool>, Vec<bool>) {
        let mut waiting: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, line) in removed.iter().enumerate().rev() {
            waiting.entry(line.key).or_default().push(at);
        }
        let mut moved = (vec![false; removed.len()], vec![false; inserted.len()]);
        for (at, line) in inserted.iter().enumerate() {
            if let Some(from) = waiting.get_mut(&line.key).and_then(Vec::pop) {
                (moved.0[from], moved.1[at]) = (true, true);
                self.parts.n_moved += 1;
            }
        }
        moved
    }

    /// Which lines of a hunk became which.
    fn pairs(&self, removed: &[usize], inserted: &[usize]) -> Vec<(usize, usize)> {
        let read = |lines: &[Line<'_>], indices: &[usize]| -> Vec<Features> {
            indices.iter().map(|index| features(&lines[*index])).collect()
        };
        let pairs = paired(&read(self.old, removed), &read(self.new, inserted), self.work);
        pairs.into_iter().map(|(old, new)| (removed[old], inserted[new])).collect()
    }

    /// Lines that moved and say something else as well: with `by_words`, the same words with other figures; else whatever is said at
    /// a place that both texts have once. Once on each side.
    fn pairs_elsewhere(&self, removed: &[usize], inserted: &[usize], by_words: bool) -> Vec<(usize, usize)> {
        let once = |lines: &[Line<'_>], indices: &[usize]| {
            let mut found: BTreeMap<(u32, u64), Option<usize>> = BTreeMap::new();
            let of_several = lines.iter().filter(|line| line.ordinal > 0).map(|line| line.context.path);
            let of_several: BTreeSet<u32> = of_several.collect();
            let is_alone = |line: &Line<'_>| !of_several.contains(&line.context.path);
            for index in indices.iter().filter(|index| by_words || is_alone(&lines[**index])) {
                let line = &lines[*index];
                let what = (line.context.path, if by_words { values::template_of(line.tokens()) } else { 0 });
                found.entry(what).and_modify(|place| *place = None).or_insert(Some(*index));
            }
            found
        };
        let (olds, news) = (once(self.old, removed), once(self.new, inserted));
        olds.iter().filter_map(|(what, old)| Some(((*old)?, (*news.get(what)?)?))).collect()
    }

    fn add_edit(&mut self, old: usize, new: usize) {
        let (before, now) = (&self.old[old], &self.new[new]);
        if let Some(what) = values::recognised_lines(before.text, now.text) {
            self.parts.recognised.push((old, new, what, Vec::new()));
            return;
        }
        let slots = slots::slots(before, now, self.elapsed, self.work);
        if slots.iter().all(|slot| slot.noise.is_some()) {
            let what = slots.iter().filter_map(|slot| slot.noise).max();
            self.parts.recognised.push((old, new, what.unwrap_or(Recognised::Formatting), slots));
            return;
        }
        if is_reordered(before.text, now.text) {
            self.parts.n_moved += 1;
            return;
        }
        let template = values::template_of(now.tokens());
        let only_values = values::template_of(before.tokens()) == template;
        // The same words at the same place are one figure that moves, wherever the lines above it went.
        let place = if only_values {
            mixed(now.context.path, &template.to_string())
        } else {
            mixed(before.context.path, &before.ordinal.to_string())
        };
        self.parts.open.push(Part {
            kind: PartKind::Edited { only_values },
            old: old..old + 1,
            new: new..new + 1,
            place,
            container: now.context.container,
            region: now.context.region,
            slots,
        });
    }

    fn add_removed(&mut self, indices: &[usize]) {
        for group in entries(indices, self.old) {
            self.add_group(PartKind::Removed, group);
        }
    }

    fn add_inserted(&mut self, indices: &[usize]) {
        for group in entries(indices, self.new) {
            self.add_group(PartKind::Added, group);
        }
    }

    fn add_group(&mut self, kind: PartKind, group: Range<usize>) {
        let line = &(if kind == PartKind::Added { self.new } else { self.old })[group.start];
        let (old, new) = if kind == PartKind::Added { (0..0, group) } else { (group, 0..0) };
        let place = mixed(line.context.path, &format!("#{}", line.ordinal));
        let LineContext { container, region, .. } = line.context;
        self.parts.open.push(Part { kind, old, new, place, container, region, slots: Vec::new() });
    }
}

/// Whether two lines list the same things in another order.
fn is_reordered(old: &str, new: &str) -> bool {
    let (mut old, mut new) = (slots::pieces(old), slots::pieces(new));
    old.sort_unstable();
    new.sort_unstable();
    !old.is_empty() && old == new
}

/// Lines that follow each other and belong together: one entry of a list, one section, one passage.
fn entries(indices: &[usize], lines: &[Line<'_>]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for index in indices {
        let LineContext { starts_entry, is_heading, region, .. } = lines[*index].context;
        match groups.last_mut() {
            Some(group)
                if group.end == *index
                    && !starts_entry
                    && !is_heading
                    && lines[group.start].context.region == region =>
            {
                group.end = index + 1;
            }
            _ => groups.push(*index..index + 1),
        }
    }
    groups
}
