//! What the configuration of a source means, and what can be edited of one that would be refused now.

use dunlin_engine::recipe::check;
use dunlin_store::{NewSource, SourceEdit, Store as _};

use crate::fixtures::{page, settings, test_store};
use crate::web::at;

const PAGE: &str = "http://a.example/page";

#[test]
fn a_configuration_means_what_it_says() {
    let test_store = test_store();
    let settings = settings();
    let checked = |source: &NewSource| check(source, &settings);
    let gaps = NewSource { recipe: r#"{"shortest_gap":50000,"longest_gap":60}"#.to_owned(), ..page(PAGE) };
    let read = checked(&gaps).unwrap();
    assert_eq!(read.longest_gap, read.shortest_gap, "never overdue before it may be probed again");
    let text = r#"{"recipe":{"kind":"html_selector","css":"h1"}}"#.to_owned();
    let selected = checked(&NewSource { kind: "json".to_owned(), recipe: text, ..page(PAGE) }).unwrap();
    let is_selector =
        matches!(selected.target.recipe.recipe, dunlin_extract::recipe::Recipe::HtmlSelector { .. });
    assert!(is_selector, "what is said goes before the kind");
    let headers = |n_bytes: usize| NewSource {
        recipe: format!(r#"{{"headers":{{"x-long":"{}"}}}}"#, "a".repeat(n_bytes - 6)),
        ..page(PAGE)
    };
    assert!(checked(&headers(16_384)).is_ok());
    assert!(checked(&headers(16_385)).unwrap_err().to_string().contains("at most 16384"));
    assert_eq!(test_store.store.statistics().unwrap().sources, 0);
}

/// The guard may have become stricter since the source was added.
#[test]
fn a_source_that_would_be_refused_now_can_still_be_paused_and_tagged() {
    let test_store = test_store();
    let id = test_store.store.add_sources(vec![page("http://127.0.0.1/")]).unwrap()[0];
    let present = test_store.store.source(id).unwrap().unwrap();
    let check = |edit: SourceEdit| dunlin_engine::recipe::check_edit(&present, &edit, &settings());
    check(SourceEdit { paused: Some(Some(at(1))), ..SourceEdit::default() }).unwrap();
    check(SourceEdit { tags: Some(vec!["old".to_owned()]), ..SourceEdit::default() }).unwrap();
    assert!(check(SourceEdit { weight: Some(2.0), ..SourceEdit::default() }).is_err());
}
