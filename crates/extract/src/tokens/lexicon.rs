//! Words that say what a figure beside them is: months, times, counters, "last updated". From the languages that pages are
//! most often written in; a word that is missing here costs one needless report until the page has shown that it moves.

/// Names of months: enough of their beginning to tell them, and their number.
#[rustfmt::skip]
const MONTHS: [(&str, u32); 62] = [
    ("jan", 1), ("ene", 1), ("gen", 1), ("янв", 1), ("sty", 1), ("oca", 1), ("feb", 2), ("fév", 2), ("fev", 2), ("фев", 2),
    ("lut", 2), ("febbr", 2), ("mar", 3), ("mär", 3), ("mrz", 3), ("maart", 3), ("мар", 3), ("maa", 3), ("apr", 4), ("avr", 4),
    ("abr", 4), ("апр", 4), ("kwi", 4), ("nis", 4), ("may", 5), ("mai", 5), ("mei", 5), ("mag", 5), ("maj", 5), ("мая", 5),
    ("май", 5), ("jun", 6), ("juin", 6), ("giu", 6), ("июн", 6), ("cze", 6), ("haz", 6), ("jul", 7), ("juil", 7), ("lug", 7),
    ("июл", 7), ("lip", 7), ("aug", 8), ("aoû", 8), ("aou", 8), ("ago", 8), ("авг", 8), ("sie", 8), ("sep", 9), ("set", 9),
    ("сен", 9), ("wrz", 9), ("oct", 10), ("okt", 10), ("out", 10), ("ott", 10), ("окт", 10), ("nov", 11), ("ноя", 11),
    ("dec", 12), ("dez", 12), ("дек", 12),
];

/// The longest name of a month.
const LONGEST_MONTH: usize = 10;

/// The month of this name, written out or cut.
pub(super) fn month(word: &str) -> Option<u32> {
    let n_characters = word.chars().count();
    if !(3..=LONGEST_MONTH).contains(&n_characters) {
        return None;
    }
    let word = word.to_lowercase();
    let others = ["déc", "dic", "gru", "lis", "paź", "kas", "eki", "ara", "eyl", "ağu", "tem", "şub"];
    let known = MONTHS.iter().find(|(name, _)| word.starts_with(name)).map(|(_, month)| *month);
    let month = known.or_else(|| {
        let index = others.iter().position(|name| word.starts_with(name))?;
        [12, 12, 12, 11, 10, 11, 10, 12, 9, 8, 7, 2].get(index).copied()
    })?;
    // Words that begin like a month: `market`, `seperate`, `gently`.
    let is_cut = n_characters <= 4;
    (is_cut || MONTH_NAMES.contains(&word.as_str())).then_some(month)
}

#[rustfmt::skip]
const MONTH_NAMES: [&str; 108] = [
    "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december",
    "januar", "jänner", "februar", "april", "juni", "juli", "oktober", "dezember", "janvier", "février", "fevrier", "avril",
    "juillet", "août", "septembre", "octobre", "novembre", "décembre", "decembre", "enero", "febrero", "marzo", "abril",
    "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre", "gennaio", "febbraio", "aprile",
    "maggio", "giugno", "luglio", "settembre", "ottobre", "dicembre", "janeiro", "fevereiro", "março", "junho", "julho",
    "setembro", "outubro", "novembro", "dezembro", "januari", "februari", "maart", "augustus", "augusti", "december", "января",
    "февраля", "марта", "апреля", "июня", "июля", "августа", "сентября", "октября", "ноября", "декабря", "январь", "февраль",
    "апрель", "август", "сентябрь", "октябрь", "ноябрь", "декабрь", "stycznia", "lutego", "marca", "kwietnia", "czerwca",
    "lipca", "sierpnia", "września", "października", "listopada", "grudnia", "ocak", "şubat", "nisan", "mayıs", "haziran",
    "temmuz", "ağustos", "eylül", "ekim", "kasım", "aralık", "janv",
];

