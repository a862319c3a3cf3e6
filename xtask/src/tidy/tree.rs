//! The repository as the checks see it: paths and texts in memory.
//!
//! Reading the disk happens here and nowhere else, so a test can hand any check a repository of three lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// Build output and history are not ours to judge.
const SKIPPED_DIRECTORIES: &[&str] = &["target", ".git", "node_modules"];

/// Files of other kinds are known by path only.
const READ_EXTENSIONS: &[&str] = &["rs", "md", "toml", "lock"];

/// One file that a check may read.
#[derive(Debug)]
pub(super) struct File<'t> {
    /// Relative to the root, with forward slashes.
    pub(super) path: &'t str,
    pub(super) text: &'t str,
}

impl<'t> File<'t> {
    /// The lines with their numbers, counted from 1 as editors do.
    pub(super) fn lines(&self) -> impl Iterator<Item = (usize, &'t str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// All files of a repository by path, in order of path.
#[derive(Debug, Default)]
pub(super) struct Tree {
    texts: BTreeMap<String, String>,
}

impl Tree {
    /// Reads the repository at `root`.
    pub(super) fn load(root: &Path) -> Result<Self> {
        let mut tree = Self::default();
        tree.load_directory(root, "")?;
        Ok(tree)
    }

    fn load_directory(&mut self, directory: &Path, prefix: &str) -> Result<()> {
        let reading = || format!("cannot read {}", directory.display());
        for entry in fs::read_dir(directory).with_context(reading)? {
            let entry = entry.with_context(reading)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            // A symbolic link is neither: following one could leave the repository or never end.
            let kind = entry.file_type().with_context(reading)?;
            if kind.is_dir() {
                if !SKIPPED_DIRECTORIES.contains(&name.as_str()) {
                    self.load_directory(&entry.path(), &format!("{path}/"))?;
                }
            } else if kind.is_file() {
                let is_read = READ_EXTENSIONS.iter().any(|extension| has_extension(&name, extension));
                let text = if is_read {
                    fs::read_to_string(entry.path()).with_context(|| format!("cannot read {path}"))?
                } else {
                    String::new()
                };
                self.texts.insert(path, text);
            }
        }
        Ok(())
    }

    /// A repository made of these paths and texts.
    #[cfg(test)]
    pub(super) fn of(files: &[(&str, &str)]) -> Self {
        let texts = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Self { texts }
    }

    pub(super) fn files(&self) -> impl Iterator<Item = File<'_>> {
        self.texts.iter().map(|(path, text)| File { path, text })
    }

    pub(super) fn file(&self, path: &str) -> Option<File<'_>> {
        self.texts.get_key_value(path).map(|(path, text)| File { path, text })
    }

    /// The Rust files that follow the house rules; Rust text among the test data is data.
    pub(super) fn rust(&self) -> impl Iterator<Item = File<'_>> {
        self.files().filter(|file| has_extension(file.path, "rs") && is_code_path(file.path))
    }

    /// Whether there is a file or a directory at `path`.
    pub(super) fn exists(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        path.is_empty()
            || self.texts.contains_key(path)
            || self.texts.range(inside.clone()..).next().is_some_and(|(other, _)| other.starts_with(&inside))
    }
}

pub(super) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

fn is_code_path(path: &str) -> bool {
    let mut parts = path.split('/');
    match parts.next() {
        Some("crates") => {
            parts.nth(1).is_some_and(|part| matches!(part, "src" | "tests" | "benches" | "examples"))
        }
        Some("xtask") => parts.next() == Some("src"),
        Some("fuzz") => parts.next().is_some_and(|part| matches!(part, "src" | "tests" | "fuzz_targets")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_is_what_lies_in_source_test_and_bench_directories() {
        let tree = Tree::of(&[
            ("crates/lab/benches/ratios.rs", ""),
            ("crates/lab/data/sample.rs", ""),
            ("crates/lab/src/lib.rs", ""),
            ("crates/lab/src/notes.md", ""),
            ("docs/example.rs", ""),
            ("xtask/src/main.rs", ""),
        ]);
        let paths: Vec<&str> = tree.rust().map(|file| file.path).collect();
        assert_eq!(paths, ["crates/lab/benches/ratios.rs", "crates/lab/src/lib.rs", "xtask/src/main.rs"]);
    }

    #[test]
    fn files_and_directories_exist_but_prefixes_of_names_do_not() {
        let tree = Tree::of(&[("docs-old/b.md", ""), ("docs/a.md", "")]);
        for path in ["docs/a.md", "docs", "docs-old", ""] {
            assert!(tree.exists(path), "{path}");
        }
        for path in ["doc", "docs/a", "docs/b.md"] {
            assert!(!tree.exists(path), "{path}");
        }
    }

    #[test]
    fn loading_reads_this_very_file_and_skips_build_output() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let tree = Tree::load(root).unwrap();
        assert!(tree.file("src/tidy/tree.rs").unwrap().text.starts_with("//! The repository"));
        assert!(tree.files().all(|file| !file.path.starts_with("target/")));
    }
}
