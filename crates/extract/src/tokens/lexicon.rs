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

/// Beginnings of words for what is counted while a page is visited. Only words that are about visitors: `points`, `members` and
/// `people` are as often what a page is about, and are learned where they move by themselves.
#[rustfmt::skip]
const COUNTED: [&str; 166] = [
    "view", "viewer", "visit", "comment", "repl", "like", "share", "follow", "visitor", "online", "watching", "looking", "reading", "reads",
    "review", "rating", "vote", "result", "download", "install", "listen", "upvote", "star", "fork", "subscriber", "reaction",
    "retweet", "favorite", "bookmark", "guest", "aufruf", "kommentar", "gefällt", "besuch", "leser", "bewertung", "treffer",
    "ergebnis", "nutzer", "gelesen", "abonnent", "vue", "commentaire", "réaction", "lecteur", "résultat", "partage",
    "téléchargement", "abonné", "visiteur", "vista", "visita", "comentario", "resultado", "descarga", "reseña", "gusta",
    "visualizz", "commenti", "risultat", "piace", "recension", "visualizaç", "comentário", "curtida", "avalia", "weergav",
    "reactie", "bekeken", "просмотр", "коммент", "bekijk", "visning",
    "watcher", "follower", "wyświetle", "odsłon", "komentarz", "polubi", "obserwuj", "obejrz", "visualizzazion", "osservator",
    "spettator", "utent", "görüntüle", "beğeni", "yorum", "favorile", "okunma", "izlenme", "ziyaret", "curtid", "acesso",
    "katselukert", "tykkäy", "kommentt", "kävijä", "lataukse", "टिप्पणि", "आगंतुक", "दर्शक", "डाउनलोड", "पसंद", "مشاهد",
    "إعجاب", "تعليق", "زائر", "زوار", "الزوار", "قراءة", "zobrazen", "komentář", "návštěv", "líbí", "stažen", "hodnocen",
    "stiahnut", "megtekint", "hozzászól", "kedvelé", "értékelé", "letölté", "látogató", "olvasó", "vizualiz", "comentari",
    "aprecier", "vizitator", "descărcăr", "recenzi", "перегляд", "вподоба", "відвідува", "завантажен", "відгук", "комментари",
    "скачиван", "загрузк", "посетител", "отзыв", "лайк", "подписчик", "צפיות", "תגובות", "לייקים", "προβολ", "σχόλι", "επισκέπ",
    "lượt", "dilihat", "komentar", "suka", "pengunjung", "diunduh", "beoordel", "synes", "godt", "anmeldelse", "nedlast",
    "hämtning", "gilla", "추천", "접속자", "좋아요", "방문",
];

/// The same in scripts without spaces.
const COUNTED_SIGNS: [&str; 23] = [
    "閲覧",
    "再生",
    "浏览",
    "阅读",
    "阅览",
    "评论",
    "조회",
    "댓글",
    "いいね",
    "コメント",
    "アクセス",
    "点赞",
    "點讚",
    "在线",
    "下载",
    "正在看",
    "推荐数",
    "เข้าชม",
    "ครั้ง",
    "ผู้ชม",
    "ความคิด",
    "ถูกใจ",
    "กำลังดู",
];

/// Whether this word names something that is counted while a page is visited.
pub(crate) fn counts_something(word: &str) -> bool {
    let lower = word.to_lowercase();
    // No longer than a beginning with an ending: `view` is in `views`, not in `viewpoint`.
    !begins_another(&lower)
        && COUNTED
            .iter()
            .any(|known| lower.starts_with(known) && lower.chars().count() <= known.chars().count() + 3)
        || COUNTED_SIGNS.iter().any(|sign| word.starts_with(sign))
}

/// Whether it is another word that begins like one that counts: `started`, `likely`.
fn begins_another(lower: &str) -> bool {
    ["start", "likely"].iter().any(|other| lower.starts_with(other))
}

/// Whether a text in a script without spaces begins with such a word.
pub(crate) fn begins_with_counted_sign(text: &str) -> bool {
    COUNTED_SIGNS.iter().any(|sign| text.starts_with(sign))
}

