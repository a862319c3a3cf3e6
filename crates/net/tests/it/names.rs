//! A resolver whose answers the test decides, and which may change its mind.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use dunlin_net::{Client, Guard, Resolve, ResolveError, Resolving, Settings};

/// Answers by name: the first lookup gets the first answer, and so on; the last answer is given for ever.
#[derive(Default)]
pub(crate) struct Names {
    answers: BTreeMap<String, Vec<Result<Vec<IpAddr>, ResolveError>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// `name` has these addresses, at its next lookup and after.
    pub(crate) fn with(mut self, name: &str, addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        self.answers.entry(name.to_owned()).or_default().push(Ok(addresses));
        self
    }

    /// Looking up `name` fails.
    pub(crate) fn failing(mut self, name: &str, error: ResolveError) -> Self {
        self.answers.entry(name.to_owned()).or_default().push(Err(error));
        self
    }

    /// Every lookup so far.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Resolve for Names {
    fn resolve<'r>(&'r self, host: &'r str) -> Resolving<'r> {
        Box::pin(async move {
            let mut asked = self.asked.lock().unwrap();
            let n_before = asked.iter().filter(|name| *name == host).count();
            asked.push(host.to_owned());
            let answers = self.answers.get(host).ok_or(ResolveError::NoSuchHost)?;
            answers[n_before.min(answers.len() - 1)].clone()
        })
    }
}

/// A resolver that never answers.
pub(crate) struct Silence;

impl Resolve for Silence {
    fn resolve<'r>(&'r self, _: &'r str) -> Resolving<'r> {
        Box::pin(std::future::pending())
    }
}

/// A client that may reach 127.0.0.1 and nothing else inside, with changed settings.
pub(crate) fn local_client(change: impl FnOnce(&mut Settings)) -> Client {
    let mut settings = Settings::default();
    settings.guard = Guard::public_internet().allowing_network("127.0.0.1/32".parse().unwrap());
    change(&mut settings);
    Client::with_resolver(settings, Arc::new(Names::new())).unwrap()
}
