//! A source as clients see it. Values of headers are secrets and are never shown.

use dunlin_engine::recipe::{FlickerRule, SourceRecipe};
use dunlin_extract::recipe::Recipe;
use dunlin_store::{Health, Source};
use serde::Serialize;
use utoipa::ToSchema;

use dunlin_engine::clock::rfc3339;

/// A watched source.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SourceResponse {
    id: i64,
    url: String,
    /// What its owner calls it; null for nothing.
    name: Option<String>,
    /// Its own title, as it was when it was first read; null if it has none.
    title: Option<String>,
    /// What it was found to be: page, feed, json or text; null before it was read.
    found_kind: Option<String>,
    /// page, feed, json, text or auto.
    kind: String,
    /// The CSS selector whose elements are watched; null for all of it.
    selector: Option<String>,
    /// The JSON path whose values are watched; null for all of it.
    path: Option<String>,
    /// Whether only the main text of a page is watched.
    main: bool,
    ignore_selectors: Vec<String>,
    ignore_patterns: Vec<String>,
    /// learn or tell: whether parts that differ at every probe are suppressed or reported.
    #[schema(value_type = String)]
    flicker: FlickerRule,
    /// Names of the headers that are sent along.
    header_names: Vec<String>,
    /// Never probed again sooner than this many seconds; null for the engine's default.
    shortest_gap: Option<u64>,
    /// Probed at least this often, in seconds; null for the engine's default.
    longest_gap: Option<u64>,
    /// What its changes are worth against those of others.
    weight: f64,
    urgency: String,
    life: String,
    tags: Vec<String>,
    #[schema(format = DateTime)]
    created_at: String,
    paused: bool,
    #[schema(format = DateTime)]
    paused_at: Option<String>,
    /// Whether it is there for queries only: then its changes are not published.
    for_queries: bool,
    state: StateResponse,
}

/// The health of a source.
#[derive(Debug, Serialize, ToSchema)]
struct StateResponse {
    /// new, well, attention, failing or refused.
    #[schema(value_type = String)]
    health: &'static str,
    /// Why, for people; empty when there is nothing to say.
    reason: String,
    #[schema(format = DateTime)]
    since: String,
}

impl From<Source> for SourceResponse {
    fn from(source: Source) -> Self {
        // A recipe that a newer release wrote cannot be read, and is shown as the default.
        let recipe: SourceRecipe = serde_json::from_str(&source.spec.recipe).unwrap_or_default();
        let main = recipe.recipe == Recipe::HtmlMain;
        let (selector, path) = match recipe.recipe {
            Recipe::HtmlSelector { css } => (Some(css), None),
            Recipe::JsonPath { path } => (None, Some(path)),
            _ => (None, None),
        };
        Self {
            id: source.id.0,
            url: source.spec.url,
            name: source.spec.name,
            title: Some(source.found.title).filter(|title| !title.is_empty()),
            found_kind: Some(source.found.kind).filter(|kind| !kind.is_empty()),
            kind: source.spec.kind,
            selector,
            path,
            main,
            ignore_selectors: recipe.noise.ignore_selectors,
            ignore_patterns: recipe.noise.ignore_patterns,
            flicker: recipe.flicker,
            header_names: recipe.headers.into_keys().collect(),
            shortest_gap: recipe.shortest_gap,
            longest_gap: recipe.longest_gap,
            weight: source.spec.weight,
            urgency: source.spec.urgency,
            life: source.spec.life,
            tags: source.spec.tags,
            created_at: rfc3339(source.spec.created),
            paused: source.paused.is_some(),
            paused_at: source.paused.map(rfc3339),
            for_queries: source.spec.for_queries,
            state: StateResponse {
                health: health_text(source.state.health),
                reason: source.state.reason,
                since: rfc3339(source.state.since),
            },
        }
    }
}

/// A health, as clients see it.
pub(crate) const fn health_text(health: Health) -> &'static str {
    match health {
        Health::New => "new",
        Health::Well => "well",
        Health::Attention => "attention",
        Health::Failing => "failing",
        Health::Refused => "refused",
    }
}
