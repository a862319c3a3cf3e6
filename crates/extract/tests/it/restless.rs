//! What is told from news by how it behaves: with the clock, over many contents, beside what else changes. Words alone are tested
//! in `flicker`.

use dunlin_core::Time;
use dunlin_extract::detect::compare;
use dunlin_extract::flicker::Reading;
use dunlin_extract::recipe::Recipe;
use dunlin_extract::summary::summary;
use dunlin_extract::{Flicker, Item, Work};

use crate::reading::{page, read};

/// Noon of a day in November 2026.
const NOON: i64 = 1_794_744_000;
const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

/// Contents that are read one after the other, `gap` seconds apart, each different: what is told of each.
fn told(contents: &[Vec<Item>], gap: i64) -> Vec<Vec<String>> {
    let at = |index: usize| Time::from_seconds(NOON + gap * i64::try_from(index).unwrap());
    let mut flicker = Flicker::default();
    let mut told = Vec::new();
    for (index, pair) in (1..).zip(contents.windows(2)) {
        let reading = Reading { at: Some(at(index)), last_probe: Some(at(index - 1)) };
        let (next, verdict) = flicker.judge(compare(&pair[0], &pair[1]).changes, reading, &Work::default());
        told.push(verdict.reported.iter().map(|changed| summary(changed, &Work::default())).collect());
        flicker = next;
    }
    told
}

fn lines(texts: &[String]) -> Vec<Item> {
    page(&format!("<h1>Title</h1><p>{}</p>", texts.join("</p><p>")))
}

/// How much is told of a page with these lines.
fn n_told(gap: i64, n: i64, line: impl Fn(i64) -> Vec<String>) -> Vec<usize> {
    let contents: Vec<Vec<Item>> = (0..n).map(|index| lines(&line(index))).collect();
    told(&contents, gap).iter().map(Vec::len).collect()
}

fn clock(seconds: i64) -> String {
    format!("{:02}:{:02}", seconds.rem_euclid(24 * HOUR) / HOUR, seconds.rem_euclid(HOUR) / MINUTE)
}

#[test]
fn a_time_that_goes_on_with_the_clock_is_the_clocks_in_any_words() {
    for gap in [MINUTE, 7 * MINUTE, 95 * MINUTE] {
        // Noon in UTC is half past five in the afternoon in India.
        for zone in [0, -5 * HOUR, 5 * HOUR + 30 * MINUTE] {
            let now = |index: i64| clock(NOON + zone + gap * index);
            for text in
                ["{}", "It is {} o'clock", "آخر {}", "Kello on {}", "Local time {}. Visitors are welcome."]
            {
                let told = n_told(gap, 6, |index| vec![text.replace("{}", &now(index))]);
                assert_eq!(told, [0; 5], "{text} {gap} {zone}");
            }
        }
    }
}

#[test]
fn a_time_that_the_clock_does_not_explain_is_news() {
    for (old, new) in [
        ("Show time 19:30", "Show time 20:30"),
        ("Opening times 9:00 to 17:00", "Opening times 10:00 to 18:00"),
        ("Delivery: 14 March 2027", "Delivery: 21 March 2027"),
        ("Now 12 seats", "Now 15 seats"),
        ("Tea $ 12.00", "Tea $ 12.10"),
    ] {
        let told = n_told(10 * MINUTE, 2, |index| vec![if index == 0 { old } else { new }.to_owned()]);
        assert_eq!(told, [1], "{old} → {new}");
    }
}

#[test]
fn a_date_of_long_ago_that_became_todays_is_news() {
    let of = |day: &str| lines(&[format!("Newest report: {day}")]);
    let (september, today) = (of("1 September 2026"), of("15 November 2026"));
    assert_eq!(told(&[september, today.clone()], HOUR)[0].len(), 1);
    let tomorrow = of("16 November 2026");
    assert_eq!(told(&[today, tomorrow], 20 * HOUR)[0].len(), 0, "the day went on");
}

#[test]
fn what_moves_up_into_a_list_as_an_entry_leaves_it_is_not_new() {
    let list = |names: &[&str]| {
        page(&format!("<h1>Jobs</h1><ul><li>{}</li></ul><p>Page 1 of 7</p>", names.join("</li><li>")))
    };
    let before = list(&["Glazier in Ulm", "Cook in Kiel", "Nurse in Bonn", "Baker in Jena"]);
    let after = list(&["Glazier in Ulm", "Nurse in Bonn", "Baker in Jena", "Tailor in Trier"]);
    let told = told(&[before, after], HOUR).remove(0);
    assert!(told.len() == 1 && told[0].contains("Cook in Kiel"), "{told:?}");
}

