//! `told/*.txt`: what is told of contents that follow each other, and what is not and why. A film begins with `##` and what it
//! shows; `page:` is the page, each further line what stands at `{}` in one content, and below it, indented, what comes of it.
//! With `UPDATE_TOLD=1` the indented lines are rewritten: review the difference before you keep it.
//!
//! - `{li}` and `{p}` stand for one element for each of the pieces between ` / `, `{1}` and `{2}` for those between ` ;; `;
//! - `items:` instead of `page:` makes an item of each piece: `guid | title | text | link`, the link may be left out;
//! - `every: 1h` is the time between probes; `[+5h]` before a content says how long after the one before it came, with probes that
//!   found nothing in between; `[burst]` that it was compared with the one before in a burst, and not kept;
//! - `pairs:` instead compares only each line's own two sides, `old => new`;
//! - `site: learned` makes a template of what is shown from there on, `site: more` adds
//!   to it, `site: known` judges by it.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use dunlin_core::Time;
use dunlin_extract::detect::compare;
use dunlin_extract::flicker::{BurstState, Reading, Template, Verdict};
use dunlin_extract::summary::{summary, summary_of_all};
use dunlin_extract::{Flicker, Item, Work};

use crate::reading::{item, page};

/// Noon of a day in November 2026.
const NOON: i64 = 1_794_744_000;

/// How a film is shown.
#[derive(Debug, Clone, Default)]
struct Setting {
    page: String,
    is_items: bool,
    is_pairs: bool,
    every: i64,
}

impl Setting {
    fn content(&self, line: &str) -> Vec<Item> {
        let pieces = || line.split(" / ").filter(|piece| !piece.is_empty());
        if self.is_items {
            let of = |piece: &str| {
                let mut fields = piece.split(" | ");
                let [guid, title, text] = [(); 3].map(|()| fields.next().unwrap_or_default());
                let address = format!("https://x.example/{}", fields.next().unwrap_or(guid));
                Item { link: Some(address), ..item(guid, title, text) }
            };
            return pieces().map(of).collect();
        }
        let each = |tag: &str| {
            let elements: Vec<String> = pieces().map(|piece| format!("<{tag}>{piece}</{tag}>")).collect();
            elements.concat()
        };
        let mut sides = line.split(" ;; ");
        let [first, second] = [(); 2].map(|()| sides.next().unwrap_or_default());
        let html = self.page.replace("{li}", &each("li")).replace("{p}", &each("p"));
        page(&html.replace("{1}", first).replace("{2}", second).replace("{}", line))
    }
}

/// `90s`, `10m`, `3h`.
fn seconds(text: &str) -> i64 {
    let (number, unit) = text.split_at(text.len() - 1);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        other => panic!("no unit of time: {other}"),
    };
    number.parse::<i64>().unwrap() * unit
}

fn outcome(verdict: &Verdict<'_>) -> String {
    let mut out = String::new();
    for changed in &verdict.reported {
        writeln!(out, "    told   {}", summary(changed, &Work::default())).unwrap();
    }
    for parts in verdict.by_item().iter().filter(|parts| parts.len() > 1) {
        writeln!(out, "    in all {}", summary_of_all(parts, &Work::default())).unwrap();
    }
    for quiet in &verdict.suppressed {
        let both = format!("{} → {}", quiet.old, quiet.new).replace('\n', " / ");
        writeln!(out, "    quiet  {}: {both}", quiet.reason.code()).unwrap();
    }
    if out.is_empty() {
        out.push_str("    nothing\n");
    }
    out
}

/// A page as it is shown, content after content.
struct Film {
    setting: Setting,
    at: i64,
    flicker: Flicker,
    previous: Option<Vec<Item>>,
    site: Template,
    learns: bool,
    /// The page is judged by the site.
    knows: bool,
}

impl Film {
    fn begin(&mut self) {
        let site = std::mem::take(&mut self.site);
        *self = Self { site, ..Self::new() };
    }

