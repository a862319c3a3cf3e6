//! What is learned of a page's flicker, and what is suppressed for it.

use dunlin_core::Time;
use dunlin_extract::detect::compare;
use dunlin_extract::flicker::{BurstState, Reading, Reason};
use dunlin_extract::summary::summary_of_all;
use dunlin_extract::{Flicker, Item, Work};

use crate::reading::{item, page};

/// Runs through the versions and says, for each step, how many changes were reported and how many suppressed.
fn counts(mut flicker: Flicker, versions: &[Vec<Item>]) -> Vec<(usize, usize)> {
    let mut counts = Vec::new();
    for pair in versions.windows(2) {
        let (next, verdict) = flicker.observe(&pair[0], &pair[1]);
        counts.push((verdict.reported.len(), verdict.suppressed.len()));
        flicker = next;
    }
    counts
}

/// Every probe shows another state, or the same one `n_same` times: how often something is reported of each.
fn reports_of(states: &[&str], n_same: usize) -> Vec<usize> {
    let (mut flicker, mut reports) = (Flicker::default(), Vec::new());
    let mut previous = page(&format!("<h1>Box</h1><p>{}", states[0]));
    for (index, state) in (1..).zip(&states[1..]) {
        let current = page(&format!("<h1>Box</h1><p>{state}"));
        let at = |probes: usize| Some(Time::from_seconds(i64::try_from(60 * probes).unwrap()));
        let probes = index * n_same;
        let reading = Reading { at: at(probes), last_probe: at(probes - 1) };
        let (next, verdict) = flicker.judge(compare(&previous, &current).changes, reading, &Work::default());
        reports.push(verdict.reported.len());
        (flicker, previous) = (next, current);
    }
    reports
}

#[test]
fn what_is_measured_and_different_at_every_probe_becomes_quiet() {
    assert_eq!(reports_of(&["21 °C", "22 °C", "20 °C", "23 °C", "19 °C", "18 °C"], 1), [1, 0, 0, 0, 0]);
    assert_eq!(
        reports_of(&["Queue: 17", "Queue: 3", "Queue: 40", "Queue: 8", "Queue: 21", "Queue: 5"], 1),
        [1, 1, 0, 0, 0]
    );
}

#[test]
fn the_only_thing_that_changes_on_a_page_is_what_the_page_is_about() {
    assert_eq!(reports_of(&["red", "blue", "green", "grey", "pink", "gold"], 1), [1, 1, 1, 1, 1]);
    let editions = ["Edition 1", "Edition 2", "Edition 4", "Edition 5", "Edition 9", "Edition 10"];
    assert_eq!(reports_of(&editions, 1), [1, 1, 1, 1, 1]);
}

#[test]
fn a_place_that_stands_for_some_probes_and_then_changes_is_news_every_time() {
    assert_eq!(reports_of(&["red", "blue", "green", "grey", "pink", "gold"], 4), [1, 1, 1, 1, 1]);
}

#[test]
fn a_state_that_goes_and_comes_back_is_news_a_few_times_and_always_if_it_stood() {
    let states = ["open", "closed", "open", "closed", "open", "closed", "open"];
    assert_eq!(reports_of(&states, 2), [1, 1, 1, 0, 0, 0]);
    assert_eq!(reports_of(&states, 4), [1; 6]);
}

#[test]
fn a_price_is_news_even_if_it_was_the_same_before() {
    let prices = ["$ 20.00", "$ 18.00", "$ 20.00", "$ 18.00", "$ 21.00"];
    assert_eq!(reports_of(&prices, 4), [1, 1, 1, 1]);
}

#[test]
fn an_item_that_comes_and_goes_is_not_reported_for_ever() {
    let (with, without) = (vec![item("1", "a", "x"), item("2", "b", "x")], vec![item("1", "a", "x")]);
    let versions = [without.clone(), with.clone(), without.clone(), with, without];
    assert_eq!(counts(Flicker::default(), &versions), [(1, 0), (0, 1), (0, 1), (0, 1)]);
}

#[test]
fn a_line_that_came_long_ago_is_missed_when_it_goes() {
    let note = "<p>The hall is closed on Sundays";
    let show = |hours: &str, note: &str| page(&format!("<h1>Hall</h1><p>Open {hours}{note}<p>Imprint"));
    let hours = ["in the morning", "until noon", "for members only", "by appointment"];
    let mut versions = vec![show(hours[0], "")];
    versions.extend(hours.iter().map(|hours| show(hours, note)));
    versions.push(show(hours[3], ""));
    let told: Vec<usize> = counts(Flicker::default(), &versions).iter().map(|(told, _)| *told).collect();
    assert_eq!((told[0], told.last()), (1, Some(&1)), "{told:?}");
}

