//! Builds the tree from what the parser sees.

use std::{
    borrow::Cow,
    cell::{Cell, Ref, RefCell},
};

use html5ever::{
    Attribute, LocalName, Namespace, ParseOpts, QualName, parse_document,
    tendril::{StrTendril, TendrilSink},
    tokenizer::TokenizerOpts,
    tree_builder::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeBuilderOpts, TreeSink},
};

use super::{
    DomNode, DomTree, Element, NodeData, NodeId, Tag, long_tags::without_long_tags,
    streamed::put_in_place,
};

/// The depth of elements in each other. The parser looks at all that are open for every tag,
/// so what is deeper costs time without end; browsers stop at 512.
const MAX_DEPTH: u32 = 1_000;
/// The most nodes of a page.
const MAX_NODES: usize = 3_000_000;
/// The bytes that are read between two checks of these limits.
const CHUNK_BYTES: usize = 16_384;
/// The end of what is for those who run no scripts.
const NO_SCRIPT_END: &str = "</noscript";
/// The beginning of the names of places that are filled later.
const STREAMED: &str = "id=\"B:";

/// Reads a page. What comes after a limit is left out.
pub(crate) fn parse(html: &str) -> DomTree {
    let html = without_long_tags(html);
    // What a page says to those who run no scripts is said to us, unless it opens there what it never closes.
    let mut tree = read(&html, false);
    let scripting_enabled = is_swallowed(&tree);
    if scripting_enabled {
        tree = read(&html, true);
    }
    if html.contains(STREAMED) && put_in_place(&mut tree) > MAX_DEPTH {
        // Parts in parts in parts: no server sends that.
        tree = read(&html, scripting_enabled);
    }
    tree
}

/// True if a frame for those who run no scripts goes on behind the end of what is for them: `<iframe />` is not closed.
fn is_swallowed(tree: &DomTree) -> bool {
    let is_frame = |id: NodeId| id.is_some() && tree.tag(id) == Tag::Iframe;
    tree.nodes.iter().any(|node| {
        matches!(&node.data, NodeData::Text(text) if is_frame(node.parent) && text.contains(NO_SCRIPT_END))
    })
}

/// Reads a page as somebody does who runs scripts, or none.
fn read(html: &str, scripting_enabled: bool) -> DomTree {
    let options = ParseOpts {
        tokenizer: TokenizerOpts::default(),
        tree_builder: TreeBuilderOpts {
            drop_doctype: true,
            scripting_enabled,
            ..TreeBuilderOpts::default()
        },
    };
    let mut parser = parse_document(TreeBuilder::new(html.len()), options);
    let mut rest = html;
    while !rest.is_empty() {
        let mut end = rest.len().min(CHUNK_BYTES);
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (chunk, after) = rest.split_at(end);
        parser.process(StrTendril::from_slice(chunk));
        let sink = &parser.tokenizer.sink.sink;
        if sink.too_deep.get() || sink.nodes.borrow().len() > MAX_NODES {
            break;
        }
        rest = after;
    }
    parser.finish()
}

struct TreeBuilder {
    nodes: RefCell<Vec<DomNode>>,
    too_deep: Cell<bool>,
}

/// The name of an element of the tree.
#[derive(Debug)]
struct ElementName<'a>(Ref<'a, QualName>);

impl ElemName for ElementName<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl TreeBuilder {
    fn new(bytes: usize) -> Self {
        let mut nodes = Vec::with_capacity((bytes / 24).clamp(16, 100_000));
        nodes.push(fresh(NodeData::Document));
        Self { nodes: RefCell::new(nodes), too_deep: Cell::new(false) }
    }

    fn add(&self, data: NodeData) -> NodeId {
        let mut nodes = self.nodes.borrow_mut();
        let id = NodeId(u32::try_from(nodes.len()).unwrap_or(u32::MAX - 1));
        nodes.push(fresh(data));
        id
    }

