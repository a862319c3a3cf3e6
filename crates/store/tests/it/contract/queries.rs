//! Promises about continuous queries: what they read, the steps of their instances, their results and misses.

use dunlin_store::{
    CapturedInterval, CeiQuery, CeiState, Error, InstanceEnd, InstanceId, InstanceNext, InstanceStep, NewCei,
    NewInterval, NewMiss, NewPart, NewQuery, NewResult, NewSource, QueryFilter, QueryId, QuerySource,
    ResultCursor, ResultFilter, Sighting, SourceEdit, SourceId, SourceQuery, SourceScope, Store,
    StoredInstance, StoredQuery, VersionId,
};

use super::Fresh;
use crate::fixtures::{self, time};

const ALL: ResultFilter = ResultFilter { after: ResultCursor::START, query: None, limit: 100 };

fn own(name: &str) -> QuerySource {
    QuerySource::Own(Box::new(NewSource { for_queries: true, weight: 0.0, ..fixtures::source(name) }))
}

fn query(name: &str, sources: Vec<QuerySource>) -> NewQuery {
    NewQuery { name: name.to_owned(), text: format!("QUERY {name}"), installed: time(0), sources }
}

fn wanting(sources: &[SourceId], need: u32) -> NewCei {
    let interval = |source: &SourceId| NewInterval { source: *source, start: time(0), finish: time(99) };
    NewCei { intervals: sources.iter().map(interval).collect(), need, weight: 1.0, created: time(0) }
}

fn open(query: QueryId, instance: i64, state: u8, wants: Option<NewCei>) -> InstanceStep {
    let next = InstanceNext::Open { state: vec![state], wants };
    InstanceStep { instance: InstanceId(instance), query, next, memory: Some(vec![state]) }
}

fn ended(query: QueryId, instance: i64, end: InstanceEnd) -> InstanceStep {
    InstanceStep { instance: InstanceId(instance), query, next: InstanceNext::Ended(end), memory: None }
}

fn result(source: SourceId, at: i64) -> InstanceEnd {
    let part =
        NewPart { name: "post".to_owned(), source, at: time(at), version: None, items: "[1]".to_owned() };
    InstanceEnd::Result(NewResult { at: time(at), parts: vec![part], story: None })
}

fn missed(at: i64) -> InstanceEnd {
    InstanceEnd::Missed(NewMiss { began: time(0), at: time(at), parts: "[]".to_owned() })
}

fn queries(store: &dyn Store) -> Vec<StoredQuery> {
    store.queries(&QueryFilter { after: None, limit: 100 }).unwrap()
}

fn instances(store: &dyn Store) -> Vec<StoredInstance> {
    store.instances(None, 100).unwrap()
}

fn cei_states(store: &dyn Store) -> Vec<CeiState> {
    let all = CeiQuery { after: None, state: None, limit: 100 };
    store.ceis(&all).unwrap().iter().map(|cei| cei.state).collect()
}

fn sources(store: &dyn Store) -> Vec<SourceId> {
    store.sources(&SourceQuery::first(100)).unwrap().iter().map(|source| source.id).collect()
}

