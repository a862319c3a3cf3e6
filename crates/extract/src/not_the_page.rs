//! Answers that are not the page, though the server says that all is well: cut off, an error page, maintenance, a wall of consent or
//! a sign-in. Compared with the page, everything on it would be gone, and come again a moment later.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use crate::document::{Document, Item};
use crate::outline::Region;

/// What an answer is instead of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotThePage {
    /// The end is missing.
    CutOff,
    /// It says that something does not work, or asks to wait, to sign in or to agree first.
    Notice,
    /// Nearly everything is gone, without a word.
    Remains,
}

impl NotThePage {
    /// After so many contents in a row, and this long, it is what the page has become.
    pub const fn patience(self) -> (u8, Duration) {
        match self {
            Self::CutOff | Self::Remains => (3, Duration::from_hours(1)),
            Self::Notice => (6, Duration::from_hours(24)),
        }
    }
}

impl fmt::Display for NotThePage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::CutOff => "the end of the page is missing; it is probed again before anything is reported",
            Self::Notice => {
                "the server answers with an error, maintenance, consent or sign-in page; open the page in a browser to see why"
            }
            Self::Remains => "nearly all of the page is gone; it is reported if it stays so",
        })
    }
}

/// Fewer lines are too few to tell a page by.
const FEWEST_LINES: usize = 3;

/// What an answer says beside the page that was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Likeness {
    /// What it is instead of the page, if it is not the page.
    pub stands_in: Option<NotThePage>,
    /// Whether next to nothing of the page is left in it.
    pub is_another: bool,
}

/// Compares `document` with the page that had these items.
pub fn likeness(previous: &[Item], document: &Document) -> Likeness {
    let (old, new) = (lines_of(previous), lines_of(&document.items));
    let is_another = are_others(&old, &new);
    Likeness { stands_in: stands_in(previous, &old, &new, document, is_another), is_another }
}

fn stands_in(
    previous: &[Item],
    old: &[&str],
    new: &[&str],
    document: &Document,
    is_other: bool,
) -> Option<NotThePage> {
    if old.len() < FEWEST_LINES {
        let is_notice = is_notice_for_a_short_page(previous, old, new, document);
        return is_notice.then_some(NotThePage::Notice);
    }
    if is_cut_off(old, new, document.ends_early) {
        return Some(NotThePage::CutOff);
    }
    if is_notice_within_the_frame(previous, document) {
        return Some(NotThePage::Notice);
    }
    let size = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let says_so = || document.title.iter().map(String::as_str).chain(new.iter().copied()).any(is_notice);
    if is_other && says_so() && (size(new) < size(old) || new.len() < 12) {
        return Some(NotThePage::Notice);
    }
    (is_other && size(new) * 4 < size(old)).then_some(NotThePage::Remains)
}

fn lines_of(items: &[Item]) -> Vec<&str> {
    items.iter().flat_map(content_lines).collect()
}

/// Whether next to none of the old lines is among the new ones.
fn are_others(old: &[&str], new: &[&str]) -> bool {
    let known: BTreeSet<&str> = old.iter().copied().collect();
    let n_kept = new.iter().filter(|line| known.contains(**line)).collect::<BTreeSet<_>>().len();
    n_kept * 7 < known.len()
}

/// Whether a page of a line or two is replaced by one whose title or heading is a notice. A page that keeps its title or a line
/// says something about itself, and so does one that said such a thing before.
fn is_notice_for_a_short_page(previous: &[Item], old: &[&str], new: &[&str], document: &Document) -> bool {
    const MOST_LINES: usize = 12;
    let keeps_title =
        document.title.as_ref().is_some_and(|title| previous.iter().any(|item| item.title == *title));
    let keeps_line = new.iter().any(|line| old.contains(line));
    let said_so =
        previous.iter().any(|item| is_notice(&item.title)) || old.iter().any(|line| is_notice(line));
    new.len() < MOST_LINES
        && !keeps_title
        && !keeps_line
        && !said_so
        && document.title.as_deref().into_iter().chain(headings(document)).any(is_notice)
}

/// Whether all but the menus and the footer has given way to a few lines with a notice, as where a site shows its errors in its own
/// layout.
fn is_notice_within_the_frame(previous: &[Item], document: &Document) -> bool {
    const MOST_LINES: usize = 12;
    const HARDLY_ANY: usize = 4;
    let (old, new): (Vec<&str>, Vec<&str>) = (
        previous.iter().flat_map(lines_within).collect(),
        document.items.iter().flat_map(lines_within).collect(),
    );
    let size = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let says_so = || {
        let clear = document.title.as_deref().into_iter().chain(headings(document));
        let all = new.iter().copied().filter(|_| new.len() < HARDLY_ANY);
        clear.chain(all).any(is_notice)
    };
    old.len() >= FEWEST_LINES
        && new.len() < MOST_LINES
        && (size(&new) < size(&old) || new.len() < HARDLY_ANY)
        && are_others(&old, &new)
        && says_so()
}