    /// Puts a node at the end of another one's children.
    fn put(&self, parent: NodeId, child: NodeId) {
        let nodes = &mut *self.nodes.borrow_mut();
        let last = nodes[parent.index()].last;
        let depth = nodes[parent.index()].depth + 1;
        if depth > MAX_DEPTH {
            self.too_deep.set(true);
        }
        let node = &mut nodes[child.index()];
        (node.parent, node.previous, node.next, node.depth) = (parent, last, NodeId::NONE, depth);
        if last.is_some() {
            nodes[last.index()].next = child;
        } else {
            nodes[parent.index()].first = child;
        }
        nodes[parent.index()].last = child;
    }

    fn put_before(&self, sibling: NodeId, child: NodeId) {
        super::put_before(&mut self.nodes.borrow_mut(), sibling, child);
    }

    fn take_out(&self, id: NodeId) {
        super::take_out(&mut self.nodes.borrow_mut(), id);
    }

    /// Adds to a text that is there already; whether it was one.
    fn lengthen(&self, id: NodeId, text: &StrTendril) -> bool {
        if id == NodeId::NONE {
            return false;
        }
        match &mut self.nodes.borrow_mut()[id.index()].data {
            NodeData::Text(before) => {
                before.push_tendril(text);
                true
            }
            _ => false,
        }
    }
}

fn fresh(data: NodeData) -> DomNode {
    DomNode {
        parent: NodeId::NONE,
        first: NodeId::NONE,
        last: NodeId::NONE,
        previous: NodeId::NONE,
        next: NodeId::NONE,
        depth: 0,
        data,
    }
}

impl TreeSink for TreeBuilder {
    type Handle = NodeId;
    type Output = DomTree;
    type ElemName<'a> = ElementName<'a>;

    fn finish(self) -> DomTree {
        DomTree { nodes: self.nodes.into_inner() }
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        NodeId::DOCUMENT
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> ElementName<'a> {
        ElementName(Ref::map(self.nodes.borrow(), |nodes| match &nodes[target.index()].data {
            NodeData::Element(element) => &element.name,
            // The parser promises not to ask.
            _ => unreachable!("only elements have names"),
        }))
    }

    fn create_element(
        &self,
        name: QualName,
        attributes: Vec<Attribute>,
        _: ElementFlags,
    ) -> NodeId {
        let tag = Tag::named(&name);
        self.add(NodeData::Element(Box::new(Element { name, tag, attributes })))
    }

    fn create_comment(&self, _text: StrTendril) -> NodeId {
        self.add(NodeData::Other)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> NodeId {
        self.add(NodeData::Other)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        match child {
            NodeOrText::AppendNode(child) => self.put(*parent, child),
            NodeOrText::AppendText(text) => {
                let last = self.nodes.borrow()[parent.index()].last;
                if !self.lengthen(last, &text) {
                    let child = self.add(NodeData::Text(text));
                    self.put(*parent, child);
                }
            }
        }
    }

    fn append_based_on_parent_node(
        &self,
        element: &NodeId,
        previous: &NodeId,
        child: NodeOrText<NodeId>,
    ) {
        if self.nodes.borrow()[element.index()].parent.is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        // Nobody looks below a template.
        *target
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &NodeId, child: NodeOrText<NodeId>) {
        match child {
            NodeOrText::AppendNode(child) => {
                self.take_out(child);
                self.put_before(*sibling, child);
            }
            NodeOrText::AppendText(text) => {
                let previous = self.nodes.borrow()[sibling.index()].previous;
                if !self.lengthen(previous, &text) {
                    let child = self.add(NodeData::Text(text));
                    self.put_before(*sibling, child);
                }
            }
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        if let NodeData::Element(element) = &mut self.nodes.borrow_mut()[target.index()].data {
            for one in attributes {
                if !element.attributes.iter().any(|known| known.name == one.name) {
                    element.attributes.push(one);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.take_out(*target);
    }

    fn reparent_children(&self, node: &NodeId, parent: &NodeId) {
        loop {
            let first = self.nodes.borrow()[node.index()].first;
            if first == NodeId::NONE {
                return;
            }
            self.take_out(first);
            self.put(*parent, first);
        }
    }
}
