//! A few probes in quick succession, and the parts of the page that differed in each of them. Knows no clock: the caller
//! makes sure that the probes are close.

use serde::{Deserialize, Serialize};

use super::difference::Difference;

/// A part that differed at this many probes of a burst in a row flickers. A real change hardly ever happens three times
/// within seconds.
const ENOUGH: u8 = 3;

/// The most probes in a burst.
const MAX_PROBES: u8 = 4;

/// The most parts that differ in a burst; a page with more is another page.
const MAX_SUSPECTS: usize = 32;

/// Lines that are remembered of all of them, so that they are known when they return.
const MAX_LINES: usize = 48;

/// The most bytes of a suspect as it is stored, without its lines, and of a line.
const BYTES_OF_SUSPECT: usize = 17;
const BYTES_OF_LINE: usize = 5;

/// The probes so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Burst {
    n_probes: u8,
    #[serde(deserialize_with = "super::at_most::<_, _, MAX_SUSPECTS>")]
    suspects: Vec<Suspect>,
    /// Lines that had come or gone at one probe and were back at the next.
    #[serde(deserialize_with = "super::at_most::<_, _, MAX_LINES>")]
    returned: Vec<u32>,
}

/// A part that differs from the first probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Suspect {
    place: u32,
    container: u32,
    /// Its content at the last probe.
    content: u32,
    /// For how many probes in a row it differed from the one before.
    streak: u8,
    /// The lines that came or went.
    #[serde(deserialize_with = "super::at_most::<_, _, MAX_LINES>")]
    lines: Vec<u32>,
}

impl Burst {
    /// The burst with one more probe.
    pub(super) fn with_probe(self, since_first: &[Difference<'_>]) -> Self {
        let mut suspects: Vec<Suspect> = Vec::new();
        let mut room = MAX_LINES;
        for difference in since_first.iter().filter(|difference| difference.is_open()).take(MAX_SUSPECTS + 1)
        {
            let content = difference.new_lines.iter().fold(0_u32, |hash, line| hash.rotate_left(5) ^ line);
            let (place, container) = (difference.place, difference.container);
            let before = self.suspects.iter().find(|before| before.place == place);
            let streak =
                before.map_or(
                    1,
                    |before| {
                        if before.content == content { 0 } else { before.streak.saturating_add(1) }
                    },
                );
            if suspects.iter().all(|suspect| suspect.place != place) {
                let lines = difference.old_lines.iter().chain(&difference.new_lines).copied();
                let lines: Vec<u32> = lines.take(room).collect();
                room -= lines.len();
                suspects.push(Suspect { place, container, content, streak, lines });
            }
        }
        if suspects.len() > MAX_SUSPECTS {
            suspects.clear();
        }
        let is_back = |before: &&Suspect| suspects.iter().all(|now| now.place != before.place);
        let returned =
            self.suspects.iter().filter(is_back).flat_map(|suspect| suspect.lines.clone()).collect();
        Self { n_probes: self.n_probes.saturating_add(1), suspects, returned }
    }

    /// Bytes that it takes.
    pub(super) fn n_bytes(&self) -> usize {
        let n_lines =
            self.suspects.iter().map(|suspect| suspect.lines.len()).sum::<usize>() + self.returned.len();
        self.suspects.len() * BYTES_OF_SUSPECT + n_lines * BYTES_OF_LINE
    }

    /// Lines that came or went for a moment.
    pub(super) fn returned(&self) -> impl Iterator<Item = u32> {
        self.returned.iter().copied()
    }

    /// The places that were different every time, and what they are in.
    pub(super) fn convicted(&self) -> impl Iterator<Item = (u32, u32)> {
        let convicted = self.suspects.iter().filter(|suspect| suspect.streak >= ENOUGH);
        convicted.map(|suspect| (suspect.place, suspect.container))
    }

    /// Whether another probe can show more.
    pub(super) fn is_open(&self) -> bool {
        self.n_probes < MAX_PROBES
            && self.convicted().next().is_none()
            && self.suspects.iter().any(|suspect| suspect.streak > 0)
    }
}
