//! Two texts line by line, in the form that `diff -u` writes and other tools read. No header: the caller knows what
//! the texts are called.

use std::fmt::Write;

use similar::{DiffOp, group_diff_ops};

use super::{CONTEXT, MAX_BYTES, Tokens, operations, without_empty_end};
use crate::text::cut;
use crate::work::Work;

/// Compares two texts line by line. Equal texts give nothing.
///
/// ```
/// let text = dunlin_extract::diff::unified("a\nb\n", "a\nc\n");
/// assert_eq!(text, "@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
/// ```
pub fn unified(old: &str, new: &str) -> String {
    let (old, new) = (cut(old, MAX_BYTES), cut(new, MAX_BYTES));
    let (old, new) = (Tokens::lines(old).tokens(), Tokens::lines(new).tokens());
    let (old, new) = (without_empty_end(&old), without_empty_end(&new));
    let operations = operations(old, new, &Work::default()).unwrap_or_else(|| {
        vec![DiffOp::Replace { old_index: 0, old_len: old.len(), new_index: 0, new_len: new.len() }]
    });
    let mut text = String::new();
    for group in group_diff_ops(operations, CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let old_lines = first.old_range().start..last.old_range().end;
        let new_lines = first.new_range().start..last.new_range().end;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "@@ -{} +{} @@", lines_named(&old_lines), lines_named(&new_lines));
        for operation in &group {
            if matches!(operation, DiffOp::Equal { .. }) {
                append(&mut text, ' ', &new[operation.new_range()]);
            } else {
                append(&mut text, '-', &old[operation.old_range()]);
                append(&mut text, '+', &new[operation.new_range()]);
            }
        }
    }
    text
}

fn lines_named(lines: &std::ops::Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn append(text: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        text.push(mark);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What `patch` would make of the old text.
    fn patched(old: &str, patch: &str) -> String {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let (mut new, mut at) = (String::new(), 0);
        let mut lines = patch.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            let unfinished = lines.peek().is_some_and(|next| next.starts_with('\\'));
            let kept = |line: &str| line[1..line.len() - usize::from(unfinished)].to_owned();
            match &line[..1] {
                "@" => {
                    let named = line[4..].split(' ').next().unwrap();
                    let (start, count) = named.split_once(',').unwrap_or((named, "1"));
                    let start: usize = start.parse().unwrap();
                    let start = if count == "0" { start } else { start - 1 };
                    new.extend(old[at..start].iter().copied());
                    at = start;
                }
                "+" => new += &kept(line),
                "\\" => {}
                sign => {
                    assert_eq!(old[at], kept(line));
                    if sign == " " {
                        new += old[at];
                    }
                    at += 1;
                }
            }
        }
        new.extend(old[at..].iter().copied());
        new
    }

    proptest! {
        #[test]
        fn it_turns_the_old_text_into_the_new(old in "([ab]?\n){0,12}[ab]?", new in "([ab]?\n){0,12}[ab]?") {
            prop_assert_eq!(patched(&old, &unified(&old, &new)), new);
        }
    }

    #[test]
    fn equal_texts_give_nothing_and_far_apart_changes_two_parts() {
        let text = |first: &str, last: &str| format!("{first}\n{}{last}\n", "same\n".repeat(20));
        assert_eq!(unified(&text("a", "b"), &text("a", "b")), "");
        assert_eq!(unified(&text("a", "b"), &text("c", "d")).matches("@@ -").count(), 2);
        assert_eq!(unified("", "new\n"), "@@ -0,0 +1 @@\n+new\n");
    }
}
