//! Every kind of nonsense gets a clear message that names its place, exit code 2, and leaves nothing behind.

use std::io::Write;
use std::process::Stdio;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::run::{Desk, Done, dunlin};

const INTERVALS: &str =
    "simulate intervals --intervals in.csv --chronons 100 --budget 1 --policy mrsf --schedule-out out.csv";
const TRACE: &str = "simulate trace --trace in.csv --chronon 60s --chronons 100 --budget 1 --policy wic --schedule-out out.csv";
const GOOD_INTERVALS: &str = "profile,cei,resource,start,finish\np,1,a,1,5\n";
const GOOD_TRACE: &str = "source,time\na,0\na,60\n";

fn refused(desk: &Desk, args: &str, message: &str) {
    let before = desk.files();
    let Done { code, stdout, stderr } = desk.run(args);
    assert!(stderr.contains(message), "{args}\nexpected: {message}\ngot: {stderr}");
    assert_eq!(code, 2, "{args}: {stderr}");
    assert_eq!(stdout, "", "{args}");
    assert_eq!(desk.files(), before, "{args} left something behind");
}

#[test]
fn lines_that_cannot_be_intervals() {
    let table = [
        ("", "in.csv:1: empty file"),
        ("profile,cei,resource,start\np,1,a,1\n", "in.csv:1: missing column"),
        ("profile,cei,resource,start,finish\np,1,a,-3,5\n", "in.csv:2: "),
        ("profile,cei,resource,start,finish\np,1,a,0,5\n", "in.csv:2: "),
        ("profile,cei,resource,start,finish\np,1,a,7,5\n", "in.csv:2: finish 5 lies before start 7"),
        ("profile,cei,resource,start,finish\np,1,a,1,5\np,2,a,101,105\n", "in.csv:3: "),
        ("profile,cei,resource,start,finish\np,1,a,one,5\n", "in.csv:2: "),
        ("profile,cei,resource,start,finish\np,1,a,1\n", "in.csv:2: "),
        ("profile,cei,resource,start,finish,weight\np,1,a,1,5,NaN\n", "in.csv:2: "),
        ("profile,cei,resource,start,finish,need\np,1,a,1,5,2\n", "in.csv:2: "),
    ];
    for (content, message) in table {
        refused(&Desk::new().with("in.csv", content), INTERVALS, message);
    }
}

#[test]
fn lines_that_cannot_be_a_trace_or_probabilities() {
    refused(&Desk::new().with("in.csv", "source,when\na,0\n"), TRACE, "in.csv:1: missing column");
    refused(&Desk::new().with("in.csv", "source,time\na,-5\n"), TRACE, "in.csv:2: ");
    refused(&Desk::new().with("in.csv", "source,time\n"), TRACE, "in.csv:");
    let knowing = format!("{TRACE} --knowledge file --probabilities pi.csv");
    for value in ["NaN", "1.5", "-0.1", "inf", "often"] {
        let probabilities = format!("source,chronon,probability\na,1,0.5\na,2,{value}\n");
        let desk = Desk::new().with("in.csv", GOOD_TRACE).with("pi.csv", probabilities);
        refused(&desk, &knowing, "pi.csv:3: ");
    }
}

#[test]
fn files_that_are_none() {
    let desk = Desk::new();
    refused(&desk, INTERVALS, "in.csv: no such file");
    std::fs::create_dir(desk.path("in.csv")).unwrap();
    refused(&desk, INTERVALS, "in.csv: is a directory");
    refused(&desk, TRACE, "in.csv: is a directory");
}

#[test]
fn a_gzip_stream_that_is_cut_off() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    for source in 0..10_000 {
        writeln!(
            encoder,
            "{}",
            if source == 0 { "source,time".into() } else { format!("s{source},{source}") }
        )
        .unwrap();
    }
    let whole = encoder.finish().unwrap();
    let desk = Desk::new().with("in.csv", &whole[..whole.len() / 2]);
    refused(&desk, TRACE, "in.csv:");
}

