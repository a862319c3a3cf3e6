//! Lines and files that would not fit in memory are refused after a bounded number of bytes.

use std::io::{self, Cursor, Read, Write};

use dunlin_lab::Error;
use dunlin_lab::files::{BudgetFile, IntervalsFile, TraceFile};
use flate2::Compression;
use flate2::write::GzEncoder;

/// `head`, then the same bytes for ever; counts how many were asked for.
struct Endless {
    head: Cursor<Vec<u8>>,
    pattern: &'static [u8],
    given: usize,
}

impl Endless {
    fn after(head: &str, pattern: &'static [u8]) -> Self {
        Self { head: Cursor::new(head.into()), pattern, given: 0 }
    }
}

impl Read for Endless {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let n = match self.head.read(buf)? {
            0 => {
                let forever = self.pattern.iter().cycle();
                buf.iter_mut().zip(forever).for_each(|(byte, &from)| *byte = from);
                buf.len()
            }
            n => n,
        };
        self.given += n;
        assert!(self.given < 1 << 20, "would have read on for ever");
        Ok(n)
    }
}

#[track_caller]
fn check_endless(head: &str, pattern: &'static [u8], expected: &str) {
    let mut input = Endless::after(head, pattern);
    let error = TraceFile::read(&mut input, "f").unwrap_err();
    assert_eq!(error.to_string(), expected);
    assert!(!error.is_environment());
    assert!(input.given <= 96 * 1024, "read {} bytes", input.given);
}

#[test]
fn endless_lines_cost_at_most_the_limit() {
    let too_long = "line of more than 65536 bytes (expected at most 65536)";
    check_endless("", b"x", &format!("f:1: {too_long}"));
    check_endless("", b",", &format!("f:1: {too_long}"));
    check_endless("source,time", b",", &format!("f:1: {too_long}"));
    check_endless("source,time\na,1\n\n", b"x", &format!("f:4: {too_long}"));
    check_endless("source,time\na,1\n", b"\0", &format!("f:3: {too_long}"));
    check_endless("source,time\na,1\n\"", b"x", &format!("f:3: {too_long}"));
    check_endless("source,time\r\na,1\r\n\"\r\n\r\n", b"\"\"", &format!("f:5: {too_long}"));
}

#[test]
fn endless_quoted_fields_cost_at_most_the_limit() {
    let too_long = "quoted field of more than 65536 bytes (expected a closing quote before that)";
    check_endless("source,time\na,1\n\n\"", b"\n", &format!("f:4: {too_long}"));
    check_endless("source,time\r\na,1\r\n\"", b"x,y\r\n", &format!("f:3: {too_long}"));
    check_endless("\"", b"source,time\n", &format!("f:1: {too_long}"));
}

#[test]
fn the_limit_itself_is_allowed() {
    let line = |bytes: usize| format!("source,time,note\na,1,{}\r\nb,x,\n", "n".repeat(bytes - "a,1,".len()));
    let error = TraceFile::read(line(65_536).as_bytes(), "f").unwrap_err();
    assert_eq!(error.to_string(), "f:3: time \"x\" (expected an integer)");
    let error = TraceFile::read(line(65_537).as_bytes(), "f").unwrap_err();
    assert_eq!(error.to_string(), "f:2: line of more than 65536 bytes (expected at most 65536)");
}

#[test]
fn blank_lines_are_no_record_however_many() {
    let input = format!("source,time\na,1\n{}b,2\n{}c,x\n", "\n".repeat(300_000), "\r\n".repeat(100_000));
    let error = TraceFile::read(input.as_bytes(), "f").unwrap_err();
    assert_eq!(error.to_string(), "f:400004: time \"x\" (expected an integer)");
}

#[test]
fn lines_before_a_long_one_are_told_of_first() {
    let error = TraceFile::read(Endless::after("source,time\na,x\n", b"y"), "f").unwrap_err();
    assert_eq!(error.to_string(), "f:2: time \"x\" (expected an integer)");
}

#[test]
fn budgets_have_the_same_limit() {
    let error = BudgetFile::read(Endless::after("1\n", b"1"), "f", 9).unwrap_err();
    assert_eq!(error.to_string(), "f:2: line of more than 65536 bytes (expected at most 65536)");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_gzip_bomb_of_one_line_is_refused_at_once() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"source,time\n").unwrap();
    let zeros = vec![b'0'; 1 << 20];
    for _ in 0..64 {
        encoder.write_all(&zeros).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    let mut input = Cursor::new(&bomb);
    let error = TraceFile::read(&mut input, "f.gz").unwrap_err();
    assert_eq!(error.to_string(), "f.gz:2: line of more than 65536 bytes (expected at most 65536)");
    assert!(input.position() < bomb.len() as u64 / 4, "decompressed {} bytes", input.position());
}

fn read_intervals(bytes: &[u8]) -> Result<IntervalsFile, Error> {
    IntervalsFile::read(bytes, "f.gz", 10)
}

#[test]
fn cut_off_and_damaged_gzip_files_are_refused_with_a_place() {
    let mut text = b"profile,cei,resource,start,finish\n".to_vec();
    for number in 0..20_000 {
        writeln!(text, "p,{number},r{},1,2", number * 7919).unwrap();
    }
    let whole = gzip(&text);
    assert_eq!(read_intervals(&whole).unwrap().workload.n_ceis(), 20_000);

    for kept in [2, 5, 10, whole.len() / 2, whole.len() - 9, whole.len() - 8, whole.len() - 1] {
        let error = read_intervals(&whole[..kept]).unwrap_err();
        assert!(!error.is_environment());
        let text = error.to_string();
        let place =
            text.strip_suffix(": gzip data end too early (expected a complete file; was it cut off?)");
        let line: u64 = place.and_then(|place| place.strip_prefix("f.gz:")).expect(&text).parse().unwrap();
        assert_eq!(line > 5000, kept > 100, "{text}");
    }

    let mut damaged = whole.clone();
    let checksum = whole.len() - 6;
    damaged[checksum] ^= 1;
    let error = read_intervals(&damaged).unwrap_err();
    assert_eq!(error.to_string(), "f.gz:20002: damaged gzip data (expected an intact gzip file)");
    assert!(!error.is_environment());
}

#[test]
fn gzip_files_can_be_joined_and_are_known_by_their_bytes() {
    let joined = [gzip(b"profile,cei,resource,start,finish\np,1,r,1,2\n"), gzip(b"p,1,s,3,4\n")].concat();
    let file = IntervalsFile::read(joined.as_slice(), "no-suffix", 10).unwrap();
    assert_eq!(file.resources, ["r", "s"]);
}
