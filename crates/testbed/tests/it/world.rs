//! The demonstration: alive from the first second, for ever, and the same for the same seed.

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use dunlin_testbed::{Family, Kind, Request, Site, World};

const STARTED: Time = Time::from_seconds(1_800_000_000);

fn demo() -> Site {
    Site::new(World::demo(7).into_plan(), STARTED).unwrap()
}

fn n_changes(site: &Site, after: Time, now: Time) -> usize {
    (0..site.sources().len() as u32).map(|idx| site.changes(SourceIdx(idx), Some(after), now).count()).sum()
}

#[test]
fn something_happens_all_the_time() {
    let site = demo();
    assert_eq!(site.sources().len(), 24);
    let mut quiet = 0;
    for stretch in 0..60 {
        let from = STARTED.plus(Duration::from_secs(10 * stretch));
        quiet += usize::from(n_changes(&site, from, from.plus(Duration::from_secs(10))) < 5);
    }
    assert!(quiet <= 6, "{quiet} of 60 stretches of ten seconds had fewer than five changes");
    assert!(n_changes(&site, STARTED, STARTED.plus(Duration::from_secs(10))) >= 10);
}

#[test]
fn feeds_are_full_from_the_start_and_the_world_goes_on() {
    let site = demo();
    let a_month_later = STARTED.plus(Duration::from_hours(24 * 30));
    for id in site.sources() {
        let feed = site.respond(&Request::get(&Kind::Feed.path(id)), STARTED);
        assert_eq!(String::from_utf8(feed.body).unwrap().matches("<item>").count(), 10, "{id}");
        let last_day = Time::from_seconds(a_month_later.seconds() - 86_400);
        assert!(
            site.version(site.source(id).unwrap(), a_month_later)
                > site.version(site.source(id).unwrap(), last_day)
        );
    }
}

#[test]
fn the_same_seed_makes_the_same_world() {
    assert_eq!(World::demo(7), World::demo(7));
    assert_ne!(World::demo(7), World::demo(8));
}

fn titles(site: &Site, id: &str) -> Vec<String> {
    let source = site.source(id).unwrap();
    let changes: Vec<_> =
        site.changes(source, Some(STARTED), STARTED.plus(Duration::from_mins(20))).collect();
    let title = |at| {
        let state = site.respond(&Request::get(&Kind::Api.path(id)), at);
        let state: serde_json::Value = serde_json::from_slice(&state.body).unwrap();
        state["title"].as_str().unwrap().to_owned()
    };
    changes.into_iter().map(|change| title(change.at)).collect()
}

#[test]
fn bids_rise_until_the_hammer_falls() {
    let titles = titles(&demo(), "auction-harbour-antiques");
    let bid = |title: &str| -> u64 { title.rsplit(' ').next().unwrap().parse().unwrap() };
    let lot = |title: &str| title.split(':').next().unwrap().to_owned();
    assert!(titles.iter().any(|title| title.contains(", sold for ")));
    for pair in titles.windows(2) {
        if lot(&pair[0]) == lot(&pair[1]) {
            assert!(bid(&pair[0]) < bid(&pair[1]), "{pair:?}");
        } else {
            assert!(pair[0].contains(", sold for ") && pair[1].contains(", opens at "), "{pair:?}");
        }
    }
}

#[test]
fn matches_begin_and_end() {
    let titles = titles(&demo(), "match-harbour-stadium");
    let whole = titles.iter().skip_while(|title| !title.contains("kick-off")).take(40).collect::<Vec<_>>();
    assert!(whole[0].contains("0\u{2013}0") && whole[0].ends_with("kick-off (0')"), "{}", whole[0]);
    assert!(whole[20].contains("half-time"), "{}", whole[20]);
    assert!(whole[39].ends_with("full time (90')"), "{}", whole[39]);
}

#[test]
fn bulletins_come_at_the_same_minute_of_every_hour() {
    let world = World::demo(7);
    for (id, own) in world.trace.sources.iter().zip(&world.trace.times) {
        if world.families[id] == Family::Bulletin {
            let gaps = own.windows(2).map(|pair| pair[1] - pair[0]);
            assert!(gaps.clone().all(|gap| (3_540..=3_660).contains(&gap)), "{id}");
        }
    }
    assert!(titles(&demo(), "bulletin-harbour")[0].starts_with("Harbour bulletin 1"));
}
