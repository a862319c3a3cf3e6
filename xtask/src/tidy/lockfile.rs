//! What the packages of others depend on in turn, read from Cargo.lock.
//!
//! The lock file merges what tests need with what code needs, so it is not to be asked about our own crates;
//! their manifests distinguish the two.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::tree::Tree;

/// Package name to the names it depends on, with all locked versions of a package taken together.
#[derive(Debug, Default)]
pub(super) struct Lockfile {
    dependencies: BTreeMap<String, BTreeSet<String>>,
}

impl Lockfile {
    /// Reads the lock file of the tree; empty when there is none.
    pub(super) fn read(tree: &Tree) -> Self {
        let mut lockfile = Self::default();
        let mut package = String::new();
        let text = tree.file("Cargo.lock").map_or("", |file| file.text);
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix("name = ") {
                name.trim_matches('"').clone_into(&mut package);
            } else if let Some(dependency) = line.strip_prefix('"') {
                // `"name"`, or `"name version"` when several versions are locked.
                let name = dependency.split(['"', ' ']).next().unwrap_or_default();
                lockfile.dependencies.entry(package.clone()).or_default().insert(name.to_owned());
            }
        }
        lockfile
    }

    /// The shortest way from `start` to each package it reaches, itself included, both ends in the path, without
    /// following the packages `left_out`.
    pub(super) fn ways_from(&self, start: &str, left_out: &[&str]) -> BTreeMap<String, Vec<String>> {
        let mut ways = BTreeMap::from([(start.to_owned(), vec![start.to_owned()])]);
        let mut waiting = VecDeque::from([start.to_owned()]);
        while let Some(package) = waiting.pop_front() {
            let way = ways.get(&package).cloned().unwrap_or_default();
            for next in self.dependencies.get(&package).into_iter().flatten() {
                if !ways.contains_key(next) && !left_out.contains(&next.as_str()) {
                    ways.insert(next.clone(), [way.as_slice(), std::slice::from_ref(next)].concat());
                    waiting.push_back(next.clone());
                }
            }
        }
        ways
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_shortest_and_cover_everything_reachable() {
        let text = "version = 4\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\ndependencies = [\n \"b\",\n \
                    \"c 2.0.0\",\n]\n[[package]]\nname = \"b\"\ndependencies = [\n \"c 2.0.0\",\n]\n\
                    [[package]]\nname = \"c\"\nversion = \"2.0.0\"\ndependencies = [\n \"d\",\n]\n\
                    [[package]]\nname = \"e\"\n";
        let ways = Lockfile::read(&Tree::of(&[("Cargo.lock", text)])).ways_from("a", &[]);
        let found: Vec<String> = ways.values().map(|way| way.join(" ")).collect();
        assert_eq!(found, ["a", "a b", "a c", "a c d"]);
        let ways = Lockfile::read(&Tree::of(&[("Cargo.lock", text)])).ways_from("a", &["c"]);
        assert_eq!(ways.into_keys().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn without_a_lock_file_a_package_reaches_itself() {
        assert_eq!(Lockfile::read(&Tree::of(&[])).ways_from("a", &[]).len(), 1);
    }
}
