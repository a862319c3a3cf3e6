//! The log on standard error, in which nothing that came from outside can do harm on a terminal. What is logged is the
//! business of the code that logs.

use std::io::{self, Write};

use tracing::level_filters::LevelFilter;

use crate::terminal::{Paint, harmless_json, is_harmful};

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// Begins to log.
pub(crate) fn start(format: LogFormat, level: LevelFilter) {
    let paint = Paint::stderr();
    let log = tracing_subscriber::fmt()
        .with_writer(move || Careful { format, paint, out: io::stderr() })
        .with_max_level(level)
        .with_ansi(paint == Paint::Coloured)
        .with_target(false);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
}

/// Lets through what does no harm. Gets whole lines.
struct Careful<W> {
    format: LogFormat,
    paint: Paint,
    out: W,
}

impl<W: Write> Write for Careful<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let safe = match self.format {
            LogFormat::Json => harmless_json(&text),
            LogFormat::Text => harmless_line(&text, self.paint),
        };
        self.out.write_all(safe.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A line without anything but text, and colours where the log has them.
fn harmless_line(text: &str, paint: Paint) -> String {
    let mut safe = String::with_capacity(text.len());
    for (i, c) in text.char_indices() {
        let is_fine = c == '\n' || c == '\t' || !is_harmful(c);
        let is_colour = c == '\u{1b}' && paint == Paint::Coloured && begins_colour(&text[i + 1..]);
        safe.push(if is_fine || is_colour { c } else { '\u{fffd}' });
    }
    safe
}

/// Whether what follows an escape only sets a colour.
fn begins_colour(rest: &str) -> bool {
    let parameters = rest.strip_prefix('[').and_then(|rest| rest.split_once('m'));
    parameters
        .is_some_and(|(parameters, _)| parameters.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: LogFormat, paint: Paint, line: &str) -> String {
        let mut out = Vec::new();
        let mut careful = Careful { format, paint, out: &mut out };
        careful.write_all(line.as_bytes()).unwrap();
        careful.flush().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_site_cannot_write_to_the_terminal_through_the_log() {
        let line = "\u{1b}[32mINFO\u{1b}[0m reason=\"\u{9b}2J\u{202e}x\u{1b}]0;title\u{7}\"\n";
        assert_eq!(
            written(LogFormat::Text, Paint::Coloured, line),
            "\u{1b}[32mINFO\u{1b}[0m reason=\"\u{fffd}2J\u{fffd}x\u{fffd}]0;title\u{fffd}\"\n"
        );
        assert!(!written(LogFormat::Text, Paint::Plain, line).contains('\u{1b}'));
        let json = "{\"reason\":\"\u{9b}2J\u{202e}\"}\n";
        assert_eq!(written(LogFormat::Json, Paint::Plain, json), "{\"reason\":\"\\u009b2J\\u202e\"}\n");
    }
}
