//! Whether two items tell the same story: fingerprints of their texts, made of the words that follow each other (simhash). Texts that
//! share most of their pairs of words have fingerprints that differ in few bits. They are stored, so they are the same on
//! every machine and in every version.

use serde::{Deserialize, Serialize};

use crate::words::words;

/// An item, as far as it has to be known again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Of the pairs of words of the text, by the majority of their hashes, bit by bit.
    pairs: u128,
    /// Of the words of the title.
    title: u64,
    /// How many words the title and the text have.
    n_title_words: u16,
    n_words: u16,
}

/// So many words of a text are looked at.
const MOST_WORDS: usize = 2000;
/// A text with fewer words says too little: its bits are mostly chance.
const FEW_WORDS: u16 = 16;
/// A title with fewer words may be that of many stories.
const FEW_TITLE_WORDS: u16 = 4;
/// The most bits in which the texts of one story differ, of 128. Those of texts that have nothing in common differ in 64 on
/// average.
const NEAR: u32 = 32;
/// The same if their titles are the same: one of them may be shortened.
const NEAR_WITH_TITLE: u32 = 50;
/// A number counts for so many pairs of words: what is told in other numbers, as the weather of another day, is another story.
const NUMBER: i32 = 4;

impl Fingerprint {
    /// Of an item.
    pub fn of(title: &str, text: &str) -> Self {
        let title: Vec<String> = words(title).collect();
        let text: Vec<String> = words(text).take(MOST_WORDS).collect();
        let count = |words: &[String]| u16::try_from(words.len()).unwrap_or(u16::MAX);
        Self {
            pairs: simhash(&text),
            title: title.iter().fold(1, |all, word| mixed(all ^ hash(word))),
            n_title_words: count(&title),
            n_words: count(&text),
        }
    }

    /// Whether items of different sources tell the same story: their texts are nearly the same; or they have the same title, of at
    /// least four words, and their texts are alike or too short to say anything.
    pub const fn is_same_story(&self, other: &Self) -> bool {
        let has_telling_title = self.has_same_title(other) && self.n_title_words >= FEW_TITLE_WORDS;
        if self.is_short() || other.is_short() {
            return has_telling_title;
        }
        self.distance(other) <= if has_telling_title { NEAR_WITH_TITLE } else { NEAR }
    }

    /// Whether a source tells the same again. One that writes about the same every day, in nearly the same words, does so under
    /// other titles.
    pub const fn is_repeated_by(&self, other: &Self) -> bool {
        let is_near = self.n_words == 0 && other.n_words == 0 || self.distance(other) <= NEAR;
        self.has_same_title(other) && is_near
    }

    /// In how many of 128 bits two texts differ.
    pub const fn distance(&self, other: &Self) -> u32 {
        (self.pairs ^ other.pairs).count_ones()
    }

    const fn has_same_title(&self, other: &Self) -> bool {
        self.title == other.title && self.n_title_words == other.n_title_words
    }

    const fn is_short(&self) -> bool {
        self.n_words < FEW_WORDS
    }
}

/// Each bit as most of the pairs have it.
fn simhash(words: &[String]) -> u128 {
    let mut votes = [0_i32; 128];
    let mut vote = |hash: u64, weight: i32| {
        let bits = u128::from(mixed(hash)) | u128::from(mixed(!hash)) << 64;
        for (bit, votes) in votes.iter_mut().enumerate() {
            *votes += if bits >> bit & 1 == 1 { weight } else { -weight };
        }
    };
    let hashes: Vec<u64> = words.iter().map(|word| hash(word)).collect();
    for pair in hashes.windows(2) {
        vote(mixed(pair[0]).wrapping_add(pair[1]), 1);
    }
    for (word, hash) in words.iter().zip(&hashes) {
        if word.contains(|letter: char| letter.is_numeric()) {
            vote(*hash, NUMBER);
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

#[cfg(test)]
mod tests {
    use super::*;

    const STORY: &str = "The hurricane has reached the coast near Tampa this morning. Roofs were torn off in three towns, and \
        210000 homes are without power. The governor asked people to stay where they are until the water is gone.";

    fn same(one: (&str, &str), other: (&str, &str)) -> bool {
        let (one, other) = (Fingerprint::of(one.0, one.1), Fingerprint::of(other.0, other.1));
        assert_eq!(one.is_same_story(&other), other.is_same_story(&one));
        one.is_same_story(&other)
    }

    #[test]
    fn the_same_text_under_another_title_is_the_same_story() {
        let credited = format!("TAMPA (Agency) - {}", STORY.replace("this morning", "on Monday"));
        assert!(same(("Landfall", STORY), ("Storm hits", &credited)));
        assert!(!same(
            ("Landfall", STORY),
            (
                "Landfall",
                "Gold has risen again, as it did on each day of this week, and nobody knows why that is so."
            )
        ));
    }

    #[test]
    fn short_texts_are_told_apart_by_their_titles() {
        let title = "Hurricane reaches the coast of Florida";
        assert!(same((title, ""), (title, "Read more")));
        assert!(same((title, ""), ("HURRICANE reaches the coast: of Florida", STORY)));
        assert!(!same((title, "Read more"), ("Hurricane leaves the coast of Florida", "Read more")));
        assert!(!same(("Weather", "Rain"), ("Weather", "Rain")), "a title of one word may be that of any");
    }

    #[test]
    fn the_same_words_with_other_numbers_are_another_story() {
        let report = |day: u32| {
            let (low, high, wind, rain) = (day + 3, day + 17, 2 * day + 5, 40 + 7 * day);
            format!(
                "The weather of today: {low} to {high} degrees with wind of {wind} miles from the west, and a chance of rain of \
                 {rain} percent in the afternoon."
            )
        };
        assert!(!same(("Weather of Monday at noon", &report(1)), ("Weather of Tuesday at noon", &report(2))));
    }

    #[test]
    fn a_source_repeats_itself_under_the_same_title_only() {
        let of = |title: &str, text: &str| Fingerprint::of(title, text);
        assert!(of("Notes", STORY).is_repeated_by(&of("Notes", STORY)));
        assert!(!of("Notes 1", STORY).is_repeated_by(&of("Notes 2", STORY)));
        assert!(of("Rain", "").is_repeated_by(&of("rain!", "")));
        assert!(!of("Rain", "").is_repeated_by(&of("Rain", STORY)));
    }

    /// Stored fingerprints of earlier releases have to be understood.
    #[test]
    fn fingerprints_are_what_they_were() {
        let of = Fingerprint::of("A title", STORY);
        assert_eq!((of.title, of.n_title_words, of.n_words), (15_581_444_344_920_964_279, 2, 37));
        assert_eq!(of.pairs, 107_742_981_720_799_588_096_666_339_971_640_316_212);
    }
}
