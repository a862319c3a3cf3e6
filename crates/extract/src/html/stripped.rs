//! The text of a page that no parser should see: everything that is not a tag, in one linear pass.

use crate::text::tidy_lines;

/// The text between the tags, without scripts and styles, one line per run of text.
pub(crate) fn strip_tags(html: &str) -> String {
    let mut text = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        text.push('\n');
        rest = &rest[at..];
        let end = ["script", "style"].iter().find_map(|name| raw_end(rest, name));
        let end = end.or_else(|| rest.find('>').map(|end| end + 1)).unwrap_or(rest.len());
        rest = &rest[end..];
    }
    text.push_str(rest);
    tidy_lines(&text)
}

/// The end of an element that holds no text to read, when `html` begins with it.
fn raw_end(html: &str, name: &str) -> Option<usize> {
    let is_name = |text: &str| text.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name));
    if !is_name(&html[1..]) {
        return None;
    }
    let close = html.match_indices("</").find(|(at, _)| is_name(&html[at + 2..]));
    Some(close.map_or(html.len(), |(at, _)| at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_text_is_left() {
        assert_eq!(strip_tags("a<b>c</b><script>if(x<y)</script><p>d <"), "a\nc\nd");
        assert_eq!(strip_tags("<style>x"), "");
    }
}
