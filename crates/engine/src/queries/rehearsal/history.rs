//! The stored versions of a source, read and compared one after the other as probes would have been. Not what a query makes of them.

use std::collections::BTreeMap;

use dunlin_core::Time;
use dunlin_extract::{Item, ItemId};
use dunlin_store::{
    NewChange, NewSource, QuerySource, Source, SourceId, SourceQuery, Store, Version, VersionId, VersionQuery,
};

use crate::detection::{Content, Detection};
use crate::queries::parts::SeenItem;
use crate::{Error, Settings};

/// The most versions of one source that are read.
const MOST_VERSIONS: usize = 1_000;
/// Versions read at a time.
const PAGE: u32 = 200;

/// The stored versions of what a part reads, and how far they have been read.
pub(super) struct History {
    spec: NewSource,
    settings: Settings,
    pub(super) source: Option<SourceId>,
    pub(super) versions: Vec<Version>,
    n_read: usize,
    detection: Option<Detection>,
    first_seen: BTreeMap<ItemId, Time>,
    /// When what the part reads changed: a page may have changed elsewhere. As far as this is known.
    changes: Vec<Time>,
    /// Whether there are more versions than are read.
    pub(super) is_cut: bool,
}

impl History {
    /// What is stored of what a part of a query reads.
    pub(super) fn of(part: QuerySource, store: &dyn Store, settings: &Settings) -> Result<Self, Error> {
        let (spec, sources) = match part {
            QuerySource::Own(spec) => {
                let by_url = SourceQuery { url: Some(spec.url.clone()), ..SourceQuery::first(PAGE) };
                (*spec, store.sources(&by_url)?)
            }
            QuerySource::Watched(id) => {
                let source = store.source(id)?.ok_or(Error::NoSuchSource(id))?;
                (source.spec.clone(), vec![source])
            }
        };
        let mut history = Self::empty(spec, settings);
        for source in sources {
            let (versions, is_cut) = versions_of(&source, store, MOST_VERSIONS)?;
            if history.source.is_none() || versions.len() > history.versions.len() {
                (history.source, history.versions, history.is_cut) = (Some(source.id), versions, is_cut);
            }
        }
        Ok(history)
    }

    /// The newest versions of a source that is watched, at most so many.
    pub(super) fn of_source(
        source: &Source,
        store: &dyn Store,
        settings: &Settings,
        most: usize,
    ) -> Result<Self, Error> {
        let (versions, is_cut) = versions_of(source, store, most)?;
        let source_id = Some(source.id);
        Ok(Self { source: source_id, versions, is_cut, ..Self::empty(source.spec.clone(), settings) })
    }

    fn empty(spec: NewSource, settings: &Settings) -> Self {
        Self {
            spec,
            settings: settings.clone(),
            source: None,
            versions: Vec::new(),
            n_read: 0,
            detection: None,
            first_seen: BTreeMap::new(),
            changes: Vec::new(),
            is_cut: false,
        }
    }

    pub(super) fn first(&self) -> Option<Time> {
        self.versions.first().map(|version| version.at)
    }

    /// Finds out when it changed, for [`Self::next_change`].
    pub(super) fn find_changes(&mut self, store: &dyn Store) -> Result<(), Error> {
        let mut detection = Detection::new(&self.spec, self.settings.clone())?;
        for version in &self.versions {
            if !see(&mut detection, version, store)?.is_empty() {
                self.changes.push(version.at);
            }
        }
        Ok(())
    }

    /// When it changes next, after a time, as far as that was found out.
    pub(super) fn next_change(&self, after: Time) -> Option<Time> {
        self.changes.get(self.changes.partition_point(|at| *at <= after)).copied()
    }

    /// Reads the next version; its number and time, and what changed.
    pub(super) fn read_next(
        &mut self,
        store: &dyn Store,
    ) -> Result<Option<(VersionId, Time, Vec<NewChange>)>, Error> {
        let Some(version) = self.versions.get(self.n_read) else { return Ok(None) };
        self.n_read += 1;
        let detection = match &mut self.detection {
            Some(detection) => detection,
            none => none.insert(Detection::new(&self.spec, self.settings.clone())?),
        };
        let changes = see(detection, version, store)?;
        for item in detection.present() {
            self.first_seen.entry(item.id.clone()).or_insert(version.at);
        }
        Ok(Some((version.id, version.at, changes)))
    }

    /// What was there in the version that was read last.
    pub(super) fn present(&self) -> &[Item] {
        self.detection.as_ref().map_or(&[][..], Detection::present)
    }

    /// What was on it at a time, with the version that says so. Times come in order.
    pub(super) fn at(
        &mut self,
        at: Time,
        store: &dyn Store,
    ) -> Result<(Option<VersionId>, Vec<SeenItem>), Error> {
        let n_then = self.versions.partition_point(|version| version.at <= at);
        while self.n_read < n_then {
            self.read_next(store)?;
        }
        let version =
            self.n_read.checked_sub(1).and_then(|last| self.versions.get(last)).map(|version| version.id);
        let seen = |item: &Item| SeenItem {
            item: item.clone(),
            first_seen: self.first_seen.get(&item.id).copied().unwrap_or(at),
        };
        Ok((version, self.present().iter().map(seen).collect()))
    }
}

fn see(detection: &mut Detection, version: &Version, store: &dyn Store) -> Result<Vec<NewChange>, Error> {
    let body = store.content(version.id)?;
    let content = Content { at: version.at, body: &body, media_type: &version.media_type };
    Ok(detection.see(&content)?.changes)
}

/// The newest versions of a source, the oldest of them first, and whether there are more.
fn versions_of(source: &Source, store: &dyn Store, most: usize) -> Result<(Vec<Version>, bool), Error> {
    let mut versions: Vec<Version> = Vec::new();
    while versions.len() < most {
        let before = versions.last().map(|version| version.id);
        let page = store.versions(&VersionQuery { source: source.id, before, limit: PAGE })?;
        if page.is_empty() {
            break;
        }
        versions.extend(page);
    }
    let is_cut = versions.len() >= most;
    versions.truncate(most);
    versions.reverse();
    Ok((versions, is_cut))
}
