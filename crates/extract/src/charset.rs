//! Bytes to text: byte-order mark, header, declaration inside the document, the decision of the last time, then a
//! guess.
//!
//! A few bad bytes are damage and no evidence: they are replaced, and said, while everything around them reads as it did.
//! Only a document that is full of them is not what it is declared to be. Nothing here fails.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::document::Diagnostic;

/// How far into a document a declaration of its character set may stand.
const PROLOGUE: usize = 1024;

/// Characters that must fit for a bad byte to be forgiven; hardly anything fits UTF-8 by chance, but much the others.
const GOOD_FOR_EACH_BAD: usize = 20;
const GOOD_FOR_EACH_BAD_IN_UTF_8: usize = 10;

/// The text of a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Decoded {
    pub(crate) text: String,
    /// The character set. None when any would do, because there is nothing but ASCII and no declaration.
    pub(crate) charset: Option<&'static str>,
}

/// Decodes `body`. Without a declaration, it is in the character set `last` that it was in before, unless that no longer fits.
pub(crate) fn decode(
    body: &[u8],
    content_type: Option<&str>,
    last: Option<&str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Decoded {
    if let Some((encoding, mark)) = Encoding::for_bom(body) {
        return decode_as(encoding, &body[mark..], diagnostics);
    }
    let declared = content_type.and_then(charset_parameter).or_else(|| declared_inside(body));
    let known = |label: &str| Encoding::for_label(label.as_bytes());
    if declared.is_none() && body.is_ascii() {
        let text = String::from_utf8_lossy(body).into_owned();
        return Decoded { text, charset: None };
    }
    if let Some(encoding) = declared.as_deref().and_then(known)
        && (encoding == UTF_8 || !is_doubtful(encoding, body))
    {
        return decode_as(encoding, body, diagnostics);
    }
    let used = match last.and_then(known).filter(|_| declared.is_none()) {
        Some(last) if !is_doubtful(last, body) => last,
        _ => guess(body),
    };
    // No declaration is not a wrong one, and a synonym is not either.
    let named = declared.and_then(|label| {
        known(&label).map_or(Some(label), |encoding| (encoding != used).then(|| encoding.name().to_owned()))
    });
    if let Some(declared) = named {
        diagnostics.push(Diagnostic::WrongCharset { declared, used: used.name().to_owned() });
    }
    decode_as(used, body, diagnostics)
}

/// The text of an XML document: in what its mark or its declaration says, in two bytes a character if it begins so, or in what
/// fits.
pub fn decoded_xml(body: &[u8]) -> String {
    let hint = match body {
        [b'<', 0, ..] => Some("charset=utf-16le"),
        [0, b'<', ..] => Some("charset=utf-16be"),
        _ => None,
    };
    decode(body, hint, None, &mut Vec::new()).text
}

fn decode_as(encoding: &'static Encoding, body: &[u8], diagnostics: &mut Vec<Diagnostic>) -> Decoded {
    let (text, had_errors) = encoding.decode_without_bom_handling(body);
    if had_errors {
        diagnostics.push(Diagnostic::BadBytes { charset: encoding.name().to_owned() });
    }
    Decoded { text: text.into_owned(), charset: Some(encoding.name()) }
}

/// Whether a body is hardly in this character set. One-byte sets accept any bytes, but what is UTF-8 with letters beyond
/// ASCII in it is hardly ever anything else; nor are two bytes for each character without a single zero.
fn is_doubtful(encoding: &'static Encoding, body: &[u8]) -> bool {
    let utf_8 = Fit::with_utf_8(body);
    if encoding == UTF_8 {
        return !utf_8.is_forgiven();
    }
    if encoding == UTF_16LE || encoding == UTF_16BE {
        return !body.contains(&0) && utf_8.is_forgiven();
    }
    let is_utf_8 = utf_8.n_good > 0 && utf_8.is_forgiven();
    let fit = Fit::with(encoding, body);
    is_utf_8 || fit.n_bad * GOOD_FOR_EACH_BAD > fit.n_good
}

fn guess(body: &[u8]) -> &'static Encoding {
    let utf_8 = Fit::with_utf_8(body);
    if utf_8.n_bad == 0 || (utf_8.n_good > 0 && utf_8.is_forgiven()) {
        return UTF_8;
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(body, true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

/// How well bytes fit a character set: characters beyond ASCII, and places where it cannot be.
#[derive(Debug, PartialEq, Eq)]
struct Fit {
    n_good: usize,
    n_bad: usize,
}

impl Fit {
    /// Whether it is UTF-8 but for some damage. One bad byte alone is never evidence.
    const fn is_forgiven(&self) -> bool {
        self.n_bad <= 1 + self.n_good / GOOD_FOR_EACH_BAD_IN_UTF_8
    }

    /// What is cut off in the middle of the last character is not bad.
    fn with_utf_8(body: &[u8]) -> Self {
        let mut fit = Self { n_good: 0, n_bad: 0 };
        let mut was_bad = false;
        let chunks = body.utf8_chunks();
        for chunk in chunks {
            fit.n_good += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
            was_bad &= chunk.valid().is_empty();
            // A character that lost its first byte is bad at one place.
            if !chunk.invalid().is_empty() && !was_bad {
                fit.n_bad += 1;
                was_bad = true;
            }
        }
        let last = body.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
        let is_cut = std::str::from_utf8(last).is_err_and(|error| error.error_len().is_none());
        fit.n_bad = fit.n_bad.saturating_sub(usize::from(is_cut));
        fit
    }

    fn with(encoding: &'static Encoding, body: &[u8]) -> Self {
        let (text, _) = encoding.decode_without_bom_handling(body);
        let n_bad = text.chars().filter(|c| *c == '\u{fffd}').count();
        let n_beyond = text.chars().filter(|c| !c.is_ascii()).count();
        Self { n_good: n_beyond - n_bad, n_bad }
    }
}

/// The `charset` parameter of a content type.
fn charset_parameter(content_type: &str) -> Option<String> {
    value_after(&content_type.to_ascii_lowercase(), "charset")
}

/// What `<?xml encoding=…?>` or `<meta charset=…>` near the beginning says.
fn declared_inside(body: &[u8]) -> Option<String> {
    let prologue = &body[..body.len().min(PROLOGUE)];
    let prologue: String = prologue.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    if let Some(rest) = prologue.trim_start().strip_prefix("<?xml") {
        return value_after(&rest[..rest.find("?>").unwrap_or(rest.len())], "encoding");
    }
    prologue.match_indices("<meta").find_map(|(at, _)| {
        let tag = &prologue[at..];
        value_after(&tag[..tag.find('>').unwrap_or(tag.len())], "charset")
    })
}

/// The value in `… name = "value" …`, quoted or not.
fn value_after(text: &str, name: &str) -> Option<String> {
    let rest = &text[text.find(name)? + name.len()..];
    let rest = rest.trim_start().strip_prefix('=')?.trim_start().trim_start_matches(['"', '\'']);
    let end = rest.find(['"', '\'', ';', ' ', '\t', '\n', '\r', '/']).unwrap_or(rest.len());
    let value = rest[..end].trim();
    (!value.is_empty()).then(|| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(body: &[u8], content_type: Option<&str>, text: &str, said: &[&str]) {
        check_after(None, body, content_type, text, said);
    }

    fn check_after(last: Option<&str>, body: &[u8], content_type: Option<&str>, text: &str, said: &[&str]) {
        let mut diagnostics = Vec::new();
        assert_eq!(decode(body, content_type, last, &mut diagnostics).text, text);
        let messages: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(messages, said);
    }

    const REPLACED: &[&str] = &["some bytes are not valid UTF-8 and were replaced"];

    #[test]
    fn the_mark_wins_over_the_header() {
        check(b"\xef\xbb\xbfgr\xc3\xbcn", Some("text/html; charset=latin1"), "grün", &[]);
        check(b"\xff\xfeA\0b\0", None, "Ab", &[]);
    }

    #[test]
    fn letters_of_two_bytes_need_no_mark_where_they_are_declared() {
        check(b"A\0b\0", Some("text/plain; charset=utf-16le"), "Ab", &[]);
        check(b"\0A\0b", Some("text/plain; charset=utf-16be"), "Ab", &[]);
    }

    #[test]
    fn the_header_wins_over_the_document() {
        check(
            b"<meta charset=koi8-r>\xfc",
            Some("text/html;charset=\"ISO-8859-1\""),
            "<meta charset=koi8-r>ü",
            &[],
        );
    }

    #[test]
    fn the_document_is_asked() {
        let page = b"<meta http-equiv=content-type content='text/html; charset=windows-1251'>\xcf\xf0";
        check(
            page,
            Some("text/html"),
            "<meta http-equiv=content-type content='text/html; charset=windows-1251'>Пр",
            &[],
        );
        check(
            b"<?xml version='1.0' encoding='iso-8859-1'?><a>\xfc",
            None,
            "<?xml version='1.0' encoding='iso-8859-1'?><a>ü",
            &[],
        );
    }

    #[test]
    fn a_declaration_that_does_not_fit_is_not_believed() {
        let said = ["declared as windows-1252, but read as UTF-8"];
        check("grün".as_bytes(), Some("text/plain; charset=iso-8859-1"), "grün", &said);
        let said = ["declared as UTF-16LE, but read as UTF-8"];
        check(b"<?xml encoding='UTF-16'?>", None, "<?xml encoding='UTF-16'?>", &said);
        check(
            b"plain",
            Some("text/plain; charset=nonsense"),
            "plain",
            &["declared as nonsense, but read as UTF-8"],
        );
    }

    #[test]
    fn a_few_bad_bytes_are_no_other_charset() {
        check(b"gr\xc3\xbcn\xc3", None, "grün\u{fffd}", REPLACED);
        // Declared is declared.
        check(b"gr\xfcn, sch\xf6n", Some("text/plain; charset=utf-8"), "gr\u{fffd}n, sch\u{fffd}n", REPLACED);
        // Not declared, or declared as what takes any byte.
        let damaged = b"gr\xc3\xbcn ist die Wiese\xff, sch\xc3\xb6n";
        for content_type in [None, Some("text/plain"), Some("text/plain; charset=iso-8859-1")] {
            let decoded = decode(damaged, content_type, None, &mut Vec::new());
            assert_eq!(decoded.text, "grün ist die Wiese\u{fffd}, schön", "{content_type:?}");
        }
        let (korean, _, _) = encoding_rs::EUC_KR.encode("년월일가나다라마바사아자");
        let damaged = [&korean, &b"\xff <"[..], &korean].concat();
        let text = "년월일가나다라마바사아자\u{fffd} <년월일가나다라마바사아자";
        check(
            &damaged,
            Some("text/xml; charset=euc-kr"),
            text,
            &["some bytes are not valid EUC-KR and were replaced"],
        );
    }

    /// As it is cut at a limit: a page in plain letters whose first other one is only half there.
    #[test]
    fn a_text_that_is_cut_inside_of_a_letter_is_no_other_charset() {
        check(b"Plain words, and a caf\xc3", None, "Plain words, and a caf\u{fffd}", REPLACED);
    }

    #[test]
    fn what_is_full_of_bad_bytes_is_another_charset() {
        let (japanese, _, _) = encoding_rs::SHIFT_JIS.encode("これは日本語の文章です。");
        let said = ["declared as EUC-KR, but read as Shift_JIS"];
        check(&japanese, Some("text/plain; charset=euc-kr"), "これは日本語の文章です。", &said);
        // What it was the last time says nothing of what is declared now.
        let last = Some("windows-1252");
        check_after(last, &japanese, Some("text/plain; charset=euc-kr"), "これは日本語の文章です。", &said);
    }

    #[test]
    fn without_a_declaration_the_last_decision_stays() {
        // By itself this would be taken for Western European.
        check_after(Some("ISO-8859-2"), b"\xb1\xb6", None, "ąś", &[]);
        check_after(Some("UTF-8"), b"one \xff bad byte", None, "one \u{fffd} bad byte", REPLACED);
        // Strong evidence.
        check_after(Some("ISO-8859-2"), "ąś".as_bytes(), None, "ąś", &[]);
        check_after(Some("UTF-8"), b"sch\xf6n gr\xfcn, \xe4hnlich", None, "schön grün, ähnlich", &[]);
        // A declaration is stronger than habit.
        check_after(Some("UTF-8"), b"gr\xfcn", Some("text/plain; charset=iso-8859-1"), "grün", &[]);
    }

    #[test]
    fn ascii_decides_nothing() {
        let charset = |body: &[u8], content_type| {
            decode(body, content_type, Some("ISO-8859-2"), &mut Vec::new()).charset
        };
        assert_eq!(charset(b"plain", None), None);
        assert_eq!(charset(b"plain", Some("text/plain; charset=koi8-r")), Some("KOI8-R"));
        assert_eq!(charset(b"\xb1\xb6", None), Some("ISO-8859-2"));
    }
}
