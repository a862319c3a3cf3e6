//! From the body as sent to the content: decompressed, whole, and within its limits on both sides.
//!
//! Invariant: at no time are more than the limits, plus one read, held in memory, however well the body is packed; and
//! no memory is held that was not reserved first ([`BodyMemory`]).

use std::io;
use std::sync::Arc;
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

use super::body_memory::{BodyMemory, MemoryReservation, NoMemory};
use super::body_stream::{BodyStream, Received, unwrap_error};
use super::settings::Sizes;
use crate::error::{Error, Stage};
use crate::guard::Target;

/// How much is decompressed before the limits are checked again.
const STEP: usize = 16 << 10;

/// Growth is not judged below this much content: a short page of one repeated letter is no bomb.
const GROWTH_FLOOR: u64 = 1 << 20;

/// The largest window that RFC 9659 lets a server use: 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// The largest window of brotli.
const BROTLI_WINDOW: u64 = 16 << 20;

/// What gzip and deflate hold besides the content.
const INFLATING: u64 = 64 << 10;

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
    /// What the headers say. More than one coding on top of each other is not accepted.
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

    /// The most that unpacking holds besides the content: the window, which fills as the content grows.
    const fn window(self) -> u64 {
        match self {
            Self::Identity => 0,
            Self::Gzip | Self::Deflate => INFLATING,
            Self::Brotli => BROTLI_WINDOW,
            Self::Zstd => 1 << ZSTD_WINDOW_LOG,
        }
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
    /// Whether reading stopped at `keep_first`; the rest on the connection was not read.
    pub(crate) is_cut: bool,
    /// How long reading and decompressing took.
    pub(crate) took: Duration,
}

/// A body and the memory it takes, until the last reader lets go of it.
struct Held {
    content: Vec<u8>,
    _reservation: MemoryReservation,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.content
    }
}

/// The most memory that one body needs, with these limits and this much in transit.
pub(super) fn largest(sizes: &Sizes, in_transit: u64) -> u64 {
    let content = sizes.decoded.saturating_add(2 * STEP as u64);
    content.saturating_add(BROTLI_WINDOW).saturating_add(in_transit)
}

/// The decompressed content of a body as a stream.
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
    pub(super) memory: &'r Arc<BodyMemory>,
    /// What may have been received and not yet been read, in the buffers of the connection.
    pub(super) in_transit: u64,
    /// Until when memory is waited for.
    pub(super) deadline: Instant,
}

impl Reading<'_> {
    /// Reads to the end, or to `keep_first`.
    pub(super) async fn read(&self, mut stream: BodyStream) -> Result<Content, Error> {
        let begin = Instant::now();
        let received = stream.received();
        if self.keep_first.is_none() && stream.expected().is_some_and(|bytes| bytes > self.sizes.sent) {
            return Err(self.too_large(self.sizes.sent, Stage::Sent));
        }
        if stream.expected() == Some(0) {
            return Ok(Content { body: Bytes::new(), sent_bytes: 0, is_cut: false, took: Duration::ZERO });
        }
        let mut reservation = self.memory.reserve();
        let (mut content, is_cut) = tokio::select! {
            biased;
            decoded = self.decode(&mut stream, &received, &reservation) => decoded?,
            () = reservation.ended() => return Err(Error::CrowdsOut { host: self.target.host_name() }),
        };
        if content.capacity() - content.len() > STEP {
            content.shrink_to_fit();
        }
        reservation.arrive(content.capacity() as u64);
        let (sent_bytes, took) = (received.get(), begin.elapsed());
        let body = Bytes::from_owner(Held { content, _reservation: reservation });
        Ok(Content { body, sent_bytes, is_cut, took })
    }

    async fn decode(
        &self,
        stream: &mut BodyStream,
        received: &Received,
        reservation: &MemoryReservation,
    ) -> Result<(Vec<u8>, bool), Error> {
        let mut content = self.unpacked(stream).await?;
        let (collected, is_cut) = self.collect(&mut *content, received, reservation).await?;
        drop(content);
        if !is_cut {
            // Something may follow the packed content.
            stream.drain().await.map_err(|error| self.broken(error))?;
        }
        Ok((collected, is_cut))
    }

    async fn unpacked<'a>(&self, stream: &'a mut BodyStream) -> Result<Box<Unpacked<'a>>, Error> {
        Ok(match self.encoding {
            Encoding::Identity => Box::new(stream),
            Encoding::Gzip => {
                let mut decoder = GzipDecoder::new(stream);
                // A gzip file is a sequence of members, and some servers send one per write.
                decoder.multiple_members(true);
                Box::new(decoder)
            }
            Encoding::Deflate => {
                // The standard says zlib; some servers send the bare stream. The first byte tells them apart.
                let first = stream.fill_buf().await.map_err(|error| self.broken(error))?.first().copied();
                if first.is_some_and(|byte| byte & 0x8f == 8) {
                    Box::new(ZlibDecoder::new(stream))
                } else {
                    Box::new(DeflateDecoder::new(stream))
                }
            }
            Encoding::Brotli => Box::new(BrotliDecoder::new(stream)),
            Encoding::Zstd => {
                let window = [DParameter::window_log_max(ZSTD_WINDOW_LOG)];
                let mut decoder = ZstdDecoder::with_params(stream, &window);
                decoder.multiple_members(true);
                Box::new(decoder)
            }
        })
    }

    async fn collect(
        &self,
        reader: &mut Unpacked<'_>,
        received: &Received,
        reservation: &MemoryReservation,
    ) -> Result<(Vec<u8>, bool), Error> {
        let mut content = Vec::new();
        let mut needed = 0;
        loop {
            if content.len() == content.capacity() {
                let larger = self.next_capacity(content.len());
                let before = std::mem::replace(&mut needed, self.needed(larger as u64));
                reservation.grow(needed - before, self.deadline).await.map_err(|why| self.no_memory(why))?;
                content.reserve_exact(larger - content.len());
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
            // Data that is already here decodes without ever waiting; other tasks need a turn.
            tokio::task::consume_budget().await;
        }
    }

    /// The next capacity of the buffer after `full` bytes: twice as many, up to the end or the limit.
    fn next_capacity(&self, full: usize) -> usize {
        let most = self.keep_first.unwrap_or(self.sizes.decoded).min(self.sizes.decoded);
        // One more than is expected, so that the end is seen without growing.
        let most = self.expected.map_or(most.saturating_add(STEP as u64), |bytes| bytes.saturating_add(1));
        let doubled = full.saturating_mul(2).max(STEP);
        doubled.min(usize::try_from(most).unwrap_or(usize::MAX)).max(full + 1)
    }

    /// How much memory a body takes with a buffer of this capacity.
    fn needed(&self, capacity: u64) -> u64 {
        self.in_transit + capacity + capacity.min(self.encoding.window())
    }

    fn no_memory(&self, why: NoMemory) -> Error {
        let (host, limit) = (self.target.host_name(), self.memory.limit());
        match why {
            NoMemory::TooLarge => Error::BodyTooLarge { host, limit, stage: Stage::Held },
            NoMemory::TimedOut => Error::NoRoom { host, limit },
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
