//! What one look at an address gave, as `try --json` prints it. Bounded: a document may be large.

use dunlin_engine::trial::{Trial, Tried};
use dunlin_extract::document::Format;
use dunlin_extract::{CandidatePart, Diagnostic, Item};
use serde::Serialize;

use super::Outcome;
use crate::watching::add::SourceArgs;

/// Items that are listed.
const MOST_ITEMS: usize = 20;
/// Characters of an item's text that are shown.
const MOST_TEXT: usize = 4_000;

/// The JSON.
#[derive(Debug, Serialize)]
pub(super) struct Findings {
    pub(super) url: String,
    pub(super) final_url: String,
    pub(super) status: u16,
    /// What kind of document it is; `None` without one.
    pub(super) kind: Option<Format>,
    pub(super) title: Option<String>,
    pub(super) n_items: usize,
    pub(super) items: Vec<ShownItem>,
    pub(super) warnings: Vec<String>,
    pub(super) suggestions: Vec<Suggestion>,
    /// Why what was asked for is not there, if it is not; also the first of the warnings.
    #[serde(skip)]
    pub(super) missing: Option<String>,
}

/// The beginning of an item.
#[derive(Debug, Serialize)]
pub(super) struct ShownItem {
    pub(super) title: String,
    pub(super) text: String,
    pub(super) link: Option<String>,
}

/// What could be watched instead.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Suggestion {
    Feed { url: String, title: String, command: String },
    Selector { selector: String, n_matches: usize, sample: String, command: String },
    Path { path: String, n_matches: usize, sample: String, command: String },
}

impl Suggestion {
    pub(super) fn command(&self) -> &str {
        match self {
            Self::Feed { command, .. } | Self::Selector { command, .. } | Self::Path { command, .. } => {
                command
            }
        }
    }

    fn of_part(part: &CandidatePart, url: &str, format: Format) -> Self {
        let CandidatePart { choice, n_matches, sample } = part.clone();
        if format == Format::Json {
            let command = add(url, Some(("--json-path", &choice)));
            return Self::Path { path: choice, n_matches, sample, command };
        }
        let command = add(url, Some(("--selector", &choice)));
        Self::Selector { selector: choice, n_matches, sample, command }
    }
}

impl Findings {
    pub(super) fn of(url: &str, fields: &SourceArgs, outcome: &Outcome) -> Self {
        let Outcome { fetched, tried, robots } = outcome;
        let missing = match tried {
            None => Trial::failure(fetched),
            Some(tried) => tried.missing.as_ref().map(|missing| in_words(missing, fields, tried)),
        };
        let mut warnings: Vec<String> = missing.iter().cloned().collect();
        warnings.extend(robots.map(str::to_owned));
        let mut findings = Self {
            url: url.to_owned(),
            final_url: fetched.final_url.to_string(),
            status: fetched.status.as_u16(),
            kind: None,
            title: None,
            n_items: 0,
            items: Vec::new(),
            warnings,
            suggestions: Vec::new(),
            missing,
        };
        if let Some(tried) = tried {
            findings.take(tried);
        }
        findings
    }

    fn take(&mut self, tried: &Tried) {
        let Tried { document, first_look, notes, .. } = tried;
        self.kind = Some(document.format);
        self.title.clone_from(&document.title);
        self.n_items = document.items.len();
        self.items = document.items.iter().take(MOST_ITEMS).map(ShownItem::of).collect();
        self.warnings.extend(notes.iter().cloned());
        self.warnings.extend(first_look.doubts.iter().map(ToString::to_string));
        let feeds = first_look.feeds.iter().map(|feed| Suggestion::Feed {
            url: feed.url.clone(),
            title: feed.title.clone(),
            command: add(&feed.url, Some(("--kind", "feed"))),
        });
        let nearest = first_look.nearest.iter();
        let others = first_look
            .parts
            .iter()
            .filter(|part| first_look.nearest.as_ref().is_none_or(|nearest| nearest.choice != part.choice));
        let parts = nearest.chain(others).map(|part| Suggestion::of_part(part, &self.url, document.format));
        self.suggestions = feeds.chain(parts).collect();
    }
}

impl ShownItem {
    fn of(item: &Item) -> Self {
        let text = match item.text.char_indices().nth(MOST_TEXT) {
            Some((cut, _)) => format!("{}…", &item.text[..cut]),
            None => item.text.clone(),
        };
        Self { title: item.title.clone(), text, link: item.link.clone() }
    }
}

/// Why what was asked for is not there, and what to try.
fn in_words(missing: &Diagnostic, fields: &SourceArgs, tried: &Tried) -> String {
    let fields = fields.fields();
    let chosen = match (fields.selector.flatten(), fields.path.flatten()) {
        (Some(css), _) => Some(format!("the selector `{css}`")),
        (_, Some(path)) => Some(format!("the path `{path}`")),
        _ => None,
    };
    match (missing, chosen) {
        (Diagnostic::NothingFound | Diagnostic::UnexpectedFormat { .. }, Some(chosen)) => {
            let why = match missing {
                Diagnostic::NothingFound => String::new(),
                other => format!(": {other}"),
            };
            let nearest = tried.first_look.nearest.as_ref().map_or_else(String::new, |nearest| {
                let times = if nearest.n_matches == 1 {
                    "once".to_owned()
                } else {
                    format!("{} times", nearest.n_matches)
                };
                format!(" (the nearest that does is `{}`, {times})", nearest.choice)
            });
            format!("{chosen} finds nothing here{why}{nearest}")
        }
        (Diagnostic::UnexpectedFormat { .. }, None) => {
            let flag = if fields.kind.is_some() { "--kind" } else { "--main" };
            format!("{missing} (leave out {flag} to read it as what it is)")
        }
        _ => missing.to_string(),
    }
}

/// The command that watches an address.
fn add(url: &str, option: Option<(&str, &str)>) -> String {
    let option = option.map_or_else(String::new, |(flag, value)| format!(" {flag} {}", quoted(value)));
    format!("dunlin add {}{option}", quoted(url))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '/' | ':' | '.' | '-' | '_' | '%' | '=' | '+' | ',' | '@')
    };
    if !word.is_empty() && !word.starts_with('-') && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted_into_a_shell() {
        assert_eq!(
            add("https://a.example/feed.xml", Some(("--kind", "feed"))),
            "dunlin add https://a.example/feed.xml --kind feed"
        );
        assert_eq!(
            add("https://a.example/?a=1&b='", Some(("--selector", "li > a[title='x']"))),
            r"dunlin add 'https://a.example/?a=1&b='\''' --selector 'li > a[title='\''x'\'']'"
        );
        assert_eq!(quoted("$(rm x)"), "'$(rm x)'");
        assert_eq!(quoted(""), "''");
    }
}
