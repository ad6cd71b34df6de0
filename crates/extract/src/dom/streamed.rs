//! Parts of a page that its server sends later than the rest, hidden, behind the end of the page, with a script that puts
//! each in its place: `<template id="B:0">` there, `<div hidden id="S:0">` here, `$RC("B:0","S:0")` to swap them.
//!
//! Whoever runs scripts sees them in their place, so they are put there.

use std::collections::HashMap;

use super::{DomTree, NodeData, NodeId, Tag};

/// The most parts that are put in their place.
const MAX_PARTS: usize = 200;
/// The most nodes beside a place that are looked at for the end of what stood there meanwhile.
const MAX_MEANWHILE: usize = 200;
/// The names of the functions: they swap, swap once style sheets are there, and put a part into a part.
const CALLS: [&str; 3] = ["$RC(\"", "$RR(\"", "$RS(\""];

/// Puts each part in its place, and says how deep the tree is then.
pub(super) fn put_in_place(tree: &mut DomTree) -> u32 {
    let moves = moves(tree);
    if moves.is_empty() {
        return 0;
    }
    let places = places(tree);
    for (one, other) in moves {
        let (Some(one), Some(other)) = (places.get(&one), places.get(&other)) else { continue };
        let is_place = |id: NodeId| tree.tag(id) == Tag::Template;
        let (place, part) = if is_place(*one) { (*one, *other) } else { (*other, *one) };
        let is_part =
            tree.element(part).is_some_and(|element| element.attribute("hidden").is_some());
        let is_on_page = |id: NodeId| tree.ancestors(id).any(|above| above == NodeId::DOCUMENT);
        let is_within = tree.ancestors(place).any(|above| above == part);
        if is_place(place) && is_part && is_on_page(place) && is_on_page(part) && !is_within {
            drop_meanwhile(tree, place);
            let children: Vec<NodeId> = tree.children(part).collect();
            for child in children {
                tree.take_out(child);
                tree.put_before(place, child);
            }
            tree.take_out(part);
        }
    }
    tree.set_depths()
}

/// The two names of every call, in the order of the page.
fn moves(tree: &DomTree) -> Vec<(String, String)> {
    let mut moves = Vec::new();
    for node in &tree.nodes {
        let NodeData::Text(text) = &node.data else { continue };
        if node.parent == NodeId::NONE || tree.tag(node.parent) != Tag::Script {
            continue;
        }
        let mut rest: &str = text;
        while let Some(start) = rest.find("$R").filter(|_| moves.len() < MAX_PARTS) {
            let call = &rest[start..];
            rest = &call[2..];
            let Some(inside) = CALLS.iter().find_map(|name| call.strip_prefix(name)) else {
                continue;
            };
            let mut names = inside.splitn(4, '"');
            if let (Some(one), Some(","), Some(other)) = (names.next(), names.next(), names.next())
            {
                moves.push((one.to_owned(), other.to_owned()));
            }
        }
    }
    moves
}

/// The places and the parts by name.
fn places(tree: &DomTree) -> HashMap<String, NodeId> {
    let mut places = HashMap::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        let NodeData::Element(element) = &node.data else { continue };
        if let Some(name) = element.attribute("id").filter(|name| name.contains(':')) {
            places
                .entry(name.to_owned())
                .or_insert(NodeId(u32::try_from(index).unwrap_or(u32::MAX)));
        }
    }
    places
}

/// Drops what stands at a place until the part is there: all up to the next comment.
fn drop_meanwhile(tree: &mut DomTree, place: NodeId) {
    let mut beside = Vec::new();
    let mut next = tree.node(place).next;
    while next.is_some() && beside.len() < MAX_MEANWHILE {
        if matches!(tree.node(next).data, NodeData::Other) {
            for id in beside {
                tree.take_out(id);
            }
            return;
        }
        beside.push(next);
        next = tree.node(next).next;
    }
}
