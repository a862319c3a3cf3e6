//! What pages, feeds, JSON and lists say.

use dunlin_core::Time;
use dunlin_lab::files::TraceFile;
use dunlin_testbed::{Kind, Plan, Request, Site};

const STARTED: Time = Time::from_seconds(1_800_000_000);

fn site(change: impl FnOnce(&mut Plan)) -> Site {
    let trace =
        TraceFile { sources: vec!["<b> & co".into()], times: vec![(0..30).collect()], warnings: Vec::new() };
    let mut plan = Plan::of(trace);
    change(&mut plan);
    Site::new(plan, STARTED).unwrap()
}

fn text(site: &Site, target: &str, seconds: i64) -> String {
    let response = site.respond(&Request::get(target), Time::from_seconds(STARTED.seconds() + seconds));
    assert_eq!(response.status, 200, "{target}");
    String::from_utf8(response.body).unwrap()
}

#[test]
fn a_page_holds_the_latest_state_and_nothing_before_it() {
    let site = site(|_| {});
    let path = Kind::Page.path("<b> & co");
    assert_eq!(path, "/pages/%3Cb%3E%20%26%20co");
    let (before, page) = (text(&site, &path, 16), text(&site, &path, 17));
    assert!(page.contains("<h1>Update 18 of &lt;b&gt; &amp; co</h1>"), "{page}");
    assert!(page.contains("data-version=\"18\"") && !page.contains("Update 17"));
    let state =
        |page: &str| page.split("<article").nth(1).unwrap().split("</article>").next().unwrap().to_owned();
    let rest = |page: &str| page.split("</head>").nth(1).unwrap().replace(&state(page), "");
    assert_ne!(state(&before), state(&page));
    assert_eq!(rest(&before), rest(&page), "what is around the state does not change");
}

#[test]
fn a_page_is_as_long_as_asked_for() {
    let lengths = [0, 500, 20_000]
        .map(|filler| text(&site(|plan| plan.filler = filler), "/pages/%3Cb%3E%20%26%20co", 0).len());
    assert!((400..600).contains(&(lengths[1] - lengths[0])), "{lengths:?}");
    assert!((19_900..20_200).contains(&(lengths[2] - lengths[0])), "{lengths:?}");
}

#[test]
fn a_feed_holds_the_latest_updates_with_lasting_ids_and_true_dates() {
    let site = site(|plan| plan.items = 3);
    let path = Kind::Feed.path("<b> & co");
    let items = |seconds| -> Vec<String> {
        text(&site, &path, seconds)
            .split("<item>")
            .skip(1)
            .map(|item| item.replace("</channel>\n</rss>\n", ""))
            .collect()
    };
    let (before, after) = (items(16), items(17));
    assert_eq!(after.len(), 3);
    assert_eq!(before[..2], after[1..], "an item stays as it is");
    assert!(after[0].contains("-18</guid>") && after[2].contains("-16</guid>"), "newest first");
    assert!(after[0].contains("<pubDate>Fri, 15 Jan 2027 08:00:17 GMT</pubDate>"), "{}", after[0]);
    assert!(after[0].contains("<title>Update 18 of &lt;b&gt; &amp; co</title>"), "{}", after[0]);
    assert_eq!(items(0).len(), 1);
}

#[test]
fn the_api_tells_the_latest_state() {
    let state: serde_json::Value =
        serde_json::from_str(&text(&site(|_| {}), &Kind::Api.path("<b> & co"), 17)).unwrap();
    assert_eq!(state["version"], 18);
    assert_eq!(state["source"], "<b> & co");
    assert_eq!(state["updated"], 1_800_000_017.0);
    assert_eq!(state["title"], "Update 18 of <b> & co");
}

#[test]
fn a_source_without_updates_so_far_has_a_page_and_an_empty_feed() {
    let site = site(|plan| plan.from = Some(-5));
    assert!(text(&site, "/pages/%3Cb%3E%20%26%20co", 0).contains("data-version=\"0\""));
    assert!(!text(&site, "/feeds/%3Cb%3E%20%26%20co.xml", 0).contains("<item>"));
}

#[test]
fn lists_name_every_source_by_its_full_address() {
    let site = site(|plan| plan.crawl_delay = Some(7));
    let id = "%3Cb%3E%20%26%20co";
    assert_eq!(text(&site, "/sources.txt", 0), format!("http://testbed.test/pages/{id}\n"));
    assert_eq!(text(&site, "/sources.txt?kind=feed", 0), format!("http://testbed.test/feeds/{id}.xml\n"));
    assert_eq!(text(&site, "/sources.txt?kind=api", 0), format!("http://testbed.test/api/{id}.json\n"));
    assert!(
        text(&site, "/sources.opml", 0).contains(&format!("xmlUrl=\"http://testbed.test/feeds/{id}.xml\""))
    );
    assert!(text(&site, "/", 0).contains(&format!("<a href=\"/pages/{id}\">&lt;b&gt; &amp; co</a>")));
    assert_eq!(text(&site, "/robots.txt", 0), "User-agent: *\nAllow: /\nCrawl-delay: 7\n");
}

#[test]
fn what_is_not_there_is_not_found() {
    let site = site(|_| {});
    for target in [
        "/pages/x",
        "/pages/%zz",
        "/pages/%",
        "/pages/",
        "/feeds/%3Cb%3E%20%26%20co",
        "/nothing",
        "//",
        "*",
        "",
        "/sources.txt?kind=x",
        "/faults/none/%3Cb%3E%20%26%20co",
        "/faults/slow/x/%3Cb%3E%20%26%20co",
        "/pages/%ff",
    ] {
        assert_eq!(site.respond(&Request::get(target), STARTED).status, 404, "{target}");
    }
}
