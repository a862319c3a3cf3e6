//! Laws of politeness: never before the announced time, never too many at once, nothing forgotten by a restart.

use std::collections::BTreeMap;
use std::time::Duration;

use dunlin_core::Time;
use dunlin_net::politeness::{MayFetch, Outcome, Politeness, Reason, Rules, Scope, ScopeState, ScopedUrl};
use dunlin_net::{Error, Fetched, Phase, ResolveError, RetryAfter};
use proptest::prelude::*;
use url::Url;

fn url(text: &str) -> ScopedUrl {
    Url::parse(text).unwrap().into()
}

fn at(seconds: i64) -> Time {
    Time::from_seconds(1_700_000_000 + seconds)
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

const URLS: [&str; 5] = [
    "https://a.one.test/1",
    "https://a.one.test/2",
    "https://b.one.test/",
    "https://two.test/",
    "https://two.test:8443/x",
];

/// Something that happens, after a while.
#[derive(Debug, Clone)]
enum Event {
    Ask(usize),
    Finish(usize, Outcome),
    Restart,
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        4 => Just(Outcome::Fine),
        2 => prop::option::of((0_u64..400).prop_map(|s| RetryAfter::Delay(seconds(s))))
            .prop_map(|retry_after| Outcome::Limited { retry_after }),
        1 => Just(Outcome::Unreachable),
        1 => Just(Outcome::Broken),
        1 => Just(Outcome::LocalFailure),
        1 => Just(Outcome::Abandoned),
    ]
}

fn event() -> impl Strategy<Value = (i64, Event)> {
    let event = prop_oneof![
        5 => (0..URLS.len()).prop_map(Event::Ask),
        4 => (0..URLS.len(), outcome()).prop_map(|(n, outcome)| Event::Finish(n, outcome)),
        1 => Just(Event::Restart),
    ];
    (prop_oneof![0_i64..4, 0_i64..300], event)
}

fn rules() -> impl Strategy<Value = Rules> {
    let scope = || prop_oneof![Just(Scope::Url), Just(Scope::Host), Just(Scope::Domain)];
    (0_u64..20, 1_u32..4, scope(), scope()).prop_map(|(gap, concurrent, scope, limit_scope)| Rules {
        gap: seconds(gap),
        concurrent,
        scope,
        limit_scope,
        first_backoff: seconds(5),
        longest_backoff: seconds(100),
        longest_wait: seconds(300),
        forgive_after: seconds(200),
    })
}

/// What a restart leaves: what was to be stored, through the text it would be stored as.
fn restarted(politeness: &Politeness, rules: Rules, now: Time) -> Politeness {
    let urls = URLS.map(url);
    let stored: BTreeMap<&str, &ScopeState> = urls.iter().flat_map(|url| politeness.to_store(url)).collect();
    let text = serde_json::to_string(&stored).unwrap();
    let read: BTreeMap<String, ScopeState> = serde_json::from_str(&text).unwrap();
    let mut new = Politeness::new(rules, 7);
    new.restore(read);
    new.resume(now);
    new
}

