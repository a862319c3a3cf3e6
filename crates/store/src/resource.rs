//! A resource: what one request fetches, however many sources want something of it. Two sources share a resource when
//! their requests are the same, that is their URL and their request headers.

use std::collections::BTreeMap;

use serde::Deserialize;
use url::Url;

/// Recognises a request. A hash, because request headers may hold secrets.
pub(crate) type RequestKey = [u8; 16];

/// The part of a recipe that says what to send.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Sent {
    headers: BTreeMap<String, String>,
}

/// The key of the request for a source. The fragment of a URL is not sent, and the case of header names means nothing. A URL
/// or a recipe that cannot be read is a request of its own.
pub(crate) fn request_key(url: &str, recipe: &str) -> RequestKey {
    let sent_url = Url::parse(url).map_or_else(
        |_| url.to_owned(),
        |mut url| {
            url.set_fragment(None);
            url.into()
        },
    );
    let mut hasher = blake3::Hasher::new();
    let mut add = |text: &str| {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    };
    add(&sent_url);
    match serde_json::from_str::<Sent>(recipe) {
        Ok(Sent { headers }) => {
            let headers: BTreeMap<String, String> =
                headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
            for (name, value) in &headers {
                add(name);
                add(value);
            }
        }
        Err(_) => add(recipe),
    }
    let mut key = [0; 16];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_its_url_and_its_headers_and_nothing_else() {
        let key = request_key("https://a.example/p?q=1", "{}");
        for (url, recipe) in [
            ("HTTPS://A.example:443/p?q=1#part", "{}"),
            ("https://a.example/p?q=1", r#"{"recipe": {"html_selector": {"css": "b"}}, "headers": {}}"#),
            ("https://a.example/p?q=1", r#"{"shortest_gap": 5}"#),
        ] {
            assert_eq!(request_key(url, recipe), key, "{url} {recipe}");
        }
        let with_header = request_key("https://a.example/p?q=1", r#"{"headers": {"Accept": "x"}}"#);
        assert_eq!(request_key("https://a.example/p?q=1", r#"{"headers": {"accept": "x"}}"#), with_header);
        let others = [
            with_header,
            request_key("https://a.example/p?q=2", "{}"),
            request_key("http://a.example/p?q=1", "{}"),
            request_key("https://a.example/p?q=1", r#"{"headers": {"Accept": "y"}}"#),
            request_key("https://a.example/p?q=1", r#"{"headers": 7}"#),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(*other, key);
            assert!(!others[..index].contains(other));
        }
    }
}
