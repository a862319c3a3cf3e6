//! Identifiers that no person wrote: runs of letters, digits, `-` and `_` with letters and digits in turn, or of hexadecimal digits.
//! A code may begin at any word of such a run, and the run may be as long as the line; so each run is read once.

use super::dates::numeric_date;

/// The shortest identifier that is taken for one.
const SHORTEST: usize = 8;

/// The codes of a line, asked for from its beginning to its end.
#[derive(Debug)]
pub(super) struct Codes<'t> {
    line: &'t str,
    run: Run,
}

/// A run, and what its ends have in them: each is known by the last place where something is.
#[derive(Debug, Default)]
struct Run {
    end: usize,
    /// Where it ends without the marks at its end.
    written_end: usize,
    last_digit: Option<usize>,
    last_letter: Option<usize>,
    /// The last byte that is neither a hexadecimal digit nor a dash.
    last_not_hex: Option<usize>,
    /// The last places where a letter follows a digit or a digit a letter, the last of all first.
    last_turns: [Option<usize>; 3],
}

impl<'t> Codes<'t> {
    pub(super) fn of(line: &'t str) -> Self {
        Self { line, run: Run::default() }
    }

    /// The bytes of the code that begins here.
    pub(super) fn length_at(&mut self, at: usize) -> Option<usize> {
        if at >= self.run.end {
            self.run = Run::at(self.line, at);
        }
        let is_code = self.run.is_code_from(at) && numeric_date(&self.line[at..]).is_none();
        is_code.then(|| self.run.written_end - at)
    }
}

impl Run {
    fn at(line: &str, start: usize) -> Self {
        let is_inside = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let bytes = &line.as_bytes()[start..];
        let end = start + bytes.iter().take_while(|byte| is_inside(byte)).count();
        let written = line[start..end].trim_end_matches(['-', '_']).as_bytes();
        let mut run = Self { end, written_end: start + written.len(), ..Self::default() };
        for (index, byte) in written.iter().enumerate() {
            let at = Some(start + index);
            if byte.is_ascii_digit() {
                run.last_digit = at;
            } else if byte.is_ascii_alphabetic() {
                run.last_letter = at;
            }
            if !byte.is_ascii_hexdigit() && *byte != b'-' {
                run.last_not_hex = at;
            }
            let next = written.get(index + 1);
            let is_turn = next.is_some_and(|next| {
                byte.is_ascii_digit() && next.is_ascii_alphabetic()
                    || byte.is_ascii_alphabetic() && next.is_ascii_digit()
            });
            if is_turn {
                run.last_turns = [at, run.last_turns[0], run.last_turns[1]];
            }
        }
        run
    }

    fn is_code_from(&self, at: usize) -> bool {
        let at_least = |place: Option<usize>| place >= Some(at);
        let is_hex = !at_least(self.last_not_hex);
        self.written_end.saturating_sub(at) >= SHORTEST
            && at_least(self.last_digit)
            && at_least(self.last_letter)
            && (at_least(self.last_turns[2]) || is_hex && at_least(self.last_turns[0]))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, read anew from each place.
    fn plain(rest: &str) -> Option<usize> {
        let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let length = rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
        let run = rest[..length].trim_end_matches(['-', '_']).as_bytes();
        if run.len() < SHORTEST || numeric_date(rest).is_some() {
            return None;
        }
        let n_digits = run.iter().filter(|byte| byte.is_ascii_digit()).count();
        let n_letters = run.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let is_turn = |pair: &&[u8]| {
            pair[0].is_ascii_digit() && pair[1].is_ascii_alphabetic()
                || pair[0].is_ascii_alphabetic() && pair[1].is_ascii_digit()
        };
        let n_turns = run.windows(2).filter(is_turn).count();
        let is_hex = run.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-');
        let is_code = n_digits > 0 && n_letters > 0 && (n_turns >= 3 || is_hex && n_turns >= 1);
        is_code.then_some(run.len())
    }

    proptest! {
        #[test]
        fn a_run_that_is_read_once_has_the_codes_of_one_that_is_read_from_each_place(
            line in "([a-c0-2]|[xy_ ä-]){0,40}",
            dates in "(2026-01-0[1-9]|[a1]{8}){0,4}",
        ) {
            for line in [line, dates] {
                let mut codes = Codes::of(&line);
                for (at, _) in line.char_indices() {
                    prop_assert_eq!(codes.length_at(at), plain(&line[at..]), "{}", &line[at..]);
                }
            }
        }
    }
}
