//! Successive versions of real pages, which are no part of this repository: `DUNLIN_REFERENCE` names the folder that holds
//! them (`versions/`). The laws are those of `successive`, which has them for pages made here.

use std::io::Read;
use std::path::Path;

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

/// The versions in `name.tar.gz`, oldest first.
fn versions(name: &str) -> Vec<Vec<u8>> {
    let folder = std::env::var_os("DUNLIN_REFERENCE").expect(
        "this test needs reference data: set DUNLIN_REFERENCE to their folder, or leave it out with --skip reference::",
    );
    let path = Path::new(&folder).join(format!("versions/{name}.tar.gz"));
    let archive = std::fs::File::open(&path).unwrap_or_else(|error| {
        panic!("{}: {error} (is DUNLIN_REFERENCE the right folder?)", path.display())
    });
    let mut tar = Vec::new();
    flate2::read::GzDecoder::new(archive).read_to_end(&mut tar).unwrap();
    let mut files = untar(&tar);
    files.sort();
    files.into_iter().map(|(_, body)| body).collect()
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