pub(crate) fn queries_share_the_sources_that_are_there_for_them_alone(fresh: Fresh<'_>) {
    let store = fresh();
    let watched = store.add_source(fixtures::source("a")).unwrap();
    let (one, first) = store.add_query(query("one", vec![own("b"), QuerySource::Watched(watched)])).unwrap();
    assert_eq!((first.sources.len(), &first.added), (2, &vec![first.sources[0]]));
    assert_eq!(first.sources[1], watched);
    let (two, second) = store.add_query(query("two", vec![own("b"), own("c")])).unwrap();
    assert_eq!(second.sources[0], first.sources[0], "the same reading is shared");
    assert_eq!(second.added, [second.sources[1]]);
    assert_eq!(queries(&*store)[0].sources, first.sources);
    let by_users = SourceQuery { scope: SourceScope::Watched, ..SourceQuery::first(100) };
    let listed: Vec<SourceId> = store.sources(&by_users).unwrap().iter().map(|source| source.id).collect();
    assert_eq!((listed, sources(&*store).len()), (vec![watched], 3));
    assert_eq!(
        store.remove_source(watched).unwrap_err(),
        Error::NeededByQuery { id: watched, query: "one".to_owned() }
    );
    assert_eq!(store.remove_query(one, time(9)).unwrap(), [], "another query reads it");
    assert_eq!(store.remove_query(two, time(9)).unwrap(), second.sources);
    assert_eq!(sources(&*store), [watched], "what a user watches stays");
    store.remove_source(watched).unwrap();
    assert_eq!(store.remove_query(two, time(9)).unwrap_err(), Error::NoSuchQuery(two));
}

pub(crate) fn names_of_queries_are_taken_once(fresh: Fresh<'_>) {
    let store = fresh();
    let (one, _) = store.add_query(query("one", vec![own("a")])).unwrap();
    assert_eq!(store.add_query(query("one", vec![])).unwrap_err(), Error::NameTaken("one".to_owned()));
    let (two, _) = store.add_query(query("two", vec![])).unwrap();
    assert_eq!(
        store.replace_query(two, query("one", vec![])).unwrap_err(),
        Error::NameTaken("one".to_owned())
    );
    store.replace_query(one, query("one", vec![])).unwrap();
    let gone = Error::NoSuchSource(SourceId(77));
    assert_eq!(store.add_query(query("three", vec![QuerySource::Watched(SourceId(77))])).unwrap_err(), gone);
    assert_eq!(queries(&*store).len(), 2, "a refused query leaves nothing");
    assert!(store.add_query(NewQuery { text: "x".repeat(70_000), ..query("long", vec![]) }).is_err());
}

pub(crate) fn an_edited_query_begins_anew_and_keeps_its_results(fresh: Fresh<'_>) {
    let store = fresh();
    let (id, before) = store.add_query(query("one", vec![own("a"), own("b")])).unwrap();
    let steps = vec![
        open(id, 1, 5, Some(wanting(&before.sources, 2))),
        ended(id, 2, result(before.sources[0], 3)),
        ended(id, 3, missed(4)),
    ];
    store.step_instances(steps, time(4)).unwrap();
    let edited =
        NewQuery { text: "other".to_owned(), installed: time(6), ..query("uno", vec![own("b"), own("c")]) };
    let after = store.replace_query(id, edited).unwrap();
    assert_eq!(after.removed, [before.sources[0]]);
    assert_eq!((after.sources[0], after.added.as_slice()), (before.sources[1], &after.sources[1..]));
    let query = store.query(id).unwrap().unwrap();
    assert_eq!((query.name.as_str(), query.text.as_str(), query.installed), ("uno", "other", time(6)));
    assert_eq!((query.memory.as_slice(), query.n_results, query.n_missed), (&[][..], 1, 1));
    assert_eq!((instances(&*store), cei_states(&*store)), (vec![], vec![CeiState::Withdrawn]));
}

pub(crate) fn a_paused_query_gives_up_what_it_has_begun(fresh: Fresh<'_>) {
    let store = fresh();
    let (id, read) = store.add_query(query("one", vec![own("a")])).unwrap();
    store.step_instances(vec![open(id, 1, 5, Some(wanting(&read.sources, 1)))], time(1)).unwrap();
    store.pause_query(id, Some(time(2))).unwrap();
    assert_eq!(store.query(id).unwrap().unwrap().paused, Some(time(2)));
    assert_eq!((instances(&*store), cei_states(&*store)), (vec![], vec![CeiState::Withdrawn]));
    store.pause_query(id, None).unwrap();
    assert_eq!(store.query(id).unwrap().unwrap().paused, None);
    assert_eq!(store.pause_query(QueryId(9), None).unwrap_err(), Error::NoSuchQuery(QueryId(9)));
}

