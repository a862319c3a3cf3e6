//! API tokens: made once, shown once, kept as a hash. A token names its own record, so that checking one takes one read.
//!
//! Invariant: what is stored does not let anyone in. A token is `dunlin_NAME_SECRET` with 256 random bits; the store has
//! the SHA-256 of the whole. Secrets that random need no slow hash.

use dunlin_core::Time;
use dunlin_store::Store;
use rand::TryRng;
use rand::rngs::SysRng;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::Error;

/// The token with which commands on the same machine talk to a service. It belongs to the data directory: only
/// [`local`] makes or revokes it.
pub const LOCAL: &str = "local-cli";

/// Settings whose names begin like this are tokens.
const PREFIX: &str = "token:";

/// A token that exists, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// What it was made for.
    pub name: String,
    /// When it was made.
    pub created: Time,
}

#[derive(Serialize, Deserialize)]
struct Record {
    sha256: String,
    created: Time,
}

/// Makes a token and returns it. It cannot be shown again.
///
/// ```
/// # let directory = tempfile::tempdir().unwrap();
/// # let store = dunlin_store::SqliteStore::open(directory.path()).unwrap();
/// let now = dunlin_core::Time::from_seconds(1_700_000_000);
/// let token = dunlin_server::tokens::create(&store, "laptop", now)?;
/// assert_eq!(dunlin_server::tokens::check(&store, &token)?.unwrap().name, "laptop");
/// # Ok::<(), dunlin_server::Error>(())
/// ```
pub fn create(store: &dyn Store, name: &str, now: Time) -> Result<String, Error> {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'.' || byte == b'-';
    if name.is_empty() || name.len() > 40 || !name.bytes().all(is_fit) {
        return Err(Error::TokenName { name: name.to_owned() });
    }
    if name == LOCAL {
        return Err(Error::LocalToken);
    }
    if store.setting(&setting_of(name))?.is_some() {
        return Err(Error::TokenExists { name: name.to_owned() });
    }
    make(store, name, now)
}

/// The token for local commands: the one of an earlier start where it is still valid, so that a command that follows
/// changes continues after a restart; else a new one, which replaces the old one.
pub fn local(store: &dyn Store, left: Option<String>, now: Time) -> Result<String, Error> {
    if let Some(token) = left
        && check(store, &token)?.is_some_and(|known| known.name == LOCAL)
    {
        return Ok(token);
    }
    make(store, LOCAL, now)
}

fn make(store: &dyn Store, name: &str, now: Time) -> Result<String, Error> {
    let mut secret = [0_u8; 32];
    SysRng.try_fill_bytes(&mut secret).map_err(|error| Error::NoRandomness { reason: error.to_string() })?;
    let token = format!("dunlin_{name}_{}", hex(&secret));
    let record = Record { sha256: hex(&Sha256::digest(&token)), created: now };
    let text = serde_json::to_string(&record)
        .map_err(|error| Error::DamagedToken { name: name.to_owned(), reason: error.to_string() })?;
    store.set_setting(&setting_of(name), Some(text))?;
    Ok(token)
}

/// The tokens there are, by name.
pub fn list(store: &dyn Store) -> Result<Vec<Token>, Error> {
    let rows = store.settings(PREFIX)?.into_iter();
    rows.map(|(setting, text)| {
        let name = setting[PREFIX.len()..].to_owned();
        let record = read(&name, &text)?;
        Ok(Token { name, created: record.created })
    })
    .collect()
}

/// Revokes a token from now on.
pub fn revoke(store: &dyn Store, name: &str) -> Result<(), Error> {
    if name == LOCAL {
        return Err(Error::LocalToken);
    }
    if store.setting(&setting_of(name))?.is_none() {
        return Err(Error::NoSuchToken { name: name.to_owned() });
    }
    Ok(store.set_setting(&setting_of(name), None)?)
}

/// The token's record; `None` when it is not valid.
pub fn check(store: &dyn Store, token: &str) -> Result<Option<Token>, Error> {
    let Some((name, _)) = token.strip_prefix("dunlin_").and_then(|rest| rest.rsplit_once('_')) else {
        return Ok(None);
    };
    let Some(text) = store.setting(&setting_of(name))? else { return Ok(None) };
    let record = read(name, &text)?;
    let is_right: bool = hex(&Sha256::digest(token)).as_bytes().ct_eq(record.sha256.as_bytes()).into();
    Ok(is_right.then(|| Token { name: name.to_owned(), created: record.created }))
}

fn setting_of(name: &str) -> String {
    format!("{PREFIX}{name}")
}

fn read(name: &str, text: &str) -> Result<Record, Error> {
    serde_json::from_str(text)
        .map_err(|error| Error::DamagedToken { name: name.to_owned(), reason: error.to_string() })
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
