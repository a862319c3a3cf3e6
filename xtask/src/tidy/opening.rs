//! Every Rust file opens with `//!`: what it is, and what it is not.
//!
//! Only the presence is checked. Whether the sentence is worth reading is for the reviewer.

use super::Problem;
use super::tree::Tree;

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust()
        .filter(|file| !says_something(file.text))
        .map(|file| {
            let remedy = "start the first line with `//!`: what the file is, and what it is not";
            Problem::new(file.path, 1, "no opening comment", remedy)
        })
        .collect()
}

fn says_something(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//!").is_some_and(|words| !words.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;

    #[test]
    fn a_file_that_says_what_it_is_passes() {
        let files =
            [("crates/lab/src/lib.rs", "//! The simulator.\n"), ("docs/snippet.rs", "fn main() {}\n")];
        assert_eq!(report(check, &files), [""; 0]);
    }

    #[test]
    fn a_file_that_starts_with_code_an_item_comment_or_nothing_fails() {
        let remedy = "start the first line with `//!`: what the file is, and what it is not";
        for text in ["use std::fmt;\n", "/// Doc.\nfn a() {}\n", "//!\n//! Late.\n", ""] {
            let expected = [format!("xtask/src/a.rs:1: no opening comment ({remedy})")];
            assert_eq!(report(check, &[("xtask/src/a.rs", text)]), expected, "{text:?}");
        }
    }
}
