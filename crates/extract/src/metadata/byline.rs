//! Finds the author of a page.

use serde_json::Value;

use super::{MetadataSource, tidy, title::ARTICLES};
use crate::{
    dom::{Element, NodeId, Tag},
    head::is_a,
};

/// The longest byline, in characters.
const MAX_CHARACTERS: usize = 120;
/// The most names in one.
const MAX_NAMES: usize = 8;

/// Words that stand where a name is looked for, and are none.
const NO_NAMES: &str = include_str!("../../words/no_names.txt");

/// Words before a name.
const BEFORE: &[&str] = &[
    "view all posts by",
    "all posts by",
    "more posts by",
    "posts by",
    "read more about",
    "about the author",
    "this post was written by",
    "this article was written by",
    "alle beiträge von",
    "beitrag von",
    "artikel von",
    "written by",
    "posted by",
    "published by",
    "reviewed by",
    "story by",
    "words by",
    "by",
    "von",
    "par",
    "por",
    "di",
    "de",
    "door",
    "av",
    "autor:",
    "autor",
    "author:",
    "author",
    "text:",
    "redaktion:",
    "autorin:",
    "ein beitrag von",
    "geschrieben von",
    "escrito por",
    "publié par",
];

pub(crate) fn find(source: &MetadataSource<'_>, title: Option<&str>) -> Option<String> {
    let good = |text: String| clean(&text, title);
    let site = source.head.meta("og:site_name").map(str::to_lowercase);
    let is_house =
        |text: &String| site.as_deref().is_some_and(|site| text.to_lowercase().contains(site));
    let said = of_metas(source).and_then(good);
    of_things(source, true)
        .and_then(good)
        .or_else(|| said.clone().filter(|text| !is_house(text)))
        .or_else(|| of_elements(source, title))
        .or_else(|| of_text(source, title))
        .or(said)
        .or_else(|| of_things(source, false).and_then(good))
}

/// People, or also houses.
fn of_things(source: &MetadataSource<'_>, people_only: bool) -> Option<String> {
    let articles = source.head.things.iter().filter(|thing| is_a(thing, ARTICLES));
    articles.filter_map(|thing| thing.get("author").or_else(|| thing.get("creator"))).find_map(
        |author| {
            let mut names = Vec::new();
            let people: Vec<&Value> = match author {
                Value::Array(all) => all.iter().collect(),
                one => vec![one],
            };
            for person in people.into_iter().take(MAX_NAMES) {
                if people_only
                    && is_a(person, &["Organization", "NewsMediaOrganization", "Corporation"])
                {
                    continue;
                }
                let name = match person {
                    Value::String(name) => name.as_str(),
                    Value::Object(person) => match person.get("name") {
                        Some(Value::String(name)) => name,
                        Some(Value::Array(all)) => {
                            all.first().and_then(Value::as_str).unwrap_or("")
                        }
                        _ => source.named(person.get("@id").and_then(Value::as_str)),
                    },
                    _ => "",
                };
                let name = tidy(name);
                if !name.is_empty() && !name.contains("://") && !names.contains(&name) {
                    names.push(name);
                }
            }
            (!names.is_empty()).then(|| names.join(", "))
        },
    )
}

impl MetadataSource<'_> {
    /// The name of a thing that another one points to.
    fn named(&self, id: Option<&str>) -> &str {
        let Some(id) = id else { return "" };
        let found = self
            .head
            .things
            .iter()
            .find(|thing| thing.get("@id").and_then(Value::as_str) == Some(id));
        found.and_then(|thing| thing.get("name")).and_then(Value::as_str).unwrap_or("")
    }
}

