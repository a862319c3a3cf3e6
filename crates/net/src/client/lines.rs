//! An endless answer, read line by line. Its whole length has no limit; each line has one, and so has each silence.

use std::fmt;

use http::StatusCode;
use tokio::io::{AsyncBufReadExt, AsyncReadExt};

use super::body_stream::{BodyStream, unwrap_error};
use super::connection::Connection;
use crate::error::{Error, Stage};

/// The longest line.
const MAX_LINE: usize = 1 << 20;

/// The most of an answer that turned out to be an error page.
const MAX_PAGE: u64 = 64 << 10;

/// The answer. Dropping it ends the connection.
pub struct Lines {
    status: StatusCode,
    stream: BodyStream,
    host: String,
    /// Held, since a dropped handle would end the connection.
    _connection: Connection,
}

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines")
            .field("host", &self.host)
            .field("status", &self.status)
            .finish_non_exhaustive()
    }
}

impl Lines {
    pub(super) fn new(status: StatusCode, stream: BodyStream, host: String, connection: Connection) -> Self {
        Self { status, stream, host, _connection: connection }
    }

    /// What the server answered; lines of anything but a success are an error page.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// The next line without its end; `None` when the server has ended the answer. Bytes that are not UTF-8 are
    /// replaced.
    pub async fn next(&mut self) -> Result<Option<String>, Error> {
        let mut line = Vec::new();
        loop {
            let piece = self.stream.fill_buf().await;
            let piece = piece.map_err(|error| broken(&self.host, error))?;
            if piece.is_empty() {
                return Ok(None);
            }
            let end = piece.iter().position(|&byte| byte == b'\n');
            line.extend_from_slice(&piece[..end.unwrap_or(piece.len())]);
            let n_bytes = end.map_or(piece.len(), |end| end + 1);
            AsyncBufReadExt::consume(&mut self.stream, n_bytes);
            if line.len() > MAX_LINE {
                let limit = MAX_LINE as u64;
                return Err(Error::BodyTooLarge { host: self.host.clone(), limit, stage: Stage::Line });
            }
            if end.is_some() {
                if line.last() == Some(&b'\r') {
                    line.pop();
                }
                return Ok(Some(String::from_utf8_lossy(&line).into_owned()));
            }
        }
    }

    /// What is left of an answer that has an end, such as an error page, up to a limit.
    pub async fn rest(mut self) -> Result<Vec<u8>, Error> {
        let mut page = Vec::new();
        let read = (&mut self.stream).take(MAX_PAGE).read_to_end(&mut page).await;
        read.map_err(|error| broken(&self.host, error))?;
        Ok(page)
    }
}

fn broken(host: &str, error: std::io::Error) -> Error {
    unwrap_error(error).unwrap_or_else(|reason| Error::Connect { host: host.to_owned(), reason })
}
