//! The rules of one site, packed: all patterns in one text, and twelve bytes for each. Knows nothing of groups or lines.
//!
//! Both sides of a comparison are normalized first: escapes of ordinary characters undone, everything else
//! escaped with capitals. What is special in a pattern (`*`, a final `$`) is escaped in a path, so that the two
//! cannot be confused.
//!
//! Invariants: no more than [`MAX_HELD`] bytes are held, and no more than [`MAX_WORK`] bytes are compared for one URL,
//! for any file. Beyond either limit, everything counts as forbidden.

use std::fmt::Write as _;

/// The most bytes of rules that are kept of one site. A file of the length that the standard asks for needs no more, unless
/// most of it is bytes that have to be escaped.
pub const MAX_HELD: usize = 1 << 20;

/// The most bytes that patterns with stars may scan for one URL, in total. A few milliseconds' worth.
pub const MAX_WORK: usize = 4 << 20;

/// All rules that concern one visitor, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Rules {
    /// The patterns one after the other, without anchors and with one star where there were many.
    text: String,
    each: Vec<Rule>,
    /// There was a rule that forbids something, and no room for it: what is allowed is unknown.
    is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Rule {
    /// Where its pattern ends in the text; it begins where the one before ends.
    end: u32,
    /// Length in octets as written, which is what precedence goes by.
    len: u32,
    allows: bool,
    /// Whether a `$` anchors the pattern at the end.
    is_anchored: bool,
}

impl Rules {
    /// Takes in one more rule. Without room for it, one that allows is left out, which forbids no less; one that forbids
    /// makes all forbidden.
    pub(super) fn push(&mut self, pattern: &[u8], allows: bool) {
        let (body, is_anchored) = match pattern.strip_suffix(b"$") {
            Some(body) => (body, true),
            None => (pattern, false),
        };
        let begin = self.text.len();
        let mut n_bytes = usize::from(is_anchored);
        for (n, part) in body.split(|&byte| byte == b'*').enumerate() {
            n_bytes += usize::from(n > 0);
            if n > 0 && (self.text.len() == begin || !self.text.ends_with('*')) {
                self.text.push('*');
            }
            let before = self.text.len();
            normalise(part, &mut self.text);
            n_bytes += self.text.len() - before;
        }
        if self.text.len() + (self.each.len() + 1) * size_of::<Rule>() > MAX_HELD {
            self.text.truncate(begin);
            self.is_cut |= !allows;
            return;
        }
        let (end, len) = (self.text.len() as u32, u32::try_from(n_bytes).unwrap_or(u32::MAX));
        self.each.push(Rule { end, len, allows, is_anchored });
    }

    /// Gives back what it has reserved and does not use.
    pub(super) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.each.shrink_to_fit();
    }

    /// How many bytes it holds.
    pub(super) fn held(&self) -> usize {
        self.text.capacity() + self.each.capacity() * size_of::<Rule>()
    }

    /// Whether a path may be fetched: the longest rule that matches decides, and of two equally long ones the one that
    /// allows.
    pub(super) fn allow(&self, path: &str) -> bool {
        if self.is_cut {
            return false;
        }
        if self.each.is_empty() {
            return true;
        }
        let path = normalised_path(path);
        let mut begin = 0;
        let mut work = MAX_WORK;
        let mut best: Option<(u32, bool)> = None;
        for rule in &self.each {
            let end = rule.end as usize;
            // Damaged stored rules may be inconsistent; then what is allowed is unknown.
            let Some(pattern) = self.text.get(begin..end) else { return false };
            begin = end;
            let rank = Some((rule.len, rule.allows));
            // A rule that could not decide need not be matched.
            if rank <= best {
                continue;
            }
            match matches(pattern, rule.is_anchored, &path, &mut work) {
                Some(true) => best = rank,
                Some(false) => {}
                None => return false,
            }
        }
        best.is_none_or(|(_, allows)| allows)
    }
}

/// Whether a pattern matches a path; `None` when that takes more work than is left.
///
/// Taking each part at its first chance is enough: a star can always swallow what an earlier match left over. So each byte
/// of the path is scanned by one part only, and by the last one that is not found.
fn matches(pattern: &str, is_anchored: bool, path: &str, work: &mut usize) -> Option<bool> {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut left) = path.strip_prefix(first) else { return Some(false) };
    let Some(mut part) = parts.next() else { return Some(!is_anchored || left.is_empty()) };
    *work = work.checked_sub(left.len() + pattern.len())?;
    for next in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return Some(false),
        }
        part = next;
    }
    Some(if is_anchored { left.ends_with(part) } else { left.contains(part) })
}

/// The path and query of a URL in the spelling that patterns are compared in.
fn normalised_path(path: &str) -> String {
    let path = if path.is_empty() { "/" } else { path };
    let mut text = String::with_capacity(path.len());
    normalise(path.as_bytes(), &mut text);
    if text.contains('*') { text.replace('*', "%2A") } else { text }
}

fn normalise(bytes: &[u8], text: &mut String) {
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
}

fn hex_pair(bytes: &[u8]) -> Option<u8> {
    let digit = |at: usize| char::from(*bytes.get(at)?).to_digit(16);
    u8::try_from(digit(0)? * 16 + digit(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forbids(pattern: &str, path: &str) -> bool {
        let mut rules = Rules::default();
        rules.push(pattern.as_bytes(), false);
        !rules.allow(path)
    }

    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        for path in yes {
            assert!(forbids(pattern, path), "{pattern} should match {path}");
        }
        for path in no {
            assert!(!forbids(pattern, path), "{pattern} should not match {path}");
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
        check("***", &["/", "/x"], &[]);
        check("/a**b", &["/ab", "/a-b"], &["/a", "/b"]);
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

    #[test]
    fn stars_count_for_precedence_as_often_as_they_are_written() {
        let mut rules = Rules::default();
        rules.push(b"/a/bc", true);
        rules.push(b"/a***b", false);
        assert!(!rules.allow("/a/bc"), "six octets go before five");
    }

    #[test]
    fn without_room_a_disallow_forbids_all_and_an_allow_is_left_out() {
        let pattern = vec![b'x'; 1_000];
        let mut rules = Rules::default();
        while rules.text.len() + (rules.each.len() + 1) * size_of::<Rule>() + 1_000 <= MAX_HELD {
            rules.push(&pattern, false);
        }
        rules.shrink();
        assert!(rules.held() <= MAX_HELD && rules.held() > MAX_HELD - 2_000, "{}", rules.held());
        let before = rules.clone();
        rules.push(&pattern, true);
        assert_eq!(rules, before);
        assert!(rules.allow("/y"));
        rules.push(&pattern, false);
        assert!(rules.is_cut && !rules.allow("/y") && rules.text == before.text);
    }

    #[test]
    fn a_url_that_takes_too_much_work_is_forbidden() {
        let path = format!("/{}", "a".repeat(8_000));
        let mut rules = Rules::default();
        for n in 0..20 {
            rules.push(format!("/*b{n}").as_bytes(), false);
        }
        assert!(rules.allow(&path));
        for n in 0..1_000 {
            rules.push(format!("/*b{n}").as_bytes(), false);
        }
        assert!(!rules.allow(&path), "a thousand times eight thousand bytes");
        assert!(rules.allow("/a"), "a short one takes little");
    }

    #[test]
    fn damaged_stored_rules_allow_nothing() {
        let mut rules = Rules::default();
        rules.push(b"/x", false);
        assert!(rules.allow("/y"));
        rules.each[0].end = 9;
        assert!(!rules.allow("/y"));
    }
}