/// The bytes of a word that belongs to a time before it.
pub(super) fn time_word(rest: &str) -> Option<usize> {
    const WORDS: [&str; 12] =
        ["a.m.", "p.m.", "am", "pm", "Uhr", "UTC", "GMT", "CET", "CEST", "EST", "EDT", "h"];
    let found = WORDS.iter().find(|word| {
        rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
            && !rest[word.len()..].starts_with(char::is_alphanumeric)
    })?;
    // `14 h` may be hours as well as a time; `14h07` is found without this.
    (*found != "h").then_some(found.len())
}

/// Beginnings of words for what is counted while a page is visited.
#[rustfmt::skip]
const COUNTED: [&str; 95] = [
    "view", "viewer", "visit", "comment", "repl", "like", "share", "follow", "people", "person", "user", "visitor", "online",
    "watching", "looking", "reading", "review", "rating", "vote", "result", "download", "install", "play", "listen", "point",
    "upvote", "star", "fork", "member", "subscriber", "reaction", "hit", "match", "read", "retweet", "favorite", "bookmark",
    "seen", "guest", "attendee", "participant", "signature", "aufruf", "kommentar", "personen", "person", "gefällt",
    "teilnehmer", "besuch", "leser", "bewertung", "treffer", "ergebnis", "mitglied", "nutzer", "gelesen", "abonnent", "vue",
    "commentaire", "avis", "personne", "lecteur", "résultat", "partage", "téléchargement", "abonné", "visiteur", "vista",
    "visita", "comentario", "persona", "resultado", "descarga", "reseña", "opinion", "gusta", "visualizz", "commenti",
    "persone", "risultat", "piace", "recension", "visualiza", "comentário", "pessoa", "curtida", "avalia", "weergav",
    "reactie", "mensen", "просмотр", "коммент", "человек", "위", "position",
];

/// Signs for the same in scripts without spaces.
const COUNTED_SIGNS: [&str; 12] =
    ["回", "件", "人", "閲", "次", "评", "論", "读", "阅", "览", "조회", "댓글"];

/// Whether this word names something that is counted while a page is visited.
pub(crate) fn counts_something(word: &str) -> bool {
    if COUNTED_SIGNS.iter().any(|sign| word.starts_with(sign)) {
        return true;
    }
    let lower = word.to_lowercase();
    // No longer than a beginning with an ending: `star` is in `stars`, not in `started`.
    COUNTED.iter().any(|known| lower.starts_with(known) && lower.chars().count() <= known.chars().count() + 3)
}

/// Beginnings of words that stand beside the time at which a page was made or looked at.
#[rustfmt::skip]
const MADE: [&str; 64] = [
    "updat", "checked", "refresh", "generat", "fetched", "retriev", "rendered", "served", "cached", "current", "stand",
    "aktual", "abgerufen", "zuletzt", "uhrzeit", "messung", "gemessen", "erzeugt", "erstellt", "generiert", "jour", "actualis",
    "relev", "généré", "actualiz", "consult", "generad", "aggiorn", "generat", "atualiz", "gerad", "bijgewerkt", "ververst",
    "zaktualiz", "uppdater", "opdater", "oppdater", "обновл", "päivit", "güncel", "更", "現", "取", "时", "업데이트", "measur",
    "observ", "issued", "reload", "synced", "sync", "polled", "clock", "time", "now", "page", "visited", "queried", "asof",
    "live", "deliver", "ausgeliefert", "distribu", "配",
];

/// Whether this word stands beside the time at which a page was made.
pub(crate) fn says_when_it_was_made(word: &str) -> bool {
    let lower = word.to_lowercase();
    MADE.iter().any(|known| lower.starts_with(known) && lower.chars().count() <= known.chars().count() + 5)
}

/// Words for the machine that made an answer.
#[rustfmt::skip]
const MACHINES: [&str; 18] = [
    "node", "server", "host", "edge", "instance", "backend", "worker", "pod", "cluster", "cache", "pop", "knoten", "rechner",
    "serveur", "noeud", "servidor", "nodo", "ノ",
];

