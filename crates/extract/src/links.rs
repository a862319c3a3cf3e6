//! Links without what servers make up for one reader: sessions, tracking, codes. Cuts text only; whether two links lead to the
//! same place is for the caller to say.

use std::collections::{BTreeMap, BTreeSet};

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

/// Parameters that say the same in all of these links, which tells none of them from another: a session in letters, a language.
pub(crate) fn common_parameters<'l>(links: impl Iterator<Item = &'l str>) -> BTreeSet<&'l str> {
    // For each name, what it says first, and in how many links it says that.
    let (mut n_links, mut says) = (0_usize, BTreeMap::<&str, (&str, usize)>::new());
    for link in links.filter(|link| link.len() <= LONGEST) {
        n_links += 1;
        let query =
            link.split('#').next().and_then(|link| link.split_once('?')).map_or("", |(_, query)| query);
        let named: BTreeMap<&str, &str> = query.split('&').filter_map(|one| one.split_once('=')).collect();
        for (name, value) in named {
            let (first, n_alike) = says.entry(name).or_insert((value, 0));
            *n_alike += usize::from(*first == value);
        }
    }
    says.into_iter()
        .filter(|(_, (_, n_alike))| n_links > 1 && *n_alike == n_links)
        .map(|(name, _)| name)
        .collect()
}

/// A link without parameters that are made up, by their names, or because their values are codes, or because they are `common` to
/// all links; and without its fragment if that is a code.
pub(crate) fn without_codes(link: &str, common: &BTreeSet<&str>) -> String {
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
    let name_of = |parameter: &str| parameter.split('=').next().unwrap_or_default().to_owned();
    let is_kept = |parameter: &&str| !is_made_up(parameter) && !common.contains(&*name_of(parameter));
    let mut mark = "?";
    for parameter in query.into_iter().flat_map(|query| query.split('&')).filter(is_kept) {
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
            assert_eq!(without_codes(link, &BTreeSet::new()), lasting);
        }
    }

    #[test]
    fn what_all_links_say_tells_none_from_another() {
        let links = ["https://a.example/x?s=abcdefgh&t=1", "https://a.example/x?s=abcdefgh&t=2"];
        let common = common_parameters(links.into_iter());
        assert_eq!(
            links.map(|link| without_codes(link, &common)),
            ["https://a.example/x?t=1", "https://a.example/x?t=2"]
        );
        assert!(common_parameters(links.into_iter().take(1)).is_empty(), "one link may be about anything");
    }
}
