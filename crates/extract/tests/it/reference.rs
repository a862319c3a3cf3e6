//! Data of others, which are no part of this repository: `DUNLIN_REFERENCE` names the folder that holds them. Successive
//! versions of real pages (`versions/`), whose laws are those of `successive`, which has them for pages made here; and what
//! other projects' test suites expect (`conformance/`).

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::conformance::{Files, failures, misread_dates};
use crate::successive::{
    flips_are_reported_a_handful_of_times, news_are_all_found, offers_are_reported, only_words_are_reported,
};

#[test]
fn new_items_of_a_real_news_feed_are_all_found_and_nothing_else() {
    news_are_all_found(&versions("bbc_rss"));
}

#[test]
fn a_real_feed_that_flips_between_two_states_is_reported_a_handful_of_times() {
    flips_are_reported_a_handful_of_times(&versions("hetzner_news_rss"));
}

#[test]
fn a_real_page_of_scripts_and_frames_is_reported_when_its_words_change() {
    only_words_are_reported(&versions("vottak_html"));
}

#[test]
fn a_real_page_of_offers_is_reported_when_its_words_change() {
    offers_are_reported(&versions("netcup_offers_html"));
}

/// Of what feedparser's own tests expect of feeds, all but these many hold.
#[test]
fn feeds_mean_what_feedparser_takes_them_for() {
    most_hold("feedparser", 9);
}

#[test]
fn json_feeds_mean_what_other_readers_take_them_for() {
    most_hold("jsonfeed", 0);
}

#[test]
fn odd_dates_are_read() {
    let failed = misread_dates(&rows("dates"));
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// All expectations of a suite hold, except for at most so many.
fn most_hold(suite: &str, n_failures: usize) {
    let rows = rows(suite);
    let files = files(&format!("conformance/{suite}.tar.gz"));
    let prefix = format!("{suite}/");
    let files: Files =
        files.into_iter().map(|(name, body)| (name.trim_start_matches(&prefix).to_owned(), body)).collect();
    let failed = failures(&rows, &files);
    println!("{suite}: {} of {} expectations hold", rows.len() - failed.len(), rows.len());
    assert!(rows.len() > 600, "{}", rows.len());
    assert!(failed.len() <= n_failures, "{} fail:\n{}", failed.len(), failed.join("\n"));
}

/// The lines of a file of expectations.
fn rows(suite: &str) -> Vec<Value> {
    let path = folder().join(format!("conformance/{suite}.jsonl"));
    let lines = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The versions in `name.tar.gz`, oldest first.
fn versions(name: &str) -> Vec<Vec<u8>> {
    let mut files = files(&format!("versions/{name}.tar.gz"));
    files.sort();
    files.into_iter().map(|(_, body)| body).collect()
}

fn folder() -> PathBuf {
    let folder = std::env::var_os("DUNLIN_REFERENCE").expect(
        "this test needs reference data: set DUNLIN_REFERENCE to their folder, or leave it out with --skip reference::",
    );
    PathBuf::from(folder)
}

/// The plain files in an archive.
fn files(archive: &str) -> Vec<(String, Vec<u8>)> {
    let path = folder().join(Path::new(archive));
    let archive = std::fs::File::open(&path).unwrap_or_else(|error| {
        panic!("{}: {error} (is DUNLIN_REFERENCE the right folder?)", path.display())
    });
    let mut tar = Vec::new();
    flate2::read::GzDecoder::new(archive).read_to_end(&mut tar).unwrap();
    untar(&tar)
}

/// Names and bodies of the plain files in an archive: blocks of 512 bytes, sizes in octal.
fn untar(tar: &[u8]) -> Vec<(String, Vec<u8>)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches(['\0', ' ']).to_owned();
    let mut files = Vec::new();
    let mut at = 0;
    while tar.len() >= at + 512 && tar[at] != 0 {
        let (header, start) = (&tar[at..at + 512], at + 512);
        let size = usize::from_str_radix(text(&header[124..136]).trim(), 8).unwrap();
        if matches!(header[156], b'0' | 0) {
            files.push((text(&header[..100]), tar[start..start + size].to_vec()));
        }
        at = start + size.div_ceil(512) * 512;
    }
    files
}
