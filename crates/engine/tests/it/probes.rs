//! What a probe makes of a page: what is reported, what is kept, what is learned.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_engine::capture::{
    Answer, ChangeDetail, DetailPiece, FollowUp, PreparedSource, Previous, ProbeOutcome, SourceTask, read,
};
use dunlin_engine::control::is_about_health;
use dunlin_engine::memory::ProbeNote;
use dunlin_engine::recipe::check;
use dunlin_engine::simulated::{Answered, Simulation, World};
use dunlin_engine::{Pace, Settings, SourceStatus};
use dunlin_extract::{Flicker, Input, Limits};
use dunlin_net::{Fetched, Hop, Request, StatusCode};
use dunlin_sched::model::{Completeness, Evidence};
use dunlin_store::{
    Health, NewSource, ObservationQuery, Outcome, ProbeId, SourceEdit, SourceId, Store, VersionQuery,
};

use crate::fixtures::{
    TestStore, all_changes, feed, page, settings, simulation, state, summaries, test_store,
};
use crate::web::{Fault, Kind, Web, at, fetched, rfc822};

const PAGE: &str = "http://a.example/page";
const FEED: &str = "http://b.example/feed";
const DAY: i64 = 86_400;

/// A page that gives one answer until it is given another; and the requests for it, each with its time and its
/// `If-None-Match`.
struct Scripted {
    answer: Fetched,
    requests: Vec<(Time, Option<String>)>,
}

impl World for Scripted {
    fn answer(&mut self, request: &Request, now: Time) -> Answered {
        let answer = if request.url().path() == "/robots.txt" {
            fetched(404, &[], String::new(), request.url(), Vec::new())
        } else {
            self.requests.push((now, request.validators().etag.clone()));
            self.answer.clone()
        };
        Answered { latency: Duration::ZERO, result: Ok(answer) }
    }
}

/// Probes of one source, an hour apart.
struct Probed {
    test_store: TestStore,
    run: Simulation<Scripted>,
    source: SourceId,
    n_hours: i64,
}

impl Probed {
    fn source(source: NewSource) -> Self {
        let (test_store, scripted) =
            (test_store(), Scripted { answer: answer(404, &[], ""), requests: Vec::new() });
        // Probes come on demand only.
        let settings = Settings {
            shortest_gap: Duration::from_hours(99),
            longest_gap: Duration::from_hours(99),
            ..settings()
        };
        let mut run = Simulation::new(test_store.store.clone(), settings, scripted, at(0)).unwrap();
        let source = run.add_source(source).unwrap();
        Self { test_store, run, source, n_hours: 0 }
    }

    /// The page gives this answer from now on, and is probed.
    fn see(&mut self, answer: Fetched) {
        let n_before = self.run.world().requests.len();
        self.run.world().answer = answer;
        self.run.probe_now(self.source).unwrap();
        self.n_hours += 1;
        self.run.run_until(at(self.n_hours * 3_600));
        assert!(self.run.world().requests.len() > n_before);
    }

    /// The kind and the summary of each change of the content.
    fn changes(&self) -> Vec<String> {
        let mut changes = all_changes(&*self.test_store.store);
        changes.retain(|change| !is_about_health(&change.found.kind));
        changes.iter().map(|change| format!("{} {}", change.found.kind, change.found.summary)).collect()
    }
}

fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Fetched {
    fetched(status, headers, body.to_owned(), &PAGE.parse().unwrap(), Vec::new())
}

fn html(body: &str) -> Fetched {
    answer(200, &[("content-type", "text/html")], body)
}

/// The entries of a list, under a selector.
fn list(url: &str) -> NewSource {
    let recipe = r#"{"recipe":{"kind":"html_selector","css":"li"}}"#.to_owned();
    NewSource { recipe, ..page(url) }
}

