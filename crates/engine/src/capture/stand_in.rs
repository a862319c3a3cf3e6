//! Whether an answer is what its source is about, or stands in for it: an error, maintenance, consent or sign-in page, a page
//! that is empty without scripts, something of another kind. Says why, and for how long that is believed; what follows for the
//! source is decided in `reading`.

use std::time::Duration;

use dunlin_core::Time;
use dunlin_extract::document::Format;
use dunlin_extract::recipe::Recipe;
use dunlin_extract::{Diagnostic, Document, Doubt, Item, NotThePage, likeness};

use crate::memory::ProbeNote;

/// What an answer is, if it is not what the source is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StandIn {
    /// Why, and what to try.
    pub(super) reason: String,
    /// After so many in a row, and this long, it is what the source has become.
    patience: (u8, Duration),
    /// Its owner still has to do something about it then.
    pub(super) lasts: bool,
}

impl StandIn {
    /// Whether the next answers are waited for. Without patience, that is for ever.
    pub(super) fn is_believed(&self, note: &ProbeNote, now: Time) -> bool {
        let (most, longest) = self.patience;
        note.n_held < most || note.held_since.is_none_or(|since| now.since(since) < longest)
    }
}

impl From<NotThePage> for StandIn {
    fn from(problem: NotThePage) -> Self {
        Self { reason: problem.to_string(), patience: problem.patience(), lasts: false }
    }
}

/// What a first answer is. Nothing is known of the source yet, so what makes one doubt is all there is to go by.
pub(super) fn of_first(doubt: &Doubt) -> StandIn {
    StandIn { reason: doubt.to_string(), patience: Doubt::patience(), lasts: doubt.is_lasting() }
}

/// What a later answer is, compared with the items that were there.
pub(super) fn of_next(
    note: &ProbeNote,
    recipe: &Recipe,
    present: &[Item],
    document: &Document,
    doubt: impl FnOnce() -> Option<Doubt>,
) -> Option<StandIn> {
    let notice = NotThePage::Notice.patience();
    if *recipe == Recipe::Auto
        && let Some(was) = note.format.filter(|was| is_data(*was) && !is_data(document.format))
    {
        let found = document.format;
        let reason =
            format!("it was {was} before, and is {found} now; open the address in a browser to see why");
        return Some(StandIn { reason, patience: notice, lasts: false });
    }
    if is_feed(document.format) && matches!(recipe, Recipe::Auto | Recipe::Feed) || *recipe == Recipe::Feed {
        return None;
    }
    let found = likeness(present, document);
    if found.stands_in != Some(NotThePage::CutOff)
        && !note.is_doubted
        && found.is_another
        && let Some(doubt) = doubt()
    {
        return Some(StandIn { patience: notice, ..of_first(&doubt) });
    }
    found.stands_in.map(StandIn::from)
}

/// What programs make for programs: a page in its place is none of it.
pub(super) const fn is_data(format: Format) -> bool {
    matches!(format, Format::Json) || is_feed(format)
}

const fn is_feed(format: Format) -> bool {
    matches!(format, Format::Feed | Format::JsonFeed)
}

/// Why nothing is there where something is expected, if so: a failing server, or a recipe that does not fit its page.
pub(crate) fn missing(document: &Document) -> Option<&Diagnostic> {
    let says_so = |found: &&Diagnostic| match found {
        Diagnostic::Empty | Diagnostic::NothingFound => true,
        Diagnostic::UnexpectedFormat { .. }
        | Diagnostic::Broken { .. }
        | Diagnostic::NotSelectable { .. } => document.items.is_empty(),
        _ => false,
    };
    document.diagnostics.iter().find(says_so)
}

/// The same for the owner of the source, with what to try.
pub(super) fn in_words(missing: &Diagnostic, doubt: Option<&Doubt>) -> String {
    match (missing, doubt) {
        (_, Some(doubt)) => format!("{missing}; {doubt}"),
        (Diagnostic::NothingFound | Diagnostic::UnexpectedFormat { .. }, None) => {
            format!("{missing} (`dunlin try` shows what is there)")
        }
        _ => missing.to_string(),
    }
}

