//! No Rust file grows past the point where it can be held in the head.
//!
//! The whole file counts, tests included: long tests move to a file of their own.

use super::Problem;
use super::tree::Tree;

const MAX_LINES: usize = 600;

/// A file that may be longer, and why. Tables and migrations qualify; "not split yet" does not.
struct Exception {
    path: &'static str,
    reason: &'static str,
}

const EXCEPTIONS: &[Exception] = &[];

pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    check_with(tree, EXCEPTIONS)
}

fn check_with(tree: &Tree, exceptions: &[Exception]) -> Vec<Problem> {
    let too_long = tree.rust().filter_map(|file| {
        let n_lines = file.text.lines().count();
        let excepted = exceptions.iter().any(|exception| exception.path == file.path);
        (n_lines > MAX_LINES && !excepted).then(|| {
            let what = format!("{n_lines} lines, and {MAX_LINES} is the most");
            Problem::new(file.path, 1, what, "split it along the concepts it holds")
        })
    });
    // An exception that is no longer needed would quietly let the file grow again.
    let stale = exceptions.iter().filter_map(|exception| {
        let n_lines = tree.file(exception.path).map_or(0, |file| file.text.lines().count());
        (n_lines <= MAX_LINES).then(|| {
            let what = format!("listed as a long file ({}) but has {n_lines} lines", exception.reason);
            Problem::new(exception.path, 1, what, "remove it from the list in xtask/src/tidy/size.rs")
        })
    });
    too_long.chain(stale).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "crates/cli/src/flags.rs";

    fn problems(n_lines: usize, exceptions: &[Exception]) -> Vec<String> {
        let tree = Tree::of(&[(PATH, &"//! x\n".repeat(n_lines))]);
        check_with(&tree, exceptions).iter().map(Problem::to_string).collect()
    }

    #[test]
    fn the_limit_itself_is_allowed() {
        assert_eq!(problems(MAX_LINES, &[]), [""; 0]);
    }

    #[test]
    fn one_line_more_is_not() {
        let expected =
            format!("{PATH}:1: 601 lines, and 600 is the most (split it along the concepts it holds)");
        assert_eq!(problems(MAX_LINES + 1, &[]), [expected]);
    }

    #[test]
    fn an_exception_holds_only_as_long_as_it_is_needed() {
        let exceptions = [Exception { path: PATH, reason: "a table of flags" }];
        assert_eq!(problems(MAX_LINES + 1, &exceptions), [""; 0]);
        let expected = format!(
            "{PATH}:1: listed as a long file (a table of flags) but has 600 lines \
             (remove it from the list in xtask/src/tidy/size.rs)"
        );
        assert_eq!(problems(MAX_LINES, &exceptions), [expected]);
    }
}
