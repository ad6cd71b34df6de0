//! The content of a page as text, or as Markdown.

mod inline;

use std::collections::HashSet;

use url::Url;

use crate::{
    blocks::{PageBlock, PageBlocks},
    dom::{DomTree, NodeId, Tag},
};

/// The depth to which nested lists are shown.
const MAX_INDENT: usize = 8;

/// What stands before and behind text that the page does not show.
const HIDDEN_FROM: &str = "[hidden on the page until a script shows it:]";
const HIDDEN_TO: &str = "[end of the hidden text]";

/// The format of the content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PageFormat {
    /// Lines, with a dash before what stands in a list.
    #[default]
    Text,
    /// Headings, lists, quotes, tables, code, links and emphasis.
    Markdown,
}

/// The shape of a block for a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlockShape {
    Plain,
    Heading(u8),
    Item { indent: usize, number: Option<u32>, list: NodeId },
    Row(NodeId),
    Code,
}

pub(crate) fn render(
    tree: &DomTree,
    blocks: &PageBlocks,
    kept: &[bool],
    format: PageFormat,
    base: Option<&Url>,
) -> String {
    let mut text = String::new();
    let mut before: Option<BlockShape> = None;
    let mut hidden = false;
    for (block, _) in blocks.list.iter().zip(kept).filter(|(_, kept)| **kept) {
        let shape = shape(tree, block);
        if let Some(before) = before {
            let close = match (before, shape) {
                (BlockShape::Item { .. }, BlockShape::Item { .. }) => true,
                (BlockShape::Row(one), BlockShape::Row(other)) => one == other,
                _ => false,
            };
            let close = close && block.hidden == hidden;
            text.push_str(if close { "\n" } else { "\n\n" });
        }
        if block.hidden != hidden {
            text.push_str(if block.hidden { HIDDEN_FROM } else { HIDDEN_TO });
            text.push_str("\n\n");
            hidden = block.hidden;
        }
        let quoted = format == PageFormat::Markdown
            && tree
                .ancestors(block.node)
                .chain([block.node])
                .any(|id| tree.tag(id) == Tag::Blockquote);
        let start = text.len();
        match format {
            PageFormat::Text => write_text(block, shape, &mut text),
            PageFormat::Markdown => {
                let first_row = !matches!(before, Some(BlockShape::Row(table)) if shape == BlockShape::Row(table));
                write_markdown(tree, block, shape, first_row, &blocks.skipped, base, &mut text);
            }
        }
        if quoted {
            let lines = text.split_off(start);
            let lines: Vec<_> = lines.lines().map(|line| format!("> {line}")).collect();
            text.push_str(&lines.join("\n"));
        }
        before = Some(shape);
    }
    text.trim().to_owned()
}

fn shape(tree: &DomTree, block: &PageBlock) -> BlockShape {
    if block.is_row {
        let table = tree.ancestors(block.node).find(|id| tree.tag(*id) == Tag::Table);
        return BlockShape::Row(table.unwrap_or(NodeId::DOCUMENT));
    }
    let tag = tree.tag(block.node);
    if tag.heading() > 0 {
        return BlockShape::Heading(tag.heading());
    }
    if tag == Tag::Pre {
        return BlockShape::Code;
    }
    // The first block of an item carries its mark.
    let item = std::iter::once(block.node)
        .chain(tree.ancestors(block.node))
        .take(4)
        .find(|id| tree.tag(*id) == Tag::Li);
    let Some(item) = item else { return BlockShape::Plain };
    let is_first =
        item == block.node || tree.node(item).first.is_some() && leads(tree, item, block.node);
    let mut lists = tree.ancestors(item).filter(|id| matches!(tree.tag(*id), Tag::Ul | Tag::Ol));
    let list = lists.next().unwrap_or(NodeId::DOCUMENT);
    if !is_first {
        return BlockShape::Plain;
    }
    let number = (tree.tag(list) == Tag::Ol).then(|| {
        let before = tree.children(list).take_while(|id| *id != item);
        let items = before.filter(|id| tree.tag(*id) == Tag::Li).count();
        u32::try_from(items + 1).unwrap_or(u32::MAX)
    });
    BlockShape::Item { indent: lists.count().min(MAX_INDENT), number, list }
}

/// True if a block is the first thing in an item.
fn leads(tree: &DomTree, item: NodeId, node: NodeId) -> bool {
    let mut at = node;
    while at != item {
        let mut before = tree.node(at).previous;
        while before.is_some() {
            if tree.element(before).is_some() {
                return false;
            }
            before = tree.node(before).previous;
        }
        at = tree.node(at).parent;
        if at == NodeId::NONE {
            return false;
        }
    }
    true
}

fn write_text(block: &PageBlock, shape: BlockShape, text: &mut String) {
    match shape {
        BlockShape::Item { indent, number, .. } => {
            text.push_str(&"  ".repeat(indent));
            match number {
                Some(number) => text.push_str(&format!("{number}. ")),
                None => text.push_str("- "),
            }
            text.push_str(&block.text);
        }
        _ => text.push_str(&block.text),
    }
}

fn write_markdown(
    tree: &DomTree,
    block: &PageBlock,
    shape: BlockShape,
    first_row: bool,
    skipped: &HashSet<NodeId>,
    base: Option<&Url>,
    text: &mut String,
) {
    match shape {
        BlockShape::Code => {
            // A fence that the text itself does not have.
            let mut fence = "```".to_owned();
            while block.text.contains(&fence) {
                fence.push('`');
            }
            text.push_str(&format!("{fence}\n{}\n{fence}", block.text));
        }
        BlockShape::Row(_) => {
            let cells: Vec<_> = block
                .text
                .split('\t')
                .map(|cell| cell.trim().replace('|', "\\|").replace('\n', " "))
                .collect();
            text.push_str(&format!("| {} |", cells.join(" | ")));
            if first_row {
                text.push_str(&format!("\n|{}", " --- |".repeat(cells.len())));
            }
        }
        BlockShape::Heading(level) => {
            text.push_str(&format!("{} ", "#".repeat(usize::from(level))));
            text.push_str(&inline::render(tree, block, skipped, base).replace('\n', " "));
        }
        BlockShape::Item { indent, number, .. } => {
            text.push_str(&"  ".repeat(indent));
            match number {
                Some(number) => text.push_str(&format!("{number}. ")),
                None => text.push_str("- "),
            }
            text.push_str(&inline::render(tree, block, skipped, base));
        }
        BlockShape::Plain => text.push_str(&inline::render(tree, block, skipped, base)),
    }
}