/// As long a line as the reader can be made to swallow, through a pipe: it must stop early by itself.
#[test]
fn a_line_without_end() {
    let desk = Desk::new();
    let args = TRACE.replace("in.csv", "-");
    let mut child = dunlin(&desk.path(""), &args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let chunk = vec![b'x'; 1 << 20];
    // 10 GB unless it is stopped; the write fails as soon as the reader has given up.
    let written = (0..10_000).take_while(|_| pipe.write_all(&chunk).is_ok()).count();
    drop(pipe);
    let done = Done::of(child.wait_with_output().unwrap());
    assert!(written < 100, "{written} MiB were read of a line that has no end");
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{}", done.stderr);
    assert!(done.stderr.contains("-:1: "), "{}", done.stderr);
}

#[test]
fn flags_that_make_no_sense() {
    let desk = || Desk::new().with("in.csv", GOOD_INTERVALS);
    refused(&desk(), &INTERVALS.replace("mrsf", "psychic"), "policy psychic (expected one of round-robin");
    refused(&desk(), &INTERVALS.replace("--budget 1", "--budget -1"), "budget -1 (expected a finite number");
    refused(&desk(), &INTERVALS.replace("--budget 1", "--budget NaN"), "budget NaN");
    refused(&desk(), &INTERVALS.replace("--budget 1", ""), "--budget");
    refused(&desk(), &INTERVALS.replace("--chronons 100", "--chronons 0"), "1 to 200000000");
    refused(&desk(), &INTERVALS.replace("--chronons 100", "--chronons 4000000000"), "1 to 200000000");
    refused(&desk(), &INTERVALS.replace("mrsf", "mrsf,s-edf"), "--schedule-out writes one schedule");
    let desk = || Desk::new().with("in.csv", GOOD_TRACE);
    refused(&desk(), &TRACE.replace("60s", "soon"), "expected a whole, positive duration");
    refused(&desk(), &format!("{TRACE} --urgency exp:2"), "expected a decay factor from 0 to 1");
    refused(&desk(), &format!("{TRACE} --life forever"), "unknown life `forever`");
    refused(&desk(), &format!("{TRACE} --knowledge noisy --fpn 2"), "fpn 2");
    refused(
        &desk(),
        &format!("{} --knowledge noisy", TRACE.replace("wic", "s-edf")),
        "try --knowledge exact",
    );
    refused(&desk(), &format!("{TRACE} --start 9999999"), "no update within 100 chronons");
    refused(&desk(), &format!("{TRACE} --fpn 0.2"), "add --knowledge noisy");
    refused(&desk(), &format!("{TRACE} --probabilities pi.csv"), "add --knowledge file");
    refused(&desk(), &format!("{TRACE} --knowledge noisy --sigma -1"), "sigma -1 (expected");
    refused(&desk(), &format!("{} --costs -", TRACE.replace("in.csv", "-")), "given twice");
    let ages = Desk::new().with("in.csv", "source,time\na,0\na,9000000000000\n");
    refused(&ages, &TRACE.replace("--chronons 100", ""), "try a longer --chronon");
}

#[test]
fn a_disk_that_cannot_be_written_is_the_environments_fault() {
    let desk = Desk::new().with("in.csv", GOOD_INTERVALS);
    let done = desk.run(&INTERVALS.replace("out.csv", "no/such/folder/out.csv"));
    assert_eq!((done.code, done.stdout.as_str()), (3, ""), "{}", done.stderr);
    assert!(done.stderr.contains("no/such/folder/out.csv"), "{}", done.stderr);
}

/// A device may lead to an existing log.
#[test]
fn a_device_is_written_to_and_never_replaced() {
    let desk = Desk::new().with("in.csv", GOOD_INTERVALS).with("log.txt", "precious\n");
    let log = std::fs::OpenOptions::new().append(true).open(desk.path("log.txt")).unwrap();
    let args = INTERVALS.replace("out.csv", "/dev/stdout");
    let status = dunlin(&desk.path(""), &args).stdout(log).status().unwrap();
    assert!(status.success());
    let log = std::fs::read_to_string(desk.path("log.txt")).unwrap();
    assert!(log.starts_with("precious\n") && log.contains("chronon,resource"), "{log}");
}