pub(crate) fn a_missed_instance_loses_its_need_and_any_other_gives_it_up(fresh: Fresh<'_>) {
    let store = fresh();
    let (id, read) = store.add_query(query("one", vec![own("a")])).unwrap();
    let wants = || Some(wanting(&read.sources, 1));
    store.step_instances(vec![open(id, 1, 5, wants()), open(id, 2, 5, wants())], time(1)).unwrap();
    let ends = vec![ended(id, 1, missed(2)), ended(id, 2, result(read.sources[0], 2))];
    store.step_instances(ends, time(2)).unwrap();
    assert_eq!(cei_states(&*store), [CeiState::Lost, CeiState::Withdrawn]);
}

pub(crate) fn a_source_that_is_paused_is_shared_with_no_other_query(fresh: Fresh<'_>) {
    let store = fresh();
    let (_, first) = store.add_query(query("one", vec![own("a")])).unwrap();
    let paused = SourceEdit { paused: Some(Some(time(1))), ..SourceEdit::default() };
    store.edit_source(first.sources[0], paused).unwrap();
    let (_, second) = store.add_query(query("two", vec![own("a")])).unwrap();
    assert_eq!(second.added, second.sources, "what nobody probes would never be captured");
    assert_ne!(second.sources, first.sources);
}

/// The example of the papers: what is captured first asks for more, in the same transaction.
pub(crate) fn a_capture_takes_its_steps_with_it(fresh: Fresh<'_>) {
    let store = fresh();
    let (id, read) = store.add_query(query("one", vec![own("a"), own("b")])).unwrap();
    let [a, b] = [read.sources[0], read.sources[1]];
    store.step_instances(vec![open(id, 1, 1, Some(wanting(&[a], 1)))], time(1)).unwrap();
    let cei = instances(&*store)[0].cei.unwrap();
    let mut capture = fixtures::news(a, 1, b"post");
    capture.intervals = vec![CapturedInterval { cei, position: 0 }];
    capture.steps = vec![open(id, 1, 2, Some(wanting(&[b], 1)))];
    let recorded = store.record_capture(capture.clone()).unwrap();
    assert_eq!(recorded.last_result, None);
    assert_eq!(cei_states(&*store), [CeiState::Open], "it wants more now");
    assert_eq!(store.query(id).unwrap().unwrap().memory, [2]);
    store.record_capture(capture).unwrap();
    let stored = store.ceis(&CeiQuery { after: None, state: None, limit: 9 }).unwrap().remove(0);
    assert_eq!((stored.need, stored.intervals.len()), (2, 2), "recorded again, it counts once");

    let mut last = fixtures::news(b, 2, b"rate");
    last.intervals = vec![CapturedInterval { cei, position: 1 }];
    last.steps = vec![ended(id, 1, result(b, 7))];
    let recorded = store.record_capture(last.clone()).unwrap();
    assert_eq!(
        (recorded.last_result, store.newest_result().unwrap()),
        (Some(ResultCursor(1)), ResultCursor(1))
    );
    assert_eq!((instances(&*store), cei_states(&*store)), (vec![], vec![CeiState::Captured]));
    store.record_capture(last).unwrap();
    let results = store.results(&ALL).unwrap();
    assert_eq!(results.len(), 1, "told once");
    let newest =
        store.versions(&dunlin_store::VersionQuery { source: b, before: None, limit: 1 }).unwrap()[0].id;
    assert_eq!(results[0].result.parts[0].version, Some(newest), "the version of this very capture");
    assert_eq!((results[0].query, results[0].result.at), (id, time(7)));
}

