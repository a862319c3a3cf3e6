//! Sources, changes, versions as commands show them, and as the API sends them: one JSON for both.

use std::collections::BTreeMap;
use std::fmt;

use dunlin_extract::diff::Piece;
use dunlin_net::RedactedUrl;
use dunlin_server::unit::Unit;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A source. All other fields of the API are passed on in `--json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SourceRecord {
    pub(crate) id: i64,
    pub(crate) url: String,
    /// What its owner calls it.
    #[serde(default)]
    pub(crate) name: Option<String>,
    /// What it calls itself.
    #[serde(default)]
    pub(crate) title: Option<String>,
    pub(crate) kind: String,
    /// What it was found to be.
    #[serde(default)]
    pub(crate) found_kind: Option<String>,
    #[serde(default)]
    pub(crate) weight: f64,
    #[serde(default)]
    pub(crate) life: String,
    #[serde(default)]
    pub(crate) urgency: String,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    #[serde(default)]
    pub(crate) paused: bool,
    pub(crate) state: StateRecord,
    #[serde(default)]
    pub(crate) selector: Option<String>,
    #[serde(default)]
    pub(crate) path: Option<String>,
    #[serde(default)]
    pub(crate) main: Option<bool>,
    #[serde(default)]
    pub(crate) ignore_selectors: Vec<String>,
    #[serde(default)]
    pub(crate) ignore_patterns: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) flicker: Option<String>,
    #[serde(flatten)]
    pub(crate) rest: serde_json::Map<String, Value>,
}

/// The health of a source.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StateRecord {
    /// `new`, `well`, `attention`, `failing` or `refused`.
    pub(crate) health: String,
    #[serde(default)]
    pub(crate) reason: String,
    pub(crate) since: String,
}

impl SourceRecord {
    /// Its address without what may be secret.
    pub(crate) fn shown_url(&self) -> String {
        shown(&self.url)
    }

    /// What people know it by: its owner's name for it, or else its title.
    pub(crate) fn shown_name(&self) -> Option<&str> {
        self.name.as_deref().or(self.title.as_deref())
    }

    /// Its state in one word.
    pub(crate) fn state_word(&self) -> &str {
        if self.paused { "paused" } else { &self.state.health }
    }
}

impl ChangeRecord {
    /// What people know its source by: a name, or else the address without what may be secret.
    pub(crate) fn shown_source(&self) -> String {
        if self.name.is_empty() { shown(&self.url) } else { self.name.clone() }
    }
}

fn shown(url: &str) -> String {
    url::Url::parse(url)
        .map_or_else(|_| "(not an address)".to_owned(), |url| RedactedUrl::of(&url).to_string())
}

/// Headers to send along. Their values are secrets.
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub(crate) struct SecretHeaders(pub(crate) BTreeMap<String, String>);

impl fmt::Debug for SecretHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// What someone wants a source to be; what is `None` is left as it is, or as the defaults have it. An inner `None` goes
/// back to the default.
#[derive(Debug, Clone, Default, Serialize)]
#[expect(clippy::option_option, reason = "left alone and back to the default are two things")]
pub(crate) struct SourceFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) selector: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<Option<String>>,
    /// Only the main text of a page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) main: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ignore_selectors: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ignore_patterns: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) flicker: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) headers: Option<SecretHeaders>,
    /// In seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shortest_gap: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) longest_gap: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) urgency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) life: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) paused: Option<bool>,
}

impl SourceFields {
    /// How a document is read by these fields, and by `others` where these say nothing.
    pub(crate) fn read_like(self, others: Self) -> Self {
        let says_which_part = self.selector.is_some() || self.path.is_some() || self.main.is_some();
        let (selector, path, main) = if says_which_part {
            (self.selector, self.path, self.main)
        } else {
            (others.selector, others.path, others.main)
        };
        Self {
            url: self.url.or(others.url),
            kind: self.kind.or(others.kind),
            ignore_selectors: self.ignore_selectors.or(others.ignore_selectors),
            ignore_patterns: self.ignore_patterns.or(others.ignore_patterns),
            flicker: self.flicker.or(others.flicker),
            selector,
            path,
            main,
            ..self
        }
    }
}

impl SourceFields {
    /// Whether nothing is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        serde_json::to_value(self).is_ok_and(|value| value.as_object().is_some_and(serde_json::Map::is_empty))
    }
}

/// A change, as other programs rely on it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ChangeRecord {
    pub(crate) cursor: i64,
    pub(crate) source: i64,
    pub(crate) url: String,
    /// What people know its source by; may be empty.
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) detected_at: String,
    /// The earliest and the latest time at which it can have happened; the earliest may be unknown.
    pub(crate) happened_between: (Option<String>, String),
    pub(crate) version: Option<i64>,
    pub(crate) summary: String,
    /// `added`, `edited`, `removed`; or `attention`, `failing`, `refused`, `recovered`, about the source itself.
    #[serde(default)]
    pub(crate) kind: String,
    /// The item it happened to, if not the whole.
    #[serde(default)]
    pub(crate) item: Option<String>,
    /// What is different in its text.
    #[serde(default)]
    pub(crate) detail: Option<DetailRecord>,
}

/// The words of a change. All other fields of the API are passed on in `--json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DetailRecord {
    /// The heading that it is below; may be empty.
    #[serde(default)]
    pub(crate) heading: String,
    pub(crate) pieces: Vec<PieceRecord>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

/// A piece of two texts that were compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PieceRecord {
    pub(crate) op: PieceOperation,
    pub(crate) text: String,
}

