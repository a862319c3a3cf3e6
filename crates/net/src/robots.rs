//! robots.txt by RFC 9309: what a site asks of programs, with the crawl-delay that many sites add.
//! Knows no clock and keeps no socket; [`RobotsCache`] remembers, with the time passed in.
//!
//! Invariant: reading never fails. An invalid file forbids nothing, as the standard says; one that says more than
//! can be kept forbids everything.

mod cache;
mod rules;

use std::time::Duration;

use url::{Position, Url};

use crate::client::Client;
use crate::error::Error;
use crate::fetched::Fetched;
use crate::request::Request;
pub use cache::{MAX_CACHED, RobotsCache, RobotsVerdict, SiteState};
use rules::Rules;
pub use rules::{MAX_HELD, MAX_WORK};

/// The most bytes of the file that are read; the standard requires at least this.
pub const MAX_BYTES: usize = 500 << 10;

/// Longer delays than a day are taken as a day; they are more likely a mistake than a wish.
const MAX_CRAWL_DELAY: Duration = Duration::from_hours(24);

/// The most sitemaps that are kept, and bytes of all their addresses.
const MAX_SITEMAPS: usize = 64;
const MAX_SITEMAP_BYTES: usize = 16 << 10;

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
    rules: Rules,
    crawl_delay: Option<Duration>,
    /// Forbids nothing, so it need not outlast a restart.
    #[serde(skip)]
    sitemaps: Vec<String>,
}

/// What the groups for one kind of visitor say, all of them together.
#[derive(Debug, Default)]
struct GroupRules {
    is_named: bool,
    rules: Rules,
    crawl_delay: Option<Duration>,
}

impl Robots {
    /// Reads a file, keeping what concerns the visitor called `product`, a name without version such as `dunlin`.
    pub fn parse(text: &[u8], product: &str) -> Self {
        let text = &text[..text.len().min(MAX_BYTES)];
        let is_cut = text.len() == MAX_BYTES && !text.ends_with(b"\n");
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let (mut ours, mut everyones) = (GroupRules::default(), GroupRules::default());
        let mut sitemaps = Vec::new();
        let mut sitemap_room = MAX_SITEMAP_BYTES;
        // Which visitors the group is for, and whether its list of names continues.
        let (mut names_us, mut names_everyone, mut in_names) = (false, false, false);
        let mut lines = text.split(|&byte| byte == b'\n' || byte == b'\r').peekable();
        while let Some(line) = lines.next() {
            let Some((key, value)) = key_and_value(line) else { continue };
            if key.eq_ignore_ascii_case(b"user-agent") {
                if !in_names {
                    (names_us, names_everyone) = (false, false);
                }
                in_names = true;
                names_everyone |= value == b"*";
                names_us |= product_of(value).eq_ignore_ascii_case(product.as_bytes());
                ours.is_named |= names_us;
            } else if key.eq_ignore_ascii_case(b"sitemap") {
                // Stands outside of all groups.
                if sitemaps.len() < MAX_SITEMAPS && value.len() <= sitemap_room {
                    sitemap_room -= value.len();
                    sitemaps.push(String::from_utf8_lossy(value).into_owned());
                }
            } else if let Some(rule) = Line::read(key, value) {
                in_names = false;
                // A truncated allow rule may allow more than the whole rule.
                if is_cut && lines.peek().is_none() && matches!(rule, Line::Path { allows: true, .. }) {
                    continue;
                }
                [(names_us, &mut ours), (names_everyone, &mut everyones)]
                    .into_iter()
                    .filter(|(is_meant, _)| *is_meant)
                    .for_each(|(_, group)| group.take(&rule));
            }
        }
        let GroupRules { mut rules, crawl_delay, .. } = if ours.is_named { ours } else { everyones };
        rules.shrink();
        sitemaps.shrink_to_fit();
        Self { rules, crawl_delay, sitemaps }
    }

    /// Whether the site lets us fetch `url`: the longest rule that matches decides, and of two equally long
    /// ones the one that allows.
    pub fn allows(&self, url: &Url) -> bool {
        url.path() == "/robots.txt" || self.rules.allow(&url[Position::BeforePath..Position::AfterQuery])
    }

    /// How many bytes it holds in memory.
    pub(crate) fn held(&self) -> usize {
        let sitemaps: usize = self.sitemaps.iter().map(String::capacity).sum();
        size_of::<Self>() + self.rules.held() + self.sitemaps.capacity() * size_of::<String>() + sitemaps
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

/// A line that belongs to a group.
enum Line<'f> {
    Path { pattern: &'f [u8], allows: bool },
    CrawlDelay(Option<Duration>),
}

impl<'f> Line<'f> {
    fn read(key: &[u8], value: &'f [u8]) -> Option<Self> {
        let allows = key.eq_ignore_ascii_case(b"allow");
        if allows || key.eq_ignore_ascii_case(b"disallow") {
            return Some(Self::Path { pattern: value, allows });
        }
        key.eq_ignore_ascii_case(b"crawl-delay").then(|| {
            let seconds = std::str::from_utf8(value).ok().and_then(|text| text.parse::<f64>().ok());
            Self::CrawlDelay(seconds.filter(|seconds| *seconds >= 0.0).map(|seconds| {
                Duration::try_from_secs_f64(seconds).unwrap_or(MAX_CRAWL_DELAY).min(MAX_CRAWL_DELAY)
            }))
        })
    }
}

impl GroupRules {
    fn take(&mut self, line: &Line<'_>) {
        match *line {
            // An empty pattern is the old way of saying that nothing is meant.
            Line::Path { pattern: [], .. } => {}
            Line::Path { pattern, allows } => self.rules.push(pattern, allows),
            Line::CrawlDelay(delay) => self.crawl_delay = self.crawl_delay.max(delay),
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
