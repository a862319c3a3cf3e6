//! CSV records with exact line numbers and errors that say where. Knows nothing of columns.

use std::io::{self, Read};

use csv::{ErrorKind, ReaderBuilder, StringRecord};

use super::Problem;
use super::lines::{CHUNK, LINE_LIMIT, LineGuard, Refusal};
use super::open::Decoded;
use crate::Error;

/// The records of one file, one at a time; blank lines are skipped.
pub(super) struct Records<R: Read> {
    file: String,
    reader: csv::Reader<LineGuard<Decoded<R>>>,
    record: StringRecord,
    line: u64,
}

impl<R: Read> Records<R> {
    /// The records of `input`, called `file` in messages.
    pub(super) fn new(input: R, file: &str) -> Result<Self, Error> {
        let decoded = Decoded::new(input).map_err(|reason| Error::Read { file: file.to_owned(), reason })?;
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .buffer_capacity(CHUNK)
            .from_reader(LineGuard::new(decoded));
        Ok(Self { file: file.to_owned(), reader, record: StringRecord::new(), line: 1 })
    }

    /// Moves to the next record that is not blank; false at the end of the file.
    pub(super) fn advance(&mut self) -> Result<bool, Error> {
        loop {
            let offset = self.reader.position().byte();
            self.reader.get_mut().begin_record(offset);
            match self.reader.read_record(&mut self.record) {
                Ok(true) => self.line = self.reader.get_ref().record_line(),
                Ok(false) => return Ok(false),
                Err(error) => return Err(self.explain(error)),
            }
            let blank = self.record.len() == 1 && self.record[0].trim().is_empty();
            if !blank {
                return Ok(true);
            }
        }
    }

    /// The present record.
    pub(super) const fn record(&self) -> &StringRecord {
        &self.record
    }

    /// The line on which the present record starts; after the end, that of the last one.
    pub(super) const fn line(&self) -> u64 {
        self.line
    }

    /// The name of the file in messages.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Refuses `line`.
    pub(super) fn bad_line(&self, line: u64, problem: impl Into<Problem>) -> Error {
        Error::BadLine { file: self.file.clone(), line, problem: problem.into() }
    }

    fn explain(&self, error: csv::Error) -> Error {
        let guard = self.reader.get_ref();
        match guard.refusal() {
            Some(Refusal::Line(line)) => {
                return self.bad_line(line, Problem::LineTooLong { limit: LINE_LIMIT });
            }
            Some(Refusal::Record(line)) => {
                return self.bad_line(line, Problem::QuoteTooLong { limit: LINE_LIMIT });
            }
            None => {}
        }
        let reason = match error.into_kind() {
            ErrorKind::Io(reason) => reason,
            ErrorKind::Utf8 { .. } => return self.bad_line(guard.record_line(), Problem::NotUtf8),
            // The other kinds need features of the reader that are switched off.
            kind => io::Error::other(format!("{kind:?}")),
        };
        // What the decoder itself complains about carries no error code of the system.
        let from_decoder = guard.input().is_gzip() && reason.raw_os_error().is_none();
        match reason.kind() {
            io::ErrorKind::UnexpectedEof if from_decoder => {
                self.bad_line(guard.line(), Problem::TruncatedGzip)
            }
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData if from_decoder => {
                self.bad_line(guard.line(), Problem::DamagedGzip)
            }
            _ => Error::Read { file: self.file.clone(), reason },
        }
    }
}