proptest! {
    #[test]
    fn never_too_soon_and_never_too_many(rules in rules(), events in prop::collection::vec(event(), 1..80)) {
        let mut politeness = Politeness::new(rules, 7);
        let mut now = at(0);
        // A reference model that knows only the rules.
        let mut under_way: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut last_used: BTreeMap<String, Time> = BTreeMap::new();
        let mut closed_until: BTreeMap<String, Time> = BTreeMap::new();
        let mut announced: BTreeMap<usize, Time> = BTreeMap::new();
        for (pause, event) in events {
            now = now.plus(seconds(pause.unsigned_abs()));
            match event {
                Event::Ask(n) => {
                    let url = url(URLS[n]);
                    let place = rules.scope.key(url.url());
                    match politeness.may_fetch(&url, now) {
                        MayFetch::Go => {
                            let running = under_way.entry(place.clone()).or_default();
                            prop_assert!(running.len() < rules.concurrent as usize, "too many at once");
                            let free = last_used.get(&place).map(|last| last.plus(rules.gap));
                            prop_assert!(free.is_none_or(|free| free <= now), "within the gap");
                            let open = closed_until.get(&rules.limit_scope.key(url.url()));
                            prop_assert!(open.is_none_or(|until| *until <= now), "before Retry-After");
                            let promised = announced.get(&n);
                            prop_assert!(promised.is_none_or(|time| *time <= now), "before the announced time");
                            running.push(n);
                            politeness.started(&url, now);
                            last_used.insert(place, now);
                        }
                        MayFetch::NotBefore(until, reason) => {
                            prop_assert!(until > now, "a wait that is already over");
                            if reason != Reason::Busy {
                                announced.insert(n, until);
                            }
                        }
                    }
                }
                Event::Finish(n, outcome) => {
                    let place = rules.scope.key(url(URLS[n]).url());
                    let running = under_way.entry(place.clone()).or_default();
                    let Some(found) = running.iter().position(|&running| running == n) else { continue };
                    running.remove(found);
                    let url = url(URLS[n]);
                    politeness.finished(&url, outcome, now);
                    last_used.insert(place, now);
                    if let Outcome::Limited { retry_after: Some(after) } = outcome {
                        let until = after.not_before(now).min(now.plus(rules.longest_wait));
                        let closed = closed_until.entry(rules.limit_scope.key(url.url())).or_insert(until);
                        *closed = until.max(*closed);
                    }
                }
                Event::Restart => {
                    politeness = restarted(&politeness, rules, now);
                    under_way.clear();
                }
            }
        }
    }

    #[test]
    fn a_request_that_waits_long_enough_is_allowed(rules in rules(), outcomes in prop::collection::vec((0..URLS.len(), outcome()), 1..40)) {
        let mut politeness = Politeness::new(rules, 7);
        let mut now = at(0);
        for (n, outcome) in outcomes {
            let url = url(URLS[n]);
            // Gap, back-off and Retry-After of up to three scopes: each can occur once.
            for _ in 0..4 {
                if let MayFetch::NotBefore(until, _) = politeness.may_fetch(&url, now) {
                    now = until;
                }
            }
            prop_assert_eq!(politeness.may_fetch(&url, now), MayFetch::Go);
            politeness.started(&url, now);
            politeness.finished(&url, outcome, now);
        }
        // And everything is forgotten in the end.
        let end = now.plus(Duration::from_hours(1));
        politeness.forget(end);
        prop_assert_eq!(politeness.entries().count(), 0);
    }

    #[test]
    fn forgetting_and_restarting_change_no_answer_but_that_the_gap_comes_first(rules in rules(), steps in prop::collection::vec((0..URLS.len(), outcome(), 0_u64..400), 1..40)) {
        let mut kept = Politeness::new(rules, 7);
        let mut pruned = kept.clone();
        let mut now = at(0);
        for (n, outcome, pause) in steps {
            now = now.plus(seconds(pause));
            pruned.forget(now);
            pruned = restarted(&pruned, rules, now);
            let url = url(URLS[n]);
            let gap_over = now.plus(rules.gap);
            match (kept.may_fetch(&url, now), pruned.may_fetch(&url, now)) {
                (MayFetch::NotBefore(until, reason), answer) if until > gap_over => {
                    prop_assert_eq!(answer, MayFetch::NotBefore(until, reason));
                }
                (_, MayFetch::NotBefore(until, reason)) => prop_assert_eq!((until, reason), (gap_over, Reason::Gap)),
                (answer, MayFetch::Go) => prop_assert!(answer == MayFetch::Go && rules.gap.is_zero()),
            }
            for politeness in [&mut kept, &mut pruned] {
                politeness.started(&url, now);
                politeness.finished(&url, outcome, now);
            }
        }
    }
}

#[test]
fn a_scope_is_stored_for_more_than_the_time_of_its_last_request() {
    let mut politeness = Politeness::new(Rules::default(), 1);
    let (fine, limited) = (url("https://fine.test/"), url("https://limited.test/"));
    for (url, outcome) in [(&fine, Outcome::Fine), (&limited, Outcome::Limited { retry_after: None })] {
        politeness.started(url, at(0));
        politeness.finished(url, outcome, at(0));
    }
    assert_eq!(politeness.to_store(&fine).count(), 0);
    assert_eq!(politeness.to_store(&limited).count(), 1);
    // What is over must not come back with the next process either.
    politeness.started(&limited, at(100));
    politeness.finished(&limited, Outcome::Fine, at(100));
    assert_eq!(politeness.to_store(&limited).count(), 1);
    politeness.set_gap(&fine, Some(seconds(60)));
    assert_eq!(politeness.to_store(&fine).count(), 1);
}

