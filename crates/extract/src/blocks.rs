//! A page as a list of blocks: runs of text that stand by themselves, in the order of the page.

mod hidden;

use std::collections::{HashMap, HashSet};

use crate::dom::{DomTree, NodeData, NodeId, Tag, WalkStep};
use hidden::StyleSheet;

/// The most blocks that are looked at; what comes after them is left out. A block takes two
/// kilobytes while it is judged.
const MAX_BLOCKS: usize = 25_000;

/// A page shows almost nothing if it has no more words than these in running text, and hides so many times as much.
const ALMOST_NOTHING: u32 = 100;
const TIMES_MORE: usize = 10;
/// The most layers of hidden elements that are shown all the same.
const MAX_LAYERS: usize = 8;
/// A block of so many words with few links is running text.
const LONG_WORDS: u32 = 12;

/// The part of a text that is compared to tell whether it is known, in characters.
const SAMPLE: usize = 30;

/// A run of text.
#[derive(Debug, Default)]
pub(crate) struct PageBlock {
    /// The element that it stands in.
    pub(crate) node: NodeId,
    /// The visible text, white space collapsed; `\n` for a break, `\t` between cells.
    pub(crate) text: String,
    /// Its first and its last piece of text in the tree.
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) chars: u32,
    pub(crate) words: u32,
    pub(crate) link_chars: u32,
    pub(crate) links: u32,
    pub(crate) bold_chars: u32,
    pub(crate) code_chars: u32,
    pub(crate) button_chars: u32,
    pub(crate) label_chars: u32,
    pub(crate) time: bool,
    /// A row of a table whose cells are short.
    pub(crate) is_row: bool,
    /// True if the page does not show it, unless a script does.
    pub(crate) hidden: bool,
}

impl PageBlock {
    /// True if it is running text.
    pub(crate) fn is_long(&self) -> bool {
        self.words >= LONG_WORDS && self.link_chars * 3 < self.chars
    }
}

pub(crate) struct PageBlocks {
    pub(crate) list: Vec<PageBlock>,
    /// The elements that are left out because they are hidden.
    pub(crate) skipped: HashSet<NodeId>,
    /// The number of times that each text stands on the page.
    pub(crate) copies: Vec<u32>,
}

/// Cuts a page into blocks.
pub(crate) fn cut(tree: &DomTree) -> PageBlocks {
    let sheet = StyleSheet::of(tree);
    let mut shown = HashSet::new();
    let (mut list, mut skipped) = pass(tree, &sheet, &shown);
    // A page may hide all that it has until its scripts have run. Where it shows anything, what it hides is
    // not for its readers. What is hidden may itself hold what is hidden.
    for _ in 0..MAX_LAYERS {
        let shown_later = shown_later(tree, &list, &skipped);
        if shown_later.is_empty() {
            break;
        }
        shown.extend(shown_later);
        (list, skipped) = pass(tree, &sheet, &shown);
    }
    let mut counts: HashMap<&str, u32> = HashMap::with_capacity(list.len());
    for block in &list {
        *counts.entry(&block.text).or_default() += 1;
    }
    let copies = list.iter().map(|block| counts[&*block.text]).collect();
    PageBlocks { list, copies, skipped: skipped.into_iter().collect() }
}

/// The hidden elements that hold the page, where it shows almost nothing.
fn shown_later(tree: &DomTree, list: &[PageBlock], skipped: &[NodeId]) -> Vec<NodeId> {
    let running = |count: fn(&PageBlock) -> u32| {
        list.iter().filter(|block| block.is_long()).map(count).sum::<u32>()
    };
    if running(|block| block.words) > ALMOST_NOTHING {
        return Vec::new();
    }
    let seen = list.iter().map(|block| block.chars as usize).sum::<usize>();
    let least = seen.max(TIMES_MORE * running(|block| block.chars) as usize);
    let text = |id: NodeId| tree.text(id, |_| false);
    skipped.iter().copied().filter(|id| is_news(list, least, &text(*id))).collect()
}

/// True if a text has more characters than these, and is not what is seen once more.
fn is_news(list: &[PageBlock], least: usize, text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= least {
        return false;
    }
    let known = (1..8)
        .map(|part| chars.len() * part / 8)
        .filter(|at| {
            let sample: String = chars[*at..].iter().take(SAMPLE).collect();
            list.iter().any(|block| block.text.contains(sample.trim()))
        })
        .count();
    known < 3
}

