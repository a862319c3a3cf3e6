//! Short cuts to read documents in tests.

use dunlin_extract::document::IdOrigin;
use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Document, Extractor, Input, Item, ItemId, Limits};

pub(crate) fn extractor(recipe: &Recipe) -> Extractor {
    Extractor::new(recipe, &NoiseRules::default(), Limits::default()).unwrap()
}

pub(crate) fn read(recipe: &Recipe, body: &[u8]) -> Document {
    extractor(recipe).extract(&Input { body, content_type: None, url: None, last_charset: None })
}

/// An item with a guid and a link made of it.
pub(crate) fn item(guid: &str, title: &str, text: &str) -> Item {
    Item {
        id: ItemId { origin: IdOrigin::Guid, value: guid.to_owned() },
        title: title.to_owned(),
        link: Some(format!("https://x.example/{guid}")),
        text: text.to_owned(),
        outline: dunlin_extract::outline::Outline::default(),
        author: None,
        published: None,
    }
}

/// A page as one item.
pub(crate) fn page(text: &str) -> Vec<Item> {
    read(&Recipe::Auto, format!("<html><body>{text}</body></html>").as_bytes()).items
}
