//! A line cut into words, numbers, times, dates, codes and marks, so that two lines that say the same with other figures can be
//! told from two lines that say something else. Knows no line but the one it is given.

mod amounts;
mod codes;
mod dates;
mod lexicon;
mod relative;
mod spans;

pub use amounts::{Amount, amounts};
pub(crate) use amounts::{is_currency, value_of};
use codes::Codes;
pub(crate) use dates::{clock_seconds, days_of};
use dates::{long_clock, month_date, numeric_date, time_of_day};
use lexicon::is_weekday;
pub(crate) use lexicon::{
    begins_with_counted_sign, begins_with_made_sign, counts_something, is_greeting, is_pleasantry,
    names_a_machine, names_an_edition, rates_something, says_when_it_was_made,
};
pub(crate) use spans::seconds_of;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Word,
    /// Digits with their separators.
    Number,
    /// A time of the day.
    Time,
    /// A day, with or without its year.
    Date,
    /// A time that is told from now: `5 minutes ago`.
    Relative,
    /// A length of time: `5 minutes`.
    Span,
    /// An identifier that no person wrote: a token, a hash, a session.
    Code,
    /// Punctuation, symbols.
    Mark,
}

/// A piece of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub(crate) kind: Kind,
    pub(crate) text: &'t str,
    /// Where it begins in the line.
    pub(crate) at: usize,
}

impl Token<'_> {
    pub(crate) const fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// Whether it says how much or when: what a line may say anew without saying something else.
    pub(crate) const fn is_value(&self) -> bool {
        !matches!(self.kind, Kind::Word | Kind::Mark)
    }
}

/// The tokens of a line. White space is none.
pub(crate) fn tokens(line: &str) -> Vec<Token<'_>> {
    let mut tokens = pieces(line);
    join_dates(line, &mut tokens);
    relative::join(line, &mut tokens);
    spans::join(line, &mut tokens);
    tokens
}

/// The words, figures and marks of a line, none of them joined.
fn pieces(line: &str) -> Vec<Token<'_>> {
    const BYTES_OF_A_WORD: usize = 6;
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity(line.len() / BYTES_OF_A_WORD + 1);
    let mut at = 0;
    let mut codes = Codes::of(line);
    while let Some(c) = line[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let is_after_space =
            || line[..at].chars().next_back().is_none_or(|before| before.is_whitespace() || before == '(');
        let code = codes.length_at(at);
        let (kind, length) = match c {
            _ if code.is_some() => (Kind::Code, code.unwrap_or_default()),
            '-' | '−' if is_after_space() && signed(&line[at + c.len_utf8()..]).is_some() => {
                (Kind::Number, c.len_utf8() + signed(&line[at + c.len_utf8()..]).unwrap_or_default())
            }
            _ => token_at(&line[at..], c),
        };
        tokens.push(Token { kind, text: &line[at..at + length], at });
        at += length;
    }
    tokens
}

/// The bytes of a plain number behind its sign.
fn signed(rest: &str) -> Option<usize> {
    let first = rest.chars().next().filter(char::is_ascii_digit)?;
    let (kind, length) = token_at(rest, first);
    (kind == Kind::Number).then_some(length)
}

fn token_at(rest: &str, first: char) -> (Kind, usize) {
    if first.is_ascii_digit() {
        if let Some(length) = numeric_date(rest) {
            return (Kind::Date, length);
        }
        if let Some(length) = time_of_day(rest) {
            return (Kind::Time, length);
        }
        if let Some(length) = long_clock(rest) {
            return (Kind::Span, length);
        }
        return (Kind::Number, number(rest));
    }
    if is_ideographic(first) {
        // There are no spaces between words.
        return (Kind::Word, first.len_utf8());
    }
    if first.is_alphabetic() {
        let is_inside = |c: char| (c.is_alphabetic() && !is_ideographic(c)) || is_mark_of_a_letter(c);
        return (Kind::Word, length_while(rest, is_inside));
    }
    if first.is_numeric() {
        return (Kind::Number, length_while(rest, char::is_numeric));
    }
    (Kind::Mark, first.len_utf8())
}

fn length_while(text: &str, is_inside: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_inside(c)).unwrap_or(text.len())
}

/// Characters of scripts that are written without spaces.
pub(crate) fn is_ideographic(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{e00}'..='\u{eff}')
}

/// Signs that stand above or below a letter, and the apostrophe inside a word.
fn is_mark_of_a_letter(c: char) -> bool {
    // In the scripts of India, a sign that joins consonants and a dot below are no letters.
    let is_indic = matches!(
        c,
        '\u{93c}'
            | '\u{94d}'
            | '\u{9bc}'
            | '\u{9cd}'
            | '\u{acd}'
            | '\u{b4d}'
            | '\u{bcd}'
            | '\u{c4d}'
            | '\u{ccd}'
            | '\u{d4d}'
    );
    is_indic || matches!(c, '\u{300}'..='\u{36f}' | '\u{ad}' | '\u{200b}'..='\u{200d}')
}

