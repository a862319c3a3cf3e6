//! A source that is tried before it is watched: what to ask for, and what one answer to it would be read as. Fetches nothing
//! itself, compares nothing and stores nothing; the reading is the one of a probe.

use std::time::Duration;

use dunlin_extract::{Diagnostic, Document, Extractor, FirstLook};
use dunlin_net::{Fetched, Request};
use dunlin_store::NewSource;

use crate::capture::{
    document_of, input_of, is_noteworthy, missing, moved, reading_took_too_long, status_in_words, unexpected,
};
use crate::recipe::{self, Target};
use crate::{Error, Settings};

/// A source that could be watched.
#[derive(Debug, Clone)]
pub struct Trial {
    target: Target,
    extractor: Extractor,
    reading_time: Duration,
}

/// What was read of an answer.
#[derive(Debug, Clone)]
pub struct Tried {
    /// What would be watched.
    pub document: Document,
    /// What a person should know before watching it.
    pub first_look: FirstLook,
    /// What the owner of the source would be told of it; may be nothing.
    pub notes: Vec<String>,
    /// Why what the recipe asks for is not there, if it is not.
    pub missing: Option<Diagnostic>,
}

impl Trial {
    /// Checks a source as the service would before watching it.
    pub fn new(source: &NewSource, settings: &Settings) -> Result<Self, Error> {
        let checked = recipe::check(source, settings)?;
        let extractor = checked.extractor(settings.extraction)?;
        Ok(Self { target: checked.target, extractor, reading_time: settings.reading_time })
    }

    /// What to ask the server for.
    pub fn request(&self) -> Result<Request, Error> {
        self.target.request()
    }

    /// How long the reading of an answer may take.
    pub const fn reading_time(&self) -> Duration {
        self.reading_time
    }

    /// What the owner would be told when it takes longer.
    pub fn took_too_long(&self) -> String {
        reading_took_too_long(&self.target, self.reading_time)
    }

    /// Why an answer has no content, if it has none.
    pub fn failure(fetched: &Fetched) -> Option<String> {
        fetched.fault().map(|_| status_in_words(fetched))
    }

    /// Reads an answer that has content.
    pub fn read(&self, fetched: &Fetched) -> Tried {
        let document = document_of(&self.extractor, fetched, None);
        let first_look = self.extractor.first_look(&input_of(fetched, None), &document);
        let recipe = &self.target.recipe.recipe;
        let missing = missing(&document).or_else(|| unexpected(recipe, &document)).cloned();
        let told = document
            .diagnostics
            .iter()
            .filter(|found| is_noteworthy(found) && Some(*found) != missing.as_ref());
        let notes = moved(fetched).into_iter().chain(told.map(ToString::to_string)).collect();
        Tried { document, first_look, notes, missing }
    }
}