#[test]
fn nothing_is_reported_as_removed_from_a_page_that_comes_empty_or_cut() {
    let mut probed = Probed::source(list(PAGE));
    probed.see(html("<ul><li>One<li>Two<li>Three</ul>"));
    probed.see(html(""));
    let mut cut = html("<ul><li>One");
    cut.is_cut = true;
    probed.see(cut);
    assert_eq!(probed.changes(), [""; 0]);
    probed.see(html("<ul><li>One<li>Two</ul>"));
    assert_eq!(probed.changes(), ["removed Three"], "what is gone from a whole page is reported");
}

#[test]
fn a_first_probe_of_an_empty_page_is_no_baseline() {
    for empty in ["", "<p>The list is not there</p>"] {
        let mut probed = Probed::source(list(PAGE));
        probed.see(html(empty));
        probed.see(html("<ul><li>One<li>Two</ul>"));
        assert_eq!(probed.changes(), [""; 0], "{empty}");
        probed.see(html("<ul><li>One<li>Two<li>Three</ul>"));
        assert_eq!(probed.changes(), ["added Three"]);
    }
}

#[test]
fn a_page_dated_before_the_last_probe_has_changed_since() {
    for (date, is_believed) in [(-1_800, false), (1_800, true), (7_200, false)] {
        let mut probed = Probed::source(page(PAGE));
        probed.see(html("<p>One</p>"));
        // All this happens on a Friday.
        let modified = format!("Fri, {}", rfc822(at(date)));
        probed.see(answer(200, &[("last-modified", &modified)], "<p>Two</p>"));
        let change = all_changes(&*probed.test_store.store).remove(0).found;
        let seen: Vec<Time> = probed.run.world().requests.iter().map(|(at, _)| *at).collect();
        assert_eq!(change.happened_after, Some(seen[0]));
        assert_eq!(change.happened_before, if is_believed { at(date) } else { seen[1] }, "{date}");
    }
}

#[test]
fn the_entries_of_a_feed_are_reported_by_date_in_any_order_of_listing() {
    let entry = |name: &str, seconds: i64| {
        let date = rfc822(at(seconds));
        format!("<item><guid>{name}</guid><title>{name}</title><pubDate>{date}</pubDate></item>")
    };
    let feed_of = |entries: &[String]| {
        let body =
            format!("<rss version='2.0'><channel><title>F</title>{}</channel></rss>", entries.concat());
        answer(200, &[("content-type", "application/rss+xml")], &body)
    };
    let mut probed = Probed::source(feed(PAGE));
    probed.see(feed_of(&[entry("old", -DAY)]));
    probed.see(feed_of(&[
        entry("third", 1_803),
        entry("first", 1_801),
        entry("second", 1_802),
        entry("old", -DAY),
    ]));
    assert_eq!(probed.changes(), ["added first", "added second", "added third"]);
}

#[test]
fn an_etag_is_kept_when_the_answer_not_modified_does_not_repeat_it() {
    let mut probed = Probed::source(page(PAGE));
    probed.see(answer(200, &[("etag", "\"v1\"")], "<p>One</p>"));
    probed.see(answer(304, &[], ""));
    probed.see(answer(304, &[], ""));
    let sent: Vec<Option<&str>> =
        probed.run.world().requests.iter().map(|(_, etag)| etag.as_deref()).collect();
    assert_eq!(sent, [None, Some("\"v1\""), Some("\"v1\"")]);
}

#[test]
fn what_an_error_page_calls_itself_is_not_asked_for() {
    let mut probed = Probed::source(page(PAGE));
    probed.see(answer(200, &[("etag", "\"v1\"")], "<p>One</p>"));
    probed.see(answer(500, &[("etag", "\"sorry\"")], "<p>Sorry</p>"));
    probed.see(answer(304, &[], ""));
    let sent: Vec<Option<&str>> =
        probed.run.world().requests.iter().map(|(_, etag)| etag.as_deref()).collect();
    assert_eq!(sent, [None, Some("\"v1\""), Some("\"v1\"")]);
}

