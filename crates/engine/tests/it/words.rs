//! How well words find sources, and how well retold stories are known again, on a made-up press. The tables are those of
//! `docs/query-language.md`, and what is printed is what has to stand there.

mod corpus;

use std::collections::{BTreeMap, VecDeque};

use dunlin_query::{Fingerprint, RELEVANT, relevance};
use dunlin_store::{SourceId, SourceText, Store, TextIndex, TextScope};

use crate::fixtures::{page, test_store};
use corpus::{Article, N_SUBJECTS, Press};

const DOCS: &str = include_str!("../../../../docs/query-language.md");
const N_DOCUMENTS: usize = 2_000;
const N_STORIES: usize = 2_000;
const N_REPORTS: usize = 200;
/// As many as a query remembers.
const REMEMBERED: usize = 1_000;

fn percent(part: f64, of: f64) -> String {
    format!("{:.1} %", 100.0 * part / of)
}

/// The table has to be in the documentation, line by line.
fn assert_documented(table: &[String]) {
    println!("{}", table.join("\n"));
    let missing: Vec<&String> = table.iter().filter(|line| !DOCS.contains(line.as_str())).collect();
    assert!(missing.is_empty(), "docs/query-language.md says something else than {missing:#?}");
}

/// What was found for some words.
#[derive(Debug, Default)]
struct Found {
    n_right: usize,
    n_wrong: usize,
    n_there: usize,
    weight: f64,
    weight_of_right: f64,
}

#[test]
fn words_find_the_sources_that_are_about_them() {
    let mut press = Press::new(1);
    let documents: Vec<_> = (0..N_DOCUMENTS).map(|_| press.document()).collect();
    let test_store = test_store();
    let store = &test_store.store;
    let sources = (0..N_DOCUMENTS).map(|number| page(&format!("http://site{number}.test/"))).collect();
    let sources = store.add_sources(sources).unwrap();
    let texts = sources.iter().zip(&documents);
    let texts = texts.map(|(source, document)| SourceText { source: *source, words: document.text.clone() });
    store.build_text_index(texts.collect(), TextIndex::Complete).unwrap();
    let subject_of: BTreeMap<SourceId, Option<usize>> =
        sources.iter().copied().zip(documents.iter().map(|document| document.subject)).collect();
    let mut table = Vec::new();
    for n_words in 1..=3 {
        let mut found = Found::default();
        for subject in 0..N_SUBJECTS {
            found.n_there += subject_of.values().filter(|own| **own == Some(subject)).count();
            let texts = store.find_texts(&press.keywords(subject, n_words), TextScope::Best(1_000)).unwrap();
            for (source, score) in &texts.scores {
                let relevance = relevance(*score, texts.n_texts, &texts.n_with);
                if relevance < RELEVANT {
                    continue;
                }
                found.weight += relevance;
                if subject_of[source] == Some(subject) {
                    found.n_right += 1;
                    found.weight_of_right += relevance;
                } else {
                    found.n_wrong += 1;
                }
            }
        }
        let n_found = (found.n_right + found.n_wrong) as f64;
        table.push(format!(
            "| {n_words} | {n_found} | {} | {} | {} |",
            percent(found.n_right as f64, n_found),
            percent(found.n_right as f64, found.n_there as f64),
            percent(found.weight_of_right, found.weight),
        ));
        assert!(found.n_right * 100 >= found.n_there * 90, "{n_words} words miss too many sources");
        assert!(n_words < 2 || found.n_right as f64 >= 0.8 * n_found, "{n_words} words find too many others");
    }
    assert_documented(&table);
}

/// How one way of telling a story fared.
#[derive(Debug, Clone, Copy, Default)]
struct Merged {
    n: usize,
    /// With the story that it tells.
    n_right: usize,
    n_wrong: usize,
}

/// Tells articles one after the other, each from another source.
fn merge(articles: &[Article]) -> BTreeMap<&'static str, Merged> {
    let mut told: VecDeque<(usize, Fingerprint)> = VecDeque::new();
    let mut by_way: BTreeMap<&str, Merged> = BTreeMap::new();
    for article in articles {
        let own = Fingerprint::of(&article.title, &article.text);
        let known = told.iter().find(|(_, other)| own.is_same_story(other)).map(|(story, _)| *story);
        let way = by_way.entry(article.way).or_default();
        way.n += 1;
        match known {
            Some(story) if article.is_retold && story == article.story => way.n_right += 1,
            Some(_) => way.n_wrong += 1,
            None => {
                told.push_front((article.story, own));
                told.truncate(REMEMBERED);
            }
        }
    }
    by_way
}

#[test]
fn retold_stories_are_known_again_and_others_are_not_taken_for_them() {
    let mut press = Press::new(2);
    let mut ways = merge(&press.articles(N_STORIES));
    ways.extend(merge(&press.reports(N_REPORTS)));
    let line = |name: &str, of: &Merged| {
        let n = of.n as f64;
        format!(
            "| {name} | {} | {} | {} |",
            of.n,
            percent(of.n_right as f64, n),
            percent(of.n_wrong as f64, n)
        )
    };
    assert_documented(&ways.iter().map(|(way, merged)| line(way, merged)).collect::<Vec<_>>());
    let (mut retold, mut new) = (Merged::default(), Merged::default());
    for (way, merged) in ways {
        let all = if way.starts_with("new") { &mut new } else { &mut retold };
        all.n += merged.n;
        all.n_right += merged.n_right;
        all.n_wrong += merged.n_wrong;
    }
    assert!(retold.n_right * 100 >= retold.n * 95, "too few are known again: {retold:?}");
    assert!(
        (retold.n_wrong + new.n_wrong) * 100 < retold.n + new.n,
        "too many are wrong: {retold:?} {new:?}"
    );
}