/// That the document is of another kind than was asked for. A selector or a path may find something all the same.
pub(crate) fn unexpected<'d>(recipe: &Recipe, document: &'d Document) -> Option<&'d Diagnostic> {
    let has_found = is_chosen(recipe) && !document.items.is_empty();
    let is_other = |found: &&Diagnostic| matches!(found, Diagnostic::UnexpectedFormat { .. });
    document.diagnostics.iter().find(is_other).filter(|_| !has_found)
}

/// Whether its owner has said which part of the document to watch.
pub(super) const fn is_chosen(recipe: &Recipe) -> bool {
    matches!(recipe, Recipe::HtmlSelector { .. } | Recipe::JsonPath { .. })
}

/// Whether a source is a value that its owner has chosen, and nothing else: one line, or lines that are figures with a few words.
/// Then a clock, a counter or a code is what was asked for.
pub(super) fn is_chosen_value(recipe: &Recipe, present: &[Item], current: &[Item]) -> bool {
    let all = || present.iter().chain(current);
    let is_line = |item: &Item| item.text.lines().count() <= 1;
    let is_one = present.len() <= 1 && current.len() == 1;
    is_chosen(recipe) && all().all(is_line) && (is_one || all().all(|item| is_figure(&item.text)))
}

/// A figure with at most a few words, such as `1,204 views` or `Open until 14:30`.
fn is_figure(line: &str) -> bool {
    const MOST_WORDS: usize = 4;
    line.contains(|c: char| c.is_numeric()) && line.split_whitespace().count() <= MOST_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_is_believed_until_it_has_come_often_and_for_long() {
        let at = |minute: i64| Time::from_seconds(minute * 60);
        let (most, longest) = (3, Duration::from_mins(30));
        let found = StandIn { reason: String::new(), patience: (most, longest), lasts: false };
        let note = |n_held, since: Option<i64>| ProbeNote {
            n_held,
            held_since: since.map(at),
            ..ProbeNote::default()
        };
        assert!(found.is_believed(&note(0, None), at(100)));
        assert!(found.is_believed(&note(most - 1, Some(0)), at(100)), "not often enough");
        assert!(found.is_believed(&note(most, Some(71)), at(100)), "not for long enough");
        assert!(!found.is_believed(&note(most, Some(70)), at(100)));
    }

    #[test]
    fn a_value_that_was_chosen_is_one_line_or_figures() {
        let item = |text: &str| Item { text: text.to_owned(), ..item_of("x") };
        let chosen = Recipe::HtmlSelector { css: ".p".to_owned() };
        let is_value = |present: &[&str], current: &[&str]| {
            let items = |texts: &[&str]| texts.iter().map(|text| item(text)).collect::<Vec<_>>();
            is_chosen_value(&chosen, &items(present), &items(current))
        };
        assert!(is_value(&["Open"], &["Closed"]) && is_value(&[], &["Open"]));
        assert!(
            !is_value(&["Choir on Monday", "Boats on Tuesday"], &["Choir on Monday"]),
            "a list that shrinks"
        );
        assert!(is_value(&["10.00", "7 left"], &["11.00"]));
        assert!(!is_value(&["Open\nNow"], &["Open"]));
        assert!(!is_chosen_value(&Recipe::Page, &[item("10")], &[item("11")]));
    }

    fn item_of(id: &str) -> Item {
        Item {
            id: dunlin_extract::ItemId {
                origin: dunlin_extract::document::IdOrigin::Place,
                value: id.to_owned(),
            },
            title: String::new(),
            link: None,
            text: String::new(),
            outline: dunlin_extract::outline::Outline::default(),
            author: None,
            published: None,
        }
    }

    #[test]
    fn figures_are_values_and_headlines_are_not() {
        for value in ["14:07", "1,204 views", "€ 19.99", "7 of 9", "Open until 14:30"] {
            assert!(is_figure(value), "{value}");
        }
        for other in ["Open", "Harbour bridge closed for 3 weeks", ""] {
            assert!(!is_figure(other), "{other}");
        }
    }
}
