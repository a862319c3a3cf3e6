//! The crates of the workspace and what they depend on, read from their manifests.
//!
//! This reads the part of TOML that dependency tables are written in, not TOML: the standard library has no
//! parser, and a dependency would cost more build time than all of this program.

use std::collections::BTreeMap;

use super::tree::{File, Tree};

/// Why a crate needs a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// For its code or its build script.
    Normal,
    /// For its tests, examples and benches.
    Dev,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dependency {
    /// The name of the package, which the crate may rename.
    pub(super) package: String,
    pub(super) kind: Kind,
    pub(super) line: usize,
}

/// A directory under `crates/`.
#[derive(Debug)]
pub(super) struct Crate {
    /// The name of the directory.
    pub(super) name: String,
    /// The path of the manifest.
    pub(super) manifest: String,
    pub(super) package: String,
    pub(super) dependencies: Vec<Dependency>,
}

/// The package that lives in `crates/NAME`.
pub(super) fn package_of(name: &str) -> String {
    if name == "cli" { "dunlin".to_owned() } else { format!("dunlin-{name}") }
}

/// The directory under `crates/` that holds `package`; `None` for a package of others.
pub(super) fn crate_of(package: &str) -> Option<&str> {
    if package == "dunlin" { Some("cli") } else { package.strip_prefix("dunlin-") }
}

/// All crates, in order of name.
pub(super) fn crates(tree: &Tree) -> Vec<Crate> {
    let renamed = tree.file("Cargo.toml").map(|root| renamed_packages(&root)).unwrap_or_default();
    let manifests = tree.files().filter_map(|file| {
        let name = file.path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?.to_owned();
        (!name.contains('/')).then_some((name, file))
    });
    manifests.map(|(name, file)| read(name, &file, &renamed)).collect()
}

fn read(name: String, file: &File<'_>, renamed: &BTreeMap<String, String>) -> Crate {
    let mut found: BTreeMap<(Kind, String), Dependency> = BTreeMap::new();
    let mut package = String::new();
    for entry in entries(file) {
        if entry.path == "package.name" {
            unquoted(&entry.value).clone_into(&mut package);
        }
        let Some((kind, alias, attribute)) = dependency(&entry.path) else { continue };
        let by_default = || renamed.get(alias).cloned().unwrap_or_else(|| alias.to_owned());
        let dependency = found.entry((kind, alias.to_owned())).or_insert_with(|| Dependency {
            package: by_default(),
            kind,
            line: entry.line,
        });
        if let Some(real) = real_name(attribute, &entry.value) {
            real.clone_into(&mut dependency.package);
        }
    }
    let mut dependencies: Vec<Dependency> = found.into_values().collect();
    dependencies.sort_by_key(|dependency| dependency.line);
    Crate { name, manifest: file.path.to_owned(), package, dependencies }
}

/// The names under which the workspace manifest hands out packages, where they differ from the package's own.
fn renamed_packages(root: &File<'_>) -> BTreeMap<String, String> {
    let shared = |entry: &Entry| {
        let (_, alias, attribute) = dependency(entry.path.strip_prefix("workspace.")?)?;
        Some((alias.to_owned(), real_name(attribute, &entry.value)?.to_owned()))
    };
    entries(root).iter().filter_map(shared).collect()
}

/// Splits `target.'cfg(unix)'.dev-dependencies.rand.workspace` into `Dev`, `rand` and `workspace`.
fn dependency(path: &str) -> Option<(Kind, &str, &str)> {
    let (table, rest) = path.split_once("dependencies.")?;
    let kind = match table.rsplit('.').next() {
        Some("" | "build-") if !table.starts_with("workspace.") => Kind::Normal,
        Some("dev-") => Kind::Dev,
        _ => return None,
    };
    let (alias, attribute) = rest.split_once('.').unwrap_or((rest, ""));
    Some((kind, unquoted(alias), attribute))
}

