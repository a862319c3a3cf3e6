//! `dunlin serve`: the engine and the API in one process, from start to an orderly end. Decides nothing about probes.
//!
//! Invariant: however the service ends, what it has announced is in the store; an orderly end leaves no files that say it
//! is running.

mod banner;
mod demo;
pub(crate) mod descriptors;
pub(crate) mod stopping;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use dunlin_engine::clock;
use dunlin_engine::{Engine, Handle};
use dunlin_server::{Secret, Server, tokens, unit};
use dunlin_store::{SqliteStore, Store};

use self::demo::Demo;
use self::stopping::Stop;
use crate::config::check::in_store;
use crate::config::{Config, Effective, Flags, Origin};
use crate::data_dir::{self, Announced, Service};
use crate::failure::Failure;
use crate::log::{self, LogFormat};

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Where everything is kept
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Where to serve the API
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Probes in all: N/s, N/min, N/h or N/day
    #[arg(long, value_name = "PACE")]
    budget: Option<String>,
    /// A TOML file with settings [default: dunlin.toml in the data directory, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// How much to log: off, error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL")]
    log: Option<String>,
    /// How to write the log
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    log_format: LogFormat,
    /// Watch a made-up web inside this process, and show its changes as they are caught
    #[arg(long)]
    demo: bool,
}

/// What commands need to find the service.
struct Announcing<'c> {
    config: &'c Config,
    address: SocketAddr,
    token: String,
}

impl Serve {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        let mut effective = Effective::read(&self.flags())?;
        let temporary = self.temporary_directory(&effective)?;
        if let Some(directory) = &temporary {
            directory.path().clone_into(&mut effective.config.data);
        }
        if self.demo {
            demo::hasten(&mut effective);
        }
        log::start(self.log_format, effective.config.log);
        let lowered = descriptors::make_room(&mut effective.config, descriptors::raised());
        for warning in lowered.into_iter().chain(exposed(effective.config.listen)) {
            self.notify(&format!("warning: {warning}"));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Failure::Environment(format!("cannot start: {error}")))?;
        let path = temporary.as_ref().map(|directory| directory.path().to_owned());
        let ended = runtime.block_on(self.serve(effective, path));
        // Work that still runs on other threads has been abandoned, and ends with the process.
        runtime.shutdown_background();
        ended
    }

    fn flags(&self) -> Flags {
        let mut flags = Flags { file: self.config.clone(), ..Flags::default() };
        flags.set("--data", "data", self.data.as_ref().map(|data| data.display().to_string()));
        flags.set("--listen", "listen", self.listen.clone());
        flags.set("--budget", "budget", self.budget.clone());
        flags.set("--log", "log", self.log.clone());
        flags
    }

    /// A demonstration leaves nothing behind, unless it gets a data directory.
    fn temporary_directory(&self, effective: &Effective) -> Result<Option<tempfile::TempDir>, Failure> {
        if !self.demo || effective.origin("data") != Origin::Default {
            return Ok(None);
        }
        let made = tempfile::Builder::new().prefix("dunlin-demo-").tempdir();
        made.map(Some).map_err(|error| Failure::Environment(format!("no temporary directory: {error}")))
    }

    async fn serve(&self, effective: Effective, temporary: Option<PathBuf>) -> Result<(), Failure> {
        let stop = Stop::listen(effective.config.stop_within, temporary)?;
        // Before anything is opened or made: a port that is taken leaves nothing behind.
        let bound = Server::bind(effective.config.listen).await?;
        let store = open(effective.config.data.clone()).await?;
        self.apply_stored_budget(&store, &effective).await?;
        let mut config = effective.config;
        let demo = if self.demo { Some(Demo::start(&store, &mut config).await?) } else { None };
        let token = local_token(&store, &config.data).await?;
        let engine = Engine::start(Arc::clone(&store), config.engine_settings()).await?;
        let announcing = Announcing { config: &config, address: bound.address(), token: token.clone() };
        let mut options = config.server_options();
        options.local_token = Some(Secret(token));
        let server = bound.serve(engine.handle(), options);
        let ended = self.run_until_stopped(&engine.handle(), announcing, demo.as_ref(), stop).await;
        // However this ends, the engine is stopped in an orderly way; the server after it, so that a reader of a
        // stream gets all that was stored.
        let stopped = engine.stop().await;
        server.stop().await;
        if let Some(demo) = demo {
            demo.stop().await;
        }
        ended?;
        stopped?;
        tracing::info!("stopped");
        Ok(())
    }

    async fn run_until_stopped(
        &self,
        handle: &Handle,
        announcing: Announcing<'_>,
        demo: Option<&Demo>,
        stop: Stop,
    ) -> Result<(), Failure> {
        if let Some(demo) = demo {
            demo.add_sources(handle).await?;
        }
        let Announcing { config, address, token } = announcing;
        let announced = announce(&config.data, address, token).await?;
        banner::print(self.log_format, handle, config, address, demo).await?;
        let printing = async {
            match demo {
                Some(_) => demo::print_news(handle.clone()).await,
                None => std::future::pending().await,
            }
        };
        let ended = tokio::select! {
            () = stop.asked() => Ok(()),
            ended = printing => ended,
            () = gone(handle) => Err(Failure::Environment(
                "the engine has ended by itself (the log says why; start the service again)".to_owned(),
            )),
        };
        tracing::info!("stopping");
        drop(announced);
        let n_active = handle.stats().in_flight;
        if n_active > 0 {
            self.notify(&format!("waiting for {n_active} active probes; Ctrl-C again abandons them"));
        }
        ended
    }

    /// Prints a message, in the format of the log.
    fn notify(&self, text: &str) {
        match self.log_format {
            LogFormat::Text => crate::note(text),
            LogFormat::Json => tracing::warn!("{text}"),
        }
    }

    /// A flag is the newest word on the budget, and ends what was stored before it; else the stored one counts.
    async fn apply_stored_budget(
        &self,
        store: &Arc<dyn Store>,
        effective: &Effective,
    ) -> Result<(), Failure> {
        let (reading, forgetting) = (Arc::clone(store), Arc::clone(store));
        let Some(stored) = on_thread(move || in_store(&*reading)).await? else {
            return Ok(());
        };
        if let Some(text) = effective.about_stored_budget(stored) {
            self.notify(&text);
        }
        if matches!(effective.origin("budget"), Origin::Flag(_)) {
            on_thread(move || {
                dunlin_engine::forget_budget(&*forgetting)?;
                Ok(unit::forget(&*forgetting)?)
            })
            .await?;
        }
        Ok(())
    }
}

