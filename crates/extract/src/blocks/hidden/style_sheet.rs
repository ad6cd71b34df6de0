//! What the style sheets within a page hide, as far as one class or id says so.

use std::{borrow::Cow, collections::HashSet};

use super::{fading, hides, is_panel, shows};
use crate::dom::{DomTree, Element, NodeData, NodeId, Tag, WalkStep};

/// The most of style sheets that is read of one page, in bytes.
const MAX_BYTES: usize = 1_048_576;

/// Classes (`.name`) and ids (`#name`) whose elements are not shown.
#[derive(Debug, Default)]
pub(crate) struct StyleSheet {
    hiding: HashSet<String>,
    /// Those of them that do so by their opacity alone: only elements that nothing fades in.
    fading: HashSet<String>,
}

impl StyleSheet {
    /// Reads all style sheets of a page.
    pub(crate) fn of(tree: &DomTree) -> Self {
        let mut text = String::new();
        let styles = tree.nodes.iter().enumerate().filter(
            |(_, node)| matches!(&node.data, NodeData::Element(element) if is_for_screens(element)),
        );
        for (index, _) in styles {
            let id = NodeId(u32::try_from(index).unwrap_or(0));
            tree.walk(id, |step| {
                if let WalkStep::Enter(inner) = step
                    && let NodeData::Text(piece) = &tree.node(inner).data
                    && text.len() + piece.len() <= MAX_BYTES
                {
                    text.push_str(piece);
                    text.push('}');
                }
                true
            });
        }
        Self::read(&without_comments(&text))
    }

    fn read(text: &str) -> Self {
        let mut hiding: HashSet<String> = HashSet::new();
        let (mut fading, mut kept_out) = (HashSet::new(), HashSet::new());
        for (selectors, style) in rules(text) {
            let simple = || selectors.split(',').map(str::trim).filter(|one| is_simple(one));
            if simple().next().is_none() || !hides(style) {
                continue;
            }
            if !fading::is_only_faded(style) {
                kept_out.extend(simple().map(str::to_owned));
            } else if !fading::moves(style) {
                fading.extend(simple().map(str::to_owned));
            } else {
                continue;
            }
            hiding.extend(simple().map(str::to_owned));
        }
        // What a state or a wider window shows is there to be seen.
        if !hiding.is_empty() {
            for (selectors, style) in rules(text) {
                let names = selectors.split(',').flat_map(last_names);
                let known: Vec<_> = names.filter(|name| hiding.contains(*name)).collect();
                if !known.is_empty() && shows(style) {
                    for name in known {
                        hiding.remove(name);
                    }
                }
            }
        }
        fading.retain(|name| !kept_out.contains(name));
        Self { hiding, fading }
    }

    /// True if an element is not shown.
    pub(crate) fn hides(&self, element: &Element) -> bool {
        // A panel that the reader can open is there to be read.
        if self.hiding.is_empty() || is_panel(element) {
            return false;
        }
        let mut name = String::new();
        let mut is_hiding = |mark: char, value: &str| {
            name.clear();
            name.push(mark);
            name.push_str(value);
            self.hiding.contains(name.as_str())
                && !(self.fading.contains(name.as_str()) && fading::is_marked(element))
        };
        element.attributes.iter().any(|attribute| match &*attribute.name.local {
            "class" => attribute.value.split_ascii_whitespace().any(|one| is_hiding('.', one)),
            "id" => is_hiding('#', attribute.value.trim()),
            _ => false,
        })
    }
}

fn is_for_screens(element: &Element) -> bool {
    element.tag == Tag::Style
        && element.attribute("media").is_none_or(|media| {
            matches!(media.trim().to_ascii_lowercase().as_str(), "" | "all" | "screen")
        })
}

fn without_comments(text: &str) -> Cow<'_, str> {
    if !text.contains("/*") {
        return Cow::Borrowed(text);
    }
    let mut pieces = text.split("/*");
    let mut kept = pieces.next().unwrap_or("").to_owned();
    for piece in pieces {
        kept.push_str(piece.split_once("*/").map_or("", |(_, behind)| behind));
    }
    Cow::Owned(kept)
}

/// The rules that hold for every window, and those in `@layer` and the like: selectors and style.
fn rules(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let open = memchr::memchr2(b'{', b'}', rest.as_bytes())?;
            let (before, behind) = (&rest[..open], &rest[open + 1..]);
            if rest.as_bytes()[open] == b'}' {
                rest = behind;
                continue;
            }
            // Behind `@import` and the like.
            let selectors = before.rsplit(';').next().unwrap_or(before).trim();
            if selectors.starts_with("@layer") {
                rest = behind;
            } else if selectors.starts_with('@') {
                rest = &behind[end_of_block(behind)..];
            } else {
                let end = memchr::memchr(b'}', behind.as_bytes()).unwrap_or(behind.len());
                rest = &behind[end..];
                return Some((selectors, &behind[..end]));
            }
        }
    })
}

/// The end of a block whose bracket was opened just before.
fn end_of_block(text: &str) -> usize {
    let mut depth = 1_usize;
    for at in memchr::memchr2_iter(b'{', b'}', text.as_bytes()) {
        depth = if text.as_bytes()[at] == b'{' { depth + 1 } else { depth - 1 };
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|one| one.is_ascii_alphanumeric() || matches!(one, b'-' | b'_'))
}

/// True for a class or an id by itself.
fn is_simple(selector: &str) -> bool {
    selector.strip_prefix(['.', '#']).is_some_and(is_name)
}

/// The classes and ids of the element that a selector is about.
fn last_names(selector: &str) -> impl Iterator<Item = &str> {
    let last = selector.trim().rsplit([' ', '>', '+', '~']).next().unwrap_or("");
    let starts = last.match_indices(['.', '#']).map(|(at, _)| at);
    starts.map(move |at| {
        let end = last[at + 1..]
            .find(|one: char| !(one.is_ascii_alphanumeric() || matches!(one, '-' | '_')));
        &last[at..end.map_or(last.len(), |end| at + 1 + end)]
    })
}

#[cfg(test)]
mod tests {
    use super::{StyleSheet, without_comments};

    #[test]
    fn classes_and_ids_that_hide_are_found() {
        let text = "@import 'x.css'; .a{display:none}/* .no { */ .b , #c { color: red; visibility:hidden }
            .d .e{display:none} .f:hover{display:none} p.g{display:none} @media print{.h{display:none} .i{display:none}}
            @layer base{.j{opacity:0}} .k{display:none} .menu.k.open > a{x:y} .menu .k.open{display:block} .l{display:block}";
        let mut found: Vec<_> =
            StyleSheet::read(&without_comments(text)).hiding.into_iter().collect();
        found.sort();
        assert_eq!(found, ["#c", ".a", ".b", ".j"]);
        assert!(StyleSheet::read("{}}{{.a{").hiding.is_empty());
    }
}
