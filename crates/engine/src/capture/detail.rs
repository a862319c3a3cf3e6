//! A change as it is told: one line, and the words that are different. Bounded, however large the page.

use dunlin_core::Time;
use dunlin_extract::diff::Piece;
use dunlin_extract::{Change, Item};
use serde::{Deserialize, Serialize};

/// The most characters of a summary.
const LONGEST_SUMMARY: usize = 200;
/// The most bytes of changed text in one detail.
const MAX_TEXT: usize = 32 << 10;
/// Bytes of unchanged text that are kept on either side of a difference.
const CONTEXT: usize = 160;

/// What is in the `detail` of a stored change, as JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangeDetail {
    /// The title of the item, as it is now or last was.
    pub title: String,
    /// What the title was before, if it is another one.
    pub old_title: Option<String>,
    /// Where it points to.
    pub link: Option<String>,
    /// When its publisher says it appeared, in microseconds since 1970.
    pub published: Option<i64>,
    /// The text, word by word; unchanged parts are shortened.
    pub pieces: Vec<DetailPiece>,
    /// Whether there was more.
    pub is_cut: bool,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DetailPiece {
    /// There before and now.
    Kept(String),
    /// There before.
    Removed(String),
    /// There now.
    Inserted(String),
    /// Something unchanged was left out here.
    Gap,
}

impl ChangeDetail {
    /// The detail of a change.
    pub fn of(change: &Change<'_>) -> Self {
        let item = change.item();
        let old_title = match change {
            Change::Edited { old, new } if old.title != new.title => Some(old.title.clone()),
            _ => None,
        };
        let mut detail = Self {
            title: item.title.clone(),
            old_title,
            link: item.link.clone(),
            published: item.published.map(Time::micros),
            ..Self::default()
        };
        let mut room = MAX_TEXT;
        for piece in change.words() {
            if room == 0 {
                detail.is_cut = true;
                break;
            }
            detail.push(piece, &mut room);
        }
        detail
    }

    fn push(&mut self, piece: Piece<'_>, room: &mut usize) {
        let mut take = |text: &str, is_cut: &mut bool| {
            let kept = up_to(text, *room);
            *is_cut |= kept.len() < text.len();
            *room -= kept.len();
            kept.to_owned()
        };
        match piece {
            Piece::Insert(text) => self.pieces.push(DetailPiece::Inserted(take(text, &mut self.is_cut))),
            Piece::Delete(text) => self.pieces.push(DetailPiece::Removed(take(text, &mut self.is_cut))),
            Piece::Equal(text) if text.len() <= 2 * CONTEXT => {
                self.pieces.push(DetailPiece::Kept(take(text, &mut self.is_cut)));
            }
            Piece::Equal(text) => {
                let head = take(up_to(text, CONTEXT), &mut self.is_cut);
                let tail = take(last(text, CONTEXT), &mut self.is_cut);
                self.pieces.extend([DetailPiece::Kept(head), DetailPiece::Gap, DetailPiece::Kept(tail)]);
            }
        }
    }

    /// As it is stored.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a stored detail; `None` for one that is empty or in another form.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

/// A change in one line of at most 200 characters.
pub(super) fn summary(change: &Change<'_>) -> String {
    match change {
        Change::Added(item) | Change::Removed(item) => one_line(&name_of(item)),
        Change::Edited { old, new } if old.title != new.title && !old.title.is_empty() => {
            one_line(&format!("{} → {}", old.title, name_of(new)))
        }
        Change::Edited { new, .. } => {
            let pieces = change.words();
            let part = |wanted: fn(&Piece<'_>) -> bool| {
                pieces
                    .iter()
                    .filter(|piece| wanted(piece))
                    .map(|piece| piece.text().trim())
                    .find(|t| !t.is_empty())
            };
            let removed = part(|piece| matches!(piece, Piece::Delete(_))).unwrap_or_default();
            let inserted = part(|piece| matches!(piece, Piece::Insert(_))).unwrap_or_default();
            let cut = |text: &str| -> String { text.chars().take(60).collect() };
            let title = if new.title.is_empty() { String::new() } else { format!("{}: ", cut(&new.title)) };
            one_line(&match (removed, inserted) {
                ("", "") => name_of(new),
                ("", inserted) => format!("{title}+ {inserted}"),
                (removed, "") => format!("{title}− {removed}"),
                (removed, inserted) => format!("{title}{} → {}", cut(removed), cut(inserted)),
            })
        }
    }
}

fn name_of(item: &Item) -> String {
    let first_line = || item.text.lines().next().unwrap_or_default();
    let name = if item.title.is_empty() { first_line() } else { &item.title };
    if name.is_empty() { item.id.to_string() } else { name.to_owned() }
}

fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST_SUMMARY {
        return line;
    }
    line.chars().take(LONGEST_SUMMARY - 1).chain(['…']).collect()
}

/// The beginning of a text, cut between characters.
fn up_to(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The end of a text, cut between characters.
fn last(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}
