//! Colours on terminals, and nothing but text elsewhere. `NO_COLOR` is respected.

use std::fmt::Write as _;
use std::io::IsTerminal;

/// Whether what is written may carry colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Coloured,
    Plain,
}

/// What a piece of text means.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tone {
    Good,
    Bad,
    Doubtful,
    Strong,
    Faint,
}

impl Paint {
    /// For standard output.
    pub(crate) fn stdout() -> Self {
        Self::choose(std::io::stdout().is_terminal())
    }

    /// For standard error.
    pub(crate) fn stderr() -> Self {
        Self::choose(std::io::stderr().is_terminal())
    }

    fn choose(is_terminal: bool) -> Self {
        let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if is_terminal && !is_unwanted { Self::Coloured } else { Self::Plain }
    }

    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if self == Self::Plain {
            return text.to_owned();
        }
        let code = match tone {
            Tone::Good => 32,
            Tone::Bad => 31,
            Tone::Doubtful => 33,
            Tone::Strong => 1,
            Tone::Faint => 2,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// Text from outside as a terminal may show it: control characters would move the cursor or change colours.
pub(crate) fn harmless(text: &str) -> String {
    let shown = |c: char| if c != '\n' && c != '\t' && is_harmful(c) { '\u{fffd}' } else { c };
    text.chars().map(shown).collect()
}

/// JSON in which no character could do harm on a terminal; it means the same. What JSON itself escapes stays as it is.
pub(crate) fn harmless_json(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for c in json.chars() {
        // Outside of strings, JSON has no other characters than these two that would be escaped.
        if c == '\n' || c == '\t' || !is_harmful(c) {
            safe.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(safe, "\\u{unit:04x}");
        }
    }
    safe
}

/// Characters that a terminal obeys, or that make text look like another.
pub(crate) fn is_harmful(c: char) -> bool {
    c.is_control() || turns_text_around(c) || is_invisible(c)
}

/// Characters that break lines without being seen to, mark text invisibly, or take no room.
const fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{2064}' | '\u{206a}'..='\u{206f}'
        | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Characters that make what follows read the other way round, so that it looks like something else.
const fn turns_text_around(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What came from outside as a terminal may show it; `None` for what is no text.
pub(crate) fn readable(content: &[u8]) -> Option<String> {
    std::str::from_utf8(content).ok().filter(|text| !text.contains('\0')).map(harmless)
}

/// The same on one line, of at most this many characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let words = harmless(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= most {
        return words;
    }
    words.chars().take(most.saturating_sub(1)).collect::<String>() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(harmless("a\u{1b}[31mb\r\u{7}c\n"), "a\u{fffd}[31mb\u{fffd}\u{fffd}c\n");
        assert_eq!(harmless("a\u{202e}gpj.exe\u{2069}"), "a\u{fffd}gpj.exe\u{fffd}");
        assert_eq!(
            readable("\u{1b}]0;title\u{7}Grüße\n".as_bytes()).unwrap(),
            "\u{fffd}]0;title\u{fffd}Grüße\n"
        );
        assert_eq!(readable(b"\x89PNG\0\xff"), None);
        assert_eq!(harmless("a\u{9b}31mb\u{200b}c"), "a\u{fffd}31mb\u{fffd}c");
        assert_eq!(harmless("Grüße, \u{1f600} \u{200d} שלום"), "Grüße, \u{1f600} \u{200d} שלום");
        let given = serde_json::json!({ "a\u{202e}": ["\u{9b}31m\u{7f}\n\t\"\u{1b}", "é\u{e0041}"] });
        let safe = harmless_json(&serde_json::to_string_pretty(&given).unwrap());
        assert!(!safe.chars().any(|c| c != '\n' && is_harmful(c)), "{safe}");
        assert!(safe.contains("\\u009b31m\\u007f\\n\\t") && safe.contains("é\\udb40\\udc41"), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), given);
        assert_eq!(one_line("  many\n words \t here", 10), "many word…");
    }
}