/// What to say about an address that others can reach.
fn exposed(listen: SocketAddr) -> Option<String> {
    let is_exposed = !listen.ip().to_canonical().is_loopback();
    is_exposed.then(|| {
        format!(
            "{listen} can be reached from other machines, and tokens are sent in the clear (put a proxy with TLS in front, \
             and listen on 127.0.0.1)"
        )
    })
}

/// Waits until the engine has ended. It sends no event, but its channel of changes closes.
async fn gone(handle: &Handle) {
    let mut newest = handle.newest_cursor();
    while newest.changed().await.is_ok() {}
}

async fn open(directory: PathBuf) -> Result<Arc<dyn Store>, Failure> {
    on_thread(move || match SqliteStore::open(&directory) {
        Ok(store) => Ok(Arc::new(store) as Arc<dyn Store>),
        Err(error @ dunlin_store::Error::InUse { .. }) => Err(Failure::Environment(error.to_string())),
        Err(error) => Err(error.into()),
    })
    .await
}

/// Lets commands that are given the same data directory find the service.
async fn announce(directory: &Path, address: SocketAddr, token: String) -> Result<Announced, Failure> {
    let directory = directory.to_owned();
    on_thread(move || {
        let started = clock::rfc3339(clock::now());
        Announced::write(&directory, &Service { address, pid: std::process::id(), started }, &token)
    })
    .await
}

/// The token with which commands talk to the service, and by which they know it.
async fn local_token(store: &Arc<dyn Store>, directory: &Path) -> Result<String, Failure> {
    let (store, directory) = (Arc::clone(store), directory.to_owned());
    on_thread(move || Ok(tokens::local(&*store, data_dir::left_token(&directory), clock::now())?)).await
}

/// Calls of the store block, so they go where that is allowed.
async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(Failure::Environment(format!("internal error: {error}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_others_reach_are_warned_about() {
        for quiet in ["127.0.0.1:7171", "127.9.9.9:1", "[::1]:7171", "[::ffff:127.0.0.1]:1"] {
            assert_eq!(exposed(quiet.parse().unwrap()), None, "{quiet}");
        }
        for address in ["0.0.0.0:7171", "[::]:7171", "192.168.1.2:80", "[2001:db8::1]:1"] {
            assert!(exposed(address.parse().unwrap()).unwrap().contains("TLS"), "{address}");
        }
    }
}
