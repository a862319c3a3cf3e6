//! What one look at an address gave, for a person. Everything from outside is made harmless and short.

use dunlin_net::RedactedUrl;
use url::Url;

use super::findings::{Findings, ShownItem, Suggestion};
use crate::failure::Failure;
use crate::output::print_line;
use crate::terminal::{Paint, Tone, one_line};

/// Lines of a document that is one item, and items of one that has several.
const MOST_LINES: usize = 15;
const MOST_ITEMS: usize = 10;
/// Characters of one line.
const WIDTH: usize = 110;
/// A command is only cut when it is no longer one to be typed.
const LONGEST_COMMAND: usize = 3_000;

pub(super) fn print(findings: &Findings) -> Result<(), Failure> {
    let paint = Paint::stdout();
    print_line(&paint.paint(Tone::Strong, &one_line(&heading(findings), 4 * WIDTH)))?;
    if let [only] = findings.items.as_slice() {
        print_text(only)?;
    } else {
        for item in findings.items.iter().take(MOST_ITEMS) {
            print_line(&format!("  {}", one_line(&line_of(item), WIDTH)))?;
        }
        if findings.n_items > MOST_ITEMS {
            print_line(&format!("  … and {} more", findings.n_items - MOST_ITEMS))?;
        }
    }
    for warning in &findings.warnings {
        print_line(&format!("{}  {}", paint.paint(Tone::Doubtful, "warning"), one_line(warning, 8 * WIDTH)))?;
    }
    for suggestion in &findings.suggestions {
        print_line(&format!("{}  {}", paint.paint(Tone::Good, "could be watched"), what(suggestion)))?;
        print_line(&format!("    {}", one_line(suggestion.command(), LONGEST_COMMAND)))?;
    }
    Ok(())
}

fn heading(findings: &Findings) -> String {
    let address = Url::parse(&findings.final_url)
        .map_or_else(|_| "(not an address)".to_owned(), |url| RedactedUrl::of(&url).to_string());
    let Some(kind) = findings.kind else { return format!("{address}: status {}", findings.status) };
    let title = findings
        .title
        .as_deref()
        .map_or_else(String::new, |title| format!(", \"{}\"", one_line(title, WIDTH)));
    let items = match findings.n_items {
        1 => "1 item".to_owned(),
        n => format!("{n} items"),
    };
    format!("{address}: {kind}{title}, {items}")
}

fn print_text(item: &ShownItem) -> Result<(), Failure> {
    let lines = item.text.lines();
    let n_more = lines.clone().skip(MOST_LINES).count();
    for line in lines.take(MOST_LINES) {
        print_line(&format!("  {}", one_line(line, WIDTH)))?;
    }
    if n_more > 0 {
        print_line("  …")?;
    }
    Ok(())
}

/// An item of several on one line: its title, and its text if that says more.
fn line_of(item: &ShownItem) -> String {
    let text = item.text.lines().find(|line| *line != item.title).unwrap_or_default();
    match (item.title.as_str(), text) {
        ("", text) => text.to_owned(),
        (title, "") => title.to_owned(),
        (title, text) => format!("{title} — {text}"),
    }
}

fn what(suggestion: &Suggestion) -> String {
    match suggestion {
        Suggestion::Feed { title, .. } if title.is_empty() => "a feed that the page names".to_owned(),
        Suggestion::Feed { title, .. } => format!("a feed that the page names: {}", one_line(title, WIDTH)),
        Suggestion::Selector { selector: choice, n_matches, sample, .. }
        | Suggestion::Path { path: choice, n_matches, sample, .. } => {
            format!("{} ({n_matches}×): {}", one_line(choice, WIDTH), one_line(sample, WIDTH))
        }
    }
}
