//! Word lists, and text that means nothing.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

const PLAIN: &[&str] = &[
    "water", "level", "northern", "quay", "report", "steady", "council", "bridge", "ferry", "market",
    "early", "record", "notice", "station", "valley", "timber", "harvest", "signal", "lantern", "copper",
    "garden", "ledger", "survey", "winter", "channel", "meadow", "engine", "letter", "harbour", "island",
    "pebble", "orchard",
];

/// One of a list.
pub(super) fn pick<'a>(list: &[&'a str], numbers: &mut ChaCha8Rng) -> &'a str {
    list[numbers.random_range(0..list.len())]
}

/// A sentence of nine words.
pub(super) fn sentence(numbers: &mut ChaCha8Rng) -> String {
    let words: Vec<&str> = (0..9).map(|_| pick(PLAIN, numbers)).collect();
    format!("{}.", capitalised(&words.join(" ")))
}

/// The text with a capital first letter.
pub(crate) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    first + letters.as_str()
}

/// About `size` bytes of words in paragraphs of `<p>`, the same for every version of a page.
pub(crate) fn filler(size: usize) -> String {
    let mut text = String::with_capacity(size + 16);
    let mut words = PLAIN.iter().cycle();
    while text.len() < size {
        text.push_str("<p>");
        for _ in 0..60 {
            if text.len() >= size {
                break;
            }
            // Steps through the list at a pace that is prime to its length, so that lines differ.
            text.push_str(words.nth(10).copied().unwrap_or_default());
            text.push(' ');
        }
        text.push_str("</p>\n");
    }
    text
}
