//! Which lines two texts have in common, in the same order. Lines that each has once come first: a line that a text has many times
//! anchors nothing, since `Operational` may be of any row.

use std::collections::BTreeMap;

use crate::diff::same;
use crate::work::Work;

/// Pairs of equal fingerprints that stand in the same order on both sides.
pub(super) fn aligned(old: &[u64], new: &[u64], work: &Work) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let (mut at_old, mut at_new) = (0, 0);
    for (next_old, next_new) in anchors(old, new).into_iter().chain([(old.len(), new.len())]) {
        let between = same(&old[at_old..next_old], &new[at_new..next_new], work).unwrap_or_default();
        pairs.extend(between.into_iter().map(|(old, new)| (at_old + old, at_new + new)));
        if next_old < old.len() {
            pairs.push((next_old, next_new));
        }
        (at_old, at_new) = (next_old + 1, next_new + 1);
    }
    pairs
}

/// Lines that both sides have exactly once, as many as stand in the same order.
pub(super) fn anchors(old: &[u64], new: &[u64]) -> Vec<(usize, usize)> {
    let once = |lines: &[u64]| {
        let mut places: BTreeMap<u64, Option<usize>> = BTreeMap::new();
        for (index, line) in lines.iter().enumerate() {
            places.entry(*line).and_modify(|place| *place = None).or_insert(Some(index));
        }
        places
    };
    let (in_old, in_new) = (once(old), once(new));
    let both = |(line, at_old): (&u64, &Option<usize>)| Some(((*at_old)?, (*in_new.get(line)?)?));
    let mut pairs: Vec<(usize, usize)> = in_old.iter().filter_map(both).collect();
    pairs.sort_unstable();
    rising(&pairs)
}

/// The longest run of pairs that rises on the right as well; they rise on the left.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair that ends such a run with the smallest number on the right.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < pair.1);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() { ends.push(index) } else { ends[length] = index }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        run.push(pairs[index]);
        next = before[index];
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_occur_once_are_found_before_those_that_occur_often() {
        // Rows of a table: a name, then a state that many rows have.
        let (old, new) = ([10, 1, 20, 1, 30, 1, 40], [10, 1, 20, 2, 30, 1, 40]);
        let expected = [(0, 0), (1, 1), (2, 2), (4, 4), (5, 5), (6, 6)];
        assert_eq!(aligned(&old, &new, &Work::default()), expected);
        assert_eq!(rising(&[(0, 2), (1, 0), (2, 1), (3, 5), (4, 3)]), [(1, 0), (2, 1), (4, 3)]);
    }
}
