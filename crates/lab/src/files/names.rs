//! Ids as dense indices: assigned in order of first appearance, or by the byte order of the ids.

use std::collections::HashMap;

/// Numbers ids in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// Only ever looked up, so its random order reaches nothing.
    by_name: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    /// The index of `name`, a new one if it has not been seen.
    pub(super) fn intern(&mut self, name: &str) -> u32 {
        if let Some(&idx) = self.by_name.get(name) {
            return idx;
        }
        let idx = u32::try_from(self.names.len()).expect("fewer ids than data lines, which are capped");
        self.by_name.insert(name.to_owned(), idx);
        self.names.push(name.to_owned());
        idx
    }

    /// The ids, by index.
    pub(super) fn into_names(self) -> Vec<String> {
        self.names
    }

    /// The ids in byte order, and for every index handed out its place in that order.
    pub(super) fn into_byte_order(self) -> (Vec<String>, Vec<u32>) {
        let mut order: Vec<u32> = (0u32..).zip(&self.names).map(|(idx, _)| idx).collect();
        order.sort_unstable_by_key(|&idx| &self.names[idx as usize]);
        let mut places = vec![0; order.len()];
        for (place, &idx) in (0u32..).zip(&order) {
            places[idx as usize] = place;
        }
        let mut names = self.names;
        names.sort_unstable();
        (names, places)
    }
}

/// Looks up the indices of known ids.
pub(super) fn index(names: &[String]) -> HashMap<&str, u32> {
    names.iter().map(String::as_str).zip(0..).collect()
}

/// Two lists in byte order as one, every id once.
pub(super) fn union(left: &[String], right: &[String]) -> Vec<String> {
    let mut names = [left, right].concat();
    names.sort_unstable();
    names.dedup();
    names
}

/// Ids for synthetic things: `prefix` and a number from 1, with as many zeros as make byte order the order of
/// the numbers.
pub fn numbered(prefix: &str, count: usize) -> Vec<String> {
    let width = count.to_string().len().max(4);
    (1..=count).map(|number| format!("{prefix}{number:0width$}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_places_every_index() {
        let mut names = Names::default();
        let handed_out: Vec<_> = ["b", "é", "a", "b", "B"].map(|name| names.intern(name)).into();
        assert_eq!(handed_out, [0, 1, 2, 0, 3]);
        let (names, places) = names.into_byte_order();
        assert_eq!(names, ["B", "a", "b", "é"]);
        assert_eq!(places, [2, 3, 1, 0]);
    }

    #[test]
    fn made_up_names_sort_as_their_numbers() {
        let names = numbered("s", 12_345);
        assert_eq!((names[0].as_str(), names[12_344].as_str()), ("s00001", "s12345"));
        assert!(names.is_sorted());
        assert_eq!(numbered("s", 1), ["s0001"]);
    }
}