#[test]
fn a_length_of_time_that_goes_with_the_clock_is_no_news_and_another_one_is() {
    let countdown = |index: i64| {
        let left = 3 * 24 * 60 - 95 * index;
        vec![format!("{} giorni {} ore {} minuti", left / 1_440, left % 1_440 / 60, left % 60)]
    };
    assert_eq!(n_told(95 * MINUTE, 6, countdown), [0; 5]);
    let told = n_told(95 * MINUTE, 2, |index| vec![format!("Delivery within {} days", 3 + 2 * index)]);
    assert_eq!(told, [1]);
}

#[test]
fn a_countdown_of_more_than_a_day_and_a_date_with_blanks_are_the_clocks() {
    let countdown = |index: i64| {
        let left = 131 * HOUR + 1_311 - 95 * MINUTE * index;
        vec![format!("Ends in {}:{:02}:{:02}", left / HOUR, left % HOUR / MINUTE, left % MINUTE)]
    };
    assert_eq!(n_told(95 * MINUTE, 6, countdown), [0; 5]);
    assert_eq!(n_told(24 * HOUR, 3, |index| vec![format!("Dnes {}. 11. 2026", 15 + index)]), [0; 2]);
    let moved = n_told(HOUR, 2, |index| vec![format!("Koncert {}. 12. 2026", 15 + index)]);
    assert_eq!(moved, [1]);
}

#[test]
fn a_clock_of_an_answer_that_came_from_a_cache_is_a_clock() {
    // The second answer was made an hour before it was given.
    let of = |time: &str| lines(&[format!("Stan na 15.11.2026, {time}")]);
    let contents = [of("11:59"), of("12:04"), of("13:58")];
    assert_eq!(told(&contents, HOUR)[1], [""; 0]);
    let of = |time: &str| lines(&[format!("Koncert 15.11.2026, {time}")]);
    assert_eq!(told(&[of("18:00"), of("20:00")], HOUR)[0].len(), 1);
}

#[test]
fn a_time_that_went_back_with_this_machines_clock_is_not_the_pages_clock() {
    let (old, new) = (lines(&["Now 14:00".to_owned()]), lines(&["Now 12:00".to_owned()]));
    let at = |hour: i64| Some(Time::from_seconds(NOON + hour * HOUR));
    let reading = Reading { at: at(0), last_probe: at(2) };
    let verdict = Flicker::default().judge(compare(&old, &new).changes, reading, &Work::default()).1;
    assert_eq!(verdict.reported.len(), 1);
}

#[test]
fn a_rate_that_moves_a_little_all_the_time_becomes_quiet_and_a_price_does_not() {
    let rate = |index: i64| vec![format!("USD 78.{}", 40 + index * 37 % 23)];
    let told = n_told(HOUR, 16, rate);
    assert!(told[8..].iter().all(|n| *n == 0), "{told:?}");
    let price = |index: i64| vec![format!("USD {}.50", 78 + index * 37 % 23)];
    assert_eq!(n_told(HOUR, 16, price), [1; 15]);
}

#[test]
fn counters_in_words_that_nobody_knows_become_quiet() {
    let line = |index: i64| {
        let (seen, kept) = (2_200 + 9 * index, 60 + index - index % 4 / 3);
        let state = if index < 13 { "ota" } else { "eta" };
        vec![format!("{seen} gloriet | {kept} mirtu | {state}")]
    };
    let told = n_told(HOUR, 16, line);
    assert!(told[6..12].iter().all(|n| *n == 0), "{told:?}");
    assert_eq!(told[12..], [1, 0, 0], "the word beside them is news");
}

#[test]
fn a_mean_of_marks_is_the_visitors() {
    for (old, new) in
        [("Rating: 4.5", "Rating: 4.6"), ("4,51 ★", "4,52 ★"), ("Bewertung 4,5", "Bewertung 4,4")]
    {
        let told = n_told(HOUR, 2, |index| vec![if index == 0 { old } else { new }.to_owned()]);
        assert_eq!(told, [0], "{old}");
    }
    let told = n_told(HOUR, 2, |index| vec![format!("Interest rate {}.5", 4 + index)]);
    assert_eq!(told, [1]);
}

#[test]
fn a_weekday_and_a_month_beside_a_day_of_the_clock_are_known_in_any_language() {
    let day = |index: i64| {
        let weekday = if index == 0 { "niedziela" } else { "sobota" };
        vec![format!("Dziś jest {weekday}, {} November 2026", 15 + index)]
    };
    assert_eq!(n_told(24 * HOUR, 2, day), [0]);
    let arabic = |index: i64| vec![format!("{} نوفمبر 2026", 15 + index)];
    assert_eq!(n_told(24 * HOUR, 2, arabic), [0]);
}

