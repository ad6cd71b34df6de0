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

use super::{Data, Element, Id, Node, Tag, Tree, tame::tame};

/// How deep elements may lie in each other. The parser looks at all that are open for every tag,
/// so what is deeper costs time without end; browsers stop at 512.
const MAX_DEPTH: u32 = 1_000;
/// How many nodes a page may have.
const MAX_NODES: usize = 3_000_000;
/// How much is read between two looks at these limits, in bytes.
const CHUNK_BYTES: usize = 16_384;

/// Reads a page. What comes after a limit is left out.
pub(crate) fn parse(html: &str) -> Tree {
    let options = ParseOpts {
        tokenizer: TokenizerOpts::default(),
        tree_builder: TreeBuilderOpts {
            drop_doctype: true,
            // What a page says to those who run no scripts is said to us.
            scripting_enabled: false,
            ..TreeBuilderOpts::default()
        },
    };
    let mut parser = parse_document(Sink::new(html.len()), options);
    let html = tame(html);
    let mut rest = &*html;
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

struct Sink {
    nodes: RefCell<Vec<Node>>,
    too_deep: Cell<bool>,
}

/// The name of an element of the tree.
#[derive(Debug)]
struct Name<'a>(Ref<'a, QualName>);

impl ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl Sink {
    fn new(bytes: usize) -> Self {
        let mut nodes = Vec::with_capacity((bytes / 24).clamp(16, 100_000));
        nodes.push(fresh(Data::Document));
        Self { nodes: RefCell::new(nodes), too_deep: Cell::new(false) }
    }

    fn add(&self, data: Data) -> Id {
        let mut nodes = self.nodes.borrow_mut();
        let id = Id(u32::try_from(nodes.len()).unwrap_or(u32::MAX - 1));
        nodes.push(fresh(data));
        id
    }

    /// Puts a node at the end of another one's children.
    fn put(&self, parent: Id, child: Id) {
        let nodes = &mut *self.nodes.borrow_mut();
        let last = nodes[parent.index()].last;
        let depth = nodes[parent.index()].depth + 1;
        if depth > MAX_DEPTH {
            self.too_deep.set(true);
        }
        let node = &mut nodes[child.index()];
        (node.parent, node.previous, node.next, node.depth) = (parent, last, Id::NONE, depth);
        if last.is_some() {
            nodes[last.index()].next = child;
        } else {
            nodes[parent.index()].first = child;
        }
        nodes[parent.index()].last = child;
    }

    fn put_before(&self, sibling: Id, child: Id) {
        let nodes = &mut *self.nodes.borrow_mut();
        let Node { parent, previous, depth, .. } = nodes[sibling.index()];
        let node = &mut nodes[child.index()];
        (node.parent, node.previous, node.next, node.depth) = (parent, previous, sibling, depth);
        nodes[sibling.index()].previous = child;
        if previous.is_some() {
            nodes[previous.index()].next = child;
        } else if parent.is_some() {
            nodes[parent.index()].first = child;
        }
    }

    fn take_out(&self, id: Id) {
        let nodes = &mut *self.nodes.borrow_mut();
        let Node { parent, previous, next, .. } = nodes[id.index()];
        if parent == Id::NONE {
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
        (node.parent, node.previous, node.next) = (Id::NONE, Id::NONE, Id::NONE);
    }

    /// Adds to a text that is there already; whether it was one.
    fn lengthen(&self, id: Id, text: &StrTendril) -> bool {
        if id == Id::NONE {
            return false;
        }
        match &mut self.nodes.borrow_mut()[id.index()].data {
            Data::Text(before) => {
                before.push_tendril(text);
                true
            }
            _ => false,
        }
    }
}

fn fresh(data: Data) -> Node {
    Node {
        parent: Id::NONE,
        first: Id::NONE,
        last: Id::NONE,
        previous: Id::NONE,
        next: Id::NONE,
        depth: 0,
        data,
    }
}

impl TreeSink for Sink {
    type Handle = Id;
    type Output = Tree;
    type ElemName<'a> = Name<'a>;

    fn finish(self) -> Tree {
        Tree { nodes: self.nodes.into_inner() }
    }

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        Id::DOCUMENT
    }

    fn elem_name<'a>(&'a self, target: &'a Id) -> Name<'a> {
        Name(Ref::map(self.nodes.borrow(), |nodes| match &nodes[target.index()].data {
            Data::Element(element) => &element.name,
            // The parser promises not to ask.
            _ => unreachable!("only elements have names"),
        }))
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Id {
        let tag = Tag::named(&name);
        self.add(Data::Element(Box::new(Element { name, tag, attributes })))
    }

    fn create_comment(&self, _text: StrTendril) -> Id {
        self.add(Data::Other)
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> Id {
        self.add(Data::Other)
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        match child {
            NodeOrText::AppendNode(child) => self.put(*parent, child),
            NodeOrText::AppendText(text) => {
                let last = self.nodes.borrow()[parent.index()].last;
                if !self.lengthen(last, &text) {
                    let child = self.add(Data::Text(text));
                    self.put(*parent, child);
                }
            }
        }
    }

    fn append_based_on_parent_node(&self, element: &Id, previous: &Id, child: NodeOrText<Id>) {
        if self.nodes.borrow()[element.index()].parent.is_some() {
            self.append_before_sibling(element, child);
        } else {
            self.append(previous, child);
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Id) -> Id {
        // Nobody looks below a template.
        *target
    }

    fn same_node(&self, one: &Id, other: &Id) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Id, child: NodeOrText<Id>) {
        match child {
            NodeOrText::AppendNode(child) => {
                self.take_out(child);
                self.put_before(*sibling, child);
            }
            NodeOrText::AppendText(text) => {
                let previous = self.nodes.borrow()[sibling.index()].previous;
                if !self.lengthen(previous, &text) {
                    let child = self.add(Data::Text(text));
                    self.put_before(*sibling, child);
                }
            }
        }
    }

    fn add_attrs_if_missing(&self, target: &Id, attributes: Vec<Attribute>) {
        if let Data::Element(element) = &mut self.nodes.borrow_mut()[target.index()].data {
            for one in attributes {
                if !element.attributes.iter().any(|known| known.name == one.name) {
                    element.attributes.push(one);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Id) {
        self.take_out(*target);
    }

    fn reparent_children(&self, node: &Id, parent: &Id) {
        loop {
            let first = self.nodes.borrow()[node.index()].first;
            if first == Id::NONE {
                return;
            }
            self.take_out(first);
            self.put(*parent, first);
        }
    }
}