    fn new() -> Self {
        Self {
            setting: Setting { every: 600, ..Setting::default() },
            at: NOON,
            flicker: Flicker::default(),
            previous: None,
            site: Template::default(),
            learns: false,
            knows: false,
        }
    }

    fn set(&mut self, name: &str, value: &str) -> bool {
        match name {
            "page" => value.clone_into(&mut self.setting.page),
            "items" => self.setting.is_items = true,
            "pairs" => (self.setting.is_pairs, self.setting.page) = (true, value.to_owned()),
            "every" => self.setting.every = seconds(value),
            "site" => {
                (self.learns, self.knows) = (value != "known", value == "known");
                if value == "learned" {
                    self.site = Template::default();
                }
            }
            _ => return false,
        }
        true
    }

    /// What comes of one line.
    fn show(&mut self, line: &str) -> String {
        if self.setting.is_pairs {
            let (old, new) = line.split_once(" => ").unwrap();
            let (old, new) = (self.setting.content(old), self.setting.content(new));
            let reading = Reading {
                at: Some(Time::from_seconds(NOON)),
                last_probe: Some(Time::from_seconds(NOON - self.setting.every)),
            };
            let changes = compare(&old, &new).changes;
            return outcome(&Flicker::default().judge(changes, reading, &Work::default()).1);
        }
        if let Some(line) = line.strip_prefix("[burst] ") {
            let (first, next) = (self.previous.as_ref().unwrap(), self.setting.content(line));
            let (flicker, state) =
                std::mem::take(&mut self.flicker).observe_burst(first, &next, &Work::default());
            self.flicker = flicker;
            return if state == BurstState::Done { "    done\n" } else { "    goes on\n" }.to_owned();
        }
        let (gap, line) = match line.strip_prefix("[+").and_then(|rest| rest.split_once("] ")) {
            Some((gap, line)) => (seconds(gap), line),
            None => (self.setting.every, line),
        };
        let next = self.setting.content(line);
        let Some(previous) = self.previous.replace(next.clone()) else { return String::new() };
        self.at += gap;
        let at = |seconds: i64| Some(Time::from_seconds(seconds));
        let reading = Reading { at: at(self.at), last_probe: at(self.at - self.setting.every) };
        let nothing = Template::default();
        let site = if self.knows { &self.site } else { &nothing };
        let changes = compare(&previous, &next).changes;
        let (flicker, verdict) =
            std::mem::take(&mut self.flicker).judge_on_site(changes, reading, site, &Work::default());
        let out = outcome(&verdict);
        self.flicker = flicker;
        if self.learns {
            self.site.learn(&self.flicker);
        }
        out
    }
}

/// The text of a file with what comes of it.
fn shown(text: &str) -> String {
    let mut film = Film::new();
    let mut out = String::new();
    for line in text.lines().filter(|line| !line.starts_with("    ")) {
        writeln!(out, "{line}").unwrap();
        if line.starts_with("## ") {
            film.begin();
        } else if !line.is_empty() {
            let is_setting = line.split_once(':').is_some_and(|(name, value)| film.set(name, value.trim()));
            if !is_setting {
                out.push_str(&film.show(line));
            }
        }
    }
    out
}

#[test]
fn what_is_told_of_contents_is_as_recorded() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/told");
    let mut names: Vec<PathBuf> =
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let mut different = String::new();
    for name in names {
        let recorded = fs::read_to_string(&name).unwrap();
        let found = shown(&recorded);
        if std::env::var_os("UPDATE_TOLD").is_some() {
            fs::write(&name, &found).unwrap();
        }
        let lines = recorded.lines().zip(found.lines()).enumerate();
        if let Some((at, (was, is))) = lines.into_iter().find(|(_, (was, is))| was != is) {
            writeln!(different, "{} line {}:\n- {was}\n+ {is}", name.display(), at + 1).unwrap();
        } else if recorded != found {
            writeln!(
                different,
                "{}: {} lines, not {}",
                name.display(),
                found.lines().count(),
                recorded.lines().count()
            )
            .unwrap();
        }
    }
    assert!(different.is_empty(), "{different}");
}
