//! What a site asks of programs that visit it: robots.txt by RFC 9309, with the crawl-delay that many sites add.
//! Knows no clock and keeps no socket; [`RobotsCache`] remembers, with the time passed in.
//!
//! Invariant: reading never fails. A file that makes no sense forbids nothing, as the standard says.

mod cache;
mod pattern;

use std::time::Duration;

use url::{Position, Url};

use crate::client::Client;
use crate::error::Error;
use crate::fetched::Fetched;
use crate::request::Request;
pub use cache::{RobotsCache, RobotsVerdict, SiteState};
use pattern::{Pattern, normalised_path};

/// As much of the file as is read; the standard asks for at least this.
pub const MAX_BYTES: usize = 500 << 10;

/// Longer delays than a day are taken as a day; they are more likely a mistake than a wish.
const MAX_CRAWL_DELAY: Duration = Duration::from_hours(24);

const MAX_SITEMAPS: usize = 64;

/// The rules of one site for one visitor.
///
/// ```
/// use dunlin_net::robots::Robots;
///
/// let text = b"User-agent: *\nDisallow: /private\nAllow: /private/feed$\nCrawl-delay: 10";
/// let robots = Robots::parse(text, "dunlin");
/// assert!(!robots.allows(&"https://example.com/private/diary".parse()?));
/// assert!(robots.allows(&"https://example.com/private/feed".parse()?));
/// assert_eq!(robots.crawl_delay().unwrap().as_secs(), 10);
/// # Ok::<(), url::ParseError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Robots {
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    /// Forbids nothing, so it need not outlast a restart.
    #[serde(skip)]
    sitemaps: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
struct Rule {
    pattern: Pattern,
    allows: bool,
}

/// A run of `user-agent` lines and the rules that follow it.
#[derive(Debug, Default)]
struct Group {
    names_us: bool,
    names_everyone: bool,
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

impl Robots {
    /// Nothing is forbidden.
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// Reads a file, keeping what concerns the visitor called `product`, a name without version such as `dunlin`.
    pub fn parse(text: &[u8], product: &str) -> Self {
        let text = &text[..text.len().min(MAX_BYTES)];
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut groups: Vec<Group> = Vec::new();
        let mut sitemaps = Vec::new();
        let mut in_names = false;
        for line in text.split(|&byte| byte == b'\n' || byte == b'\r') {
            let Some((key, value)) = key_and_value(line) else { continue };
            if key.eq_ignore_ascii_case(b"user-agent") {
                if !in_names {
                    groups.push(Group::default());
                }
                in_names = true;
                let Some(group) = groups.last_mut() else { continue };
                group.names_everyone |= value == b"*";
                group.names_us |= product_of(value).eq_ignore_ascii_case(product.as_bytes());
            } else if key.eq_ignore_ascii_case(b"sitemap") {
                // Stands outside of all groups.
                if sitemaps.len() < MAX_SITEMAPS {
                    sitemaps.push(String::from_utf8_lossy(value).into_owned());
                }
            } else if let Some(group) = groups.last_mut() {
                in_names &= !group.read_rule(key, value);
            }
        }
        let chosen: Vec<Group> = {
            let is_named = groups.iter().any(|group| group.names_us);
            groups.retain(|group| if is_named { group.names_us } else { group.names_everyone });
            groups
        };
        let crawl_delay = chosen.iter().filter_map(|group| group.crawl_delay).max();
        let rules = chosen.into_iter().flat_map(|group| group.rules).collect();
        Self { rules, crawl_delay, sitemaps }
    }

    /// Whether the site lets us fetch `url`: the longest rule that matches decides, and of two equally long
    /// ones the one that allows.
    pub fn allows(&self, url: &Url) -> bool {
        if url.path() == "/robots.txt" {
            return true;
        }
        let path = normalised_path(&url[Position::BeforePath..Position::AfterQuery]);
        let matching = self.rules.iter().filter(|rule| rule.pattern.matches(&path));
        matching.max_by_key(|rule| (rule.pattern.len(), rule.allows)).is_none_or(|rule| rule.allows)
    }

    /// The pause that the site asks for between two requests.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// The sitemaps it names, as written.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }
}

impl Group {
    /// Takes in a line if it is a rule, and says whether it was one.
    fn read_rule(&mut self, key: &[u8], value: &[u8]) -> bool {
        let allows = key.eq_ignore_ascii_case(b"allow");
        if allows || key.eq_ignore_ascii_case(b"disallow") {
            // An empty pattern is the old way of saying that nothing is meant.
            if !value.is_empty() {
                self.rules.push(Rule { pattern: Pattern::new(value), allows });
            }
            true
        } else if key.eq_ignore_ascii_case(b"crawl-delay") {
            let seconds = std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
            let delay = seconds.filter(|seconds| *seconds >= 0.0).map(|seconds| {
                Duration::try_from_secs_f64(seconds).unwrap_or(MAX_CRAWL_DELAY).min(MAX_CRAWL_DELAY)
            });
            self.crawl_delay = self.crawl_delay.max(delay);
            true
        } else {
            false
        }
    }
}

/// The two sides of a line, without comment and blanks.
fn key_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.split(|&byte| byte == b'#').next()?;
    let colon = line.iter().position(|&byte| byte == b':')?;
    Some((line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()))
}

/// `Dunlin/1.2 (x)` names the product `Dunlin`.
fn product_of(value: &[u8]) -> &[u8] {
    let is_name = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'-' || *byte == b'_';
    &value[..value.iter().position(|byte| !is_name(byte)).unwrap_or(value.len())]
}

/// Asks the site of `url` for its robots.txt, as much of it as will be read.
pub async fn fetch(client: &Client, url: &Url) -> Result<Fetched, Error> {
    client.fetch(Request::new(location(url)).keeping_first(MAX_BYTES as u64)).await
}

/// Where the robots.txt is that applies to `url`.
pub fn location(url: &Url) -> Url {
    let mut robots = url.clone();
    robots.set_path("/robots.txt");
    robots.set_query(None);
    robots.set_fragment(None);
    robots
}
