//! Every kind of bad line gives its exact message with its exact place.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use dunlin_lab::Error;
use dunlin_lab::files::{
    BudgetFile, CostsFile, IntervalsFile, ProbabilitiesFile, ScheduleFile, TraceFile, numbered,
};

/// Checks that `read` refuses every input with its message and calls it bad input.
fn check<T>(read: impl Fn(&[u8]) -> Result<T, Error>, cases: &[(&str, &str)]) {
    for (input, expected) in cases {
        let error = read(input.as_bytes()).err().unwrap_or_else(|| panic!("accepted {input:?}"));
        assert_eq!(error.to_string(), *expected, "for {input:?}");
        assert!(!error.is_environment());
    }
}

#[test]
fn headers() {
    check(
        |input| TraceFile::read(input, "f"),
        &[
            ("", "f:1: empty file (expected a header line with source,time)"),
            ("\u{feff}", "f:1: empty file (expected a header line with source,time)"),
            ("\n  \r\n\n", "f:1: empty file (expected a header line with source,time)"),
            ("source,time\n", "f:1: no data lines (expected at least one after the header)"),
            ("\n\nsource,time\n\n\n", "f:3: no data lines (expected at least one after the header)"),
            ("source\na\n", "f:1: missing column time (expected a header line with source,time)"),
            ("Source,time\na,1\n", "f:1: missing column source (expected a header line with source,time)"),
            ("a,5\nb,6\n", "f:1: missing column source (expected a header line with source,time)"),
            ("time,source,time\n1,a,1\n", "f:1: column time given twice (expected it once)"),
            ("\n source , time,source\n", "f:2: column source given twice (expected it once)"),
        ],
    );
    let chronons = 10;
    check(
        |input| IntervalsFile::read(input, "f", chronons),
        &[
            ("", "f:1: empty file (expected a header line with profile,cei,resource,start,finish)"),
            (
                "profile,cei,resource,start,finish,weight,need\n",
                "f:1: no data lines (expected at least one after the header)",
            ),
            (
                "profile,cei,resource,finish\np,c,r,1\n",
                "f:1: missing column start (expected a header line with profile,cei,resource,start,finish)",
            ),
            (
                "profile,cei,resource,start,finish,weight,weight\np,c,r,1,1,1,1\n",
                "f:1: column weight given twice (expected it once)",
            ),
        ],
    );
    let empty = "f:1: empty file (expected a header line with source,chronon,probability)";
    check(|input| ProbabilitiesFile::read(input, "f", chronons), &[("", empty)]);
    let empty = "f:1: empty file (expected a header line with resource,cost)";
    check(|input| CostsFile::read(input, "f", &[]), &[("", empty)]);
    let empty = "f:1: empty file (expected a header line with chronon,resource)";
    check(|input| ScheduleFile::read(input, "f", &[], chronons), &[("", empty)]);
}

/// In every column of every file that has ids, shown so that no terminal obeys them.
#[test]
fn ids_that_would_steer_a_terminal() {
    let names = numbered("s", 2);
    for (character, shown) in [
        ("\0", "\\0"),
        ("\u{1}", "\\u{1}"),
        ("\t", "\\t"),
        ("\u{1b}", "\\u{1b}"),
        ("\u{7f}", "\\u{7f}"),
        ("\u{80}", "\\u{80}"),
        ("\u{9b}", "\\u{9b}"),
        ("\u{9f}", "\\u{9f}"),
        ("\u{202a}", "\\u{202a}"),
        ("\u{202e}", "\\u{202e}"),
        ("\u{2066}", "\\u{2066}"),
        ("\u{2069}", "\\u{2069}"),
        ("\"\n\"", "\\n"),
    ] {
        let id = if character.contains('"') { "\"a\nb\"".to_owned() } else { format!("a{character}b") };
        let message =
            |column: &str| format!("f:2: {column} \"a{shown}b\" (expected an id without control characters)");
        let trace = format!("source,time\n{id},1\n");
        check(|input| TraceFile::read(input, "f"), &[(&trace, &message("source"))]);
        let beliefs = format!("source,chronon,probability\n{id},1,1\n");
        check(|input| ProbabilitiesFile::read(input, "f", 9), &[(&beliefs, &message("source"))]);
        let costs = format!("resource,cost\n{id},1\n");
        check(|input| CostsFile::read(input, "f", &names), &[(&costs, &message("resource"))]);
        let schedule = format!("chronon,resource\n1,{id}\n");
        check(|input| ScheduleFile::read(input, "f", &names, 9), &[(&schedule, &message("resource"))]);
        for (column, ids) in [
            ("profile", format!("{id},c,r")),
            ("cei", format!("p,{id},r")),
            ("resource", format!("p,c,{id}")),
        ] {
            let needs = format!("profile,cei,resource,start,finish\n{ids},1,1\n");
            check(|input| IntervalsFile::read(input, "f", 9), &[(&needs, &message(column))]);
        }
    }
    // Marks and scripts that only say how they are written themselves are fine.
    let read = TraceFile::read("source,time\nא\u{200f}é,1\n\u{a0}\u{202f},2\n".as_bytes(), "f").unwrap();
    assert_eq!(read.sources.len(), 2);
}

