//! Identifiers that no person wrote: runs of letters, digits, `-` and `_` with letters and digits in turn, of hexadecimal digits, or
//! of small and capital letters in turn.
//! A code may begin at any word of such a run, and the run may be as long as the line; so each run is read once.

use super::dates::numeric_date;

/// The shortest identifier that is taken for one.
const SHORTEST: usize = 8;
/// Between dashes, hexadecimal digits with letters among them are one from this length on: `febd78`.
const SHORTEST_HEX: usize = 6;
/// No word changes between small and capital letters so often, from this length on: `xfvyGplpErfJtastGm`.
const SHORTEST_MIXED: usize = 16;
const MOST_LETTERS_PER_RISE: usize = 6;

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
    /// The last three digits, the last of all first.
    last_digits: [Option<usize>; 3],
    last_letter: Option<usize>,
    /// The last byte that is neither a hexadecimal digit nor a dash.
    last_not_hex: Option<usize>,
    /// The last places where a letter follows a digit or a digit a letter, the last of all first.
    last_turns: [Option<usize>; 3],
    /// Where the last piece between dashes begins that is a hexadecimal number with letters.
    last_hex_piece: Option<usize>,
    /// Where it begins, if it is all letters, small and capital ones in turn.
    mixed_from: Option<usize>,
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
        let has_digit = || written.iter().any(u8::is_ascii_digit);
        if written.len() < SHORTEST_HEX || written.len() < SHORTEST_MIXED && !has_digit() {
            return run;
        }
        for (index, byte) in written.iter().enumerate() {
            let at = Some(start + index);
            if byte.is_ascii_digit() {
                run.last_digits = [at, run.last_digits[0], run.last_digits[1]];
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
        let mut piece_start = start;
        for piece in line[start..run.written_end].split(['-', '_']) {
            if is_hex_number(piece) {
                run.last_hex_piece = Some(piece_start);
            }
            piece_start += piece.len() + 1;
        }
        run.mixed_from = is_mixed(written).then_some(start);
        run
    }

    fn is_code_from(&self, at: usize) -> bool {
        let at_least = |place: Option<usize>| place >= Some(at);
        let is_hex = !at_least(self.last_not_hex);
        let has_turns = at_least(self.last_turns[2])
            || at_least(self.last_turns[1]) && at_least(self.last_digits[2])
            || is_hex && at_least(self.last_turns[0]);
        let is_long = self.written_end.saturating_sub(at) >= SHORTEST;
        is_long && at_least(self.last_digits[0]) && at_least(self.last_letter) && has_turns
            || at_least(self.last_hex_piece)
            || self.mixed_from == Some(at)
    }
}

/// Whether a piece is hexadecimal digits, with figures and letters.
fn is_hex_number(piece: &str) -> bool {
    piece.len() >= SHORTEST_HEX
        && piece.bytes().all(|byte| byte.is_ascii_hexdigit())
        && piece.bytes().any(|byte| byte.is_ascii_digit())
        && piece.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn is_mixed(run: &[u8]) -> bool {
    let rises = |pair: &&[u8]| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase();
    run.len() >= SHORTEST_MIXED
        && run.iter().all(u8::is_ascii_alphabetic)
        && run.windows(2).filter(rises).count() * MOST_LETTERS_PER_RISE >= run.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition, read anew from each place.
    fn plain(line: &str, at: usize) -> Option<usize> {
        let rest = &line[at..];
        let is_inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let length = rest.find(|c| !is_inside(c)).unwrap_or(rest.len());
        let run = rest[..length].trim_end_matches(['-', '_']).as_bytes();
        if numeric_date(rest).is_some() {
            return None;
        }
        let begins_run = !line[..at].ends_with(is_inside);
        let begins_piece = !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let text = &rest[..run.len()];
        let mut pieces = text.split(['-', '_']).enumerate();
        let has_hex = pieces.any(|(index, piece)| (index > 0 || begins_piece) && is_hex_number(piece));
        if has_hex || begins_run && is_mixed(run) {
            return Some(run.len());
        }
        if run.len() < SHORTEST {
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
        let is_code = n_digits > 0
            && n_letters > 0
            && (n_turns >= 3 || n_turns >= 2 && n_digits >= 3 || is_hex && n_turns >= 1);
        is_code.then_some(run.len())
    }

    proptest! {
        #[test]
        fn a_run_that_is_read_once_has_the_codes_of_one_that_is_read_from_each_place(
            line in "([a-c0-2]|[xy_ ä-]){0,40}",
            dates in "(2026-01-0[1-9]|[a1]{8}){0,4}",
            mixed in "(ab|cD|-|eFg){0,14}",
        ) {
            for line in [line, dates, mixed] {
                let mut codes = Codes::of(&line);
                for (at, _) in line.char_indices() {
                    prop_assert_eq!(codes.length_at(at), plain(&line, at), "{}", &line[at..]);
                }
            }
        }
    }
}
