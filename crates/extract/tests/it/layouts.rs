//! What the layout of a page says about its parts: boxes side by side, cards in a row, headings over what was put together for
//! visitors. How parts behave over time without that is tested in `restless`.

use dunlin_core::Time;
use dunlin_extract::detect::compare;
use dunlin_extract::flicker::{Reading, Template};
use dunlin_extract::summary::summary;
use dunlin_extract::{Flicker, Item, Work};

use crate::reading::page;

/// What is told of each content but the first.
fn told(contents: &[Vec<Item>]) -> Vec<Vec<String>> {
    let mut flicker = Flicker::default();
    let step = |pair: &[Vec<Item>]| {
        let (next, verdict) = std::mem::take(&mut flicker).observe(&pair[0], &pair[1]);
        flicker = next;
        verdict.reported.iter().map(|changed| summary(changed, &Work::default())).collect()
    };
    contents.windows(2).map(step).collect()
}

#[test]
fn boxes_side_by_side_are_words_apart() {
    for (html, text) in [
        ("<span>Oslo</span><span>12 °C</span><span>dry</span>", "Oslo 12 °C dry"),
        ("<a href=/>more</a><small>17 views</small>", "more 17 views"),
        ("<span>W</span><span>elcome</span>", "Welcome"),
        ("<span>1</span><span>2</span><span>3</span>", "123"),
        ("<span>19</span><span>.99</span>", "19.99"),
        ("<span>H<sub>2</sub>O</span>", "H2O"),
        ("re<b>write</b>s", "rewrites"),
    ] {
        assert_eq!(page(&format!("<div>{html}</div>"))[0].text, text, "{html}");
    }
    let (glued, apart) = (page("<h1>T</h1><p>Oslo12 °Cdry"), page("<h1>T</h1><p>Oslo 12 °C dry"));
    assert_eq!(told(&[glued, apart]), [[""; 0]], "a page that was read before is not edited by that");
    let (seats, more) = (page("<h1>T</h1><p>Seats 1 2"), page("<h1>T</h1><p>Seats 12"));
    assert_eq!(told(&[seats, more])[0].len(), 1);
}

#[test]
fn a_new_card_has_the_counters_of_those_beside_it() {
    let cards = |names: &[&str], n: usize| {
        let card = |(at, name): (usize, &&str)| {
            let n_called = 100 + at * 31 + n * (7 + at);
            format!("<div class=offer><a href=/{at}>{name}</a><span>called up {n_called}</span></div>")
        };
        let cards: String = names.iter().enumerate().map(card).collect();
        page(&format!("<h1>Offers</h1>{cards}"))
    };
    let names = ["Oak table", "Ash chair", "Elm chest", "Pine bench", "Fir shelf"];
    let contents: Vec<Vec<Item>> =
        (0..16).map(|n| cards(if n < 10 { &names[1..] } else { &names }, n)).collect();
    let told = told(&contents);
    assert!(told[9].len() == 1 && told[9][0].contains("Oak table"), "{told:?}");
    assert!(told[6..9].iter().chain(&told[10..]).all(Vec::is_empty), "{told:?}");
}

#[test]
fn what_is_below_a_heading_for_visitors_is_extra_as_far_as_it_goes() {
    let content = |teaser: &str, story: &str| {
        let list = format!("<ul><li>Tides<li>{teaser}</ul>");
        [
            format!("<p>{story}</p><div class=b><h3>Most read</h3>{list}</div>"),
            format!("<p>{story}</p><div class=b><div class=h><h3>Meistgelesen</h3></div>{list}</div>"),
            format!("<div><h2>関連記事</h2>{list}<h2>Report</h2><p>{story}</p></div>"),
            format!("<div><p>At dawn</p><h3>Lees ook</h3>{list}<p>{story}</p></div>"),
        ]
        .map(|body| page(&format!("<h1>Paper</h1><p>Of the coast</p>{body}<p>Imprint</p>")))
    };
    let before = content("Gulls over the pier", "The ferry is late");
    let (rotated, edited) = (
        content("A lamp for the lighthouse", "The ferry is late"),
        content("Gulls over the pier", "The ferry is lost at sea"),
    );
    for index in 0..4 {
        let told = |after: &[Vec<Item>; 4]| told(&[before[index].clone(), after[index].clone()]).remove(0);
        assert_eq!(told(&rotated), [""; 0], "{index}");
        assert_eq!(told(&edited).len(), 1, "{index}");
    }
}

