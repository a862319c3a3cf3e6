//! The data directory as commands meet it: where it is by default, and whether a service runs in it. The database
//! inside is the store's business.
//!
//! Invariant: a service is only believed to run while the store's lock is held; what a killed one left behind is
//! ignored.

use std::fs;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use dunlin_store::SqliteStore;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

const SERVICE: &str = "service.json";
const TOKEN: &str = "cli-token";

/// `$XDG_DATA_HOME/dunlin`, else `~/.local/share/dunlin`, else `./dunlin-data`.
pub(crate) fn default_directory() -> PathBuf {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_DATA_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/share")))
        .map_or_else(|| PathBuf::from("dunlin-data"), |data| data.join("dunlin"))
}

/// Opens the store in a directory for reading, also where nothing can be written, and says so then.
pub(crate) fn open_to_read(directory: &Path) -> Result<SqliteStore, dunlin_store::Error> {
    let store = SqliteStore::open_read_only(directory)?;
    if store.is_read_alone() {
        crate::note(&format!(
            "{} cannot be written (full, or without permission), and is read as it is",
            directory.display()
        ));
    }
    Ok(store)
}

/// A service that runs in a data directory, as it says itself.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    pub(crate) pid: u32,
    /// When it started, RFC 3339.
    pub(crate) started: String,
}

impl Service {
    /// The service that runs in `directory`, if one does, and the token to talk to it with.
    pub(crate) fn find(directory: &Path) -> Result<Option<(Self, String)>, Failure> {
        let Ok(text) = fs::read(directory.join(SERVICE)) else { return Ok(None) };
        if !SqliteStore::is_in_use(directory)? {
            return Ok(None);
        }
        let Ok(service) = serde_json::from_slice(&text) else { return Ok(None) };
        match fs::read_to_string(directory.join(TOKEN)) {
            Ok(token) => Ok(Some((service, token.trim().to_owned()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::Environment(format!(
                "{}: cannot be read: {error} (run this as the user who runs the service)",
                directory.join(TOKEN).display()
            ))),
        }
    }
}

impl Service {
    /// Where to reach it from this machine: one that listens everywhere is here too.
    pub(crate) fn reachable(&self) -> SocketAddr {
        let ip = match self.address.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
            ip => ip,
        };
        SocketAddr::new(ip, self.address.port())
    }
}

/// Announces a running service to commands for as long as it lives.
#[derive(Debug)]
pub(crate) struct Announced {
    directory: PathBuf,
}

impl Announced {
    /// Writes down where the service is, and a token that only the owner of the directory can read.
    pub(crate) fn write(directory: &Path, service: &Service, token: &str) -> Result<Self, Failure> {
        let announced = Self { directory: directory.to_owned() };
        let text = serde_json::to_string_pretty(service).map_err(io::Error::from)?;
        for (name, content) in [(TOKEN, token), (SERVICE, text.as_str())] {
            let path = directory.join(name);
            write_private(&path, content).map_err(|error| {
                Failure::Environment(format!("{}: cannot be written: {error}", path.display()))
            })?;
        }
        Ok(announced)
    }
}

impl Drop for Announced {
    /// The token stays for the next start; without a service it opens nothing.
    fn drop(&mut self) {
        // A file that stays behind is ignored where the lock is not held.
        let _ = fs::remove_file(self.directory.join(SERVICE));
    }
}

/// The token that an earlier service has left.
pub(crate) fn left_token(directory: &Path) -> Option<String> {
    fs::read_to_string(directory.join(TOKEN)).ok().map(|token| token.trim().to_owned())
}

/// Complete or not there, and for the owner's eyes only.
fn write_private(path: &Path, content: &str) -> io::Result<()> {
    let beside = path.with_extension("new");
    let _ = fs::remove_file(&beside);
    let mut options = fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&beside)?;
    writeln!(file, "{content}")?;
    fs::rename(&beside, path)
}