/// The lines of an item that its page is about, without menus, footers and what stands beside.
fn lines_within(item: &Item) -> impl Iterator<Item = &str> {
    let is_within = |index: usize| item.outline.line(index).region == Region::Content;
    item.text.lines().enumerate().filter(move |(index, _)| is_within(*index)).map(|(_, line)| line)
}

/// The lines of a document that are headings.
fn headings(document: &Document) -> impl Iterator<Item = &str> {
    document.items.iter().flat_map(|item| {
        let lines = item.text.lines().enumerate();
        lines.filter(|(index, _)| item.outline.line(*index).is_heading).map(|(_, line)| line)
    })
}

/// The lines of an item, without advertising and the like.
fn content_lines(item: &Item) -> impl Iterator<Item = &str> {
    item.text
        .lines()
        .enumerate()
        .filter(|(index, _)| item.outline.line(*index).region != Region::Extra)
        .map(|(_, line)| line)
}

/// Whether the new lines are the beginning of the old ones, as far as nothing else was changed.
fn is_cut_off(old: &[&str], new: &[&str], ends_early: bool) -> bool {
    if new.is_empty() {
        return ends_early;
    }
    let Some((last, whole)) = new.split_last() else { return false };
    // What is missing has to be at the end: the last whole line is found far above the end of the old text.
    let anchor = whole.iter().rev().take(5).find_map(|line| old.iter().rposition(|known| known == line));
    let at = match anchor {
        Some(at) => at,
        None if whole.is_empty() => return old[0].len() > last.len() && old[0].starts_with(last),
        None => return ends_early && new.len() < old.len(),
    };
    let n_missing = old.len().saturating_sub(at + 1);
    if n_missing == 0 {
        return false;
    }
    let is_partial = old[at + 1..]
        .iter()
        .any(|line| line.len() > last.len() && line.starts_with(last) && !last.is_empty());
    let n_after = new.len() - whole.iter().rposition(|line| old[at] == *line).map_or(0, |index| index + 1);
    let is_shorter = n_missing > n_after;
    ends_early && (is_shorter || is_partial) || is_shorter && is_partial && n_missing > 1
}

/// The line by which a page says at a first look that it stands in for another: its title or a heading, or its text where it has
/// hardly any.
pub(crate) fn clear_notice_in(document: &Document) -> Option<&str> {
    let line = notice_in(document)?;
    let is_clear = lines_of(&document.items).len() < FEWEST_LINES
        || document.title.as_deref().into_iter().chain(headings(document)).any(is_notice);
    is_clear.then_some(line)
}

/// The line by which a short document looks like a page that stands in for another, for a first look at it: there is nothing yet
/// to compare it with.
pub(crate) fn notice_in(document: &Document) -> Option<&str> {
    const MOST_LINES: usize = 12;
    const MOST_BYTES: usize = 1_500;
    let lines: Vec<&str> = document.items.iter().flat_map(content_lines).take(MOST_LINES).collect();
    let n_bytes: usize = lines.iter().map(|line| line.len()).sum();
    if lines.len() == MOST_LINES || n_bytes > MOST_BYTES {
        return None;
    }
    document.title.as_deref().into_iter().chain(lines).find(|line| is_notice(line))
}

/// Words of pages that stand in for another, in the languages in which servers answer most.
#[rustfmt::skip]
const NOTICES: [&str; 71] = [
    "maintenance", "temporarily unavailable", "service unavailable", "bad gateway", "gateway time", "internal error",
    "internal server error", "server error", "something went wrong", "try again", "an error occurred", "error 5", "error 4",
    "not found", "page unavailable", "access denied", "forbidden", "too many requests", "rate limit", "captcha",
    "are you a robot", "not a robot", "verify you are", "you are human", "checking your browser", "unusual traffic", "enable javascript",
    "enable cookies", "accept cookies", "before you continue", "sign in to continue", "log in to continue", "please log in",
    "please sign in", "session has expired", "be right back", "back soon", "under construction", "offline", "wartung",
    "nicht erreichbar", "nicht verfügbar", "fehler", "versuchen sie es", "anmelden, um", "erreur", "indisponible", "réessayer",
    "en cours de maintenance", "mantenimiento", "no disponible", "inténtalo", "manutenzione", "non disponibile", "manutenção",
    "indisponível", "onderhoud", "メンテナンス", "エラー", "しばらく", "维护", "错误", "технические работы", "ошибка", "попробуйте",
    "errore", "riprova", "waiting room", "you are now in line", "could not load", "couldn't load",
];

