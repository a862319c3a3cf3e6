//! Caps on the length of lines and records, and where each line starts.
//!
//! Sits under the CSV reader because only here is a line known before it is in memory: a ten-gigabyte line,
//! even one that is ten kilobytes of gzip, is refused after its first 64 KiB. The CSV reader's own line
//! counter cannot be used: it counts a record from the end of the one before, blank lines included.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read};

/// The longest line accepted, without its end.
pub(super) const LINE_LIMIT: usize = 64 * 1024;

/// How much the CSV reader asks for at a time; also by how much the length of a record may be overestimated.
pub(super) const CHUNK: usize = 8 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Why no more bytes are handed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// This line is too long.
    Line(u64),
    /// The record that starts on this line is too long, though none of its lines is.
    Record(u64),
}

/// Hands bytes on, keeping count of lines. A line ends with LF, CR LF, or CR.
pub(super) struct LineGuard<R> {
    input: R,
    /// Bytes handed out.
    delivered: u64,
    /// The line the next byte belongs to, from 1.
    line: u64,
    /// Bytes of it handed out.
    line_bytes: usize,
    after_cr: bool,
    /// Offset and number of every line with content since the present record began.
    starts: VecDeque<(u64, u64)>,
    /// One past the last byte that is not part of a line end.
    content_end: u64,
    /// Nothing between records lies before this offset: where the last record ended, or later.
    record_start: u64,
    refusal: Option<Refusal>,
}

impl<R: Read> LineGuard<R> {
    pub(super) const fn new(input: R) -> Self {
        Self {
            input,
            delivered: 0,
            line: 1,
            line_bytes: 0,
            after_cr: false,
            starts: VecDeque::new(),
            content_end: 0,
            record_start: 0,
            refusal: None,
        }
    }

    /// Says that the reader has consumed everything before `offset` and starts a new record there.
    pub(super) fn begin_record(&mut self, offset: u64) {
        self.record_start = offset;
        while self.starts.front().is_some_and(|&(start, _)| start < offset) {
            self.starts.pop_front();
        }
    }

    /// The line on which the present record starts, blank lines before it left out.
    pub(super) fn record_line(&self) -> u64 {
        self.starts.front().map_or(self.line, |&(_, line)| line)
    }

    /// The line that was being read when reading stopped.
    pub(super) const fn line(&self) -> u64 {
        self.line
    }

    pub(super) const fn refusal(&self) -> Option<Refusal> {
        self.refusal
    }

    pub(super) const fn input(&self) -> &R {
        &self.input
    }

    /// Fills the buffer far enough to tell whether there is a byte order mark, and drops it.
    fn read_first(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < BYTE_ORDER_MARK.len() {
            match self.read_some(&mut buf[filled..])? {
                0 => break,
                more => filled += more,
            }
        }
        if buf[..filled].starts_with(BYTE_ORDER_MARK) {
            buf.copy_within(BYTE_ORDER_MARK.len()..filled, 0);
            filled -= BYTE_ORDER_MARK.len();
            if filled == 0 {
                return self.read_some(buf);
            }
        }
        Ok(filled)
    }

    fn read_some(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.input.read(buf) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// The reader asks for more only when it has consumed everything, so all that was handed out since the
    /// record began is in its memory, unless it is blank lines.
    fn check_record(&mut self) {
        if self.content_end <= self.record_start {
            self.record_start = self.delivered;
        } else if self.delivered - self.record_start > (LINE_LIMIT + CHUNK) as u64 && self.refusal.is_none() {
            self.refusal = Some(Refusal::Record(self.record_line()));
        }
    }

    /// Keeps count of lines; says how many of the bytes may be handed out.
    fn scan(&mut self, bytes: &[u8]) -> usize {
        for (offset, &byte) in (self.delivered..).zip(bytes) {
            if byte == b'\n' || byte == b'\r' {
                let second_half = byte == b'\n' && self.after_cr;
                self.line += u64::from(!second_half);
                self.line_bytes = 0;
                self.after_cr = byte == b'\r';
                continue;
            }
            self.after_cr = false;
            if self.line_bytes == 0 {
                self.starts.push_back((offset, self.line));
            }
            if self.line_bytes == LINE_LIMIT {
                self.refusal = Some(Refusal::Line(self.line));
                return usize::try_from(offset - self.delivered).unwrap_or(0);
            }
            self.line_bytes += 1;
            self.content_end = offset + 1;
        }
        bytes.len()
    }
}

impl<R: Read> Read for LineGuard<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.check_record();
        if self.refusal.is_some() {
            return Err(io::Error::other("line or record too long"));
        }
        let first = self.delivered == 0 && buf.len() >= BYTE_ORDER_MARK.len();
        let filled = if first { self.read_first(buf)? } else { self.read_some(buf)? };
        let handed_out = self.scan(&buf[..filled]);
        self.delivered += handed_out as u64;
        if handed_out == 0 && self.refusal.is_some() {
            return Err(io::Error::other("line or record too long"));
        }
        Ok(handed_out)
    }
}
