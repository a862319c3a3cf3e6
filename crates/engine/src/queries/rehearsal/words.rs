//! What a query that watches for words would have told of what is stored: each new item of every source that
//! is watched, in the order of time, judged as a capture would have judged it.

use std::collections::{BTreeSet, VecDeque};

use dunlin_core::Time;
use dunlin_query::{Captures, Predicate, Term, Truth, Watch, What, words_needed};
use dunlin_store::{InstanceId, SourceId, SourceQuery, Store, VersionId};

use super::history::History;
use super::{MOST_SHOWN, Rehearsal, RehearsedResult};
use crate::queries::item_json;
use crate::queries::news::{NewsItem, Told};
use crate::queries::watching::{ITEM, MOST_TOLD};
use crate::{Error, Settings};

/// The most versions that are read, of all sources and of each one; the newest.
const MOST_VERSIONS: usize = 5_000;
const MOST_OF_SOURCE: usize = 200;
/// Sources read at a time.
const PAGE: u32 = 200;

/// Something new that is about the words.
struct Find {
    at: Time,
    source: SourceId,
    version: VersionId,
    item: NewsItem,
}

pub(super) fn rehearse(
    watches: &[Watch],
    filter: Option<&Predicate>,
    store: &dyn Store,
    settings: &Settings,
    now: Time,
) -> Result<Rehearsal, Error> {
    let terms: Vec<Vec<Term>> = watches.iter().map(Watch::terms).collect();
    let mut rehearsal = Rehearsal::default();
    let mut finds = Vec::new();
    let (mut after, mut room) = (None, MOST_VERSIONS);
    loop {
        let sources = store.sources(&SourceQuery { after, ..SourceQuery::first(PAGE) })?;
        let Some(last) = sources.last() else { break };
        after = Some(last.id);
        // What is read for a query that names it is no source that anybody knows, here as in a capture.
        for source in sources.iter().filter(|source| !source.spec.for_queries) {
            let mut history = History::of_source(source, store, settings, room.min(MOST_OF_SOURCE))?;
            rehearsal.is_cut |= history.is_cut;
            room -= history.versions.len();
            if let Some(first) = history.first() {
                let from = rehearsal.span.map_or(first, |(from, _)| from.min(first));
                rehearsal.span = Some((from, now));
            }
            while let Some((version, at, changes)) = history.read_next(store)? {
                let item_of = |key: &str| history.present().iter().find(|item| item.id.to_string() == key);
                let news = changes
                    .iter()
                    .filter_map(|change| NewsItem::of(source.id, item_of(change.item.as_deref()?)?, change));
                let about = news.filter(|item| terms.iter().any(|terms| is_about(&item.words, terms)));
                finds.extend(about.map(|item| Find { at, source: source.id, version, item }));
            }
        }
    }
    finds.sort_by_key(|find| (find.at, find.source));
    tell(finds, filter, &mut rehearsal);
    Ok(rehearsal)
}

fn is_about(words: &BTreeSet<String>, terms: &[Term]) -> bool {
    let n_words = terms.iter().filter(|term| words.contains(term.text())).count();
    n_words >= words_needed(terms.len())
}

/// Tells finds in their order, each story once.
fn tell(finds: Vec<Find>, filter: Option<&Predicate>, rehearsal: &mut Rehearsal) {
    let mut told: VecDeque<Told> = VecDeque::new();
    for (number, find) in (0..).zip(finds) {
        let mut captures = Captures::new();
        captures.insert(ITEM, vec![find.item.kept.as_value()]);
        let is_wanted = filter.is_none_or(|filter| filter.evaluate(&captures) == Truth::True);
        if !is_wanted || told.iter().any(|told| find.item.story.repeats(&told.story)) {
            rehearsal.n_silent += 1;
            continue;
        }
        told.push_front(Told { instance: InstanceId(number), story: find.item.story });
        told.truncate(MOST_TOLD as usize);
        rehearsal.n_results += 1;
        if rehearsal.results.len() < MOST_SHOWN {
            let items = vec![item_json(&find.item.kept, What::Item, false)].into();
            let part = (ITEM.to_owned(), find.source, Some(find.version), items);
            rehearsal.results.push(RehearsedResult { at: find.at, parts: vec![part] });
        }
    }
}