fn of_metas(source: &MetadataSource<'_>) -> Option<String> {
    const NAMES: &[&str] = &[
        "author",
        "article:author",
        "dc.creator",
        "dcterms.creator",
        "dc.contributor",
        "sailthru.author",
        "parsely-author",
        "byl",
        "citation_author",
        "article:author_name",
        "shareaholic:article_author_name",
        "twitter:data1",
        "og:article:author",
        "article.author",
        "creator",
        "rbauthors",
        "cxenseparse:author",
    ];
    for wanted in NAMES {
        let mut names: Vec<String> = Vec::new();
        for (name, content) in &source.head.metas {
            let is_url = content.contains("://") || content.starts_with('/');
            // The card of another service says "Written by" beside it.
            let fits = name == wanted
                && (*wanted != "twitter:data1"
                    || source
                        .head
                        .meta("twitter:label1")
                        .is_some_and(|label| label.to_lowercase().contains("by")));
            if fits && !is_url && !names.contains(content) && names.len() < MAX_NAMES {
                names.push(content.clone());
            }
        }
        if !names.is_empty() {
            return Some(names.join(", "));
        }
    }
    None
}

/// A line near the title that names somebody.
fn of_text(source: &MetadataSource<'_>, title: Option<&str>) -> Option<String> {
    let blocks = &source.blocks.list;
    let start = blocks.iter().position(|block| source.tree.tag(block.node) == Tag::H1)?;
    let near = &blocks[start.saturating_sub(3)..(start + 8).min(blocks.len())];
    near.iter().filter(|block| block.chars <= 100).find_map(|block| {
        let text = tidy(&block.text);
        let named =
            ["by ", "von ", "par ", "por ", "di ", "door ", "autor: ", "author: ", "text: "]
                .iter()
                .any(|words| {
                    text.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words))
                });
        if !named {
            return None;
        }
        let name = clean(&text, title)?;
        let words: Vec<_> = name.split_whitespace().collect();
        let is_name = (1..=5).contains(&words.len())
            && words.iter().any(|word| word.chars().next().is_some_and(char::is_uppercase));
        is_name.then_some(name)
    })
}

