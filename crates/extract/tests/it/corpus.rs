//! `corpus/NAME.in` is a document after a few header lines and an empty one; `corpus/NAME.out` is what is read of it.
//! With `UPDATE_CORPUS=1` the second is rewritten: review the difference before you keep it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Document, Extractor, Input, Limits};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

fn render(document: &Document) -> String {
    let mut out = format!("format: {}\n", document.format);
    let mut field = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            writeln!(out, "{name}: {value}").unwrap();
        }
    };
    field("title", document.title.clone());
    field("updated", document.updated.map(|time| time.seconds().to_string()));
    field("incomplete", (!document.is_complete).then(|| "items may be missing".to_owned()));
    for diagnostic in &document.diagnostics {
        field("diagnostic", Some(diagnostic.to_string()));
    }
    for item in &document.items {
        field("\nitem", Some(item.id.to_string()));
        field("  title", Some(item.title.clone()));
        field("  link", item.link.clone());
        field("  author", item.author.clone());
        field("  published", item.published.map(|time| time.seconds().to_string()));
        for line in item.text.lines() {
            field("  |", Some(line.to_owned()));
        }
    }
    out
}

fn extract(file: &[u8]) -> Document {
    let mut rest = file;
    let (mut recipe, mut noise) = (Recipe::Auto, NoiseRules::default());
    let (mut content_type, mut url) = (None, None);
    loop {
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap();
        let line = std::str::from_utf8(&rest[..end]).unwrap();
        rest = &rest[end + 1..];
        match line.split_once(": ") {
            Some(("content-type", value)) => content_type = Some(value),
            Some(("url", value)) => url = Some(value),
            Some(("recipe", value)) => recipe = serde_json::from_str(value).unwrap(),
            Some(("noise", value)) => noise = serde_json::from_str(value).unwrap(),
            _ => break,
        }
    }
    let extractor = Extractor::new(&recipe, &noise, Limits::default()).unwrap();
    extractor.extract(&Input { body: rest, content_type, url, last_charset: None })
}

#[test]
fn every_document_is_read_as_recorded() {
    let mut names: Vec<PathBuf> =
        fs::read_dir(corpus()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|extension| extension == "in"));
    names.sort();
    assert!(names.len() > 30, "{}", names.len());
    let mut different = Vec::new();
    for name in names {
        let found = render(&extract(&fs::read(&name).unwrap()));
        let recorded = name.with_extension("out");
        if std::env::var_os("UPDATE_CORPUS").is_some() {
            fs::write(&recorded, &found).unwrap();
        }
        if fs::read_to_string(&recorded).unwrap_or_default() != found {
            different.push(format!("{}\n{found}", name.display()));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
