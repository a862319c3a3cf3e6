//! Figures as numbers: `1.299,00 €`, `$1,299.00`, `1 299`, `1.1K`. One reader for all that compares amounts.

use super::{Kind, Token, tokens};

/// A figure of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amount<'t> {
    /// What it says.
    pub value: f64,
    /// Digits behind the decimal point as they are written: 2 in `9.90`.
    pub n_decimals: u8,
    /// What it counts: a currency, a unit, the word behind it; may be empty.
    pub unit: &'t str,
    /// Where it begins in its line.
    pub at: usize,
}

/// The figures of a line of text, in their order. Dates and times are none.
///
/// ```
/// use dunlin_extract::amounts;
///
/// let values = |line: &str| amounts(line).iter().map(|amount| amount.value).collect::<Vec<_>>();
/// assert_eq!(values("1.299,00 € instead of $1,299.00"), [1299.0, 1299.0]);
/// assert_eq!(values("1 299 seats, 1.1K views, 9,90"), [1299.0, 1100.0, 9.9]);
/// assert_eq!(amounts("now 9.90 EUR")[0].unit, "EUR");
/// ```
pub fn amounts(line: &str) -> Vec<Amount<'_>> {
    let tokens = tokens(line);
    let numbers = tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Number);
    numbers.filter_map(|(index, token)| amount(&tokens, index, token)).collect()
}

fn amount<'t>(tokens: &[Token<'t>], index: usize, token: &Token<'t>) -> Option<Amount<'t>> {
    let (value, n_decimals) = value_of(token.text)?;
    let before = index.checked_sub(1).map(|before| &tokens[before]).filter(|sign| is_currency(sign.text));
    let after =
        tokens.get(index + 1).filter(|next| next.kind == Kind::Word || matches!(next.text, "%" | "°" | "‰"));
    let after = tokens.get(index + 1).filter(|sign| is_currency(sign.text)).or(before).or(after);
    Some(Amount { value, n_decimals, unit: after.map_or("", |unit| unit.text), at: token.at })
}

/// Whether this is the sign or the name of a currency.
pub(crate) fn is_currency(text: &str) -> bool {
    const SIGNS: [&str; 17] =
        ["$", "€", "£", "¥", "₹", "₽", "₩", "₺", "zł", "kr", "円", "元", "CHF", "USD", "EUR", "GBP", "Fr"];
    SIGNS.contains(&text)
}

/// The value of a figure and its decimals. A mark that stands once, with anything but three digits behind it, is the decimal one, and
/// so is the last of two different marks; `4.17.2` is a version and no amount.
pub(crate) fn value_of(text: &str) -> Option<(f64, u8)> {
    let (text, scale) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1e3),
        b'M' => (&text[..text.len() - 1], 1e6),
        _ => (text, 1.0),
    };
    let marks: Vec<(usize, char)> = text
        .char_indices()
        .filter(|(_, c)| matches!(c, '.' | ',' | '\'' | '’' | ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}'))
        .collect();
    let n_digits_behind = |at: usize| text[at..].chars().filter(char::is_ascii_digit).count();
    let decimal = match marks[..] {
        [(at, '.' | ',')] => {
            (n_digits_behind(at) != 3 || scale > 1.0 || text.trim_start_matches(['-', '+']).starts_with('0'))
                .then_some(at)
        }
        [.., (_, before), (at, last)] if before != last && matches!(last, '.' | ',') => Some(at),
        _ => None,
    };
    let groups_fit = marks.windows(2).all(|pair| {
        let n_between = text[pair[0].0..pair[1].0].chars().filter(char::is_ascii_digit).count();
        n_between == 3
    });
    if !groups_fit || decimal.is_none() && marks.last().is_some_and(|(at, _)| n_digits_behind(*at) != 3) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '0'..='9' | '-' => plain.push(c),
            '−' => plain.push('-'),
            _ if Some(at) == decimal => plain.push('.'),
            _ => {}
        }
    }
    let n_decimals = decimal.map_or(0, n_digits_behind);
    Some((plain.parse::<f64>().ok()? * scale, u8::try_from(n_decimals).unwrap_or(u8::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_has_the_value_that_its_writer_meant() {
        for (text, value) in [
            ("1.299,00", Some((1_299.0, 2))),
            ("1,299.00", Some((1_299.0, 2))),
            ("1.234.567", Some((1_234_567.0, 0))),
            ("1’000", Some((1_000.0, 0))),
            ("12,041", Some((12_041.0, 0))),
            ("9.99", Some((9.99, 2))),
            ("10.5", Some((10.5, 1))),
            ("0.125", Some((0.125, 3))),
            ("-0,4", Some((-0.4, 1))),
            ("1.1K", Some((1_100.0, 1))),
            ("1 299,50", Some((1_299.5, 2))),
            ("12\u{a0}345.6", Some((12_345.6, 1))),
            ("4.17.2", None),
        ] {
            assert_eq!(value_of(text), value, "{text}");
        }
    }
}
