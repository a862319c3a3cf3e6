//! Paths and queries: what a request asks for, and how ids are written in addresses. Knows no source.

use std::fmt::Write as _;

/// In which form a source is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// `/pages/ID`: the latest state as HTML.
    #[default]
    Page,
    /// `/feeds/ID.xml`: the latest updates as RSS.
    Feed,
    /// `/api/ID.json`: the latest state as JSON.
    Api,
}

impl Kind {
    /// How many forms there are.
    pub(crate) const COUNT: usize = 3;

    /// `feed`, `page` or `api`.
    fn named(name: &str) -> Option<Self> {
        match name {
            "page" => Some(Self::Page),
            "feed" => Some(Self::Feed),
            "api" => Some(Self::Api),
            _ => None,
        }
    }

    /// The path under which the source is served in this form.
    pub fn path(self, source: &str) -> String {
        let id = encoded(source);
        match self {
            Self::Page => format!("/pages/{id}"),
            Self::Feed => format!("/feeds/{id}.xml"),
            Self::Api => format!("/api/{id}.json"),
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    Index,
    Opml,
    List(Kind),
    Robots,
    Truth,
    TruthCsv,
    Source {
        id: String,
        kind: Kind,
        /// From an address that always has one, as `name:argument`.
        fault: Option<String>,
    },
    Nothing,
}

/// A path and the parameters after its `?`.
#[derive(Debug, Clone)]
pub(crate) struct Address<'a> {
    pub(crate) path: &'a str,
    query: &'a str,
}

impl<'a> Address<'a> {
    pub(crate) fn parse(target: &'a str) -> Self {
        let target = target.split_once('#').map_or(target, |(before, _)| before);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Self { path, query }
    }

    /// The first value of a parameter, decoded.
    pub(crate) fn parameter(&self, name: &str) -> Option<String> {
        self.query.split('&').find_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(key)? == name).then(|| decoded(&value.replace('+', " ")))?
        })
    }

    fn kind(&self) -> Option<Kind> {
        self.parameter("kind").map_or(Some(Kind::default()), |name| Kind::named(&name))
    }

    pub(crate) fn route(&self) -> Route {
        self.try_wanted().unwrap_or(Route::Nothing)
    }

    fn try_wanted(&self) -> Option<Route> {
        let source = |id: &str, kind| Some(Route::Source { id: decoded(id)?, kind, fault: None });
        let parts: Vec<&str> = self.path.strip_prefix('/')?.split('/').collect();
        match parts[..] {
            [""] => Some(Route::Index),
            ["sources.opml"] => Some(Route::Opml),
            ["sources.txt"] => Some(Route::List(self.kind()?)),
            ["robots.txt"] => Some(Route::Robots),
            ["_truth"] => Some(Route::Truth),
            ["_truth.csv"] => Some(Route::TruthCsv),
            ["pages", id] => source(id, Kind::Page),
            ["feeds", name] => source(name.strip_suffix(".xml")?, Kind::Feed),
            ["api", name] => source(name.strip_suffix(".json")?, Kind::Api),
            ["faults", name, id] => {
                Some(Route::Source { id: decoded(id)?, kind: self.kind()?, fault: Some(decoded(name)?) })
            }
            ["faults", name, argument, id] => {
                let fault = format!("{}:{}", decoded(name)?, decoded(argument)?);
                Some(Route::Source { id: decoded(id)?, kind: self.kind()?, fault: Some(fault) })
            }
            _ => None,
        }
    }

    /// The same address with parameter `name` set, as a place to redirect to.
    pub(crate) fn with_parameter(&self, name: &str, value: &str) -> String {
        let mut target = format!("{}?", self.path);
        for pair in self.query.split('&').filter(|pair| !pair.is_empty()) {
            if pair.split_once('=').map_or(pair, |(key, _)| key) != name {
                target.push_str(pair);
                target.push('&');
            }
        }
        target.push_str(name);
        target.push('=');
        target.push_str(value);
        target
    }
}

/// An id as it stands in an address: everything but letters, digits and `-._~` as `%XX`.
pub fn encoded(id: &str) -> String {
    let mut text = String::with_capacity(id.len());
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// What `%XX` stands for; `None` if it stands for nothing.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}
