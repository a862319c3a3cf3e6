//! Sections of documents that run into the paragraph before them: without an empty line, readers see one paragraph.

use super::Problem;
use super::tree::{File, Tree, has_extension};

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.files().filter(|file| has_extension(file.path, "md")).flat_map(|file| check_file(&file)).collect()
}

fn check_file(file: &File<'_>) -> Vec<Problem> {
    let mut problems = Vec::new();
    let (mut in_code, mut before) = (false, "");
    for (number, line) in file.lines() {
        let is_fence = line.trim_start().starts_with("```");
        if !in_code && !before.is_empty() && begins_a_section(line) {
            let what = "a section that begins in the middle of a paragraph";
            problems.push(Problem::new(file.path, number, what, "put an empty line before it"));
        }
        in_code ^= is_fence;
        before = line.trim();
    }
    problems
}

/// A heading, or bold words and a dash, which is how long documents here name their parts.
fn begins_a_section(line: &str) -> bool {
    let is_named = || line.strip_prefix("**").and_then(|rest| rest.split_once("** — ")).is_some();
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    is_named() || (level > 0 && line[level..].starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::super::report;
    use super::*;

    #[test]
    fn sections_after_an_empty_line_pass() {
        let text = "# Title\n\nWords in **bold** here.\n**Bold** words — no name.\n\n**A part** — of it.\n\n## More\n\
                    ```console\nls\n# a comment\n**x** — y\n```\n";
        assert_eq!(report(check, &[("docs/a.md", text)]), [""; 0]);
    }

    #[test]
    fn a_section_glued_to_a_paragraph_fails() {
        let text = "# Title\n\nA paragraph.\n**A part** — of it.\nMore.\n## Heading\n";
        let places: Vec<String> = report(check, &[("ARCHITECTURE.md", text)])
            .iter()
            .map(|line| line.split(": ").next().unwrap().to_owned())
            .collect();
        assert_eq!(places, ["ARCHITECTURE.md:4", "ARCHITECTURE.md:6"]);
    }
}
