//! Queries over a trace small enough to work out every interval by hand; then the laws of what is drawn, and refusals.

use std::num::NonZeroU32;
use std::time::Duration;

use dunlin_core::{Budget, Costs};
use dunlin_lab::Error;
use dunlin_lab::files::{Epoch, IntervalsFile, TraceFile, read_query_text};
use dunlin_lab::generate::{Poisson, Rate, Span};
use dunlin_lab::planners::PlannerName;
use dunlin_lab::policies::{PolicyChoice, PolicyName};
use dunlin_lab::queries::{CompiledQueries, Whens, compile, parse_over};
use dunlin_lab::simulate::{self, Setup};
use dunlin_sched::plan::intervals::Instance;
use dunlin_sched::policy::Preemption;
use dunlin_sched::score::check_budget;

/// In chronons of a minute, `blog` changes in 1, 4 and 11 (twice), `news` in 3 and 12, `rates` in 2.
const TRACE: &str = "source,time\nblog,30\nblog,200\nblog,615\nblog,640\nnews,130\nnews,700\nrates,65\n";

const EPOCH: Epoch = epoch(0, 20);

const fn epoch(start: i64, chronons: u32) -> Epoch {
    Epoch { start, chronon_seconds: NonZeroU32::new(60).unwrap(), chronons }
}

fn compiled(text: &str, share: f64) -> CompiledQueries {
    let trace = TraceFile::read(TRACE.as_bytes(), "trace").unwrap();
    let queries = parse_over(text, &trace).unwrap_or_else(|refused| panic!("{}", refused.render(text)));
    compile(&queries, &trace, EPOCH, Whens { share, seed: 1 }).unwrap()
}

/// The lines of the file that one query comes to, without the name of the query, and how many instances were left out.
fn lines(rest: &str) -> (Vec<String>, usize) {
    let compiled = compiled(&format!("QUERY q {rest}"), 1.0);
    (
        written(&compiled).lines().skip(1).map(|line| line.replacen("q,", "", 1)).collect(),
        compiled.queries[0].left_out,
    )
}

