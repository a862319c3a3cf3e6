//! What is unusual but fine, and what is said about it.

use std::io::{self, ErrorKind, Read};
use std::num::NonZeroU32;

use dunlin_core::{Budget, CeiIdx, Chronon, ProfileIdx, SourceIdx};
use dunlin_lab::files::{
    BudgetFile, CostsFile, Epoch, IntervalsFile, ProbabilitiesFile, ScheduleFile, TraceFile, numbered,
};

#[test]
fn columns_in_any_order_with_every_oddity_of_csv() {
    let text = "\u{feff}\r\nneed, finish,start ,note,cei,weight,profile,resource\r\n\
                ,3,1,\"x\ny\",1,2.5,\"a\"\"b\",\" x,y\"\r\n\r\n   \r\n1,+9, 2 ,\"\",1,,\"a\"\"b\",é\r\n,4,4,,1,,c,é";
    let file = IntervalsFile::read(text.as_bytes(), "f", 10).unwrap();
    assert_eq!(file.resources, [" x,y", "é"]);
    assert_eq!(file.profiles, ["a\"b", "c"]);
    assert_eq!(file.ceis, ["1", "1"]);
    assert_eq!(file.warnings, ["f:2: ignored unknown columns \"note\""]);
    let first = file.workload.cei(CeiIdx(0));
    assert_eq!((first.intervals.len(), first.need, first.weight), (2, 1, 2.5));
    assert_eq!(first.intervals[1].finish(), Chronon::new(9).unwrap());
    let second = file.workload.cei(CeiIdx(1));
    assert_eq!((second.need, second.weight), (1, 1.0));
    assert_eq!(file.workload.profile_of(CeiIdx(1)), ProfileIdx(1));
}

#[test]
fn line_numbers_stay_exact_after_quoted_fields_and_any_line_end() {
    for (text, line) in [
        ("source,note,time\na,\"a\nb\n\",1\nc,,x\n", 5),
        ("source,note,time\r\na,\"a\r\nb\",1\r\n\r\nc,,x\r\n", 5),
        ("source,time\ra,1\r\rb,x\r", 4),
        ("source,note,time\n\n\na,\"a\n\n\nb\",x\n", 4),
        ("source,time\r\na,1\nb,1\r\nc,x", 4),
        ("source,time\na,1\n \t\nb,x\n", 4),
    ] {
        let error = TraceFile::read(text.as_bytes(), "f").unwrap_err().to_string();
        assert_eq!(error, format!("f:{line}: time \"x\" (expected an integer)"), "for {text:?}");
    }
}

/// Gives one byte at a time, interrupted before each.
struct Trickle<'a>(&'a [u8], bool);

impl Read for Trickle<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(ErrorKind::Interrupted.into());
        }
        self.0.read(&mut buf[..1])
    }
}

#[test]
fn slow_pipes_change_nothing() {
    let text = "\u{feff}source,time,note\r\n\r\n\"b c\",2,\"\n\"\r\na,1,\r\n";
    let slow = TraceFile::read(Trickle(text.as_bytes(), false), "f").unwrap();
    assert_eq!(slow, TraceFile::read(text.as_bytes(), "f").unwrap());
    assert_eq!(slow.sources, ["a", "b c"]);
}

#[test]
fn lines_of_a_cei_may_be_apart_and_keep_their_order() {
    let text = "profile,cei,resource,start,finish\n\
                q,1,z,1,1\np,1,y,2,99\nq,2,z,3,3\nq,1,x,4,4\np,1,z,1,1\nq,1,z,5,5\n";
    let file = IntervalsFile::read(text.as_bytes(), "f", 5).unwrap();
    assert_eq!(file.profiles, ["q", "p"]);
    assert_eq!(file.resources, ["z", "y", "x"]);
    assert_eq!(file.ceis, ["1", "1", "2"]);
    let intervals = |cei| -> Vec<_> {
        let cei = file.workload.cei(CeiIdx(cei));
        cei.intervals.iter().map(|own| (own.source().0, own.start().get(), own.finish().get())).collect()
    };
    assert_eq!(intervals(0), [(0, 1, 1), (2, 4, 4), (0, 5, 5)]);
    assert_eq!(intervals(1), [(1, 2, 99), (0, 1, 1)]);
    assert_eq!(intervals(2), [(0, 3, 3)]);
}

#[test]
fn a_weight_or_need_given_once_holds_for_the_whole_cei() {
    let text = "profile,cei,resource,start,finish,weight,need\n\
                p,1,a,1,1,,\np,1,b,1,1,3,\np,1,c,1,1,3.0,2\np,2,a,1,1,0,\n";
    let file = IntervalsFile::read(text.as_bytes(), "f", 5).unwrap();
    let cei = |idx| file.workload.cei(CeiIdx(idx));
    assert_eq!((cei(0).weight, cei(0).need), (3.0, 2));
    assert_eq!((cei(1).weight, cei(1).need), (0.0, 1));
}

