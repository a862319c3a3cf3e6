//! What is known of the templates of sites, learned as their pages are read. Kept in memory alone, within bounds: after a start it is
//! learned again from what is stored of each page. A site is a host; one without noise takes no room.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use dunlin_extract::Flicker;
use dunlin_extract::flicker::Template;

/// Hosts of each of two generations; about half a kilobyte each.
const MOST_HOSTS: usize = 1_024;

/// Templates by host: when the younger generation is full, the older one is dropped.
#[derive(Debug, Default)]
pub(crate) struct Templates(Mutex<Generations>);

#[derive(Debug, Default)]
struct Generations {
    young: BTreeMap<String, Template>,
    old: BTreeMap<String, Template>,
}

impl Templates {
    /// What the pages of a host have shown so far.
    pub(crate) fn of(&self, host: &str) -> Template {
        let generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = generations.young.get(host).or_else(|| generations.old.get(host));
        known.cloned().unwrap_or_default()
    }

    /// Learns what one page of a host has shown.
    pub(crate) fn learn(&self, host: &str, page: &Flicker) {
        let mut generations = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = generations.young.remove(host).or_else(|| generations.old.remove(host));
        let mut template = known.unwrap_or_default();
        template.learn(page);
        if template.is_empty() {
            return;
        }
        if generations.young.len() == MOST_HOSTS {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(host.to_owned(), template);
    }
}
