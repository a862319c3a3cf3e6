//! File descriptors: as many as the system gives, and no more connections and fetches than these are enough for. Without
//! it, a service under a small limit would accept nothing any more and not say why.

use crate::config::Config;

/// What the service has open besides connections: the database and its readers, the log, timers, name lookups.
const BASE: usize = 40;

/// Of what is left, how many tenths are for clients of the API.
const FOR_CLIENTS: usize = 4;

/// Connections of the API that are kept for health, besides its others; fewer where there are few.
const RESERVE: usize = 8;

/// How many connections fit under the limit on open files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fit {
    /// Fetches at one time; as many connections again may be kept idle.
    pub(crate) in_flight: usize,
    /// Connections to the API at one time.
    pub(crate) connections: usize,
}

/// Raises the limit as far as this user may, and returns it; `None` where there is none.
#[cfg(unix)]
pub(crate) fn raised() -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
    // Where it cannot be raised, what is there counts.
    let current = if setrlimit(Resource::Nofile, wanted).is_ok() { wanted.current } else { limit.current };
    current.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
pub(crate) const fn raised() -> Option<usize> {
    None
}

/// How many connections are kept for health beside so many others.
pub(crate) fn reserve(connections: usize) -> usize {
    RESERVE.min(connections / 2).max(1)
}

/// What fits of what is wanted.
pub(crate) fn fit(limit: Option<usize>, wanted: Fit) -> Fit {
    let Some(limit) = limit else { return wanted };
    let left = limit.saturating_sub(BASE);
    let needed = 2 * wanted.in_flight + wanted.connections + reserve(wanted.connections);
    if needed <= left {
        return wanted;
    }
    let for_clients = left * FOR_CLIENTS / 10;
    let connections = wanted.connections.min((for_clients - RESERVE.min(for_clients / 3)).max(1));
    let for_fetches = left.saturating_sub(connections + reserve(connections));
    let in_flight = wanted.in_flight.min((for_fetches / 2).max(1));
    Fit { in_flight, connections }
}

/// Lowers what does not fit, and returns the warning about it.
pub(crate) fn make_room(config: &mut Config, limit: Option<usize>) -> Option<String> {
    let wanted = Fit { in_flight: config.in_flight, connections: config.connections };
    let fitting = fit(limit, wanted);
    if fitting == wanted {
        return None;
    }
    let Fit { in_flight, connections } = fitting;
    (config.in_flight, config.connections) = (in_flight, connections);
    Some(format!(
        "only {} files may be open at one time, too few for {} fetches and {} connections to the API: there will be at most \
         {in_flight} and {connections} (raise the limit, as by `ulimit -n 4096` or LimitNOFILE=)",
        limit.unwrap_or_default(),
        wanted.in_flight,
        wanted.connections,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Fit = Fit { in_flight: 256, connections: 1_024 };

    #[test]
    fn nothing_is_lowered_that_fits() {
        assert_eq!(fit(None, WANTED), WANTED);
        assert_eq!(fit(Some(BASE + 512 + 1_024 + RESERVE), WANTED), WANTED);
        assert_ne!(fit(Some(BASE + 512 + 1_024 + RESERVE - 1), WANTED), WANTED);
    }

    #[test]
    fn whatever_the_limit_all_that_is_open_stays_below_it_and_something_can_be_done() {
        for limit in 0..3_000 {
            let Fit { in_flight, connections } = fit(Some(limit), WANTED);
            assert!(in_flight >= 1 && connections >= 1, "{limit}");
            assert!(in_flight <= WANTED.in_flight && connections <= WANTED.connections, "{limit}");
            if limit >= BASE + RESERVE + 16 {
                assert!(BASE + 2 * in_flight + connections + reserve(connections) <= limit, "{limit}");
                assert!(connections >= 6, "some that follow the stream leave room for others under {limit}");
            }
        }
        assert_eq!(fit(Some(1_024), WANTED), Fit { in_flight: 256, connections: 385 });
    }

    #[test]
    fn lowered_limits_are_reported() {
        let mut config = Config::default();
        assert_eq!(make_room(&mut config, None), None);
        let notice = make_room(&mut config, Some(100)).unwrap();
        assert!(notice.contains("only 100 files") && notice.contains("ulimit"), "{notice}");
        assert!(config.in_flight < 256 && config.connections < 1_024);
    }
}