pub(crate) fn an_instance_whose_cei_has_ended_begins_another(fresh: Fresh<'_>) {
    let store = fresh();
    let (id, read) = store.add_query(query("one", vec![own("a"), own("b")])).unwrap();
    let [a, b] = [read.sources[0], read.sources[1]];
    store.step_instances(vec![open(id, 1, 1, Some(wanting(&[a], 1)))], time(1)).unwrap();
    let cei = instances(&*store)[0].cei.unwrap();
    let mut capture = fixtures::probe(a, 1);
    capture.intervals = vec![CapturedInterval { cei, position: 0 }];
    store.record_capture(capture).unwrap();
    assert_eq!(cei_states(&*store), [CeiState::Captured]);
    store.step_instances(vec![open(id, 1, 2, Some(wanting(&[b], 1)))], time(2)).unwrap();
    assert_eq!(cei_states(&*store), [CeiState::Captured, CeiState::Open]);
    assert_ne!(instances(&*store)[0].cei, Some(cei));
}

pub(crate) fn steps_of_what_is_gone_have_no_effect(fresh: Fresh<'_>) {
    let store = fresh();
    let (id, read) = store.add_query(query("one", vec![own("a")])).unwrap();
    store.step_instances(vec![open(id, 1, 1, None)], time(1)).unwrap();
    let (other, _) = store.add_query(query("other", vec![own("a")])).unwrap();
    store.remove_query(id, time(2)).unwrap();
    let late = vec![
        open(id, 2, 1, Some(wanting(&read.sources, 1))),
        ended(id, 1, result(read.sources[0], 3)),
        ended(id, 3, missed(3)),
    ];
    store.step_instances(late, time(3)).unwrap();
    assert_eq!((instances(&*store), cei_states(&*store)), (vec![], vec![]));
    assert_eq!((store.results(&ALL).unwrap(), store.misses(&ALL).unwrap()), (vec![], vec![]));
    assert_eq!(queries(&*store).iter().map(|query| query.id).collect::<Vec<_>>(), [other]);
}

pub(crate) fn results_and_misses_are_read_from_a_cursor_on(fresh: Fresh<'_>) {
    let store = fresh();
    let (one, read) = store.add_query(query("one", vec![own("a")])).unwrap();
    let (two, _) = store.add_query(query("two", vec![own("a")])).unwrap();
    let a = read.sources[0];
    for number in 0..6 {
        let of = if number % 3 == 2 { two } else { one };
        let steps = vec![ended(of, number, result(a, number)), ended(of, 100 + number, missed(number))];
        store.step_instances(steps, time(number)).unwrap();
    }
    let cursors = |filter: ResultFilter| -> (Vec<i64>, Vec<i64>) {
        let results = store.results(&filter).unwrap().iter().map(|own| own.cursor.0).collect();
        (results, store.misses(&filter).unwrap().iter().map(|own| own.cursor.0).collect())
    };
    assert_eq!(cursors(ALL), ((1..=6).collect(), (1..=6).collect()));
    let later = ResultFilter { after: ResultCursor(2), query: Some(one), limit: 2 };
    assert_eq!(cursors(later), (vec![4, 5], vec![4, 5]));
    let of_two = ResultFilter { query: Some(two), ..ALL };
    assert_eq!(cursors(of_two), (vec![3, 6], vec![3, 6]));
    assert_eq!(queries(&*store).iter().map(|query| query.n_results).collect::<Vec<_>>(), [4, 2]);
    store.remove_query(one, time(9)).unwrap();
    assert_eq!(cursors(ALL), (vec![3, 6], vec![3, 6]), "results go with their query");
    assert_eq!(store.newest_result().unwrap(), ResultCursor(6));
}

