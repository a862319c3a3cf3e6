//! Weather reports: wind and water level at fixed times.

use rand::RngExt;

use super::words::{capitalised, pick};
use super::{Content, Edition};

const WINDS: &[&str] = &["N", "NE", "E", "SE", "S", "SW", "W", "NW"];
const VISIBILITY: &[&str] = &["good", "good", "moderate", "poor", "fog patches"];
const SEA: &[&str] = &["calm", "slight", "moderate", "rough"];

pub(super) fn content(edition: Edition<'_>) -> Content {
    let mut numbers = edition.numbers(edition.number);
    let (wind, visibility) = (pick(WINDS, &mut numbers), pick(VISIBILITY, &mut numbers));
    let (force, sea) = (numbers.random_range(1..9), pick(SEA, &mut numbers));
    let (hour, minute) = edition.time_of_day();
    let pressure = numbers.random_range(985..1_035);
    let place = capitalised(edition.source.trim_start_matches("bulletin-")).replace('-', " ");
    Content {
        title: format!(
            "{place} bulletin {hour:02}:{minute:02}, wind {wind} {force}, visibility {visibility}"
        ),
        summary: format!(
            "At {hour:02}:{minute:02}: wind {wind} force {force}, sea {sea}, visibility {visibility}, pressure \
             {pressure} hPa. Next bulletin in an hour."
        ),
        facts: vec![
            ("issued", format!("{hour:02}:{minute:02}")),
            ("wind", format!("{wind} {force}")),
            ("sea", sea.to_owned()),
            ("pressure", pressure.to_string()),
        ],
    }
}
