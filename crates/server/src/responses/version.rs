//! A version as clients see it, and two of them compared.

use dunlin_engine::capture::DetailPiece;
use dunlin_extract::diff::Piece;
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
