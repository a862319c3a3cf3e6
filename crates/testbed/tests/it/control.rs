//! Faults by request, and names of faults.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_lab::files::TraceFile;
use dunlin_testbed::{FAULTS, Fault, Plan, Request, Site, SourceFault};

const STARTED: Time = Time::from_seconds(1_800_000_000);

fn site() -> Site {
    let trace = TraceFile::read("source,time\na b,0\n".as_bytes(), "a").unwrap();
    Site::new(Plan::of(trace), STARTED).unwrap()
}

fn status(site: &Site, seconds: u64) -> u16 {
    site.respond(&Request::get("/pages/a%20b"), STARTED.plus(Duration::from_secs(seconds))).status
}

#[test]
fn a_fault_lasts_as_long_as_asked_for() {
    let mut site = site();
    let said = site.control("/_fault?source=a+b&fault=status:500&for=10", STARTED);
    assert_eq!(String::from_utf8(said.body).unwrap(), "a b: status:500 for 10 seconds\n");
    assert_eq!([0, 9, 10].map(|seconds| status(&site, seconds)), [500, 500, 200]);
    site.control("/_fault?source=a%20b&fault=gone", STARTED);
    assert_eq!(status(&site, 1_000_000), 410);
    site.control("/_fault?source=a+b&fault=none", STARTED);
    assert_eq!(status(&site, 0), 200);
}

#[test]
fn bad_requests_are_refused_and_change_nothing() {
    let mut site = site();
    for (target, expected, message) in [
        ("/_fault", 400, "source missing"),
        ("/_fault?source=a+b", 400, "fault missing"),
        ("/_fault?source=x&fault=hang", 404, "no source \"x\""),
        ("/_fault?source=a+b&fault=slow", 400, "milliseconds"),
        ("/_fault?source=a+b&fault=hang:3", 400, "expected one of slow:MS, drip:MS"),
        ("/_fault?source=a+b&fault=explode", 400, "expected one of slow:MS, drip:MS"),
        ("/_fault?source=a+b&fault=hang&for=-1", 400, "seconds"),
        ("/_fault?source=a+b&fault=hang&for=nan", 400, "seconds"),
        ("/_fault?source=a+b&fault=redirect-to:x%0d%0aset-cookie:1", 400, "printable"),
        ("/_other?source=a+b&fault=hang", 404, "no such control"),
    ] {
        let response = site.control(target, STARTED);
        let body = String::from_utf8(response.body).unwrap();
        assert_eq!(response.status, expected, "{target}");
        assert!(body.contains(message), "{target}: {body}");
        assert_eq!(status(&site, 0), 200);
    }
}

#[test]
fn every_documented_fault_reads_and_prints_as_it_is_written() {
    for (written, _) in FAULTS {
        let with_arguments = written
            .replace(['[', ']'], "")
            .replace("URL", "http://10.0.0.1/?a=b")
            .replace("CODE", "418")
            .replace("SECONDS", "30");
        let text = ["MS", "MB", "LEVELS", ":N"]
            .iter()
            .fold(with_arguments, |text, name| text.replace(name, if *name == ":N" { ":5" } else { "5" }));
        assert_eq!(text.parse::<Fault>().unwrap().to_string(), text);
        if let Some(bare) = written.split('[').next().filter(|_| written.contains('[')) {
            assert_eq!(bare.parse::<Fault>().unwrap().to_string(), bare);
        }
        let of_source = format!("http://x/?id=1={text}").parse::<SourceFault>().unwrap();
        assert_eq!((of_source.source.as_str(), of_source.fault.to_string()), ("http://x/?id=1", text));
    }
    for beyond in
        ["slow:600001", "huge:1025", "gzip-bomb:0", "status:200", "status:600", "redirect-chain:0", "429:x"]
    {
        assert!(beyond.parse::<Fault>().is_err(), "{beyond}");
    }
    assert!("a".parse::<SourceFault>().is_err());
}