#[test]
fn a_figure_that_moves_all_the_time_does_not_hide_the_word_beside_it() {
    let state = |index: i64| if index < 12 { "up" } else { "degraded" };
    let row = |index: i64| {
        let of = |(row, town): (i64, &str)| {
            let state = if row == 1 { state(index) } else { "up" };
            format!("web-{town} {state} {} ms", 20 + (index * 37 + row * 11) % 60)
        };
        (0..).zip(["oslo", "rome", "bonn", "lyon"]).map(of).collect()
    };
    let contents: Vec<Vec<Item>> = (0..16)
        .map(|index| {
            let rows: Vec<String> = row(index);
            page(&format!("<h1>Servers</h1><ul><li>{}</li></ul>", rows.join("</li><li>")))
        })
        .collect();
    let told = told(&contents, HOUR);
    assert!(told[4..11].iter().all(Vec::is_empty), "{told:?}");
    assert_eq!(told[11].len(), 1, "{told:?}");
    assert!(told[11][0].contains("up") && told[11][0].contains("degraded"), "{told:?}");
    assert!(told[12..].iter().all(Vec::is_empty), "{told:?}");
}

#[test]
fn what_is_probed_rarely_learns_too() {
    for gap in [4 * HOUR, 24 * HOUR] {
        let told = n_told(gap, 14, |index| vec![format!("Queue position {}", 500 + (index * 7919) % 400)]);
        assert!(told[8..].iter().all(|n| *n == 0), "{gap} {told:?}");
        let told = n_told(gap, 14, |index| vec![format!("Price $ {}.99", 20 + index)]);
        assert_eq!(told, [1; 13], "a price is told for ever");
    }
}

#[test]
fn a_counter_or_a_code_that_stood_for_long_is_news() {
    let page = |index: i64, counted: &str| vec![format!("Story number {}", index * 3), counted.to_owned()];
    for (old, new) in [("Part number AB12CD34EF", "Part number AB12CD35GH"), ("4 reviews", "5 reviews")] {
        let early = n_told(HOUR, 3, |index| page(0, if index < 2 { old } else { new }));
        assert_eq!(early, [0, 0], "at first it is taken for noise");
        let late = n_told(HOUR, 12, |index| page(index, if index < 11 { old } else { new }));
        assert!(late[10] > late[9], "{late:?}");
    }
}

#[test]
fn a_list_in_one_line_is_a_set() {
    let stories = ["Harbour closed", "Ferry late", "Terns return", "Market flooded"];
    let line = |index: usize| {
        let chosen: Vec<&str> = (0..3).map(|n| stories[(index * (n + 1) + n) % 4]).collect();
        lines(&[format!("Most read: {}", chosen.join(", "))])
    };
    let contents = [
        lines(&["Most read: one, two, three".to_owned()]),
        lines(&["Most read: three, one, two".to_owned()]),
    ];
    assert_eq!(told(&contents, HOUR), [[""; 0]], "another order is no change");
    let contents: Vec<Vec<Item>> = (0..24).map(line).collect();
    let told = told(&contents, HOUR);
    assert!(told[6..].iter().all(Vec::is_empty), "{told:?}");
}

#[test]
fn a_rank_is_where_an_entry_stands_and_not_what_it_says() {
    let list = |stories: &[&str]| {
        let rows: Vec<String> =
            (1..).zip(stories).map(|(rank, story)| format!("<li>{rank}. {story}</li>")).collect();
        page(&format!("<h1>News</h1><ol>{}</ol>", rows.concat()))
    };
    let contents = [
        list(&["Ferry late again", "Terns return", "Market flooded"]),
        list(&["Terns return", "Market flooded", "Ferry late again"]),
    ];
    assert_eq!(told(&contents, HOUR), [[""; 0]]);
    let days = [
        page("<h1>A</h1><p>1 day left</p><p>2 days left</p><p>3 days left</p>"),
        page("<h1>A</h1><p>1 day left</p><p>2 days left</p><p>9 days left</p>"),
    ];
    assert_eq!(told(&days, HOUR)[0].len(), 1, "these are no ranks");
}

