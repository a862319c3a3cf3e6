//! `dunlin show`: the content of a source, in one version or the newest.

use std::io::IsTerminal as _;

use clap::Args;
use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Document, Extractor, Input, Limits};
use serde::Serialize;

use crate::backend::records::{SourceRecord, VersionRecord};
use crate::backend::{Access, Backend, ReachArgs, find_source};
use crate::failure::Failure;
use crate::output::{print_bytes, print_json, print_line};
use crate::terminal::{harmless, readable};

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A version (v7, or 7 where no source has that number), or a source by number or address for its newest
    what: String,
    /// Show the text that was found in it, instead of the bytes as they came
    #[arg(long)]
    text: bool,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report<'r> {
    #[serde(flatten)]
    version: &'r VersionRecord,
    url: &'r str,
    /// As UTF-8; what is not is replaced.
    content: String,
    items: &'r [dunlin_extract::Item],
}

impl Show {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let backend = self.reach.open(Access::Read)?;
        let (source, version) = find_version(&*backend, &self.what)?;
        let content = backend.content(version.id)?;
        if self.json {
            let document = read(&source, &version, &content)?;
            let text = String::from_utf8_lossy(&content).into_owned();
            let url = &source.url;
            return print_json(&Report { version: &version, url, content: text, items: &document.items });
        }
        if self.text {
            return print_line(&harmless(&text_of(&read(&source, &version, &content)?)));
        }
        if !std::io::stdout().is_terminal() {
            return print_bytes(&content);
        }
        let shown = readable(&content).ok_or_else(|| {
            let what = Some(version.media_type.as_str()).filter(|kind| !kind.is_empty()).unwrap_or("data");
            Failure::No(format!(
                "version {} is {what}, which a terminal cannot show (write it to a file: `> FILE`, or try --text)",
                version.id
            ))
        })?;
        print_bytes(shown.as_bytes())
    }
}

/// The version that a person means, and its source.
pub(super) fn find_version(
    backend: &dyn Backend,
    what: &str,
) -> Result<(SourceRecord, VersionRecord), Failure> {
    let number = what.strip_prefix('v').and_then(|number| number.parse::<i64>().ok());
    let source = if number.is_some() { None } else { find_source(backend, what).ok() };
    if let Some(source) = source {
        let newest = backend.versions(source.id, 1)?.pop().ok_or_else(|| {
            Failure::No(format!("source {} has no version yet (it has not been read)", source.id))
        })?;
        return Ok((source, newest));
    }
    let Some(id) = number.or_else(|| what.parse().ok()) else {
        find_source(backend, what)?;
        return Err(Failure::input(format!("`{what}` is neither a version nor a source")));
    };
    let version = backend.version(id).map_err(|failure| match failure {
        Failure::Input(_) => Failure::input(format!(
            "no version {id} (`dunlin changes` shows those of each change; old ones may have been pruned)"
        )),
        other => other,
    })?;
    Ok((backend.source(version.source)?, version))
}

/// What is in a version, read as its source is read now.
pub(super) fn read(
    source: &SourceRecord,
    version: &VersionRecord,
    content: &[u8],
) -> Result<Document, Failure> {
    let recipe = match (&source.selector, &source.path, source.kind.as_str()) {
        (Some(css), _, _) => Recipe::HtmlSelector { css: css.clone() },
        (None, Some(path), _) => Recipe::JsonPath { path: path.clone() },
        (None, None, "feed") => Recipe::Feed,
        (None, None, "text") => Recipe::Text,
        (None, None, _) => Recipe::Auto,
    };
    let noise = NoiseRules {
        ignore_selectors: source.ignore_selectors.clone(),
        ignore_patterns: source.ignore_patterns.clone(),
    };
    let extractor = Extractor::new(&recipe, &noise, Limits::default())
        .map_err(|error| Failure::input(format!("source {}: {error}", source.id)))?;
    let content_type = Some(version.media_type.as_str()).filter(|media_type| !media_type.is_empty());
    Ok(extractor.extract(&Input { body: content, content_type, url: Some(&source.url), last_charset: None }))
}

/// All items one below the other.
pub(super) fn text_of(document: &Document) -> String {
    let parts = document.items.iter().map(|item| {
        let lines = [item.title.as_str(), item.text.as_str(), item.link.as_deref().unwrap_or_default()];
        lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    });
    parts.collect::<Vec<_>>().join("\n\n")
}
