//! The index of texts, as a full-text table of `SQLite` without the texts themselves. Words come cut and in lower case, so the
//! tokenizer that takes everything beyond ASCII for a letter finds exactly these words.
//!
//! Invariant: the table is there while there is a row in `text_index_state`.

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::text::MAX_TEXT_BYTES;
use crate::{Error, FoundTexts, SourceId, SourceText, TextIndex, TextScope};

pub(super) fn state(connection: &Connection) -> Result<TextIndex, Error> {
    let mut select = connection.prepare_cached("SELECT built_to, is_complete FROM text_index_state")?;
    let state = select.query_row([], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    Ok(match state {
        None => TextIndex::None,
        Some((_, true)) => TextIndex::Complete,
        Some((built_to, false)) => TextIndex::UpTo(SourceId(built_to)),
    })
}

/// Adds a portion to the index, which begins if there is none.
pub(super) fn build(
    connection: &Connection,
    portion: &[SourceText],
    reached: TextIndex,
) -> Result<(), Error> {
    if state(connection)? == TextIndex::None {
        connection.execute_batch(
            "CREATE VIRTUAL TABLE text_index USING fts5
             (words, content = '', contentless_delete = 1, tokenize = 'ascii')",
        )?;
    }
    for text in portion {
        // A source may have gone since it was read.
        if super::sources::demand(connection, text.source).is_ok() {
            put(connection, text.source, &text.words)?;
        }
    }
    let (built_to, is_complete) = match reached {
        TextIndex::None => (0, false),
        TextIndex::UpTo(source) => (source.0, false),
        TextIndex::Complete => (i64::MAX, true),
    };
    connection
        .prepare_cached(
            "INSERT INTO text_index_state (id, built_to, is_complete) VALUES (1, ?1, ?2)
             ON CONFLICT (id) DO UPDATE SET built_to = ?1, is_complete = ?2",
        )?
        .execute(params![built_to, is_complete])?;
    Ok(())
}

pub(super) fn remove_all(connection: &Connection) -> Result<(), Error> {
    if state(connection)? == TextIndex::None {
        return Ok(());
    }
    connection.execute_batch("DROP TABLE text_index; DELETE FROM text_index_state;")?;
    Ok(())
}

/// What a source says from now on, if there is an index.
pub(super) fn replace(connection: &Connection, source: SourceId, words: &str) -> Result<(), Error> {
    if state(connection)? == TextIndex::None { Ok(()) } else { put(connection, source, words) }
}

/// Forgets a source that is removed.
pub(super) fn remove(connection: &Connection, source: SourceId) -> Result<(), Error> {
    if state(connection)? != TextIndex::None {
        connection.prepare_cached("DELETE FROM text_index WHERE rowid = ?1")?.execute([source.0])?;
    }
    Ok(())
}

fn put(connection: &Connection, source: SourceId, words: &str) -> Result<(), Error> {
    let kept = &words[..words.floor_char_boundary(MAX_TEXT_BYTES)];
    connection
        .prepare_cached("INSERT OR REPLACE INTO text_index (rowid, words) VALUES (?1, ?2)")?
        .execute(params![source.0, kept])?;
    Ok(())
}

/// Sources that have at least one of the words.
pub(super) fn find(connection: &Connection, words: &[String], scope: TextScope) -> Result<FoundTexts, Error> {
    if words.is_empty() || state(connection)? == TextIndex::None {
        return Ok(FoundTexts { n_with: vec![0; words.len()], ..FoundTexts::default() });
    }
    let any_of = words.iter().map(|word| phrase(word)).collect::<Vec<_>>().join(" OR ");
    let found = match scope {
        TextScope::Best(limit) => scores(
            connection,
            "SELECT rowid, rank FROM text_index WHERE text_index MATCH ?1 ORDER BY rank, rowid LIMIT ?2",
            &any_of,
            i64::from(limit),
        )?,
        TextScope::Source(source) => scores(
            connection,
            "SELECT rowid, rank FROM text_index WHERE text_index MATCH ?1 AND rowid = ?2",
            &any_of,
            source.0,
        )?,
    };
    let mut count = connection.prepare_cached("SELECT count(*) FROM text_index WHERE text_index MATCH ?1")?;
    let number = |number: i64| number.cast_unsigned();
    let n_with = words.iter().map(|word| count.query_row([phrase(word)], |row| row.get(0)).map(number));
    let n_with = n_with.collect::<Result<_, _>>()?;
    let n_texts =
        connection.prepare_cached("SELECT count(*) FROM text_index_docsize")?.query_row([], |row| row.get(0));
    Ok(FoundTexts { n_texts: number(n_texts?), n_with, scores: found })
}

fn scores(
    connection: &Connection,
    sql: &str,
    any_of: &str,
    bound: i64,
) -> Result<Vec<(SourceId, f64)>, Error> {
    let mut select = connection.prepare_cached(sql)?;
    // The better it fits, the smaller the rank.
    let rows = select
        .query_map(params![any_of, bound], |row| Ok((SourceId(row.get(0)?), -row.get::<_, f64>(1)?)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A word as the full-text query takes it, whatever is in it.
fn phrase(word: &str) -> String {
    format!("\"{}\"", word.replace('"', "\"\""))
}