/// The blocks, and what was left out because it is hidden. Some is shown all the same.
fn pass(
    tree: &DomTree,
    sheet: &StyleSheet,
    shown: &HashSet<NodeId>,
) -> (Vec<PageBlock>, Vec<NodeId>) {
    let mut cutter = BlockCutter {
        tree,
        sheet,
        shown,
        skipped: Vec::new(),
        list: Vec::new(),
        open: PageBlock::default(),
        blank: false,
        breaks: 0,
        links: 0,
        bold: 0,
        code: 0,
        pre: 0,
        button: 0,
        label: 0,
        hidden: 0,
        rows: Vec::new(),
    };
    tree.walk(NodeId::DOCUMENT, |step| cutter.step(step));
    cutter.close();
    (cutter.list, cutter.skipped)
}

struct BlockCutter<'a> {
    tree: &'a DomTree,
    sheet: &'a StyleSheet,
    shown: &'a HashSet<NodeId>,
    skipped: Vec<NodeId>,
    list: Vec<PageBlock>,
    open: PageBlock,
    /// True if white space came since the last word.
    blank: bool,
    breaks: u32,
    links: u32,
    bold: u32,
    code: u32,
    pre: u32,
    button: u32,
    label: u32,
    hidden: u32,
    /// Rows that are one block each.
    rows: Vec<NodeId>,
}

