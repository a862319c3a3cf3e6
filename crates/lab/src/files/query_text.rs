//! A file of queries as text: no more of it than the language allows, in UTF-8. What the text says is the business of
//! `dunlin_query`.

use std::io::Read;
use std::path::Path;

use dunlin_query::limits::MAX_TEXT;

use super::Problem;
use super::open::open;
use crate::Error;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Reads queries from a path, or from standard input for `-`.
pub fn open_query_text(path: &Path) -> Result<String, Error> {
    read_query_text(open(path)?, &path.display().to_string())
}

/// Reads queries from `input`, called `file` in messages. A byte order mark, which some editors write, is left out.
pub fn read_query_text(input: impl Read, file: &str) -> Result<String, Error> {
    let mut bytes = Vec::new();
    // With a mark in front, the text may still have all the bytes that are allowed.
    let most = MAX_TEXT + BYTE_ORDER_MARK.len_utf8();
    let read = input.take(most as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|reason| Error::Read { file: file.to_owned(), reason })?;
    let bad = |before: &[u8], problem| {
        let line = before.split(|byte| *byte == b'\n').count() as u64;
        Err(Error::BadLine { file: file.to_owned(), line, problem })
    };
    let text = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        // The last character may have been cut by us; then the text is too long in the first place.
        Err(error) if error.error_len().is_none() && bytes.len() > most => "",
        Err(error) => return bad(&bytes[..error.valid_up_to()], Problem::NotUtf8Queries),
    };
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    if text.len() > MAX_TEXT || bytes.len() > most {
        return bad(&bytes[..MAX_TEXT], Problem::QueriesTooLong { limit: MAX_TEXT });
    }
    Ok(text.to_owned())
}