#[test]
fn fields_and_ids() {
    let long_id = format!("source,time\na,1\n{},1\n", "é".repeat(513));
    check(
        |input| TraceFile::read(input, "f"),
        &[
            ("source,time\na,1\nb\n", "f:3: 1 fields (expected 2, as in the header)"),
            ("source,time\na,1,2\n", "f:2: 3 fields (expected 2, as in the header)"),
            ("source,time,x\na,1\n", "f:2: 2 fields (expected 3, as in the header)"),
            ("source,time\n,1\n", "f:2: empty source (expected a non-empty id)"),
            ("source,time\n\"\",1\n", "f:2: empty source (expected a non-empty id)"),
            (&long_id, "f:3: source of 1026 bytes (expected at most 1024)"),
        ],
    );
    check(
        |input| IntervalsFile::read(input, "f", 10),
        &[
            ("profile,cei,resource,start,finish\n,c,r,1,1\n", "f:2: empty profile (expected a non-empty id)"),
            ("profile,cei,resource,start,finish\np,,r,1,1\n", "f:2: empty cei (expected a non-empty id)"),
            (
                "profile,cei,resource,start,finish\np,c,,1,1\n",
                "f:2: empty resource (expected a non-empty id)",
            ),
        ],
    );
}

#[test]
fn times() {
    check(
        |input| TraceFile::read(input, "f"),
        &[
            ("source,time\na,\n", "f:2: time \"\" (expected an integer)"),
            ("source,time\na,x\n", "f:2: time \"x\" (expected an integer)"),
            ("source,time\na,1.5\n", "f:2: time \"1.5\" (expected an integer)"),
            ("source,time\na,2026-01-01\n", "f:2: time \"2026-01-01\" (expected an integer)"),
            ("source,time\na,\u{1b}[31m\n", "f:2: time \"\\u{1b}[31m\" (expected an integer)"),
            ("source,time\na,0\na,-1\n", "f:3: time \"-1\" (expected 0 to 9223372036854775807)"),
            (
                "source,time\na,9223372036854775808\n",
                "f:2: time \"9223372036854775808\" (expected 0 to 9223372036854775807)",
            ),
        ],
    );
    let endless = format!("source,time\na,{}\n", "x".repeat(100));
    let shown = format!("f:2: time \"{}…\" (expected an integer)", "x".repeat(40));
    check(|input| TraceFile::read(input, "f"), &[(&endless, &shown)]);
}