/// Beginnings of words for what visitors give marks to; the mean of those moves with every visitor.
#[rustfmt::skip]
const RATED: [&str; 22] = [
    "rating", "rated", "star", "stars", "bewertung", "sterne", "valoraci", "valutazion", "avaliaç", "ocena", "ocen", "hodnocen", "értékel",
    "puan", "рейтинг", "оценк", "оцінк", "betyg", "beoordel", "평점", "評価", "评分",
];

/// Whether this word or sign says that a figure beside it is the mean of marks that visitors gave.
pub(crate) fn rates_something(word: &str) -> bool {
    let lower = word.to_lowercase();
    matches!(word, "★" | "☆" | "⭐")
        || !begins_another(&lower)
            && RATED
                .iter()
                .any(|known| lower.starts_with(known) && lower.chars().count() <= known.chars().count() + 3)
}

/// Words for what has numbered editions: people watch a page for the next.
#[rustfmt::skip]
const EDITIONS: [&str; 33] = [
    "edition", "version", "release", "revision", "issue", "volume", "build", "chapter", "episode", "ausgabe", "auflage", "folge", "fassung",
    "kapitel", "édition", "numéro", "chapitre", "edición", "versión", "número", "capítulo", "edizione", "versione",
    "edição", "versão", "editie", "versie", "wydanie", "wersja", "utgåva", "издание", "версия", "выпуск",
];

/// Whether this word names something that has numbered editions.
pub(crate) fn names_an_edition(word: &str) -> bool {
    EDITIONS.contains(&word.to_lowercase().as_str())
}

/// Beginnings of words that say when a page was made and hardly anything else. Words such as `time`, `now`, `page` or `live`
/// need no place here: what they stand beside is a clock if it agrees with the clock.
#[rustfmt::skip]
const MADE: [&str; 51] = [
    "updated", "refresh", "generated", "fetched", "retriev", "rendered", "cached", "aktualisiert", "abgerufen", "zuletzt", "uhrzeit",
    "erzeugt", "generiert", "actualis", "généré", "actualiz", "generad", "aggiorn", "atualiz", "gerado", "bijgewerkt",
    "ververst", "zaktualiz", "uppdater", "opdater", "oppdater", "обновл", "päivit", "güncellen", "更新", "取得", "업데이트",
    "reloaded", "synced", "polled", "queried", "asof", "relevé", "relevee", "ажурира", "оновлен", "تحديث", "अपडेट",
    "aktualiz", "frissít", "güncelle", "diperbarui", "עודכן", "ενημέρωσ", "odświeżon", "osvěžen",
];

/// Whether this word says that a time beside it is when the page was made.
pub(crate) fn says_when_it_was_made(word: &str) -> bool {
    let lower = word.to_lowercase();
    MADE.iter().any(|known| lower.starts_with(known) && lower.chars().count() <= known.chars().count() + 5)
}

/// Whether a text in a script without spaces begins with such a word.
pub(crate) fn begins_with_made_sign(text: &str) -> bool {
    ["更新", "取得"].iter().any(|sign| text.starts_with(sign))
}

