//! Finds the date when a page was published.

use serde_json::Value;

use super::{MetadataSource, title::ARTICLES};
use crate::{
    date::{self, PublicationTime},
    dom::{Element, Tag},
    head::is_a,
};

/// The short blocks around the title that are searched first for a date in words.
const NEAR: usize = 30;
/// The longest block that may be nothing but a date and a few words, in characters.
const SHORT: u32 = 160;

pub(crate) fn find(source: &MetadataSource<'_>) -> Option<String> {
    let found = of_things(source)
        .or_else(|| of_metas(source, PUBLISHED))
        .or_else(|| of_elements(source))
        .or_else(|| of_address(source))
        .or_else(|| of_text(source))
        .or_else(|| of_metas(source, MODIFIED))
        .or_else(|| of_any_time(source));
    found.map(|moment| moment.to_string())
}

fn of_things(source: &MetadataSource<'_>) -> Option<PublicationTime> {
    let things = &source.head.things;
    let dated = |thing: &Value| {
        ["datePublished", "dateCreated", "uploadDate"]
            .into_iter()
            .find_map(|key| thing.get(key).and_then(Value::as_str).and_then(date::in_attribute))
    };
    things
        .iter()
        .filter(|thing| is_a(thing, ARTICLES))
        .find_map(dated)
        .or_else(|| {
            things.iter().filter(|thing| is_a(thing, &["WebPage", "VideoObject"])).find_map(dated)
        })
        .or_else(|| source.head.unread.iter().find_map(|text| unread(text)))
}

/// The date in JSON-LD that is no JSON.
fn unread(text: &str) -> Option<PublicationTime> {
    let rest = text.split_once("\"datePublished\"")?.1.trim_start().strip_prefix(':')?;
    date::in_attribute(rest.trim_start().strip_prefix('"')?.split('"').next()?)
}

const PUBLISHED: &[&str] = &[
    "article:published_time",
    "og:article:published_time",
    "article:published",
    "datepublished",
    "date",
    "dc.date.issued",
    "dcterms.created",
    "dcterms.issued",
    "dc.date",
    "dc.date.created",
    "dcterms.date",
    "pubdate",
    "publishdate",
    "publish-date",
    "publish_date",
    "publication_date",
    "published_date",
    "publicationdate",
    "sailthru.date",
    "parsely-pub-date",
    "originalpublicationdate",
    "article_date_original",
    "cxenseparse:recs:publishtime",
    "citation_publication_date",
    "citation_date",
    "rnews:datepublished",
    "og:published_time",
    "article.published",
    "datecreated",
    "timestamp",
    "published_time",
    "published_on",
    "published_at",
    "creation_date",
    "article.created",
    "og:pubdate",
    "dcsext.articlefirstpublished",
    "bt:pubdate",
    "vr:published_time",
    "uploaddate",
    "video:release_date",
    "displaydate",
    "release_date",
    "last-modified-date",
];
const MODIFIED: &[&str] = &[
    "article:modified_time",
    "og:updated_time",
    "lastmod",
    "last-modified",
    "datemodified",
    "dcterms.modified",
    "dc.date.modified",
    "revised",
    "modified_time",
    "article:modified",
];

fn of_metas(source: &MetadataSource<'_>, names: &[&str]) -> Option<PublicationTime> {
    names.iter().find_map(|name| {
        source
            .head
            .metas
            .iter()
            .filter(|(known, _)| known == name)
            .find_map(|(_, content)| date::in_attribute(content))
    })
}

