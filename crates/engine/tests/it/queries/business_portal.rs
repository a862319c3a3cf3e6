//! The example of the papers: a blog is read by the clock, and a post about oil opens intervals on two other sources.

use super::{Texts, at, misses, results, service, told};

const BLOG: &str = "http://blog.test/feed";
const NEWS: &str = "http://news.test/rss";
const RATES: &str = "http://rates.test/brent";

const QUERY: &str = "
    QUERY oil_desk
      SELECT item AS post FROM feed 'http://blog.test/feed' EVERY 10 MINUTES WITHIN 2 MINUTES
      SELECT item AS news FROM feed 'http://news.test/rss' WHEN post CONTAINS 'oil' WITHIN 10 MINUTES
      SELECT value AS rate FROM page 'http://rates.test/brent' PICK '.last' WHEN post CONTAINS 'oil' WITHIN 10 MINUTES";

fn web(posts: &[(i64, &str)]) -> Texts {
    Texts::default()
        .feed(BLOG, posts)
        .feed(NEWS, &[(500, "Markets close lower")])
        .page(RATES, &[(-10, "80.00"), (5_000, "81.50")])
}

#[test]
fn a_post_about_oil_brings_the_news_and_the_rate_of_that_time_once() {
    let posts = [(1_000, "Gold rises"), (2_000, "Crude oil rises"), (3_700, "Turmoil at the stock market")];
    let (test_store, mut run) = service(web(&posts));
    let query = run.add_query(QUERY).unwrap();
    run.run_until(at(7_200));
    let results = results(&test_store.store, query);
    assert_eq!(results.len(), 1, "{results:?}");
    let parts = told(&results[0]);
    assert_eq!(
        parts,
        [
            ("post".to_owned(), vec!["Crude oil rises".to_owned()]),
            ("news".to_owned(), vec!["Markets close lower".to_owned(), "First".to_owned()]),
            ("rate".to_owned(), vec!["80.00".to_owned()]),
        ]
    );
    // The blog is read within two minutes of the first multiple of ten minutes after the post.
    let post = results[0].result.parts[0].at;
    assert!((at(2_400)..=at(2_521)).contains(&post), "{post:?}");
    assert!(results[0].result.at <= post.plus(std::time::Duration::from_secs(601)));
    assert_eq!(misses(&test_store.store, query), []);
}
