//! Rust text with its comments and literals blanked out, so that a search for code finds only code.
//!
//! This is not a parser: it knows just enough of the lexer to find where a comment or literal ends. Lines keep
//! their numbers and columns.

/// `text` with every byte of a comment, string or character literal replaced by a space.
pub(super) fn code_only(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut code = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let after_word = at > 0 && is_word(bytes[at - 1]);
        if let Some(length) = blank_end(&bytes[at..], after_word) {
            let end = bytes.len().min(at + length);
            code.extend(bytes[at..end].iter().map(|&byte| if byte == b'\n' { b'\n' } else { b' ' }));
            at = end;
        } else {
            code.push(bytes[at]);
            at += 1;
        }
    }
    String::from_utf8(code).expect("only whole characters are blanked, each byte by an ASCII space")
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The length of the comment or literal that starts at the front of `rest`, if one does.
fn blank_end(rest: &[u8], after_word: bool) -> Option<usize> {
    match rest {
        [b'/', b'/', ..] => Some(position(rest, b"\n").unwrap_or(rest.len())),
        [b'/', b'*', ..] => Some(block_comment(rest)),
        [b'"', ..] => Some(string(rest)),
        [b'\'', ..] => character(rest),
        // `r"`, `r#"`, and after a `b` or `c` prefix the same; never the last letter of a longer name.
        [b'r', ..] if !after_word => raw_string(rest),
        [b'b' | b'c', b'r', ..] if !after_word => raw_string(&rest[1..]).map(|length| length + 1),
        _ => None,
    }
}

fn position(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// Block comments nest in Rust.
fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

fn string(rest: &[u8]) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    rest.len()
}

fn raw_string(rest: &[u8]) -> Option<usize> {
    let n_hashes = rest[1..].iter().take_while(|&&byte| byte == b'#').count();
    let body = 1 + n_hashes + 1;
    if rest.get(body - 1) != Some(&b'"') {
        return None;
    }
    let mut closing = vec![b'"'];
    closing.resize(1 + n_hashes, b'#');
    Some(position(&rest[body..], &closing).map_or(rest.len(), |length| body + length + closing.len()))
}

/// A character literal; `None` for a lifetime, which has no closing quote after one character.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        // The escaped character itself may be a quote, so the search starts behind it.
        return position(rest.get(3..)?, b"'").map(|length| 3 + length + 1);
    }
    let text = str::from_utf8(&rest[1..rest.len().min(6)]).or_else(|error| {
        // The window of five bytes may cut the next character in two.
        str::from_utf8(&rest[1..=error.valid_up_to()])
    });
    let length = text.ok()?.chars().next()?.len_utf8();
    (rest.get(1 + length) == Some(&b'\'')).then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of `text`, with runs of blanks shown as one.
    fn left(text: &str) -> String {
        let code = code_only(text);
        assert_eq!(code.len(), text.len());
        assert_eq!(code.lines().count(), text.lines().count());
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_go_and_code_around_them_stays() {
        assert_eq!(left("a // todo!()\nb /* x /* y */ z\n */ c"), "a b c");
        assert_eq!(left("//! doc\n/// doc\nfn f() {}"), "fn f() {}");
        assert_eq!(left("a /* never closed"), "a");
    }

    #[test]
    fn literals_go_whatever_they_contain() {
        assert_eq!(left(r#"f("a \" // b", c)"#), "f( , c)");
        assert_eq!(left("f(r#\"a \" b\"#, br\"\\\", c)"), "f( , , c)");
        assert_eq!(left(r"g('\'', '/', b'x', '\u{1F426}', c)"), "g( , , b , , c)");
        assert_eq!(left("g('ä', '🐦', 'ä')"), "g( , , )");
    }

    #[test]
    fn lifetimes_and_raw_names_are_code() {
        assert_eq!(left("fn f<'a>(x: &'a str) -> &'a str"), "fn f<'a>(x: &'a str) -> &'a str");
        assert_eq!(left("let r#type = for_r; 'x: loop {}"), "let r#type = for_r; 'x: loop {}");
        assert_eq!(left("x: &'ä str"), "x: &'ä str");
    }
}
