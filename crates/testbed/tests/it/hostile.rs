//! Whatever is asked, and whenever, there is a response.

use dunlin_core::Time;
use dunlin_lab::files::TraceFile;
use dunlin_testbed::{FAULTS, Plan, Repeat, Request, Site, Speed};
use proptest::prelude::*;

fn target() -> impl Strategy<Value = String> {
    let parts = [
        "/",
        "pages",
        "feeds",
        "faults",
        "a",
        "é",
        "%",
        "%2",
        "%41",
        "%ff",
        "?",
        "&",
        "=",
        "#",
        ".xml",
        "_truth",
        "_fault",
        "after",
        "hop",
        "kind",
        "1",
        "-1",
        "1e300",
        "nan",
        "source",
        "for",
        "18446744073709551615",
    ];
    let part = prop_oneof![
        prop::sample::select(parts.to_vec()).prop_map(str::to_owned),
        prop::sample::select(FAULTS.to_vec()).prop_map(|(written, _)| written.replace(['[', ']'], "")),
        ".{0,3}",
    ];
    let truth = ["/_truth", "/_truth.csv", "/_truth?after=0", "/_truth?after=-9e11&source=A"];
    prop_oneof![
        1 => prop::sample::select(truth.to_vec()).prop_map(str::to_owned),
        9 => prop::collection::vec(part, 0..10).prop_map(|parts| parts.concat()),
        9 => (prop::sample::select(FAULTS.to_vec()), 0..40_u64).prop_map(|((written, _), number)| {
            let name = written.split([':', '[']).next().unwrap_or_default();
            let argument = if written.contains(':') { format!("/{number}") } else { String::new() };
            format!("/faults/{name}{argument}/a?kind=api&hop={number}")
        }),
    ]
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(
        target in target(),
        known in prop::option::of(".{0,12}"),
        now in prop_oneof![any::<i64>(), 0..4_000_000_000_000_000_i64],
        started in prop_oneof![any::<i64>(), Just(1_800_000_000_000_000)],
        times in prop::collection::btree_set(prop_oneof![0..1_000_i64, 0..i64::MAX], 0..5),
        from in prop::option::of(prop_oneof![any::<i64>(), 0..2_000_i64]),
        repeat in prop::sample::select(vec![Repeat::Never, Repeat::Always]),
        speed in 0.001..1e6,
        visit in any::<u64>(),
    ) {
        let times = vec![times.into_iter().collect(), vec![]];
        let trace = TraceFile { sources: vec!["a".into(), "A".into()], times, warnings: Vec::new() };
        let speed = Speed::new(speed).unwrap();
        let plan = Plan { repeat, from, speed, ..Plan::of(trace) };
        // A start beyond the end of days is refused.
        let Ok(mut site) = Site::new(plan, Time::from_micros(started)) else { return Ok(()) };
        let now = Time::from_micros(now);
        let known = known.as_deref();
        let request =
            Request { if_none_match: known, if_modified_since: known, visit, ..Request::get(&target) };
        let response = site.respond(&request, now);
        prop_assert!((200..600).contains(&response.status));
        prop_assert!(site.control(&target, now).status < 500);
        for source in ["a", "A"] {
            let response = site.respond(&Request::get(&format!("/feeds/{source}.xml")), now);
            prop_assert!((200..600).contains(&response.status));
        }
    }
}