#[test]
fn lines_of_the_content_and_beside_it_are_two_changes() {
    let show = |content: &str, beside: &str| {
        page(&format!("<main><h1>Town</h1>One story<br>{content}</main><aside>{beside}Imprint</aside>"))
    };
    let (old, new) = (show("", ""), show("A new story of the town", "Buy a boat<br>"));
    let (_, verdict) = Flicker::default().observe(&old, &new);
    let told: Vec<&str> = verdict.reported.iter().map(|changed| &*changed.new).collect();
    assert_eq!(told, ["A new story of the town", "Buy a boat"]);
}

#[test]
fn what_one_look_can_recognise_is_never_reported() {
    for (old, new, reason) in [
        ("Last updated 14:07", "Last updated 14:12", "clock"),
        ("posted 5 minutes ago", "posted 6 minutes ago", "relative_time"),
        ("vor 2 Stunden", "vor 3 Stunden", "relative_time"),
        ("1,204 views", "1,311 views", "counter"),
        ("38 Personen gefällt das", "39 Personen gefällt das", "counter"),
        ("Request 9e4e7601d9", "Request 418cb13196", "code"),
        ("Served by node FRA-2", "Served by node AMS-7", "code"),
        ("Good morning, guest!", "Good evening, guest!", "pleasantry"),
        ("a  “quoted” word", "a 'quoted' word", "formatting"),
    ] {
        let both = [page(&format!("<h1>Title</h1><p>{old}")), page(&format!("<h1>Title</h1><p>{new}"))];
        let (_, verdict) = Flicker::default().observe(&both[0], &both[1]);
        let reasons: Vec<_> = verdict.suppressed.iter().map(|quiet| quiet.reason.code()).collect();
        assert_eq!((verdict.reported.len(), &reasons[..]), (0, &[reason][..]), "{old} → {new}");
    }
}

#[test]
fn what_looks_like_noise_but_is_not_is_reported() {
    for (old, new) in [
        ("Hearing on 14 March 2026", "Hearing on 21 March 2026"),
        ("Open from 9:00 to 17:00", "Open from 10:00 to 17:00"),
        ("$ 1,204", "$ 1,311"),
        ("Downloads from $ 19", "Downloads from $ 17"),
        ("Version 4.17.2", "Version 4.17.3"),
        (
            "The storm left 45 people without a home, the mayor said on Monday in the town hall.",
            "The storm left 46 people without a home, the mayor said on Monday in the town hall.",
        ),
        ("Room B12", "Room B13"),
    ] {
        let both = [page(&format!("<h1>Title</h1><p>{old}")), page(&format!("<h1>Title</h1><p>{new}"))];
        assert_eq!(counts(Flicker::default(), &both), [(1, 0)], "{old} → {new}");
    }
}

#[test]
fn a_list_that_rotates_becomes_quiet_and_a_list_of_news_does_not() {
    let list = |items: &[&str]| {
        let items = format!("<li>{}</li>", items.join("</li><li>"));
        page(&format!("<h1>Paper</h1><p>Story</p><ul class='teasers'>{items}</ul><p>Imprint</p>"))
    };
    let pool = ["ships", "birds", "boats", "tides", "winds", "sands", "gulls", "piers"];
    let rotating: Vec<Vec<Item>> =
        (0..24).map(|n| list(&[pool[n % 8], pool[(n * 3 + 1) % 8], pool[(n * 5 + 2) % 8]])).collect();
    let reported: Vec<usize> = counts(Flicker::default(), &rotating).iter().map(|(told, _)| *told).collect();
    assert!(reported[8..].iter().all(|told| *told == 0), "{reported:?}");
    let stories: Vec<String> = (0..24).map(|n| format!("Story number {n} about {}", pool[n % 8])).collect();
    let news: Vec<Vec<Item>> = (0..20)
        .map(|n| {
            let latest: Vec<&str> = stories[n..n + 4].iter().rev().map(String::as_str).collect();
            list(&latest)
        })
        .collect();
    let reported: Vec<usize> = counts(Flicker::default(), &news).iter().map(|(told, _)| *told).collect();
    assert_eq!(reported, [1; 19], "each new story, once");
}

