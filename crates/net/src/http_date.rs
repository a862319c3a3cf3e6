//! Dates as HTTP headers spell them, in its one current and two old forms. Not a general date parser.

use std::time::UNIX_EPOCH;

use dunlin_core::Time;

/// The moment that a header such as `Last-Modified` names; `None` for anything that is not an HTTP date.
pub fn parse(text: &str) -> Option<Time> {
    let since_1970 = httpdate::parse_http_date(text.trim()).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Time::from_micros(0).plus(since_1970))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_three_forms_are_read() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            " Sun, 06 Nov 1994 08:49:37 GMT ",
        ] {
            assert_eq!(parse(text), Some(Time::from_seconds(784_111_777)), "{text}");
        }
        for text in ["", "0", "-1", "yesterday", "Sun, 32 Nov 1994 08:49:37 GMT"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
