//! Links without what servers make up for one reader: sessions, tracking, codes. Cuts text only; whether two links lead to the
//! same place is for the caller to say.

use crate::tokens::{Kind, tokens};

/// Names of parameters that say who follows a link, and not where it leads; those of tracking begin so.
const TRACKING: [&str; 6] = ["utm_", "mc_", "pk_", "mtm_", "hsa_", "at_"];
#[rustfmt::skip]
const MADE_UP: [&str; 32] = [
    "sid", "s_id", "session", "sessionid", "session_id", "phpsessid", "jsessionid", "aspsessionid", "zenid", "oscsid", "token", "nonce",
    "csrf", "hash", "sig", "signature", "expires", "fbclid", "gclid", "dclid", "msclkid", "yclid", "igshid", "_ga", "_gl", "cb", "cachebuster",
    "nocache", "rand", "rnd", "ts", "timestamp",
];

/// A longer link is left as it is.
const LONGEST: usize = 4_000;

/// A link without parameters that are made up, by their names or because their values are codes, and without its fragment if
/// that is one.
pub(crate) fn without_codes(link: &str) -> String {
    if link.len() > LONGEST {
        return link.to_owned();
    }
    let (link, fragment) = link.split_once('#').map_or((link, None), |(link, rest)| (link, Some(rest)));
    let (path, query) = link.split_once('?').map_or((link, None), |(path, rest)| (path, Some(rest)));
    // A session may be in the path: `/news;jsessionid=1A2B`.
    let (path, inside) = path.split_once(';').map_or((path, None), |(path, rest)| (path, Some(rest)));
    let mut lasting = path.to_owned();
    if let Some(inside) = inside.filter(|inside| !is_made_up(inside)) {
        lasting.extend([";", inside]);
    }
    let mut mark = "?";
    for parameter in query.into_iter().flat_map(|query| query.split('&')).filter(|one| !is_made_up(one)) {
        lasting.extend([mark, parameter]);
        mark = "&";
    }
    if let Some(fragment) = fragment.filter(|fragment| !is_made_up(fragment) && !is_code(fragment)) {
        lasting.extend(["#", fragment]);
    }
    lasting
}

/// Whether `name=value` is made up.
fn is_made_up(parameter: &str) -> bool {
    let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
    let name = name.to_ascii_lowercase();
    TRACKING.iter().any(|beginning| name.starts_with(beginning))
        || MADE_UP.contains(&name.as_str())
        || is_code(value)
}

/// Whether a value is an identifier that no person wrote.
fn is_code(value: &str) -> bool {
    let tokens = tokens(value);
    matches!(&tokens[..], [only] if only.kind == Kind::Code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_up_for_a_reader_is_left_out_and_nothing_else() {
        for (link, lasting) in [
            ("https://a.example/news?id=12&utm_source=rss&UTM_Medium=feed", "https://a.example/news?id=12"),
            ("https://a.example/news?sid=4711", "https://a.example/news"),
            ("https://a.example/n;jsessionid=1A2B3C?id=12", "https://a.example/n?id=12"),
            ("https://a.example/n?v=9f86d081884c7d659a2feaa0c55ad015#top", "https://a.example/n#top"),
            ("https://a.example/n?id=12&page=3#comments", "https://a.example/n?id=12&page=3#comments"),
            ("https://a.example/2026/11/a-story?lang=en", "https://a.example/2026/11/a-story?lang=en"),
        ] {
            assert_eq!(without_codes(link), lasting);
        }
    }
}
