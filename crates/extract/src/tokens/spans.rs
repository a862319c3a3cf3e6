//! Lengths of time: `5 minutes`, `13 giorni 20 ore 25 minuti`. Each is one token, with its seconds, so that it can be held against
//! the time that went by. What follows from that is decided elsewhere.

use super::{Kind, Token};

/// Words for units of time, by their seconds: whole words, since `an` begins many others.
#[rustfmt::skip]
const UNITS: [(i64, &[&str]); 6] = [
    (1, &["sec", "secs", "second", "seconds", "sek", "sekunde", "sekunden", "seconde", "secondes", "seconden", "segundo", "segundos",
        "secondo", "secondi", "sekund", "sekunder", "sekundy", "sekunti", "sekuntia", "сек", "секунд", "секунды", "секунду", "saniye",
        "ثانية", "ثوان", "초"]),
    (60, &["min", "mins", "minute", "minutes", "minuten", "minuto", "minutos", "minuti", "minuut", "minuter", "minutter", "minut",
        "minuty", "minuta", "minutę", "minuutti", "minuuttia", "мин", "минут", "минуты", "минуту", "хвилин", "dakika", "دقيقة", "دقائق",
        "분", "मिनट", "perc", "λεπτά", "λεπτό", "phút", "menit", "minutami", "minúty", "minút", "דקות", "นาที"]),
    (3_600, &["hr", "hrs", "hour", "hours", "std", "stunde", "stunden", "heure", "heures", "hora", "horas", "ora", "ore", "uur", "uren",
        "timme", "timmar", "timer", "godz", "godzina", "godziny", "godzin", "tunti", "tuntia", "ч", "час", "часа", "часов",
        "година", "годин", "saat", "ساعة", "ساعات", "시간", "घंटे", "óra", "ώρες", "ώρα", "giờ", "hodin", "hodiny", "hodina", "hodinami", "hodín", "години", "oră", "שעות", "שעה", "jam", "घंटा"]),
    (86_400, &["day", "days", "tag", "tage", "tagen", "jour", "jours", "día", "días", "dia", "dias", "giorno", "giorni", "dag", "dagen",
        "dagar", "dage", "dager", "dzień", "dni", "päivä", "päivää", "день", "дня", "дней", "gün", "يوم", "أيام", "दिन", "μέρες",
        "ngày", "hari", "dny", "dnů", "dní", "den", "dnem", "deň", "nap", "zi", "zile", "днів", "дні", "ימים", "יום", "ημέρες", "ημέρα"]),
    (604_800, &["week", "weeks", "woche", "wochen", "semaine", "semaines", "semana", "semanas", "settimana", "settimane", "weken",
        "vecka", "veckor", "uke", "uker", "uge", "uger", "tydzień", "tygodnie", "tygodni", "неделя", "недели", "недель", "hafta",
        "أسبوع", "viikko", "viikkoa"]),
    (2_629_746, &["month", "months", "monat", "monate", "monaten", "mois", "mes", "meses", "mese", "mesi", "maand", "maanden", "månad",
        "månader", "miesiąc", "miesiące", "miesięcy", "месяц", "месяца", "месяцев", "شهر", "kuukausi"]),
];

/// The seconds of a unit of time.
pub(super) fn unit(word: &str) -> Option<i64> {
    let lower = word.to_lowercase();
    UNITS.iter().find(|(_, words)| words.contains(&&*lower)).map(|(seconds, _)| *seconds)
}

/// The same for letters that mean one only beside another: `4 d 12 h`.
fn short_unit(word: &str) -> Option<i64> {
    match word {
        "s" => Some(1),
        "m" => Some(60),
        "h" => Some(3_600),
        "d" | "j" => Some(86_400),
        _ => None,
    }
}

/// Makes each length of time one token.
pub(super) fn join<'t>(line: &'t str, tokens: &mut Vec<Token<'t>>) {
    if tokens.iter().any(|token| token.kind == Kind::Number) {
        super::join(line, tokens, |rest| Some((Kind::Span, length_at(rest)?)));
    }
}

/// How many tokens at the beginning of these are a length of time.
fn length_at(tokens: &[Token<'_>]) -> Option<usize> {
    let mut n_tokens = 0;
    while let Some([amount, word]) = tokens.get(n_tokens..n_tokens + 2)
        && amount.kind == Kind::Number
        && word.kind == Kind::Word
        && (unit(word.text).is_some() || short_unit(word.text).is_some())
    {
        n_tokens += 2;
    }
    // `14 h` by itself may be a time, `3 m` a length.
    let is_one_short = || n_tokens == 2 && unit(tokens[1].text).is_none();
    (n_tokens > 0 && !is_one_short()).then_some(n_tokens)
}

/// The seconds of a length of time, and those of its smallest unit.
pub(crate) fn seconds_of(text: &str) -> Option<(i64, i64)> {
    if text.contains(':') {
        let mut figures = text.split(':').map(|figure| figure.parse::<i64>().ok());
        return Some((figures.try_fold(0_i64, |total, figure| Some(total * 60 + figure?))?, 1));
    }
    let (mut total, mut smallest, mut amount) = (0_i64, i64::MAX, None);
    for piece in super::pieces(text) {
        if piece.kind == Kind::Number {
            amount = piece.text.parse::<i64>().ok();
        } else {
            let seconds = unit(piece.text).or_else(|| short_unit(piece.text))?;
            total = total.checked_add(amount.take()?.checked_mul(seconds)?)?;
            smallest = smallest.min(seconds);
        }
    }
    (smallest < i64::MAX).then_some((total, smallest))
}
