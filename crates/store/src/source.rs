//! A watched source as a user sees it: where it is, how to read it, what it is worth, its health. Not what was
//! captured from it.

use dunlin_core::Time;

use crate::{Error, Note, ResourceId, SourceId};

/// A source to be watched.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSource {
    /// Its address.
    pub url: String,
    /// What its owner calls it.
    pub name: Option<String>,
    /// What it is: `page`, `feed`, `json`, …, in the extractor's terms.
    pub kind: String,
    /// How to read it (selector, path, noise rules), as a JSON text; `{}` for the defaults.
    pub recipe: String,
    /// What its changes are worth against those of others; at least 0.
    pub weight: f64,
    /// How long a change stays visible on it, in the notation of the scheduler (`append`, `window:60`, …).
    pub life: String,
    /// How the worth of a change falls with delay, in the notation of the scheduler (`uniform`, `exp:0.9`, …).
    pub urgency: String,
    /// Labels to find it by.
    pub tags: Vec<String>,
    /// When it was added.
    pub created: Time,
    /// Whether it is there for queries only, which install and remove it: its changes are not published.
    pub for_queries: bool,
}

impl NewSource {
    /// A page of weight 1 with default life and urgency and no tags.
    pub fn page(url: impl Into<String>, created: Time) -> Self {
        Self {
            url: url.into(),
            name: None,
            kind: "page".to_owned(),
            recipe: "{}".to_owned(),
            weight: 1.0,
            life: "overwrite".to_owned(),
            urgency: "uniform".to_owned(),
            tags: Vec::new(),
            created,
            for_queries: false,
        }
    }

    pub(crate) fn check(&self) -> Result<(), Error> {
        check_weight(self.weight)?;
        check_recipe(&self.recipe)
    }
}

/// A stored source.
#[derive(Debug, Clone, PartialEq)]
pub struct Source {
    /// Its number.
    pub id: SourceId,
    /// What is fetched for it, shared with the sources that have the same request.
    pub resource: ResourceId,
    /// What it was added as, with later edits.
    pub spec: NewSource,
    /// What it was found to be.
    pub found: FoundAs,
    /// Its health.
    pub state: SourceState,
    /// Since when a user has it paused.
    pub paused: Option<Time>,
}

impl Source {
    /// What people know it by: the owner's name for it, or else its title; empty if it has neither.
    pub fn shown_name(&self) -> &str {
        self.spec.name.as_deref().unwrap_or(&self.found.title)
    }
}

/// What a source was found to be when it was read; empty texts before that.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FoundAs {
    /// `page`, `feed`, `json`, `text`.
    pub kind: String,
    /// Its own title; empty if it has none.
    pub title: String,
}

/// What a probe starts from: the configuration that says how to fetch and read the source, and notes about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeBasis {
    /// Its address.
    pub url: String,
    /// What it is.
    pub kind: String,
    /// How to read it.
    pub recipe: String,
    /// The requested notes that exist.
    pub notes: Vec<Note>,
    /// What the last fetch of its resource left; empty for nothing.
    pub fetch_state: Vec<u8>,
}

/// The health of a source, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceState {
    /// In one word.
    pub health: Health,
    /// Why, for people; empty when there is nothing to say.
    pub reason: String,
    /// Since when.
    pub since: Time,
    /// The trouble that its owner has been told of and that has not ended.
    pub announced: Option<Health>,
}

/// The health of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Health {
    /// It has not been probed yet.
    New,
    /// The last probe succeeded.
    Well,
    /// It can be fetched, but it is not what it should be: a selector that finds nothing, another kind of document, an error page.
    /// Probes go on; its owner may have to act.
    Attention,
    /// It cannot be read at present; probes go on.
    Failing,
    /// It must not or cannot be probed until a user acts: forbidden, gone, an address that is not allowed.
    Refused,
}

/// What to change about a source; `None` leaves it as it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SourceEdit {
    /// A new address. Versions and changes captured so far stay.
    pub url: Option<String>,
    /// `Some(Some(name))` names it, `Some(None)` takes its name away.
    pub name: Option<Option<String>>,
    /// A new kind.
    pub kind: Option<String>,
    /// A new recipe.
    pub recipe: Option<String>,
    /// A new weight.
    pub weight: Option<f64>,
    /// A new life.
    pub life: Option<String>,
    /// A new urgency.
    pub urgency: Option<String>,
    /// New tags, in place of all old ones.
    pub tags: Option<Vec<String>>,
    /// A new state.
    pub state: Option<SourceState>,
    /// `Some(Some(time))` pauses, `Some(None)` resumes.
    pub paused: Option<Option<Time>>,
}

impl SourceEdit {
    /// Makes the change, without checking what comes of it. Its resource is for the store to find.
    pub fn apply(&self, source: &mut Source) {
        fn replace<T: Clone>(field: &mut T, new: Option<&T>) {
            if let Some(new) = new {
                field.clone_from(new);
            }
        }
        let Self { url, name, kind, recipe, weight, life, urgency, tags, state, paused } = self;
        replace(&mut source.spec.url, url.as_ref());
        replace(&mut source.spec.name, name.as_ref());
        replace(&mut source.spec.kind, kind.as_ref());
        replace(&mut source.spec.recipe, recipe.as_ref());
        replace(&mut source.spec.weight, weight.as_ref());
        replace(&mut source.spec.life, life.as_ref());
        replace(&mut source.spec.urgency, urgency.as_ref());
        replace(&mut source.spec.tags, tags.as_ref());
        replace(&mut source.state, state.as_ref());
        replace(&mut source.paused, paused.as_ref());
    }
}

/// Which sources to list, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceQuery {
    /// Those after this one; the last of a page asks for the next page.
    pub after: Option<SourceId>,
    /// Only those at this address.
    pub url: Option<String>,
    /// Only those with this tag.
    pub tag: Option<String>,
    /// Also those that are there for queries only, or not.
    pub scope: SourceScope,
    /// At most this many.
    pub limit: u32,
}

/// Whose sources to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceScope {
    /// All.
    All,
    /// Those that a person watches, and not those that are there for queries only.
    Watched,
}

impl SourceQuery {
    /// The first `limit` sources of all.
    pub const fn first(limit: u32) -> Self {
        Self { after: None, url: None, tag: None, scope: SourceScope::All, limit }
    }
}

fn check_weight(weight: f64) -> Result<(), Error> {
    if weight.is_finite() && weight >= 0.0 {
        return Ok(());
    }
    Err(Error::BadValue { what: "weight", found: weight.to_string(), expected: "a number of at least 0" })
}

fn check_recipe(recipe: &str) -> Result<(), Error> {
    let parsed = serde_json::from_str::<serde::de::IgnoredAny>(recipe);
    parsed.map(|_| ()).map_err(|problem| Error::BadValue {
        what: "recipe",
        found: problem.to_string(),
        expected: "a JSON text",
    })
}