pub(crate) fn results_are_pruned_as_changes_are(fresh: Fresh<'_>) {
    let store = fresh();
    let (id, read) = store.add_query(query("one", vec![own("a")])).unwrap();
    for number in 1..=4 {
        let steps =
            vec![ended(id, number, result(read.sources[0], number)), ended(id, -number, missed(number))];
        store.step_instances(steps, time(number)).unwrap();
    }
    let retention = dunlin_store::Retention { changes_before: Some(time(3)), ..Default::default() };
    store.prune(retention).unwrap();
    let left: Vec<i64> = store.results(&ALL).unwrap().iter().map(|own| own.cursor.0).collect();
    assert_eq!(left, [3, 4]);
    assert_eq!(store.misses(&ALL).unwrap().len(), 2);
    store.step_instances(vec![ended(id, 9, result(read.sources[0], 9))], time(9)).unwrap();
    assert_eq!(store.newest_result().unwrap(), ResultCursor(5), "a cursor is never given twice");
    let part = &store.results(&ALL).unwrap()[0].result.parts[0];
    assert_eq!((part.version, part.items.as_str()), (None::<VersionId>, "[1]"));
}

pub(crate) fn another_source_that_tells_the_same_is_noted_once(fresh: Fresh<'_>) {
    let store = fresh();
    let [a, b] = ["a", "b"].map(|name| store.add_source(fixtures::source(name)).unwrap());
    let (id, _) = store.add_query(query("one", vec![])).unwrap();
    let told = |story: u8, at| match result(a, at) {
        InstanceEnd::Result(result) => InstanceEnd::Result(NewResult { story: Some(vec![story]), ..result }),
        other => other,
    };
    let again = |first, source, at| {
        let sighting = Sighting {
            source,
            at: time(at),
            version: Some(VersionId(at)),
            title: "Oil".to_owned(),
            link: Some("https://b.example/oil".to_owned()),
        };
        InstanceEnd::SeenAgain { first: InstanceId(first), sighting }
    };
    let steps = vec![
        ended(id, 1, told(7, 1)),
        ended(id, 2, told(8, 2)),
        ended(id, 3, again(1, b, 3)),
        ended(id, 4, again(1, b, 4)),
        ended(id, 5, again(1, a, 5)),
        ended(id, 6, again(99, b, 6)),
    ];
    store.step_instances(steps, time(6)).unwrap();
    let results = store.results(&ALL).unwrap();
    let seen = |index: usize| -> Vec<_> {
        results[index].also_at.iter().map(|also| (also.source, also.at, also.version)).collect()
    };
    assert_eq!(seen(0), [(b, time(3), Some(VersionId(3)))], "where it was first seen there");
    assert_eq!((seen(1), results.len()), (vec![], 2));
    assert_eq!(results[0].also_at[0].title, "Oil");
    let stories = |limit| -> Vec<(i64, Vec<u8>)> {
        let stories = store.stories(id, limit).unwrap().into_iter();
        stories.map(|told| (told.instance.0, told.story)).collect()
    };
    assert_eq!(stories(9), [(2, vec![8]), (1, vec![7])]);
    assert_eq!(stories(1), [(2, vec![8])]);
    store.remove_query(id, time(9)).unwrap();
    assert_eq!(stories(9), []);
}

pub(crate) fn a_story_is_noted_at_a_hundred_other_sources(fresh: Fresh<'_>) {
    let store = fresh();
    let several = (0..102).map(|n| fixtures::source(&format!("s{n}"))).collect();
    let several = store.add_sources(several).unwrap();
    let (id, _) = store.add_query(query("one", vec![])).unwrap();
    let told = match result(several[0], 0) {
        InstanceEnd::Result(result) => InstanceEnd::Result(NewResult { story: Some(vec![1]), ..result }),
        other => other,
    };
    let seen = |(at, source): (i64, &SourceId)| {
        let sighting =
            Sighting { source: *source, at: time(at), version: None, title: String::new(), link: None };
        ended(id, at, InstanceEnd::SeenAgain { first: InstanceId(1000), sighting })
    };
    store.step_instances(vec![ended(id, 1000, told)], time(0)).unwrap();
    store.step_instances((1..).zip(&several[1..]).map(seen).collect(), time(1)).unwrap();
    let also_at = &store.results(&ALL).unwrap()[0].also_at;
    assert_eq!((also_at.len(), also_at[99].source), (100, several[100]));
}

