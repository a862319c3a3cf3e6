//! Lists of addresses from other programs: plain text or OPML, in and out. Adds nothing itself.

mod opml;
mod plain;

pub(crate) use opml::{Outline, write as write_opml};

/// The longest list that is read.
pub(crate) const MAX_BYTES: u64 = 64 << 20;

/// The longest address.
const MAX_URL: usize = 8 << 10;

/// An address to be watched, and where in the list it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) line: usize,
    pub(crate) url: String,
    /// What the list calls it.
    pub(crate) name: Option<String>,
    /// What the list says it is.
    pub(crate) kind: Option<&'static str>,
    pub(crate) tags: Vec<String>,
}

/// Something in the list that is no address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unreadable {
    pub(crate) line: usize,
    pub(crate) why: String,
}

/// All addresses of a list, and what could not be read.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) entries: Vec<Listed>,
    pub(crate) unreadable: Vec<Unreadable>,
}

impl List {
    /// Reads OPML if it looks like XML, and one address per line otherwise.
    pub(crate) fn read(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        if text.trim_start().starts_with('<') { opml::read(text) } else { plain::read(text) }
    }

    fn take(
        &mut self,
        line: usize,
        url: &str,
        name: Option<String>,
        kind: Option<&'static str>,
        tags: Vec<String>,
    ) {
        match checked(url) {
            Ok(checked) => {
                // Many programs write the address where they know no title.
                let name = name.filter(|name| name != url && *name != checked);
                self.entries.push(Listed { line, url: checked, name, kind, tags });
            }
            Err(why) => self.unreadable.push(Unreadable { line, why }),
        }
    }
}

/// The text of a list that says which character set it is in: by a mark at its beginning, or by being XML.
pub(crate) fn decoded(bytes: &[u8]) -> Option<String> {
    let has_mark =
        [&b"\xff\xfe"[..], b"\xfe\xff", b"\xef\xbb\xbf"].iter().any(|mark| bytes.starts_with(mark));
    let is_xml = || bytes.iter().find(|byte| !byte.is_ascii_whitespace() && **byte != 0) == Some(&b'<');
    (has_mark || is_xml()).then(|| dunlin_extract::decoded_xml(bytes))
}

/// An address in its normal form, so that two spellings of one are recognised.
pub(crate) fn checked(text: &str) -> Result<String, String> {
    let shown = || crate::terminal::one_line(text, 60);
    if text.len() > MAX_URL {
        return Err(format!("`{}` is longer than {MAX_URL} bytes (shorten the address)", shown()));
    }
    let url = url::Url::parse(text)
        .map_err(|error| format!("`{}`: {error} (write it as https://host/path)", shown()))?;
    match url.scheme() {
        "http" | "https" => Ok(url.into()),
        other => Err(format!("`{}`: {other} is not watched (only http and https are)", shown())),
    }
}