#[test]
fn retry_after_120_means_120_seconds() {
    let mut politeness = Politeness::new(Rules::default(), 1);
    let page = url("https://example.test/page");
    for retry_after in [RetryAfter::Delay(seconds(120)), RetryAfter::At(at(120))] {
        politeness.started(&page, at(0));
        politeness.finished(&page, Outcome::Limited { retry_after: Some(retry_after) }, at(0));
        for second in 0..120 {
            let answer = politeness.may_fetch(&url("https://example.test/other"), at(second));
            assert_eq!(answer, MayFetch::NotBefore(at(120), Reason::RetryAfter), "after {second} s");
        }
        assert_eq!(politeness.may_fetch(&page, at(120)), MayFetch::Go);
        assert_eq!(politeness.may_fetch(&url("https://elsewhere.test/"), at(1)), MayFetch::Go);
        politeness = Politeness::new(Rules::default(), 1);
    }
}

#[test]
fn the_scope_of_a_limit_is_selectable() {
    for (limit_scope, same_host, same_domain) in
        [(Scope::Url, true, true), (Scope::Host, false, true), (Scope::Domain, false, false)]
    {
        let mut politeness = Politeness::new(Rules { limit_scope, ..Rules::default() }, 1);
        let limited = url("https://a.example.test/1");
        politeness.started(&limited, at(0));
        politeness.finished(&limited, Outcome::Limited { retry_after: None }, at(0));
        let mut goes = |text| politeness.may_fetch(&url(text), at(10)) == MayFetch::Go;
        assert!(!goes("https://a.example.test/1"));
        assert_eq!(goes("https://a.example.test/2"), same_host, "{limit_scope:?}");
        assert_eq!(goes("https://b.example.test/"), same_domain, "{limit_scope:?}");
    }
}

#[test]
fn failures_double_the_pause_and_quiet_forgives_them() {
    let rules = Rules::default();
    let mut politeness = Politeness::new(rules, 1);
    let page = url("https://example.test/");
    let mut now = at(0);
    let fail = |politeness: &mut Politeness, now: &mut Time| {
        politeness.started(&page, *now);
        politeness.finished(&page, Outcome::Unreachable, *now);
        let MayFetch::NotBefore(until, Reason::Backoff) = politeness.may_fetch(&page, *now) else { panic!() };
        let pause = until.since(*now);
        *now = until;
        pause
    };
    let pauses: Vec<Duration> = (0..12).map(|_| fail(&mut politeness, &mut now)).collect();
    for pair in pauses.windows(2) {
        assert!(
            pair[1] > pair[0].mul_f64(1.4) || pair[1] > rules.longest_backoff.mul_f64(0.74),
            "{pauses:?}"
        );
    }
    assert!(pauses.iter().all(|pause| *pause <= rules.longest_backoff));
    // Shortly after, it still counts; after the quiet time, it does not.
    now = now.plus(rules.forgive_after / 2);
    assert!(fail(&mut politeness, &mut now) > rules.first_backoff * 10);
    now = now.plus(rules.forgive_after);
    assert!(fail(&mut politeness, &mut now) <= rules.first_backoff);
}

#[test]
fn a_server_that_says_come_at_once_does_not_cause_a_hot_loop() {
    let rules = Rules::default();
    let mut politeness = Politeness::new(rules, 1);
    let page = url("https://example.test/");
    politeness.started(&page, at(0));
    let at_once = Outcome::Limited { retry_after: Some(RetryAfter::Delay(Duration::ZERO)) };
    politeness.finished(&page, at_once, at(0));
    let until = at(0).plus(rules.first_backoff);
    assert_eq!(politeness.may_fetch(&page, at(0)), MayFetch::NotBefore(until, Reason::RetryAfter));
    // And one that says "next century" is asked again tomorrow.
    let mut politeness = Politeness::new(rules, 1);
    politeness.started(&page, at(0));
    let never = Outcome::Limited { retry_after: Some(RetryAfter::Delay(seconds(u64::from(u32::MAX)))) };
    politeness.finished(&page, never, at(0));
    let until = at(0).plus(rules.longest_wait);
    assert_eq!(politeness.may_fetch(&page, at(0)), MayFetch::NotBefore(until, Reason::RetryAfter));
}

