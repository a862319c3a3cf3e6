//! A monitor that reads as Dunlin does sees every change in every form, and nothing else.

use std::time::Duration;

use dunlin_core::{SourceIdx, Time};
use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Change, Extractor, Input, Limits, detect};
use dunlin_testbed::{Kind, Request, Site, World};

const STARTED: Time = Time::from_seconds(1_800_000_000);

#[test]
fn every_change_is_seen_in_every_form() {
    let site = Site::new(World::demo(3).into_plan(), STARTED).unwrap();
    let read = |recipe: &Recipe, target: &str, at: Time| {
        let response = site.respond(&Request::get(target), at);
        let extractor = Extractor::new(recipe, &NoiseRules::default(), Limits::default()).unwrap();
        extractor.extract(&Input {
            body: &response.body,
            content_type: response.header("content-type"),
            url: None,
            last_charset: None,
        })
    };
    for (id, idx) in site.sources().iter().zip((0..).map(SourceIdx)) {
        let changes = site.changes(idx, Some(STARTED), STARTED.plus(Duration::from_mins(10))).take(6);
        for change in changes {
            let before = Time::from_micros(change.at.micros() - 1);
            for (recipe, kind) in [
                (Recipe::Auto, Kind::Page),
                (Recipe::HtmlMain, Kind::Page),
                (Recipe::Auto, Kind::Feed),
                (Recipe::Auto, Kind::Api),
            ] {
                let target = kind.path(id);
                let (old, new) = (read(&recipe, &target, before), read(&recipe, &target, change.at));
                let seen = detect(&old.items, &new.items);
                assert!(!seen.is_empty(), "{recipe:?} {target} version {}", change.version);
                if kind == Kind::Feed {
                    let added = seen.iter().filter(|change| matches!(change, Change::Added(_))).count();
                    assert_eq!((added, new.items.len()), (1, 10), "{target}");
                    assert_eq!(new.items[0].published.map(Time::seconds), Some(change.at.seconds()));
                }
            }
        }
    }
}
