//! Which source of a trace a SELECT reads. A trace has ids where queries have URLs, so the two are matched by text.

use std::collections::BTreeMap;

use dunlin_query::{Claim, From, Objection, Query, Refused, Select, nearest, parse_with};

use crate::Error;
use crate::files::TraceFile;

/// Reads queries over the sources of a trace: one that the trace does not have is an error at its place, as is a WATCH.
///
/// A source goes by its id: `source 'blog'` is the id `blog`, `source 17` the id `17`, and a URL the id that is the same text,
/// or else the id that is the last segment of its path, so `https://news.example/feeds/blog` is `blog` too.
pub fn parse_over(text: &str, trace: &TraceFile) -> Result<Vec<Query>, Refused> {
    let ids = Ids::of(trace);
    parse_with(text, |claim| match claim {
        Claim::From(from) => ids.find(from).map(|_| ()).ok_or_else(|| ids.objection(from)),
        Claim::Pick { .. } => Ok(()),
        Claim::Watch(_) => Err(Objection {
            message: "a WATCH finds its sources by their texts, and a trace has none".to_owned(),
            hint: Some("take this query out, or name the sources with SELECT".to_owned()),
        }),
    })
}

/// The sources of a trace by their ids.
pub(super) struct Ids<'t> {
    by_name: BTreeMap<&'t str, usize>,
}

impl<'t> Ids<'t> {
    pub(super) fn of(trace: &'t TraceFile) -> Self {
        Self { by_name: trace.sources.iter().map(String::as_str).zip(0..).collect() }
    }

    /// The sources of selects, by their index in the trace.
    pub(super) fn of_selects(&self, selects: &[Select]) -> Result<Vec<usize>, Error> {
        let find = |select: &Select| {
            let unknown = || Error::parameter("source", &select.from, "one that the trace has");
            self.find(&select.from).ok_or_else(unknown)
        };
        selects.iter().map(find).collect()
    }

    fn find(&self, from: &From) -> Option<usize> {
        names(from).iter().find_map(|name| self.by_name.get(name.as_str()).copied())
    }

    fn objection(&self, from: &From) -> Objection {
        let tried = names(from);
        let ids = || self.by_name.keys().copied();
        let hint = match tried.iter().rev().find_map(|name| nearest(name, ids())) {
            Some(near) => format!("did you mean {near}?"),
            None => format!("its ids are {}", listed(ids())),
        };
        let message = match tried.as_slice() {
            [whole, last] => format!("the trace has no source `{whole}`, and none `{last}`"),
            _ => format!("the trace has no source `{}`", tried.concat()),
        };
        Objection { message, hint: Some(hint) }
    }
}

/// The ids that a source may have in a trace, the most exact first.
fn names(from: &From) -> Vec<String> {
    match from {
        From::SourceId(id) => vec![id.to_string()],
        From::SourceName(name) => vec![name.clone()],
        From::Feed(url) | From::Page(url) | From::Json(url) => {
            let mut names = vec![url.clone()];
            names.extend(last_segment(url).map(str::to_owned));
            names
        }
    }
}

/// The last part of the path of a URL, as it is written; `.../blog/` ends in `blog`.
fn last_segment(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let (_, path) = rest.split(['?', '#']).next()?.split_once('/')?;
    path.trim_end_matches('/').rsplit('/').next().filter(|segment| !segment.is_empty())
}

/// Some of many.
fn listed<'i>(ids: impl Iterator<Item = &'i str> + Clone) -> String {
    const SHOWN: usize = 8;
    let shown = ids.clone().take(SHOWN).collect::<Vec<_>>().join(", ");
    match ids.skip(SHOWN).count() {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_segment_of_a_path_is_never_the_host() {
        let urls = [
            "https://a.example/feeds/blog",
            "https://a.example/blog/?page=/2#x/y",
            "https://a.example",
            "https://a.example/",
            "https://a.example?q=/blog",
        ];
        assert_eq!(urls.map(last_segment), [Some("blog"), Some("blog"), None, None, None]);
    }
}
