//! Every relative link in the documents points to something that exists.
//!
//! Covers the Markdown files at the root and under `docs/`. Addresses on the web are not tried: a check that
//! needs the network fails for reasons that are not ours. Headings behind a `#` are not checked either.

use super::Problem;
use super::tree::{File, Tree, has_extension};

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let is_document =
        |path: &str| has_extension(path, "md") && (!path.contains('/') || path.starts_with("docs/"));
    let documents = tree.files().filter(|file| is_document(file.path));
    documents.flat_map(|file| check_document(tree, &file)).collect()
}

fn check_document(tree: &Tree, file: &File<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut fence: Option<&str> = None;
    for (number, line) in file.lines() {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        match (fence, marker) {
            (None, Some(marker)) => fence = Some(marker),
            (Some(open), Some(marker)) if open == marker => fence = None,
            (None, None) => {
                for target in targets(line) {
                    problems.extend(
                        broken(tree, file.path, &target)
                            .map(|(what, remedy)| Problem::new(file.path, number, what, remedy)),
                    );
                }
            }
            _ => {}
        }
    }
    problems
}

/// What is wrong with the link and what to do about it; `None` when it is fine or leads to the web.
fn broken(tree: &Tree, from: &str, target: &str) -> Option<(String, &'static str)> {
    let path = target.split(['#', '?']).next().unwrap_or_default();
    let leaves_the_repository = path.contains("://") || path.starts_with("mailto:") || path.starts_with("//");
    if path.is_empty() || leaves_the_repository {
        return None;
    }
    match resolve(from, path) {
        Some(resolved) if tree.exists(&resolved) => None,
        Some(resolved) => {
            Some((format!("link to `{target}`, and there is no {resolved}"), "correct or remove the link"))
        }
        None => Some((
            format!("link to `{target}`, which lies outside the repository"),
            "link to its address on the web",
        )),
    }
}

/// The path from the root that a link in `from` means; a leading slash means the root, as on code hosts.
fn resolve(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = match link.strip_prefix('/') {
        Some(_) => Vec::new(),
        None => from.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect(),
    };
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The targets of all links and images in a line: `[a](x)`, `[a]: x`, `href="x"`, `src="x"`.
fn targets(line: &str) -> Vec<String> {
    let line = without_inline_code(line);
    let mut targets = Vec::new();
    for (opening, closing) in [("](", ')'), ("href=\"", '"'), ("src=\"", '"')] {
        for rest in line.split(opening).skip(1) {
            targets.extend(rest.split_once(closing).map(|(target, _)| target));
        }
    }
    let definition = line.strip_prefix('[').and_then(|rest| rest.split_once("]:"));
    // `[^1]: words` is a footnote.
    targets.extend(definition.filter(|(label, _)| !label.starts_with('^')).map(|(_, target)| target));
    // A title may follow the target: `[a](x "title")`.
    let bare =
        |target: &str| target.split_whitespace().next().map(|word| word.trim_matches(['<', '>']).to_owned());
    targets.into_iter().filter_map(bare).collect()
}

fn without_inline_code(line: &str) -> String {
    // An odd number of ticks means that the last one is just a tick; the text after it counts as text.
    let pieces: Vec<&str> = line.split('`').collect();
    let last = pieces.len() - 1;
    let is_text = |index: usize| index.is_multiple_of(2) || index == last;
    pieces.iter().enumerate().filter(|(index, _)| is_text(*index)).map(|(_, piece)| *piece).collect()
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;

    #[test]
    fn links_that_lead_somewhere_pass() {
        let readme = "[a](docs/a.md#part) [dir](./docs/) [web](https://example.org/x) [here](#top)\n\
                      [mail](mailto:a@example.org) `[code](gone.md)` ![p](docs/p.svg \"Plot\")\n\
                      ```sh\n[fenced](gone.md)\n```\n[ref]: docs/a.md\n[^1]: footnote\n";
        let files = [
            ("README.md", readme),
            ("docs/a.md", "[up](../README.md) [root](/README.md)\n"),
            ("docs/p.svg", ""),
        ];
        assert_eq!(report(check, &files), [""; 0]);
    }

    #[test]
    fn code_ends_with_the_fence_it_began_with() {
        let text = "```\n~~~\n[in code](gone.md)\n~~~\n```\n[a](gone.md)\n~~~\n```\n[in code](gone.md)\n";
        let found = report(check, &[("docs/a.md", text)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("docs/a.md:6: "), "{found:?}");
    }

    #[test]
    fn links_to_nothing_fail_in_every_spelling() {
        let text = "ok\n[a](gone.md)\n[b]: gone.md\n<img src=\"gone.md\">\n![c](<gone.md> \"t\") `x` [d](gone.md#e)\n";
        let remedy = "(correct or remove the link)";
        let expected = [
            format!("docs/a.md:2: link to `gone.md`, and there is no docs/gone.md {remedy}"),
            format!("docs/a.md:3: link to `gone.md`, and there is no docs/gone.md {remedy}"),
            format!("docs/a.md:4: link to `gone.md`, and there is no docs/gone.md {remedy}"),
            format!("docs/a.md:5: link to `gone.md`, and there is no docs/gone.md {remedy}"),
            format!("docs/a.md:5: link to `gone.md#e`, and there is no docs/gone.md {remedy}"),
        ];
        assert_eq!(report(check, &[("docs/a.md", text)]), expected);
    }

    #[test]
    fn a_link_out_of_the_repository_fails() {
        let found = report(check, &[("README.md", "[a](../other/a.md)\n")]);
        assert_eq!(
            found,
            [
                "README.md:1: link to `../other/a.md`, which lies outside the repository (link to its address on the web)"
            ]
        );
    }

    #[test]
    fn documents_elsewhere_are_not_ours_to_check() {
        assert_eq!(report(check, &[("crates/lab/notes.md", "[a](gone.md)\n")]), [""; 0]);
    }
}