fn is_notice(line: &str) -> bool {
    let lower = crate::text::cut(line, 400).to_lowercase();
    NOTICES.iter().any(|notice| lower.contains(notice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::{NoiseRules, Recipe};
    use crate::{Extractor, Input, Limits};

    fn read(body: &str) -> Document {
        let extractor = Extractor::new(&Recipe::Auto, &NoiseRules::default(), Limits::default()).unwrap();
        extractor.extract(&Input { body: body.as_bytes(), ..Input::default() })
    }

    #[test]
    fn an_error_within_the_layout_of_the_site_is_not_the_page() {
        let page = |title: &str, content: &str| {
            read(&format!(
                "<html><head><title>{title}</title></head><body><nav><ul><li>Home</li><li>Shop</li><li>News</li><li>Contact</li>\
                 </ul></nav><main>{content}</main><footer><p>Imprint</p><p>Privacy</p><p>© 2026 Teapots Ltd</p></footer></body></html>"
            ))
        };
        let shop = page(
            "Teapots",
            "<h1>Teapots</h1><p>Red teapot: $ 19</p><p>Blue teapot: $ 17</p><p>All made by hand.</p>",
        );
        let check = |title: &str, content: &str| likeness(&shop.items, &page(title, content)).stands_in;
        for (title, content) in [
            ("Teapots", "<h1>Something went wrong</h1><p>We are looking into it.</p>"),
            ("503 Service Unavailable", "<p>Back in a moment.</p>"),
            ("Teapots", "<p>Please sign in to continue.</p>"),
        ] {
            assert_eq!(check(title, content), Some(NotThePage::Notice), "{content}");
        }
        for (title, content) in [
            ("Teapots", "<h1>Teapots</h1><p>All teapots are sold out.</p>"),
            (
                "Teapots",
                "<h1>Teapots</h1><p>Red teapot: $ 19</p><p>Something went wrong with the blue one.</p>",
            ),
            (
                "Mugs",
                "<h1>Mugs</h1><p>A mug: $ 3</p><p>A cup: $ 4</p><p>We try again to glaze them in red.</p>",
            ),
        ] {
            assert_eq!(check(title, content), None, "{content}");
        }
    }

    const PAGE: &str = "<html><body><h1>Offers</h1><p>Tea: $ 5</p><p>Coffee: $ 7</p><p>Cake: $ 3 for a piece, fresh from \
                        the oven every morning</p><p>Closed on Mondays and on all public holidays</p></body></html>";

    fn check(body: &str) -> Option<NotThePage> {
        likeness(&read(PAGE).items, &read(body)).stands_in
    }

    #[test]
    fn a_page_that_was_cut_off_is_not_the_page() {
        for end in [60, 75, 90, 130] {
            assert_eq!(check(&PAGE[..end]), Some(NotThePage::CutOff), "{}", &PAGE[..end]);
        }
    }

    #[test]
    fn error_and_maintenance_pages_are_not_the_page() {
        for body in [
            "<html><body><h1>Something went wrong</h1><p>Please try again later.</p></body></html>",
            "<html><head><title>Wartung</title></head><body><p>Wir sind gleich zurück.</p></body></html>",
            "<html><body>Before you continue: accept cookies</body></html>",
        ] {
            assert_eq!(check(body), Some(NotThePage::Notice), "{body}");
        }
        assert_eq!(check("<html><body><p>Hello</p></body></html>"), Some(NotThePage::Remains));
    }

    #[test]
    fn a_notice_stands_in_for_a_page_of_a_line_too() {
        let short = |title: &str, body: &str| {
            read(&format!("<html><head><title>{title}</title></head><body>{body}</body></html>"))
        };
        let page = short("Pump", "<p>42 bar</p>");
        let check = |document: &Document| likeness(&page.items, document).stands_in;
        let notice = Some(NotThePage::Notice);
        assert_eq!(check(&short("503 Service Unavailable", "<p>nginx</p>")), notice);
        assert_eq!(check(&short("", "<h1>Wartung</h1><p>Gleich zurück.</p>")), notice);
        // What the page says about its subject is news.
        assert_eq!(check(&short("Pump", "<p>offline</p>")), None);
        assert_eq!(check(&short("Pump", "<h1>Maintenance</h1>")), None);
        assert_eq!(check(&short("Maintenance", "<p>42 bar</p>")), None);
        let other = short("Error 4", "<p>no oil</p>");
        assert_eq!(likeness(&other.items, &short("Error 5", "<p>no water</p>")).stands_in, None);
    }

    #[test]
    fn a_page_that_changed_is_the_page() {
        for (from, to) in [
            ("<p>Closed on Mondays and on all public holidays</p>", ""),
            ("<p>Tea: $ 5</p>", "<p>Something went wrong with our tea: try again later.</p>"),
            ("<h1>Offers</h1><p>Tea: $ 5</p>", ""),
        ] {
            assert_eq!(check(&PAGE.replace(from, to)), None, "{to}");
        }
    }
}
