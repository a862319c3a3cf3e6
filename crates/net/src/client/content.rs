//! From the body as sent to the content: decompressed, whole, and within its limits on both sides.
//!
//! Invariant: at no time are more than the limits, plus one read, held in memory, however well the body is packed.

use std::io;
use std::time::Duration;

use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use async_compression::zstd::DParameter;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt};
use tokio::time::Instant;

use super::arriving::{Arriving, Received, unwrap_error};
use super::settings::Sizes;
use crate::error::{Error, Stage};
use crate::guard::Target;

/// How much is decompressed before the limits are looked at again.
const STEP: usize = 16 << 10;

/// Growth is not judged below this much content: a short page of one repeated letter is no bomb.
const GROWTH_FLOOR: u64 = 1 << 20;

/// The largest window that RFC 9659 lets a server use: 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// A way of packing content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Identity,
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl Encoding {
    /// What the headers say. More than one coding on top of each other is never asked for, and not accepted.
    pub(super) fn read(headers: &HeaderMap, target: &Target) -> Result<Self, Error> {
        let mut named = Vec::new();
        for value in headers.get_all(CONTENT_ENCODING) {
            let text = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
            named.extend(text.split(',').map(|name| name.trim().to_owned()));
        }
        named.retain(|name| !name.is_empty() && name != "identity");
        match named.as_slice() {
            [] => Ok(Self::Identity),
            [one] if one == "gzip" || one == "x-gzip" => Ok(Self::Gzip),
            [one] if one == "deflate" => Ok(Self::Deflate),
            [one] if one == "br" => Ok(Self::Brotli),
            [one] if one == "zstd" => Ok(Self::Zstd),
            _ => Err(Error::UnknownEncoding {
                host: target.host_name(),
                encoding: named.join(", ").escape_debug().take(80).collect(),
            }),
        }
    }

    /// For answers that are not unpacked.
    pub(super) fn must_be_plain(self, target: &Target) -> Result<(), Error> {
        if self == Self::Identity {
            return Ok(());
        }
        Err(Error::UnknownEncoding { host: target.host_name(), encoding: self.name().to_owned() })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

/// What was read.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) body: Bytes,
    pub(crate) sent_bytes: u64,
    /// Whether reading stopped at `keep_first`; what follows on the connection was not looked at.
    pub(crate) is_cut: bool,
    /// How long reading and decompressing took.
    pub(crate) took: Duration,
}

/// The content of a body as a stream, whatever it was packed with.
type Unpacked<'a> = dyn AsyncRead + Unpin + Send + 'a;

/// How to read a body.
#[derive(Debug)]
pub(super) struct Reading<'r> {
    pub(super) target: &'r Target,
    pub(super) encoding: Encoding,
    pub(super) sizes: Sizes,
    pub(super) keep_first: Option<u64>,
    /// The length of the content, where that was announced.
    pub(super) expected: Option<u64>,
}

impl Reading<'_> {
    /// Reads to the end, or to `keep_first`.
    pub(super) async fn read(&self, mut arriving: Arriving) -> Result<Content, Error> {
        let begin = Instant::now();
        let received = arriving.received();
        if self.keep_first.is_none() && arriving.expected().is_some_and(|bytes| bytes > self.sizes.sent) {
            return Err(self.too_large(self.sizes.sent, Stage::Sent));
        }
        if arriving.expected() == Some(0) {
            return Ok(Content { body: Bytes::new(), sent_bytes: 0, is_cut: false, took: Duration::ZERO });
        }
        let (content, is_cut) = self.decode(&mut arriving, &received).await?;
        if !is_cut {
            // Something may follow the packed content.
            arriving.drain().await.map_err(|error| self.broken(error))?;
        }
        let (sent_bytes, took) = (received.get(), begin.elapsed());
        Ok(Content { body: content.into(), sent_bytes, is_cut, took })
    }

    async fn decode(&self, arriving: &mut Arriving, received: &Received) -> Result<(Vec<u8>, bool), Error> {
        let mut content = self.unpacked(arriving).await?;
        self.collect(&mut *content, received).await
    }

    async fn unpacked<'a>(&self, arriving: &'a mut Arriving) -> Result<Box<Unpacked<'a>>, Error> {
        Ok(match self.encoding {
            Encoding::Identity => Box::new(arriving),
            Encoding::Gzip => {
                let mut decoder = GzipDecoder::new(arriving);
                // A gzip file is a sequence of members, and some servers send one per write.
                decoder.multiple_members(true);
                Box::new(decoder)
            }
            Encoding::Deflate => {
                // The standard says zlib; some servers send the bare stream. The first byte tells them apart.
                let first = arriving.fill_buf().await.map_err(|error| self.broken(error))?.first().copied();
                if first.is_some_and(|byte| byte & 0x8f == 8) {
                    Box::new(ZlibDecoder::new(arriving))
                } else {
                    Box::new(DeflateDecoder::new(arriving))
                }
            }
            Encoding::Brotli => Box::new(BrotliDecoder::new(arriving)),
            Encoding::Zstd => {
                let window = [DParameter::window_log_max(ZSTD_WINDOW_LOG)];
                let mut decoder = ZstdDecoder::with_params(arriving, &window);
                decoder.multiple_members(true);
                Box::new(decoder)
            }
        })
    }

    async fn collect(
        &self,
        reader: &mut Unpacked<'_>,
        received: &Received,
    ) -> Result<(Vec<u8>, bool), Error> {
        // One more than is expected, so that the end is seen without growing.
        let expected = self.expected.and_then(|bytes| usize::try_from(bytes).ok());
        let mut content = Vec::with_capacity(expected.map_or(STEP, |bytes| bytes.min(STEP) + 1));
        loop {
            if content.len() == content.capacity() {
                content.reserve(STEP);
            }
            let mut step = (&mut *reader).take(STEP as u64);
            if step.read_buf(&mut content).await.map_err(|error| self.broken(error))? == 0 {
                return Ok((content, false));
            }
            if let Some(keep) = self.keep_first.filter(|&keep| content.len() as u64 > keep) {
                content.truncate(usize::try_from(keep).unwrap_or(usize::MAX));
                return Ok((content, true));
            }
            self.check(content.len() as u64, received.get())?;
            // Packed data that is already here decodes without ever waiting; others want a turn.
            tokio::task::consume_budget().await;
        }
    }

    fn check(&self, decoded: u64, received: u64) -> Result<(), Error> {
        if decoded > self.sizes.decoded {
            return Err(self.too_large(self.sizes.decoded, Stage::Decoded));
        }
        if decoded > GROWTH_FLOOR && decoded / self.sizes.growth.max(1) > received {
            return Err(Error::Bomb { host: self.target.host_name(), limit: self.sizes.growth });
        }
        Ok(())
    }

    fn broken(&self, error: io::Error) -> Error {
        unwrap_error(error).unwrap_or_else(|reason| Error::BadEncoding {
            host: self.target.host_name(),
            encoding: self.encoding.name(),
            reason,
        })
    }

    fn too_large(&self, limit: u64, stage: Stage) -> Error {
        Error::BodyTooLarge { host: self.target.host_name(), limit, stage }
    }
}
