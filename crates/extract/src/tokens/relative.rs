//! Times that are told from now: `5 minutes ago`, `vor 2 Stunden`, `il y a 3 jours`, `5分前`, `just now`. They change with
//! the clock alone.

use super::{Kind, Token};

/// Words that follow the amount.
#[rustfmt::skip]
const AFTER: [&str; 21] = [
    "ago", "fa", "atrás", "atras", "geleden", "temu", "sedan", "siden", "назад", "önce", "sitten", "前", "전", "earlier",
    "πριν", "पहले", "тому", "trước", "lalu", "ezelőtt", "پیش",
   
];

/// Words that stand before the amount.
const BEFORE: [&str; 11] = ["vor", "hace", "há", "ha", "acum", "пред", "před", "منذ", "قبل", "לפני", "πριν"];

/// Whole phrases without an amount.
#[rustfmt::skip]
const PHRASES: [&[&str]; 33] = [
    &["just", "now"], &["right", "now"], &["moments", "ago"], &["a", "moment", "ago"], &["gerade", "eben"], &["soeben"],
    &["à", "l", "'", "instant"], &["à", "l", "’", "instant"], &["ahora", "mismo"], &["poco", "fa"], &["agora", "mesmo"],
    &["zojuist"], &["た", "っ", "た", "今"], &["刚", "刚"], &["剛", "剛"], &["только", "что"], &["yesterday"], &["gestern"], &["ayer"],
    &["ieri"], &["昨", "日"], &["a", "few", "seconds", "ago"], &["вчера"], &["минуту", "назад"], &["час", "назад"],
    &["день", "назад"], &["неделю", "назад"], &["месяц", "назад"], &["год", "назад"], &["nyss"], &["az", "önce"],
    &["przed", "chwilą"], &["방금"],
];

/// Beginnings of words for spans of time.
#[rustfmt::skip]
const UNITS: [&str; 52] = [
    "sec", "min", "hour", "hr", "day", "week", "month", "year", "sek", "stunde", "std", "tag", "woche", "monat", "jahr",
    "heure", "jour", "semaine", "mois", "an", "seg", "hora", "día", "dia", "semana", "mes", "mês", "año", "ano", "ore", "ora",
    "giorn", "settiman", "mesi", "uur", "dag", "weken", "maand", "jaar", "сек", "мин", "час", "дн", "ден", "нед", "мес", "год",
    "godz", "dni", "tyg", "timm", "time",
];

/// Words, and signs of scripts without spaces, that are no beginnings: they must stand alone.
#[rustfmt::skip]
const SHORT_UNITS: [&str; 41] = [
    "s", "m", "h", "d", "w", "y", "mo", "秒", "分", "日", "лет", "時", "间", "間", "时", "年", "月", "天", "週", "周", "小", "钟", "鐘", "个", "個",
    "か", "ヶ", "시", "분", "일", "주", "달", "개월", "년", "דקות", "שעות", "ימים", "دقیقه", "ساعت", "روز", "tuần",
];

/// So many of a unit ago.
const AGO: [&str; 6] = ["perce", "órája", "napja", "hete", "hónapja", "éve"];

/// Two of a unit, as a word of its own.
const DUALS: [&str; 5] = ["دقيقتين", "ساعتين", "يومين", "أسبوعين", "شهرين"];

fn is_unit(word: &str) -> bool {
    if super::spans::unit(word).is_some() {
        return true;
    }
    let lower = word.to_lowercase();
    let n_characters = lower.chars().count();
    SHORT_UNITS.contains(&word)
        || UNITS.iter().any(|unit| lower.starts_with(unit) && n_characters <= unit.chars().count() + 4)
}

/// Words for one of a unit.
const ONE: [&str; 15] =
    ["a", "an", "one", "eine", "einer", "einem", "un", "une", "una", "uno", "um", "uma", "een", "en", "ett"];

/// Bytes of the longest word for one: most words are longer, and need not be looked at.
const LONGEST_AMOUNT: usize = 5;

fn is_amount(token: &Token<'_>) -> bool {
    let may_be_word = token.kind == Kind::Word && token.text.len() <= LONGEST_AMOUNT;
    token.kind == Kind::Number && token.text.len() <= 4
        || may_be_word && ONE.iter().any(|word| token.text.eq_ignore_ascii_case(word))
}

/// Makes each time that is told from now one token.
pub(super) fn join<'t>(line: &'t str, tokens: &mut Vec<Token<'t>>) {
    super::join(line, tokens, |rest| {
        let n_tokens = if may_begin(rest.first()?) { relative_at(rest) } else { 0 };
        (n_tokens > 0).then_some((Kind::Relative, n_tokens))
    });
}