#[test]
fn traces_are_put_in_order_and_cut_into_chronons() {
    let text = "time,source\n130,b\n60,a\n130,b\n59,b\n0,Z\n119,a\n";
    let trace = TraceFile::read(text.as_bytes(), "f").unwrap();
    assert_eq!(trace.sources, ["Z", "a", "b"]);
    assert_eq!(trace.times, [vec![0], vec![60, 119], vec![59, 130]]);

    let minute = NonZeroU32::new(60).unwrap();
    let changes = |start, chronons| -> Vec<Vec<u32>> {
        let changes = trace.changes(Epoch { start, chronon_seconds: minute, chronons });
        changes.by_source().map(|(_, own)| own.iter().map(|chronon| chronon.get()).collect()).collect()
    };
    assert_eq!(changes(0, 3), [vec![1], vec![2], vec![1, 3]]);
    assert_eq!(changes(0, 2), [vec![1], vec![2], vec![1]]);
    assert_eq!(changes(1, 3), [vec![], vec![1, 2], vec![1, 3]]);
    assert_eq!(changes(-60, 9), [vec![2], vec![3], vec![2, 4]]);
    assert_eq!(changes(i64::MIN, 9), [vec![], vec![], vec![]] as [Vec<u32>; 3]);
    assert_eq!((trace.default_start(minute), trace.default_chronons(0, minute)), (0, 3));

    let later = TraceFile::read(&b"source,time\na,179\nb,301\n"[..], "f").unwrap();
    assert_eq!((later.default_start(minute), later.default_chronons(120, minute)), (120, 4));
    assert_eq!(later.default_chronons(10_000, minute), 1);
    assert_eq!(TraceFile::default().default_start(minute), 0);
    let wide = TraceFile::read(&b"source,time\na,0\nb,9223372036854775807\n"[..], "f").unwrap();
    assert_eq!(wide.default_chronons(0, minute), u32::MAX);
}

#[test]
fn probabilities_and_trace_are_brought_over_the_same_sources() {
    let text = "source,chronon,probability\nd,3,0.5\na,3,1\nd,1,0\nb,10,0.25\n";
    let file = ProbabilitiesFile::read(text.as_bytes(), "f", 10).unwrap();
    assert_eq!(file.sources, ["a", "b", "d"]);
    let at = |chronon| file.probabilities.at(Chronon::new(chronon).unwrap());
    assert_eq!(at(3), [(SourceIdx(0), 1.0), (SourceIdx(2), 0.5)]);
    assert_eq!(at(10), [(SourceIdx(1), 0.25)]);
    assert!([1, 2, 4, 9, 11, u32::MAX].into_iter().all(|chronon| at(chronon).is_empty()));
    assert_eq!(file.probabilities.len(), 3);

    let trace = TraceFile::read(&b"source,time\nd,7\nc,8\n"[..], "t").unwrap();
    let (trace, probabilities) = file.join(trace);
    assert_eq!(trace.sources, ["a", "b", "c", "d"]);
    assert_eq!(trace.times, [vec![], vec![], vec![8], vec![7]]);
    assert_eq!(probabilities.at(Chronon::new(3).unwrap()), [(SourceIdx(0), 1.0), (SourceIdx(3), 0.5)]);

    let none = ProbabilitiesFile::read(&b"source,chronon,probability\n"[..], "f", 10).unwrap();
    assert!(none.probabilities.is_empty() && none.probabilities.at(Chronon::FIRST).is_empty());
}

#[test]
fn costs_of_strangers_are_ignored_with_one_warning() {
    let resources = numbered("r", 3);
    let text = "cost,resource,why\n2.5,r0002,big\n3,x,\n4,y,\n";
    let file = CostsFile::read(text.as_bytes(), "f", &resources).unwrap();
    assert_eq!([0, 1, 2].map(|idx| file.costs.of(SourceIdx(idx))), [1.0, 2.5, 1.0]);
    let expected =
        ["f:1: ignored unknown columns \"why\"", "f:3: ignored costs of 2 unknown resources, first \"x\""];
    assert_eq!(file.warnings, expected);
    assert!(CostsFile::read(&b"resource,cost\n"[..], "f", &resources).unwrap().costs.is_uniform());
}

#[test]
fn schedules_keep_the_order_within_a_chronon() {
    let resources = numbered("r", 3);
    let text = "chronon,resource\n5,r0003\n2,r0001\n5,r0001\n";
    let file = ScheduleFile::read(text.as_bytes(), "f", &resources, 5).unwrap();
    let probes: Vec<_> =
        file.schedule.probes().iter().map(|probe| (probe.chronon.get(), probe.source.0)).collect();
    assert_eq!(probes, [(2, 0), (5, 2), (5, 0)]);
    assert!(
        ScheduleFile::read(&b"chronon,resource\n"[..], "f", &[], 5).unwrap().schedule.probes().is_empty()
    );
}

#[test]
fn budgets_with_and_without_a_header() {
    let expected = Budget::per_chronon(vec![1.0, 0.25, 0.0]).unwrap();
    for text in ["1\n0.25\n0\n", "\u{feff}budget\r\n 1 \r\n\r\n0.25\r\n0", "1\n0.25\n0\n7\n8\n"] {
        let file = BudgetFile::read(text.as_bytes(), "f", 3).unwrap();
        assert_eq!(file.budget, expected);
        let warned = ["f: ignored 2 budgets after chronon 3".to_owned()];
        assert_eq!(file.warnings, if text.contains('8') { &warned[..] } else { &[] });
    }
}
