//! A date cut into numbers, words and signs, and the words of many languages: months, days of the week, halves of the
//! day. Not which of them stands where.

/// A piece of a date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Digits as written.
    Number(String),
    /// Letters, in lower case and without Greek accents.
    Word(String),
    Sign(char),
    /// White space.
    Gap,
}

/// Cuts a text; what is in parentheses is a comment.
pub(super) fn pieces_of(text: &str) -> Vec<Piece> {
    let lower = text.to_lowercase().replace("a.m.", "am").replace("p.m.", "pm");
    let mut pieces = Vec::new();
    let mut n_open = 0_usize;
    for c in lower.chars() {
        match c {
            '(' => n_open += 1,
            ')' => n_open = n_open.saturating_sub(1),
            _ if n_open > 0 => {}
            c if c.is_whitespace() => {
                if pieces.last() != Some(&Piece::Gap) {
                    pieces.push(Piece::Gap);
                }
            }
            c if c.is_ascii_digit() => match pieces.last_mut() {
                Some(Piece::Number(digits)) => digits.push(c),
                _ => pieces.push(Piece::Number(c.to_string())),
            },
            c if c.is_alphabetic() || c == '_' || is_mark(c) => match pieces.last_mut() {
                Some(Piece::Word(word)) => word.extend(plain(c)),
                _ => pieces.push(Piece::Word(plain(c).into_iter().collect())),
            },
            '\u{2212}' | '\u{2013}' => pieces.push(Piece::Sign('-')),
            c => pieces.push(Piece::Sign(c)),
        }
    }
    pieces
}

/// Accents that stand by themselves.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Greek is written with and without accents, and with wrong ones.
fn plain(c: char) -> Option<char> {
    Some(match c {
        c if is_mark(c) => return None,
        'ά' => 'α',
        'έ' => 'ε',
        'ή' => 'η',
        'ί' | 'ϊ' | 'ΐ' => 'ι',
        'ό' => 'ο',
        'ύ' | 'ϋ' | 'ΰ' => 'υ',
        'ώ' => 'ω',
        'ς' => 'σ',
        c => c,
    })
}

/// The months by how their names begin, in English, German, French, Spanish, Italian, Portuguese, Dutch, Scandinavian,
/// Polish, Czech, Hungarian, Greek, Russian, Ukrainian, Turkish and Romanian.
const MONTHS: [&[&str]; 12] = [
    &["jan", "jän", "ene", "gen", "sty", "led", "ιαν", "янв", "січ", "oca", "ian"],
    &["feb", "fév", "fev", "febr", "lut", "úno", "φεβ", "фев", "лют", "şub"],
    &["mar", "mär", "mae", "mrz", "mrt", "maa", "már", "bře", "μαρ", "мар", "бер"],
    &["apr", "avr", "abr", "ápr", "kwi", "dub", "απρ", "апр", "кві", "nis"],
    &["may", "mai", "maj", "mei", "mag", "máj", "kvě", "μαι", "μαω", "май", "мая", "тра"],
    &["jun", "juin", "giu", "jún", "cze", "červen", "ιουν", "ιον", "июн", "чер", "haz", "iun"],
    &["jul", "juil", "lug", "júl", "lip", "červenec", "ιουλ", "ιολ", "июл", "лип", "tem", "iul"],
    &["aug", "aoû", "aou", "ago", "srp", "sie", "αυγ", "авг", "сер", "ağu"],
    &["sep", "set", "szept", "wrz", "zář", "σεπ", "сен", "вер", "eyl"],
    &["oct", "okt", "out", "ott", "paź", "říj", "οκτ", "окт", "жов", "eki"],
    &["nov", "now", "lis", "νοε", "ноя", "лис", "kas"],
    &["dec", "dez", "déc", "dic", "des", "gru", "pro", "δεκ", "дек", "гру", "ara"],
];

const DAYS: &[&str] = &[
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
    "mo",
    "di",
    "mi",
    "do",
    "fr",
    "sa",
    "so",
    "die",
    "mit",
    "don",
    "fre",
    "sam",
    "son",
    "lun",
    "mar",
    "mer",
    "jeu",
    "ven",
    "dim",
    "lu",
    "ma",
    "me",
    "je",
    "ve",
    "mie",
    "mié",
    "jue",
    "vie",
    "sab",
    "sáb",
    "dom",
    "gio",
    "seg",
    "ter",
    "qua",
    "qui",
    "sex",
    "din",
    "woe",
    "wo",
    "vri",
    "vr",
    "zat",
    "za",
    "zon",
    "zo",
    "man",
    "tir",
    "ons",
    "tor",
    "lør",
    "lör",
    "søn",
    "sön",
    "pon",
    "pn",
    "wt",
    "śr",
    "czw",
    "cz",
    "pt",
    "pią",
    "sob",
    "nie",
    "ned",
    "κυρ",
    "δευ",
    "τρι",
    "τετ",
    "πεμ",
    "παρ",
    "σαβ",
    "пн",
    "вт",
    "ср",
    "чт",
    "пт",
    "сб",
    "вс",
    "пон",
    "вто",
    "сре",
    "чет",
    "пят",
    "суб",
    "вос",
    "нд",
    "th",
    "tu",
    "we",
    "su",
    "hét",
    "ked",
    "sze",
    "csü",
    "pén",
    "szo",
    "vas",
    "월요일",
    "화요일",
    "수요일",
    "목요일",
    "금요일",
    "토요일",
    "일요일",
];

/// Longer words are no names of months or days.
const MAX_LETTERS: usize = 14;

/// The month that a word names.
pub(super) fn month(word: &str) -> Option<i8> {
    if word.chars().count() > MAX_LETTERS {
        return None;
    }
    let is = |number: usize| MONTHS[number].iter().any(|stem| word.starts_with(stem));
    // The longer name begins like the shorter one.
    if word.starts_with("červenec") || word == "lipca" {
        return Some(7);
    }
    if word.starts_with("list") {
        return Some(11);
    }
    (0..12).find(|number| is(*number)).map(|number| number as i8 + 1)
}

/// Whether a word may name a day of the week.
pub(super) fn is_day(word: &str) -> bool {
    // Two letters are an abbreviation, and begin too many other words.
    let names = |day: &str| word.starts_with(day) && (day.chars().count() > 2 || word == day);
    word.chars().count() <= MAX_LETTERS && DAYS.iter().any(|day| names(day))
}

/// Whether a word only joins the others.
pub(super) fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "at" | "st"
            | "nd"
            | "rd"
            | "th"
            | "of"
            | "de"
            | "del"
            | "um"
            | "uhr"
            | "kl"
            | "à"
            | "the"
            | "on"
            | "er"
            | "г"
            | "年"
            | "月"
            | "日"
            | "년"
            | "월"
            | "일"
    )
}

/// Half a day's worth of hours that a word stands for.
pub(super) fn half(word: &str) -> Option<Half> {
    match word {
        "am" | "오전" | "午前" | "上午" => Some(Half::Morning),
        "pm" | "오후" | "午後" | "下午" => Some(Half::Afternoon),
        _ => None,
    }
}

/// Which half of the day is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Half {
    Morning,
    Afternoon,
}
