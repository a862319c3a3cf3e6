//! From the text of one query to what is stored of it: each claim judged by what is known here, and each part with the source
//! that it reads.

use std::collections::BTreeSet;

use dunlin_core::Time;
use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Extractor, Limits};
use dunlin_query::{
    Body, Claim, End, From, Objection, Query, QueryError, Refused, Select, Span, Start, nearest, parse_with,
    split, words,
};
use dunlin_store::{NewQuery, NewSource, QuerySource, Source, SourceId, SourceQuery, Store};

use crate::handle::stored_budget;
use crate::recipe::{self, FlickerRule, SourceRecipe};
use crate::{Error, Settings, clock};

/// How many sources are read at a time when one is looked up by its name.
const PAGE: u32 = 1000;
/// The most probes a second that a query may want by itself, as a share of the budget.
const MOST_OF_BUDGET: f64 = 1.0;
/// The most different words of one WATCH.
const MOST_WORDS: usize = 16;

/// Reads the text of one query as it would be installed at `now`.
pub fn read(text: &str, store: &dyn Store, settings: &Settings, now: Time) -> Result<NewQuery, Error> {
    let query = parsed(text, store, settings)?;
    if let Some(End::Until(end)) = query.end
        && end <= now
    {
        return Err(Error::QueryOver { name: query.name, end: clock::rfc3339(end) });
    }
    check_rate(&query, stored_budget(store)?.unwrap_or(settings.budget).per_second)?;
    let sources = sources_of(&query, store, now)?;
    check_sources(&query, &sources, store, settings.most_query_sources)?;
    Ok(NewQuery { name: query.name, text: text.to_owned(), installed: now, sources })
}

/// The one query of a text, each claim of which is judged by what is known here.
pub(super) fn parsed(text: &str, store: &dyn Store, settings: &Settings) -> Result<Query, Error> {
    let mut trouble = None;
    let parsed = parse_with(text, |claim| match claim {
        Claim::From(from) => judge_from(from, store, settings).unwrap_or_else(|error| {
            trouble.get_or_insert(error);
            Ok(())
        }),
        Claim::Pick { from, text } => judge_pick(from, text),
        Claim::Watch(words) => judge_words(words),
    });
    let queries = parsed.map_err(|refused| Error::Query(Box::new(refused)))?;
    if let Some(error) = trouble {
        return Err(error);
    }
    let n_queries = queries.len();
    queries.into_iter().next().filter(|_| n_queries == 1).ok_or_else(|| {
        let span = split(text).get(1).copied().unwrap_or_default();
        let n_blank = text[span.start..span.end].len() - text[span.start..span.end].trim_start().len();
        let span = Span { start: span.start + n_blank, end: span.start + n_blank + "QUERY".len() };
        let message = format!("{n_queries} queries in one text: expected one");
        let hint = Some("install them one by one".to_owned());
        Error::Query(Box::new(Refused(vec![QueryError::at(text, span, message, hint)])))
    })
}

/// What each part of a query reads.
pub(super) fn sources_of(query: &Query, store: &dyn Store, now: Time) -> Result<Vec<QuerySource>, Error> {
    match &query.body {
        Body::Select(block) => block.selects.iter().map(|select| source_of(select, store, now)).collect(),
        Body::Watch(_) => Ok(Vec::new()),
    }
}

/// A query that wants more than the whole budget by its own clock can only be missed. Each instance wants a probe of each source
/// of which it does not depend on a capture whether it is read.
fn check_rate(query: &Query, budget_per_second: f64) -> Result<(), Error> {
    const SECONDS_OF_DAY: f64 = 86_400.0;
    let Body::Select(block) = &query.body else { return Ok(()) };
    let per_second = match block.selects.first().and_then(|trigger| trigger.start.as_ref()) {
        Some(Start::Every(period)) => 1.0 / period.as_secs_f64().max(1e-3),
        Some(Start::At(times)) => times.minutes.len() as f64 / SECONDS_OF_DAY,
        _ => 0.0,
    };
    let always =
        block.selects.iter().filter(|select| !matches!(select.start, Some(Start::When(_) | Start::OnChange)));
    let sources: BTreeSet<String> = always.map(|select| select.from.to_string()).collect();
    let wanted = per_second * sources.len() as f64;
    let most = budget_per_second * MOST_OF_BUDGET;
    if budget_per_second > 0.0 && wanted > most {
        return Err(Error::QueryTooFast { name: query.name.clone(), wanted, most });
    }
    Ok(())
}

/// All queries together may add so many sources.
fn check_sources(
    query: &Query,
    sources: &[QuerySource],
    store: &dyn Store,
    most: usize,
) -> Result<(), Error> {
    let wanted = sources.iter().filter(|source| matches!(source, QuerySource::Own(_))).count();
    let n_there = store.n_sources_for_queries()? as usize;
    if wanted > 0 && n_there + wanted > most {
        let name = query.name.clone();
        return Err(Error::TooManyQuerySources { name, wanted, n_there, most });
    }
    Ok(())
}

