//! Headings that say that what is below was put together for visitors: advertising, what others read, what is recommended, what
//! customers say. Pages name the elements around such lists as they like; what people read above them hardly differs.

/// Whole headings, in small letters. Only those that can hardly stand above what a page is about: `see also` may.
#[rustfmt::skip]
const OF_EXTRAS: [&str; 211] = [
    // Advertising.
    "advertisement", "advertisements", "ad", "ads", "sponsored", "sponsored content", "promoted", "anzeige", "anzeigen", "werbung",
    "publicité", "sponsorisé", "publicidad", "anuncios", "patrocinado", "publicidade", "patrocinados", "pubblicità", "sponsorizzato",
    "advertentie", "advertenties", "reklama", "reklamy", "annons", "annonser", "annonce", "annoncer", "annonse", "annonser fra",
    "mainos", "mainokset", "reklam", "reklamlar", "реклама", "hirdetés", "publicitate", "διαφήμιση", "广告", "廣告", "広告", "광고",
    "إعلان", "إعلانات", "פרסומת", "विज्ञापन", "quảng cáo", "iklan", "โฆษณา",
    // What others read.
    "most read", "most popular", "most viewed", "most shared", "popular", "popular now", "popular stories", "trending", "trending now",
    "meistgelesen", "meistgelesene artikel", "am häufigsten gelesen", "beliebt", "les plus lus", "les plus consultés", "populaires",
    "lo más leído", "más leídas", "más vistos", "mais lidas", "mais lidos", "mais vistas", "più letti", "i più letti", "le più lette",
    "meest gelezen", "najczęściej czytane", "najpopularniejsze", "popularne", "mest läst", "mest lästa", "mest læste", "mest lest",
    "luetuimmat", "suosituimmat", "çok okunanlar", "en çok okunanlar", "популярное", "самое читаемое", "найпопулярніше",
    "популярне", "nejčtenější", "najčítanejšie", "legolvasottabb", "legnépszerűbb", "cele mai citite", "τα πιο διαβασμένα",
    "δημοφιλή", "人気記事", "人気ランキング", "アクセスランキング", "热门文章", "热门", "熱門文章", "많이 본 뉴스", "많이 본 글", "인기 글",
    "الأكثر قراءة", "הנקראים ביותר", "सबसे ज़्यादा पढ़ी गई", "सर्वाधिक पढ़ी गई", "đọc nhiều", "xem nhiều", "terpopuler", "ยอดนิยม",
    // What is recommended.
    "related", "related articles", "related stories", "related posts", "related products", "you may also like", "you might also like",
    "you might like", "recommended", "recommended for you", "more for you", "read next", "customers also bought",
    "customers also viewed", "similar products", "similar items", "auch interessant", "passend dazu", "das könnte sie interessieren",
    "das könnte sie auch interessieren", "ähnliche artikel", "kunden kauften auch", "mehr zum thema", "à lire aussi",
    "articles similaires", "vous aimerez aussi", "te puede interesar", "también te puede interesar", "artículos relacionados",
    "noticias relacionadas", "leia também", "artigos relacionados", "notícias relacionadas", "potrebbe interessarti",
    "potrebbe interessarti anche", "articoli correlati", "leggi anche", "anderen bekeken ook", "lees ook", "gerelateerd",
    "gerelateerde artikelen", "podobne oferty", "podobne artykuły", "podobne produkty", "polecamy", "czytaj także", "läs också",
    "läs mer", "læs også", "les også", "lue myös", "aiheeseen liittyvää", "benzer ilanlar", "benzer ürünler", "ilgili haberler",
    "читайте также", "похожие статьи", "похожие товары", "читайте також", "схожі статті", "související", "související články",
    "mohlo by vás zajímat", "súvisiace", "kapcsolódó", "kapcsolódó cikkek", "ajánlott", "articole similare", "citește și",
    "διαβάστε επίσης", "σχετικά άρθρα", "関連記事", "おすすめ記事", "おすすめ商品", "相关文章", "相关推荐", "相關文章", "관련 글", "관련 기사",
    "추천 상품", "مواضيع ذات صلة", "اقرأ أيضا", "אולי יעניין אותך", "כתבות נוספות", "यह भी पढ़ें", "संबंधित खबरें", "tin liên quan",
    "có thể bạn quan tâm", "baca juga", "berita terkait", "ข่าวที่เกี่ยวข้อง",
    // What customers say.
    "testimonials", "what our customers say", "kundenstimmen", "das sagen unsere kunden", "testimonios", "depoimentos", "dicono di noi",
];

/// Characters of the longest of them, and of a mark or two behind it.
const LONGEST: usize = 40;

/// Whether a heading says so.
pub(super) fn is_of_extras(heading: &str) -> bool {
    if heading.chars().nth(LONGEST).is_some() {
        return false;
    }
    let heading = heading.to_lowercase();
    let words = heading.trim_matches(|c: char| !c.is_alphanumeric());
    OF_EXTRAS.contains(&words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_recognised_as_a_whole() {
        for heading in ["Most read", "MEISTGELESEN:", "▸ Читайте также", "関連記事", "Te puede interesar…"]
        {
            assert!(is_of_extras(heading), "{heading}");
        }
        for heading in ["Related laws", "The most read book of 1890", "See also", "Popular vote", ""] {
            assert!(!is_of_extras(heading), "{heading}");
        }
    }
}
