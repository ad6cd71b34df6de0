//! Phrases that pages everywhere say around their content, in some languages.

use std::sync::LazyLock;

use super::lexicon::Lexicon;

/// How many groups there are.
pub(super) const GROUPS: usize = TABLE.len();
/// The groups that say something about what comes below a heading.
pub(super) const OF_HEADINGS: [usize; 12] = [3, 6, 7, 11, 12, 13, 14, 15, 16, 18, 19, 23];
/// How much of a text is looked at, in bytes.
const MAX_BYTES: usize = 400;

const TABLE: &[&[&str]] = &[
    // 0: sharing
    &[
        "share",
        "tweet",
        "teilen",
        "partager",
        "compartir",
        "condividi",
        "pin it",
        "facebook",
        "whatsapp",
        "linkedin",
        "follow us",
    ],
    // 1: more of it elsewhere
    &[
        "read more",
        "weiterlesen",
        "mehr lesen",
        "lire la suite",
        "leer más",
        "continue reading",
        "learn more",
        "mehr erfahren",
        "see more",
        "view all",
        "show more",
        "load more",
        "view more",
        "see all",
        "shop now",
        "more info",
        "click here",
        "find out more",
    ],
    // 2: accounts
    &[
        "log in",
        "login",
        "sign in",
        "sign up",
        "register",
        "anmelden",
        "einloggen",
        "connexion",
        "create account",
        "create an account",
        "my account",
        "password",
    ],
    // 3: letters
    &[
        "subscribe",
        "newsletter",
        "abonnieren",
        "abonnez",
        "inbox",
        "email address",
        "e-mail-adresse",
        "suscr",
        "mailing list",
        "get the latest",
    ],
    // 4: consent
    &["cookie", "consent", "datenschutz", "privacy policy", "gdpr"],
    // 5: rights
    &[
        "all rights reserved",
        "copyright",
        "©",
        "alle rechte",
        "tous droits",
        "impressum",
        "derechos reservados",
    ],
    // 6: comments
    &[
        "comment",
        "kommentar",
        "commentaire",
        "comentario",
        "commenti",
        "leave a reply",
        "discussion",
        "replies",
        "responses",
        "join the conversation",
    ],
    // 7: what can be done with a posting
    &[
        "reply",
        "quote",
        "report",
        "upvote",
        "downvote",
        "permalink",
        "antworten",
        "zitieren",
        "flag",
        "helpful",
        "vote",
        "improve this",
        "share a link",
    ],
    // 8: who and when
    &[
        "posted",
        "published",
        "updated",
        "veröffentlicht",
        "publié",
        "written by",
        "author",
        "autor",
        "staff writer",
        "last modified",
        "edited",
        "asked",
        "answered",
    ],
    // 9: times
    &[" ago", "yesterday", "today", "gestern", "il y a", "hace "],
    // 10: members
    &[
        "joined",
        "posts:",
        "messages:",
        "registered",
        "member",
        "reputation",
        "reaction",
        "likes received",
        "threads",
        "moderator",
        "badges",
    ],
    // 11: paid
    &[
        "advertisement",
        "anzeige",
        "sponsored",
        "publicité",
        "promoted",
        "werbung",
        "affiliate",
        "commission",
    ],
    // 12: others of the kind
    &[
        "related",
        "you may also",
        "you might",
        "recommended",
        "more from",
        "more stories",
        "read next",
        "also like",
        "mehr zum",
        "lesen sie auch",
        "ähnliche",
        "popular",
        "trending",
        "latest",
        "most read",
        "top stories",
        "recent posts",
        "similar",
        "recently viewed",
        "linked",
        "hot network",
        "featured",
        "more on",
        "up next",
        "explore more",
    ],
    // 13: selling
    &[
        "add to cart",
        "add to bag",
        "buy now",
        "in stock",
        "out of stock",
        "warenkorb",
        "wishlist",
        "checkout",
        "free shipping",
        "quantity",
        "size guide",
        "sale price",
        "regular price",
        "sold out",
        "quick view",
        "compare",
    ],
    // 14: opinions
    &[
        "rating",
        "reviews",
        "stars",
        "out of 5",
        "write a review",
        "verified",
        "testimonial",
        "customers say",
    ],
    // 15: the house
    &[
        "terms",
        "conditions",
        "privacy",
        "legal",
        "sitemap",
        "accessibility",
        "contact us",
        "about us",
        "careers",
        "help center",
        "customer service",
        "quick links",
        "company",
        "resources",
        "support",
        "our team",
        "disclaimer",
    ],
    // 16: drawers
    &[
        "tags",
        "tagged",
        "filed under",
        "categories",
        "category",
        "posted in",
        "schlagwörter",
        "topics",
        "keywords",
        "archives",
    ],
    // 17: pages
    &[
        "next", "previous", "page ", "older", "newer", "back to", "zurück", "weiter", "jump to",
        "go to",
    ],
    // 18: finding
    &["sort by", "filter", "search", "showing", "results", "refine", "per page", "suche"],
    // 19: reaching somebody
    &[
        "phone",
        "call us",
        "call now",
        "email",
        "address",
        "directions",
        "hours",
        "contact",
        "kontakt",
        "get a quote",
        "free quote",
        "book now",
        "schedule",
        "appointment",
        "get started",
    ],
    // 20: reading times
    &["min read", "minute read", "lesezeit", "minutes to read"],
    // 21: the machine
    &[
        "skip to",
        "menu",
        "toggle",
        "close",
        "expand",
        "collapse",
        "javascript",
        "browser",
        "loading",
        "print",
        "download",
        "copy link",
        "table of contents",
        "on this page",
    ],
    // 22: pictures
    &[
        "photo",
        "image",
        "getty",
        "foto",
        "bild:",
        "credit",
        "courtesy",
        "reuters",
        "source:",
        "quelle",
        "pictured",
        "illustration",
        "watch:",
        "video",
    ],
    // 23: about the author
    &[
        "is a writer",
        "freelance",
        "lives in",
        "follow him",
        "follow her",
        "is the author",
        "about the author",
        "contributor",
        "journalist",
        "reporter",
        "more by",
        "view all posts",
    ],
];

static PHRASES: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::new(TABLE));

/// The groups whose phrases a text has near its start, a bit each.
pub(super) fn of(text: &str) -> u64 {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    PHRASES.groups(&text[..end], |_| true)
}
