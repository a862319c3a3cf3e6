//! The words that differ in a change, as they are stored and shown. Bounded for any page. The one line that says it is
//! [`dunlin_extract::summary`].

use dunlin_core::Time;
use dunlin_extract::diff::{Piece, words};
use dunlin_extract::flicker::Changed;
use dunlin_extract::{Change, Work};
use serde::{Deserialize, Serialize};

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
    /// What stands above the part that changed, on its page; may be empty.
    pub heading: String,
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
    /// The detail of the changes of one item, at least one: the words that differ, as far as the work goes.
    pub fn of(parts: &[&Changed<'_>], work: &Work) -> Self {
        let changed = parts[0];
        let item = changed.item();
        let old_title = match changed.change {
            Change::Edited { old, new } if old.title != new.title => Some(old.title.clone()),
            _ => None,
        };
        let mut detail = Self {
            title: item.title.clone(),
            heading: changed.heading.to_owned(),
            old_title,
            link: item.link.clone(),
            published: item.published.map(Time::micros),
            ..Self::default()
        };
        let mut room = MAX_TEXT;
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                detail.pieces.push(DetailPiece::Gap);
            }
            for piece in words(&part.old, &part.new, work) {
                if room == 0 {
                    detail.is_cut = true;
                    return detail;
                }
                detail.push(piece, &mut room);
            }
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

/// The beginning of a text, cut between characters.
fn up_to(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The end of a text, cut between characters.
fn last(text: &str, bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(bytes))..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(piece: Piece<'_>, mut room: usize) -> (ChangeDetail, usize) {
        let mut detail = ChangeDetail::default();
        detail.push(piece, &mut room);
        (detail, room)
    }

    #[test]
    fn a_detail_holds_so_much_and_says_when_there_was_more() {
        let (whole, room) = pushed(Piece::Insert("Bob"), 5);
        assert_eq!(
            (whole.pieces, whole.is_cut, room),
            (vec![DetailPiece::Inserted("Bob".to_owned())], false, 2)
        );
        let (cut, room) = pushed(Piece::Delete("Ännchen"), 5);
        assert_eq!((cut.pieces, cut.is_cut, room), (vec![DetailPiece::Removed("Ännc".to_owned())], true, 0));
    }

    #[test]
    fn of_what_has_not_changed_only_the_ends_are_kept() {
        let short = "s".repeat(2 * CONTEXT);
        assert_eq!(pushed(Piece::Equal(&short), MAX_TEXT).0.pieces, [DetailPiece::Kept(short)]);
        let long = format!("{}{}{}", "a".repeat(CONTEXT), "m".repeat(999), "z".repeat(CONTEXT));
        let kept = |letter: &str| DetailPiece::Kept(letter.repeat(CONTEXT));
        let (detail, room) = pushed(Piece::Equal(&long), MAX_TEXT);
        assert_eq!(detail.pieces, [kept("a"), DetailPiece::Gap, kept("z")]);
        assert_eq!((detail.is_cut, room), (false, MAX_TEXT - 2 * CONTEXT));
    }
}
