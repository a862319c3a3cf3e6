//! Two versions of a source as people would compare them: what its recipe reads of each, as text, side by side.

use dunlin_engine::{Settings, recipe};
use dunlin_extract::diff::{side_by_side, unified, words};
use dunlin_extract::recipe::{NoiseRules, Recipe};
use dunlin_extract::{Extractor, Input, Item, Work};
use dunlin_store::{Error as StoreError, NewSource, Store, Version, VersionId, VersionQuery};

use crate::failure::Failure;
use crate::responses::version::DifferenceResponse;
use dunlin_engine::clock::rfc3339;

/// How a difference is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Words,
    WordsAndRows,
}

/// A version and the one it is compared with, as text.
pub(crate) struct Compared {
    new: Readable,
    old: Option<Readable>,
}

struct Readable {
    version: Version,
    text: String,
}

impl Compared {
    /// Reads a version and another of the same source; the one before it when none is named.
    pub(crate) fn read(
        store: &dyn Store,
        settings: &Settings,
        id: VersionId,
        against: Option<VersionId>,
    ) -> Result<Self, Failure> {
        let version = store.version(id)?.ok_or(StoreError::NoSuchVersion(id))?;
        let old = match against {
            Some(id) => Some(store.version(id)?.ok_or(StoreError::NoSuchVersion(id))?),
            None => {
                store.versions(&VersionQuery { source: version.source, before: Some(id), limit: 1 })?.pop()
            }
        };
        if let Some(old) = old.as_ref().filter(|old| old.source != version.source) {
            let message = format!("version {} is of source {}, not {}", old.id, old.source, version.source);
            return Err(Failure::bad_value(message, "compare versions of one source"));
        }
        let source = store.source(version.source)?.ok_or(StoreError::NoSuchSource(version.source))?;
        let extractor = extractor(&source.spec, settings)?;
        let readable = |version: Version| -> Result<Readable, Failure> {
            let content = store.content(version.id)?;
            let input = Input {
                body: &content,
                content_type: Some(&*version.media_type).filter(|media_type| !media_type.is_empty()),
                url: Some(&source.spec.url),
                last_charset: None,
            };
            let mut text = String::new();
            extractor.extract(&input).items.iter().for_each(|item| append(&mut text, item));
            Ok(Readable { version, text })
        };
        Ok(Self { old: old.map(readable).transpose()?, new: readable(version)? })
    }

    /// As JSON, word by word; on request also side by side.
    pub(crate) fn to_response(&self, form: Form) -> DifferenceResponse {
        let rows = || side_by_side(self.old_text(), &self.new.text, &Work::default());
        DifferenceResponse {
            rows: (form == Form::WordsAndRows).then(|| rows().into_iter().map(Into::into).collect()),
            version: self.new.version.id.0,
            against: self.old.as_ref().map(|old| old.version.id.0),
            pieces: words(self.old_text(), &self.new.text, &Work::default())
                .into_iter()
                .map(Into::into)
                .collect(),
        }
    }

    /// As `diff -u` writes it.
    pub(crate) fn unified(&self) -> String {
        let named = |readable: &Readable| {
            format!("version {}\t{}", readable.version.id, rfc3339(readable.version.at))
        };
        let old = self.old.as_ref().map_or_else(|| "/dev/null".to_owned(), named);
        let new = named(&self.new);
        format!("--- {old}\n+++ {new}\n{}", unified(self.old_text(), &self.new.text))
    }

    fn old_text(&self) -> &str {
        self.old.as_ref().map_or("", |old| &old.text)
    }
}

/// The extractor of the source; the default one when its recipe cannot be used any more.
fn extractor(source: &NewSource, settings: &Settings) -> Result<Extractor, Failure> {
    let by_recipe =
        recipe::check(source, settings).and_then(|checked| checked.extractor(settings.extraction));
    by_recipe.or_else(|_| {
        let plain = Extractor::new(&Recipe::Auto, &NoiseRules::default(), settings.extraction);
        plain.map_err(|error| Failure::internal(error.to_string()))
    })
}

/// Appends an item, each of its parts on lines of its own.
fn append(text: &mut String, item: &Item) {
    for part in [&*item.title, item.link.as_deref().unwrap_or(""), &*item.text] {
        if !part.is_empty() {
            text.push_str(part.trim_end_matches('\n'));
            text.push('\n');
        }
    }
}