#[test]
fn a_page_has_moved_for_good_only_if_every_step_says_so() {
    for (statuses, is_for_good) in [([301, 302], false), ([307, 308], false), ([301, 308], true)] {
        let hops = statuses
            .map(|status| Hop { status: StatusCode::from_u16(status).unwrap(), from: PAGE.parse().unwrap() });
        let mut probed = Probed::source(page(PAGE));
        probed.see(fetched(200, &[], "<p>One</p>".to_owned(), &PAGE.parse().unwrap(), hops.to_vec()));
        let (health, reason) = state(&*probed.test_store.store, probed.source);
        assert_eq!(
            (health, reason.contains("moved permanently")),
            (Health::Well, is_for_good),
            "{statuses:?}"
        );
    }
}

#[test]
fn no_more_versions_are_kept_than_wanted_from_the_change_on() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[40_000, 80_000, 120_000, 160_000]);
    let mut settings = settings();
    settings.keep.n_versions = Some(2);
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    let source = run.add_source(page(PAGE)).unwrap();
    run.run_until(at(3 * DAY));
    assert_eq!(summaries(&*test_store.store, source).len(), 4);
    let kept = test_store.store.versions(&VersionQuery { source, before: None, limit: 9 }).unwrap();
    let newest = String::from_utf8(test_store.store.content(kept[0].id).unwrap()).unwrap();
    assert!(kept.len() == 2 && newest.contains("edition 4"), "{kept:?} {newest}");
}

#[test]
fn a_pause_that_is_over_is_not_explained_as_one() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[]);
    web.fail(PAGE, 0, DAY, Fault::Status(500));
    let mut run = simulation(&test_store.store, web, 0);
    let source = run.add_source(page(PAGE)).unwrap();
    let mut minutes = (1..100).map(|minute| {
        run.run_until(at(60 * minute));
        run.explain(source).unwrap().not_before
    });
    let until = minutes.find_map(|not_before| not_before).unwrap();
    // It is not probed meanwhile.
    run.set_budget(Pace { per_second: 0.0 });
    run.run_until(until.plus(Duration::from_secs(1)));
    assert_eq!(run.explain(source).unwrap().not_before, None);
}

#[test]
fn a_source_with_a_long_shortest_gap_is_not_overdue_before_it() {
    let recipe = r#"{"shortest_gap":7200,"longest_gap":60}"#.to_owned();
    let checked = check(&NewSource { recipe, ..page(PAGE) }, &settings()).unwrap();
    assert_eq!((checked.shortest_gap.as_secs(), checked.longest_gap.as_secs()), (7_200, 7_200));
}

#[test]
fn a_first_probe_reports_nothing_and_later_ones_report_what_is_new() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[40_000]);
    web.put(FEED, Kind::Feed(10), &[-5_000, 50_000, 60_000]);
    let mut run = simulation(&test_store.store, web, 0);
    let (page, feed) = (run.add_source(page(PAGE)).unwrap(), run.add_source(feed(FEED)).unwrap());
    run.run_until(at(10_000));
    assert_eq!(all_changes(&*test_store.store).len(), 0, "what was there already is not news");
    assert_eq!(test_store.store.newest_version(page).unwrap().unwrap().media_type, "text/html");
    assert_eq!(state(&*test_store.store, page), (Health::Well, String::new()));

    run.run_until(at(2 * DAY));
    assert_eq!(summaries(&*test_store.store, feed), ["Entry 2", "Entry 3"]);
    let changes = all_changes(&*test_store.store);
    let edited = changes.iter().find(|change| change.source == page).unwrap();
    assert_eq!(edited.found.kind, "edited");
    assert!(edited.found.happened_after.unwrap() < at(40_000), "{edited:?}");
    assert!(edited.found.happened_before >= at(40_000), "{edited:?}");
    let pieces = ChangeDetail::read(&edited.found.detail).unwrap().pieces;
    assert!(pieces.contains(&DetailPiece::Inserted("1".to_owned())), "{pieces:?}");
    assert!(pieces.contains(&DetailPiece::Removed("0".to_owned())), "{pieces:?}");
    // A feed's own dates say when it happened.
    let dated = changes.iter().find(|change| change.found.summary == "Entry 2").unwrap();
    assert_eq!(dated.found.happened_before, at(50_000));
    // One version at first, one for the change; nothing for the many probes between.
    let versions = test_store.store.versions(&VersionQuery { source: page, before: None, limit: 9 }).unwrap();
    assert_eq!(versions.len(), 2);
    assert!(
        String::from_utf8(test_store.store.content(versions[0].id).unwrap()).unwrap().contains("edition 1")
    );
}