/// Judges the words of a WATCH: they are looked up one by one.
pub fn judge_words(text: &str) -> Result<(), Objection> {
    let words: BTreeSet<String> = words(text).collect();
    if words.len() <= MOST_WORDS {
        return Ok(());
    }
    Err(Objection {
        message: format!("{} different words are too many for one WATCH: at most {MOST_WORDS}", words.len()),
        hint: Some("say it in fewer words, or with several WATCHes".to_owned()),
    })
}

fn judge_from(from: &From, store: &dyn Store, settings: &Settings) -> Result<Result<(), Objection>, Error> {
    Ok(match from {
        From::Feed(url) | From::Page(url) | From::Json(url) => {
            let source = NewSource::page(url.clone(), Time::from_micros(0));
            recipe::check(&source, settings)
                .map(|_| ())
                .map_err(|error| Objection { message: error.to_string(), hint: None })
        }
        From::SourceId(id) => match store.source(SourceId(id.cast_signed()))? {
            Some(source) => check_watched(&source),
            None => Err(Objection {
                message: format!("no source has the number {id}"),
                hint: Some("`dunlin sources` lists them".to_owned()),
            }),
        },
        From::SourceName(name) => match by_name(store, name)? {
            Named::One(source) => check_watched(&source),
            Named::Several => Err(Objection {
                message: format!("several sources are called `{name}`"),
                hint: Some("say which one by its number: source 17".to_owned()),
            }),
            Named::None(names) => Err(Objection {
                message: format!("no source is called `{name}`"),
                hint: nearest(name, names.iter().map(String::as_str))
                    .map(|like| format!("did you mean '{like}'?")),
            }),
        },
    })
}

fn check_watched(source: &Source) -> Result<(), Objection> {
    if source.spec.for_queries {
        return Err(Objection {
            message: format!("source {} is there for queries only", source.id),
            hint: Some("select from its address".to_owned()),
        });
    }
    Ok(())
}

enum Named {
    One(Box<Source>),
    Several,
    /// With the names that there are.
    None(Vec<String>),
}

fn by_name(store: &dyn Store, name: &str) -> Result<Named, Error> {
    let (mut found, mut names, mut after) = (None, Vec::new(), None);
    loop {
        let sources = store.sources(&SourceQuery { after, ..SourceQuery::first(PAGE) })?;
        let Some(last) = sources.last() else { break };
        after = Some(last.id);
        for source in sources.into_iter().filter(|source| !source.spec.for_queries) {
            if source.shown_name() == name {
                if found.is_some() {
                    return Ok(Named::Several);
                }
                found = Some(source);
            } else if names.len() < PAGE as usize && !source.shown_name().is_empty() {
                names.push(source.shown_name().to_owned());
            }
        }
    }
    Ok(found.map_or(Named::None(names), |source| Named::One(Box::new(source))))
}

/// Judges what a PICK says by the parsers that will read pages by it.
pub fn judge_pick(from: &From, text: &str) -> Result<(), Objection> {
    let Some(recipe) = picking(from, text) else { return Ok(()) };
    let read = Extractor::new(&recipe, &NoiseRules::default(), Limits::default());
    read.map(drop).map_err(|error| {
        let message = match &error {
            // The text itself is shown with the caret.
            dunlin_extract::Error::Unreadable { at, reason, .. } => {
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

fn picking(from: &From, text: &str) -> Option<Recipe> {
    match from {
        From::Page(_) => Some(Recipe::HtmlSelector { css: text.to_owned() }),
        From::Json(_) => Some(Recipe::JsonPath { path: text.to_owned() }),
        _ => None,
    }
}

/// The source that a part reads. By itself it is worth nothing: what is read by the clock or after a trigger is worth what the
/// instance is, and control adds what changes are worth to parts that wait for them.
fn source_of(select: &Select, store: &dyn Store, now: Time) -> Result<QuerySource, Error> {
    let (url, kind) = match &select.from {
        From::Feed(url) => (url, "feed"),
        From::Page(url) => (url, "page"),
        From::Json(url) => (url, "json"),
        From::SourceId(id) => return Ok(QuerySource::Watched(SourceId(id.cast_signed()))),
        From::SourceName(name) => match by_name(store, name)? {
            Named::One(source) => return Ok(QuerySource::Watched(source.id)),
            Named::Several | Named::None(_) => return Err(Error::NoSuchName { name: name.clone() }),
        },
    };
    let picked = select.pick.as_deref().and_then(|text| picking(&select.from, text));
    let recipe = SourceRecipe {
        recipe: picked.unwrap_or_default(),
        // What is there now was asked for, noise or not.
        flicker: if select.start == Some(Start::OnChange) { FlickerRule::Learn } else { FlickerRule::Tell },
        ..SourceRecipe::default()
    };
    let recipe =
        serde_json::to_string(&recipe).map_err(|error| Error::Recipe { reason: error.to_string() })?;
    Ok(QuerySource::Own(Box::new(NewSource {
        kind: kind.to_owned(),
        recipe,
        weight: 0.0,
        life: if kind == "feed" { "append" } else { "overwrite" }.to_owned(),
        for_queries: true,
        ..NewSource::page(url.clone(), now)
    })))
}
