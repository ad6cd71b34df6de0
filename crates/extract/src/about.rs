//! What a page is called, who wrote it, when, and in which language.

mod byline;
mod date;
mod language;
mod title;

use std::collections::HashSet;

use url::Url;

use crate::{
    blocks::Blocks,
    dom::{Id, Step, Tag, Tree},
    head::Head,
};

/// What is known about a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) title: Option<String>,
    pub(crate) byline: Option<String>,
    pub(crate) published_at: Option<String>,
    pub(crate) lang: Option<String>,
}

/// What the finders look at.
pub(crate) struct Source<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) head: &'a Head,
    pub(crate) blocks: &'a Blocks,
    /// How sure it is of each block that it is content.
    pub(crate) belongs: &'a [bool],
    pub(crate) url: Option<&'a Url>,
    pub(crate) text: &'a str,
    /// The elements that the first large heading stands in.
    pub(crate) around_title: HashSet<Id>,
}

/// The elements that the first large heading stands in.
pub(crate) fn around_title(tree: &Tree, blocks: &Blocks) -> HashSet<Id> {
    let heading = blocks.list.iter().find(|block| tree.tag(block.node) == Tag::H1);
    heading.map(|block| tree.ancestors(block.node).collect()).unwrap_or_default()
}

pub(crate) fn find(source: &Source<'_>) -> About {
    let title = title::find(source);
    About {
        byline: byline::find(source, title.as_deref()),
        published_at: date::find(source),
        lang: language::find(source),
        title,
    }
}

impl Source<'_> {
    /// The first element that a rule likes, in the order of the page.
    fn element<T>(&self, mut rule: impl FnMut(Id, &crate::dom::Element) -> Option<T>) -> Option<T> {
        let mut found = None;
        self.tree.walk(Id::DOCUMENT, |step| {
            if found.is_some() {
                return false;
            }
            if let Step::Enter(id) = step
                && let Some(element) = self.tree.element(id)
            {
                found = rule(id, element);
            }
            true
        });
        found
    }
}

/// Text of a page in one line, without what cannot be seen.
pub(crate) fn tidy(text: &str) -> String {
    let visible = |one: &char| !one.is_control() || one.is_whitespace();
    let text: String = text.chars().filter(visible).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
