//! Headlines.

use rand::RngExt;

use super::words::{capitalised, pick};
use super::{Content, Edition};

const WHO: &[&str] = &[
    "harbour council",
    "ferry company",
    "city orchestra",
    "fishing fleet",
    "university",
    "tram operator",
    "weather office",
    "botanical garden",
    "rowing club",
    "bakers' guild",
    "coast guard",
    "town library",
];
const DOES: &[&str] = &[
    "opens",
    "delays",
    "approves",
    "reviews",
    "extends",
    "cancels",
    "celebrates",
    "repairs",
    "doubles",
    "sells",
];
const WHAT: &[&str] = &[
    "the new pier",
    "its winter timetable",
    "a bridge across the sound",
    "the old lighthouse",
    "free concerts",
    "its oil terminal",
    "the market hall",
    "a night service",
    "the flood barrier",
    "its oldest ship",
];
const WHY: &[&str] = &[
    "after a long debate",
    "as fuel prices rise",
    "ahead of the regatta",
    "following heavy rain",
    "with money from the lottery",
    "despite the strike",
    "to general surprise",
    "for the first time since 1987",
];

pub(super) fn content(edition: Edition<'_>) -> Content {
    let mut numbers = edition.numbers(edition.number);
    let (who, what) = (pick(WHO, &mut numbers), pick(WHAT, &mut numbers));
    let (does, why) = (pick(DOES, &mut numbers), pick(WHY, &mut numbers));
    let (hour, minute) = edition.time_of_day();
    let people = numbers.random_range(2..90) * 50;
    Content {
        title: capitalised(&format!("{who} {does} {what}")),
        summary: format!(
            "The {who} {does} {what} {why}. About {people} people are affected; reactions are expected in the \
             course of the day."
        ),
        facts: vec![("story", edition.number.to_string()), ("filed at", format!("{hour:02}:{minute:02}"))],
    }
}
