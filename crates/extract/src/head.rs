//! Reads the head of a page: `meta` and JSON-LD.

use serde_json::Value;
use url::Url;

use crate::dom::{DomTree, NodeData, NodeId, Tag, WalkStep};

/// The most JSON-LD that is read of one page, in bytes.
const MAX_JSON_BYTES: usize = 1_048_576;
/// The most JSON-LD objects that are read.
const MAX_THINGS: usize = 2_000;

/// The head of a page.
#[derive(Debug, Default)]
pub(crate) struct HeadMetadata {
    /// `title`, `og:title` and the like, in the order of the page.
    pub(crate) titles: Vec<String>,
    pub(crate) description: Option<String>,
    /// Name and content of every `meta`, names small.
    pub(crate) metas: Vec<(String, String)>,
    /// Every thing of JSON-LD, those within others included.
    pub(crate) things: Vec<Value>,
    /// The page's own address: its `canonical` link or `og:url`.
    pub(crate) home: Option<Url>,
    /// The `lang` of the page.
    pub(crate) lang: Option<String>,
    /// JSON-LD that is no JSON.
    pub(crate) unread: Vec<String>,
}

pub(crate) fn read(tree: &DomTree) -> HeadMetadata {
    let mut head = HeadMetadata::default();
    let mut budget = MAX_JSON_BYTES;
    tree.walk(NodeId::DOCUMENT, |step| {
        let WalkStep::Enter(id) = step else { return true };
        let Some(element) = tree.element(id) else { return true };
        match element.tag {
            Tag::Html => head.lang = element.attribute("lang").map(str::to_owned),
            Tag::Title
                // Drawings have titles too.
                if tree.node(id).parent.is_some() && tree.tag(tree.node(id).parent) != Tag::Svg => {
                    let text = text_of(tree, id);
                    let words: Vec<_> = text.split_whitespace().collect();
                    if !words.is_empty() && head.titles.is_empty() {
                        head.titles.push(words.join(" "));
                    }
                }
            Tag::Meta => {
                let name = element
                    .attribute("property")
                    .or_else(|| element.attribute("name"))
                    .or_else(|| element.attribute("itemprop"))
                    .or_else(|| element.attribute("http-equiv"));
                if let (Some(name), Some(content)) = (name, element.attribute("content")) {
                    let content = content.split_whitespace().collect::<Vec<_>>().join(" ");
                    if !content.is_empty() {
                        head.metas.push((name.trim().to_ascii_lowercase(), content));
                    }
                }
            }
            Tag::Link if head.home.is_none() => {
                let canonical = element.attribute("rel").is_some_and(|rel| {
                    rel.split_whitespace().any(|word| word.eq_ignore_ascii_case("canonical"))
                });
                if canonical {
                    head.home = element.attribute("href").and_then(at_home);
                }
            }
            Tag::Script => {
                let json = element
                    .attribute("type")
                    .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/ld+json"));
                if json {
                    let text = text_of(tree, id);
                    if text.len() <= budget {
                        budget -= text.len();
                        head.take_things(&text);
                    }
                }
                return false;
            }
            Tag::Svg | Tag::Style | Tag::Template => return false,
            _ => {}
        }
        true
    });
    for name in ["og:title", "twitter:title"] {
        if let Some(title) = head.meta(name) {
            let title = title.to_owned();
            head.titles.push(title);
        }
    }
    if head.home.is_none() {
        head.home = head.meta("og:url").and_then(at_home);
    }
    head.description = ["description", "og:description", "twitter:description"]
        .into_iter()
        .find_map(|name| head.meta(name))
        .map(str::to_owned);
    head
}

/// An address on the web.
fn at_home(text: &str) -> Option<Url> {
    Url::parse(text.trim()).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

fn text_of(tree: &DomTree, id: NodeId) -> String {
    tree.children(id)
        .filter_map(|child| match &tree.node(child).data {
            NodeData::Text(text) => Some(&**text),
            _ => None,
        })
        .collect()
}

impl HeadMetadata {
    /// The content of the first `meta` of this name.
    pub(crate) fn meta(&self, name: &str) -> Option<&str> {
        self.metas.iter().find(|(known, _)| known == name).map(|(_, content)| &**content)
    }

    fn take_things(&mut self, text: &str) {
        let text = text.trim().trim_start_matches("<!--").trim_end_matches("-->");
        let text = text.trim().trim_start_matches("//<![CDATA[").trim_end_matches("//]]>");
        let value = serde_json::from_str::<Value>(text.trim()).or_else(|_| {
            // Line breaks within texts are a common mistake.
            let mended: String =
                text.chars().map(|one| if one.is_control() { ' ' } else { one }).collect();
            serde_json::from_str(mended.trim().trim_end_matches(';'))
        });
        let Ok(value) = value else {
            self.unread.push(text.to_owned());
            return;
        };
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            if self.things.len() >= MAX_THINGS {
                return;
            }
            match value {
                Value::Array(values) => waiting.extend(values.into_iter().rev()),
                Value::Object(map) => {
                    for key in ["@graph", "mainEntity", "mainEntityOfPage", "itemListElement"] {
                        if let Some(inner) = map.get(key) {
                            waiting.push(inner.clone());
                        }
                    }
                    self.things.push(Value::Object(map));
                }
                _ => {}
            }
        }
    }

    /// True if a thing of JSON-LD has one of these types.
    pub(crate) fn has_type(&self, types: &[&str]) -> bool {
        self.things.iter().any(|thing| is_a(thing, types))
    }

    /// The kind of page that it says it is.
    pub(crate) fn kinds(&self) -> [f32; 9] {
        let yes = |is: bool| if is { 1.0 } else { 0.0 };
        let kind = self.meta("og:type").unwrap_or("");
        [
            yes(kind.contains("article")),
            yes(kind.contains("product")),
            yes(kind.contains("website")),
            yes(self.has_type(&["Article", "NewsArticle", "BlogPosting", "Report", "TechArticle"])),
            yes(self.has_type(&["Product", "ProductGroup", "Offer"])),
            yes(self.has_type(&["ItemList", "CollectionPage", "SearchResultsPage"])),
            yes(self.has_type(&["QAPage", "DiscussionForumPosting", "Question", "Comment"])),
            yes(self.has_type(&["FAQPage"])),
            yes(self.has_type(&["Organization", "LocalBusiness", "Service", "Corporation"])),
        ]
    }
}

/// True if a thing has one of these types.
pub(crate) fn is_a(thing: &Value, types: &[&str]) -> bool {
    let fits = |value: &Value| {
        value.as_str().is_some_and(|word| {
            let word = word.rsplit(['/', '#', ':']).next().unwrap_or(word);
            types.contains(&word)
        })
    };
    match thing.get("@type") {
        Some(Value::Array(all)) => all.iter().any(fits),
        Some(one) => fits(one),
        None => false,
    }
}
