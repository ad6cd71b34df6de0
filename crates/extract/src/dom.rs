//! A page as a tree: nodes in one vector, linked by number.

mod builder;
mod long_tags;
mod streamed;
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

/// Puts a node before another one.
fn put_before(nodes: &mut [DomNode], sibling: NodeId, child: NodeId) {
    let DomNode { parent, previous, depth, .. } = nodes[sibling.index()];
    let node = &mut nodes[child.index()];
    (node.parent, node.previous, node.next, node.depth) = (parent, previous, sibling, depth);
    nodes[sibling.index()].previous = child;
    if previous.is_some() {
        nodes[previous.index()].next = child;
    } else if parent.is_some() {
        nodes[parent.index()].first = child;
    }
}

/// Takes a node with all below it from where it is.
fn take_out(nodes: &mut [DomNode], id: NodeId) {
    let DomNode { parent, previous, next, .. } = nodes[id.index()];
    if parent == NodeId::NONE {
        return;
    }
    if previous.is_some() {
        nodes[previous.index()].next = next;
    } else {
        nodes[parent.index()].first = next;
    }
    if next.is_some() {
        nodes[next.index()].previous = previous;
    } else {
        nodes[parent.index()].last = previous;
    }
    let node = &mut nodes[id.index()];
    (node.parent, node.previous, node.next) = (NodeId::NONE, NodeId::NONE, NodeId::NONE);
}

impl DomTree {
    fn put_before(&mut self, sibling: NodeId, child: NodeId) {
        put_before(&mut self.nodes, sibling, child);
    }

    fn take_out(&mut self, id: NodeId) {
        take_out(&mut self.nodes, id);
    }

    /// Counts anew how deep every node is, after some were moved, and says how deep the deepest is.
    fn set_depths(&mut self) -> u32 {
        let (mut depth, mut depths) = (0_u32, Vec::with_capacity(self.nodes.len()));
        self.walk(NodeId::DOCUMENT, |step| {
            match step {
                WalkStep::Enter(id) => {
                    depths.push((id, depth));
                    depth += 1;
                }
                WalkStep::Leave(_) => depth = depth.saturating_sub(1),
            }
            true
        });
        let mut deepest = 0;
        for (id, depth) in depths {
            self.nodes[id.index()].depth = depth;
            deepest = deepest.max(depth);
        }
        deepest
    }

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