/// For each small letter, and for all others together, the lengths in bytes that the words have with which a time from now may
/// begin: nearly all words of a text are none of them, and need not be looked for in all lists.
const BEGINNINGS: [u64; N_LETTERS + 1] = {
    let mut lengths = [0; N_LETTERS + 1];
    lengths = with_lengths(lengths, &BEFORE);
    lengths = with_lengths(lengths, &ONE);
    lengths = with_lengths(lengths, &["il", "för", "for"]);
    let mut index = 0;
    while index < PHRASES.len() {
        lengths = with_lengths(lengths, &[PHRASES[index][0]]);
        index += 1;
    }
    lengths
};

const N_LETTERS: usize = 26;

const fn with_lengths(mut lengths: [u64; N_LETTERS + 1], words: &[&str]) -> [u64; N_LETTERS + 1] {
    let mut index = 0;
    while index < words.len() {
        let word = words[index].as_bytes();
        lengths[letter(word[0])] |= 1 << word.len();
        index += 1;
    }
    lengths
}

const fn letter(byte: u8) -> usize {
    let letter = byte.to_ascii_lowercase().wrapping_sub(b'a') as usize;
    if letter < N_LETTERS { letter } else { N_LETTERS }
}

/// Whether a time from now may begin with this: a figure, or a word with a letter and a length that some beginning has.
fn may_begin(token: &Token<'_>) -> bool {
    let word = token.text.as_bytes();
    match token.kind {
        Kind::Number => true,
        Kind::Word => word.len() < 64 && BEGINNINGS[letter(word[0])] & (1 << word.len()) != 0,
        _ => false,
    }
}

/// Whether a word is this one in small letters, both of so many bytes. Asked of every word with every other, so nothing is allocated,
/// and plain letters are compared as bytes.
fn is_same(word: &str, lower: &str) -> bool {
    match (word.as_bytes(), lower.as_bytes()) {
        ([first, ..], [wanted, ..])
            if first.is_ascii() && wanted.is_ascii() && first.to_ascii_lowercase() != *wanted =>
        {
            false
        }
        _ if word.is_ascii() && lower.is_ascii() => word.eq_ignore_ascii_case(lower),
        _ => word.chars().flat_map(char::to_lowercase).eq(lower.chars()),
    }
}

/// How many tokens at the beginning of these tell a time from now.
fn relative_at(tokens: &[Token<'_>]) -> usize {
    let is = |index: usize, word: &str| {
        tokens.get(index).is_some_and(|token| token.text.len() == word.len() && is_same(token.text, word))
    };
    let Some(first) = tokens.first() else { return 0 };
    if first.kind == Kind::Word {
        let phrase =
            PHRASES.iter().find(|phrase| phrase.iter().enumerate().all(|(index, word)| is(index, word)));
        if let Some(phrase) = phrase {
            return phrase.len();
        }
        let lead = if is(0, "il") && is(1, "y") && is(2, "a") {
            3
        } else {
            usize::from(BEFORE.iter().any(|word| is(0, word)))
        };
        // `منذ ساعة`, `منذ يومين`: one and two need no figure.
        let is_one_or_two = |token: &Token<'_>| is_unit(token.text) || DUALS.contains(&token.text);
        if (is(0, "منذ") || is(0, "قبل")) && tokens.get(1).is_some_and(is_one_or_two) {
            return 2;
        }
        // `för 5 minuter sedan`: words on both sides.
        if is(0, "för") || is(0, "for") {
            let rest = relative_at(&tokens[1..]);
            return if rest > 1 { rest + 1 } else { 0 };
        }
        if lead > 0
            && tokens.get(lead).is_some_and(is_amount)
            && tokens.get(lead + 1).is_some_and(|token| is_unit(token.text))
        {
            return lead + 2;
        }
    }
    if !is_amount(first) {
        return 0;
    }
    // `5 minutes ago`, `5 h 3 min ago`, `5分前`, `2 時 間 前`.
    let mut at = 1;
    while at < 6
        && tokens.get(at).is_some_and(|token| {
            is_unit(token.text) || token.kind == Kind::Number || matches!(token.text, "." | "yang")
        })
    {
        at += 1;
    }
    // Hungarian says it in one word.
    let says_both = |token: &Token<'_>| AGO.contains(&&*token.text.to_lowercase());
    if tokens.get(1).is_some_and(says_both) {
        return 2;
    }
    let ends = at > 1 && AFTER.iter().any(|word| is(at, word));
    if ends { at + 1 } else { 0 }
}
