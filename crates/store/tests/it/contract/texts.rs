//! Promises about the index of texts: it says which sources say a word now, is kept by captures, and costs nothing while there is
//! none.

use dunlin_store::{Capture, Depth, FoundTexts, Outcome, SourceId, SourceText, Store, TextIndex, TextScope};

use super::Fresh;
use crate::fixtures;

fn saying(source: SourceId, number: u64, words: &str) -> Capture {
    Capture { text: Some(words.to_owned()), ..fixtures::probe(source, number) }
}

fn text(source: SourceId, words: &str) -> SourceText {
    SourceText { source, words: words.to_owned() }
}

fn find(store: &dyn Store, words: &[&str], scope: TextScope) -> FoundTexts {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    store.find_texts(&words, scope).unwrap()
}

fn found(store: &dyn Store, words: &[&str]) -> Vec<SourceId> {
    find(store, words, TextScope::Best(100)).scores.into_iter().map(|(source, _)| source).collect()
}

fn three(store: &dyn Store) -> [SourceId; 3] {
    ["a", "b", "c"].map(|name| store.add_source(fixtures::source(name)).unwrap())
}

pub(crate) fn there_is_no_index_of_texts_until_it_is_begun(fresh: Fresh<'_>) {
    let store = fresh();
    let [a, b, _] = three(&*store);
    store.record_capture(saying(a, 1, "oil")).unwrap();
    assert_eq!((store.text_index().unwrap(), found(&*store, &["oil"])), (TextIndex::None, vec![]));
    store.build_text_index(vec![text(a, "oil rises")], TextIndex::UpTo(a)).unwrap();
    assert_eq!((store.text_index().unwrap(), found(&*store, &["oil"])), (TextIndex::UpTo(a), vec![a]));
    store.build_text_index(vec![text(b, "oil"), text(SourceId(77), "oil")], TextIndex::Complete).unwrap();
    assert_eq!((store.text_index().unwrap(), found(&*store, &["oil"])), (TextIndex::Complete, vec![b, a]));
    store.drop_text_index().unwrap();
    store.drop_text_index().unwrap();
    assert_eq!((store.text_index().unwrap(), found(&*store, &["oil"])), (TextIndex::None, vec![]));
    store.build_text_index(Vec::new(), TextIndex::Complete).unwrap();
    assert_eq!(found(&*store, &["oil"]), [], "it begins empty");
}

pub(crate) fn the_index_of_texts_follows_what_sources_say(fresh: Fresh<'_>) {
    let store = fresh();
    let [a, b, c] = three(&*store);
    let portion = vec![text(a, "oil oil price"), text(b, "gold price"), text(c, "ölpreis überall")];
    store.build_text_index(portion, TextIndex::Complete).unwrap();
    assert_eq!(found(&*store, &["oil", "gold"]).len(), 2, "one of the words is enough");
    assert_eq!(found(&*store, &["ölpreis"]), [c], "letters beyond ASCII are letters");
    assert_eq!(found(&*store, &["lpreis", "berall", "\"; drop"]), []);
    let counted = find(&*store, &["price", "oil", "tin"], TextScope::Best(1));
    assert_eq!((counted.n_texts, counted.n_with, counted.scores.len()), (3, vec![2, 1, 0], 1));
    store.record_capture(saying(b, 1, "oil today")).unwrap();
    assert_eq!((found(&*store, &["gold"]), found(&*store, &["today"])), (vec![], vec![b]));
    assert_eq!(find(&*store, &["oil"], TextScope::Source(b)).scores.len(), 1);
    assert_eq!(find(&*store, &["price"], TextScope::Source(b)).scores, []);
    store.remove_source(a).unwrap();
    assert_eq!((found(&*store, &["oil"]), find(&*store, &["oil"], TextScope::Best(9)).n_texts), (vec![b], 2));
}

/// Scores depend on what is there, and not on what was there before.
pub(crate) fn scores_of_texts_do_not_depend_on_the_past(fresh: Fresh<'_>) {
    let (old, new) = (fresh(), fresh());
    let now = ["oil price of today", "gold price", "nothing of that kind"];
    let sources = three(&*old);
    assert_eq!(three(&*new), sources);
    old.build_text_index(Vec::new(), TextIndex::Complete).unwrap();
    for number in 0..200 {
        for (probe, source) in (0..).zip(sources) {
            let capture = saying(source, number * 3 + probe, &format!("oil tin word{number}"));
            old.record_capture(capture).unwrap();
        }
    }
    let texts: Vec<SourceText> =
        sources.into_iter().zip(now).map(|(source, now)| text(source, now)).collect();
    old.build_text_index(texts.clone(), TextIndex::Complete).unwrap();
    new.build_text_index(texts, TextIndex::Complete).unwrap();
    old.compact().unwrap();
    assert!(old.check(Depth::Everything).unwrap().is_sound());
    for words in [&["oil"][..], &["price", "gold"], &["tin"], &["of"]] {
        let expected = find(&*new, words, TextScope::Best(9));
        assert_eq!(find(&*old, words, TextScope::Best(9)), expected, "{words:?}");
        for (source, score) in expected.scores {
            let alone = find(&*old, words, TextScope::Source(source));
            assert_eq!(alone.scores, [(source, score)], "alone or among others");
            assert!(score > 0.0);
        }
    }
}

pub(crate) fn a_failed_capture_says_nothing(fresh: Fresh<'_>) {
    let store = fresh();
    let [a, ..] = three(&*store);
    store.build_text_index(Vec::new(), TextIndex::Complete).unwrap();
    let gone = SourceId(99);
    assert!(store.record_capture(saying(gone, 1, "oil")).is_err());
    let unchanged = Capture::bare(a, dunlin_store::ProbeId(2), fixtures::time(2), Outcome::Unchanged);
    store.record_capture(unchanged).unwrap();
    assert_eq!(found(&*store, &["oil"]), []);
    let many = "oil ".repeat(100_000);
    store.record_capture(saying(a, 3, &many)).unwrap();
    assert_eq!(found(&*store, &["oil"]), [a], "as much of it as is kept");
}

pub(crate) fn of_a_long_text_the_beginning_is_found(fresh: Fresh<'_>) {
    let store = fresh();
    let [a, b, _] = three(store.as_ref());
    let after = |n_bytes: usize| format!("{} needle", "x ".repeat(n_bytes / 2));
    let within = after(dunlin_store::MAX_TEXT_BYTES - 100);
    let portion = vec![text(a, &within), text(b, &after(dunlin_store::MAX_TEXT_BYTES))];
    store.build_text_index(portion, TextIndex::Complete).unwrap();
    assert_eq!(found(store.as_ref(), &["needle"]), [a]);
    store.record_capture(saying(b, 1, &within)).unwrap();
    assert_eq!(found(store.as_ref(), &["needle"]).len(), 2);
}
