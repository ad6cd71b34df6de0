//! The text of one block with its links and its emphasis.

use std::collections::HashSet;

use url::Url;

use crate::{
    blocks::PageBlock,
    dom::{DomTree, NodeData, NodeId, Tag, WalkStep},
};

/// The text of a block, without the elements that are left out.
pub(super) fn render(
    tree: &DomTree,
    block: &PageBlock,
    skipped: &HashSet<NodeId>,
    base: Option<&Url>,
) -> String {
    let mut writer =
        InlineWriter { text: String::new(), blank: false, inside: false, open: Vec::new() };
    tree.walk(block.node, |step| {
        match step {
            WalkStep::Enter(id) => {
                if id == block.from {
                    writer.inside = true;
                }
                match &tree.node(id).data {
                    NodeData::Text(text) if writer.inside => writer.words(text),
                    NodeData::Element(element) => {
                        if element.tag.is_never_shown() || skipped.contains(&id) {
                            return false;
                        }
                        writer.enter(tree, id, base);
                    }
                    _ => {}
                }
            }
            WalkStep::Leave(id) => {
                writer.leave(id);
                if id == block.to {
                    writer.inside = false;
                }
            }
        }
        true
    });
    writer.close_all();
    writer.text
}

/// A mark that was opened: by which element, where, and how it ends.
struct OpenMark {
    by: NodeId,
    at: usize,
    end: String,
}

struct InlineWriter {
    text: String,
    blank: bool,
    inside: bool,
    open: Vec<OpenMark>,
}

impl InlineWriter {
    fn words(&mut self, text: &str) {
        if text.starts_with(char::is_whitespace) {
            self.blank = true;
        }
        for word in text.split_whitespace() {
            if self.blank && !self.text.is_empty() && !self.text.ends_with(['\n', ' ']) {
                // White space stands before a mark, not within.
                match self.open.last() {
                    Some(open) if open.at == self.text.len() => {}
                    _ => self.text.push(' '),
                }
            }
            self.text.push_str(word);
            self.blank = true;
        }
        self.blank = text.ends_with(char::is_whitespace);
    }

    fn enter(&mut self, tree: &DomTree, id: NodeId, base: Option<&Url>) {
        let Some(element) = tree.element(id) else { return };
        let (begin, end) = match element.tag {
            Tag::Br if self.inside => {
                self.text.push('\n');
                self.blank = false;
                return;
            }
            Tag::B | Tag::Strong => ("**", "**".to_owned()),
            Tag::I | Tag::Em => ("*", "*".to_owned()),
            Tag::Code | Tag::Kbd | Tag::Samp => ("`", "`".to_owned()),
            Tag::A => {
                let Some(address) = element.attribute("href").and_then(|href| address(href, base))
                else {
                    return;
                };
                ("[", format!("]({address})"))
            }
            _ => return,
        };
        if self.blank && !self.text.is_empty() && !self.text.ends_with(['\n', ' ']) {
            self.text.push(' ');
        }
        self.blank = false;
        self.text.push_str(begin);
        self.open.push(OpenMark { by: id, at: self.text.len(), end });
    }

    fn leave(&mut self, id: NodeId) {
        if self.open.last().is_some_and(|open| open.by == id)
            && let Some(open) = self.open.pop()
        {
            self.end(&open);
        }
    }

    fn end(&mut self, open: &OpenMark) {
        if self.text.len() <= open.at {
            // Nothing came: the mark goes.
            let begin = open.at
                - open.end.chars().take_while(|one| *one == '*' || *one == '`').count().max(1);
            self.text.truncate(begin);
        } else {
            self.text.push_str(&open.end);
        }
    }

    fn close_all(&mut self) {
        while let Some(open) = self.open.pop() {
            self.end(&open);
        }
    }
}

/// The target of a link, if that is something to read.
fn address(href: &str, base: Option<&Url>) -> Option<String> {
    let href = href.trim();
    if href.is_empty() || href.starts_with('#') {
        return None;
    }
    let url = match base {
        Some(base) => base.join(href).ok()?,
        None => Url::parse(href).ok()?,
    };
    matches!(url.scheme(), "http" | "https" | "mailto")
        .then(|| url.as_str().replace('(', "%28").replace(')', "%29"))
}
