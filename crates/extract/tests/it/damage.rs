//! Feeds that are damaged once: one byte replaced, missing or too much, or cut off. The damage stays in its item: no
//! other item reads differently, and none is taken for gone without a word.

use std::collections::BTreeMap;

use dunlin_extract::Document;
use dunlin_extract::recipe::Recipe;
use proptest::prelude::*;

use crate::reading::read;

/// Ids are not alike: one byte could give an item the id of another one.
const RSS: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom">
<channel><title>Dämage</title><link>https://d.example/</link><!-- a comment --><description>x</description>
<atom:link rel="self" href="https://d.example/feed"/><lastBuildDate>Mon, 02 Mar 2026 09:30:00 GMT</lastBuildDate>
<item><title>One &amp; only</title><link>https://d.example/one?a=1&amp;b=2</link><guid isPermaLink="false">id-one</guid><pubDate>Mon, 02 Mar 2026 09:30:00 GMT</pubDate><description>&lt;p&gt;First &amp;amp; &lt;b&gt;bold&lt;/b&gt;&lt;/p&gt;</description></item>
<item><title><![CDATA[Zwei <b>Wörter</b>]]></title><link>https://d.example/second</link><guid>https://d.example/second</guid><description><![CDATA[<p>Second<br>line &nbsp; end</p>]]></description><dc:date>2026-03-02</dc:date></item>
<item><title>Three</title><link>https://d.example/thirdly</link><category>c</category><guid isPermaLink="false">id-thirdly</guid><content:encoded><![CDATA[<div class="a"><img src="x.png" alt=""> Third</div>]]></content:encoded><description>short</description></item>
<!-- <item> commented out </item> -->
<item><guid isPermaLink="false">id-fourthly</guid><title>Four</title><link>https://d.example/fourthly</link><description>naked <i>markup</i></description><author>a@d.example</author></item>
</channel></rss>"#;

const ATOM: &str = r#"<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" xml:lang="en">
<title type="text">Atoms</title><link rel="self" href="https://d.example/atom"/><id>urn:feed</id><updated>2026-03-02T09:30:00Z</updated>
<entry><id>urn:one</id><title type="html">One &amp;amp; &lt;b&gt;bold&lt;/b&gt;</title><link href="https://d.example/one"/><published>2026-03-01T00:00:00Z</published><updated>2026-03-02T00:00:00Z</updated><author><name>me</name></author><content type="html">&lt;p&gt;First&lt;/p&gt;</content></entry>
<entry xml:base="https://e.example/"><id>urn:second</id><title>Two</title><link rel="alternate" href="two"/><updated>2026-03-02T00:00:00Z</updated><content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Second <b>one</b><br/>&amp; more</p></div></content></entry>
<entry><id>urn:thirdly</id><title>Three</title><link href="https://d.example/thirdly"/><updated>2026-03-02T00:00:00Z</updated><media:group><media:title>m</media:title><media:description>Third</media:description></media:group></entry>
<entry><id>urn:fourthly</id><title>Four</title><link href="https://d.example/fourthly"/><updated>2026-03-02T00:00:00Z</updated><summary type="html"><![CDATA[<p>Fourth</p>]]></summary></entry>
</feed>"#;

const RDF: &str = r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<channel rdf:about="https://d.example/"><title>Rdf</title><link>https://d.example/</link><items><rdf:Seq><rdf:li rdf:resource="https://d.example/one"/></rdf:Seq></items></channel>
<item rdf:about="https://d.example/one"><title>One</title><link>https://d.example/one</link><description>First &#8211; text</description><dc:date>2026-03-02T03:04:05+01:00</dc:date></item>
<item rdf:about="https://d.example/second"><title>Two</title><link>https://d.example/second</link><dc:description>Second</dc:description></item>
<item rdf:about="https://d.example/thirdly"><title>Three</title><link>https://d.example/thirdly</link><description>Third</description></item>
</rdf:RDF>"#;

const JSON: &str = r#"{"version": "https://jsonfeed.org/version/1.1", "title": "Json", "authors": [{"name": "me"}], "items": [
{"id": "one", "url": "https://d.example/one", "title": "One", "content_html": "<p>First \"quoted\"</p>", "date_published": "2026-03-02T09:30:00Z"},
{"id": 2, "url": "https://d.example/second", "content_text": "Second {not} [json], text", "attachments": [{"url": "https://d.example/second.mp3", "mime_type": "audio/mpeg"}]},
{"id": "thirdly", "title": "Three", "external_url": "https://d.example/thirdly", "content_text": "Third", "author": {"name": "x"}}]}"#;

