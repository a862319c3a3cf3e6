//! One path pattern of robots.txt and the paths it matches. Knows nothing of groups or precedence.
//!
//! Both sides are brought to one spelling first: escapes of ordinary characters undone, everything else escaped
//! with capitals. What is special in a pattern (`*`, a final `$`) is escaped in a path, so that the two
//! cannot be confused.

use std::fmt::Write as _;

/// A pattern, taken apart at its stars.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct Pattern {
    /// What stands between the stars; the first part is anchored at the start of the path.
    parts: Vec<String>,
    /// Whether a `$` anchors the last part at the end.
    is_anchored: bool,
    len: usize,
}

impl Pattern {
    pub(super) fn new(text: &[u8]) -> Self {
        let (body, is_anchored) = match text.strip_suffix(b"$") {
            Some(body) => (body, true),
            None => (text, false),
        };
        let parts: Vec<String> = body.split(|&byte| byte == b'*').map(normalised).collect();
        let n_stars = parts.len() - 1;
        let len = parts.iter().map(String::len).sum::<usize>() + n_stars + usize::from(is_anchored);
        Self { parts, is_anchored, len }
    }

    /// Length in octets, which is what precedence goes by.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Whether it matches a path made by [`normalised_path`].
    ///
    /// Taking each part at its first chance is enough: a star can always swallow what an earlier match left over.
    pub(super) fn matches(&self, path: &str) -> bool {
        // Splitting gives at least one part; one that was stored and damaged may have none, and matches nothing.
        let Some((first, rest)) = self.parts.split_first() else { return false };
        let Some(mut left) = path.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = rest.split_last() else { return !self.is_anchored || left.is_empty() };
        for part in middle {
            match left.find(part.as_str()) {
                Some(at) => left = &left[at + part.len()..],
                None => return false,
            }
        }
        if self.is_anchored { left.ends_with(last.as_str()) } else { left.contains(last.as_str()) }
    }
}

/// The path and query of a URL in the spelling that patterns are compared in.
pub(super) fn normalised_path(path: &str) -> String {
    let path = if path.is_empty() { "/" } else { path };
    normalised(path.as_bytes()).replace('*', "%2A")
}

fn normalised(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [byte, after @ ..] = rest {
        rest = after;
        let escaped = (*byte == b'%').then(|| hex_pair(after)).flatten();
        if escaped.is_some() {
            rest = &after[2..];
        }
        match escaped.unwrap_or(*byte) {
            plain if plain.is_ascii_alphanumeric() || b"-._~".contains(&plain) => {
                text.push(char::from(plain));
            }
            // A character that means something to servers stays as it was written.
            plain if escaped.is_none() && plain.is_ascii_graphic() && plain != b'$' => {
                text.push(char::from(plain));
            }
            other => write!(text, "%{other:02X}").expect("writing to a string cannot fail"),
        }
    }
    text
}

fn hex_pair(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let compiled = Pattern::new(pattern.as_bytes());
        for path in yes {
            assert!(compiled.matches(&normalised_path(path)), "{pattern} should match {path}");
        }
        for path in no {
            assert!(!compiled.matches(&normalised_path(path)), "{pattern} should not match {path}");
        }
    }

    #[test]
    fn prefixes_stars_and_ends() {
        check("/", &["/", "/x", "/?q"], &[]);
        check(
            "/fish",
            &["/fish", "/fish.html", "/fishheads/yummy", "/fish?id=1"],
            &["/Fish.asp", "/catfish"],
        );
        check("/fish*", &["/fish", "/fish.html"], &["/Fish"]);
        check("/*.php", &["/index.php", "/a/b.php?x", "/x.php5"], &["/", "/windows.PHP"]);
        check("/*.php$", &["/x.php", "/a.php.php"], &["/x.php?p", "/x.php5", "/x.php/"]);
        check("/fish*.php", &["/fish.php", "/fishheads/catfish.php?p"], &["/Fish.PHP"]);
        check("/$", &["/"], &["/x", "/?q"]);
        check("*$", &["/", "/x"], &[]);
        check("/a*b*c$", &["/abc", "/a-b-bc-c"], &["/ab", "/acb"]);
        check("/a$b", &["/a$b", "/a%24bc"], &["/a", "/ab"]);
    }

    #[test]
    fn escapes_are_one_spelling() {
        check("/foo/bar?baz=quz", &["/foo/bar?baz=quz"], &[]);
        check("/foo/bar/\u{30c4}", &["/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"], &[]);
        check("/foo/bar/%62%61%7A", &["/foo/bar/baz"], &[]);
        check("/a%2fb", &["/a%2Fb"], &["/a/b"]);
        check("/path/file-with-a-%2A.html", &["/path/file-with-a-*.html", "/path/file-with-a-%2a.html"], &[]);
        check("/path/foo-%24", &["/path/foo-$", "/path/foo-%24x"], &["/path/foo-"]);
        check("/100%", &["/100%", "/100%zz"], &["/100"]);
    }
}