#[test]
fn a_source_never_seen_has_no_value_and_no_chance_yet() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[]);
    let mut run = simulation(&test_store.store, web, 0);
    let source = run.add_source(page(PAGE)).unwrap();
    let before = run.explain(source).unwrap();
    assert_eq!((before.value, before.forecast.chance, before.last_probe), (None, None, None));
    run.run_until(at(3_600));
    let after = run.explain(source).unwrap();
    assert!(after.value.unwrap() < 1e6 && after.forecast.chance.unwrap() <= 1.0, "{after:?}");
}

#[test]
fn a_source_that_is_due_with_many_others_says_so() {
    let test_store = test_store();
    let mut web = Web::default();
    let url = |n: i64| format!("http://h{n}.example/page");
    (0..30).for_each(|n| web.put(&url(n), Kind::Page, &[]));
    let mut run = simulation(&test_store.store, web, 0);
    let sources: Vec<_> = (0..30).map(|n| run.add_source(page(&url(n))).unwrap()).collect();
    run.run_until(at(300));
    let last = run.explain(sources[29]).unwrap();
    let queue_position = last.queue_position.unwrap();
    assert!((20..30).contains(&queue_position.others), "{queue_position:?}");
    assert!((at(2_000)..at(4_000)).contains(&queue_position.by.unwrap()), "{queue_position:?}");
}

#[test]
fn the_dates_of_a_feed_are_evidence_from_the_first_probe_on() {
    let test_store = test_store();
    let mut web = Web::default();
    let hourly: Vec<i64> = (1..40).map(|hour| -hour * 3600).rev().collect();
    web.put(FEED, Kind::Feed(100), &hourly);
    let mut run = simulation(&test_store.store, web, 0);
    let feed = run.add_source(feed(FEED)).unwrap();
    run.run_until(at(600));
    let query = ObservationQuery { source: Some(feed), after: None, limit: 9 };
    let first = test_store.store.observations(&query).unwrap().remove(0);
    assert_eq!(first.outcome, Outcome::Unchanged);
    let evidence = run.explain(feed).unwrap().forecast.evidence;
    assert!(evidence > 10.0, "{evidence}: the dates of forty entries");
}

#[test]
fn the_date_of_a_page_is_evidence_of_a_change_from_the_first_probe_on() {
    let evidence = |headers: &[(&str, &str)]| {
        let mut probed = Probed::source(page(PAGE));
        probed.see(answer(200, headers, "<p>One</p>"));
        probed.run.explain(probed.source).unwrap().forecast.evidence
    };
    let modified = format!("Fri, {}", rfc822(at(-3_600)));
    let (undated, dated) = (evidence(&[]), evidence(&[("last-modified", &modified)]));
    assert!(dated > undated + 0.5, "{dated}, and {undated} without a date");
}

