//! One address per line; empty lines and what follows a `#` at the beginning of a word do not count.

use super::List;

pub(super) fn read(text: &str) -> List {
    let mut list = List::default();
    for (index, line) in text.lines().enumerate() {
        // A fragment is part of an address; a comment has a line of its own.
        let comment =
            line.starts_with('#').then_some(0).or_else(|| line.find(" #")).or_else(|| line.find("\t#"));
        let url = line[..comment.unwrap_or(line.len())].trim();
        if !url.is_empty() {
            list.take(index + 1, url, None, None, Vec::new());
        }
    }
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_bad_lines_are_distinguished() {
        let list =
            read("# mine\n\nhttps://a.example/#top\nHTTPS://B.example # news\nnonsense\nftp://c.example/\n");
        let found: Vec<_> = list.entries.iter().map(|entry| (entry.line, entry.url.as_str())).collect();
        assert_eq!(found, [(3, "https://a.example/#top"), (4, "https://b.example/")]);
        let bad: Vec<_> = list.unreadable.iter().map(|bad| bad.line).collect();
        assert_eq!(bad, [5, 6]);
    }
}
