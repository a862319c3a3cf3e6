//! What a service says of itself when it has started, and what to try next.

use std::net::SocketAddr;
use std::sync::Arc;

use dunlin_engine::Handle;
use dunlin_store::SourceQuery;

use super::demo::Demo;
use super::on_thread;
use crate::config::Config;
use crate::config::check::in_store;
use crate::config::units::Pace;
use crate::failure::Failure;
use crate::log::LogFormat;
use crate::terminal::Tone;
use crate::{note, note_in};

pub(super) async fn print(
    log_format: LogFormat,
    handle: &Handle,
    config: &Config,
    address: SocketAddr,
    demo: Option<&Demo>,
) -> Result<(), Failure> {
    let store = Arc::clone(handle.store());
    let (has_sources, stored) =
        on_thread(move || Ok((!store.sources(&SourceQuery::first(1))?.is_empty(), in_store(&*store)?)))
            .await?;
    let per_second = handle.budget().await.pace.per_second;
    let known =
        [stored, Some(config.budget)].into_iter().flatten().find(|pace| pace.per_second == per_second);
    let budget = known.unwrap_or(Pace::new(per_second, None)).to_string();
    let n_sources = handle.stats().sources;
    // To be typed in another terminal, which may be in another directory.
    let data = std::path::absolute(&config.data).unwrap_or_else(|_| config.data.clone());
    let data = data.display();
    let n_sources = if has_sources { n_sources.max(1) } else { 0 };
    if log_format == LogFormat::Json {
        // A reader of the JSON log cannot parse other lines.
        tracing::info!(%address, %data, sources = n_sources, budget, "listening on http://{address}/api/v1/");
        return Ok(());
    }
    let program = program();
    note_in(Tone::Strong, concat!("Dunlin ", env!("CARGO_PKG_VERSION")));
    note(&format!("  listening on  http://{address}/api/v1/"));
    note(&format!("  data          {data}"));
    note(&format!("  sources       {n_sources}"));
    note(&format!("  budget        {budget}"));
    if let Some(demo) = demo {
        note(&format!("  made-up web   {} ({} sources, an hour a minute)", demo.url(), demo.n_sources()));
        note("");
        note(
            "Changes appear below as they are caught, and results (=) of two queries: one reads three of the",
        );
        note("sources together, the other finds its sources by words. In a second terminal, try:");
        note(&format!("  {program} tail --data {data}"));
        note(&format!("  {program} sources --data {data}"));
        note(&format!("  {program} explain 1 --data {data}"));
        note(&format!("  {program} query results harbour_desk --data {data}"));
    } else if has_sources {
        note("");
        note(&format!("Changes as they are caught: {program} tail --data {data}"));
    } else {
        note("");
        note(&format!("Watch something: {program} add https://example.org/feed --data {data}"));
        note(&format!("Use the API:     {program} token create NAME --data {data}"));
    }
    note("Ctrl-C stops it.");
    note("");
    Ok(())
}

/// How to call this program: by its name if the shell finds it, else by where it is.
fn program() -> String {
    let Ok(here) = std::env::current_exe() else { return "dunlin".to_owned() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found =
        std::env::split_paths(&path).filter_map(|directory| directory.join("dunlin").canonicalize().ok());
    let is_found = found.next().is_some_and(|found| here.canonicalize().is_ok_and(|here| here == found));
    if is_found { "dunlin".to_owned() } else { here.display().to_string() }
}
