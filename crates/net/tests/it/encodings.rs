//! Packed bodies: all codings read back, and none of them can fill the memory.

use std::io::Write as _;

use async_compression::tokio::bufread::{BrotliEncoder, ZstdEncoder};
use dunlin_net::{Error, Fetched, Request, Settings, Stage};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use tokio::io::AsyncReadExt as _;

use crate::names::local_client;
use crate::origin::{Origin, Step, answer};

fn text() -> Vec<u8> {
    (0..2000).flat_map(|n| format!("<li>entry number {n}</li>\n").into_bytes()).collect()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn zlib(content: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn bare_deflate(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

async fn brotli(content: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    BrotliEncoder::new(content).read_to_end(&mut packed).await.unwrap();
    packed
}

async fn zstd(content: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    ZstdEncoder::new(content).read_to_end(&mut packed).await.unwrap();
    packed
}

async fn fetch_packed(
    encoding: &str,
    packed: Vec<u8>,
    change: impl FnOnce(&mut Settings),
) -> Result<Fetched, Error> {
    let header = format!("Content-Encoding: {encoding}");
    let origin = Origin::start(move |_| answer("200 OK", &[&header], &packed)).await;
    local_client(change).fetch(Request::parse(&origin.url("/")).unwrap()).await
}

#[tokio::test]
async fn every_coding_that_is_asked_for_can_be_read() {
    let text = text();
    for (encoding, packed) in [
        ("gzip", gzip(&text)),
        ("X-GZIP", gzip(&text)),
        ("deflate", zlib(&text)),
        ("deflate", bare_deflate(&text)),
        ("br", brotli(&text).await),
        ("zstd", zstd(&text).await),
        ("identity", text.clone()),
        ("", text.clone()),
    ] {
        let sent = packed.len() as u64;
        let fetched = fetch_packed(encoding, packed, |_| {}).await.unwrap();
        assert!(fetched.body == text, "{encoding}: wrong content of {} bytes", fetched.body.len());
        assert_eq!(fetched.sent_bytes, sent, "{encoding}");
    }
}

#[tokio::test]
async fn a_gzip_body_may_have_several_members() {
    let mut packed = gzip(b"first, ");
    packed.extend(gzip(b"second"));
    assert_eq!(fetch_packed("gzip", packed, |_| {}).await.unwrap().body, "first, second");
}

#[tokio::test]
async fn bombs_are_refused_early() {
    let zeros = vec![0_u8; 64 << 20];
    let content_limit = 4 << 30;
    for (encoding, bomb) in
        [("gzip", gzip(&zeros)), ("br", brotli(&zeros).await), ("zstd", zstd(&zeros).await)]
    {
        let error = fetch_packed(encoding, bomb, |settings| settings.sizes.decoded = content_limit)
            .await
            .unwrap_err();
        assert!(matches!(error, Error::Bomb { limit: 200, .. }), "{encoding}: {error:?}");
    }
}

#[tokio::test]
async fn content_over_the_limit_is_refused_however_small_it_was_sent() {
    for (encoding, packed) in [("gzip", gzip(&text())), ("br", brotli(&text()).await)] {
        assert!(packed.len() < 20_000);
        let error =
            fetch_packed(encoding, packed, |settings| settings.sizes.decoded = 20_000).await.unwrap_err();
        let expected = matches!(error, Error::BodyTooLarge { limit: 20_000, stage: Stage::Decoded, .. });
        assert!(expected, "{encoding}: {error:?}");
    }
}

#[tokio::test]
async fn a_short_page_may_shrink_as_far_as_it_likes() {
    let page = vec![b'a'; 900_000];
    assert_eq!(fetch_packed("gzip", gzip(&page), |_| {}).await.unwrap().body.len(), page.len());
}

#[tokio::test]
async fn damaged_and_cut_streams_are_errors() {
    let whole = [
        ("gzip", gzip(&text())),
        ("deflate", zlib(&text())),
        ("br", brotli(&text()).await),
        ("zstd", zstd(&text()).await),
    ];
    for (encoding, packed) in whole {
        let cut = packed[..packed.len() / 2].to_vec();
        let error = fetch_packed(encoding, cut, |_| {}).await.unwrap_err();
        assert!(matches!(error, Error::BadEncoding { .. }), "{encoding} cut: {error:?}");
        let error = fetch_packed(encoding, b"\xffnot packed at all, whatever it says".to_vec(), |_| {}).await;
        assert!(matches!(error, Err(Error::BadEncoding { .. })), "{encoding} damaged: {error:?}");
    }
}

#[tokio::test]
async fn a_window_that_would_fill_the_memory_is_refused() {
    // A zstd frame header that asks for a window of 2 GiB, followed by an empty last block.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00];
    let error = fetch_packed("zstd", frame.to_vec(), |_| {}).await.unwrap_err();
    assert!(matches!(error, Error::BadEncoding { encoding: "zstd", .. }), "{error:?}");
}

#[tokio::test]
async fn codings_that_were_not_asked_for_are_refused() {
    for encoding in ["compress", "gzip, gzip", "br, gzip", "secret\u{e9}"] {
        let error = fetch_packed(encoding, b"x".to_vec(), |_| {}).await.unwrap_err();
        assert!(matches!(error, Error::UnknownEncoding { .. }), "{encoding}: {error:?}");
    }
}

#[tokio::test]
async fn content_may_be_as_long_as_the_limit_and_not_a_byte_longer() {
    for encoding in ["identity", "gzip"] {
        for (length, is_read) in [(100_000, true), (100_001, false)] {
            let content = vec![b'x'; length];
            let packed = if encoding == "gzip" { gzip(&content) } else { content };
            let fetched = fetch_packed(encoding, packed, |settings| {
                settings.sizes.decoded = 100_000;
                settings.sizes.growth = 1_000_000;
            });
            assert_eq!(fetched.await.is_ok(), is_read, "{encoding}: {length}");
        }
    }
}

#[tokio::test]
async fn what_follows_packed_content_is_read_to_its_announced_end() {
    let packed = brotli(&text()).await;
    let script = move |seen: &crate::origin::Seen| {
        let mut body = packed.clone();
        body.extend(b"something else");
        if seen.path == "/cut" {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: {}\r\n\r\n",
                body.len() + 9
            );
            return vec![Step::Send(head.into_bytes()), Step::Send(body), Step::Close];
        }
        answer("200 OK", &["Content-Encoding: br"], &body)
    };
    let origin = Origin::start(script).await;
    let client = local_client(|_| {});
    for n in 0..3 {
        let fetched = client.fetch(Request::parse(&origin.url(&format!("/{n}"))).unwrap()).await.unwrap();
        assert_eq!(fetched.body, text());
    }
    assert!(origin.seen().iter().all(|seen| seen.connection == 0), "the connection can be used again");
    let error = client.fetch(Request::parse(&origin.url("/cut")).unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::Truncated { .. }), "{error}");
}
