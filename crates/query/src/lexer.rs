//! From characters to tokens. It never fails: what is no token is one that nothing expects, and the parser says so.

use crate::keyword::Keyword;
use crate::span::{Span, line_and_column};

/// A word, sign or literal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Token {
    /// A keyword or a name.
    Word,
    /// A text in quotes, with each doubled quote as one.
    Text(String),
    /// A text in quotes without an end.
    OpenText,
    /// Digits, perhaps with a sign and a fraction.
    Number,
    /// Digits, a colon and two digits.
    Clock,
    /// A date, perhaps with a time.
    Date,
    /// `. , ( ) % < <= = != > >=`
    Sign,
    /// Anything else: one character, or a run of letters that no name is made of.
    Odd,
    /// The end of the text.
    End,
}

/// Cuts a text into tokens with their places; the last is [`Token::End`].
pub(crate) fn tokens(text: &str) -> Vec<(Token, Span)> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blanks();
        let start = lexer.at;
        let token = lexer.token();
        let is_end = token == Token::End;
        tokens.push((token, Span { start, end: lexer.at }));
        if is_end {
            return tokens;
        }
    }
}

/// Where each query of a text is, with the comments before it; in all of them together the whole text.
///
/// ```
/// let text = "-- two\nQUERY a WATCH 'x' IMPORTANCE 1\nQUERY b WATCH 'y' IMPORTANCE 1\n";
/// let texts: Vec<&str> = dunlin_query::split(text).into_iter().map(|span| &text[span.start..span.end]).collect();
/// assert_eq!(texts, ["-- two\nQUERY a WATCH 'x' IMPORTANCE 1", "\nQUERY b WATCH 'y' IMPORTANCE 1\n"]);
/// ```
pub fn split(text: &str) -> Vec<Span> {
    let tokens = tokens(text);
    let is_query = |(token, span): &(Token, Span)| {
        *token == Token::Word && Keyword::of(&text[span.start..span.end]) == Some(Keyword::Query)
    };
    // The first one begins with the text.
    let later = (1..tokens.len()).filter(|at| is_query(&tokens[*at]));
    let starts: Vec<usize> = std::iter::once(0).chain(later.map(|at| tokens[at - 1].1.end)).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| Span { start: *start, end }).collect()
}

/// The line of the first comment of a text, from 1: canonical text has none, so a text that is replaced by it loses them.
///
/// ```
/// let text = "QUERY q -- mine\n  SELECT item AS a FROM source '--' EVERY 1 HOUR";
/// assert_eq!(dunlin_query::first_comment(text), Some(1));
/// ```
pub fn first_comment(text: &str) -> Option<usize> {
    let mut end = 0;
    let places = tokens(text).into_iter().map(|(_, span)| span);
    let mut gaps = places.map(|span| std::mem::replace(&mut end, span.end)..span.start);
    gaps.find_map(|gap| Some(gap.start + text.get(gap)?.find("--")?)).map(|at| line_and_column(text, at).0)
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        loop {
            let rest = self.rest();
            self.at = self.text.len() - rest.trim_start().len();
            if !self.rest().starts_with("--") {
                return;
            }
            self.at += self.rest().find('\n').unwrap_or(self.rest().len());
        }
    }

    /// Takes characters as long as they are wanted.
    fn take_while(&mut self, wanted: impl Fn(char) -> bool) {
        self.at += self.rest().find(|letter| !wanted(letter)).unwrap_or(self.rest().len());
    }

    fn token(&mut self) -> Token {
        let Some(first) = self.rest().chars().next() else {
            return Token::End;
        };
        if first == '\'' {
            return self.quoted();
        }
        if let Some((token, length)) = shaped(self.rest()) {
            self.at += length;
            return token;
        }
        if first.is_ascii_alphabetic() || first == '_' {
            self.take_while(|letter| letter.is_ascii_alphanumeric() || letter == '_');
            return Token::Word;
        }
        let two = self.rest().get(..2).is_some_and(|sign| ["<=", ">=", "!="].contains(&sign));
        if two || ".,()%<=>".contains(first) {
            self.at += if two { 2 } else { 1 };
            return Token::Sign;
        }
        self.at += first.len_utf8();
        if first.is_alphanumeric() {
            self.take_while(char::is_alphanumeric);
        }
        Token::Odd
    }

    /// A text in quotes, which has to end on its line: else one forgotten quote would hide all that follows.
    fn quoted(&mut self) -> Token {
        let mut content = String::new();
        let mut rest = self.rest()[1..].char_indices().peekable();
        while let Some((at, letter)) = rest.next() {
            match letter {
                '\'' if rest.peek().is_some_and(|(_, next)| *next == '\'') => {
                    rest.next();
                    content.push('\'');
                }
                '\'' => {
                    self.at += at + 2;
                    return Token::Text(content);
                }
                '\n' | '\r' => {
                    self.at += at + 1;
                    return Token::OpenText;
                }
                letter => content.push(letter),
            }
        }
        self.at = self.text.len();
        Token::OpenText
    }
}

/// The tokens that begin with a digit or a sign, told by their shape: the first that fits, and its length.
fn shaped(rest: &str) -> Option<(Token, usize)> {
    let bytes = rest.as_bytes();
    let fits = |shape: &str, from: usize| {
        let there = bytes.get(from..from + shape.len())?;
        let fits = shape.bytes().zip(there).all(|(wanted, found)| match wanted {
            b'0' => found.is_ascii_digit(),
            other => other == *found,
        });
        fits.then_some(from + shape.len())
    };
    if let Some(mut end) = fits("0000-00-00", 0) {
        if let Some(with_time) = fits("T00:00:00", end).or_else(|| fits("T00:00", end)) {
            end = fits("Z", with_time).unwrap_or(with_time);
        }
        return Some((Token::Date, end));
    }
    if let Some(end) = fits("00:00", 0).or_else(|| fits("0:00", 0)) {
        return Some((Token::Clock, end));
    }
    let digits = |from: usize| bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let whole = digits(sign);
    if whole == 0 {
        return None;
    }
    let mut end = sign + whole;
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    Some((Token::Number, end))
}