/// The value of a `package` key, alone or inside `{ … }`.
fn real_name<'v>(attribute: &str, value: &'v str) -> Option<&'v str> {
    match attribute {
        "package" => Some(unquoted(value)),
        "" => {
            let fields = value.strip_prefix('{')?.split(['{', ',', '}']);
            let package =
                fields.filter_map(|field| field.split_once('=')).find(|(key, _)| key.trim() == "package");
            package.map(|(_, name)| unquoted(name.trim()))
        }
        _ => None,
    }
}

fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\''])
}

/// A key with its full path, as in `dependencies.rand.version`.
struct Entry {
    path: String,
    value: String,
    line: usize,
}

fn entries(file: &File<'_>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut table = String::new();
    let mut open_brackets = 0;
    for (line, text) in file.lines() {
        let text = without_comment(text).trim();
        if open_brackets > 0 {
            // A list that goes on over several lines belongs to the key it started with.
            if let Some(entry) = entries.last_mut() {
                entry.value.push_str(text);
            }
            open_brackets += depth(text);
        } else if let Some(header) = text.strip_prefix('[') {
            header.trim_matches(['[', ']']).trim().clone_into(&mut table);
        } else if let Some((key, value)) = text.split_once('=') {
            let path =
                if table.is_empty() { key.trim().to_owned() } else { format!("{table}.{}", key.trim()) };
            entries.push(Entry { path, value: value.trim().to_owned(), line });
            open_brackets = depth(value);
        }
    }
    entries
}

fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    let start = line.find(|letter| {
        quoted ^= letter == '"';
        letter == '#' && !quoted
    });
    &line[..start.unwrap_or(line.len())]
}

/// How many more brackets a piece opens than it closes; no value that we read has one inside a string.
fn depth(text: &str) -> isize {
    text.chars().fold(0, |depth, letter| match letter {
        '[' | '{' => depth + 1,
        ']' | '}' => depth - 1,
        _ => depth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dependencies(root: &str, manifest: &str) -> Vec<(String, Kind, usize)> {
        let tree = Tree::of(&[("Cargo.toml", root), ("crates/lab/Cargo.toml", manifest)]);
        let [lab] = crates(&tree).try_into().unwrap();
        lab.dependencies.into_iter().map(|found| (found.package, found.kind, found.line)).collect()
    }

    #[test]
    fn every_way_to_write_a_dependency_is_understood() {
        let manifest = "\
[package]
name = \"dunlin-lab\" # \"not\" = this
[dependencies]
dunlin-core.workspace = true
csv = \"1\"
rand = { features = [\"std\"], # a = b
    version = \"1\",
}
plan = { path = \"../sched#1\", package = \"dunlin-sched\" }
[dependencies.heap]
path = \"../heap\"
package = \"dunlin-heap\"
[target.'cfg(unix)'.dependencies]
libc = \"1\"
[build-dependencies]
cc = \"1\"
[dev-dependencies]
proptest.workspace = true
[features]
plot = [\"dep:csv\"]
";
        let expected = [
            ("dunlin-core", Kind::Normal, 4),
            ("csv", Kind::Normal, 5),
            ("rand", Kind::Normal, 6),
            ("dunlin-sched", Kind::Normal, 9),
            ("dunlin-heap", Kind::Normal, 11),
            ("libc", Kind::Normal, 14),
            ("cc", Kind::Normal, 16),
            ("proptest", Kind::Dev, 18),
        ];
        assert_eq!(
            dependencies("", manifest),
            expected.map(|(name, kind, line)| (name.to_owned(), kind, line))
        );
    }

    #[test]
    fn a_name_given_by_the_workspace_is_traced_to_the_package() {
        let root =
            "[workspace.dependencies]\nplan = { package = \"dunlin-sched\", path = \"crates/sched\" }\n";
        let found = dependencies(root, "[dependencies]\nplan.workspace = true\n");
        assert_eq!(found, [("dunlin-sched".to_owned(), Kind::Normal, 2)]);
    }

    #[test]
    fn packages_and_directories_name_each_other() {
        for (name, package) in [("cli", "dunlin"), ("core", "dunlin-core")] {
            assert_eq!(package_of(name), package);
            assert_eq!(crate_of(package), Some(name));
        }
        assert_eq!(crate_of("csv"), None);
    }
}
