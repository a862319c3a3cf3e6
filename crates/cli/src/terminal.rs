//! Colours on terminals, and nothing but text elsewhere. `NO_COLOR` is heeded.

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
    text.chars()
        .map(|c| {
            if c == '\n' || c == '\t' {
                c
            } else if c.is_control() || turns_text_around(c) {
                '\u{fffd}'
            } else {
                c
            }
        })
        .collect()
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
        assert_eq!(one_line("  many\n words \t here", 10), "many word…");
    }
}
