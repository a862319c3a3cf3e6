//! Where a command's answers come from: the flags that say so, and the choice they lead to.

use std::path::PathBuf;

use clap::Args;
use dunlin_store::SqliteStore;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use url::Url;

use super::Backend;
use super::http::{HttpBackend, Trust};
use super::records::SourceFields;
use super::store::StoreBackend;
use crate::config::{Config, Effective, Flags};
use crate::data_dir::{self, Service};
use crate::failure::Failure;

/// Which service or data directory.
#[derive(Debug, Clone, Args)]
pub(crate) struct ReachArgs {
    /// The data directory; a service that runs in it is asked, else its files are opened. Goes before --server
    #[arg(long, value_name = "DIR")]
    pub(crate) data: Option<PathBuf>,
    /// Ask this service instead, by its address
    #[arg(long, value_name = "URL", env = "DUNLIN_SERVER")]
    server: Option<Url>,
    /// Token for --server
    #[arg(long, value_name = "T", env = "DUNLIN_TOKEN", hide_env_values = true)]
    token: Option<String>,
}

/// Which data directory, for commands that read it themselves, whether a service runs in it or not.
#[derive(Debug, Clone, Args)]
pub(crate) struct DirectoryArgs {
    /// The data directory
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A TOML file with settings [default: dunlin.toml in the data directory, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl DirectoryArgs {
    pub(crate) fn configuration(&self) -> Result<Effective, Failure> {
        let mut flags = Flags { file: self.config.clone(), ..Flags::default() };
        flags.set("--data", "data", self.data.as_ref().map(|data| data.display().to_string()));
        Effective::read(&flags)
    }
}

/// Asks a service whether everything works that should; an error says what does not.
pub(crate) fn ask_whether_ready(service: &Service, token: &str) -> Result<(), Failure> {
    over_http(service, token)?.ready()
}

fn over_http(service: &Service, token: &str) -> Result<HttpBackend, Failure> {
    let server = Url::parse(&format!("http://{}/", service.reachable()))
        .map_err(|error| Failure::Environment(format!("service.json: {error}")))?;
    HttpBackend::new(&server, token, Trust::Proven)
}

/// Every network there is. Metadata addresses stay closed all the same.
fn everywhere() -> Vec<IpNet> {
    vec![Ipv4Net::default().into(), Ipv6Net::default().into()]
}

/// What is wanted of a data directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl ReachArgs {
    /// Finds the backend that answers.
    pub(crate) fn open(&self, access: Access) -> Result<Box<dyn Backend>, Failure> {
        // A data directory given by hand goes before a service from the environment.
        if let (Some(server), None) = (&self.server, &self.data) {
            let token = self.token.clone().ok_or_else(|| {
                Failure::input("--server needs a token (give --token, or set DUNLIN_TOKEN; make one with `dunlin token create NAME`)")
            })?;
            return Ok(Box::new(HttpBackend::new(server, &token, Trust::Given)?));
        }
        let effective = self.configuration()?;
        let directory = &effective.config.data;
        if let Some((service, token)) = Service::find(directory)? {
            let backend = over_http(&service, &token)?;
            // Another program on the port of a killed service gets no token.
            if backend.is_trusted()? {
                return Ok(Box::new(backend));
            }
        }
        let store = match access {
            Access::Read => data_dir::open_to_read(directory)?,
            Access::Write => SqliteStore::open(directory)?,
        };
        Ok(Box::new(StoreBackend::new(store, &effective.config)))
    }

    /// Whether it is a data directory in which nothing has been stored yet.
    pub(crate) fn is_empty(&self) -> Result<bool, Failure> {
        if self.server.is_some() && self.data.is_none() {
            return Ok(false);
        }
        let opened = SqliteStore::open_read_only(&self.configuration()?.config.data);
        Ok(matches!(opened, Err(dunlin_store::Error::NoStore { .. })))
    }

    /// A wish for a new source, with what the configuration says about all of them.
    pub(crate) fn with_defaults(&self, fields: SourceFields) -> Result<SourceFields, Failure> {
        if self.server.is_some() && self.data.is_none() {
            return Ok(fields);
        }
        let effective = self.configuration()?;
        let config = &effective.config;
        let set = |key: &str| effective.origins.contains_key(key);
        Ok(SourceFields {
            life: fields.life.or_else(|| set("defaults.life").then(|| config.life.to_string())),
            urgency: fields.urgency.or_else(|| set("defaults.urgency").then(|| config.urgency.to_string())),
            weight: fields.weight.or_else(|| set("defaults.weight").then_some(config.weight)),
            ..fields
        })
    }

    /// Says whether sources could be added, without adding any. Which networks a service elsewhere may reach is not known
    /// here, so it is assumed that it may reach them.
    pub(crate) fn judge(&self) -> Result<impl Fn(&SourceFields) -> Result<(), Failure> + use<>, Failure> {
        let config = match (&self.server, &self.data) {
            (Some(_), None) => Config { networks: everywhere(), ..Config::default() },
            _ => self.configuration()?.config,
        };
        let settings = config.engine_settings();
        Ok(move |fields: &SourceFields| super::store::checked(fields, &settings).map(drop))
    }

    /// The configuration of the data directory.
    pub(crate) fn configuration(&self) -> Result<Effective, Failure> {
        let mut flags = Flags::default();
        flags.set("--data", "data", self.data.as_ref().map(|data| data.display().to_string()));
        Effective::read(&flags)
    }
}
