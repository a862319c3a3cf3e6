//! A CSV file with a header line: columns by name, fields by type, every refusal with its place.

use std::io::Read;
use std::ops::RangeInclusive;

use csv::StringRecord;
use dunlin_core::Chronon;

use super::records::Records;
use super::{Excerpt, Problem};
use crate::Error;

/// The longest id accepted, in bytes.
const ID_LIMIT: usize = 1024;

/// The most data lines accepted; beyond that the tables would no longer fit in the memory of one machine.
const ROW_LIMIT: u64 = 50_000_000;

/// The columns of a format. A column is named by its position: the required ones first, then the optional.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) required: &'static [&'static str],
    pub(super) optional: &'static [&'static str],
}

impl Layout {
    fn name(&self, column: usize) -> &'static str {
        self.required.iter().chain(self.optional).nth(column).copied().unwrap_or("column")
    }
}

/// The data lines of a file, one at a time.
pub(super) struct Table<R: Read> {
    records: Records<R>,
    layout: &'static Layout,
    /// Where each column of the layout is on a line.
    positions: Vec<Option<usize>>,
    n_fields: usize,
    n_rows: u64,
    row_limit: u64,
    warnings: Vec<String>,
}

impl<R: Read> Table<R> {
    /// Reads the header line.
    pub(super) fn new(input: R, file: &str, layout: &'static Layout) -> Result<Self, Error> {
        let mut records = Records::new(input, file)?;
        let columns = layout.required.join(",");
        if !records.advance()? {
            return Err(records.bad_line(1, Problem::EmptyFile { columns }));
        }
        let line = records.line();
        let mut positions = vec![None; layout.required.len() + layout.optional.len()];
        let mut unknown = Vec::new();
        for (position, name) in records.record().iter().map(str::trim).enumerate() {
            let names = layout.required.iter().chain(layout.optional);
            let Some(column) = names.into_iter().position(|&known| known == name) else {
                unknown.push(name);
                continue;
            };
            if positions[column].replace(position).is_some() {
                let column = layout.name(column);
                return Err(records.bad_line(line, Problem::DuplicateColumn { column }));
            }
        }
        if let Some(missing) = (0..layout.required.len()).find(|&column| positions[column].is_none()) {
            let column = layout.name(missing);
            return Err(records.bad_line(line, Problem::MissingColumn { column, columns }));
        }
        let warnings = unknown_columns(file, line, &unknown).into_iter().collect();
        let n_fields = records.record().len();
        Ok(Self { records, layout, positions, n_fields, n_rows: 0, row_limit: ROW_LIMIT, warnings })
    }

    /// The next data line.
    pub(super) fn next_row(&mut self) -> Result<Option<Row<'_>>, Error> {
        if !self.records.advance()? {
            return Ok(None);
        }
        let (line, found) = (self.records.line(), self.records.record().len());
        if found != self.n_fields {
            let problem = Problem::WrongFieldCount { found, expected: self.n_fields };
            return Err(self.records.bad_line(line, problem));
        }
        if self.n_rows == self.row_limit {
            return Err(self.records.bad_line(line, Problem::TooManyLines { limit: self.row_limit }));
        }
        self.n_rows += 1;
        Ok(Some(Row {
            file: self.records.file(),
            line,
            record: self.records.record(),
            layout: self.layout,
            positions: &self.positions,
        }))
    }

    /// Refuses a file that had no data lines.
    pub(super) fn require_rows(&self) -> Result<(), Error> {
        if self.n_rows == 0 {
            return Err(self.records.bad_line(self.records.line(), Problem::NoDataLines));
        }
        Ok(())
    }

    /// Refuses a line that has been read already.
    pub(super) fn bad_line(&self, line: u64, problem: impl Into<Problem>) -> Error {
        self.records.bad_line(line, problem)
    }

    /// Warnings about the file for the user.
    pub(super) fn into_warnings(self) -> Vec<String> {
        self.warnings
    }
}

fn unknown_columns(file: &str, line: u64, names: &[&str]) -> Option<String> {
    const SHOWN: usize = 5;
    let shown: Vec<_> = names.iter().take(SHOWN).map(|&name| Excerpt::from(name).to_string()).collect();
    let rest = names.len() - shown.len();
    let more = if rest == 0 { String::new() } else { format!(" and {rest} more") };
    (!names.is_empty()).then(|| format!("{file}:{line}: ignored unknown columns {}{more}", shown.join(", ")))
}

