//! The resources that control knows: what is fetched, for which sources. In as few bytes as possible: most have one source.

use std::collections::BTreeMap;
use std::sync::Arc;

use dunlin_core::{ResourceIdx, SourceIdx};
use dunlin_net::politeness::ScopedUrl;
use dunlin_sched::scheduler::HostIdx;
use dunlin_store::{ProbeId, ResourceId};

/// One resource. It exists as long as a source of it is watched.
#[derive(Debug)]
pub(super) struct Resource {
    pub(super) id: ResourceId,
    /// Parsed, because parsing costs as much as the rest of a decision.
    pub(super) address: Arc<ScopedUrl>,
    pub(super) host: HostIdx,
    pub(super) active_probe: Option<ProbeId>,
    first: SourceIdx,
    #[expect(clippy::box_collection, reason = "a vector takes two words more in every resource")]
    others: Option<Box<Vec<SourceIdx>>>,
}

impl Resource {
    /// Its watched sources.
    pub(super) fn sources(&self) -> impl Iterator<Item = SourceIdx> {
        [self.first].into_iter().chain(self.others.iter().flat_map(|others| others.iter().copied()))
    }
}

/// All of them, by index and by number. Indices of resources that have gone are used again.
#[derive(Debug, Default)]
pub(super) struct Resources {
    by_index: Vec<Option<Resource>>,
    by_id: BTreeMap<ResourceId, ResourceIdx>,
    free: Vec<ResourceIdx>,
}

impl Resources {
    pub(super) fn get(&self, index: ResourceIdx) -> Option<&Resource> {
        self.by_index.get(index.index())?.as_ref()
    }

    pub(super) fn get_mut(&mut self, index: ResourceIdx) -> Option<&mut Resource> {
        self.by_index.get_mut(index.index())?.as_mut()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ResourceIdx, &Resource)> {
        let numbered = self.by_index.iter().zip(0..);
        numbered.filter_map(|(resource, index)| Some((ResourceIdx(index), resource.as_ref()?)))
    }

    /// Adds a source to a resource, which begins with its first one.
    pub(super) fn add(
        &mut self,
        id: ResourceId,
        source: SourceIdx,
        address: impl FnOnce() -> (Arc<ScopedUrl>, HostIdx),
    ) -> ResourceIdx {
        if let Some(index) = self.by_id.get(&id).copied() {
            if let Some(resource) = self.get_mut(index)
                && !resource.sources().any(|own| own == source)
            {
                resource.others.get_or_insert_default().push(source);
            }
            return index;
        }
        let (address, host) = address();
        let resource = Resource { id, address, host, active_probe: None, first: source, others: None };
        let index = self.free.pop().unwrap_or(ResourceIdx(self.by_index.len() as u32));
        self.by_id.insert(id, index);
        if index.index() == self.by_index.len() {
            self.by_index.push(None);
        }
        self.by_index[index.index()] = Some(resource);
        index
    }

    /// Removes a source from a resource, which goes with its last one.
    pub(super) fn remove(&mut self, index: ResourceIdx, source: SourceIdx) {
        let Some(resource) = self.get_mut(index) else { return };
        if resource.first != source {
            resource.others.iter_mut().for_each(|others| others.retain(|own| *own != source));
        } else if let Some(next) = resource.others.as_mut().and_then(|others| others.pop()) {
            resource.first = next;
        } else {
            let id = resource.id;
            self.by_id.remove(&id);
            self.by_index[index.index()] = None;
            self.free.push(index);
            return;
        }
        resource.others.take_if(|others| others.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    fn add(resources: &mut Resources, id: i64, source: u32) -> ResourceIdx {
        let url = Url::parse("http://a.test/").unwrap();
        let address = || (Arc::new(ScopedUrl::from(url)), HostIdx(0));
        resources.add(ResourceId(id), SourceIdx(source), address)
    }

    fn sources(resources: &Resources, index: ResourceIdx) -> Vec<u32> {
        let mut sources: Vec<u32> = resources.get(index).unwrap().sources().map(|source| source.0).collect();
        sources.sort_unstable();
        sources
    }

    #[test]
    fn a_resource_has_each_source_once_and_goes_with_the_last() {
        let mut resources = Resources::default();
        let index = add(&mut resources, 7, 1);
        for source in [1, 2, 3, 2] {
            assert_eq!(add(&mut resources, 7, source), index);
        }
        assert_eq!(sources(&resources, index), [1, 2, 3]);
        resources.remove(index, SourceIdx(2));
        assert_eq!(sources(&resources, index), [1, 3]);
        resources.remove(index, SourceIdx(1));
        assert_eq!(sources(&resources, index), [3], "the first one goes as any other");
        resources.remove(index, SourceIdx(3));
        assert!(resources.get(index).is_none());
        assert_eq!(add(&mut resources, 8, 4), index, "its place is used again");
        assert_eq!(add(&mut resources, 7, 5).index(), 1, "and it is another one when it comes back");
        assert_eq!(resources.iter().map(|(_, own)| own.id.0).collect::<Vec<_>>(), [8, 7]);
    }
}
