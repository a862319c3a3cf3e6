//! How texts are compared: without case, with any run of white space as one space. An index has to cut texts into words
//! by the same rule as the predicates, so the rule is here once.

/// A text in lower case, letter by letter: unlike the lower case of whole words, that of a part is a part of it.
pub(crate) fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// A text without case, with single spaces between what white space separates, and none around.
pub(crate) fn normalised(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for part in folded(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(part);
    }
    line
}

/// The words of a text in lower case: its runs of letters and digits, as the predicates see them.
///
/// ```
/// let words: Vec<String> = dunlin_query::words("Oil: UP 5.2%").collect();
/// assert_eq!(words, ["oil", "up", "5", "2"]);
/// ```
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let folded = folded(text);
    let words: Vec<String> = folded
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

/// All words of a text with one space around each, so that a phrase is in it exactly if its own line is.
pub(crate) fn word_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len() + 2);
    line.push(' ');
    for word in words(text) {
        line.push_str(&word);
        line.push(' ');
    }
    line
}