/// Whether an id can be shown on a terminal: it has no control characters (NUL, line ends, escapes, those above 0x7f) and
/// none that turn the direction of what follows them around.
pub(crate) fn is_printable(id: &str) -> bool {
    !id.chars().any(|c| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'))
}

/// One data line.
pub(super) struct Row<'a> {
    file: &'a str,
    /// Its line number.
    pub(super) line: u64,
    record: &'a StringRecord,
    layout: &'static Layout,
    positions: &'a [Option<usize>],
}

impl<'a> Row<'a> {
    /// An id: text as it stands, blanks included.
    pub(super) fn id(&self, column: usize) -> Result<&'a str, Error> {
        let id = self.text(column);
        let column = self.layout.name(column);
        match id.len() {
            0 => Err(self.bad(Problem::EmptyId { column })),
            bytes if bytes > ID_LIMIT => Err(self.bad(Problem::IdTooLong { column, bytes, limit: ID_LIMIT })),
            _ if !is_printable(id) => Err(self.bad(Problem::ControlInId { column, id: id.into() })),
            _ => Ok(id),
        }
    }

    /// An integer within bounds.
    pub(super) fn integer(&self, column: usize, bounds: RangeInclusive<i64>) -> Result<i64, Error> {
        use std::num::IntErrorKind::{NegOverflow, PosOverflow};
        let text = self.text(column).trim();
        let problem = match text.parse() {
            Ok(number) if bounds.contains(&number) => return Ok(number),
            Err(error) if !matches!(error.kind(), NegOverflow | PosOverflow) => {
                Problem::NotAnInteger { column: self.layout.name(column), value: text.into() }
            }
            _ => {
                let (least, most) = bounds.into_inner();
                Problem::OutOfRange { column: self.layout.name(column), value: text.into(), least, most }
            }
        };
        Err(self.bad(problem))
    }

    /// A chronon from 1 to `last`.
    pub(super) fn chronon(&self, column: usize, last: u32) -> Result<Chronon, Error> {
        let number = self.integer(column, 1..=i64::from(last))?;
        let chronon = u32::try_from(number).ok().and_then(Chronon::new);
        Ok(chronon.expect("the bounds above leave only chronons"))
    }

    /// A number, which need not be finite.
    pub(super) fn number(&self, column: usize) -> Result<f64, Error> {
        let text = self.text(column).trim();
        text.parse().map_err(|_| {
            let (column, value) = (self.layout.name(column), Excerpt::from(text));
            self.bad(Problem::NotANumber { column, value })
        })
    }

    /// Whether an optional column is there and has something on this line.
    pub(super) fn gives(&self, column: usize) -> bool {
        !self.text(column).trim().is_empty()
    }

    /// Refuses this line.
    pub(super) fn bad(&self, problem: impl Into<Problem>) -> Error {
        Error::BadLine { file: self.file.to_owned(), line: self.line, problem: problem.into() }
    }

    fn text(&self, column: usize) -> &'a str {
        self.positions[column].and_then(|position| self.record.get(position)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static LAYOUT: Layout = Layout { required: &["a", "b"], optional: &["c"] };

    #[test]
    fn the_number_of_lines_is_capped() {
        let mut table = Table::new(&b"a,b\n1,2\n\n3,4\n5,6\n"[..], "t", &LAYOUT).unwrap();
        table.row_limit = 2;
        assert_eq!(table.next_row().unwrap().unwrap().line, 2);
        assert_eq!(table.next_row().unwrap().unwrap().line, 4);
        let error = table.next_row().err().unwrap();
        let expected = "t:5: more than 2 data lines (expected at most that many; split the file)";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn unknown_columns_are_told_of_once_and_briefly() {
        let table = Table::new(&b"x1,b,x2,x3,x4,a,x5,x6,\x1b[2J\n"[..], "t", &LAYOUT).unwrap();
        let expected = r#"t:1: ignored unknown columns "x1", "x2", "x3", "x4", "x5" and 2 more"#;
        assert_eq!(table.into_warnings(), [expected]);
        let table = Table::new(&b"a,\x1b[2J,b,c\n"[..], "t", &LAYOUT).unwrap();
        assert_eq!(table.into_warnings(), [r#"t:1: ignored unknown columns "\u{1b}[2J""#]);
    }
}