/// What became of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PieceOperation {
    Equal,
    Insert,
    Delete,
    /// Unchanged text is left out here.
    Gap,
}

impl From<Piece<'_>> for PieceRecord {
    fn from(piece: Piece<'_>) -> Self {
        let op = match piece {
            Piece::Equal(_) => PieceOperation::Equal,
            Piece::Insert(_) => PieceOperation::Insert,
            Piece::Delete(_) => PieceOperation::Delete,
        };
        Self { op, text: piece.text().to_owned() }
    }
}

/// A page of changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ChangePage {
    pub(crate) changes: Vec<ChangeRecord>,
    /// Where the next page begins: the last cursor of this one.
    pub(crate) next: i64,
}

/// A continuous query. All other fields of the API are passed on in `--json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct QueryRecord {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) text: String,
    /// `running`, `paused`, `ended` or `unreadable`.
    pub(crate) state: String,
    pub(crate) installed_at: String,
    #[serde(default)]
    pub(crate) ends_at: Option<String>,
    #[serde(default)]
    pub(crate) sources: Vec<i64>,
    #[serde(default)]
    pub(crate) results: u64,
    #[serde(default)]
    pub(crate) missed: u64,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

/// What a query captured, as other programs rely on it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ResultRecord {
    pub(crate) cursor: i64,
    /// The number of its query.
    #[serde(default)]
    pub(crate) query: i64,
    pub(crate) captured_at: String,
    pub(crate) parts: BTreeMap<String, PartRecord>,
    /// Where else the same was seen.
    #[serde(default)]
    pub(crate) also_at: Vec<SightingRecord>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

/// Where else a result was seen.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SightingRecord {
    #[serde(default)]
    pub(crate) url: Option<String>,
    pub(crate) seen_at: String,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

/// A part of a result.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PartRecord {
    #[serde(default)]
    pub(crate) items: Vec<Value>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

/// A page of results.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ResultPage {
    pub(crate) results: Vec<ResultRecord>,
    /// Where the next page begins: the last cursor of this one.
    pub(crate) next: i64,
}

/// An instance of a query that was missed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MissRecord {
    pub(crate) cursor: i64,
    pub(crate) began_at: String,
    pub(crate) missed_at: String,
    pub(crate) parts: Vec<MissedPartRecord>,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

/// A part that was missed, and why.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MissedPartRecord {
    pub(crate) name: String,
    pub(crate) message: String,
    #[serde(flatten)]
    rest: serde_json::Map<String, Value>,
}

/// A page of misses.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MissPage {
    pub(crate) missed: Vec<MissRecord>,
    /// Where the next page begins: the last cursor of this one.
    pub(crate) next: i64,
}

/// A version, without its content.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct VersionRecord {
    pub(crate) id: i64,
    pub(crate) source: i64,
    pub(crate) captured_at: String,
    #[serde(default)]
    pub(crate) size: u64,
    #[serde(default)]
    pub(crate) media_type: String,
}

/// The budget, and how it is spent where a service runs that spends it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BudgetRecord {
    pub(crate) per_second: f64,
    /// The unit in which it was set, where that is known.
    #[serde(default)]
    pub(crate) unit: Option<Unit>,
    pub(crate) host_per_second: Option<f64>,
    #[serde(flatten)]
    pub(crate) spending: Option<SpendingRecord>,
}

/// How the budget is spent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SpendingRecord {
    pub(crate) price: f64,
    pub(crate) used: UsedRecord,
    pub(crate) in_flight: u32,
    pub(crate) max_in_flight: u32,
    pub(crate) hosts: Vec<HostRecord>,
}

/// Probes taken, by how long ago.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct UsedRecord {
    pub(crate) minute: u64,
    pub(crate) hour: u64,
    pub(crate) day: u64,
}

/// One host's part of the budget.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct HostRecord {
    pub(crate) host: String,
    pub(crate) sources: u32,
    pub(crate) hour: u64,
    pub(crate) day: u64,
    pub(crate) held_until: Option<String>,
}

/// A line of the decision journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DecisionRecord {
    pub(crate) id: i64,
    pub(crate) at: String,
    pub(crate) source: i64,
    pub(crate) reason: String,
    /// What the probe was worth, and what it had to be worth.
    pub(crate) value: Option<f64>,
    pub(crate) price: Option<f64>,
}

/// A page of the decision journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct DecisionPage {
    pub(crate) decisions: Vec<DecisionRecord>,
    /// Where the next page begins.
    pub(crate) next: Option<i64>,
}

/// A token, without its secret.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TokenRecord {
    pub(crate) name: String,
    pub(crate) created_at: String,
}