#[test]
fn an_advertisement_without_a_name_is_told_once() {
    let ads = ["Buy a small boat", "Ropes and sails half price", "Rent a red cabin", "Learn to row well"];
    let contents: Vec<Vec<Item>> =
        (0..20_usize).map(|index| lines(&[ads[index * 3 % 4].to_owned()])).collect();
    let told: usize = told(&contents, MINUTE).iter().map(Vec::len).sum();
    assert_eq!(told, 1);
}

#[test]
fn a_list_of_json_without_names_may_be_shuffled() {
    let json = |text: &str| read(&Recipe::Json, text.as_bytes()).items;
    let old = json(r#"{"i":[{"city":"Rome","t":1},{"city":"Oslo","t":2}]}"#);
    let shuffled = json(r#"{"i":[{"city":"Oslo","t":2},{"city":"Rome","t":1}]}"#);
    assert_eq!(told(&[old.clone(), shuffled], HOUR), [[""; 0]]);
    let edited = json(r#"{"i":[{"city":"Oslo","t":2},{"city":"Rome","t":"9 €"}]}"#);
    assert_eq!(told(&[old, edited], HOUR), [["i[Rome].t: 1 → 9 €"]]);
}

#[test]
fn selected_rows_and_values_are_told_with_what_they_were() {
    let rows = |price: &str| {
        let html =
            format!("<html><body><p>Green tea, loose: € 4.50<p>Black tea, loose: € {price}</body></html>");
        read(&Recipe::HtmlSelector { css: "p".to_owned() }, html.as_bytes()).items
    };
    assert_eq!(told(&[rows("5.20"), rows("4.90")], HOUR), [["Black tea, loose: € 5.20 → € 4.90"]]);
    let value = |price: &str| {
        let json = format!("{{\"price\":{{\"value\":{price}}}}}");
        read(&Recipe::JsonPath { path: "$.price.value".to_owned() }, json.as_bytes()).items
    };
    assert_eq!(told(&[value("19.5"), value("17.25")], HOUR), [["value: 19.5 → 17.25"]]);
}

#[test]
fn a_source_without_noise_takes_no_memory_for_long() {
    let mut flicker = Flicker::default();
    let item = |index: u32| page(&format!("<h1>Editions</h1><p>Word {}</p>", "x".repeat(index as usize + 1)));
    let feed = |index: u32| {
        (index..index + 20).map(|n| crate::reading::item(&n.to_string(), "title", "text")).collect::<Vec<_>>()
    };
    for index in 0..100 {
        flicker = flicker.observe(&feed(index), &feed(index + 1)).0;
    }
    assert!(flicker.n_bytes() < 1_000, "{}", flicker.n_bytes());
    for index in 0..80 {
        flicker = flicker.observe(&item(index), &item(index + 1)).0;
    }
    assert!(flicker.n_bytes() < 2_000, "{}", flicker.n_bytes());
}

/// A page of which another line is different in every content, with a state that goes and comes back every `n_each` contents.
fn n_told_of_a_state(states: &[&str], n_each: usize) -> usize {
    let contents: Vec<Vec<Item>> = (0..8 * n_each)
        .map(|index| {
            let state = states[index / n_each % states.len()];
            let clock = clock(NOON + 10 * MINUTE * i64::try_from(index).unwrap());
            lines(&[format!("Status: {state}"), format!("It is {clock}")])
        })
        .collect();
    told(&contents, 10 * MINUTE).into_iter().flatten().filter(|summary| summary.contains("Status")).count()
}

#[test]
fn a_state_that_lasted_is_told_again_though_the_page_never_rests() {
    for states in [&["operational", "down"][..], &["low", "high", "very high"], &["$ 4", "$ 6"]] {
        assert_eq!(n_told_of_a_state(states, 10), 7, "{states:?}");
    }
    // One that is never the same for more than a moment is no news for ever.
    assert!(n_told_of_a_state(&["operational", "down"], 1) < 4);
}

#[test]
fn an_entry_that_comes_back_after_a_long_time_is_news_again() {
    let show = |has_it: bool, index: i64| {
        let entry = if has_it { "<li>Teapot</li>" } else { "" };
        let clock = clock(NOON + 10 * MINUTE * index);
        page(&format!("<h1>Stock</h1><ul><li>Cup</li>{entry}<li>Plate</li></ul><p>It is {clock}</p>"))
    };
    let is_there = |index: i64| !(10..25).contains(&index);
    let contents: Vec<Vec<Item>> = (0..30).map(|index| show(is_there(index), index)).collect();
    let told: Vec<String> = told(&contents, 10 * MINUTE).into_iter().flatten().collect();
    assert_eq!(told.iter().filter(|summary| summary.contains("Teapot")).count(), 2, "{told:?}");
}
