//! `dunlin add`: watch an address from now on.

use clap::Args;
use dunlin_sched::value::{Life, Urgency};

use crate::backend::records::SourceWish;
use crate::backend::{Access, ReachArgs, SourceFilter};
use crate::failure::Failure;
use crate::lists;
use crate::output::{print_json, print_line};

/// How a source is to be read and what it is worth.
#[derive(Debug, Args)]
pub(crate) struct WishArgs {
    /// What it is: page, feed, json, text or auto
    #[arg(long, value_parser = ["page", "feed", "json", "text", "auto"])]
    kind: Option<String>,
    /// Watch only the elements of a page that this CSS selector matches
    #[arg(long, value_name = "CSS", conflicts_with = "json_path")]
    selector: Option<String>,
    /// Watch only the values of a JSON document that this path selects
    #[arg(long, value_name = "PATH")]
    json_path: Option<String>,
    /// Leave out what this CSS selector matches; may be given several times
    #[arg(long, value_name = "CSS")]
    ignore: Vec<String>,
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

impl WishArgs {
    pub(crate) fn wish(&self) -> SourceWish {
        let some = |values: &[String]| (!values.is_empty()).then(|| values.to_vec());
        SourceWish {
            url: None,
            kind: self.kind.clone(),
            selector: self.selector.clone(),
            path: self.json_path.clone(),
            ignore_selectors: some(&self.ignore),
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
    wish: WishArgs,
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
        let wish = SourceWish { url: Some(url), ..self.wish.wish() };
        let source = backend.add(&self.reach.with_defaults(wish)?)?;
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

fn weight(text: &str) -> Result<f64, String> {
    let weight = text.parse().ok().filter(|weight: &f64| weight.is_finite() && *weight >= 0.0);
    weight.ok_or_else(|| "expected a number of at least 0".to_owned())
}

fn tag(text: &str) -> Result<String, String> {
    let tag = text.trim();
    let is_fine = !tag.is_empty() && tag.len() <= 100 && !tag.chars().any(char::is_control);
    if is_fine { Ok(tag.to_owned()) } else { Err("expected a word of at most 100 characters".to_owned()) }
}
