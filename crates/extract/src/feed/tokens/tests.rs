//! What is cut, and where, when something is missing.

use super::{Tag, Token, Tokens};
use crate::work::Work;

/// The tokens of a text inside of `<a>`, written out.
fn cut(text: &str) -> (Vec<String>, Option<&'static str>) {
    let work = Work::default();
    let mut tokens = Tokens::new(text, &work);
    let mut found = Vec::new();
    while let Some(token) = tokens.next("a") {
        found.push(match token {
            Token::Open(Tag { name, attributes, closes_itself }) => {
                format!("<{name}|{attributes}|{}>", if closes_itself { "/" } else { "" })
            }
            Token::Close(name) => format!("</{name}>"),
            Token::Text(text) => format!("text {text}"),
            Token::Verbatim(text) => format!("verbatim {text}"),
            Token::Doctype(text) => format!("doctype {text}"),
        });
    }
    (found, tokens.problem)
}

fn check(text: &str, expected: &[&str]) {
    assert_eq!(cut(text).0, expected, "{text}");
}

#[test]
fn what_is_whole_is_cut_at_its_tags() {
    let text = "<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c>'>]><a b='c' d=\">\">x &amp; y<!-- <item> --><b/><c d='e'/><![CDATA[<i>]]></a>";
    let (found, problem) = cut(text);
    let expected = [
        "doctype <!DOCTYPE a [<!ENTITY b 'c>'>]>",
        "<a| b='c' d=\">\"|>",
        "text x &amp; y",
        "<b||/>",
        "<c| d='e'|/>",
        "verbatim <i>",
        "</a>",
    ];
    assert_eq!((found, problem), (expected.map(str::to_owned).to_vec(), None));
}

#[test]
fn a_less_than_sign_may_be_text() {
    check("1 < 2</a>", &["text 1 ", "text < 2", "</a>"]);
    check("1 <2</a>", &["text 1 ", "text <2", "</a>"]);
    check("a <b</a><c>", &["text a ", "text <b", "</a>", "<c||>"]);
    check("<http://x.example/><c>", &["text <http://x.example/>", "<c||>"]);
    check("<<c><", &["text <", "<c||>", "text <"]);
    check("</ a><c>", &["text </ a>", "<c||>"]);
}

#[test]
fn a_quote_without_its_fellow_ends_with_the_tag() {
    check("<a b=\"c>d</a><e f=\"g\">", &["<a||>", "text d", "</a>", "<e| f=\"g\"|>"]);
    check("<a b=\"c>d</a>", &["<a||>", "text d", "</a>"]);
    check("<a b=\"1<2\" c='3'>", &["<a| b=\"1<2\" c='3'|>"]);
}

#[test]
fn a_section_that_lost_its_end_ends_with_its_element() {
    check("<![CDATA[x]></a><b><![CDATA[y]]></b>", &["verbatim x]>", "</a>", "<b||>", "verbatim y", "</b>"]);
    check("<![CDATA[x]></a><b>y</b>", &["verbatim x]>", "</a>", "<b||>", "text y", "</b>"]);
    check("<![CDATA[x<i>", &["verbatim x<i>"]);
    check("<![CDATA[x <![CDATA[ </p>]]></a>", &["verbatim x <![CDATA[ </p>", "</a>"]);
}

#[test]
fn a_comment_that_lost_its_end_hides_no_items() {
    check("<!-- x --<item>y</item><!-- z -->", &["text  x --", "<item||>", "text y", "</item>"]);
    check("<!-- x <item>y</item>", &["text  x ", "<item||>", "text y", "</item>"]);
    check("<?xml version='1.0'><rss><item><?x?>", &["<rss||>", "<item||>"]);
    check("<!DOCTYPE rss [ ]<rss>", &["doctype <!DOCTYPE", "text  rss [ ]", "<rss||>"]);
    check("<!x><a>", &["<a||>"]);
}

#[test]
fn searching_for_what_is_missing_is_paid_for() {
    for piece in ["<![CDATA[", "<!--", "<?x ", "<a b=\"", "<!DOCTYPE [", "<a "] {
        let (text, work) = (piece.repeat(200_000), Work::new(1_000_000));
        let mut tokens = Tokens::new(&text, &work);
        let mut n_tokens = 0;
        while tokens.next("a").is_some() {
            n_tokens += 1;
        }
        assert!(work.is_used_up() || n_tokens <= 200_000, "{piece}");
    }
}