/// What a probe at second 3600 shows of a feed that was last probed at 0.
fn shown_of(now: &[(&str, i64)], before: &[(&str, i64)]) -> ProbeOutcome {
    let entries = |entries: &[(&str, i64)]| {
        let entry = |(title, date): &(&str, i64)| {
            format!(
                "<item><title>{title}</title><guid>{title}</guid><pubDate>Fri, {}</pubDate></item>",
                rfc822(at(*date))
            )
        };
        let entries: String = entries.iter().map(entry).collect();
        answer(200, &[], &format!("<rss version='2.0'><channel>{entries}</channel></rss>"))
    };
    let checked = check(&feed(FEED), &settings()).unwrap();
    let extractor = checked.extractor(Limits::default()).unwrap();
    let earlier = extractor.extract(&Input { body: &entries(before).body, ..Input::default() }).items;
    let previous = Previous { n_present: earlier.len(), items: earlier, ..Previous::default() };
    let note = ProbeNote { hash: Some([0; 32]), ..ProbeNote::default() };
    let task =
        SourceTask { source: SourceId(1), last_probe: Some(at(0)), wants_items: false, wants_news: false };
    let prepared =
        PreparedSource::new(ProbeId(2), task, checked.target, note, Flicker::default(), &settings());
    let answer = Answer::new(Ok(entries(now)), at(3_600), None);
    read(prepared, &answer, answer.result.as_ref().unwrap(), &previous, &extractor).outcome
}

#[test]
fn a_feed_that_runs_over_between_probes_does_not_show_all_that_happened() {
    let (old, one, two) = (("Old", -600), ("One", 1_200), ("Two", 2_400));
    for (now, completeness) in
        [(&[two, one, old][..], Completeness::All), (&[two, one][..], Completeness::Latest)]
    {
        let evidence = Evidence::Changed { times: vec![at(1_200), at(2_400)], completeness };
        let shown = ProbeOutcome::Observed { evidence, follow_up: FollowUp::None };
        assert_eq!(shown_of(now, &[old]), shown);
    }
}

#[test]
fn an_entry_that_scrolls_out_of_a_feed_is_no_news_and_neither_is_its_return() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(FEED, Kind::Feed(2), &[1_000, 40_000, 80_000]);
    let mut run = simulation(&test_store.store, web, 2_000);
    let feed = run.add_source(feed(FEED)).unwrap();
    run.run_until(at(2 * DAY));
    assert_eq!(summaries(&*test_store.store, feed), ["Entry 2", "Entry 3"]);
    run.world().sites.get_mut(FEED).unwrap().kind = Kind::Feed(4);
    // Entries 0 and 1 come back; the next probe that reads the feed sees them.
    run.world().sites.get_mut(FEED).unwrap().changes.push(at(2 * DAY + 10));
    run.run_until(at(4 * DAY));
    assert_eq!(summaries(&*test_store.store, feed), ["Entry 2", "Entry 3", "Entry 4"]);
}

#[test]
fn flicker_is_learned_from_a_second_probe_and_then_suppressed() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Flickering, &[3 * DAY]);
    let mut settings = settings();
    settings.budget.per_second = 0.05;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    let recipe = r#"{"shortest_gap":1800}"#.to_owned();
    let source = run.add_source(NewSource { recipe, ..page(PAGE) }).unwrap();
    run.run_until(at(2 * DAY));
    let reported = summaries(&*test_store.store, source);
    assert_eq!(reported.len(), 1, "the words are reported once: {reported:?}");
    let probes = run.world().probes_of("/page");
    let closest = probes.windows(2).map(|pair| pair[1].since(pair[0]).as_secs()).min();
    assert!(closest.unwrap() < 60, "a second probe came soon: {closest:?}");
    run.run_until(at(5 * DAY));
    let reported = summaries(&*test_store.store, source);
    assert_eq!(reported.len(), 2, "a real change is reported among the noise: {reported:?}");
    let versions = VersionQuery { source, before: None, limit: 99 };
    assert_eq!(test_store.store.versions(&versions).unwrap().len(), 3, "noise makes no versions");
}

