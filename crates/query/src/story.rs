//! Whether two items tell the same story: fingerprints of their texts, made of the words that follow each other (simhash). Texts that
//! share most of their pairs of words have fingerprints that differ in few bits. They are stored, so they are the same on
//! every machine and in every version.

use serde::{Deserialize, Serialize};

use crate::words::words;

/// A story that was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Of the pairs of words of the text, by the majority of their hashes, bit by bit.
    pairs: u128,
    /// Of the title, whatever its case and punctuation; 0 for one that says too little.
    title: u64,
    /// How many words the text has.
    n_words: u16,
}

/// So many words of a text are looked at.
const MOST_WORDS: usize = 2000;
/// A text with fewer words says too little: its bits are mostly chance.
const FEW_WORDS: u16 = 16;
/// A title with fewer words may be that of many stories.
const FEW_WORDS_OF_TITLE: usize = 4;
/// The most bits in which the fingerprints of one story differ, of 128. Those of different ones differ in 64 on average.
const NEAR: u32 = 34;
/// The same if the titles are the same.
const NEAR_WITH_TITLE: u32 = 52;

impl Fingerprint {
    /// Of an item.
    pub fn of(title: &str, text: &str) -> Self {
        let title: Vec<u64> = words(title).map(|word| hash(&word)).collect();
        let text: Vec<u64> = words(text).take(MOST_WORDS).map(|word| hash(&word)).collect();
        Self {
            pairs: simhash(&text),
            title: if title.len() < FEW_WORDS_OF_TITLE {
                0
            } else {
                title.iter().fold(1, |all, word| mixed(all ^ word))
            },
            n_words: u16::try_from(text.len()).unwrap_or(u16::MAX),
        }
    }

    /// Whether two items tell the same story: their texts are nearly the same; or they have the same title of at least four
    /// words, and their texts are alike or too short to say anything.
    pub fn is_same_story(&self, other: &Self) -> bool {
        let distance = (self.pairs ^ other.pairs).count_ones();
        let is_short = self.n_words.min(other.n_words) < FEW_WORDS;
        let has_same_title = self.title != 0 && self.title == other.title;
        if is_short {
            has_same_title
        } else {
            distance <= if has_same_title { NEAR_WITH_TITLE } else { NEAR }
        }
    }

    /// In how many bits the fingerprints of two texts differ.
    pub const fn distance(&self, other: &Self) -> u32 {
        (self.pairs ^ other.pairs).count_ones()
    }
}

/// Each bit as most of the pairs have it.
fn simhash(words: &[u64]) -> u128 {
    let mut votes = [0_i32; 128];
    for pair in words.windows(2) {
        let low = mixed(pair[0].wrapping_mul(3) ^ pair[1]);
        let bits = u128::from(low) | u128::from(mixed(low ^ pair[0])) << 64;
        for (bit, votes) in votes.iter_mut().enumerate() {
            *votes += if bits >> bit & 1 == 1 { 1 } else { -1 };
        }
    }
    votes.iter().enumerate().fold(0, |all, (bit, votes)| all | u128::from(*votes > 0) << bit)
}

/// FNV-1a of 64 bits.
fn hash(word: &str) -> u64 {
    word.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Spreads every bit over all others (the finish of `SplitMix64`).
const fn mixed(mut number: u64) -> u64 {
    number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}
