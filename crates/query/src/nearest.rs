//! The word that somebody may have meant.

/// Longer words are not compared: nobody misspells those, and the work stays bounded.
const MAX_LENGTH: usize = 32;

/// The candidate with the fewest typing errors between it and `word`, if those are few; the first of equals. Case
/// does not count.
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let word: Vec<char> =
        word.chars().map(|letter| letter.to_ascii_lowercase()).take(MAX_LENGTH + 1).collect();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let letters: Vec<char> =
            candidate.chars().map(|letter| letter.to_ascii_lowercase()).take(MAX_LENGTH + 1).collect();
        if word.len() > MAX_LENGTH || letters.len() > MAX_LENGTH {
            continue;
        }
        let distance = distance(&word, &letters);
        let allowed =
            if word.len().max(letters.len()) < 3 { 0 } else { 1 + word.len().max(letters.len()) / 5 };
        if distance <= allowed && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// How many letters have to be inserted, removed, replaced or exchanged with the next one to get from `a` to `b`.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_with_the_fewest_errors_is_meant_if_they_are_few() {
        let words = ["EVERY", "WITHIN", "WHEN", "WHERE"];
        let found = ["evry", "WITHNI", "were", "hen", "something", "x"].map(|word| nearest(word, words));
        assert_eq!(found, [Some("EVERY"), Some("WITHIN"), Some("WHERE"), Some("WHEN"), None, None]);
    }
}
