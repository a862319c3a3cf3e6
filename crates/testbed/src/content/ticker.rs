//! Matches: the same number of events in each, so that a version number tells the match and what has happened.

use rand::RngExt;

use super::words::pick;
use super::{Content, Edition};

/// Versions per match, from kick-off to the final whistle.
pub(crate) const EVENTS_PER_MATCH: u64 = 40;
const HALF_TIME: u64 = EVENTS_PER_MATCH / 2;

const TEAMS: &[&str] = &[
    "Harbour Rovers",
    "Union Quay",
    "Lighthouse Athletic",
    "Saltmarsh Town",
    "Ferry Wanderers",
    "Northern Pier",
    "Estuary United",
    "Beacon Hill",
];
const PLAYS: &[&str] = &[
    "corner",
    "free kick",
    "yellow card",
    "shot wide",
    "save by the keeper",
    "offside",
    "substitution",
    "shot against the post",
];

pub(super) fn content(edition: Edition<'_>) -> Content {
    let nth = edition.number.saturating_sub(1);
    let (game, event) = (nth / EVENTS_PER_MATCH + 1, nth % EVENTS_PER_MATCH);
    let mut numbers = edition.numbers(game);
    let home = numbers.random_range(0..TEAMS.len());
    let away = (home + numbers.random_range(1..TEAMS.len())) % TEAMS.len();
    let teams = [TEAMS[home], TEAMS[away]];
    let mut goals = [0_u32; 2];
    let mut latest = String::from("kick-off");
    for step in 1..=event {
        let side = numbers.random_range(0..2);
        let play = pick(PLAYS, &mut numbers);
        let is_goal = numbers.random_range(0..12) == 0;
        latest = match step {
            HALF_TIME => "half-time".to_owned(),
            step if step == EVENTS_PER_MATCH - 1 => "full time".to_owned(),
            _ if is_goal => {
                goals[side] += 1;
                format!("goal for {}", teams[side])
            }
            _ => format!("{play}, {}", teams[side]),
        };
    }
    let minute = (event * 90).div_ceil(EVENTS_PER_MATCH - 1);
    let score = format!("{}\u{2013}{}", goals[0], goals[1]);
    Content {
        title: format!("{} {score} {}: {latest} ({minute}')", teams[0], teams[1]),
        summary: format!("Minute {minute}: {latest}. {} against {} stands at {score}.", teams[0], teams[1]),
        facts: vec![
            ("match", game.to_string()),
            ("home", teams[0].to_owned()),
            ("away", teams[1].to_owned()),
            ("score", score),
            ("minute", minute.to_string()),
        ],
    }
}