/// Whether this word names a machine that answers.
pub(crate) fn names_a_machine(word: &str) -> bool {
    let lower = word.to_lowercase();
    MACHINES.iter().any(|known| lower.trim_end_matches('s') == *known)
}

/// Beginnings of the names of days.
#[rustfmt::skip]
const WEEKDAYS: [&str; 40] = [
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "mo", "di", "mi", "do", "fr", "sa", "so", "lun", "mar", "mer", "jeu",
    "ven", "sam", "dim", "mié", "mie", "jue", "vie", "sáb", "sab", "dom", "gio", "seg", "ter", "qua", "qui", "sex", "maa",
    "din", "woe", "zat", "zon", "vri",
];

/// Whether a word is the name of a day of the week, written out or cut.
pub(super) fn is_weekday(word: &str) -> bool {
    let lower = word.to_lowercase();
    let written_out = [
        "day", "tag", "woch", "di", "edi", "es", "eves", "nes", "ngo", "ca", "rdì", "dì", "ado", "dag",
        "feira", "ta", "ça",
    ];
    let n_characters = lower.chars().count();
    WEEKDAYS.iter().any(|day| {
        lower.strip_prefix(day).is_some_and(|rest| {
            rest.is_empty() || n_characters > 4 && written_out.iter().any(|ending| rest.ends_with(ending))
        })
    })
}

/// Words with which a visitor is greeted.
#[rustfmt::skip]
const GREETINGS: [&str; 26] = [
    "good morning", "good afternoon", "good evening", "good night", "welcome back", "hello", "hi", "hey", "guten morgen",
    "guten tag", "guten abend", "willkommen zurück", "hallo", "bonjour", "bonsoir", "bon retour", "buenos días",
    "buenas tardes", "buenas noches", "buongiorno", "buonasera", "bom dia", "boa tarde", "boa noite", "こんにちは", "おはよう",
];

/// Words that lead in a saying, a fact or a picture of the day.
#[rustfmt::skip]
const OF_THE_DAY: [&str; 30] = [
    "quote of the day", "word of the day", "tip of the day", "fact of the day", "joke of the day", "saying of the day",
    "thought of the day", "thought for the day", "photo of the day", "picture of the day", "did you know", "zitat des tages",
    "spruch des tages", "wort des tages", "tipp des tages", "bild des tages", "wussten sie", "citation du jour", "mot du jour",
    "photo du jour", "pensée du jour", "le saviez-vous", "frase del día", "cita del día", "palabra del día",
    "citazione del giorno", "frase do dia", "citaat van de dag", "今日の一言", "今日の言葉",
];

/// Words of banners that ask for consent: what it is about, and what is asked. A line that has one of each is one.
const CONSENT_TO: [&str; 11] = [
    "cookie",
    "クッキー",
    "gdpr",
    "privacy settings",
    "tracking",
    "rgpd",
    "dsgvo",
    "consent",
    "куки",
    "témoins",
    "kakor",
];
#[rustfmt::skip]
const CONSENT: [&str; 14] = [
    "accept", "we use", "consent", "akzept", "zustimm", "verwende", "nutz", "utilis", "accett", "acept", "usamos", "同意", "manage", "agree",
];

/// Whether a line is for the visitor and says nothing: a greeting, a saying of the day, a banner that asks for consent.
pub(crate) fn is_pleasantry(line: &str) -> bool {
    const LONGEST: usize = 240;
    const LONGEST_GREETING: usize = 60;
    if line.len() > LONGEST {
        return false;
    }
    let lower = line.to_lowercase();
    let greets = |greeting: &str| {
        let rest = lower.strip_prefix(greeting);
        rest.is_some_and(|rest| {
            !rest.starts_with(char::is_alphanumeric) || greeting.starts_with(['こ', 'お'])
        })
    };
    line.len() <= LONGEST_GREETING && GREETINGS.iter().any(|greeting| greets(greeting))
        || OF_THE_DAY.iter().any(|lead| lower.starts_with(lead))
        || [&CONSENT_TO[..], &CONSENT].iter().all(|words| words.iter().any(|word| lower.contains(word)))
}
