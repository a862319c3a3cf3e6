//! What PICK says, judged by the parsers that will read it: those of the extractor. The language only knows that it is a text.

use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Error, Extractor, Limits};
use dunlin_query::{Claim, From, Objection, Query, Refused, parse_with};

/// Reads queries, with each PICK.
pub(super) fn parse(text: &str) -> Result<Vec<Query>, Refused> {
    parse_with(text, |claim| match claim {
        Claim::Pick { from, text } => judge(from, text),
        _ => Ok(()),
    })
}

fn judge(from: &From, text: &str) -> Result<(), Objection> {
    let recipe = match from {
        From::Page(_) => Recipe::HtmlSelector { css: text.to_owned() },
        From::Json(_) => Recipe::JsonPath { path: text.to_owned() },
        _ => return Ok(()),
    };
    let read = Extractor::new(&recipe, &NoiseRules::default(), Limits::default());
    read.map(drop).map_err(|error| {
        let message = match &error {
            // The text itself is shown with the caret.
            Error::Unreadable { at, reason, .. } => {
                let kind = if matches!(from, From::Json(_)) { "JSON path" } else { "CSS selector" };
                format!("cannot read the {kind} at its character {at}: {reason}")
            }
            other => other.to_string(),
        };
        let hint = match from {
            From::Json(_) if !text.starts_with('$') => Some("a JSON path begins with $, as in $.price"),
            From::Page(_) if text.starts_with('$') => {
                Some("this looks like a JSON path: read the source as json")
            }
            _ => None,
        };
        Objection { message, hint: hint.map(str::to_owned) }
    })
}