type Parts = (String, String, Option<String>, Option<i64>);

/// Items by id. An item that lost its id is another one.
fn parts(document: &Document) -> BTreeMap<String, Parts> {
    let items = document.items.iter().map(|item| {
        let published = item.published.map(dunlin_core::Time::micros);
        (item.id.to_string(), (item.title.clone(), item.text.clone(), item.link.clone(), published))
    });
    items.collect()
}

/// What is done to a feed.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Replace(u8),
    Insert(u8),
    Remove,
    Cut,
}

fn damaged(feed: &str, at: usize, damage: Damage) -> Vec<u8> {
    let mut bytes = feed.as_bytes().to_vec();
    match damage {
        Damage::Replace(byte) => bytes[at] = byte,
        Damage::Insert(byte) => bytes.insert(at, byte),
        Damage::Remove => drop(bytes.remove(at)),
        Damage::Cut => bytes.truncate(at),
    }
    bytes
}

fn check(feed: &str, at: usize, damage: Damage) {
    let whole = parts(&read(&Recipe::Auto, feed.as_bytes()));
    assert!(whole.len() >= 3, "{whole:?}");
    let document = read(&Recipe::Feed, &damaged(feed, at, damage));
    let found = parts(&document);
    let edited: Vec<&String> = whole
        .iter()
        .filter(|(id, item)| found.get(*id).is_some_and(|found| found != *item))
        .map(|(id, _)| id)
        .collect();
    let n_gone = whole.keys().filter(|id| !found.contains_key(*id)).count();
    let place = String::from_utf8_lossy(&feed.as_bytes()[at.saturating_sub(30)..(at + 30).min(feed.len())]);
    let context =
        format!("{damage:?} at {at} in {place:?}: edited {edited:?}, {n_gone} gone of\n{document:#?}");
    if let Damage::Cut = damage {
        assert!(edited.is_empty() && !document.is_complete, "{context}");
    } else {
        assert!(edited.len() + n_gone <= 1, "{context}");
        assert!(n_gone == 0 || found.len() == whole.len() || !document.is_complete, "{context}");
    }
    if n_gone > 0 && found.len() < whole.len() {
        assert!(!document.diagnostics.is_empty(), "{context}");
    }
}

/// Bytes that mean something to one of the readers, and some that mean nothing anywhere.
fn bytes() -> impl Strategy<Value = u8> {
    prop_oneof![prop::sample::select(&b"<>&\"'/!?[]{}:,;= \n-xX0\0\xff\xc3"[..]), any::<u8>()]
}

fn damages() -> impl Strategy<Value = Damage> {
    prop_oneof![
        4 => bytes().prop_map(Damage::Replace),
        4 => bytes().prop_map(Damage::Insert),
        1 => Just(Damage::Remove),
        1 => Just(Damage::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn damage_stays_in_its_item(
        feed in prop::sample::select(&[RSS, ATOM, RDF, JSON][..]), at in any::<prop::sample::Index>(), damage in damages(),
    ) {
        check(feed, at.index(feed.len()), damage);
    }
}

#[test]
fn an_ampersand_or_a_bracket_anywhere_stays_in_its_item() {
    for feed in [RSS, ATOM, RDF, JSON] {
        for at in 0..feed.len() {
            check(feed, at, Damage::Insert(b'<'));
            check(feed, at, Damage::Insert(b'&'));
            check(feed, at, Damage::Replace(b'X'));
        }
    }
}

#[test]
fn a_feed_with_items_none_of_which_can_be_read_is_not_well() {
    let document = read(&Recipe::Auto, b"<rss version='2.0'><channel><title>T</title><item");
    assert!(document.items.is_empty() && !document.is_complete);
    let said: Vec<String> = document.diagnostics.iter().map(ToString::to_string).collect();
    assert!(said[0].contains("broken"), "{said:?}");
    let document = read(&Recipe::Auto, b"<rss version='2.0'><channel><!-- <item> --></channel></rss>");
    assert!(!document.is_complete && document.diagnostics.len() == 1, "{document:?}");
    let document = read(&Recipe::Auto, b"<rss version='2.0'><channel><title>Items</title></channel></rss>");
    assert!(document.is_complete && document.diagnostics.is_empty(), "an empty feed is a feed without news");
}