/// Elements that say that they hold the author.
fn of_elements(source: &MetadataSource<'_>, title: Option<&str>) -> Option<String> {
    for rule in [is_rel_author, is_itemprop, is_author_class, is_byline_class] {
        let found = source.element(|id, element| {
            if !rule(element) || in_comments(source, id) {
                return None;
            }
            let text = source.shown_text(id);
            if text.is_empty() || text.chars().count() > MAX_CHARACTERS {
                return None;
            }
            clean(&text, title)
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

fn has(element: &Element, attribute: &str, words: &[&str]) -> bool {
    element.attribute(attribute).is_some_and(|value| {
        value.split_whitespace().any(|one| {
            let one = one.to_ascii_lowercase();
            words.contains(&one.as_str())
        })
    })
}

fn is_rel_author(element: &Element) -> bool {
    element.tag == Tag::A && has(element, "rel", &["author"])
}

fn is_itemprop(element: &Element) -> bool {
    has(element, "itemprop", &["author", "creator"])
}

fn is_author_class(element: &Element) -> bool {
    const WORDS: &[&str] = &[
        "author",
        "author-name",
        "author_name",
        "authorname",
        "post-author",
        "entry-author",
        "article-author",
        "article__author",
        "article-author-name",
        "byline-name",
        "byline__name",
        "byline-author",
        "author__name",
        "posted-by",
        "vcard",
        "fn",
        "autor",
        "article_author",
        "post-author-name",
        "author-link",
        "authors",
        "story-author",
        "c-byline__author",
        "username",
        "submitted-by",
        "blog-author",
        "meta-author",
        "entry-author-name",
    ];
    has(element, "class", WORDS) || has(element, "id", WORDS)
}

fn is_byline_class(element: &Element) -> bool {
    ["class", "id"].into_iter().any(|name| {
        element.attribute(name).is_some_and(|value| {
            let value = value.to_ascii_lowercase();
            value.contains("byline") || value.contains("author")
        })
    })
}

fn in_comments(source: &MetadataSource<'_>, id: NodeId) -> bool {
    source.tree.ancestors(id).any(|above| {
        source.tree.element(above).is_some_and(|element| {
            ["class", "id"].into_iter().any(|name| {
                element.attribute(name).is_some_and(|value| {
                    let value = value.to_ascii_lowercase();
                    value.contains("comment")
                        || value.contains("related")
                        || value.contains("sidebar")
                        || value.contains("footer")
                })
            }) || matches!(element.tag, Tag::Footer | Tag::Nav | Tag::Aside)
        })
    })
}

/// A name without the words around it; nothing where it is no name.
fn clean(text: &str, title: Option<&str>) -> Option<String> {
    let mut text = tidy(text);
    loop {
        let before = text.len();
        for words in BEFORE {
            let starts =
                text.get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words));
            if starts {
                let rest = &text[words.len()..];
                if words.ends_with(':') || rest.starts_with([' ', ':']) {
                    text = rest.trim_start_matches([' ', ':']).to_owned();
                    break;
                }
            }
        }
        if text.len() == before {
            break;
        }
    }
    // What follows a name is when and where.
    for stop in [
        " | ",
        " · ",
        " • ",
        " on ",
        " – ",
        " — ",
        " - ",
        " am ",
        "@",
        "(",
        " Updated",
        " See more",
        " Published",
        " Posted",
        " Last ",
        " vom ",
        "\u{2022}",
        " View all",
        " Read more",
        " Follow",
    ] {
        if let Some((name, _)) = text.split_once(stop)
            && name.chars().count() >= 3
        {
            text = name.to_owned();
        }
    }
    if let Some(digit) = text.find(|one: char| one.is_ascii_digit()) {
        let before = text[..digit].trim_end();
        text = before.rsplit_once([',', ' ']).map_or(before, |(name, _)| name).to_owned();
    }
    let text = text.trim_matches([' ', ',', ';', ':', '.', '-', '–', '"', '/']).to_owned();
    let letters = text.chars().filter(|one| one.is_alphabetic()).count();
    let words = text.split_whitespace().count();
    let is_none = letters < 2
        || text.chars().count() > MAX_CHARACTERS
        || words > 16
        || text.contains("://")
        || title == Some(text.as_str())
        || BEFORE.iter().any(|words| words.eq_ignore_ascii_case(&text))
        || is_no_name(&text);
    (!is_none).then_some(text)
}

/// True if a text is made of words that are no name: `Log in`, `Log in Log in My account`.
fn is_no_name(text: &str) -> bool {
    let low = text.to_lowercase();
    let mut rest = low.as_str();
    while let Some(known) = NO_NAMES
        .lines()
        .filter(|known| {
            rest.strip_prefix(*known).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
        .max_by_key(|known| known.len())
    {
        rest = rest[known.len()..].trim_start();
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::clean;

    #[test]
    fn names_are_freed_of_what_stands_around_them() {
        let of = |text| clean(text, None);
        assert_eq!(of("By Ada Lovelace").as_deref(), Some("Ada Lovelace"));
        assert_eq!(of("Written by:  Ada Lovelace | May 3").as_deref(), Some("Ada Lovelace"));
        assert_eq!(of("Von Ada Lovelace, 3. Mai 2020").as_deref(), Some("Ada Lovelace"));
        assert_eq!(of("View all posts by Ada Lovelace").as_deref(), Some("Ada Lovelace"));
        for none in [
            "admin",
            "Home",
            "detail",
            "View all posts by",
            "Log In Log In My account",
            "About the author",
        ] {
            assert_eq!(of(none), None, "{none}");
        }
        assert_eq!(of("Homer Contact").as_deref(), Some("Homer Contact"));
        assert_eq!(of("https://example.org/ada"), None);
        assert_eq!(of("Byron Katie").as_deref(), Some("Byron Katie"));
    }
}