pub(crate) fn an_instance_ends_once(fresh: Fresh<'_>) {
    let store = fresh();
    let (id, read) = store.add_query(query("one", vec![own("a")])).unwrap();
    for at in 1..=2 {
        store.step_instances(vec![ended(id, 1, result(read.sources[0], at))], time(at)).unwrap();
    }
    let told: Vec<_> = store.results(&ALL).unwrap().iter().map(|own| own.result.at).collect();
    assert_eq!(told, [time(1)]);
}

pub(crate) fn what_was_told_last_is_known_whatever_ended_after_it(fresh: Fresh<'_>) {
    let store = fresh();
    let (id, read) = store.add_query(query("one", vec![own("a")])).unwrap();
    let a = read.sources[0];
    let mut capture = fixtures::news(a, 1, b"post");
    capture.steps = vec![
        ended(id, 1, result(a, 1)),
        ended(id, 2, result(a, 1)),
        ended(id, 3, InstanceEnd::Silent),
        open(id, 4, 1, None),
    ];
    assert_eq!(store.record_capture(capture).unwrap().last_result, Some(ResultCursor(2)));
    // An instance that goes on without a need of its own begins with one that can be met.
    let of_none = NewCei { need: 0, ..wanting(&[a], 0) };
    store.step_instances(vec![open(id, 4, 2, Some(of_none))], time(2)).unwrap();
    let ceis = store.ceis(&CeiQuery { after: None, state: None, limit: 9 }).unwrap();
    assert_eq!((ceis.len(), ceis[0].need), (1, 1));
}

pub(crate) fn the_oldest_result_is_the_next_where_there_is_none(fresh: Fresh<'_>) {
    let store = fresh();
    let ends = || (store.oldest_result().unwrap().0, store.newest_result().unwrap().0);
    assert_eq!(ends(), (1, 0));
    let (id, read) = store.add_query(query("one", vec![own("a")])).unwrap();
    for number in 1..=3 {
        store.step_instances(vec![ended(id, number, result(read.sources[0], number))], time(number)).unwrap();
    }
    assert_eq!(ends(), (1, 3));
    let prune = |before| {
        let old = dunlin_store::Retention { changes_before: Some(time(before)), ..Default::default() };
        store.prune(old).unwrap();
    };
    prune(3);
    assert_eq!(ends(), (3, 3));
    prune(9);
    assert_eq!(ends(), (4, 3));
}

pub(crate) fn sources_that_are_there_for_queries_are_counted(fresh: Fresh<'_>) {
    let store = fresh();
    let watched = store.add_source(fixtures::source("watched")).unwrap();
    assert_eq!(store.n_sources_for_queries().unwrap(), 0);
    let sources = vec![QuerySource::Watched(watched), own("a"), own("b")];
    let (id, _) = store.add_query(query("one", sources)).unwrap();
    assert_eq!(store.n_sources_for_queries().unwrap(), 2);
    let (other, _) = store.add_query(query("two", vec![own("c")])).unwrap();
    store.remove_query(id, time(1)).unwrap();
    assert_eq!(store.n_sources_for_queries().unwrap(), 1);
    assert_eq!(store.query(id).unwrap(), None, "though there is one after it");
    assert_eq!(store.query(other).unwrap().unwrap().name, "two");
}

pub(crate) fn texts_of_queries_are_bounded(fresh: Fresh<'_>) {
    let store = fresh();
    let of = |n_bytes: usize| NewQuery { text: "x".repeat(n_bytes), ..query("one", vec![]) };
    assert!(matches!(store.add_query(of((64 << 10) + 1)), Err(Error::BadValue { what: "query", .. })));
    store.add_query(of(64 << 10)).unwrap();
}