/// Requests that were in flight when the server asked to be left alone end one way or another; none of them shortens the pause.
#[test]
fn a_late_answer_does_not_lift_a_limit() {
    let limited =
        |wait: u64| Outcome::Limited { retry_after: Some(RetryAfter::Delay(Duration::from_secs(wait))) };
    let bare = Outcome::Limited { retry_after: None };
    for late in [Outcome::Fine, Outcome::Broken, Outcome::LocalFailure, limited(30), bare] {
        let rules = Rules { concurrent: 2, gap: Duration::ZERO, limit_scope: Scope::Url, ..Rules::default() };
        let mut politeness = Politeness::new(rules, 1);
        let page = url("https://example.test/");
        politeness.started(&page, at(0));
        politeness.started(&page, at(0));
        politeness.finished(&page, limited(600), at(0));
        politeness.finished(&page, late, at(2));
        let until = MayFetch::NotBefore(at(600), Reason::RetryAfter);
        assert_eq!(politeness.may_fetch(&page, at(60)), until, "{late:?}");
    }
}

#[test]
fn a_broken_page_does_not_stop_its_host() {
    let mut politeness = Politeness::new(Rules::default(), 1);
    let (broken, fine) = (url("https://example.test/broken"), url("https://example.test/fine"));
    politeness.started(&broken, at(0));
    politeness.finished(&broken, Outcome::Broken, at(0));
    assert!(matches!(politeness.may_fetch(&broken, at(10)), MayFetch::NotBefore(_, Reason::Backoff)));
    assert_eq!(politeness.may_fetch(&fine, at(10)), MayFetch::Go);
}

#[test]
fn our_own_outage_is_not_held_against_anyone() {
    let rules = Rules::default();
    let mut politeness = Politeness::new(rules, 1);
    let page = url("https://example.test/");
    let mut now = at(0);
    for _ in 0..100 {
        politeness.started(&page, now);
        politeness.finished(&page, Outcome::LocalFailure, now);
        let MayFetch::NotBefore(until, reason) = politeness.may_fetch(&page, now) else { panic!() };
        assert_eq!((until.since(now), reason), (rules.first_backoff, Reason::LocalFailure));
        now = until;
    }
    assert_eq!(politeness.may_fetch(&page, now), MayFetch::Go);
}

#[test]
fn our_own_outage_does_not_bring_back_what_was_forgiven() {
    let rules = Rules::default();
    let mut politeness = Politeness::new(rules, 1);
    let page = url("https://example.test/");
    let mut end = |outcome, now| {
        politeness.started(&page, now);
        politeness.finished(&page, outcome, now);
        let MayFetch::NotBefore(until, _) = politeness.may_fetch(&page, now) else { panic!() };
        until
    };
    let mut now = at(0);
    for _ in 0..5 {
        now = end(Outcome::Unreachable, now);
    }
    now = end(Outcome::LocalFailure, now.plus(rules.forgive_after));
    assert!(end(Outcome::Unreachable, now).since(now) <= rules.first_backoff);
}

#[test]
fn fetches_that_fail_say_what_to_do_about_the_host() {
    let host = || "h.test".to_owned();
    let of = |error| Outcome::of(&Err(error));
    let resolve = |reason| of(Error::Resolve { host: host(), reason });
    let timed_out = |phase| of(Error::TimedOut { host: host(), phase, limit: seconds(1) });
    assert_eq!(resolve(ResolveError::NoSuchHost), Outcome::Unreachable);
    assert_eq!(resolve(ResolveError::Unreachable), Outcome::LocalFailure);
    assert_eq!(timed_out(Phase::FirstByte), Outcome::Unreachable);
    assert_eq!(timed_out(Phase::Queue), Outcome::LocalFailure);
    assert_eq!(of(Error::Truncated { host: host(), received: 1, expected: None }), Outcome::Broken);
    assert_eq!(of(Error::BadHeader { name: host() }), Outcome::Abandoned);
    let connect = |kind: std::io::ErrorKind| of(Error::Connect { host: host(), reason: kind.into() });
    assert_eq!(connect(std::io::ErrorKind::ConnectionRefused), Outcome::Unreachable);
    assert_eq!(connect(std::io::ErrorKind::NetworkUnreachable), Outcome::LocalFailure);
}

