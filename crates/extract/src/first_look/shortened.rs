//! Selectors and paths that ask for less than one that finds nothing, nearest first. Only cuts text; what is left is parsed and
//! tried by others, and may mean nothing.

/// Shorter ones that are tried at most: each costs a walk over the page.
const MOST: usize = 12;

/// Parts of a selector: without its first steps, then without the last conditions of its last step, then without its last steps.
pub(crate) fn shortened_selectors(css: &str) -> Vec<String> {
    let (steps, conditions) = cuts(css);
    let Some(last) = steps.last().copied() else { return Vec::new() };
    let mut shorter: Vec<&str> = steps.iter().map(|at| &css[*at..]).collect();
    let in_last = conditions.iter().rev().filter(|at| **at > last);
    shorter.extend(in_last.clone().map(|at| &css[..*at]));
    shorter.extend(in_last.map(|at| &css[last..*at]));
    shorter.extend(steps.iter().rev().map(|at| &css[..*at]));
    tidied(css, &shorter)
}

/// Where its steps begin but the first, and where conditions begin (`.class`, `[attribute]`, `:state`, `#id`).
fn cuts(css: &str) -> (Vec<usize>, Vec<usize>) {
    let (mut steps, mut conditions) = (vec![0], Vec::new());
    let (mut depth, mut quote, mut after_gap) = (0_usize, None, false);
    for (at, c) in css.char_indices() {
        match (quote, c) {
            (Some(open), _) => quote = Some(open).filter(|open| *open != c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '(' | '[') => {
                if depth == 0 && c == '[' && !after_gap {
                    conditions.push(at);
                }
                depth += 1;
            }
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            // A list of selectors has no one next to it.
            (None, ',') if depth == 0 => return (Vec::new(), Vec::new()),
            (None, ' ' | '>' | '+' | '~') if depth == 0 => {
                after_gap = true;
                continue;
            }
            (None, '.' | ':' | '#') if depth == 0 && !after_gap => conditions.push(at),
            _ => {}
        }
        if std::mem::take(&mut after_gap) && at > 0 {
            steps.push(at);
        }
    }
    (steps, conditions)
}

/// Beginnings of a JSON path, the longest first; not the whole document.
pub(crate) fn shortened_paths(path: &str) -> Vec<String> {
    let mut starts = Vec::new();
    let (mut depth, mut quote) = (0_usize, None);
    for (at, c) in path.char_indices() {
        match (quote, c) {
            (Some(open), _) => quote = Some(open).filter(|open| *open != c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '[') => {
                if depth == 0 {
                    starts.push(at);
                }
                depth += 1;
            }
            (None, ']') => depth = depth.saturating_sub(1),
            (None, '.') if depth == 0 => starts.push(at),
            _ => {}
        }
    }
    let shorter: Vec<&str> = starts.iter().rev().map(|at| &path[..*at]).collect();
    tidied(path, &shorter).into_iter().filter(|path| path != "$").collect()
}

/// Without dangling combinators, doubles, and what is the whole.
fn tidied(whole: &str, shorter: &[&str]) -> Vec<String> {
    let mut tidy: Vec<String> = Vec::new();
    for text in shorter {
        let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '+' | '~'));
        if !text.is_empty() && text != whole.trim() && !tidy.iter().any(|known| known == text) {
            tidy.push(text.to_owned());
        }
    }
    tidy.truncate(MOST);
    tidy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_shortened_from_the_front_first() {
        assert_eq!(
            shortened_selectors("main > .list li.offer.new"),
            [
                ".list li.offer.new",
                "li.offer.new",
                "main > .list li.offer",
                "main > .list li",
                "li.offer",
                "li",
                "main > .list",
                "main"
            ]
        );
        assert_eq!(shortened_selectors("a, b"), [""; 0]);
        assert_eq!(shortened_selectors("p"), [""; 0]);
        assert_eq!(shortened_selectors("a[title='x > y.z'] b"), ["b", "a[title='x > y.z']"]);
        assert_eq!(shortened_selectors(".price"), [""; 0]);
    }

    #[test]
    fn paths_are_shortened_from_the_end() {
        assert_eq!(shortened_paths("$.a['b.c'][*].d"), ["$.a['b.c'][*]", "$.a['b.c']", "$.a"]);
        assert_eq!(shortened_paths("$"), [""; 0]);
    }
}