#[test]
fn a_paragraph_that_comes_beside_a_rotating_text_is_news() {
    let tips = ["Take a coat along", "Mind the third step", "Dogs sleep in the barn", "Ring twice"];
    let content = |n: usize| {
        let more = if n < 17 { "" } else { "<p>The pass is closed until May." };
        page(&format!(
            "<div id=app><h1>Hut</h1><p>Beds for ten guests{more}<p>Open all year</p><p>{}</p></div>",
            tips[n * 3 % 4]
        ))
    };
    let contents: Vec<Vec<Item>> = (0..19).map(content).collect();
    let told = told(&contents);
    assert!(told[8..16].iter().all(Vec::is_empty), "{told:?}");
    assert!(told[16].iter().any(|said| said.contains("The pass is closed")), "{told:?}");
}

#[test]
fn what_one_page_of_a_site_has_shown_is_known_on_another() {
    let content = |title: &str, price: usize, n: usize| {
        page(&format!(
            "<h1>{title}</h1><p>Price $ {price}.00</p><div class=stat>Grelt {}</div><p>On loan to {}</p>",
            40 + n * 37 % 29,
            ["nobody", "a school"][usize::from(n == 2 && title == "Oak table")]
        ))
    };
    let judge = |flicker: Flicker, site: &Template, title: &str, n: usize, stands: i64| {
        let at = |n: usize| Time::from_seconds(1_794_744_000 + 3_600 * stands * i64::try_from(n).unwrap());
        let reading = Reading { at: Some(at(n)), last_probe: Some(at(n - 1)) };
        let (old, new) = (content(title, 20 + n, n - 1), content(title, 21 + n, n));
        let (flicker, verdict) =
            flicker.judge_on_site(compare(&old, &new).changes, reading, site, &Work::default());
        let suppressed: Vec<_> = verdict.suppressed.iter().map(|part| part.reason.code()).collect();
        (flicker, verdict.reported.len(), suppressed)
    };
    let (mut site, mut flicker) = (Template::default(), Flicker::default());
    for n in 1..12 {
        flicker = judge(flicker, &Template::default(), "Ash chair", n, 1).0;
        site.learn(&flicker);
        assert!(n >= 8 || site.is_empty(), "it takes a page some time");
    }
    assert!(!site.is_empty() && site.n_bytes() < 600);
    let (_, n_told, suppressed) = judge(Flicker::default(), &site, "Oak table", 1, 1);
    assert_eq!((n_told, &suppressed[..]), (1, &["volatile_elsewhere"][..]), "the price is told");
    let (_, n_told, _) = judge(Flicker::default(), &Template::default(), "Oak table", 1, 1);
    assert_eq!(n_told, 2, "without the site");
    let (_, n_told, _) = judge(Flicker::default(), &site, "Oak table", 2, 1);
    assert_eq!(n_told, 2, "so is what no page has shown to be restless");
    let (_, n_told, _) = judge(Flicker::default(), &site, "Oak table", 1, 48);
    assert_eq!(n_told, 2, "what stood for days is news here");
    let mut quiet = Template::default();
    quiet.learn(&Flicker::default());
    assert_eq!(quiet.n_bytes(), 0);
}

#[test]
fn the_heading_of_the_whole_page_makes_no_extras_of_it() {
    let show = |story: &str| {
        page(&format!(
            "<h1>Most read</h1><p>What you read this week.</p><p>{story}</p><p>Chosen by hand.</p>"
        ))
    };
    let told =
        told(&[show("The bridge is closed for repairs."), show("The library opens on Sundays again.")]);
    assert_eq!(told[0].len(), 1, "{told:?}");
}
