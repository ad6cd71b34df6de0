//! The content of a page that has no text of its own and is made from JSON by a script: JSON-LD, and the state that
//! forums, shops and applications carry with them.

use std::collections::HashSet;

use serde_json::Value;
use url::Url;

use crate::{
    PageFormat, blocks,
    blocks::PageBlocks,
    dom::{self, DomTree, NodeData, NodeId, Tag},
    head::HeadMetadata,
    render,
};

/// A page of more words than these has text of its own.
const MAX_OWN_WORDS: u32 = 100;
/// The most JSON that is read of one page, in bytes.
const MAX_JSON_BYTES: usize = 4_194_304;
/// An attribute of fewer bytes holds no state.
const MIN_ATTRIBUTE_BYTES: usize = 256;
/// The most of a script before its JSON begins, in bytes: `window.__STATE__ = {`.
const MAX_NAME_BYTES: usize = 80;
/// JSON in a string of JSON is read to this depth.
const MAX_NESTING: u8 = 2;
/// A text of fewer words is a label.
const MIN_WORDS: usize = 8;
/// Keys of content, the surest first; the first that has any is taken.
const KEYS: &[&str] = &[
    "articleBody",
    "cooked",
    "bodyHtml",
    "body_html",
    "contentHtml",
    "body",
    "content",
    "text",
    "message",
    "html",
    "description",
];

/// A page of so few words has no text, and a description of so many is the beginning of what it is about.
const NO_TEXT_WORDS: u32 = 8;
const MIN_DESCRIPTION_WORDS: usize = 40;

/// A page without text that only says what it needs (`You need to enable JavaScript`) has at most so many words.
const MAX_NOTICE_WORDS: u32 = 60;
/// What such a page says, in small letters.
const NOTICES: &str = include_str!("../words/notices.txt");

/// True if a page says nothing but what it needs to show something.
pub(crate) fn is_notice(blocks: &PageBlocks) -> bool {
    let words = blocks.list.iter().map(|block| block.words).sum::<u32>();
    words <= MAX_NOTICE_WORDS
        && blocks.list.iter().any(|block| {
            let text = block.text.to_lowercase();
            NOTICES.lines().any(|notice| text.contains(notice))
        })
}

/// The content that only scripts would show, if the page has next to no text of its own.
pub(crate) fn read(
    tree: &DomTree,
    blocks: &PageBlocks,
    head: &HeadMetadata,
    format: PageFormat,
    base: Option<&Url>,
) -> Option<String> {
    if blocks.list.iter().map(|block| block.words).sum::<u32>() > MAX_OWN_WORDS {
        return None;
    }
    let texts = of_json(tree).or_else(|| Some(vec![description(blocks, head)?]))?;
    let mut known = HashSet::new();
    let pieces = texts
        .into_iter()
        .filter(|text| known.insert(text.clone()))
        .map(|text| if text.contains("</") || text.contains("<br") { text } else { plain(&text) });
    let html: String = pieces.map(|text| format!("<article>{text}</article>")).collect();
    let tree = dom::parse(&html);
    let mut blocks = blocks::cut(&tree);
    for block in &mut blocks.list {
        block.hidden = true;
    }
    Some(render::render(&tree, &blocks, &vec![true; blocks.list.len()], format, base))
}

/// The texts of all JSON of a page under the surest key that has any.
fn of_json(tree: &DomTree) -> Option<Vec<String>> {
    let mut found: Vec<Vec<String>> = vec![Vec::new(); KEYS.len()];
    let mut budget = MAX_JSON_BYTES;
    for (index, node) in tree.nodes.iter().enumerate() {
        let NodeData::Element(element) = &node.data else { continue };
        let of_script = (element.tag == Tag::Script).then(|| script(tree, index));
        let long = |value: &str| (value.len() >= MIN_ATTRIBUTE_BYTES).then(|| value.to_owned());
        let of_attributes = element.attributes.iter().filter_map(|one| long(&one.value));
        for text in of_script.into_iter().chain(of_attributes) {
            if let Some(json) = json_part(&text).filter(|json| json.len() <= budget) {
                budget -= json.len();
                collect(json, &mut found);
            }
        }
    }
    found.into_iter().find(|texts| !texts.is_empty())
}

/// The description of a dated posting or article that scripts would show.
fn description(blocks: &PageBlocks, head: &HeadMetadata) -> Option<String> {
    let is_empty = blocks.list.iter().map(|block| block.words).sum::<u32>() < NO_TEXT_WORDS;
    if !is_empty || is_notice(blocks) || head.meta("article:published_time").is_none() {
        return None;
    }
    ["description", "og:description", "twitter:description"]
        .into_iter()
        .filter_map(|name| head.meta(name))
        .max_by_key(|text| text.len())
        .filter(|text| text.split_whitespace().nth(MIN_DESCRIPTION_WORDS - 1).is_some())
        .map(str::to_owned)
}

fn script(tree: &DomTree, index: usize) -> String {
    let children = tree.children(NodeId(u32::try_from(index).unwrap_or(0)));
    let pieces = children.filter_map(|child| match &tree.node(child).data {
        NodeData::Text(text) => Some(&**text),
        _ => None,
    });
    pieces.collect()
}

/// The text from where JSON begins, if it does so soon: at once, or behind `=`.
fn json_part(text: &str) -> Option<&str> {
    let start = text.find(['{', '['])?;
    let before = text[..start].trim();
    (before.is_empty() || (before.len() <= MAX_NAME_BYTES && before.ends_with('=')))
        .then(|| &text[start..])
}

/// Adds the texts of JSON to those of their keys, in the order of the document.
fn collect(json: &str, found: &mut [Vec<String>]) {
    let Some(value) = first_value(json) else { return };
    let mut waiting: Vec<(Option<usize>, u8, Value)> = vec![(None, 0, value)];
    while let Some((key, nesting, value)) = waiting.pop() {
        match value {
            Value::Array(all) => {
                waiting.extend(all.into_iter().rev().map(|one| (key, nesting, one)));
            }
            Value::Object(map) => waiting.extend(
                map.into_iter()
                    .rev()
                    .map(|(name, one)| (KEYS.iter().position(|key| *key == name), nesting, one)),
            ),
            Value::String(text) => {
                if nesting < MAX_NESTING
                    && text.starts_with(['{', '['])
                    && let Some(inner) = first_value(&text)
                {
                    waiting.push((None, nesting + 1, inner));
                } else if let Some(key) = key
                    && text.split_whitespace().nth(MIN_WORDS - 1).is_some()
                {
                    found[key].push(text);
                }
            }
            _ => {}
        }
    }
}

fn first_value(json: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(json).into_iter::<Value>().next()?.ok()
}

/// Text as HTML with its paragraphs.
fn plain(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
    escaped
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| format!("<p>{line}</p>"))
        .collect()
}
