//! Plain text: white space, lines, paragraphs, cutting. Nothing here knows of markup.

/// One line per line, white space collapsed, empty lines gone.
pub(crate) fn tidy_lines(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !tidied.is_empty() {
            tidied.push('\n');
        }
        push_tidied(&mut tidied, line);
    }
    tidied
}

/// Everything on one line.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    push_tidied(&mut line, text.trim());
    line
}

/// Pushes a text without white space at its ends, with one space between its words.
fn push_tidied(tidied: &mut String, text: &str) {
    if has_single_spaces(text) {
        return tidied.push_str(text);
    }
    for (index, word) in text.split_whitespace().enumerate() {
        if index > 0 {
            tidied.push(' ');
        }
        tidied.push_str(word);
    }
}

/// Whether all white space of a text is single spaces, as in most texts: those need not be cut into words.
fn has_single_spaces(text: &str) -> bool {
    let bytes = text.as_bytes();
    let behind = bytes.get(1..).unwrap_or_default();
    // Without a way out of the loops, and with bytes for truth values, sixteen are looked at in one step.
    let pairs = bytes.iter().zip(behind);
    let has_double =
        pairs.fold(0, |found, (a, b)| found | (u8::from(*a == b' ') & u8::from(*b == b' '))) != 0;
    let is_other = |byte: &u8| u8::from(!matches!(byte, b' '..=b'~'));
    let has_other = || bytes.iter().fold(0, |found, byte| found | is_other(byte)) != 0;
    !has_double && (!has_other() || text.chars().all(|c| c == ' ' || !c.is_whitespace()))
}

/// The beginning of `text` that fits in `max_bytes` without cutting a character.
pub(crate) fn cut(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// A heading for a text that has none: its first line, shortened at a word.
pub(crate) fn heading_of(text: &str) -> String {
    const LONGEST: usize = 120;
    let line = text.lines().next().unwrap_or_default();
    if line.len() <= LONGEST {
        return line.to_owned();
    }
    let beginning = cut(line, LONGEST);
    let beginning = beginning.rsplit_once(' ').map_or(beginning, |(whole_words, _)| whole_words);
    format!("{beginning}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_tidied() {
        assert_eq!(tidy_lines("  a \t b\n\n \r\n c\u{a0}d "), "a b\nc d");
        assert_eq!(one_line(" a\n b "), "a b");
        assert_eq!(one_line("\u{3000}ä\u{2009}b  c\u{b}d e\u{85}"), "ä b c d e");
    }

    #[test]
    fn headings_end_at_a_word() {
        assert_eq!(heading_of("short\nrest"), "short");
        let long = heading_of(&"word ".repeat(40));
        assert!(long.len() < 130 && long.ends_with("word…"), "{long}");
    }
}
