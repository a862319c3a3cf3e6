//! `dunlin try`: asks for an address once, as the service would, and says what would be watched there, what may be wrong with it,
//! and what else could be watched. Stores nothing.

mod findings;
mod shown;

use std::sync::Arc;

use clap::Args;
use dunlin_engine::trial::{Trial, Tried};
use dunlin_engine::{ReaderLimits, Readers, RobotsRule, Settings, WorkError, clock};
use dunlin_net::robots::{self, RobotsCache, RobotsVerdict};
use dunlin_net::{Client, Fetched};
use dunlin_server::offline;
use url::Url;

use self::findings::Findings;
use crate::backend::DirectoryArgs;
use crate::failure::Failure;
use crate::lists;
use crate::output::print_json;
use crate::watching::add::SourceArgs;

#[derive(Debug, Args)]
pub(crate) struct Try {
    /// The address, with http:// or https://
    url: String,
    #[command(flatten)]
    fields: SourceArgs,
    #[command(flatten)]
    directory: DirectoryArgs,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What came of it.
struct Outcome {
    fetched: Fetched,
    /// What was read; `None` when the answer has no content.
    tried: Option<Tried>,
    /// What robots.txt has against it.
    robots: Option<&'static str>,
}

impl Try {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let url = lists::checked(&self.url).map_err(Failure::Input)?;
        let settings = self.directory.configuration()?.config.engine_settings();
        let mut fields = self.fields.fields();
        fields.url = Some(url.clone());
        let has_headers = fields.headers.is_some();
        let body = serde_json::to_value(fields).map_err(|error| Failure::input(error.to_string()))?;
        let source = offline::new_source(body, clock::now())?;
        let trial = Trial::new(&source, &settings)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::Environment(format!("no runtime: {error}")))?;
        let outcome = runtime.block_on(fetch_and_read(trial, &settings))?;
        let findings = Findings::of(&url, &self.fields, &outcome);
        if self.json {
            print_json(&findings)?;
        } else {
            shown::print(&findings)?;
        }
        if has_headers && !findings.suggestions.is_empty() {
            crate::note(
                "the headers are left out of the commands, since their values may be secret (add them again)",
            );
        }
        match findings.missing {
            Some(missing) => Err(Failure::No(missing)),
            None => Ok(()),
        }
    }
}

async fn fetch_and_read(trial: Trial, settings: &Settings) -> Result<Outcome, Failure> {
    let client = Client::new(settings.network.clone())?;
    let request = trial.request()?;
    let url = Url::clone(request.url());
    let fetched = client.fetch(request).await?;
    let robots = match &settings.robots {
        RobotsRule::Obey { product } => robots_objection(&client, product, &[&url, &fetched.final_url]).await,
        RobotsRule::Ignore => None,
    };
    let tried = if Trial::failure(&fetched).is_none() { Some(read(trial, &fetched).await?) } else { None };
    Ok(Outcome { fetched, tried, robots })
}

/// Reads on a thread with a deadline, as the service does.
async fn read(trial: Trial, fetched: &Fetched) -> Result<Tried, Failure> {
    let readers = Readers::new("dunlin-reader", ReaderLimits::for_this_machine(0, 1));
    let (trial, fetched) = (Arc::new(trial), fetched.clone());
    let reading = Arc::clone(&trial);
    match readers.run(trial.reading_time(), move || reading.read(&fetched)).await {
        Ok(tried) => Ok(tried),
        Err(WorkError::TooLong { .. }) => Err(Failure::No(trial.took_too_long())),
        Err(error) => Err(Failure::Environment(format!("the document cannot be read: {error}"))),
    }
}

/// What the robots.txt of the sites of these addresses has against them. A person who tries an address once may do so; the service
/// may not watch it.
async fn robots_objection(client: &Client, product: &str, urls: &[&Url]) -> Option<&'static str> {
    let mut known = RobotsCache::new(product, urls.len());
    for url in urls {
        let now = clock::now();
        if matches!(known.verdict(url, now), RobotsVerdict::Unknown { .. }) {
            known.remember(url, &robots::fetch(client, url).await, now);
        }
        match known.verdict(url, now) {
            RobotsVerdict::Forbidden => {
                return Some(
                    "the site's robots.txt forbids it to programs, so the service will not fetch it (for a site of your own, set \
                     `robots = false`)",
                );
            }
            RobotsVerdict::Unreachable { .. } => {
                return Some(
                    "the site's robots.txt cannot be read; until it can, the service will not fetch anything there",
                );
            }
            _ => {}
        }
    }
    None
}