#[test]
fn a_site_can_ask_for_longer_gaps_but_not_shorter_ones() {
    let mut politeness = Politeness::new(Rules::default(), 1);
    let page = url("https://example.test/");
    for (own, expected) in [(Some(10), 10), (Some(0), 2), (None, 2)] {
        politeness.set_gap(&page, own.map(seconds));
        politeness.started(&page, at(0));
        politeness.finished(&page, Outcome::Fine, at(0));
        assert_eq!(politeness.may_fetch(&page, at(0)), MayFetch::NotBefore(at(expected), Reason::Gap));
    }
}

#[test]
fn a_clock_set_back_makes_no_wait_longer() {
    let mut politeness = Politeness::new(Rules::default(), 1);
    let page = url("https://example.test/");
    politeness.started(&page, at(1_000_000));
    let limited = Outcome::Limited { retry_after: Some(RetryAfter::Delay(seconds(120))) };
    politeness.finished(&page, limited, at(1_000_000));
    assert_eq!(politeness.may_fetch(&page, at(0)), MayFetch::NotBefore(at(120), Reason::RetryAfter));
    assert_eq!(politeness.may_fetch(&page, at(50)), MayFetch::NotBefore(at(120), Reason::RetryAfter));
    assert_eq!(politeness.may_fetch(&page, at(120)), MayFetch::Go);
}

#[test]
fn the_scopes_of_a_url_have_to_be_stored() {
    let rules = Rules { limit_scope: Scope::Domain, ..Rules::default() };
    let mut politeness = Politeness::new(rules, 1);
    let page = url("https://a.example.test/1?key=s3cret");
    politeness.started(&page, at(0));
    politeness.finished(&page, Outcome::Limited { retry_after: None }, at(0));
    politeness.started(&url("https://other.test/"), at(0));
    let names: Vec<&str> = politeness.concerning(&page).map(|(name, _)| name).collect();
    assert_eq!(names, ["host a.example.test", "domain example.test"]);
    assert!(!format!("{politeness:?}").contains("s3cret"));
}

#[test]
fn a_hold_on_a_scope_is_distinct_from_a_hold_on_one_url() {
    let url = |path: &str| url(&format!("https://a.example/{path}"));
    let rules = Rules::default();
    let mut politeness = Politeness::new(rules, 1);
    let start = Time::from_seconds(1_000_000);
    assert_eq!(politeness.scope_hold(&url("a"), start), None);
    politeness.started(&url("a"), start);
    politeness.finished(&url("a"), Outcome::Broken, start);
    let after_gap = start.plus(rules.gap);
    assert_eq!(politeness.scope_hold(&url("a"), start), Some((after_gap, Reason::Gap)));
    assert_eq!(politeness.scope_hold(&url("a"), after_gap), None, "only the URL itself is held");
    assert!(matches!(politeness.may_fetch(&url("a"), after_gap), MayFetch::NotBefore(_, Reason::Backoff)));

    politeness.started(&url("b"), after_gap);
    let retry_after = Some(RetryAfter::Delay(Duration::from_mins(5)));
    politeness.finished(&url("b"), Outcome::Limited { retry_after }, after_gap);
    let until = after_gap.plus(Duration::from_mins(5));
    assert_eq!(politeness.scope_hold(&url("c"), after_gap), Some((until, Reason::RetryAfter)));
}

/// Asks for a page at `now` with this outcome, and says when it may be asked again.
fn asked(politeness: &mut Politeness, page: &ScopedUrl, outcome: Outcome, now: Time) -> Time {
    politeness.started(page, now);
    politeness.finished(page, outcome, now);
    match politeness.may_fetch(page, now) {
        MayFetch::NotBefore(until, _) => until,
        MayFetch::Go => now,
    }
}

#[test]
fn a_page_that_works_again_has_its_failures_forgotten_and_its_host_has_not() {
    let rules = Rules::default();
    for (outcome, is_forgotten) in [(Outcome::Broken, true), (Outcome::Unreachable, false)] {
        let mut politeness = Politeness::new(rules, 1);
        let page = url("https://example.test/page");
        let mut now = at(0);
        for _ in 0..5 {
            now = asked(&mut politeness, &page, outcome, now);
        }
        now = asked(&mut politeness, &page, Outcome::Fine, now);
        let pause = asked(&mut politeness, &page, outcome, now).since(now);
        assert_eq!(pause <= rules.first_backoff, is_forgotten, "{outcome:?}: {pause:?}");
    }
}

