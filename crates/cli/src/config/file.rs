//! A TOML file to a flat list of keys with their positions. Knows no key by name.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One value of the file.
#[derive(Debug)]
pub(super) struct Setting {
    /// With the tables it is in, separated by dots.
    pub(super) key: String,
    pub(super) line: usize,
    pub(super) column: usize,
    /// As text, or why it cannot be one.
    pub(super) value: Result<String, String>,
}

/// All values, in the order of the file; or `line:column: what is wrong`.
pub(super) fn read(text: &str) -> Result<Vec<Setting>, String> {
    let document = DeTable::parse(text).map_err(|error| {
        let (line, column) = position(text, error.span().map_or(0, |span| span.start));
        format!("{line}:{column}: {}", error.message().replace('\n', ", "))
    })?;
    let mut settings = Vec::new();
    collect(text, "", document.get_ref(), &mut settings);
    settings.sort_by_key(|setting| (setting.line, setting.column));
    Ok(settings)
}

fn collect(text: &str, prefix: &str, table: &DeTable<'_>, settings: &mut Vec<Setting>) {
    for (name, value) in table {
        let key = format!("{prefix}{}", name.get_ref());
        if let DeValue::Table(inner) = value.get_ref() {
            collect(text, &format!("{key}."), inner, settings);
            continue;
        }
        let (line, column) = position(text, name.span().start);
        settings.push(Setting { key, line, column, value: as_text(value) });
    }
}

fn as_text(value: &Spanned<DeValue<'_>>) -> Result<String, String> {
    Ok(match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Array(values) => {
            let texts: Result<Vec<String>, String> = values.iter().map(as_text).collect();
            texts?.join(",")
        }
        DeValue::Datetime(_) | DeValue::Table(_) => {
            return Err("expected a text, a number, true, false or a list of texts".to_owned());
        }
    })
}

/// Line and column of a byte, from 1.
fn position(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_with_their_positions() {
        let text = "budget = \"2/s\"\n[guard]\nnetworks = [\"10.0.0.0/8\", \"::1/128\"]\n  hosts=[]\n";
        let found: Vec<_> = read(text).unwrap();
        let found: Vec<_> =
            found.iter().map(|s| (s.key.as_str(), s.line, s.column, s.value.clone().unwrap())).collect();
        let expected = [
            ("budget", 1, 1, "2/s".to_owned()),
            ("guard.networks", 3, 1, "10.0.0.0/8,::1/128".to_owned()),
            ("guard.hosts", 4, 3, String::new()),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_not_toml_is_located() {
        assert!(read("a = 1\nb = \n").unwrap_err().starts_with("2:"));
        assert!(read("a = 1\na = 2\n").unwrap_err().starts_with("2:1: "));
    }
}
