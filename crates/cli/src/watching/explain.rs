//! `dunlin explain`: what is expected of a source, when it is probed next, and why then.

use std::fmt::Write as _;

use clap::Args;
use serde_json::Value;

use crate::backend::records::SourceRecord;
use crate::backend::{Access, ReachArgs, find_source};
use crate::failure::Failure;
use crate::moments;
use crate::output::{print_json, print_line};
use crate::terminal::{harmless, one_line};
use dunlin_engine::clock;

#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// Number or address of the source
    source: String,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let backend = self.reach.open(Access::Read)?;
        let source = find_source(&*backend, &self.source)?;
        let explained = backend.explain(source.id)?;
        if self.json {
            return print_json(&explained);
        }
        print_line(&in_words(&source, &explained))?;
        backend.liveness().mention();
        Ok(())
    }
}

fn in_words(source: &SourceRecord, explained: &Value) -> String {
    let now = clock::now();
    let when = |value: &Value| {
        value.as_str().and_then(clock::parse_rfc3339).map(|time| moments::relative(time, now))
    };
    let number = |value: &Value| value.as_f64().unwrap_or(0.0);
    let forecast = &explained["forecast"];
    let mut text = format!("source {}  {}\n", source.id, source.shown_url());
    if let Some(name) = source.shown_name() {
        let _ = writeln!(text, "  name        {}", one_line(name, 100));
    }
    let _ = write!(text, "  state       {}", source.state_word());
    if !source.state.reason.is_empty() {
        let _ = write!(text, ": {}", harmless(&source.state.reason));
    }
    let _ =
        write!(text, "\n  last probe  {}\n", when(&explained["last_probe"]).unwrap_or("never".to_owned()));
    if let Some(failed) = when(&explained["last_failure"]) {
        let _ = writeln!(text, "  failed      {failed}");
    }
    let next = match explained["standing"].as_str() {
        Some("paused") => "none while it is paused (`dunlin resume` it)".to_owned(),
        Some("in_flight") => "in flight".to_owned(),
        Some("unusable") => {
            format!(
                "none: {}",
                harmless(explained["standing_reason"].as_str().unwrap_or("it cannot be used"))
            )
        }
        _ => {
            let because = explained["because"].as_str().unwrap_or_default();
            let others = explained["others_due"].as_u64().unwrap_or(0);
            let mut time = when(&explained["next_probe"]).unwrap_or("not known".to_owned());
            if others > 0 {
                let by = when(&explained["next_probe_by"]).map(|by| format!(", {by} or sooner"));
                time = format!("when its turn comes{} ({others} others are due)", by.unwrap_or_default());
            }
            if let Some(trouble) = explained["trouble"].as_str() {
                time = format!("none for now, for all sources: {}", harmless(trouble));
            }
            if because.is_empty() { time } else { format!("{time}: {because}") }
        }
    };
    let _ = writeln!(text, "  next probe  {next}");
    if let Some(until) = when(&explained["not_before"]) {
        let _ = writeln!(text, "  pause       after a failure, ends {until}");
    }
    if let Some(until) = when(&explained["hold"]["until"]) {
        let reason = harmless(explained["hold"]["reason"].as_str().unwrap_or_default());
        let _ = writeln!(text, "  host        no request now, ends {until}: {reason}");
    }
    let _ = match explained["value"].as_f64() {
        Some(value) => writeln!(
            text,
            "  worth       {value:.4} now; a probe has to be worth {:.4}",
            number(&explained["price"])
        ),
        None => writeln!(text, "  worth       not seen yet: in turn with those that are worth most"),
    };
    let _ = write!(
        text,
        "  forecast    {} from what {:.1} changes have taught",
        rate(number(&forecast["rate_per_hour"])),
        number(&forecast["evidence"]),
    );
    let _ = match forecast["chance"].as_f64() {
        Some(chance) => {
            writeln!(text, "; {:.0} % that it has changed since the last probe", 100.0 * chance)
        }
        None => writeln!(text),
    };
    let hours: Vec<f64> =
        forecast["curve"].as_array().into_iter().flatten().map(|hour| number(&hour["expected"])).collect();
    if !hours.is_empty() {
        let _ = writeln!(
            text,
            "  next 24 h   {}  {:.1} changes expected",
            sparkline(&hours),
            hours.iter().sum::<f64>()
        );
    }
    for part in explained["suppressed"].as_array().into_iter().flatten() {
        let _ = writeln!(text, "{}", suppressed(part, when(&part["last"]), source.id));
    }
    let _ = write!(
        text,
        "  terms       weight {}, life {}, urgency {}",
        source.weight, source.life, source.urgency
    );
    text
}

/// A line about something that was different and not reported.
fn suppressed(part: &Value, last: Option<String>, id: i64) -> String {
    let shown = |name: &str| one_line(part[name].as_str().unwrap_or_default(), 40);
    let what = match (shown("old"), shown("new")) {
        (old, new) if old.is_empty() && new.is_empty() => String::new(),
        (old, new) if old.is_empty() => format!(": + {new}"),
        (old, new) if new.is_empty() => format!(": − {old}"),
        (old, new) => format!(": {old} → {new}"),
    };
    let times = part["times"].as_u64().unwrap_or(1);
    let last = last.unwrap_or_default();
    let because = one_line(part["because"].as_str().unwrap_or_default(), 80);
    format!(
        "  not told    {times}×, {last}, since {because}{what}\n              to hear of it: `dunlin edit {id} --flicker tell`, or \
         add a source with --selector or --json-path for this part"
    )
}

fn rate(per_hour: f64) -> String {
    if per_hour >= 1.0 {
        format!("{per_hour:.1} changes an hour")
    } else if per_hour * 24.0 >= 1.0 {
        format!("{:.1} changes a day", per_hour * 24.0)
    } else {
        format!("{:.2} changes a week", per_hour * 168.0)
    }
}

/// A row of bars, the tallest for the largest.
fn sparkline(values: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let largest = values.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let bar = |value: &f64| {
        BARS.iter().rev().zip((0..8).rev()).find(|(_, step)| value / largest * 7.0 + 0.5 >= f64::from(*step))
    };
    values.iter().map(|value| bar(value).map_or(BARS[0], |(bar, _)| *bar)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_not_told_comes_with_what_to_do_about_it() {
        let part =
            serde_json::json!({"because": "it shows the time", "old": "14:07", "new": "14:09", "times": 3});
        let text = suppressed(&part, Some("1 min ago".to_owned()), 7);
        assert!(text.contains("3×, 1 min ago, since it shows the time: 14:07 → 14:09"), "{text}");
        assert!(text.contains("`dunlin edit 7 --flicker tell`") && text.contains("--selector"), "{text}");
    }

    #[test]
    fn a_rate_is_shown_in_the_unit_that_people_would_use() {
        assert_eq!(rate(2.5), "2.5 changes an hour");
        assert_eq!(rate(0.5), "12.0 changes a day");
        assert_eq!(rate(1.0 / 168.0), "1.00 changes a week");
    }
}
