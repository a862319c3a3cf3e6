//! Bytes to text: byte-order mark, header, declaration inside the document, then a guess, as browsers do.
//!
//! A declaration that does not fit the bytes is not believed. Nothing here fails: what cannot be decoded is
//! replaced, and said.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::document::Diagnostic;

/// How far into a document a declaration of its character set may stand.
const PROLOGUE: usize = 1024;

/// The text of `body`.
pub(crate) fn decode(body: &[u8], content_type: Option<&str>, diagnostics: &mut Vec<Diagnostic>) -> String {
    if let Some((encoding, mark)) = Encoding::for_bom(body) {
        return decode_as(encoding, &body[mark..], diagnostics);
    }
    let declared = content_type.and_then(charset_parameter).or_else(|| declared_inside(body));
    if let Some(encoding) = declared.as_deref().and_then(|label| Encoding::for_label(label.as_bytes())) {
        let (text, had_errors) = encoding.decode_without_bom_handling(body);
        if !had_errors && !is_doubtful(encoding, body) {
            return text.into_owned();
        }
    }
    let used = guess(body);
    // No declaration is not a wrong one, and a synonym is not either.
    let named = declared.and_then(|label| {
        Encoding::for_label(label.as_bytes())
            .map_or(Some(label), |encoding| (encoding != used).then(|| encoding.name().to_owned()))
    });
    if let Some(declared) = named {
        diagnostics.push(Diagnostic::WrongCharset { declared, used: used.name().to_owned() });
    }
    decode_as(used, body, diagnostics)
}

fn decode_as(encoding: &'static Encoding, body: &[u8], diagnostics: &mut Vec<Diagnostic>) -> String {
    let (text, had_errors) = encoding.decode_without_bom_handling(body);
    if had_errors {
        diagnostics.push(Diagnostic::BadBytes { charset: encoding.name().to_owned() });
    }
    text.into_owned()
}

/// One-byte sets accept any bytes, but valid UTF-8 with letters beyond ASCII in it is hardly ever anything else;
/// nor are two bytes for each character without a single zero.
fn is_doubtful(encoding: &'static Encoding, body: &[u8]) -> bool {
    let is_wide = encoding == UTF_16LE || encoding == UTF_16BE;
    let is_strange = (encoding.is_single_byte() && !body.is_ascii()) || (is_wide && !body.contains(&0));
    is_strange && std::str::from_utf8(body).is_ok()
}

fn guess(body: &[u8]) -> &'static Encoding {
    if is_nearly_utf8(body) {
        return UTF_8;
    }
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(body, true);
    detector.guess(None, chardetng::Utf8Detection::Allow)
}

/// Valid UTF-8, or cut in the middle of its last character.
fn is_nearly_utf8(body: &[u8]) -> bool {
    std::str::from_utf8(body).map_or_else(|error| error.error_len().is_none(), |_| true)
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
        let mut diagnostics = Vec::new();
        assert_eq!(decode(body, content_type, &mut diagnostics), text);
        let messages: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(messages, said);
    }

    #[test]
    fn the_mark_wins_over_the_header() {
        check(b"\xef\xbb\xbfgr\xc3\xbcn", Some("text/html; charset=latin1"), "grün", &[]);
        check(b"\xff\xfeA\0b\0", None, "Ab", &[]);
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
        let said = ["declared as UTF-8, but read as windows-1252"];
        check(b"gr\xfcn ist die Wiese", Some("text/plain; charset=utf-8"), "grün ist die Wiese", &said);
        check(
            b"plain",
            Some("text/plain; charset=nonsense"),
            "plain",
            &["declared as nonsense, but read as UTF-8"],
        );
    }

    #[test]
    fn a_cut_in_the_middle_of_a_character_is_no_other_charset() {
        check(
            b"gr\xc3\xbcn\xc3",
            None,
            "grün\u{fffd}",
            &["some bytes are not valid UTF-8 and were replaced"],
        );
    }
}
