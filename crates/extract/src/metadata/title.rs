//! Finds the title of a page.

use super::{MetadataSource, tidy};
use crate::{dom::Tag, features::words_of, head::is_a};

/// The longest title, in characters.
const MAX_CHARACTERS: usize = 400;

/// The most headings of a size that are looked at.
const MAX_HEADINGS: usize = 20;

/// Separators between a title and the name of its site.
const BETWEEN: [&str; 12] =
    [" | ", " - ", " – ", " — ", " :: ", " » ", " « ", " · ", " • ", " › ", " / ", " ~ "];

/// Words that stand where a title is looked for, and are none.
const NO_TITLES: &[&str] = &[
    "home",
    "homepage",
    "home page",
    "startseite",
    "accueil",
    "inicio",
    "index",
    "menu",
    "navigation",
    "search",
    "detail",
    "details",
    "untitled",
    "untitled document",
    "document",
    "quicklinks",
    "quick links",
    "trending",
    "login",
    "log in",
];

fn is_no_title(text: &str) -> bool {
    NO_TITLES.contains(&text.to_lowercase().as_str())
}

pub(crate) fn find(source: &MetadataSource<'_>) -> Option<String> {
    let head = source.head;
    let headings = headings(source);
    let document = head.titles.first().map(|title| tidy(title));
    let social = ["og:title", "twitter:title", "title", "dc.title", "dcterms.title"]
        .into_iter()
        .find_map(|name| head.meta(name))
        .map(tidy);
    let headline = head
        .things
        .iter()
        .filter(|thing| is_a(thing, ARTICLES))
        .find_map(|thing| thing.get("headline").or_else(|| thing.get("name"))?.as_str().map(tidy))
        .filter(|text| !text.is_empty());
    let site = site(source);
    let named = |text: &str| {
        [&document, &social, &headline].into_iter().flatten().any(|known| holds(known, text))
    };
    let is_site = |text: &str| site.as_deref().is_some_and(|site| same(site, text));
    // A large heading that the page's own title repeats is the title.
    if let Some(heading) = headings.iter().find(|text| named(text) && !is_site(text)) {
        return Some(heading.clone());
    }
    let heading = headings.iter().find(|text| !is_site(text)).cloned();
    let stripped = |text: &str| strip(text, site.as_deref(), heading.as_deref());
    let found = headline
        .or_else(|| social.as_deref().map(stripped))
        .or_else(|| heading.clone())
        .or_else(|| document.as_deref().map(stripped));
    found.filter(|text| !text.is_empty()).map(|text| cut(&text))
}

/// Things of JSON-LD that are something to read.
pub(super) const ARTICLES: &[&str] = &[
    "Article",
    "NewsArticle",
    "BlogPosting",
    "Report",
    "TechArticle",
    "ScholarlyArticle",
    "SocialMediaPosting",
    "DiscussionForumPosting",
    "Recipe",
    "HowTo",
    "Review",
    "ReportageNewsArticle",
    "LiveBlogPosting",
    "AnalysisNewsArticle",
    "OpinionNewsArticle",
    "Question",
    "LearningResource",
];

fn cut(text: &str) -> String {
    text.chars().take(MAX_CHARACTERS).collect()
}

/// The large headings that are seen, and after them the next larger ones.
fn headings(source: &MetadataSource<'_>) -> Vec<String> {
    let of = |tag: Tag| {
        source
            .blocks
            .list
            .iter()
            .filter(move |block| {
                std::iter::once(block.node)
                    .chain(source.tree.ancestors(block.node))
                    .take(3)
                    .any(|id| source.tree.tag(id) == tag)
            })
            .map(|block| tidy(&block.text))
            .filter(|text| {
                (2..=MAX_CHARACTERS).contains(&text.chars().count()) && !is_no_title(text)
            })
            .take(MAX_HEADINGS)
    };
    of(Tag::H1).chain(of(Tag::H2)).collect()
}

/// True if two texts have the same words.
fn same(one: &str, other: &str) -> bool {
    words_of(one).collect::<String>() == words_of(other).collect::<String>()
}

/// True if one text has the other as its beginning, or most of its words.
fn holds(text: &str, part: &str) -> bool {
    let (text, part): (Vec<_>, Vec<_>) = (words_of(text).collect(), words_of(part).collect());
    if part.is_empty() || text.is_empty() {
        return false;
    }
    let shared = part.iter().filter(|word| text.contains(word)).count();
    shared * 10 >= part.len() * 8 && part.len() * 4 >= text.len()
}

fn site(source: &MetadataSource<'_>) -> Option<String> {
    let name = source.head.meta("og:site_name").or_else(|| source.head.meta("application-name"));
    name.map(tidy).or_else(|| {
        let host = source.url?.host_str()?;
        let host = host.strip_prefix("www.").unwrap_or(host);
        host.rsplit('.').nth(1).map(str::to_owned)
    })
}

/// The title without the name of the site.
fn strip(text: &str, site: Option<&str>, heading: Option<&str>) -> String {
    let parts = split(text);
    if parts.len() < 2 {
        return text.to_owned();
    }
    if let Some(heading) = heading {
        let plain = |text: &str| words_of(text).collect::<Vec<_>>();
        if let Some(part) = parts.iter().find(|part| plain(part) == plain(heading)) {
            return (*part).to_owned();
        }
    }
    let is_site = |part: &str| {
        let part: String = words_of(part).collect();
        site.is_some_and(|site| {
            let site: String = words_of(site).collect();
            !site.is_empty() && (part.contains(&site) || site.contains(&part))
        })
    };
    let kept: Vec<_> = parts.iter().filter(|part| !is_site(part) && !is_no_title(part)).collect();
    match kept.len() {
        0 => parts.iter().find(|part| !is_no_title(part)).unwrap_or(&parts[0]).to_string(),
        // Of what is left the longest is the title; the rest are drawers.
        _ if kept.len() == parts.len() => {
            let longest = kept.iter().max_by_key(|part| part.chars().count());
            let words = |part: &str| part.split_whitespace().count();
            match longest {
                Some(longest) if words(longest) >= 3 => (**longest).to_owned(),
                _ => text.to_owned(),
            }
        }
        _ => {
            let longest = kept.iter().max_by_key(|part| part.chars().count());
            longest.map_or_else(|| text.to_owned(), |part| (**part).to_owned())
        }
    }
}

fn split(text: &str) -> Vec<&str> {
    let mut parts = vec![text];
    for between in BETWEEN {
        parts = parts.into_iter().flat_map(|part| part.split(between)).collect();
    }
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}
