//! A version as clients see it, and two of them compared.

use dunlin_engine::capture::DetailPiece;
use dunlin_extract::diff::{Piece, Row};
use dunlin_store::Version;
use serde::Serialize;
use utoipa::ToSchema;

use dunlin_engine::clock::rfc3339;

/// A version of a source, without its content.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VersionResponse {
    id: i64,
    source: i64,
    /// When it was captured.
    #[schema(format = DateTime)]
    captured_at: String,
    /// The BLAKE3 hash of its content.
    hash: String,
    /// Bytes of its content.
    size: u64,
    /// The declared type of the content; empty when unknown.
    media_type: String,
}

impl From<Version> for VersionResponse {
    fn from(version: Version) -> Self {
        Self {
            id: version.id.0,
            source: version.source.0,
            captured_at: rfc3339(version.at),
            hash: version.hash.to_string(),
            size: version.size,
            media_type: version.media_type,
        }
    }
}

/// What differs between two versions, word by word.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DifferenceResponse {
    pub(crate) version: i64,
    /// The version it is compared with; null when there is none before it.
    pub(crate) against: Option<i64>,
    /// Kept and deleted pieces make the old text, kept and inserted ones the new.
    pub(crate) pieces: Vec<DifferencePiece>,
    /// The same side by side, line by line; only with `rows=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<Vec<DifferenceRow>>,
}

/// A line of each version, or of one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct DifferenceRow {
    /// equal, edit, insert, delete, or gap: equal lines that are left out.
    #[schema(value_type = String)]
    op: &'static str,
    /// The line before, in pieces; null where there is none.
    old: Option<Vec<DifferencePiece>>,
    /// The line now, in pieces; null where there is none.
    new: Option<Vec<DifferencePiece>>,
    /// How many lines are left out.
    n_lines: Option<usize>,
}

impl From<Row<'_>> for DifferenceRow {
    fn from(row: Row<'_>) -> Self {
        let one = |piece: Piece<'_>| Some(vec![DifferencePiece::from(piece)]);
        let (op, old, new, n_lines) = match row {
            Row::Equal(line) => ("equal", one(Piece::Equal(line)), one(Piece::Equal(line)), None),
            Row::Inserted(line) => ("insert", None, one(Piece::Insert(line)), None),
            Row::Deleted(line) => ("delete", one(Piece::Delete(line)), None, None),
            Row::Gap(n_lines) => ("gap", None, None, Some(n_lines)),
            Row::Edited(pieces) => {
                let side = |other: fn(&Piece<'_>) -> bool| {
                    let pieces = pieces.iter().filter(|piece| !other(piece));
                    Some(pieces.map(|piece| DifferencePiece::from(*piece)).collect())
                };
                let old = side(|piece| matches!(piece, Piece::Insert(_)));
                ("edit", old, side(|piece| matches!(piece, Piece::Delete(_))), None)
            }
        };
        Self { op, old, new, n_lines }
    }
}

/// A piece of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct DifferencePiece {
    op: Operation,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Operation {
    Equal,
    Insert,
    Delete,
    /// Unchanged text is left out here.
    Gap,
}

impl From<Piece<'_>> for DifferencePiece {
    fn from(piece: Piece<'_>) -> Self {
        let op = match piece {
            Piece::Equal(_) => Operation::Equal,
            Piece::Insert(_) => Operation::Insert,
            Piece::Delete(_) => Operation::Delete,
        };
        Self { op, text: piece.text().to_owned() }
    }
}

impl From<DetailPiece> for DifferencePiece {
    fn from(piece: DetailPiece) -> Self {
        let (op, text) = match piece {
            DetailPiece::Kept(text) => (Operation::Equal, text),
            DetailPiece::Inserted(text) => (Operation::Insert, text),
            DetailPiece::Removed(text) => (Operation::Delete, text),
            DetailPiece::Gap => (Operation::Gap, String::new()),
        };
        Self { op, text }
    }
}