/// Intervals files: `line` after a header, in an epoch of ten chronons.
#[test]
fn intervals() {
    let check_lines = |columns: &str, cases: &[(&str, &str)]| {
        for (lines, expected) in cases {
            let input = format!("profile,cei,resource,start,finish{columns}\n{lines}");
            check(|input| IntervalsFile::read(input, "f", 10), &[(&input, expected)]);
        }
    };
    check_lines(
        "",
        &[
            ("p,c,r,0,1\n", "f:2: start \"0\" (expected 1 to 10)"),
            ("p,c,r,-3,1\n", "f:2: start \"-3\" (expected 1 to 10)"),
            ("p,c,r,11,12\n", "f:2: start \"11\" (expected 1 to 10)"),
            ("p,c,r,1.0,2\n", "f:2: start \"1.0\" (expected an integer)"),
            ("p,c,r,1,\n", "f:2: finish \"\" (expected an integer)"),
            ("p,c,r,1,0\n", "f:2: finish \"0\" (expected 1 to 4294967295)"),
            ("p,c,r,1,4294967296\n", "f:2: finish \"4294967296\" (expected 1 to 4294967295)"),
            ("p,c,r,1,1\n\np,c,r,5,4\n", "f:4: finish 4 lies before start 5 (expected finish >= start)"),
        ],
    );
    check_lines(
        ",weight,need",
        &[
            ("p,c,r,1,1,x,\n", "f:2: weight \"x\" (expected a number)"),
            ("p,c,r,1,1,-1,\n", "f:2: weight -1 (expected a number from 0 to 1e100)"),
            ("p,c,r,1,1,NaN,\n", "f:2: weight NaN (expected a number from 0 to 1e100)"),
            ("p,c,r,1,1,1e999,\n", "f:2: weight inf (expected a number from 0 to 1e100)"),
            ("p,c,r,1,1,,0\n", "f:2: need \"0\" (expected 1 to 4294967295)"),
            ("p,c,r,1,1,,half\n", "f:2: need \"half\" (expected an integer)"),
            (
                "p,c,r,1,1,2,\np,d,r,1,1,3,\np,c,s,1,1,3,\n",
                "f:4: weight 3 but 2 on line 2 (expected the same on every line of a CEI)",
            ),
            (
                "p,c,r,1,1,,\np,c,s,1,1,,2\np,c,t,1,1,,1\n",
                "f:4: need 1 but 2 on line 3 (expected the same on every line of a CEI)",
            ),
            ("p,c,r,1,1,,\np,c,s,1,1,,3\np,d,s,1,1,,\n", "f:3: need 3 of 2 intervals (expected 1 to 2)"),
        ],
    );
}

#[test]
fn probabilities() {
    for (lines, expected) in [
        ("a,1,x\n", "f:2: probability \"x\" (expected a number)"),
        ("a,1,nan\n", "f:2: probability NaN (expected a number from 0 to 1)"),
        ("a,1,inf\n", "f:2: probability inf (expected a number from 0 to 1)"),
        ("a,1,-0.1\n", "f:2: probability -0.1 (expected a number from 0 to 1)"),
        ("a,1,1.0001\n", "f:2: probability 1.0001 (expected a number from 0 to 1)"),
        ("a,0,0.5\n", "f:2: chronon \"0\" (expected 1 to 10)"),
        ("a,-1,0.5\n", "f:2: chronon \"-1\" (expected 1 to 10)"),
        ("a,11,0.5\n", "f:2: chronon \"11\" (expected 1 to 10)"),
        (
            "b,9,0.5\na,1,0.5\nb,2,0.5\nb,9,0.5\na,1,0\n",
            "f:5: second line for source \"b\", chronon 9 (expected one; the first is line 2)",
        ),
    ] {
        let input = format!("source,chronon,probability\n{lines}");
        check(|input| ProbabilitiesFile::read(input, "f", 10), &[(&input, expected)]);
    }
}

#[test]
fn costs() {
    let resources = numbered("r", 2);
    check(
        |input| CostsFile::read(input, "f", &resources),
        &[
            ("resource,cost\nr0001,x\n", "f:2: cost \"x\" (expected a number)"),
            ("resource,cost\nr0001,0\n", "f:2: cost 0 (expected a finite number above 0)"),
            ("resource,cost\nr0001,-2\n", "f:2: cost -2 (expected a finite number above 0)"),
            ("resource,cost\nelse,inf\n", "f:2: cost inf (expected a finite number above 0)"),
            (
                "resource,cost\nr0001,1\nr0002,1\nr0001,1\n",
                "f:4: second line for resource \"r0001\" (expected one; the first is line 2)",
            ),
        ],
    );
}