#[test]
fn a_second_probe_follows_soon_after_the_first_second_and_fourth_change_of_a_page() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[DAY, 2 * DAY, 3 * DAY, 4 * DAY, 5 * DAY]);
    let mut settings = settings();
    settings.budget.per_second = 0.05;
    let mut run = Simulation::new(test_store.store.clone(), settings, web, at(0)).unwrap();
    let recipe = r#"{"shortest_gap":1800}"#.to_owned();
    run.add_source(NewSource { recipe, ..page(PAGE) }).unwrap();
    run.run_until(at(6 * DAY));
    let probes = run.world().probes_of("/page");
    let followed = probes.windows(2).filter(|pair| pair[1].since(pair[0]).as_secs() < 60);
    let changes: Vec<u64> = followed.map(|pair| pair[0].since(at(0)).as_secs() / 86_400).collect();
    assert_eq!(changes, [1, 2, 4], "the changes that were followed by another probe");
}

#[test]
fn flicker_is_learned_however_often_the_page_is_probed() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Flickering, &[20_000]);
    let mut run = Simulation::new(test_store.store.clone(), Settings::default(), web, at(0)).unwrap();
    let source = run.add_source(page(PAGE)).unwrap();
    run.run_until(at(DAY));
    let reported = summaries(&*test_store.store, source);
    assert_eq!(reported.len(), 2, "the words once, then the real change: {reported:?}");
    assert!(run.explain(source).unwrap().forecast.rate < 10.0 / DAY as f64, "noise is no reason to probe");
}

#[test]
fn real_changes_every_few_seconds_are_reported() {
    for (every, recipe) in [(8, "{}"), (1, r#"{"flicker":"tell"}"#)] {
        let test_store = test_store();
        let mut web = Web::default();
        let changes: Vec<i64> = (0..20_000 / every).map(|n| n * every + n * 7919 % 5).collect();
        web.put(PAGE, Kind::Page, &changes);
        let mut run = Simulation::new(test_store.store.clone(), Settings::default(), web, at(0)).unwrap();
        let source = run.add_source(NewSource { recipe: recipe.to_owned(), ..page(PAGE) }).unwrap();
        run.run_until(at(20_000));
        let (n_reported, n_probes) =
            (summaries(&*test_store.store, source).len(), run.world().probes().count());
        assert!(
            n_reported * 10 > n_probes * 9,
            "{n_reported} reported in {n_probes} probes, a change every {every} s"
        );
    }
}

#[test]
fn flicker_is_reported_again_once_it_has_stood_still() {
    let test_store = test_store();
    let mut web = Web::default();
    let in_a_rush: Vec<i64> = (0..5_000).collect();
    web.put(PAGE, Kind::Page, &[&in_a_rush[..], &[20_000, 30_000]].concat());
    let mut run = Simulation::new(test_store.store.clone(), Settings::default(), web, at(0)).unwrap();
    let source = run.add_source(page(PAGE)).unwrap();
    run.run_until(at(5_000));
    assert_eq!(summaries(&*test_store.store, source).len(), 1, "as good as noise");
    run.run_until(at(DAY));
    let reported = summaries(&*test_store.store, source);
    assert_eq!(reported.len(), 3, "{reported:?}");
}

#[test]
fn a_page_that_has_moved_for_good_says_so() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[]);
    web.fail(PAGE, 0, DAY, Fault::Moved);
    let mut run = simulation(&test_store.store, web, 0);
    let source = run.add_source(page(PAGE)).unwrap();
    run.run_until(at(3_600));
    let (health, reason) = state(&*test_store.store, source);
    assert_eq!(health, Health::Well);
    assert_eq!(reason, "moved permanently to http://a.example/page (edit its address)");
    run.run_until(at(2 * DAY));
    assert_eq!(state(&*test_store.store, source), (Health::Well, String::new()));
}