fn written(compiled: &CompiledQueries) -> String {
    let mut bytes = Vec::new();
    compiled.needs.write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn all(expected: &[&str]) -> (Vec<String>, usize) {
    (expected.iter().map(|line| (*line).to_owned()).collect(), 0)
}

#[test]
fn instances_begin_by_the_clock() {
    let every = |rest: &str| lines(&format!("SELECT item AS a FROM source 'blog' {rest}"));
    // Two minutes are two chronons, and without a length the interval goes on until the next one begins.
    let within = ["0,blog,1,2", "300,blog,6,7", "600,blog,11,12", "900,blog,16,17"];
    assert_eq!(every("EVERY 5 MINUTES WITHIN 2 MINUTES"), all(&within));
    assert_eq!(
        every("EVERY 5 MINUTES"),
        all(&["0,blog,1,5", "300,blog,6,10", "600,blog,11,15", "900,blog,16,20"])
    );
    assert_eq!(every("EVERY 5 MINUTES WITHIN 2 MINUTES FOR 10 MINUTES"), all(&within[..2]));
    assert_eq!(every("EVERY 5 MINUTES WITHIN 2 MINUTES UNTIL 1970-01-01T00:15"), all(&within[..3]));
    assert_eq!(
        every("AT 00:02, 00:12 IN '+00:00' OVERWRITTEN"),
        all(&["120,blog,3,3", "720,blog,13,20"]),
        "until the change in chronon 4, and until the end"
    );
    // An interval that ends within its first chronon is that chronon; the last one outlasts the epoch.
    assert_eq!(every("EVERY 10 MINUTES WITHIN 5 SECONDS"), all(&["0,blog,1,1", "600,blog,11,11"]));
    assert_eq!(every("AT 00:19 WITHIN 5 MINUTES"), all(&["1140,blog,20,24"]));
}

#[test]
fn instances_begin_with_true_changes() {
    let on_change = |rest: &str| lines(&format!("SELECT item AS a FROM source 'blog' ON CHANGE {rest}"));
    assert_eq!(on_change("OVERWRITTEN"), all(&["30,blog,1,3", "200,blog,4,10", "615,blog,11,20"]));
    assert_eq!(on_change(""), on_change("OVERWRITTEN"));
    // From second 30 to 150, 200 to 320, 615 to 735: the chronons that end by then.
    assert_eq!(on_change("WITHIN 2 MINUTES"), all(&["30,blog,1,2", "200,blog,4,5", "615,blog,11,12"]));
}

#[test]
fn a_change_that_is_wanted_too_begins_its_interval_when_it_comes() {
    let auctions = |of: &str| {
        lines(&format!(
            "{of} SELECT value AS one FROM source 'blog' ON CHANGE
             SELECT value AS two FROM source 'news' ON CHANGE
             SELECT value AS three FROM source 'rates' ON CHANGE WITHIN 19 MINUTES"
        ))
    };
    let first = ["30,blog,1,3", "30,news,3,11", "30,rates,2,19"];
    // After second 200, `rates` does not change again, so nobody can have all three.
    assert_eq!(auctions("ALL OF"), (all(&first).0, 2));
    let expected = [
        "30,blog,1,3,1,2",
        "30,news,3,11,1,2",
        "30,rates,2,19,1,2",
        "200,blog,4,10,1,2",
        "200,news,12,20,1,2",
        "615,blog,11,20,1,2",
        "615,news,12,20,1,2",
    ];
    assert_eq!(auctions("ANY 2 OF"), all(&expected));
    let in_time = |minutes: u32| {
        lines(&format!(
            "SELECT value AS one FROM source 'rates' ON CHANGE
             SELECT value AS two FROM source 'news' ON CHANGE WITHIN {minutes} MINUTES WEIGHT 2.5"
        ))
    };
    // From second 65 on, `news` changes in chronon 3: two minutes end with it, and one ends before it does.
    assert_eq!(in_time(2), all(&["65,rates,2,20,2.5,2", "65,news,3,3,2.5,2"]));
    assert_eq!(in_time(1), (Vec::new(), 1));
}

#[test]
fn others_begin_at_their_own_times() {
    let later = |time: &str| {
        lines(&format!(
            "SELECT item AS a FROM source 'blog' EVERY 10 MINUTES WITHIN 1 MINUTE
             SELECT value AS b FROM source 'news' {time}"
        ))
    };
    let expected = ["0,blog,1,1", "0,news,16,17", "600,blog,11,11", "600,news,16,17"];
    assert_eq!(later("AT 00:15 WITHIN 2 MINUTES"), all(&expected));
    // The second instance waits for tomorrow.
    assert_eq!(later("AT 00:08 WITHIN 2 MINUTES"), (all(&["0,blog,1,1", "0,news,9,10"]).0, 1));
    // Without a start, with the instance; without a length, until the source changes in a later chronon.
    assert_eq!(later(""), all(&["0,blog,1,1", "0,news,1,2", "600,blog,11,11", "600,news,11,11"]));
}

const OIL: &str = "QUERY oil ANY 3 OF
    SELECT item AS post FROM feed 'https://x.example/blog' EVERY 10 MINUTES WITHIN 2 MINUTES
    SELECT item AS news FROM source 'news' WHEN post CONTAINS 'oil' WITHIN 10 MINUTES
    SELECT value AS rate FROM source 'rates' WHEN post CONTAINS 'oil'
    WEIGHT 2";

#[test]
fn a_when_belongs_to_an_instance_if_it_is_drawn() {
    let expected = "profile,cei,resource,start,finish,weight,need\n\
        oil,0,blog,1,2,2,3\noil,0,news,1,10,2,3\noil,0,rates,1,1,2,3\n\
        oil,600,blog,11,12,2,3\noil,600,news,11,20,2,3\noil,600,rates,11,20,2,3\n";
    assert_eq!(written(&compiled(OIL, 1.0)), expected);
    let alone = "profile,cei,resource,start,finish,weight,need\noil,0,blog,1,2,2,1\noil,600,blog,11,12,2,1\n";
    assert_eq!(written(&compiled(OIL, 0.0)), alone);
}

#[test]
fn a_when_waits_for_what_it_asks_about() {
    let after = |whens: &str| {
        lines(&format!(
            "SELECT item AS a FROM source 'blog' AT 00:01 WITHIN 1 MINUTE
             SELECT value AS b FROM source 'news' AT 00:05 WITHIN 1 MINUTE
             SELECT value AS c FROM source 'rates' ON CHANGE WITHIN 5 MINUTES
             SELECT value AS d FROM source 'rates' WHEN {whens} WITHIN 2 MINUTES"
        ))
    };
    let with = |d: &str| all(&["60,blog,2,2", "60,news,6,6", "60,rates,2,6", d]);
    assert_eq!(after("a CONTAINS 'x'"), with("60,rates,2,3"));
    assert_eq!(after("a CONTAINS 'x' OR b > 1"), with("60,rates,6,7"));
    // The change that it asks about comes at second 65.
    assert_eq!(after("c > 1"), with("60,rates,2,3"));
}

#[test]
fn a_when_about_what_is_left_out_is_left_out_unless_it_may_hold_without() {
    let trace = TraceFile::read(TRACE.as_bytes(), "trace").unwrap();
    let sources = |whens: &str| {
        let text = format!(
            "QUERY q SELECT value AS a FROM source 'blog' EVERY 1 MINUTE
                     SELECT value AS b FROM source 'news' WHEN a > 1
                     SELECT value AS c FROM source 'rates' WHEN {whens}"
        );
        let queries = parse_over(&text, &trace).unwrap();
        let compiled = compile(&queries, &trace, epoch(0, 1000), Whens { share: 0.5, seed: 1 }).unwrap();
        let ranks = compiled.needs.workload.ceis().map(|cei| {
            let has = |name: &str| {
                cei.intervals.iter().any(|it| compiled.needs.resources[it.source().index()] == name)
            };
            (has("news"), has("rates"))
        });
        let ranks: Vec<_> = ranks.collect();
        [(false, false), (false, true), (true, false), (true, true)]
            .map(|kind| ranks.iter().filter(|rank| **rank == kind).count())
    };
    let near = |counts: [usize; 4], shares: [f64; 4]| {
        let is_near = |(count, share): (usize, f64)| (count as f64 - 1000.0 * share).abs() < 60.0;
        assert!(counts.into_iter().zip(shares).all(is_near), "{counts:?}, not {shares:?}");
    };
    near(sources("a > 1"), [0.5, 0.0, 0.0, 0.5]);
    near(sources("a > 2"), [0.25; 4]);
    near(sources("b > 1"), [0.5, 0.0, 0.25, 0.25]);
    near(sources("b > 1 AND a > 1"), [0.5, 0.0, 0.25, 0.25]);
    near(sources("b > 1 OR a > 2"), [0.25; 4]);
    near(sources("NOT (b > 1 OR a > 2)"), [0.5, 0.0, 0.25, 0.25]);
    near(sources("NOT (b > 1 AND a > 2)"), [0.25; 4]);
}

/// A made-up trace of two days, and queries of every kind over it.
fn busy() -> (TraceFile, Epoch, String) {
    let span = Span { sources: 12, seconds: 2 * 86_400 };
    let trace = Poisson { span, rate: Rate { per_day: 40.0, spread: 1.0 } }.generate(5).unwrap();
    let name = |n: usize| &trace.sources[n];
    let text = format!(
        "QUERY portal
           SELECT item AS post FROM source '{}' EVERY 3 MINUTES WITHIN 2 MINUTES
           SELECT item AS news FROM source '{}' WHEN post CONTAINS '%oil%' WITHIN 10 MINUTES
           SELECT item AS money FROM source '{}' WHEN post CONTAINS '%oil%' WITHIN 10 MINUTES
           WEIGHT 3
         QUERY auctions ANY 2 OF
           SELECT value AS one FROM source '{}' ON CHANGE
           SELECT value AS two FROM source '{}' ON CHANGE WITHIN 20 MINUTES
           SELECT value AS three FROM source '{}' ON CHANGE
         QUERY daily
           SELECT value AS price FROM source '{}' AT 09:00, 17:30
           SELECT value AS soon FROM source '{}' WITHIN 5 MINUTES
           WEIGHT 0.1",
        name(0),
        name(1),
        name(2),
        name(3),
        name(4),
        name(5),
        name(0),
        name(7)
    );
    (trace, epoch(0, 2880), text)
}

#[test]
fn a_larger_share_only_adds_and_an_instance_does_not_depend_on_where_the_epoch_begins() {
    let (trace, epoch, text) = busy();
    let queries = parse_over(&text, &trace).unwrap();
    let of_portal = |epoch: Epoch, share: f64| -> Vec<(String, usize)> {
        let needs = compile(&queries[..1], &trace, epoch, Whens { share, seed: 3 }).unwrap().needs;
        needs.ceis.iter().cloned().zip(needs.workload.ceis().map(|cei| cei.intervals.len())).collect()
    };
    let (some, more) = (of_portal(epoch, 0.3), of_portal(epoch, 0.4));
    assert!(some.iter().zip(&more).all(|(some, more)| some.0 == more.0 && some.1 <= more.1));
    assert!(more.iter().filter(|it| it.1 == 3).count() > some.iter().filter(|it| it.1 == 3).count());
    let second_day = of_portal(self::epoch(86_400, 1440), 0.3);
    assert_eq!(second_day, some[480..]);
}

#[test]
fn every_policy_and_planner_keeps_the_budget_and_is_counted_by_query() {
    let (trace, epoch, text) = busy();
    let queries = parse_over(&text, &trace).unwrap();
    let compiled = compile(&queries, &trace, epoch, Whens { share: 0.5, seed: 0 }).unwrap();
    let workload = &compiled.needs.workload;
    assert!(workload.n_ceis() > 1000 && compiled.queries.iter().all(|query| query.instances > 0));
    let budget = Budget::constant(0.3).unwrap();
    let costs = Costs::uniform();
    let setup = |name| Setup {
        policy: PolicyChoice { name, preemption: Preemption::Preemptive },
        budget: budget.clone(),
        costs: Costs::uniform(),
        chronons: epoch.chronons,
        seed: 0,
    };
    let mut runs = Vec::new();
    for name in PolicyName::ALL.into_iter().filter(|name| !name.wants_changes()) {
        runs.push((name.to_string(), simulate::intervals(workload, 0, &setup(name), |_| ()).unwrap()));
    }
    let instance = Instance { workload, chronons: epoch.chronons, budget: &budget, costs: &costs };
    let plan = PlannerName::Offline.plan(instance, 0, Duration::from_secs(20)).unwrap();
    let bound = plan.guarantee.unwrap().bound;
    runs.push(("offline".to_owned(), plan.run));
    for (name, run) in runs {
        assert!(check_budget(&run.schedule, &budget, &costs, epoch.chronons).is_ok(), "{name}");
        assert!(run.score.weight_captured <= bound, "{name}: {} of {bound}", run.score.weight_captured);
        let captured = compiled.captured(&run.schedule);
        assert_eq!(captured.iter().sum::<usize>(), run.score.captured, "{name}");
        assert!(captured.iter().zip(&compiled.queries).all(|(captured, query)| *captured <= query.instances));
        assert!(run.score.captured > 0, "{name}");
    }
}

#[test]
fn the_file_of_intervals_reads_back_as_the_same_needs() {
    let (trace, epoch, text) = busy();
    let queries = parse_over(&text, &trace).unwrap();
    let needs = compile(&queries, &trace, epoch, Whens { share: 0.5, seed: 0 }).unwrap().needs;
    let mut bytes = Vec::new();
    needs.write(&mut bytes).unwrap();
    assert_eq!(IntervalsFile::read(bytes.as_slice(), "out", epoch.chronons).unwrap(), needs);
}

#[test]
fn sources_go_by_their_ids() {
    let trace = "source,time\nblog,1\n17,1\nhttps://a.example/blog,1\nhttps://b.example,1\n";
    let trace = TraceFile::read(trace.as_bytes(), "trace").unwrap();
    let read_from = |from: &str| {
        let text = format!("QUERY q SELECT item AS a FROM {from} EVERY 1 MINUTE");
        let queries = parse_over(&text, &trace).map_err(|refused| refused.render_in("q", &text))?;
        let compiled = compile(&queries, &trace, EPOCH, Whens { share: 0.5, seed: 0 }).unwrap();
        Ok::<_, String>(compiled.needs.resources.concat())
    };
    let good = |from: &str| read_from(from).unwrap();
    assert_eq!([good("source 'blog'"), good("source 17")], ["blog", "17"]);
    // The whole text comes before the last segment of the path.
    assert_eq!(good("feed 'https://a.example/blog'"), "https://a.example/blog");
    assert_eq!(good("feed 'https://c.example/feeds/blog/?full=1'"), "blog");
    assert_eq!(good("page 'https://b.example'"), "https://b.example");
    let refused = |from: &str| read_from(from).unwrap_err();
    let message = refused("json 'https://a.example/bolg'");
    assert!(
        message.starts_with("q:1:36: the trace has no source `https://a.example/bolg`, and none `bolg`\n"),
        "{message}"
    );
    assert!(message.ends_with("hint: did you mean blog?\n"), "{message}");
    let message = refused("source 'weather'");
    assert!(
        message.contains("\n  hint: its ids are 17, blog, https://a.example/blog, https://b.example\n"),
        "{message}"
    );
}

#[test]
fn what_a_trace_cannot_tell_is_refused_at_its_place() {
    let trace = TraceFile::read(TRACE.as_bytes(), "trace").unwrap();
    let text = "QUERY q SELECT item AS a FROM source 4 EVERY 1 MINUTE\nQUERY r\n  WATCH 'oil' IMPORTANCE 1";
    let refused = parse_over(text, &trace).unwrap_err();
    let errors: Vec<_> =
        refused.0.iter().map(|error| (error.line, error.column, error.message.as_str())).collect();
    assert_eq!(
        errors,
        [
            (1, 38, "the trace has no source `4`"),
            (3, 9, "a WATCH finds its sources by their texts, and a trace has none")
        ]
    );
}

#[test]
fn what_would_be_too_much_or_means_nothing_is_refused() {
    let trace = TraceFile::read(TRACE.as_bytes(), "trace").unwrap();
    let error = |rest: &str, epoch: Epoch, share: f64| {
        let queries =
            parse_over(&format!("QUERY q SELECT item AS a FROM source 'blog' {rest}"), &trace).unwrap();
        compile(&queries, &trace, epoch, Whens { share, seed: 0 }).unwrap_err().to_string()
    };
    let missing = "EVERY 1 SECOND SELECT item AS b FROM source 'rates' ON CHANGE WITHIN 1 SECOND";
    assert_eq!(
        // Instances that nobody could meet count too, or counting them would never end.
        error(missing, epoch(0, 200_000_000), 0.5),
        "queries q (expected at most 10000000 intervals in all; try fewer --chronons)"
    );
    assert_eq!(error("ON CHANGE", EPOCH, 1.5), "when 1.5 (expected a probability from 0 to 1)");
    let far = error("ON CHANGE", epoch(i64::MAX, 5), 0.5);
    assert!(far.contains("(expected an epoch within 290,000 years of 1970)"), "{far}");
}

#[test]
fn intervals_that_chronons_are_too_long_for_are_warned_about() {
    let warnings = compiled(
        "QUERY fine SELECT item AS a FROM source 'blog' EVERY 5 MINUTES WITHIN 1 MINUTE
         QUERY short SELECT item AS a FROM source 'blog' EVERY 5 MINUTES WITHIN 20 s",
        0.5,
    );
    assert_eq!(
        warnings.needs.warnings,
        ["short: 20 s is shorter than a chronon of 60 s, and counts as one (try a shorter --chronon)"]
    );
}

#[test]
fn a_text_is_read_as_far_as_the_language_allows() {
    let limit = dunlin_query::limits::MAX_TEXT;
    let read = |bytes: &[u8]| read_query_text(bytes, "q").map(|text| text.len());
    let refused = |bytes: &[u8]| match read(bytes).unwrap_err() {
        error @ Error::BadLine { .. } => error.to_string(),
        other => panic!("{other}"),
    };
    assert_eq!(read(&vec![b'a'; limit]).unwrap(), limit);
    assert_eq!(read(&[b"\xef\xbb\xbf".to_vec(), vec![b'a'; limit]].concat()).unwrap(), limit);
    let long =
        "q:2: a text of more than 65536 bytes (expected at most 65536; split the queries over several files)";
    let lines = [b"\n".to_vec(), vec![b'a'; limit]].concat();
    assert_eq!(refused(&lines), long);
    // The last character is cut by the limit, which is no fault of the text.
    for at in 1..8 {
        let wide = ["\n", &"a".repeat(limit - at), "üüüüüüüüü"].concat();
        assert_eq!(refused(wide.as_bytes()), long, "{at}");
    }
    let other =
        "q:3: bytes that are not UTF-8 (expected UTF-8 text; save it as that, or convert it with iconv)";
    assert_eq!([refused(b"a\nb\nc\xfc"), refused(b"a\nb\n\xfc\n")], [other, other]);
    assert_eq!(read(b"").unwrap(), 0);
}