#[test]
fn moving_is_not_changing() {
    let (a, b) = (
        page("<h1>T</h1><p>one fish<p>two fish<p>red fish"),
        page("<h1>T</h1><p>red fish<p>one fish<p>two fish"),
    );
    let (_, verdict) = Flicker::default().observe(&a, &b);
    assert_eq!((verdict.reported.len(), verdict.suppressed[0].reason), (0, Reason::Moved));
}

fn news(views: u32, teaser: &str, story: &str) -> Vec<Item> {
    page(&format!("<h1>News</h1><p>{views} barrels<h2>Read also</h2><p>{teaser}<h2>Stories</h2><p>{story}"))
}

/// Compares the probes of a burst with the first of them until the burst is done.
fn run_burst(mut flicker: Flicker, probes: &[Vec<Item>]) -> (Flicker, usize) {
    for (n, probe) in (1..).zip(&probes[1..]) {
        let (next, state) = flicker.observe_burst(&probes[0], probe, &Work::default());
        if state == BurstState::Done {
            return (next, n);
        }
        flicker = next;
    }
    panic!("the burst never ends");
}

#[test]
fn a_part_that_differs_at_every_probe_of_a_burst_is_never_reported() {
    let probes = [
        news(1, "cats", "story one"),
        news(22, "dogs", "story one"),
        news(23, "pigs", "story one"),
        news(25, "hens", "story one"),
    ];
    let (flicker, n_probes) = run_burst(Flicker::default(), &probes);
    assert_eq!(n_probes, 3);
    let versions = [
        news(22, "dogs", "story one"),
        news(333, "birds", "story one"),
        news(4444, "fish", "story two"),
        news(4444, "mice", "story two"),
    ];
    assert_eq!(counts(flicker.clone(), &versions), [(0, 2), (1, 2), (0, 1)]);
    let (_, verdict) = flicker.observe(&versions[0], &versions[1]);
    assert_eq!(verdict.suppressed[1].reason, Reason::Volatile);
}

#[test]
fn a_part_that_stays_for_two_probes_of_a_burst_is_a_change() {
    let probes = [
        news(1, "cats", "story one"),
        news(1, "cats", "story two"),
        news(1, "cats", "story two"),
        news(1, "cats", "story three"),
    ];
    let (flicker, n_probes) = run_burst(Flicker::default(), &probes);
    assert_eq!(n_probes, 2);
    assert_eq!(counts(flicker, &[probes[0].clone(), probes[2].clone()]), [(1, 0)]);
    // Also beside something that flickers.
    let probes = [
        news(1, "cats", "story one"),
        news(2, "cats", "story one"),
        news(3, "cats", "story two"),
        news(4, "cats", "story two"),
    ];
    let (flicker, _) = run_burst(Flicker::default(), &probes);
    assert_eq!(counts(flicker.clone(), &[probes[0].clone(), probes[1].clone()]), [(0, 1)]);
    assert_eq!(counts(flicker, &[probes[0].clone(), probes[3].clone()]), [(1, 1)]);
}

#[test]
fn a_burst_ends_even_if_every_probe_shows_another_page() {
    let probes: Vec<Vec<Item>> =
        (0..9).map(|n| vec![item(&n.to_string(), "teaser", "buy"), item("s", "story", "news")]).collect();
    let (flicker, n_probes) = run_burst(Flicker::default(), &probes);
    assert_eq!(n_probes, 4);
    // Teasers that came and went are known.
    assert_eq!(counts(flicker, &[probes[4].clone(), probes[2].clone()])[0].0, 1);
}

/// A part is convicted by probes of one burst. Where a judged change came in between, another burst begins.
#[test]
fn a_burst_that_was_broken_off_counts_for_nothing() {
    let first = news(1, "a", "x");
    let observe = |flicker: Flicker, views: u32| {
        let (flicker, state) = flicker.observe_burst(&first, &news(views, "a", "x"), &Work::default());
        assert_eq!(state, BurstState::Continue, "{views}");
        flicker
    };
    let flicker = observe(observe(Flicker::default(), 2), 3);
    let (flicker, _) = flicker.observe(&first, &news(1, "a", "y"));
    let flicker = observe(observe(flicker, 4), 5);
    let (_, state) = flicker.observe_burst(&first, &news(6, "a", "x"), &Work::default());
    assert_eq!(state, BurstState::Done, "three in a row");
}

