//! The configuration of one source, as it is stored and as it is checked. Fetches nothing.
//!
//! Invariant: a source that passes [`check`] can be watched: its URL may be fetched, its recipe can be used, and its
//! life, urgency and weight mean something.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Extractor, Limits};
use dunlin_net::{RedactedUrl, Request};
use dunlin_sched::value::{Life, ValueModel};
use dunlin_store::{NewSource, ProbeBasis, Source, SourceEdit};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::{Error, Settings};

/// The JSON text in a source's `recipe`; `{}` means all defaults.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceRecipe {
    /// How to find items; by the kind of the source when left out.
    pub recipe: Recipe,
    /// What to leave out before anything is compared.
    pub noise: NoiseRules,
    /// What to do about parts that differ at every probe.
    pub flicker: FlickerRule,
    /// Headers to send, such as `Authorization`. Sent to the host of the URL only, and never shown.
    pub headers: BTreeMap<String, String>,
    /// Never probe again sooner than this many seconds.
    pub shortest_gap: Option<u64>,
    /// Probe at least this often, in seconds.
    pub longest_gap: Option<u64>,
}

/// What to do about parts of a page that differ at every probe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlickerRule {
    /// Learn and suppress them.
    #[default]
    Learn,
    /// Report them like any other change: for a page that really changes every few seconds.
    Tell,
}

/// A longer selector or pattern is recognised by its beginning.
const LONGEST_SHOWN: usize = 80;

impl SourceRecipe {
    /// How pages are read by it, for people: after "reading it".
    pub(crate) fn describe(&self) -> String {
        let quoted = |text: &str| match text.char_indices().nth(LONGEST_SHOWN) {
            Some((cut, _)) => format!("`{}…`", &text[..cut]),
            None => format!("`{text}`"),
        };
        let by = match &self.recipe {
            Recipe::HtmlSelector { css } => format!("with the selector {}", quoted(css)),
            Recipe::JsonPath { path } => format!("with the path {}", quoted(path)),
            Recipe::HtmlMain => "for its main text".to_owned(),
            Recipe::Feed => "as a feed".to_owned(),
            Recipe::Json => "as JSON".to_owned(),
            Recipe::Text => "as text".to_owned(),
            _ => "as a page".to_owned(),
        };
        let ignored = self.noise.ignore_selectors.iter().chain(&self.noise.ignore_patterns);
        let ignored: Vec<String> = ignored.take(3).map(|text| quoted(text)).collect();
        if ignored.is_empty() { by } else { format!("{by}, without {}", ignored.join(", ")) }
    }
}

impl fmt::Debug for SourceRecipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceRecipe")
            .field("recipe", &self.recipe)
            .field("noise", &self.noise)
            .field("flicker", &self.flicker)
            .field("header_names", &self.headers.keys().collect::<Vec<_>>())
            .field("shortest_gap", &self.shortest_gap)
            .field("longest_gap", &self.longest_gap)
            .finish()
    }
}

/// Where a source is and how to read it: the part of the configuration that a probe needs.
#[derive(Debug, Clone)]
pub struct Target {
    /// Where it is.
    pub url: Arc<Url>,
    /// How to read it. Shared, since many sources are read in the same way.
    pub recipe: Arc<SourceRecipe>,
}

/// A checked configuration of a source.
#[derive(Debug, Clone)]
pub struct Checked {
    /// Where it is and how to read it.
    pub target: Target,
    /// What its changes are worth.
    pub value: ValueModel,
    /// Never probe again sooner than this.
    pub shortest_gap: Duration,
    /// Probe at least this often.
    pub longest_gap: Duration,
}

/// The longest gap that makes sense: about three years.
const MAX_GAP: u64 = 100_000_000;

/// Weights with which values can still be computed: beside a larger one, all other sources would be worth nothing.
const WEIGHTS: RangeInclusive<f64> = 1e-6..=1e6;

/// The most bytes of headers that one source may add to each request.
const MAX_HEADER_BYTES: usize = 16 << 10;

/// Checks a source, or says which part of it is invalid and what to write instead.
pub fn check(source: &NewSource, settings: &Settings) -> Result<Checked, Error> {
    let checked = interpret(source, settings)?;
    let Target { url, .. } = &checked.target;
    let refused = |refusal| dunlin_net::Error::Refused { url: RedactedUrl::of(url), refusal, hops: 0 };
    settings.network.guard.check_url(url).map_err(|refusal| Error::Url(refused(refusal)))?;
    checked.extractor(settings.extraction)?;
    checked.target.request()?;
    if source.weight != 0.0 && !WEIGHTS.contains(&source.weight) {
        return Err(wrong("weight", &source.weight, "0, or a number from 0.000001 to 1000000"));
    }
    if checked.value.life == Life::Window(0) {
        return Err(wrong(
            "life",
            &source.life,
            "a window of at least 1: what is gone at once is never seen",
        ));
    }
    Ok(checked)
}

