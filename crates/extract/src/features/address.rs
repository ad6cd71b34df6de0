//! Features of the address of a page.

use url::Url;

/// Words of addresses, by what kind of page has them: articles, forums, documentation, single
/// products, collections of products, listings of other things, services.
const KINDS: [&[&str]; 7] = [
    &[
        "blog", "blogs", "news", "article", "articles", "story", "stories", "post", "posts",
        "press", "opinion", "magazine", "essay", "column", "review", "reviews", "recipe",
        "recipes",
    ],
    &[
        "forum",
        "forums",
        "community",
        "communities",
        "discuss",
        "discussion",
        "discussions",
        "thread",
        "threads",
        "topic",
        "topics",
        "viewtopic",
        "showthread",
        "question",
        "questions",
        "answers",
        "boards",
        "board",
        "t",
        "q",
        "comments",
        "bbs",
        "phpbb",
        "viewthread",
        "talk",
    ],
    &[
        "docs",
        "doc",
        "documentation",
        "api",
        "reference",
        "manual",
        "handbook",
        "wiki",
        "man",
        "guide",
        "guides",
        "developer",
        "developers",
        "learn",
        "tutorial",
        "tutorials",
        "help",
        "kb",
        "specification",
        "spec",
        "dev",
        "library",
        "faq",
    ],
    &["product", "products", "p", "dp", "item", "itm", "pd", "prod", "proddetail", "buy"],
    &[
        "collection",
        "collections",
        "category",
        "categories",
        "c",
        "browse",
        "shop",
        "store",
        "catalog",
        "catalogue",
        "sale",
        "department",
        "brand",
        "brands",
        "all",
        "deals",
    ],
    &[
        "event",
        "events",
        "job",
        "jobs",
        "directory",
        "listing",
        "listings",
        "search",
        "archive",
        "archives",
        "tag",
        "tags",
        "results",
        "calendar",
        "list",
        "internships",
        "careers",
        "team",
        "authors",
        "author",
        "exhibitions",
        "index",
        "classes",
        "courses",
    ],
    &[
        "service",
        "services",
        "solution",
        "solutions",
        "about",
        "location",
        "locations",
        "pricing",
        "features",
        "contact",
        "plans",
        "platform",
        "product-features",
        "company",
        "support",
        "insurance",
        "volunteer",
        "area",
        "areas",
        "near",
        "home",
    ],
];

/// Numbers that describe an address.
pub(super) fn look(url: Option<&Url>) -> [f32; 15] {
    let Some(url) = url else { return [-1.0; 15] };
    let path = url.path();
    let segments: Vec<_> = path.split('/').filter(|part| !part.is_empty()).collect();
    let last = segments.last().copied().unwrap_or("");
    let yes = |is: bool| if is { 1.0 } else { 0.0 };
    let mut values = [0.0; 15];
    values[..8].copy_from_slice(&[
        segments.len() as f32,
        last.len() as f32,
        last.matches('-').count() as f32,
        path.bytes().filter(u8::is_ascii_digit).count() as f32,
        yes(url.query().is_some()),
        yes(last.contains('.')),
        yes(has_year(&segments)),
        yes(last.len() >= 5 && last.bytes().filter(u8::is_ascii_digit).count() * 2 > last.len()),
    ]);
    for (value, words) in values[8..].iter_mut().zip(KINDS) {
        *value = place(url, &segments, words);
    }
    values
}

/// Two facts of an address: it has a year in it, and it is one of a forum.
pub(super) fn says(url: Option<&Url>) -> (bool, bool) {
    let values = look(url);
    (values[6] > 0.0, values[9] > 0.0)
}

/// The position of one of these words in an address: in the host name, in the path, or last.
fn place(url: &Url, segments: &[&str], words: &[&str]) -> f32 {
    let has = |text: &str| {
        text.split(|one: char| !one.is_ascii_alphanumeric())
            .any(|word| words.contains(&&*word.to_ascii_lowercase()))
    };
    let is = |text: &&&str| words.contains(&&*text.to_ascii_lowercase());
    let (last, way) = match segments.split_last() {
        Some((last, way)) => (Some(last), way),
        None => (None, segments),
    };
    if last.iter().any(is) {
        3.0
    } else if way.iter().any(|segment| is(&segment)) {
        2.0
    } else if url.host_str().is_some_and(has) {
        1.0
    } else if way.iter().any(|segment| has(segment)) {
        0.5
    } else {
        0.0
    }
}

fn has_year(segments: &[&str]) -> bool {
    segments.iter().any(|part| {
        part.len() == 4
            && (part.starts_with("19") || part.starts_with("20"))
            && part.bytes().all(|one| one.is_ascii_digit())
    })
}
