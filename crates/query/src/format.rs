//! Trees to text, in the one canonical form: what is read from it is the same tree, and written again the same text.

use std::fmt::{self, Write as _};
use std::time::Duration;

use crate::calendar;
use crate::tree::{
    Amount, Body, Direction, End, From, Length, Literal, Need, Operand, Predicate, Query, Select, Start,
    Test, TimesOfDay, What,
};

/// Queries as one text, with an empty line between.
///
/// ```
/// let queries = dunlin_query::parse("query q select item as post from feed 'https://a.example/' every 60m")?;
/// assert_eq!(dunlin_query::format(&queries), "\
/// QUERY q
///   SELECT item AS post FROM feed 'https://a.example/' EVERY 1 HOUR
/// ");
/// # Ok::<(), dunlin_query::Refused>(())
/// ```
pub fn format(queries: &[Query]) -> String {
    queries.iter().map(Query::to_string).collect::<Vec<_>>().join("\n")
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "QUERY {}", self.name)?;
        match &self.body {
            Body::Select(block) => {
                if let Need::Any(need) = block.need {
                    writeln!(f, "  ANY {need} OF")?;
                }
                block.selects.iter().try_for_each(|select| writeln!(f, "  {select}"))?;
            }
            Body::Watch(watches) => watches.iter().try_for_each(|watch| {
                writeln!(f, "  WATCH {} IMPORTANCE {}", quoted(&watch.words), watch.importance)
            })?,
        }
        if let Some(filter) = &self.filter {
            writeln!(f, "  WHERE {filter}")?;
        }
        if self.weight != 1.0 {
            writeln!(f, "  WEIGHT {}", self.weight)?;
        }
        match self.end {
            Some(End::Until(end)) => writeln!(f, "  UNTIL {}", calendar::written(end)),
            Some(End::For(life)) => writeln!(f, "  FOR {}", duration(life)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Select {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.what {
            What::Item => "item",
            What::Value => "value",
        };
        write!(f, "SELECT {what} AS {} FROM {}", self.name, self.from)?;
        if let Some(pick) = &self.pick {
            write!(f, " PICK {}", quoted(pick))?;
        }
        match &self.start {
            Some(Start::Every(period)) => write!(f, " EVERY {}", duration(*period))?,
            Some(Start::At(times)) => write!(f, " AT {}", times_of_day(times))?,
            Some(Start::OnChange) => f.write_str(" ON CHANGE")?,
            Some(Start::When(predicate)) => write!(f, " WHEN {predicate}")?,
            None => {}
        }
        match self.length {
            Some(Length::Within(length)) => write!(f, " WITHIN {}", duration(length)),
            Some(Length::Overwritten) => f.write_str(" OVERWRITTEN"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Feed(url) => write!(f, "feed {}", quoted(url)),
            Self::Page(url) => write!(f, "page {}", quoted(url)),
            Self::Json(url) => write!(f, "json {}", quoted(url)),
            Self::SourceId(id) => write!(f, "source {id}"),
            Self::SourceName(name) => write!(f, "source {}", quoted(name)),
        }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Or(parts) => joined(f, parts, " OR ", |_| false),
            Self::And(parts) => joined(f, parts, " AND ", |part| matches!(part, Self::Or(_))),
            Self::Not(inner) => {
                f.write_str("NOT ")?;
                in_parentheses(f, inner, matches!(**inner, Self::And(_) | Self::Or(_)))
            }
            Self::Test(operand, test) => write!(f, "{operand} {test}"),
        }
    }
}

fn joined(
    f: &mut fmt::Formatter<'_>,
    parts: &[Predicate],
    operator: &str,
    is_weaker: impl Fn(&Predicate) -> bool,
) -> fmt::Result {
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            f.write_str(operator)?;
        }
        in_parentheses(f, part, is_weaker(part))?;
    }
    Ok(())
}

fn in_parentheses(f: &mut fmt::Formatter<'_>, predicate: &Predicate, is_needed: bool) -> fmt::Result {
    if is_needed { write!(f, "({predicate})") } else { fmt::Display::fmt(predicate, f) }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.field.map_or(Ok(()), |field| write!(f, ".{}", field.name()))
    }
}

impl fmt::Display for Test {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contains(phrase) => write!(f, "CONTAINS {}", quoted(phrase.text())),
            Self::Matches(pattern) => write!(f, "MATCHES {}", quoted(pattern.text())),
            Self::Compares(comparison, Literal::Number(number)) => {
                write!(f, "{} {number}", comparison.sign())
            }
            Self::Compares(comparison, Literal::Text(text)) => {
                write!(f, "{} {}", comparison.sign(), quoted(text))
            }
            Self::Compares(comparison, Literal::Date(date)) => {
                write!(f, "{} '{}'", comparison.sign(), calendar::written(*date))
            }
            Self::Moves(direction, by) => {
                f.write_str(match direction {
                    Direction::Rises => "RISES",
                    Direction::Drops => "DROPS",
                    Direction::Moves => "MOVES",
                })?;
                match by {
                    Some(Amount::Absolute(amount)) => write!(f, " BY {amount}"),
                    Some(Amount::Percent(amount)) => write!(f, " BY {amount}%"),
                    None => Ok(()),
                }
            }
            Self::Changes => f.write_str("CHANGES"),
        }
    }
}

/// A text in quotes, with each quote inside doubled.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn times_of_day(times: &TimesOfDay) -> String {
    let clock = |minutes: u16| format!("{:02}:{:02}", minutes / 60, minutes % 60);
    let mut text = times.minutes.iter().map(|minute| clock(*minute)).collect::<Vec<_>>().join(", ");
    if times.offset != 0 {
        let sign = if times.offset < 0 { '-' } else { '+' };
        // Writing to a string cannot fail.
        let _ = write!(text, " IN '{sign}{}'", clock(times.offset.unsigned_abs()));
    }
    text
}

/// A duration in the largest unit of which it is a multiple.
pub(crate) fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let units = [(604_800, "WEEK"), (86_400, "DAY"), (3600, "HOUR"), (60, "MINUTE"), (1, "SECOND")];
    let (unit, name) = units
        .into_iter()
        .find(|(unit, _)| seconds > 0 && seconds.is_multiple_of(*unit))
        .unwrap_or((1, "SECOND"));
    let number = seconds / unit;
    if number == 1 { format!("1 {name}") } else { format!("{number} {name}S") }
}
