//! Element names as far as the nesting gate distinguishes them: which end by themselves, which hold raw text, and
//! which an end tag cannot reach through.

/// How an element opens and closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Has no content, or cannot be nested.
    Void,
    /// Ends only by its own end tag and is opened again in the next block until then.
    Formatting,
    /// Contains text that is not markup.
    Raw,
    /// `p`: ends when the next one begins.
    Paragraph,
    /// `li`: ends when the next one begins, through paragraphs and divisions.
    ListItem,
    /// `dt` and `dd`: likewise, each also ending the other.
    Term,
    /// Ends when the next of its kind begins right inside it.
    Choice,
    /// Rows, cells, captions and the like: end with the next one, regardless of what is inside. Mean nothing outside of a table.
    TablePart,
    /// End tags of what is around it do not reach through; its own reaches through all that is not such a wall.
    Container,
    /// End tags of what is around it do not reach through, and its own only through inline elements.
    Wall,
    /// Structure that the end tag of an inline element cannot reach through.
    Block,
    /// Anything else.
    Inline,
}

/// The name of an element; two names are the same when their ids are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) id: u64,
    pub(super) kind: Kind,
}

pub(super) const A: u64 = id_of("a");
pub(super) const SVG: u64 = id_of("svg");
pub(super) const MATH: u64 = id_of("math");
const SELECT: u64 = id_of("select");
const FRAMESET: u64 = id_of("frameset");
pub(super) const FORM: u64 = id_of("form");
const NOSCRIPT: u64 = id_of("noscript");
pub(super) const P: u64 = id_of("p");
pub(super) const TABLE: u64 = id_of("table");
pub(super) const TEMPLATE: u64 = id_of("template");
/// Inside these a parser may see tags where others see raw text.
pub(super) const HIDING_RAW_TEXT: [u64; 6] = [SVG, MATH, SELECT, FRAMESET, TEMPLATE, NOSCRIPT];
/// End tags that end SVG and `MathML`.
pub(super) const LEAVING_FOREIGN: [u64; 2] = [id_of("br"), P];
const RUBY: u64 = id_of("ruby");
const RUBY_PARTS: [u64; 4] = [id_of("rb"), id_of("rp"), id_of("rt"), id_of("rtc")];
const DIV: u64 = id_of("div");

impl Name {
    pub(super) const P: Self = Self { id: P, kind: Kind::Paragraph };

    pub(super) fn of(name: &str) -> Self {
        // No name of HTML is longer; of longer ones the beginning tells enough.
        let name = crate::text::cut(name, 20).to_ascii_lowercase();
        Self { id: id_of(&name), kind: kind_of(&name) }
    }

    /// Whether no paragraph goes on where this begins.
    pub(super) fn ends_paragraph(self) -> bool {
        let others = ["hr", "plaintext", "table", "xmp"];
        matches!(self.kind, Kind::Block | Kind::ListItem | Kind::Term)
            || others.iter().any(|name| id_of(name) == self.id)
    }

    pub(super) fn starts_foreign(self) -> bool {
        self.id == SVG || self.id == MATH
    }

    /// Whether the end tags of what is around it do not reach through.
    pub(super) fn is_wall(self) -> bool {
        matches!(self.kind, Kind::Container | Kind::Wall) || self.is_cell()
    }

    /// Whether formatting elements that are opened inside end with it.
    pub(super) fn confines_formatting(self) -> bool {
        self.is_cell()
            || ["applet", "marquee", "object", "template"].iter().any(|name| id_of(name) == self.id)
    }

    pub(super) fn is_cell(self) -> bool {
        ["caption", "td", "th"].iter().any(|name| id_of(name) == self.id)
    }

    /// Whether inside SVG or `MathML` this leads back to HTML, where `/>` means nothing.
    pub(super) fn leads_back_to_html(self) -> bool {
        match self.kind {
            Kind::Inline => ["ruby", "span", "sub", "sup", "var"].iter().any(|name| id_of(name) == self.id),
            Kind::Raw => self.id == id_of("title"),
            _ => ![A, SVG, MATH].contains(&self.id),
        }
    }

    /// Whether an end tag of this name ends an `other` that was opened inside.
    pub(super) fn may_close_over(self, other: Self) -> bool {
        let is_wall = matches!(other.kind, Kind::Container | Kind::Wall);
        match self.kind {
            // It may have ended long before, at a field for text for instance.
            _ if self.id == SELECT => other.kind == Kind::Choice,
            // A cell or row has ended it before.
            Kind::TablePart if [id_of("caption"), id_of("colgroup")].contains(&self.id) => {
                !is_wall && other.kind != Kind::TablePart
            }
            Kind::TablePart | Kind::Container | Kind::Block => !is_wall,
            Kind::ListItem => matches!(other.kind, Kind::Inline | Kind::Paragraph) || other.id == DIV,
            Kind::Term => {
                matches!(other.kind, Kind::Inline | Kind::Paragraph | Kind::Term) || other.id == DIV
            }
            Kind::Choice => false,
            // Annotations need no end tag inside their word.
            _ if self.id == RUBY => other.kind == Kind::Inline || RUBY_PARTS.contains(&other.id),
            _ if self.id == SVG || self.id == MATH => {
                other.kind == Kind::Inline && !other.leads_back_to_html()
            }
            // Ignored in most places, and then so is its end tag.
            Kind::Wall if self.id == FRAMESET => false,
            _ => other.kind == Kind::Inline,
        }
    }
}

fn kind_of(name: &str) -> Kind {
    match name {
        // Only one each of html, head and body is ever open.
        "area" | "base" | "basefont" | "bgsound" | "body" | "br" | "col" | "embed" | "frame" | "head"
        | "hr" | "html" | "img" | "input" | "keygen" | "link" | "meta" | "param" | "source" | "track"
        | "wbr" => Kind::Void,
        "a" | "b" | "big" | "code" | "em" | "font" | "i" | "nobr" | "s" | "small" | "strike" | "strong"
        | "tt" | "u" => Kind::Formatting,
        "script" | "style" | "textarea" | "title" | "xmp" | "iframe" | "noembed" | "noframes" => Kind::Raw,
        "p" => Kind::Paragraph,
        "li" => Kind::ListItem,
        "dt" | "dd" => Kind::Term,
        "option" | "optgroup" => Kind::Choice,
        "caption" | "colgroup" | "tr" | "td" | "th" | "tbody" | "thead" | "tfoot" => Kind::TablePart,
        "applet" | "button" | "marquee" | "object" | "select" | "table" | "template" => Kind::Container,
        "annotation-xml" | "desc" | "foreignobject" | "frameset" | "math" | "mi" | "mn" | "mo" | "ms"
        | "rb" | "rp" | "rt" | "rtc" | "mtext" | "noscript" | "plaintext" | "svg" => Kind::Wall,
        "address" | "article" | "aside" | "blockquote" | "center" | "details" | "dialog" | "dir" | "div"
        | "dl" | "fieldset" | "form" | "figcaption" | "figure" | "footer" | "h1" | "h2" | "h3" | "h4"
        | "h5" | "h6" | "header" | "hgroup" | "listing" | "main" | "menu" | "nav" | "ol" | "pre"
        | "search" | "section" | "summary" | "ul" => Kind::Block,
        _ => Kind::Inline,
    }
}

/// FNV-1a: names come by the hundred thousand, and equality is all that is asked of them.
const fn id_of(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut id = 0xcbf2_9ce4_8422_2325;
    let mut at = 0;
    while at < bytes.len() {
        id = (id ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    id
}