/// Words for the machine that made an answer.
#[rustfmt::skip]
const MACHINES: [&str; 16] = [
    "node", "server", "host", "edge", "instance", "backend", "worker", "pod", "cluster", "pop", "knoten", "rechner", "serveur",
    "noeud", "servidor", "nodo",
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
const GREETINGS: [&str; 74] = [
    "good morning", "good afternoon", "good evening", "good night", "welcome back", "hello", "hi", "hey", "guten morgen",
    "guten tag", "guten abend", "willkommen zurück", "hallo", "bonjour", "bonsoir", "bon retour", "buenos días",
    "buenas tardes", "buenas noches", "buongiorno", "buonasera", "bom dia", "boa tarde", "boa noite", "こんにちは", "おはよう",
    "صباح الخير", "مساء الخير", "نهارك سعيد", "dzień dobry", "dobry wieczór", "добрый день", "доброе утро", "добрый вечер",
    "god morgon", "god kväll", "günaydın", "iyi akşamlar", "goedemorgen", "goedemiddag", "goedenavond", "안녕하세요",
    "dobrý den", "dobré ráno", "hyvää päivää", "hyvää huomenta", "hyvää iltaa", "jó napot", "jó reggelt", "bună ziua",
    "bună seara", "доброго дня", "добрий день", "здравствуйте", "καλημέρα", "καλησπέρα", "god dag", "god eftermiddag", "goddag",
    "xin chào", "selamat siang", "selamat pagi", "नमस्ते", "merhaba", "您好", "你好", "สวัสดี", "שלום", "مرحبا", "أهلا", "witaj",
    "olá", "hola", "ciao",
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

/// What banners that ask for consent are about, and words with which they ask. A line that has one of each is one.
#[rustfmt::skip]
const CONSENT_TO: [&str; 20] = [
    "cookie", "クッキー", "gdpr", "privacy settings", "tracking", "rgpd", "dsgvo", "куки", "témoins", "kakor",
    "çerez", "süti", "eväste", "informasjonskaps", "informationskaps", "تعريف الارتباط", "עוגיות", "कुकी", "คุกกี้", "쿠키",
];
/// Only words that are said to a visitor: `consent` and `tracking` are in the news as well.
#[rustfmt::skip]
const ASKING: [&str; 61] = [
    "accept", "we use", "you agree", "your consent", "your choice", "akzept", "zustimm", "wir verwenden", "wir nutzen", "nous utilis",
    "j’accepte", "accett", "acept", "usamos", "utilizamos", "同意", "manage cookies", "akceptuj", "gebruiken",
    "akcept", "souhlas", "súhlas", "elfogad", "használ", "прийня", "прийма", "принять", "принима", "используем", "використов",
    "αποδοχή", "χρησιμοποι", "hyväksy", "käytämme", "godkänn", "godta", "vi bruger", "vi bruker", "vi använder", "kabul",
    "kullan", "موافق", "نستخدم", "אישור", "משתמש", "स्वीकार", "उपयोग", "đồng ý", "sử dụng", "setuju", "menggunakan", "ยอมรับ",
    "ใช้", "동의", "사용", "使用", "aceit", "używa", "používá", "folosim", "usiamo",
];

/// Whether a line is for the visitor and says nothing: a greeting, a saying of the day, a banner that asks for consent.
pub(crate) fn is_pleasantry(line: &str) -> bool {
    const LONGEST: usize = 240;
    if line.len() > LONGEST {
        return false;
    }
    let lower = line.to_lowercase();
    GREETINGS.iter().any(|greeting| lower.strip_prefix(greeting).is_some_and(greets_someone))
        || OF_THE_DAY.iter().any(|lead| lower.starts_with(lead))
        || [&CONSENT_TO[..], &ASKING].iter().all(|words| words.iter().any(|word| lower.contains(word)))
}

/// Whether a text is a greeting and nothing else.
pub(crate) fn is_greeting(text: &str) -> bool {
    let lower = text.to_lowercase();
    GREETINGS.contains(&&*lower)
}

/// Whether this is what follows a greeting: nothing, or the name of someone. `Hello Kitty mug` is none.
fn greets_someone(rest: &str) -> bool {
    const LONGEST_NAME: usize = 3;
    let name = rest.trim_start_matches(|c: char| {
        matches!(c, ',' | '!' | '.' | '、' | '！' | '，' | '،') || c.is_whitespace()
    });
    let is_set_apart = name.is_empty() || rest.trim_start().starts_with([',', '、', '，', '،']);
    // A visitor may have a number for a name.
    let begins_with_words =
        name.split_whitespace().rev().skip(1).all(|word| !word.contains(char::is_numeric));
    let is_name = name.is_empty() || name.starts_with(char::is_alphabetic);
    is_set_apart && is_name && begins_with_words && name.split_whitespace().count() <= LONGEST_NAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pleasantry_is_said_to_the_visitor() {
        for line in [
            "Good morning, guest!",
            "Hello",
            "Guten Abend, Herr Meier.",
            "We use cookies",
            "Cookies: accept all?",
        ] {
            assert!(is_pleasantry(line), "{line}");
        }
        for line in [
            "Hi-Fi speaker: € 199",
            "Hello Kitty mug $ 9.99",
            "Planning consent granted",
            "Manage tracking: in transit",
        ] {
            assert!(!is_pleasantry(line), "{line}");
        }
    }
}
