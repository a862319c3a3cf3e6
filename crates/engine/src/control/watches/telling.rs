//! What a capture means to the queries that watch for words: what is new, about the words, passes WHERE and was not told yet is a
//! result. The same story from another source is noted at the first one.

use std::collections::BTreeSet;

use dunlin_core::Time;
use dunlin_query::{Captures, Truth, What, words_needed};
use dunlin_store::{
    Capture, InstanceEnd, InstanceNext, InstanceStep, NewPart, NewResult, Outcome, QueryId, Sighting,
    SourceId,
};

use super::{Index, WatchKey};
use crate::control::Control;
use crate::control::sources::Audience;
use crate::queries::{ITEM, News, NewsItem, Told, item_json};

/// The most WATCH clauses for which a text is ranked after a change.
const MOST_RANKED: usize = 256;

impl Control {
    /// Takes the steps that follow from a capture; they are stored with it. For which WATCH clauses the text is to be ranked then.
    pub(in crate::control) fn step_watches(
        &mut self,
        capture: &mut Capture,
        news: Option<Box<News>>,
    ) -> Vec<WatchKey> {
        let index = self.sources.find(capture.source);
        let is_of_queries = index
            .and_then(|index| self.sources.get(index))
            .is_some_and(|own| own.audience == Audience::Queries);
        // What is read for a query that names it is no source that anybody knows.
        if !self.watches.are_running() || is_of_queries {
            return Vec::new();
        }
        // It was being probed when the first query began.
        let Some(news) = news.or_else(|| News::of("", capture).map(Box::new)) else { return Vec::new() };
        let relevant = self.watches.demanded.get(&capture.source);
        let mut to_rank: Vec<WatchKey> =
            relevant.into_iter().flat_map(|demanded| demanded.relevance.keys().copied()).collect();
        if capture.outcome == Outcome::Changed {
            self.watches.n_changes += 1;
            for key in &to_rank {
                self.watches.running.get_mut(key).into_iter().for_each(|own| own.n_of_relevant += 1);
            }
        }
        for item in &news.items {
            for query in self.concerned_by(item) {
                let step = self.tell(query, capture.source, capture.at, item);
                capture.steps.extend(step);
            }
        }
        if self.watches.index == Index::Complete {
            let known: BTreeSet<WatchKey> = to_rank.iter().copied().collect();
            let concerned = self.watches.terms.concerned(news.words.split(' '));
            to_rank.extend(concerned.into_keys().filter(|key| !known.contains(key)));
        }
        to_rank.truncate(MOST_RANKED);
        capture.text = Some(news.words);
        to_rank
    }

    /// The queries for which an item is about the words of a WATCH.
    fn concerned_by(&self, item: &NewsItem) -> BTreeSet<QueryId> {
        let concerned = self.watches.terms.concerned(item.words.iter().map(String::as_str));
        let is_about = |((query, position), n_words): &(WatchKey, usize)| {
            let installed = self.watches.installed.get(query);
            let terms = installed.and_then(|installed| installed.watches.get(*position as usize));
            terms.is_some_and(|(terms, _)| *n_words >= words_needed(terms.len()))
        };
        concerned.into_iter().filter(is_about).map(|((query, _), _)| query).collect()
    }

    fn tell(&mut self, id: QueryId, source: SourceId, at: Time, item: &NewsItem) -> Option<InstanceStep> {
        let most = self.watches.most_told();
        let installed = self.watches.installed.get_mut(&id)?;
        if installed.end.is_some_and(|end| end <= at) {
            return None;
        }
        let mut captures = Captures::new();
        captures.insert(ITEM, vec![item.kept.as_value()]);
        if installed.filter.as_ref().is_some_and(|filter| filter.evaluate(&captures) != Truth::True) {
            return None;
        }
        let known = installed.told.iter().find(|told| item.story.repeats(&told.story)).copied();
        if known.is_some_and(|known| known.story.source == source.0) {
            return None;
        }
        let instance = self.queries.next_id();
        let end = if let Some(known) = known {
            let (title, link) = (item.kept.title.clone(), item.kept.link.clone());
            let sighting = Sighting { source, at, version: None, title, link };
            InstanceEnd::SeenAgain { first: known.instance, sighting }
        } else {
            installed.told.push_front(Told { instance, story: item.story });
            installed.told.truncate(most);
            let items = serde_json::Value::from(vec![item_json(&item.kept, What::Item, false)]).to_string();
            let part = NewPart { name: ITEM.to_owned(), source, at, version: None, items };
            InstanceEnd::Result(NewResult { at, parts: vec![part], story: Some(item.story.to_bytes()) })
        };
        Some(InstanceStep { instance, query: id, next: InstanceNext::Ended(end), memory: None })
    }
}
