//! Every fuzz target on every file of its corpus, without libFuzzer; and that no target is left out.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use dunlin_fuzz::TARGETS;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

fn here(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The names of what is in a directory, in order.
fn names(directory: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(here(directory)).expect("is there");
    let path = |entry: std::io::Result<fs::DirEntry>| entry.expect("can be read").path();
    entries.map(path).filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
}

/// The programs that the manifest declares, each by its name and the stem of its file.
fn declared() -> Vec<(String, String)> {
    let manifest = fs::read_to_string(here("Cargo.toml")).expect("is there");
    let table = DeTable::parse(&manifest).expect("cargo has read it");
    let programs = table.get_ref().get("bin").and_then(|bins| bins.get_ref().as_array()).expect("a list");
    let text = |program: &DeValue<'_>, key: &str| program[key].get_ref().as_str().expect("a text").to_owned();
    let stem = |path: String| Path::new(&path).file_stem().expect("a file").to_string_lossy().into_owned();
    let program = |program: &Spanned<DeValue<'_>>| {
        (text(program.get_ref(), "name"), stem(text(program.get_ref(), "path")))
    };
    programs.iter().map(program).collect()
}

#[test]
fn every_target_is_built_and_has_a_corpus() {
    let listed: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    assert!(listed.is_sorted());
    let listed: BTreeSet<String> = listed.into_iter().map(str::to_owned).collect();
    assert_eq!(names("fuzz_targets"), listed, "files of fuzz_targets/ against TARGETS");
    assert_eq!(names("corpus"), listed, "directories of corpus/ against TARGETS");
    let declared = declared();
    assert!(declared.iter().all(|(name, file)| name == file), "{declared:?}");
    let programs: BTreeSet<String> = declared.into_iter().map(|(name, _)| name).collect();
    assert_eq!(programs, listed, "programs of Cargo.toml against TARGETS");
    for name in &listed {
        let joined = fs::read_to_string(here(&format!("fuzz_targets/{name}.rs"))).expect("is there");
        assert!(joined.contains(&format!("dunlin_fuzz::target!({name});")), "{name} runs another target");
    }
}

#[test]
fn every_input_of_every_corpus_holds() {
    for (name, target) in TARGETS {
        let directory = here("corpus").join(name);
        let mut files: Vec<PathBuf> = fs::read_dir(&directory)
            .expect("every target has a corpus")
            .map(|entry| entry.expect("can be read").path())
            .collect();
        files.sort();
        assert!(files.len() >= 3, "{name}: a corpus of {} is none", files.len());
        for file in files {
            let bytes = fs::read(&file).expect("can be read");
            let outcome = std::panic::catch_unwind(|| target(&bytes));
            assert!(outcome.is_ok(), "{} breaks {name}", file.display());
        }
        // And what every reader meets sooner or later.
        for bytes in [&b""[..], b"\0", b"\xff\xfe", &[b'<'; 5000], &[b'['; 5000]] {
            target(bytes);
        }
    }
}
