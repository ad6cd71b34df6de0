//! The parts of a Markdown document that contracts are written in: headings, list items, paragraphs, and
//! fenced blocks of code.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// The blocks of a document, in order.
#[derive(Default)]
pub(super) struct Markdown {
    blocks: Vec<MarkdownBlock>,
    /// A block of code that is not closed; the rest of the document is in it.
    pub(super) unclosed: Option<Range<usize>>,
}

pub(super) enum MarkdownBlock {
    Heading {
        level: usize,
        text: String,
        span: Range<usize>,
    },
    /// An item of a list: its first line, which may be `key: value`.
    Item {
        key: Option<String>,
        value: String,
        text: String,
        span: Range<usize>,
    },
    Paragraph(String),
    Code(CodeBlock),
}

/// A fenced block of code.
pub(super) struct CodeBlock {
    pub(super) language: String,
    /// Its content.
    pub(super) span: Range<usize>,
}

impl Markdown {
    pub(super) fn of(text: &str) -> Self {
        let text = &without_templates(text);
        let mut document = Self::default();
        let mut items = 0;
        let mut code = None;
        for (event, whole) in Parser::new(text).into_offset_iter() {
            let source = &text[whole.clone()];
            let first_line = source.lines().next().unwrap_or_default().trim_end();
            let span = whole.start..whole.start + first_line.len();
            match event {
                Event::Start(Tag::Heading { level, .. }) => {
                    let text = first_line.trim_matches('#').trim().to_owned();
                    let heading = MarkdownBlock::Heading { level: level as usize, text, span };
                    document.blocks.push(heading);
                }
                Event::Start(Tag::Item) => {
                    items += 1;
                    document.blocks.extend(item(first_line, span));
                }
                Event::End(TagEnd::Item) => items -= 1,
                Event::Start(Tag::Paragraph) if items == 0 => {
                    let lines: Vec<&str> = source.lines().map(str::trim).collect();
                    document.blocks.push(MarkdownBlock::Paragraph(lines.join(" ")));
                }
                Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                    let language = info.split(' ').next().unwrap_or_default().to_lowercase();
                    code = Some(CodeBlock { language, span: span.end..span.end });
                }
                Event::Text(_) => {
                    if let Some(code) = &mut code {
                        let start =
                            if code.span.is_empty() { whole.start } else { code.span.start };
                        code.span = start..whole.end;
                    }
                }
                Event::End(TagEnd::CodeBlock) => {
                    let Some(code) = code.take() else { continue };
                    // Behind the content are the marks that close the block.
                    if text[code.span.end..whole.end].trim().is_empty() {
                        document.unclosed = Some(span);
                    } else {
                        document.blocks.push(MarkdownBlock::Code(code));
                    }
                }
                _ => {}
            }
        }
        document
    }

    /// The parts of the document that start with a heading of the first or second level.
    pub(super) fn sections(&self) -> impl Iterator<Item = &[MarkdownBlock]> {
        let starts = |block: &MarkdownBlock| matches!(block, MarkdownBlock::Heading { level, .. } if *level <= 2);
        let first = self.blocks.iter().position(starts).unwrap_or(self.blocks.len());
        self.blocks[first..].chunk_by(move |_, next| !starts(next))
    }
}

fn item(line: &str, span: Range<usize>) -> Option<MarkdownBlock> {
    let text = line.strip_prefix(['-', '*', '+'])?.trim();
    let is_word = |key: &str| {
        !key.is_empty() && key.bytes().all(|one| one.is_ascii_lowercase() || one == b'_')
    };
    let entry = text.split_once(':').map(|(key, value)| (key.trim_matches(['`', '*']), value));
    let (key, value) = match entry {
        Some((key, value)) if is_word(key) => (Some(key.to_owned()), value.trim().to_owned()),
        _ => (None, String::new()),
    };
    Some(MarkdownBlock::Item { key, value, text: text.to_owned(), span })
}

/// The text without the content of blocks of Markdown: spaces stand for it. People put blocks of code inside
/// them with the same marks, and a strict reader ends the outer block at the end of the first inner one.
fn without_templates(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // The marks of the open block, and the number of blocks that are open inside it.
    let mut open: Option<(&str, usize)> = None;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let mark = if trimmed.starts_with('~') { '~' } else { '`' };
        let info = trimmed.trim_start_matches(mark);
        let marks = &trimmed[..trimmed.len() - info.len()];
        let stays = match &mut open {
            None => {
                let opens = marks.len() >= 3 && matches!(info.trim(), "markdown" | "md");
                open = opens.then_some((marks, 0));
                true
            }
            Some((outer, inner)) if marks.starts_with(*outer) => {
                let closes = info.is_empty() && *inner == 0;
                *inner = if info.is_empty() { inner.saturating_sub(1) } else { *inner + 1 };
                if closes {
                    open = None;
                }
                closes
            }
            Some(_) => false,
        };
        if stays {
            plain.push_str(line);
        } else {
            plain.extend(line.bytes().map(|one| if one == b'\n' { '\n' } else { ' ' }));
        }
    }
    plain
}
