//! `dunlin add`: watch an address from now on.

use std::fmt;

use clap::Args;
use dunlin_sched::value::{Life, Urgency};

use crate::backend::records::{SecretHeaders, SourceFields};
use crate::backend::{Access, ReachArgs, SourceFilter};
use crate::config::units::duration;
use crate::failure::Failure;
use crate::lists;
use crate::output::{print_json, print_line};

/// How a source is to be read and what it is worth.
#[derive(Debug, Args)]
pub(crate) struct SourceArgs {
    /// What to call it; '' for its own title again
    #[arg(long, value_parser = name)]
    name: Option<String>,
    /// What it is: page, feed, json, text or auto
    #[arg(long, value_parser = ["page", "feed", "json", "text", "auto"])]
    kind: Option<String>,
    /// Watch only the elements of a page that this CSS selector matches; '' for all of it again
    #[arg(long, value_name = "CSS", conflicts_with = "json_path")]
    selector: Option<String>,
    /// Watch only the values of a JSON document that this path selects; '' for all of it again
    #[arg(long, value_name = "PATH")]
    json_path: Option<String>,
    /// Watch only the main text of a page, without menus, margins and footers; `--main=false` for all of it again
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true",
        conflicts_with_all = ["selector", "json_path"]
    )]
    main: Option<bool>,
    /// Leave out what this CSS selector matches; may be given several times; '' for nothing
    #[arg(long, value_name = "CSS")]
    ignore: Vec<String>,
    /// Leave out text that this regular expression matches; may be given several times; '' for nothing
    #[arg(long, value_name = "REGEX")]
    ignore_pattern: Vec<String>,
    /// What to do about parts that differ at every probe: learn suppresses them, tell reports them
    #[arg(long, value_name = "RULE", value_parser = ["learn", "tell"])]
    flicker: Option<String>,
    /// Send this along, to the host of the address only; may be given several times; '' for none. Never shown again
    #[arg(long, value_name = "NAME: VALUE", value_parser = header)]
    header: Vec<Header>,
    /// Never probe again sooner: 30s, 5m, 6h; none for the service's own setting
    #[arg(long, value_name = "DURATION", value_parser = gap)]
    shortest_gap: Option<Gap>,
    /// Probe at least this often: 30s, 5m, 6h; none for the service's own setting
    #[arg(long, value_name = "DURATION", value_parser = gap)]
    longest_gap: Option<Gap>,
    /// What it is worth against others
    #[arg(long, value_name = "W", value_parser = weight, allow_negative_numbers = true)]
    weight: Option<f64>,
    /// What a late capture is worth: uniform, exp:R, sliding:W, poly:A, polyexp:K:R or chordal:W
    #[arg(long)]
    urgency: Option<Urgency>,
    /// How long a change stays visible: append, window:W, changes:Z or overwrite
    #[arg(long)]
    life: Option<Life>,
    /// A word to find it by; may be given several times
    #[arg(long, value_name = "TAG", value_parser = tag)]
    tag: Vec<String>,
}

impl SourceArgs {
    pub(crate) fn fields(&self) -> SourceFields {
        let some = |values: &[String]| (!values.is_empty()).then(|| values.to_vec());
        let written = |values: &[String]| {
            some(values).map(|values| values.into_iter().filter(|value| !value.is_empty()).collect())
        };
        let or_cleared = |value: &String| Some(value.clone()).filter(|value| !value.is_empty());
        let headers = self.header.iter().filter_map(|header| header.0.clone());
        SourceFields {
            url: None,
            name: self.name.as_ref().map(or_cleared),
            kind: self.kind.clone(),
            selector: self.selector.as_ref().map(or_cleared),
            path: self.json_path.as_ref().map(or_cleared),
            main: self.main,
            ignore_selectors: written(&self.ignore),
            ignore_patterns: written(&self.ignore_pattern),
            flicker: self.flicker.clone(),
            headers: (!self.header.is_empty()).then(|| SecretHeaders(headers.collect())),
            shortest_gap: self.shortest_gap.map(|gap| gap.0),
            longest_gap: self.longest_gap.map(|gap| gap.0),
            weight: self.weight,
            urgency: self.urgency.as_ref().map(ToString::to_string),
            life: self.life.as_ref().map(ToString::to_string),
            tags: some(&self.tag),
            paused: None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// The address, with http:// or https://
    url: String,
    #[command(flatten)]
    fields: SourceArgs,
    #[command(flatten)]
    reach: ReachArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Add {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let url = lists::checked(&self.url).map_err(Failure::Input)?;
        let backend = self.reach.open(Access::Write)?;
        let there = backend.sources(&SourceFilter { url: Some(url.clone()), tag: None })?;
        let fields = SourceFields { url: Some(url), ..self.fields.fields() };
        let source = backend.add(&self.reach.with_defaults(fields)?)?;
        if self.json {
            return print_json(&source);
        }
        print_line(&format!("source {}: {}", source.id, source.shown_url()))?;
        if let Some(twin) = there.first() {
            crate::note(&format!("source {} has the same address; both are watched", twin.id));
        }
        Ok(())
    }
}

/// A header to send along, or none. Its value is a secret.
#[derive(Clone)]
struct Header(Option<(String, String)>);

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Header").field(&self.0.as_ref().map(|(name, _)| name)).finish()
    }
}

fn header(text: &str) -> Result<Header, String> {
    if text.is_empty() {
        return Ok(Header(None));
    }
    let (name, value) =
        text.split_once(':').ok_or("expected a name and a value, such as 'Accept-Language: fr'")?;
    Ok(Header(Some((name.trim().to_owned(), value.trim().to_owned()))))
}

/// Whole seconds, or what the service has.
#[derive(Debug, Clone, Copy)]
struct Gap(Option<u64>);

fn gap(text: &str) -> Result<Gap, String> {
    if text == "none" {
        return Ok(Gap(None));
    }
    match duration(text)? {
        gap if gap.as_secs() > 0 && gap.subsec_nanos() == 0 => Ok(Gap(Some(gap.as_secs()))),
        _ => Err("expected whole seconds, at least one".to_owned()),
    }
}

fn name(text: &str) -> Result<String, String> {
    let name = text.trim();
    let is_fine = name.chars().count() <= 200 && !name.chars().any(char::is_control);
    if is_fine { Ok(name.to_owned()) } else { Err("expected at most 200 characters on one line".to_owned()) }
}

fn weight(text: &str) -> Result<f64, String> {
    let weight = text.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
    weight.ok_or_else(|| "expected a number of at least 0".to_owned())
}

fn tag(text: &str) -> Result<String, String> {
    let tag = text.trim();
    let is_fine = !tag.is_empty() && tag.len() <= 100 && !tag.chars().any(char::is_control);
    if is_fine { Ok(tag.to_owned()) } else { Err("expected a word of at most 100 characters".to_owned()) }
}
