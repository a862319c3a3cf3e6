//! `dunlin detect`: versions of one document, from a folder or from what is stored of a source, through the service's own
//! detection. Says what would have been reported, and what not and why.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use dunlin_core::Time;
use dunlin_engine::detection::{Content, Detected, Detection};
use dunlin_engine::{Settings, clock};
use dunlin_server::offline;
use dunlin_store::{Health, NewSource};
use serde::Serialize;

use crate::backend::records::SourceFields;
use crate::backend::{Access, ReachArgs, find_source};
use crate::failure::Failure;
use crate::output::{json_line, print_line};
use crate::terminal::{Paint, Tone, harmless};
use crate::watching::add::SourceArgs;

#[derive(Debug, Args)]
pub(crate) struct Detect {
    /// A folder with versions of one document, named by number and Unix time, such as `0001_1700000000.html`
    #[arg(required_unless_present = "source", conflicts_with = "source")]
    folder: Option<PathBuf>,
    /// The stored versions of this source instead, by its number or address
    #[arg(long)]
    source: Option<String>,
    #[command(flatten)]
    fields: SourceArgs,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object for each version but the first
    #[arg(long)]
    json: bool,
}

/// Where documents from a folder are supposed to have been.
const NOWHERE: &str = "http://document.invalid/";
/// A larger file is no page.
const MAX_BYTES: u64 = 64 << 20;

/// Stored versions that are looked back at.
const MOST_VERSIONS: u32 = 1_000;

/// One version of a document.
struct Version {
    name: String,
    at: Time,
    body: Vec<u8>,
    media_type: String,
}

#[derive(Debug, Serialize)]
struct Report<'r> {
    version: &'r str,
    time: i64,
    changes: Vec<ChangeReport<'r>>,
    suppressed: Vec<SuppressedReport<'r>>,
    state: &'static str,
    reason: &'r str,
}

#[derive(Debug, Serialize)]
struct ChangeReport<'r> {
    kind: &'r str,
    summary: &'r str,
    item: Option<&'r str>,
}

#[derive(Debug, Serialize)]
struct SuppressedReport<'r> {
    why: &'static str,
    explanation: String,
    old: &'r str,
    new: &'r str,
}

impl Detect {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        match (&self.folder, &self.source) {
            (Some(folder), _) => {
                let files = versions_in(folder)?;
                let source =
                    new_source(SourceFields { url: Some(NOWHERE.to_owned()), ..self.fields.fields() })?;
                self.show(&source, files.into_iter().map(|(number, time, path)| read(number, time, &path)))
            }
            (None, Some(source)) => self.show_stored(source),
            (None, None) => Err(Failure::input("expected a folder, or --source with a number or address")),
        }
    }

    fn show_stored(&self, wanted: &str) -> Result<(), Failure> {
        let backend = self.reach.open(Access::Read)?;
        let source = find_source(&*backend, wanted)?;
        let present = SourceFields {
            url: Some(source.url.clone()),
            kind: Some(source.kind.clone()),
            selector: source.selector.clone().map(Some),
            path: source.path.clone().map(Some),
            main: source.main,
            ignore_selectors: Some(source.ignore_selectors.clone()),
            ignore_patterns: Some(source.ignore_patterns.clone()),
            flicker: source.flicker.clone(),
            ..SourceFields::default()
        };
        let new_source = new_source(self.fields.fields().read_like(present))?;
        let mut versions = backend.versions(source.id, MOST_VERSIONS)?;
        versions.sort_by_key(|version| version.id);
        self.show(
            &new_source,
            versions.into_iter().map(|version| {
                let at = clock::parse_rfc3339(&version.captured_at).ok_or_else(|| {
                    Failure::Environment(format!("version {}: its time cannot be read", version.id))
                })?;
                let body = backend.content(version.id)?;
                Ok(Version { name: format!("v{}", version.id), at, body, media_type: version.media_type })
            }),
        )
    }

    fn show(
        &self,
        source: &NewSource,
        versions: impl Iterator<Item = Result<Version, Failure>>,
    ) -> Result<(), Failure> {
        let mut detection = Detection::new(source, Settings::default())?;
        for (index, version) in versions.enumerate() {
            let version = version?;
            let content = Content { at: version.at, body: &version.body, media_type: &version.media_type };
            let detected = detection.see(&content)?;
            if index > 0 {
                self.report(&version, &detected)?;
            } else if !self.json && !detected.reason.is_empty() {
                crate::note(&format!("{}: {}", version.name, detected.reason));
            }
        }
        Ok(())
    }

    fn report(&self, version: &Version, detected: &Detected) -> Result<(), Failure> {
        if self.json {
            let line = json_line(&Report::of(version, detected))
                .map_err(|error| Failure::Environment(error.to_string()))?;
            return print_line(&line);
        }
        let paint = Paint::stdout();
        for change in &detected.changes {
            let kind = paint.paint(Tone::Good, &change.kind);
            print_line(&format!("{}  {kind}  {}", version.name, harmless(&change.summary)))?;
        }
        for suppressed in &detected.suppressed {
            let what = if suppressed.new.is_empty() { &suppressed.old } else { &suppressed.new };
            let line = format!("{}  quiet  {}: {}", version.name, suppressed.reason, one_line(what));
            print_line(&paint.paint(Tone::Faint, &harmless(&line)))?;
        }
        if !detected.reason.is_empty() {
            print_line(&format!(
                "{}  {}: {}",
                version.name,
                word(detected.health),
                harmless(&detected.reason)
            ))?;
        }
        Ok(())
    }
}