/// The same for a source as it would be after an edit. One that the guard now refuses can still be paused, or found by
/// another tag.
pub fn check_edit(present: &Source, edit: &SourceEdit, settings: &Settings) -> Result<(), Error> {
    let mut edited = present.clone();
    edit.apply(&mut edited);
    // What a probe does not need does not count.
    edited.spec.tags.clone_from(&present.spec.tags);
    if edited.spec != present.spec {
        check(&edited.spec, settings)?;
    }
    Ok(())
}

/// The same without what only a probe needs, which would be slow for many sources.
pub(crate) fn interpret(source: &NewSource, settings: &Settings) -> Result<Checked, Error> {
    let url = parse_url(&source.url)?;
    let recipe = parse_recipe(&source.kind, &source.recipe)?;
    let gap = |seconds: Option<u64>, default: Duration, what| match seconds {
        None => Ok(default),
        Some(seconds @ 1..=MAX_GAP) => Ok(Duration::from_secs(seconds)),
        Some(other) => Err(wrong(what, &other, "whole seconds, from 1 to 100000000")),
    };
    let shortest_gap = gap(recipe.shortest_gap, settings.shortest_gap, "shortest_gap")?;
    let longest_gap = gap(recipe.longest_gap, settings.longest_gap, "longest_gap")?;
    let value =
        ValueModel { life: source.life.parse()?, urgency: source.urgency.parse()?, weight: source.weight };
    Ok(Checked {
        target: Target { url, recipe: Arc::new(recipe) },
        value,
        shortest_gap,
        longest_gap: longest_gap.max(shortest_gap),
    })
}

fn parse_url(text: &str) -> Result<Arc<Url>, Error> {
    Url::parse(text).map(Arc::new).map_err(|error| Error::Url(error.into()))
}

fn parse_recipe(kind: &str, text: &str) -> Result<SourceRecipe, Error> {
    let mut recipe: SourceRecipe =
        serde_json::from_str(text).map_err(|error| Error::Recipe { reason: error.to_string() })?;
    let by_kind = match kind {
        "auto" | "" => Recipe::Auto,
        "page" => Recipe::Page,
        "json" => Recipe::Json,
        "feed" => Recipe::Feed,
        "text" => Recipe::Text,
        other => return Err(Error::Kind { given: other.to_owned() }),
    };
    if recipe.recipe == Recipe::Auto {
        recipe.recipe = by_kind;
    }
    Ok(recipe)
}

/// Recently parsed recipes, so that sources that are read in the same way share one.
#[derive(Debug, Default)]
pub(crate) struct Recipes(HashMap<String, Arc<SourceRecipe>>);

impl Recipes {
    /// How many different ones are held; beyond that, all are dropped.
    const MOST: usize = 1024;

    /// Parses where a source is and how to read it.
    pub(crate) fn target(&mut self, basis: &ProbeBasis) -> Result<Target, Error> {
        let key = format!("{}\n{}", basis.kind, basis.recipe);
        let recipe = if let Some(known) = self.0.get(&key) {
            Arc::clone(known)
        } else {
            let recipe = Arc::new(parse_recipe(&basis.kind, &basis.recipe)?);
            if self.0.len() >= Self::MOST {
                self.0.clear();
            }
            self.0.insert(key, Arc::clone(&recipe));
            recipe
        };
        Ok(Target { url: parse_url(&basis.url)?, recipe })
    }
}

fn wrong(what: &'static str, given: &impl ToString, expected: &'static str) -> Error {
    Error::Number { what, given: given.to_string(), expected }
}

impl Checked {
    /// What reads its pages.
    pub fn extractor(&self, limits: Limits) -> Result<Extractor, Error> {
        self.target.extractor(limits)
    }
}

impl Target {
    /// What reads its pages.
    pub fn extractor(&self, limits: Limits) -> Result<Extractor, Error> {
        Ok(Extractor::new(&self.recipe.recipe, &self.recipe.noise, limits)?)
    }

    /// What asks for it, without validators.
    pub fn request(&self) -> Result<Request, Error> {
        let size: usize = self.recipe.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
        if size > MAX_HEADER_BYTES {
            return Err(wrong("bytes of headers", &size, "at most 16384 in all"));
        }
        let request = Request::new(Arc::clone(&self.url));
        let mut headers = self.recipe.headers.iter();
        headers.try_fold(request, |request, (name, value)| request.header(name, value)).map_err(Error::Header)
    }
}
