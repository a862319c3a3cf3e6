//! A change as it is reported: one line, and the words that differ. Bounded for any page.

use dunlin_core::Time;
use dunlin_extract::diff::Piece;
use dunlin_extract::{Change, Item};
use serde::{Deserialize, Serialize};

/// The most characters of a summary.
const LONGEST_SUMMARY: usize = 200;
/// The most characters of a title, of what was there and of what is there in a summary that has all three.
const LONGEST_PART: usize = 60;
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
    /// The detail of a change whose words differ like this.
    pub fn of(change: &Change<'_>, pieces: &[Piece<'_>]) -> Self {
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
        for piece in pieces {
            if room == 0 {
                detail.is_cut = true;
                break;
            }
            detail.push(*piece, &mut room);
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

/// A change whose words differ like this, in one line of at most 200 characters.
pub(super) fn summary(change: &Change<'_>, pieces: &[Piece<'_>]) -> String {
    match change {
        Change::Added(item) | Change::Removed(item) => one_line(&name_of(item)),
        Change::Edited { old, new } if old.title != new.title && !old.title.is_empty() => {
            one_line(&format!("{} → {}", old.title, name_of(new)))
        }
        Change::Edited { new, .. } => {
            let (removed, inserted) = largest_difference(pieces);
            let title = shortened(&new.title, LONGEST_PART);
            let title = if title.is_empty() { title } else { format!("{title}: ") };
            one_line(&match (&*removed, &*inserted) {
                ("", "") => name_of(new),
                ("", inserted) => format!("{title}+ {inserted}"),
                (removed, "") => format!("{title}− {removed}"),
                (removed, inserted) => {
                    let part = |text| shortened(text, LONGEST_PART);
                    format!("{title}{} → {}", part(removed), part(inserted))
                }
            })
        }
    }
}

/// What was removed, and what was inserted in its place, where the two are longest together. Differences with little but
/// spaces between them are one.
fn largest_difference(pieces: &[Piece<'_>]) -> (String, String) {
    let parts_two = |piece: &Piece<'_>| matches!(piece, Piece::Equal(text) if !text.trim().is_empty());
    let text_of = |pieces: &[Piece<'_>], is_other: fn(&Piece<'_>) -> bool| {
        let text: String = pieces.iter().filter(|piece| !is_other(piece)).map(|piece| piece.text()).collect();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let differences = pieces.split(parts_two).map(|pieces| {
        let removed = text_of(pieces, |piece| matches!(piece, Piece::Insert(_)));
        let inserted = text_of(pieces, |piece| matches!(piece, Piece::Delete(_)));
        (removed, inserted)
    });
    let mut largest = (String::new(), String::new());
    for (removed, inserted) in differences {
        // The first of equals: it is the one that is read first.
        if removed.len() + inserted.len() > largest.0.len() + largest.1.len() {
            largest = (removed, inserted);
        }
    }
    largest
}

/// The text in at most this many characters, cut between words if that leaves half of it.
fn shortened(text: &str, n_characters: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(n_characters) else { return line };
    let last = line.char_indices().nth(n_characters.saturating_sub(1)).map_or(end, |(at, _)| at);
    let kept = &line[..last];
    let at_word = kept.rfind(' ').filter(|at| *at > last / 2).map_or(kept, |at| &kept[..at]);
    format!("{}…", at_word.trim_end())
}

fn name_of(item: &Item) -> String {
    let first_line = || item.text.lines().next().unwrap_or_default();
    let name = if item.title.is_empty() { first_line() } else { &item.title };
    if name.is_empty() { item.id.to_string() } else { name.to_owned() }
}

fn one_line(text: &str) -> String {
    shortened(text, LONGEST_SUMMARY)
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
    use dunlin_extract::Work;
    use dunlin_extract::diff::words;

    use super::*;

    #[test]
    fn the_largest_difference_is_reported() {
        let told = |old, new| largest_difference(&words(old, new, &Work::default()));
        let both = |old: &str, new: &str| (old.to_owned(), new.to_owned());
        assert_eq!(
            told("22 users online. The price is 10 euros.", "23 users online. The price is now 12.50 euros."),
            both("10", "now 12.50")
        );
        assert_eq!(told("one two three", "one 2 3 three"), both("two", "2 3"));
        assert_eq!(told("red here old", "tan here new"), both("red", "tan"), "the first of equals");
        assert_eq!(told("same", "same"), both("", ""));
    }

    #[test]
    fn long_texts_are_cut_between_words_and_show_it() {
        assert_eq!(shortened("a short one", 60), "a short one");
        assert_eq!(
            shortened("News from all over the world | Main page", 33),
            "News from all over the world |…"
        );
        assert_eq!(shortened("Donaudampfschifffahrt", 5), "Dona…");
        assert_eq!(shortened("東京都千代田区", 4), "東京都…");
    }
}
