//! Features of the names that authors give to elements.

use std::sync::LazyLock;

use super::word_groups::WordGroups;
use crate::dom::Element;

/// The number of groups.
pub(super) const GROUPS: usize = TABLE.len();
const _: () = assert!(GROUPS <= 64, "each has a bit");

/// The group of what readers write below a page.
pub(super) const COMMENTS: u64 = bits(&["comment"]);

/// Words that mean about the same, a group a line. Those of up to four letters must stand alone, and so must those of
/// comments: `commentary` and `correspondent` are none.
const TABLE: &[&str] = &[
    "article story artikel",
    "content inhalt contenu conteudo contenido",
    "body text copy prose richtext rte markdown",
    "post entry blog beitrag",
    "main primary page",
    "comment commentlist commentbody usercomment disqus reply replies kommentar kommentare respond",
    "message thread topic forum cooked usertext posting",
    "sidebar side rail aside secondary complementary column-right",
    "footer foot colophon bottom fat-footer",
    "header head masthead topbar hero banner",
    "nav menu navigation navbar dropdown megamenu submenu",
    "breadcrumb crumb bread",
    "share sharing social follow facebook twitter addthis",
    "related similar recommend suggest you-may also-like readmore read-more more-from",
    "popular trending latest recent most-read mostread top-stories newsfeed",
    "promo teaser sponsor advert ad ads adslot dfp banner-ad outbrain taboola affiliate",
    "newsletter subscribe subscription signup sign-up optin mailchimp",
    "cookie consent gdpr privacy cmp",
    "popup modal overlay dialog lightbox toast offcanvas drawer",
    "login signin sign-in account user register profile",
    "search filter facet sort toolbar refine",
    "widget module plugin addon",
    "tag tags category categories taxonomy label badge topics cat-links",
    "meta byline author dateline published posted timestamp date time",
    "bio author-box about-author contributor authorbox",
    "caption credit photo image figure media gallery slideshow carousel slider swiper slick",
    "pagination pager paging pages prev next page-numbers",
    "toc table-of-contents contents anchor jump",
    "title headline heading",
    "summary intro lead lede excerpt abstract description subtitle standfirst dek deck desc",
    "list grid items cards tiles results listing archive loop",
    "card item tile box cell",
    "product price cart buy shop checkout sku variant wishlist basket",
    "review rating stars testimonial feedback",
    "spec specs specification attributes feature features details tab tabs accordion panel",
    "faq question answer qanda",
    "cta button btn call-to-action action",
    "copyright legal disclaimer terms imprint",
    "print email tool tools utility skip screen-reader sr-only visually-hidden",
    "hidden hide invisible collapse collapsed d-none noprint no-print",
    "wrapper wrap container inner outer row col column layout section",
    "signature sig avatar postprofile userinfo user-info post-author karma joined",
    "quote blockquote pullquote",
    "code highlight syntax snippet",
    "doc docs documentation guide reference api wiki mw-parser-output manual",
    "event calendar location address contact map hours phone tel",
    "video player audio podcast embed",
    "note notice alert warning info tip callout",
    "bookmark save vote votes like likes upvote score count counter stats",
    "step recipe ingredient instruction direction",
];

/// The bits of groups, each named by its first word.
pub(super) const fn bits(names: &[&str]) -> u64 {
    let (mut bits, mut name) = (0, 0);
    while name < names.len() {
        let mut group = 0;
        while !is_first_word(TABLE[group].as_bytes(), names[name].as_bytes()) {
            group += 1;
            assert!(group < TABLE.len(), "no group begins with this word");
        }
        bits |= 1 << group;
        name += 1;
    }
    bits
}

const fn is_first_word(line: &[u8], word: &[u8]) -> bool {
    let mut at = 0;
    while at < line.len() && at < word.len() && line[at] == word[at] {
        at += 1;
    }
    at == word.len() && (at == line.len() || line[at] == b' ')
}

static WORDS: LazyLock<WordGroups> =
    LazyLock::new(|| WordGroups::new(TABLE.iter().map(|words| words.split(' '))));

/// The groups of the names of an element, a bit each.
pub(super) fn of(element: &Element) -> u64 {
    let mut bits = 0;
    for attribute in &element.attributes {
        if matches!(&*attribute.name.local, "class" | "id" | "itemprop" | "data-testid" | "role") {
            bits |= in_text(&attribute.value);
        }
    }
    bits
}

fn in_text(text: &str) -> u64 {
    // Longer names are made by machines.
    let text = text.get(..512).unwrap_or(text);
    let bytes = text.as_bytes();
    WORDS.groups(text, |group, found| {
        (found.len() > 4 && group != COMMENTS) || stands_alone(bytes, found.start(), found.end())
    })
}

/// True if a word is not a part of a longer one; `postBody` are two.
fn stands_alone(bytes: &[u8], start: usize, end: usize) -> bool {
    let before = start == 0
        || !bytes[start - 1].is_ascii_alphabetic()
        || (bytes[start].is_ascii_uppercase() && bytes[start - 1].is_ascii_lowercase());
    let after = end == bytes.len()
        || !bytes[end].is_ascii_alphabetic()
        || (bytes[end].is_ascii_uppercase() && bytes[end - 1].is_ascii_lowercase())
        || (bytes[end] == b's' && bytes.get(end + 1).is_none_or(|one| !one.is_ascii_alphabetic()));
    before && after
}

#[cfg(test)]
mod tests {
    use super::{COMMENTS, in_text};

    #[test]
    fn short_words_stand_alone() {
        assert_eq!(in_text("shadow"), 0);
        assert_ne!(in_text("ad-slot"), 0);
        assert_ne!(in_text("postBody"), 0);
        assert_eq!(in_text("compost"), 0);
        assert_eq!(in_text("commentary correspondent") & COMMENTS, 0);
        for name in ["comment", "commentList", "post-comments", "comment_body", "CommentBody"] {
            assert_ne!(in_text(name) & COMMENTS, 0, "{name}");
        }
    }
}
