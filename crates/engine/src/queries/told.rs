//! What queries tell, as JSON: the items of a captured part, and why an instance was missed.

use dunlin_core::Time;
use dunlin_query::What;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::parts::{KeptItem, number_of};
use crate::clock;

/// An item or a value, as it is told.
pub fn item_json(item: &KeptItem, what: What, is_json: bool) -> Value {
    match what {
        What::Value => {
            let mut told = json!({ "value": item.text });
            if let Some(number) = number_of(&item.text, is_json) {
                told["number"] = json!(number);
            }
            told
        }
        What::Item => {
            let mut told = json!({ "title": item.title, "text": item.text, "link": item.link });
            if !item.is_new {
                told["new"] = json!(false);
            }
            if let Some(published) = item.published {
                told["published"] = json!(written(published));
            }
            if let Some(author) = &item.author {
                told["author"] = json!(author);
            }
            told
        }
    }
}

fn written(at: Time) -> String {
    clock::rfc3339(at)
}

/// A part that was missed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissedPart {
    /// What the query calls it.
    pub name: String,
    /// The source that it reads.
    pub source: i64,
    /// From when it had to be probed, in microseconds since 1970.
    pub from: i64,
    /// Until when.
    pub until: i64,
    /// Why it was missed.
    pub why: MissReason,
    /// The same in words.
    pub message: String,
}

/// Why a part was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissReason {
    /// The budget was spent on what was worth more.
    Budget,
    /// The host could not be asked in time.
    Host,
    /// The probe failed.
    Failed,
    /// The source did not change in time.
    Unchanged,
    /// The source is paused, or cannot be used.
    NotWatched,
    /// The service was not running.
    NotRunning,
    /// Too many instances of the query were open.
    TooMany,
}