#[test]
fn pausing_stops_probes_and_another_address_starts_from_scratch() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[DAY, 4 * DAY]);
    web.put("http://c.example/other", Kind::Page, &[]);
    let mut run = simulation(&test_store.store, web, 0);
    let source = run.add_source(page(PAGE)).unwrap();
    run.run_until(at(3_600));
    run.edit_source(source, SourceEdit { paused: Some(Some(at(3_600))), ..SourceEdit::default() }).unwrap();
    let before = run.world().probes().count();
    run.run_until(at(2 * DAY));
    assert_eq!(run.world().probes().count(), before, "a paused source is left alone");
    assert_eq!(run.explain(source).unwrap().status, SourceStatus::Paused);
    assert!(run.probe_now(source).is_err());

    run.edit_source(source, SourceEdit { paused: Some(None), ..SourceEdit::default() }).unwrap();
    run.run_until(at(3 * DAY));
    assert_eq!(summaries(&*test_store.store, source).len(), 1, "what changed in the meantime is reported");

    let url = Some("http://c.example/other".to_owned());
    run.edit_source(source, SourceEdit { url, ..SourceEdit::default() }).unwrap();
    run.run_until(at(5 * DAY));
    assert_eq!(summaries(&*test_store.store, source).len(), 1, "another page is not a change");
    assert!(!run.world().probes_of("/other").is_empty());
    run.remove_source(source).unwrap();
    let before = run.world().probes().count();
    run.run_until(at(6 * DAY));
    assert_eq!(run.world().probes().count(), before);
}

#[test]
fn invalid_configurations_are_refused_with_what_to_write() {
    let test_store = test_store();
    let mut run = simulation(&test_store.store, Web::default(), 0);
    let mut refused = |change: fn(&mut NewSource)| {
        let mut source = page(PAGE);
        change(&mut source);
        run.add_source(source).unwrap_err().to_string()
    };
    assert!(refused(|source| source.url = "ftp://a.example/".into()).contains("use http or https"));
    assert!(refused(|source| source.url = "http://127.0.0.1/".into()).contains("loopback"));
    assert!(refused(|source| source.url = "nonsense".into()).contains("https://host/path"));
    assert!(refused(|source| source.kind = "video".into()).contains("page, feed, json, text or auto"));
    assert!(refused(|source| source.life = "short".into()).contains("append, window:W"));
    assert!(refused(|source| source.urgency = "exp:2".into()).contains("decay factor"));
    for weight in [f64::NAN, -1.0, 1e308, 1e-300] {
        let mut source = page(PAGE);
        source.weight = weight;
        assert!(run.add_source(source).unwrap_err().to_string().contains("0.000001 to 1000000"));
    }
    let mut refused = |change: fn(&mut NewSource)| {
        let mut source = page(PAGE);
        change(&mut source);
        run.add_source(source).unwrap_err().to_string()
    };
    assert!(refused(|source| source.life = "window:0".into()).contains("at least 1"));
    assert!(refused(|source| source.recipe = "{\"recipie\":1}".into()).contains("recipie"));
    let css = refused(|source| {
        source.recipe = r#"{"recipe":{"kind":"html_selector","css":"p >> q"}}"#.into();
    });
    assert!(css.contains("css selector"), "{css}");
    assert!(refused(|source| source.recipe = r#"{"shortest_gap":0}"#.into()).contains("whole seconds"));
    let header = refused(|source| source.recipe = r#"{"headers":{"Host":"x"}}"#.into());
    assert!(header.contains("Host"), "{header}");
    assert_eq!(test_store.store.statistics().unwrap().sources, 0);
}

#[test]
fn what_a_service_would_wait_for_is_said_without_it_too() {
    let test_store = test_store();
    let mut web = Web::default();
    web.put(PAGE, Kind::Page, &[]);
    web.fail(PAGE, 0, 7_200, Fault::RetryAfter(429, 7_200));
    let mut run = simulation(&test_store.store, web, 0);
    let source = run.add_source(page(PAGE)).unwrap();
    run.run_until(at(1_000));
    let told = run.explain(source).unwrap();
    drop(run.stop());
    let without = dunlin_engine::explain_stored(&*test_store.store, &settings(), source, at(1_000)).unwrap();
    assert_eq!((without.hold.is_some(), &without.hold), (true, &told.hold));
    assert_eq!((without.not_before, without.last_failure), (told.not_before, told.last_failure));
}
