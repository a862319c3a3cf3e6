//! The configuration that a client sends for a new or known source, turned into what the engine takes. The engine checks
//! the values; here it is only checked that they fit together.

pub(crate) mod schema;

use std::collections::BTreeMap;
use std::fmt;

use dunlin_core::Time;
use dunlin_engine::recipe::{FlickerRule, SourceRecipe};
use dunlin_extract::recipe::Recipe;
use dunlin_store::{NewSource, Source, SourceEdit};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::failure::Failure;
use crate::input::{Edit, Whole};

/// The most tags of one source.
const MAX_TAGS: usize = 50;

/// The most characters of one tag.
const MAX_TAG_CHARS: usize = 100;

/// The most characters of a name.
const MAX_NAME_CHARS: usize = 200;

/// The most characters of an address.
const MAX_URL_CHARS: usize = 8 << 10;

/// Headers to send along. Their values are secrets.
#[derive(Clone, Deserialize, ToSchema)]
#[serde(transparent)]
pub(crate) struct HeadersRequest(BTreeMap<String, String>);

impl fmt::Debug for HeadersRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// A source to be watched, or what to change about one. What is left out has its default, or stays as it is; in a change,
/// `null` goes back to the default.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourceRequest {
    /// Its address. Needed for a new source.
    url: Option<String>,
    /// What to call it, instead of its own title.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    name: Edit<String>,
    /// page, feed, json, text or auto, which goes by the document.
    kind: Option<String>,
    /// A CSS selector: each element of a page that it matches is an item.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    selector: Edit<String>,
    /// Whether only the main text of a page is watched, without menus, margins and footers.
    main: Option<bool>,
    /// A JSON path (RFC 9535): each value of a JSON document that it selects is an item.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    path: Edit<String>,
    /// Elements of pages that are not read.
    ignore_selectors: Option<Vec<String>>,
    /// Pieces of text that are left out, as regular expressions.
    ignore_patterns: Option<Vec<String>>,
    /// learn, which suppresses parts that differ at every probe, or tell, which reports them.
    #[serde(default)]
    #[schema(value_type = Option<String>, pattern = "^(learn|tell)$")]
    flicker: Edit<FlickerRule>,
    /// Headers to send along, to the host of the URL only. Never shown again.
    headers: Option<HeadersRequest>,
    /// Never probe again sooner than this many seconds.
    #[serde(default)]
    #[schema(value_type = Option<i64>)]
    shortest_gap: Edit<Whole>,
    /// Probe at least this often, in seconds.
    #[serde(default)]
    #[schema(value_type = Option<i64>)]
    longest_gap: Edit<Whole>,
    /// What its changes are worth against those of others; at least 0.
    weight: Option<f64>,
    /// How the worth of a change falls with delay: uniform, exp:R, sliding:W, …
    urgency: Option<String>,
    /// How long a change stays visible: append, window:W, changes:Z, overwrite.
    life: Option<String>,
    /// Labels to find it by.
    tags: Option<Vec<String>>,
    /// Whether to pause it.
    paused: Option<bool>,
}

impl SourceRequest {
    /// The source to add.
    pub(crate) fn into_new(self, now: Time) -> Result<NewSource, Failure> {
        let Some(url) = &self.url else {
            return Err(Failure::bad_value("url: missing", "say which address to watch"));
        };
        let plain = NewSource::page(url, now);
        let (kind, recipe) = self.reading("auto", SourceRecipe::default())?;
        self.check_sizes()?;
        Ok(NewSource {
            url: plain.url,
            name: self.name.value().flatten(),
            kind,
            recipe,
            weight: self.weight.unwrap_or(plain.weight),
            life: self.life.unwrap_or(plain.life),
            urgency: self.urgency.unwrap_or(plain.urgency),
            tags: self.tags.unwrap_or_default(),
            created: now,
            for_queries: false,
        })
    }

    /// What to change about a source.
    pub(crate) fn into_edit(self, source: &Source, now: Time) -> Result<SourceEdit, Failure> {
        self.check_sizes()?;
        let present: SourceRecipe = serde_json::from_str(&source.spec.recipe).map_err(|error| {
            let hint = "remove the source and add it again";
            Failure::bad_value(format!("the stored recipe cannot be read: {error}"), hint)
        })?;
        let (kind, recipe) = self.reading(&source.spec.kind, present.clone())?;
        // The same recipe in another spelling is no change: another recipe would make the next probe a first one.
        let is_same = serde_json::from_str(&recipe).is_ok_and(|new: SourceRecipe| new == present);
        Ok(SourceEdit {
            kind: (kind != source.spec.kind).then_some(kind),
            recipe: (!is_same).then_some(recipe),
            url: self.url,
            name: self.name.value(),
            weight: self.weight,
            life: self.life,
            urgency: self.urgency,
            tags: self.tags,
            state: None,
            paused: self.paused.map(|is_paused| is_paused.then(|| source.paused.unwrap_or(now))),
        })
    }

    /// Whether a new source is paused from the start.
    pub(crate) fn is_paused(&self) -> bool {
        self.paused == Some(true)
    }

