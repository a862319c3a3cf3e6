//! Feeds: what stands in one item, however odd, changes no other one; and a date is the same in RSS as in Atom.

use dunlin_extract::Item;

use crate::extract::read;

/// The recipe for feeds, and no content type.
const FEED: usize = 1;

/// Reads any bytes as a feed, as a date in an item, and as the text of an item, by the first of them.
pub fn feed(bytes: &[u8]) {
    let (choice, body) = crate::choice(bytes);
    let text = escaped(&String::from_utf8_lossy(body));
    match choice % 3 {
        0 => drop(read(FEED, body)),
        1 => {
            let rss = format!(
                "<rss version='2.0'><channel><item><guid>1</guid><pubDate>{text}</pubDate></item></channel></rss>"
            );
            let atom = format!(
                "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id><updated>{text}</updated></entry></feed>"
            );
            let date =
                |feed: String| read(FEED, feed.as_bytes()).items.first().and_then(|item| item.published);
            assert_eq!(date(rss), date(atom));
        }
        _ => assert_eq!(neighbours(&text), neighbours("x")),
    }
}

/// The items beside one that holds `text`.
fn neighbours(text: &str) -> Vec<Item> {
    let item = |id: &str, text: &str| {
        format!(
            "<item><guid isPermaLink='false'>{id}</guid><title>{text}</title><description>{text}</description></item>"
        )
    };
    let (before, between, after) = (item("before", "first"), item("between", text), item("after", "last"));
    let feed = format!("<rss version='2.0'><channel>{before}{between}{after}</channel></rss>");
    let items = read(FEED, feed.as_bytes()).items;
    items.into_iter().filter(|item| item.id.value != "between").collect()
}

fn escaped(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect::<String>().replace('&', "&amp;").replace('<', "&lt;")
}
