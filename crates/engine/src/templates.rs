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

#[cfg(test)]
mod tests {
    use dunlin_extract::recipe::{NoiseRules, Recipe};
    use dunlin_extract::{Extractor, Input, Limits, Work};

    use super::*;

    /// A page on which something flickers.
    fn noisy() -> Flicker {
        let extractor = Extractor::new(&Recipe::Page, &NoiseRules::default(), Limits::default()).unwrap();
        let read = |word: &str| {
            let body = format!("<html><body><h1>A page</h1><p>It stays.</p><p>{word}</p></body></html>");
            let input = Input {
                body: body.as_bytes(),
                content_type: Some("text/html"),
                url: None,
                last_charset: None,
            };
            extractor.extract(&input).items
        };
        let words = ["tern gull knot", "ruff sand wave", "tide reef dune", "crab mussel kelp"].map(read);
        let mut flicker = Flicker::default();
        for pair in words.windows(2) {
            let work: Work = extractor.work();
            flicker = flicker.observe_burst(&pair[0], &pair[1], &work).0;
        }
        flicker
    }

    #[test]
    fn the_sites_that_were_read_last_are_known_and_no_more_than_two_generations_of_them() {
        let (templates, page) = (Templates::default(), noisy());
        let host = |number: usize| format!("h{number}.test");
        (0..MOST_HOSTS).for_each(|number| templates.learn(&host(number), &page));
        assert!(!templates.of(&host(0)).is_empty(), "what flickers is learned");
        (MOST_HOSTS..2 * MOST_HOSTS).for_each(|number| templates.learn(&host(number), &page));
        assert!(!templates.of(&host(0)).is_empty(), "the older generation still counts");
        templates.learn(&host(1), &page);
        templates.learn(&host(9_999), &page);
        assert!(templates.of(&host(0)).is_empty(), "it went with the older generation");
        assert!(!templates.of(&host(1)).is_empty(), "it was read again in time");
        let generations = templates.0.lock().unwrap();
        assert!(generations.young.len() + generations.old.len() <= 2 * MOST_HOSTS);
    }

    #[test]
    fn a_site_without_noise_takes_no_room() {
        let templates = Templates::default();
        templates.learn("quiet.test", &Flicker::default());
        assert!(templates.0.lock().unwrap().young.is_empty());
    }
}