/// More differs than can be remembered: it is another page each time, and not a page with parts that flicker.
#[test]
fn a_page_that_differs_all_over_teaches_nothing() {
    let probe = |n: u32| -> Vec<Item> {
        (0..200).map(|id| item(&id.to_string(), "t", &format!("{n} times {id}"))).collect()
    };
    let probes: Vec<Vec<Item>> = (0..9).map(probe).collect();
    let (flicker, n_probes) = run_burst(Flicker::default(), &probes);
    assert_eq!((n_probes, counts(flicker, &probes[..2])[0].0), (1, 200));
}

#[test]
fn one_line_that_returns_does_not_hide_another() {
    let probe = |first: &str, second: &str| page(&format!("<p>red boat<p>{first}<p>blue boat<p>{second}"));
    let versions = [probe("for sale", "for sale"), probe("sold", "for sale"), probe("sold", "sold")];
    assert_eq!(counts(Flicker::default(), &versions), [(1, 0), (1, 0)]);
}

#[test]
fn the_state_is_bounded_and_survives_storage() {
    let mut flicker = Flicker::default();
    let mut before = Vec::new();
    let text = |round: u32, n: u32| {
        format!("<p class=c{}>line {n} about {round}", char::from(b'a' + (n % 26) as u8))
    };
    for round in 0..40 {
        let rows: String = (0..400).map(|n| text(round * (n % 7), n)).collect();
        let mut now: Vec<Item> =
            (0..100).map(|n| item(&format!("{round}-{n}"), "t", &n.to_string())).collect();
        now.extend(page(&rows));
        flicker = flicker.observe(&before, &now).0.observe_burst(&before, &now[..20], &Work::default()).0;
        before = now;
    }
    let stored = serde_json::to_string(&flicker).unwrap();
    assert_eq!(serde_json::from_str::<Flicker>(&stored).unwrap(), flicker);
    let stored = postcard::to_allocvec(&flicker).unwrap();
    assert_eq!(postcard::from_bytes::<Flicker>(&stored).unwrap(), flicker);
    assert!((500..4 << 10).contains(&stored.len()), "{}", stored.len());
    assert!(flicker.n_bytes() + 40 >= stored.len(), "{} of {}", flicker.n_bytes(), stored.len());
    assert_eq!(Flicker::default().n_bytes(), 0);
}

/// A page of as many lines with a figure, below a word.
fn many(word: &str, n_lines: usize, figure: usize) -> Vec<Item> {
    let name = |n: usize| format!("row{}{}", ('a'..).nth(n % 26).unwrap(), ('a'..).nth(n / 26).unwrap());
    let rows: Vec<String> = (0..n_lines).map(|n| format!("<p>{} {figure} lamps", name(n))).collect();
    page(&format!("<h1>Box</h1><p>{word}{}", rows.concat()))
}

#[test]
fn of_very_many_places_those_that_rest_are_forgotten() {
    let probes =
        ["ships here", "birds there", "boats nowhere", "tides elsewhere"].map(|word| many(word, 140, 1));
    let (flicker, _) = run_burst(Flicker::default(), &probes);
    let told = |flicker: Flicker, old: &[Item], new: &[Item]| {
        let (next, verdict) = flicker.observe(old, new);
        (next, verdict.reported.iter().any(|changed| changed.new == "winds around"))
    };
    let winds = many("winds around", 140, 1);
    assert!(!told(flicker.clone(), &probes[0], &winds).1, "it flickers");
    // One hundred and forty others change, and it does not.
    let (flicker, _) = flicker.observe(&probes[0], &many("ships here", 140, 2));
    assert!(told(flicker, &many("ships here", 140, 2), &many("winds around", 140, 2)).1);
}

#[test]
fn a_summary_of_very_many_parts_says_how_many_more_there_are() {
    let (old, new) = (many("Box", 100, 1), many("Box", 100, 2));
    let (_, verdict) = Flicker::default().observe(&old, &new);
    let parts = &verdict.by_item()[0];
    let said = summary_of_all(parts, &Work::default());
    let n_said = said.matches('→').count();
    assert_eq!(parts.len(), 100);
    assert!(said.ends_with(&format!(" · {} more", 100 - n_said)), "{said}");
}