fn new_source(fields: SourceFields) -> Result<NewSource, Failure> {
    let body = serde_json::to_value(fields).map_err(|error| Failure::input(error.to_string()))?;
    Ok(offline::new_source(body, clock::now())?)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const fn word(health: Health) -> &'static str {
    match health {
        Health::New => "new",
        Health::Well => "well",
        Health::Attention => "attention",
        Health::Failing => "failing",
        Health::Refused => "refused",
    }
}

impl<'r> Report<'r> {
    fn of(version: &'r Version, detected: &'r Detected) -> Self {
        let changes = detected.changes.iter().map(|change| ChangeReport {
            kind: &change.kind,
            summary: &change.summary,
            item: change.item.as_deref(),
        });
        let suppressed = detected.suppressed.iter().map(|suppressed| SuppressedReport {
            why: suppressed.reason.code(),
            explanation: suppressed.reason.to_string(),
            old: &suppressed.old,
            new: &suppressed.new,
        });
        Self {
            version: &version.name,
            time: version.at.micros().div_euclid(1_000_000),
            changes: changes.collect(),
            suppressed: suppressed.collect(),
            state: word(detected.health),
            reason: &detected.reason,
        }
    }
}

/// The versions in a folder, in their order: number, Unix time, file. Other files are left alone.
fn versions_in(folder: &Path) -> Result<Vec<(String, i64, PathBuf)>, Failure> {
    let unreadable = |error: std::io::Error| Failure::input(format!("{}: {error}", folder.display()));
    let mut versions = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let Some((number, time)) = stem.split_once('_') else { continue };
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if let (true, Ok(time)) = (is_number, time.parse()) {
            versions.push((number.to_owned(), time, path));
        }
    }
    if versions.is_empty() {
        return Err(Failure::input(format!(
            "{}: no versions (expected files named NNNN_UNIXTIME.EXT, such as 0001_1700000000.html)",
            folder.display()
        )));
    }
    versions.sort_by(|(a, ..), (b, ..)| (a.len(), a).cmp(&(b.len(), b)));
    Ok(versions)
}

fn read(name: String, time: i64, path: &Path) -> Result<Version, Failure> {
    let unreadable = |error: std::io::Error| Failure::input(format!("{}: {error}", path.display()));
    let size = fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_BYTES {
        return Err(Failure::input(format!(
            "{}: {size} bytes (expected at most {MAX_BYTES})",
            path.display()
        )));
    }
    let media_type = match path.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => "text/html",
        Some("json") => "application/json",
        Some("xml" | "rss" | "atom") => "application/xml",
        Some("txt" | "csv" | "md") => "text/plain",
        _ => "",
    };
    let body = fs::read(path).map_err(unreadable)?;
    Ok(Version { name, at: Time::from_seconds(time), body, media_type: media_type.to_owned() })
}
