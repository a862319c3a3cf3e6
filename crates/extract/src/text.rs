//! Plain text: white space, lines, paragraphs, cutting. Nothing here knows of markup.

/// One line per line, white space collapsed, empty lines gone.
pub(crate) fn tidy_lines(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    for line in text.lines() {
        let mut words = line.split_whitespace().peekable();
        if words.peek().is_none() {
            continue;
        }
        if !tidied.is_empty() {
            tidied.push('\n');
        }
        if is_tidy(line) {
            tidied.push_str(line);
        } else {
            push_words(&mut tidied, words);
        }
    }
    tidied
}

/// Whether a line has one space between words of ASCII and none at its ends, which most lines do that were tidied once.
fn is_tidy(line: &str) -> bool {
    let bytes = line.as_bytes();
    let (Some(b'!'..=b'~'), Some(b'!'..=b'~')) = (bytes.first(), bytes.last()) else { return false };
    bytes.iter().all(|byte| matches!(byte, b' '..=b'~'))
        && bytes.iter().zip(&bytes[1..]).all(|pair| pair != (&b' ', &b' '))
}

/// Everything on one line.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    push_words(&mut line, text.split_whitespace());
    line
}

fn push_words<'a>(line: &mut String, words: impl Iterator<Item = &'a str>) {
    for (index, word) in words.enumerate() {
        if index > 0 {
            line.push(' ');
        }
        line.push_str(word);
    }
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
    }

    #[test]
    fn headings_end_at_a_word() {
        assert_eq!(heading_of("short\nrest"), "short");
        let long = heading_of(&"word ".repeat(40));
        assert!(long.len() < 130 && long.ends_with("word…"), "{long}");
    }
}