#[test]
fn requests_that_fail_together_are_one_failure() {
    let rules = Rules { concurrent: 2, ..Rules::default() };
    let mut politeness = Politeness::new(rules, 1);
    let page = url("https://example.test/");
    politeness.started(&page, at(0));
    politeness.started(&page, at(0));
    politeness.finished(&page, Outcome::Unreachable, at(0));
    politeness.finished(&page, Outcome::Unreachable, at(1));
    let MayFetch::NotBefore(now, _) = politeness.may_fetch(&page, at(1)) else { panic!() };
    let pause = asked(&mut politeness, &page, Outcome::Unreachable, now).since(now);
    assert!(pause <= rules.first_backoff * 2, "the second failure, not the third: {pause:?}");
}

#[test]
fn a_gap_that_a_site_asks_for_is_at_most_a_day_and_outlasts_quiet_and_restarts() {
    let rules = Rules::default();
    let (page, later) = (url("https://example.test/"), at(1_000_000));
    let mut politeness = Politeness::new(rules, 1);
    politeness.set_gap(&page, Some(Duration::from_hours(48)));
    assert_eq!(asked(&mut politeness, &page, Outcome::Fine, at(0)), at(86_400));
    politeness.set_gap(&page, Some(seconds(300)));
    assert_eq!(politeness.forget(later), Vec::<String>::new(), "it has to be kept to for ever");
    assert_eq!(asked(&mut politeness, &page, Outcome::Fine, later), later.plus(seconds(300)));

    let stored: Vec<(String, ScopeState)> =
        politeness.to_store(&page).map(|(name, state)| (name.to_owned(), state.clone())).collect();
    let mut next = Politeness::new(rules, 1);
    next.restore(stored);
    let restarted = later.plus(Duration::from_hours(1));
    next.resume(restarted);
    let until = restarted.plus(seconds(300));
    assert_eq!(next.may_fetch(&page, restarted), MayFetch::NotBefore(until, Reason::Gap));
    // Where nothing was asked for, the usual gap passes first.
    let other = url("https://other.test/");
    let until = restarted.plus(rules.gap);
    assert_eq!(next.may_fetch(&other, restarted), MayFetch::NotBefore(until, Reason::Gap));
}

#[test]
fn for_a_host_reached_through_others_only_explicit_answers_count() {
    let wait = Outcome::Limited { retry_after: Some(RetryAfter::Delay(seconds(60))) };
    for outcome in [Outcome::Fine, wait] {
        assert_eq!(outcome.explicit_only(), outcome);
    }
    let bare = Outcome::Limited { retry_after: None };
    for outcome in [bare, Outcome::Unreachable, Outcome::Broken, Outcome::LocalFailure, Outcome::Abandoned] {
        assert_eq!(outcome.explicit_only(), Outcome::Abandoned, "{outcome:?}");
    }
}

#[test]
fn what_an_answer_asks_for_is_read_from_its_status_and_retry_after() {
    let of = |status: u16, retry_after: Option<&str>| {
        let mut answer = http::Response::builder().status(status);
        if let Some(seconds) = retry_after {
            answer = answer.header("retry-after", seconds);
        }
        let url = Url::parse("https://example.test/").unwrap();
        Outcome::of(&Ok(Fetched::from_response(answer.body("".into()).unwrap(), url, Vec::new())))
    };
    let wait = Some(RetryAfter::Delay(seconds(60)));
    for (status, bare, with_header) in [
        (200, Outcome::Fine, Outcome::Fine),
        (304, Outcome::Fine, Outcome::Fine),
        (404, Outcome::Fine, Outcome::Limited { retry_after: wait }),
        (429, Outcome::Limited { retry_after: None }, Outcome::Limited { retry_after: wait }),
        (500, Outcome::Broken, Outcome::Limited { retry_after: wait }),
        (503, Outcome::Limited { retry_after: None }, Outcome::Limited { retry_after: wait }),
    ] {
        assert_eq!(of(status, None), bare, "{status}");
        assert_eq!(of(status, Some("60")), with_header, "{status}");
    }
}