#[test]
fn schedules() {
    let resources = numbered("r", 2);
    check(
        |input| ScheduleFile::read(input, "f", &resources, 10),
        &[
            ("chronon,resource\n0,r0001\n", "f:2: chronon \"0\" (expected 1 to 10)"),
            ("chronon,resource\n11,r0001\n", "f:2: chronon \"11\" (expected 1 to 10)"),
            ("chronon,resource\nx,r0001\n", "f:2: chronon \"x\" (expected an integer)"),
            (
                "chronon,resource\n1,r0001\n1,r3\n",
                "f:3: unknown resource \"r3\" (expected one of the 2 in the intervals or trace file; \
                 do the two files belong together?)",
            ),
            (
                "chronon,resource\n1,r0001\n2,r0001\n1,r0001\n",
                "f:4: second line for chronon 1, resource \"r0001\" (expected one; the first is line 2)",
            ),
        ],
    );
}

#[test]
fn budgets() {
    check(
        |input| BudgetFile::read(input, "f", 3),
        &[
            ("", "f:1: budgets for 0 chronons (expected 3, one line for each)"),
            ("1\n2\n", "f:2: budgets for 2 chronons (expected 3, one line for each)"),
            ("budget\n1\n\n2\n", "f:4: budgets for 2 chronons (expected 3, one line for each)"),
            ("1\nbudget\n2\n", "f:2: budget \"budget\" (expected a number)"),
            ("1\n2,5\n3\n", "f:2: 2 values (expected one budget per line)"),
            ("1\n-1\n3\n", "f:2: budget -1 (expected a finite number, 0 or more)"),
            ("1\nNaN\n3\n", "f:2: budget NaN (expected a finite number, 0 or more)"),
            ("1\n1\n1\n1\nx\n", "f:5: budget \"x\" (expected a number)"),
        ],
    );
}

#[test]
fn other_encodings() {
    let error = TraceFile::read(&b"source,time\na,1\n\n\xff\xfe,2\n"[..], "f").unwrap_err();
    assert_eq!(error.to_string(), "f:4: bytes that are not UTF-8 (expected UTF-8 text)");
    // Also where nobody would look: in a column that is ignored.
    let error = TraceFile::read(&b"source,time,x\na,1,\xe9\n"[..], "f").unwrap_err();
    assert_eq!(error.to_string(), "f:2: bytes that are not UTF-8 (expected UTF-8 text)");
    let error = TraceFile::read(&b"\xff\xfes\0o\0u\0r\0c\0e\0"[..], "f").unwrap_err();
    assert_eq!(error.to_string(), "f:1: bytes that are not UTF-8 (expected UTF-8 text)");
}

#[test]
fn what_is_not_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let error = TraceFile::open(directory.path()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("{}: is a directory (expected a file)", directory.path().display())
    );
    assert!(!error.is_environment());

    let missing = directory.path().join("none.csv");
    fs::write(directory.path().join("file"), "").unwrap();
    for path in [missing, directory.path().join("file").join("below")] {
        let error = IntervalsFile::open(&path, 5).unwrap_err();
        let expected = "no such file (expected an existing file, or - for standard input)";
        assert_eq!(error.to_string(), format!("{}: {expected}", path.display()));
        assert!(!error.is_environment());
    }
}

/// Gives some bytes, then fails with an error code of the system.
struct FailingDisk(&'static [u8], i32);

impl Read for FailingDisk {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.0.is_empty() { Err(io::Error::from_raw_os_error(self.1)) } else { self.0.read(buf) }
    }
}

#[test]
fn a_failing_disk_is_not_the_input_s_fault() {
    const EIO: i32 = 5;
    const EINVAL: i32 = 22;
    for bytes in [&b""[..], b"s", b"source,time\na,1\n", b"\x1f\x8b\x08\0\0\0\0\0\0\xff"] {
        for code in [EIO, EINVAL] {
            let error = TraceFile::read(FailingDisk(bytes, code), "f").unwrap_err();
            assert!(error.is_environment(), "{error}");
            assert!(error.to_string().starts_with("f: cannot be read: "), "{error}");
        }
    }
    // A bad line before the failure is still the first thing to tell.
    let error = TraceFile::read(FailingDisk(b"source,time\na,x\nb,", EIO), "f").unwrap_err();
    assert_eq!(error.to_string(), "f:2: time \"x\" (expected an integer)");
}

#[test]
#[cfg(target_os = "linux")]
fn reading_memory_of_a_process_fails_as_an_environment() {
    // A file that is there and cannot be read, even by a super-user.
    let error = TraceFile::open(Path::new("/proc/self/mem")).unwrap_err();
    assert!(error.is_environment(), "{error}");
}