    /// The kind and the recipe, from those before.
    fn reading(&self, kind: &str, mut recipe: SourceRecipe) -> Result<(String, String), Failure> {
        let was_main = recipe.recipe == Recipe::HtmlMain;
        let (mut selector, mut path) = match recipe.recipe {
            Recipe::HtmlSelector { css } => (Some(css), None),
            Recipe::JsonPath { path } => (None, Some(path)),
            _ => (None, None),
        };
        // What is given for the first time replaces what was there.
        if self.main == Some(true) {
            (selector, path) = (None, None);
        }
        self.selector.apply(&mut selector);
        self.path.apply(&mut path);
        let kind = self.kind.as_deref().unwrap_or(kind);
        let wrong = |what: &str, reads: &str| {
            let hint = format!("leave out one of the two, or set kind to {reads} or auto");
            Failure::bad_value(format!("{what} does not go with kind {kind}"), hint)
        };
        recipe.recipe = match (selector, path) {
            (Some(_), Some(_)) => {
                let hint = "give a selector for pages or a path for JSON, and set the other to null";
                return Err(Failure::bad_value("selector and path do not go together", hint));
            }
            (Some(_), None) if !matches!(kind, "page" | "auto") => return Err(wrong("selector", "page")),
            (None, Some(_)) if !matches!(kind, "json" | "auto") => return Err(wrong("path", "json")),
            (Some(css), None) => Recipe::HtmlSelector { css },
            (None, Some(path)) => Recipe::JsonPath { path },
            (None, None) if self.main.unwrap_or(was_main) => {
                if !matches!(kind, "page" | "auto") {
                    return Err(wrong("main", "page"));
                }
                Recipe::HtmlMain
            }
            (None, None) => Recipe::Auto,
        };
        replace(&mut recipe.noise.ignore_selectors, self.ignore_selectors.as_ref());
        replace(&mut recipe.noise.ignore_patterns, self.ignore_patterns.as_ref());
        let mut flicker = Some(recipe.flicker);
        self.flicker.apply(&mut flicker);
        recipe.flicker = flicker.unwrap_or_default();
        replace(&mut recipe.headers, self.headers.as_ref().map(|headers| &headers.0));
        self.shortest_gap.seconds("shortest_gap")?.apply(&mut recipe.shortest_gap);
        self.longest_gap.seconds("longest_gap")?.apply(&mut recipe.longest_gap);
        let text = serde_json::to_string(&recipe).map_err(|error| Failure::internal(error.to_string()))?;
        Ok((kind.to_owned(), text))
    }

    fn check_sizes(&self) -> Result<(), Failure> {
        let tags = self.tags.as_deref().unwrap_or_default();
        let is_fit = |tag: &String| (1..=MAX_TAG_CHARS).contains(&tag.chars().count());
        if tags.len() > MAX_TAGS || !tags.iter().all(is_fit) {
            let hint = format!("at most {MAX_TAGS} tags, each of 1 to {MAX_TAG_CHARS} characters");
            return Err(Failure::bad_value("tags: too many, empty or too long", hint));
        }
        let name = self.name.value().flatten();
        let is_fit = |name: &String| {
            (1..=MAX_NAME_CHARS).contains(&name.chars().count()) && !name.chars().any(char::is_control)
        };
        if !name.is_none_or(|name| is_fit(&name) && name.trim() == name) {
            let hint = format!(
                "1 to {MAX_NAME_CHARS} characters on one line, without blanks around them; null for none"
            );
            return Err(Failure::bad_value("name: empty, too long or not one line", hint));
        }
        if self.url.as_ref().is_some_and(|url| url.chars().count() > MAX_URL_CHARS) {
            return Err(Failure::bad_value("url: too long", format!("at most {MAX_URL_CHARS} characters")));
        }
        Ok(())
    }
}

fn replace<T: Clone>(present: &mut T, new: Option<&T>) {
    if let Some(new) = new {
        present.clone_from(new);
    }
}

#[cfg(test)]
mod tests {
    use dunlin_store::{FoundAs, Health, ResourceId, SourceId, SourceState};
    use serde_json::json;

    use super::*;

    fn source(request: serde_json::Value) -> Source {
        let request: SourceRequest = serde_json::from_value(request).unwrap();
        let now = Time::from_seconds(1_700_000_000);
        let state = SourceState { health: Health::New, reason: String::new(), since: now, announced: None };
        Source {
            id: SourceId(1),
            resource: ResourceId(1),
            spec: request.into_new(now).unwrap(),
            found: FoundAs::default(),
            state,
            paused: None,
        }
    }

    fn edit(source: &Source, request: serde_json::Value) -> SourceEdit {
        let request: SourceRequest = serde_json::from_value(request).unwrap();
        request.into_edit(source, Time::from_seconds(1_700_000_100)).unwrap()
    }

    #[test]
    fn the_same_recipe_in_another_spelling_is_no_change() {
        let page = source(
            json!({ "url": "https://x.example/", "kind": "page", "selector": "p", "shortest_gap": 60 }),
        );
        let same =
            edit(&page, json!({ "selector": "p", "kind": "page", "flicker": "learn", "shortest_gap": 60.0 }));
        assert_eq!((same.recipe, same.kind), (None, None));
        for other in [json!({ "selector": "q" }), json!({ "selector": null }), json!({ "flicker": "tell" })] {
            assert!(edit(&page, other.clone()).recipe.is_some(), "{other}");
        }
        assert_eq!(edit(&page, json!({ "kind": "auto" })).kind.as_deref(), Some("auto"));
    }

    #[test]
    fn a_pause_keeps_the_time_at_which_it_began() {
        let mut page = source(json!({ "url": "https://x.example/" }));
        let now = Time::from_seconds(1_700_000_100);
        assert_eq!(edit(&page, json!({ "paused": true })).paused, Some(Some(now)));
        page.paused = Some(Time::from_seconds(1_700_000_050));
        assert_eq!(edit(&page, json!({ "paused": true })).paused, Some(page.paused));
        assert_eq!(edit(&page, json!({ "paused": false })).paused, Some(None));
        assert_eq!(edit(&page, json!({})).paused, None);
    }
}
