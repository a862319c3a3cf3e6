//! The fingerprints by which a change is recognised when something like it happens again.

use crate::detect::Change;
use crate::diff::line_hunks;
use crate::document::Item;
use crate::hashing::short_hash;
use crate::work::Work;

/// What is characteristic of one change.
#[derive(Debug, Default)]
pub(super) struct Trait {
    /// If this is known, the change leads back to where the source was before.
    pub(super) arrives_at: u64,
    /// What to know from now on.
    pub(super) leaves_behind: Vec<u64>,
    /// For each run of differing lines, where it is: after which line and before which.
    pub(super) places: Vec<u64>,
    /// The differing lines with digits and codes blotted out, run after run.
    pub(super) shapes: Vec<u64>,
    /// Where the shapes of each run begin, and the end.
    pub(super) shape_bounds: Vec<usize>,
    /// The differing lines themselves, with the number of their run.
    pub(super) lines: Vec<(usize, u64)>,
}

/// Changes with more differing lines are known by their whole states only: they would crowd out all else.
const MAX_LINES: usize = 200;

pub(super) fn traits_of(change: &Change<'_>, work: &Work) -> Trait {
    match change {
        Change::Added(item) => Trait { arrives_at: state(item), shape_bounds: vec![0], ..Trait::default() },
        Change::Removed(item) => {
            // Being gone is a state to come back to only for what was gone before and came again.
            let gone = short_hash(&["gone", &item.id.to_string()]);
            Trait {
                arrives_at: gone,
                leaves_behind: vec![gone, state(item)],
                shape_bounds: vec![0],
                ..Trait::default()
            }
        }
        Change::Edited { old, new } => edit(old, new, work),
    }
}

fn edit(old: &Item, new: &Item, work: &Work) -> Trait {
    let id = new.id.to_string();
    let mut traits = Trait {
        arrives_at: state(new),
        leaves_behind: vec![state(old), state(new)],
        shape_bounds: vec![0],
        ..Trait::default()
    };
    let (old_lines, new_lines) = (lines(old), lines(new));
    let Some(hunks) = line_hunks(&old_lines, &new_lines, work) else { return traits };
    if hunks.iter().map(|(removed, inserted)| removed.len() + inserted.len()).sum::<usize>() > MAX_LINES {
        return traits;
    }
    for (run, (removed, inserted)) in hunks.into_iter().enumerate() {
        let before = removed.start.checked_sub(1).map_or("", |index| old_lines[index]);
        let after = old_lines.get(removed.end).copied().unwrap_or_default();
        traits.places.push(short_hash(&["place", &id, before, after]));
        for line in old_lines[removed].iter().chain(&new_lines[inserted]) {
            // With the line before it, since one `sold out` is not another.
            traits.lines.push((run, short_hash(&["line", &id, before, line])));
            traits.shapes.push(short_hash(&["shape", &id, &blotted(line)]));
        }
        traits.shape_bounds.push(traits.shapes.len());
    }
    traits
}

fn state(item: &Item) -> u64 {
    short_hash(&["state", &item.id.to_string(), &item.title, &item.text])
}

fn lines(item: &Item) -> Vec<&str> {
    std::iter::once(item.title.as_str()).chain(item.text.lines()).collect()
}

/// The line with numbers and codes blotted out: what stays the same of `Served in 0.13 s by node-7f3a9c21`.
fn blotted(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let has = |test: fn(char) -> bool| word.contains(test);
        if word.len() >= 8 && has(|c| c.is_ascii_digit()) && has(|c| c.is_ascii_alphabetic()) {
            return "#".to_owned();
        }
        let mut blotted: Vec<char> = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        blotted.dedup_by(|a, b| a == b && *a == '0');
        blotted.into_iter().collect()
    });
    words.collect::<Vec<String>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::blotted;

    #[test]
    fn numbers_and_codes_are_blotted_out() {
        assert_eq!(blotted("Served in 0.135 s by node-7f3a9c21"), "Served in 0.0 s by #");
        assert_eq!(blotted("12 comments"), blotted("7 comments"));
        assert_ne!(blotted("12 comments"), blotted("12 views"));
    }
}