/// Digits with points, commas and apostrophes between them: `1,299.00`, `4.17.2`, `1’000`. Or with spaces: `1 299,50`.
fn number(rest: &str) -> usize {
    let mut end = 0;
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let is_between = matches!(c, '.' | ',' | '\'' | '’')
            && chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        if !c.is_ascii_digit() && !is_between {
            break;
        }
        end = at + c.len_utf8();
    }
    // `1 204`: one to three digits, then groups of three.
    if end <= 3 && rest[..end].bytes().all(|byte| byte.is_ascii_digit()) {
        let n_digits = end;
        while let Some(n_bytes) = group(&rest[end..]) {
            end += n_bytes;
        }
        if end > n_digits {
            end += decimals(&rest[end..]);
        }
    }
    // `1.1K`, `12M`: thousands and millions, where they are counted.
    let is_scaled = matches!(rest.as_bytes().get(end), Some(b'K' | b'k' | b'M'))
        && !rest[end + 1..].starts_with(|c: char| c.is_alphanumeric());
    end + usize::from(is_scaled && end <= 6)
}

/// The bytes of a space and three digits that are no more than three, at the beginning of a text.
fn group(rest: &str) -> Option<usize> {
    let space = rest.chars().next().filter(|c| matches!(c, ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}'))?;
    let digits = rest.as_bytes().get(space.len_utf8()..space.len_utf8() + 3)?;
    let end = space.len_utf8() + digits.len();
    let is_longer = rest.as_bytes().get(end).is_some_and(u8::is_ascii_alphanumeric);
    (digits.iter().all(u8::is_ascii_digit) && !is_longer).then_some(end)
}

/// The bytes of a decimal mark and one or two digits behind it.
fn decimals(rest: &str) -> usize {
    let digits = rest.strip_prefix([',', '.']).unwrap_or_default();
    let n_digits = digits.bytes().take_while(u8::is_ascii_digit).count();
    let ends = !digits[n_digits..].starts_with(|c: char| c.is_alphanumeric());
    if (1..=2).contains(&n_digits) && ends { 1 + n_digits } else { 0 }
}

/// Makes one token of several wherever `several` finds some at the beginning of the rest, from the left.
fn join<'t>(
    line: &'t str,
    tokens: &mut Vec<Token<'t>>,
    several: impl Fn(&[Token<'t>]) -> Option<(Kind, usize)>,
) {
    let (mut at, mut n_kept) = (0, 0);
    while at < tokens.len() {
        let (token, n_tokens) = match several(&tokens[at..]) {
            Some((kind, n_tokens)) => (span(line, kind, &tokens[at..at + n_tokens]), n_tokens),
            None => (tokens[at], 1),
        };
        tokens[n_kept] = token;
        (at, n_kept) = (at + n_tokens, n_kept + 1);
    }
    tokens.truncate(n_kept);
}

/// Joins `14 March 2026`, `March 14, 2026`, `Thu, 9 Apr` and `2026年3月14日`, each to one date.
fn join_dates<'t>(line: &'t str, tokens: &mut Vec<Token<'t>>) {
    if tokens.iter().any(|token| matches!(token.kind, Kind::Number | Kind::Date)) {
        join(line, tokens, |rest| month_date(rest).or_else(|| date_with_weekday(rest)));
    }
}

/// A date behind the day of the week, with a mark or two between them.
fn date_with_weekday(tokens: &[Token<'_>]) -> Option<(Kind, usize)> {
    const MOST_MARKS: usize = 2;
    let is_mark = |token: &&Token<'_>| matches!(token.text, "," | ".");
    let (day, rest) = tokens.split_first()?;
    let n_marks = rest.iter().take_while(is_mark).count();
    let date = rest.get(n_marks..).filter(|_| n_marks <= MOST_MARKS)?;
    let written = || date.first().filter(|date| date.kind == Kind::Date).map(|date| (date.kind, 1));
    let (kind, n_tokens) = month_date(date).or_else(written)?;
    (kind == Kind::Date && is_weekday(day.text)).then_some((kind, 1 + n_marks + n_tokens))
}

/// One token for several, at least one.
fn span<'t>(line: &'t str, kind: Kind, tokens: &[Token<'t>]) -> Token<'t> {
    let at = tokens.first().map_or(0, |token| token.at);
    let end = tokens.last().map_or(at, Token::end);
    Token { kind, text: &line[at..end], at }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The line with every value as its kind.
    fn shape(line: &str) -> String {
        let shown = tokens(line).into_iter().map(|token| match token.kind {
            Kind::Word | Kind::Mark => token.text.to_owned(),
            kind => format!("<{kind:?}>").to_lowercase(),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn numbers_keep_their_separators() {
        let texts = |line| tokens(line).into_iter().map(|token| token.text).collect::<Vec<_>>();
        assert_eq!(texts("$1,299.00 incl."), ["$", "1,299.00", "incl", "."]);
        assert_eq!(texts("v4.17.2, 1’000"), ["v", "4.17.2", ",", "1’000"]);
        assert_eq!(texts("2席"), ["2", "席"]);
        assert_eq!(
            texts("1 204 cas, 12 345 678 in 14 2026"),
            ["1 204", "cas", ",", "12 345 678", "in", "14", "2026"]
        );
        assert_eq!(
            texts("1 299,50 kr, 12\u{a0}345.6 1\u{202f}000, 2 of 1 204,5 678"),
            ["1 299,50", "kr", ",", "12\u{a0}345.6", "1\u{202f}000", ",", "2", "of", "1 204,5", "678"]
        );
    }

    #[test]
    fn times_and_dates_are_recognised_in_many_forms() {
        for time in [
            "14:07",
            "14:07:59",
            "2:07 pm",
            "2.07 p.m.",
            "14.07 Uhr",
            "14h07",
            "0403 UTC",
            "11時30分",
            "7 a.m.",
        ] {
            assert_eq!(shape(&format!("x {time}")), "x <time>", "{time}");
        }
        let dates = [
            "2026-03-14",
            "14.03.2026",
            "14/03/2026",
            "3/14/26",
            "14 March 2026",
            "14. März 2026",
            "March 14, 2026",
            "14 mars",
            "Mar 14th",
            "2026年3月14日",
            "3月14日",
            "1er mai 2026",
            "14 de marzo de 2026",
            "14 марта 2026",
            "Thu 9 Apr 2026",
            "Sonntag, 14. März",
            "Fri, 2026-03-14",
            "14. 3. 2026",
        ];
        for date in dates {
            assert_eq!(shape(&format!("x {date}")), "x <date>", "{date}");
        }
        assert_eq!(shape("2026-03-14T12:00:01Z"), "<date> T <time> Z");
        for other in ["14 inch", "4.17.2", "16:9", "March madness", "may 5 people"] {
            assert!(
                !shape(other).contains("<date>") && !shape(other).contains("<time>"),
                "{other}: {}",
                shape(other)
            );
        }
    }

    #[test]
    fn relative_times_are_recognised_in_many_languages() {
        let times = [
            "5 minutes ago",
            "just now",
            "an hour ago",
            "vor 5 Minuten",
            "gerade eben",
            "il y a 2 heures",
            "hace 3 días",
            "5 minuti fa",
            "há 2 horas",
            "3 uur geleden",
            "5分前",
            "たった今",
            "3 часа назад",
            "2 godziny temu",
            "12 min ago",
            "3h ago",
            "vor einer Stunde",
            "yesterday",
        ];
        for time in times {
            assert_eq!(shape(&format!("({time})")), "( <relative> )", "{time}");
        }
        assert_eq!(shape("five years before"), "five years before");
        assert_eq!(shape("posted 6 hours ago by Ann"), "posted <relative> by Ann");
    }

    #[test]
    fn relative_times_are_recognised_in_other_scripts() {
        for time in [
            "2小时前",
            "23分钟前",
            "3天前",
            "2个月前",
            "5 分前",
            "3時間前",
            "2か月前",
            "3일 전",
            "4주 전",
            "2개월 전",
            "5시간 전",
            "منذ يوم",
            "منذ يومين",
            "منذ 3 أيام",
            "5 хвилин тому",
            "2 giờ trước",
            "3 hari lalu",
            "לפני 5 דקות",
        ] {
            assert_eq!(shape(&format!("({time})")), "( <relative> )", "{time}");
        }
        assert_eq!(shape("3 일"), "<number> 일");
        assert_eq!(shape("午前 9 時"), "午 前 <time>");
    }

    #[test]
    fn relative_times_are_recognised_in_russian() {
        for time in [
            "1 минуту назад",
            "5 минут назад",
            "час назад",
            "2 часа назад",
            "3 дня назад",
            "неделю назад",
            "2 месяца назад",
            "год назад",
            "4 года назад",
            "10 лет назад",
            "только что",
            "вчера",
        ] {
            assert_eq!(shape(&format!("({time})")), "( <relative> )", "{time}");
        }
        assert_eq!(shape("детям 7 лет"), "детям <number> лет");
        assert_eq!(shape("на 5 лет старше"), "на <number> лет старше");
        assert_eq!(
            shape("5 минут назаd"),
            "<span> назаd",
            "with a letter of another script it is another word"
        );
    }

    #[test]
    fn codes_are_told_from_words_and_numbers() {
        for code in ["9e4e7601d9", "node-7f3a9c21", "550e8400-e29b-41d4-a716-446655440000", "a8Kd93jLq0Zx"] {
            assert_eq!(shape(code), "<code>", "{code}");
        }
        for other in ["version", "2026-03-14", "12345678", "COVID19", "well-known", "iPhone15"] {
            assert!(!shape(other).contains("<code>"), "{other}");
        }
    }

    proptest! {
        #[test]
        fn tokens_are_the_line_without_its_white_space(line in "\\PC{0,60}") {
            let kept: String = tokens(&line).iter().flat_map(|token| token.text.split_whitespace()).collect();
            let expected: String = line.split_whitespace().collect();
            prop_assert_eq!(kept, expected);
        }
    }
}