impl BlockCutter<'_> {
    fn step(&mut self, step: WalkStep) -> bool {
        match step {
            WalkStep::Enter(id) => self.enter(id),
            WalkStep::Leave(id) => {
                if let NodeData::Element(element) = &self.tree.node(id).data {
                    self.leave(id, element.tag);
                }
                true
            }
        }
    }

    fn enter(&mut self, id: NodeId) -> bool {
        match &self.tree.node(id).data {
            NodeData::Text(text) => self.add(id, text),
            NodeData::Element(element) => {
                let tag = element.tag;
                if tag.is_never_shown() || self.list.len() >= MAX_BLOCKS {
                    return false;
                }
                if self.shown.contains(&id) {
                    self.close();
                    self.hidden += 1;
                } else if tag == Tag::Noscript
                    || hidden::is_hidden(element)
                    || self.sheet.hides(element)
                {
                    // Below what is shown after all it may be hidden once more.
                    self.skipped.push(id);
                    return false;
                }
                match tag {
                    Tag::Br => {
                        self.breaks += 1;
                        if self.breaks > 1 && self.rows.is_empty() && self.pre == 0 {
                            self.close();
                        }
                    }
                    Tag::Td | Tag::Th if !self.rows.is_empty() => self.separate(),
                    Tag::Tr if is_row(self.tree, id) => {
                        self.close();
                        self.rows.push(id);
                    }
                    Tag::A => {
                        self.links += 1;
                        self.open.links += 1;
                    }
                    Tag::B | Tag::Strong => self.bold += 1,
                    Tag::Code | Tag::Kbd | Tag::Samp => self.code += 1,
                    Tag::Pre => {
                        self.close();
                        self.pre += 1;
                    }
                    Tag::Button => self.button += 1,
                    Tag::Label => self.label += 1,
                    Tag::Time => self.open.time = true,
                    tag if tag.is_block() && self.rows.is_empty() => self.close(),
                    tag if tag.is_block() => self.blank = true,
                    _ => {}
                }
            }
            _ => {}
        }
        true
    }

    fn leave(&mut self, id: NodeId, tag: Tag) {
        if self.shown.contains(&id) {
            self.close();
            self.hidden = self.hidden.saturating_sub(1);
        }
        match tag {
            Tag::Tr if self.rows.last() == Some(&id) => {
                self.open.is_row = true;
                self.close();
                self.rows.pop();
            }
            Tag::A => self.links = self.links.saturating_sub(1),
            Tag::B | Tag::Strong => self.bold = self.bold.saturating_sub(1),
            Tag::Code | Tag::Kbd | Tag::Samp => self.code = self.code.saturating_sub(1),
            Tag::Pre => {
                self.close();
                self.pre = self.pre.saturating_sub(1);
            }
            Tag::Button => self.button = self.button.saturating_sub(1),
            Tag::Label => self.label = self.label.saturating_sub(1),
            tag if tag.is_block() && self.rows.is_empty() => self.close(),
            tag if tag.is_block() => self.blank = true,
            _ => {}
        }
    }

    /// The next cell of a row.
    fn separate(&mut self) {
        if !self.open.text.is_empty() {
            self.open.text.push('\t');
        }
        self.blank = false;
        self.breaks = 0;
    }

    fn add(&mut self, id: NodeId, text: &str) {
        if self.pre > 0 {
            self.add_lines(id, text);
            return;
        }
        if text.starts_with(char::is_whitespace) {
            self.blank = true;
        }
        let mut words = text.split_whitespace().peekable();
        if words.peek().is_none() {
            return;
        }
        self.begin(id);
        for word in words {
            let open = &mut self.open.text;
            if self.breaks > 0 && !open.is_empty() {
                open.push('\n');
            } else if self.blank && !open.is_empty() && !open.ends_with(['\t', '\n']) {
                open.push(' ');
            }
            self.breaks = 0;
            open.push_str(word);
            self.blank = true;
            let length = u32::try_from(word.chars().count()).unwrap_or(u32::MAX);
            self.count(length);
        }
        self.blank = text.ends_with(char::is_whitespace);
    }

    /// Text whose white space counts.
    fn add_lines(&mut self, id: NodeId, text: &str) {
        if self.open.text.is_empty() && text.trim().is_empty() {
            return;
        }
        self.begin(id);
        self.open.text.push_str(text);
        for word in text.split_whitespace() {
            self.count(u32::try_from(word.chars().count()).unwrap_or(u32::MAX));
        }
    }

    fn begin(&mut self, id: NodeId) {
        if self.open.text.is_empty() {
            let holder = self.tree.ancestors(id).find(|above| {
                let tag = self.tree.tag(*above);
                match self.rows.last() {
                    Some(row) => above == row,
                    None => tag.is_block(),
                }
            });
            self.open.node = holder.unwrap_or(NodeId::DOCUMENT);
            self.open.from = id;
        }
        self.open.to = id;
    }

    fn count(&mut self, length: u32) {
        let open = &mut self.open;
        open.words += 1;
        open.chars = open.chars.saturating_add(length);
        for (inside, counted) in [
            (self.links, &mut open.link_chars),
            (self.bold, &mut open.bold_chars),
            (self.code + self.pre, &mut open.code_chars),
            (self.button, &mut open.button_chars),
            (self.label, &mut open.label_chars),
        ] {
            if inside > 0 {
                *counted = counted.saturating_add(length);
            }
        }
    }

    fn close(&mut self) {
        self.blank = false;
        self.breaks = 0;
        if self.open.text.is_empty() {
            // What an empty block noted is not the next one's.
            self.open = PageBlock { links: self.links, ..PageBlock::default() };
            return;
        }
        let mut block = std::mem::take(&mut self.open);
        block.text.truncate(block.text.trim_end().len());
        block.hidden = self.hidden > 0;
        self.open.links = self.links.min(1);
        if block.chars > 0 {
            self.list.push(block);
        }
    }
}

/// True if the cells of a row hold nothing but short text, so that the row is one block.
fn is_row(tree: &DomTree, row: NodeId) -> bool {
    let (mut simple, mut chars, mut cells) = (true, 0_usize, 0);
    tree.walk(row, |step| {
        let WalkStep::Enter(id) = step else { return true };
        match &tree.node(id).data {
            NodeData::Text(text) => chars += text.trim().len(),
            NodeData::Element(element) => match element.tag {
                Tag::Td | Tag::Th => cells += 1,
                Tag::Table
                | Tag::Article
                | Tag::Section
                | Tag::Form
                | Tag::Nav
                | Tag::Pre
                | Tag::H1
                | Tag::H2
                | Tag::Blockquote => simple = false,
                tag if tag.is_never_shown() => return false,
                _ => {}
            },
            _ => {}
        }
        simple
    });
    simple && cells > 0 && chars <= 400 * cells
}