/// Elements that say that they hold a date.
fn of_elements(source: &MetadataSource<'_>) -> Option<PublicationTime> {
    let value = |element: &Element| {
        ["datetime", "content", "title", "data-datetime", "data-date"]
            .into_iter()
            .find_map(|name| element.attribute(name).and_then(date::in_attribute))
    };
    let rules: [fn(&Element) -> bool; 4] = [
        |element| {
            element.attribute("itemprop").is_some_and(|name| {
                name.eq_ignore_ascii_case("datePublished")
                    || name.eq_ignore_ascii_case("dateCreated")
            })
        },
        |element| {
            element.tag == Tag::Time
                && (element.attribute("pubdate").is_some()
                    || element.attribute("class").is_some_and(|class| {
                        let class = class.to_ascii_lowercase();
                        class.contains("publish")
                            || class.contains("entry-date")
                            || class.contains("created")
                    }))
        },
        |element| element.tag == Tag::Time,
        |element| {
            !matches!(element.tag, Tag::Body | Tag::Html | Tag::Main | Tag::Article)
                && ["class", "id"].into_iter().any(|name| {
                    element.attribute(name).is_some_and(|value| {
                        let value = value.to_ascii_lowercase();
                        [
                            "date",
                            "published",
                            "posted-on",
                            "post-meta",
                            "entry-meta",
                            "byline",
                            "time",
                            "datum",
                            "meta",
                        ]
                        .iter()
                        .any(|word| value.contains(word))
                            && !value.contains("update")
                            && !value.contains("comment")
                    })
                })
        },
    ];
    for (place, rule) in rules.into_iter().enumerate() {
        let found = source.element(|id, element| {
            // What says what it is does not have to stand in the right place.
            if !rule(element) || (place > 0 && apart(source, id)) {
                return None;
            }
            value(element).or_else(|| {
                let text = source.shown_text(id);
                (text.chars().count() <= 160)
                    .then(|| date::in_page(&text).map(PublicationTime::from))
                    .flatten()
            })
        });
        if found.is_some() {
            return found;
        }
    }
    None
}

/// The date of any `time` element: better than nothing where nothing else is dated.
fn of_any_time(source: &MetadataSource<'_>) -> Option<PublicationTime> {
    source.element(|_, element| {
        (element.tag == Tag::Time)
            .then(|| element.attribute("datetime").and_then(date::in_attribute))
            .flatten()
    })
}

/// True if an element belongs to something else than the page's own text.
fn apart(source: &MetadataSource<'_>, id: crate::dom::NodeId) -> bool {
    source.tree.ancestors(id).any(|above| {
        // What holds the title too is not apart, whatever it is called.
        if source.around_title.contains(&above) {
            return false;
        }
        source.tree.element(above).is_some_and(|element| {
            matches!(element.tag, Tag::Footer | Tag::Nav | Tag::Aside)
                || ["class", "id"].into_iter().any(|name| {
                    element.attribute(name).is_some_and(|value| {
                        let value = value.to_ascii_lowercase();
                        ["comment", "related", "sidebar", "widget", "teaser", "recommend"]
                            .iter()
                            .any(|word| value.contains(word))
                    })
                })
        })
    })
}

/// `/2023/11/06/` and `-20231106` in the address.
fn of_address(source: &MetadataSource<'_>) -> Option<PublicationTime> {
    date::in_path(source.url?.path()).map(PublicationTime::from)
}

/// A date in words: near the title, in a short line anywhere, or where the text begins or ends.
fn of_text(source: &MetadataSource<'_>) -> Option<PublicationTime> {
    let blocks = &source.blocks.list;
    let belongs = source.belongs;
    let heading = blocks.iter().position(|block| source.tree.tag(block.node) == Tag::H1);
    let first = belongs.iter().position(|belongs| *belongs).unwrap_or(0);
    let start = heading.unwrap_or(first);
    let mut order: Vec<usize> = (0..blocks.len())
        .filter(|index| blocks[*index].chars <= SHORT && !apart(source, blocks[*index].node))
        .collect();
    // Before the title is as good as a little after it.
    order.sort_by_key(|index| if *index < start { 2 * (start - index) } else { index - start });
    let of = |index: usize| date::in_page(&blocks[index].text);
    let dated = order.iter().take(NEAR).find_map(|index| of(*index));
    let at_ends = || {
        let mut kept = (0..blocks.len()).filter(|index| belongs[*index]);
        let begin: Vec<_> = kept.by_ref().take(2).collect();
        let end: Vec<_> = kept.rev().take(2).collect();
        begin.into_iter().chain(end).find_map(|index| {
            let text = &blocks[index].text;
            let start: String = text.chars().take(SHORT as usize).collect();
            date::in_page(&start)
        })
    };
    dated
        .or_else(at_ends)
        .or_else(|| order.iter().skip(NEAR).find_map(|index| of(*index)))
        .map(PublicationTime::from)
}
