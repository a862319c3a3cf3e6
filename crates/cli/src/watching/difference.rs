//! Pieces of two texts as a person reads them: coloured on a terminal, between marks elsewhere.

use dunlin_extract::diff::{Piece, Row};

use crate::backend::records::{ChangeRecord, PieceOperation, PieceRecord};
use crate::terminal::{Paint, Tone, harmless, one_line};

/// A longer heading is a text.
const LONGEST_HEADING: usize = 80;

pub(super) fn painted(pieces: &[PieceRecord], paint: Paint) -> String {
    let shown = |piece: &PieceRecord| {
        let text = harmless(&piece.text);
        match piece.op {
            PieceOperation::Equal => text,
            PieceOperation::Gap => " […] ".to_owned(),
            // Without colours the marks have to say it.
            PieceOperation::Delete if paint == Paint::Plain => format!("[-{text}-]"),
            PieceOperation::Insert if paint == Paint::Plain => format!("{{+{text}+}}"),
            PieceOperation::Delete => paint.paint(Tone::Bad, &text),
            PieceOperation::Insert => paint.paint(Tone::Good, &text),
        }
    };
    pieces.iter().map(shown).collect()
}

/// Two texts in two columns: the old one, what became of the line, the new one. What differs within a line is between marks.
pub(super) fn in_columns(rows: &[Row<'_>]) -> Vec<[String; 3]> {
    let marked = |pieces: &[Piece<'_>], other: fn(&Piece<'_>) -> bool| {
        let own = pieces.iter().filter(|piece| !other(piece)).copied().map(PieceRecord::from);
        painted(&own.collect::<Vec<_>>(), Paint::Plain)
    };
    let row = |row: &Row<'_>| match row {
        Row::Equal(line) => [harmless(line), String::new(), harmless(line)],
        Row::Inserted(line) => [String::new(), "+".to_owned(), harmless(line)],
        Row::Deleted(line) => [harmless(line), "-".to_owned(), String::new()],
        Row::Gap(n_lines) => [format!("[{n_lines} equal lines]"), String::new(), String::new()],
        Row::Edited(pieces) => [
            marked(pieces, |piece| matches!(piece, Piece::Insert(_))),
            "~".to_owned(),
            marked(pieces, |piece| matches!(piece, Piece::Delete(_))),
        ],
    };
    rows.iter().map(row).collect()
}

/// What is different in the text of a change, below its line, with the heading that it is under on its page; `None` where
/// nothing is known of it.
pub(super) fn below(change: &ChangeRecord, paint: Paint) -> Option<String> {
    let detail = change.detail.as_ref().filter(|detail| !detail.pieces.is_empty())?;
    let heading = Some(one_line(&detail.heading, LONGEST_HEADING)).filter(|heading| !heading.is_empty());
    let heading = heading.map(|heading| format!("    under \"{heading}\":"));
    let text = painted(&detail.pieces, paint);
    let lines = text.lines().map(|line| format!("    {line}"));
    Some(heading.into_iter().chain(lines).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces() -> Vec<PieceRecord> {
        let piece = |op, text: &str| PieceRecord { op, text: text.to_owned() };
        vec![
            piece(PieceOperation::Equal, "Teapot\nnow "),
            piece(PieceOperation::Delete, "19"),
            piece(PieceOperation::Insert, "17\u{1b}"),
            piece(PieceOperation::Gap, ""),
            piece(PieceOperation::Equal, "end"),
        ]
    }

    #[test]
    fn each_column_shows_its_own_side() {
        let pieces = vec![Piece::Equal("now "), Piece::Delete("19"), Piece::Insert("17")];
        let rows = [Row::Inserted("New"), Row::Equal("Teapot"), Row::Edited(pieces), Row::Gap(4)];
        let columns = [
            ["", "+", "New"],
            ["Teapot", "", "Teapot"],
            ["now [-19-]", "~", "now {+17+}"],
            ["[4 equal lines]", "", ""],
        ];
        assert_eq!(in_columns(&rows), columns.map(|row| row.map(str::to_owned)));
    }

    #[test]
    fn a_difference_is_shown_under_its_heading_if_it_has_one() {
        let shown = |heading: &str| {
            let change = serde_json::json!({
                "cursor": 1, "source": 1, "url": "http://a.example/", "detected_at": "", "version": null,
                "happened_between": [null, ""], "summary": "",
                "detail": { "heading": heading, "pieces": [{ "op": "insert", "text": "one\ntwo" }] },
            });
            below(&serde_json::from_value(change).unwrap(), Paint::Plain).unwrap()
        };
        assert_eq!(shown(""), "    {+one\n    two+}");
        assert_eq!(
            shown("Opening\nhours\u{1b}"),
            "    under \"Opening hours\u{fffd}\":\n    {+one\n    two+}"
        );
    }

    #[test]
    fn differences_are_marked_where_there_are_no_colours_and_nothing_in_them_steers_a_terminal() {
        assert_eq!(painted(&pieces(), Paint::Plain), "Teapot\nnow [-19-]{+17\u{fffd}+} […] end");
        let coloured = painted(&pieces(), Paint::Coloured);
        assert!(coloured.contains("\u{1b}[31m19\u{1b}[0m\u{1b}[32m17\u{fffd}\u{1b}[0m"), "{coloured:?}");
    }
}
