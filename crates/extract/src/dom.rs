//! A page as a tree: nodes in one vector, linked by number.

mod builder;
mod long_tags;
mod tag;

use html5ever::tendril::StrTendril;

pub(crate) use builder::parse;
pub(crate) use tag::Tag;

/// The number of a node; by default that of the document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct NodeId(pub(crate) u32);

impl NodeId {
    /// No node.
    pub(crate) const NONE: NodeId = NodeId(u32::MAX);
    /// The document itself.
    pub(crate) const DOCUMENT: NodeId = NodeId(0);

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) fn is_some(self) -> bool {
        self != NodeId::NONE
    }
}

#[derive(Debug)]
pub(crate) enum NodeData {
    Document,
    Element(Box<Element>),
    Text(StrTendril),
    /// Comments, processing instructions, contents of templates.
    Other,
}

#[derive(Debug)]
pub(crate) struct Element {
    pub(crate) name: html5ever::QualName,
    pub(crate) tag: Tag,
    pub(crate) attributes: Vec<html5ever::Attribute>,
}

impl Element {
    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|one| &*one.name.local == name).map(|one| &*one.value)
    }
}

#[derive(Debug)]
pub(crate) struct DomNode {
    pub(crate) parent: NodeId,
    pub(crate) first: NodeId,
    pub(crate) last: NodeId,
    pub(crate) previous: NodeId,
    pub(crate) next: NodeId,
    pub(crate) depth: u32,
    pub(crate) data: NodeData,
}

/// A page.
#[derive(Debug)]
pub(crate) struct DomTree {
    pub(crate) nodes: Vec<DomNode>,
}

/// A step of a walk through the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WalkStep {
    Enter(NodeId),
    Leave(NodeId),
}

impl DomTree {
    pub(crate) fn node(&self, id: NodeId) -> &DomNode {
        &self.nodes[id.index()]
    }

    pub(crate) fn element(&self, id: NodeId) -> Option<&Element> {
        match &self.node(id).data {
            NodeData::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The tag of a node; `Other` where it is no element.
    pub(crate) fn tag(&self, id: NodeId) -> Tag {
        self.element(id).map_or(Tag::Other, |element| element.tag)
    }

    pub(crate) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let mut next = self.node(id).first;
        std::iter::from_fn(move || {
            let this = next;
            this.is_some().then(|| {
                next = self.node(this).next;
                this
            })
        })
    }

    /// The elements above a node, the nearest first.
    pub(crate) fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let mut next = self.node(id).parent;
        std::iter::from_fn(move || {
            let this = next;
            this.is_some().then(|| {
                next = self.node(this).parent;
                this
            })
        })
    }

    /// Goes through everything below a node, and it itself, in the order of the page. Where
    /// `enter` says no, nothing below is looked at. However deep a page is, no call is.
    pub(crate) fn walk(&self, root: NodeId, mut visit: impl FnMut(WalkStep) -> bool) {
        let mut at = root;
        loop {
            if visit(WalkStep::Enter(at)) && self.node(at).first.is_some() {
                at = self.node(at).first;
                continue;
            }
            loop {
                visit(WalkStep::Leave(at));
                if at == root {
                    return;
                }
                let node = self.node(at);
                if node.next.is_some() {
                    at = node.next;
                    break;
                }
                at = node.parent;
            }
        }
    }

    /// The text below a node that is not left out, with white space as one blank.
    pub(crate) fn text(&self, root: NodeId, is_left_out: impl Fn(NodeId) -> bool) -> String {
        let mut text = String::new();
        self.walk(root, |step| {
            let WalkStep::Enter(id) = step else { return true };
            match &self.node(id).data {
                NodeData::Text(piece) => {
                    for word in piece.split_whitespace() {
                        if !text.is_empty() && !text.ends_with(' ') {
                            text.push(' ');
                        }
                        text.push_str(word);
                    }
                    true
                }
                NodeData::Element(element) => !element.tag.is_never_shown() && !is_left_out(id),
                _ => true,
            }
        });
        text
    }
}
