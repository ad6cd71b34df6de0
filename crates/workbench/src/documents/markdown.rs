//! As much of Markdown as contracts are written in: headings, lists, blocks of code.

use std::ops::Range;

/// A document, line by line.
pub(super) struct Markdown {
    lines: Vec<MarkdownLine>,
    /// The line that opens a block of code which does not end: all that follows is in it.
    pub(super) unclosed: Option<Range<usize>>,
}

/// A line that means something.
#[derive(Debug)]
pub(super) enum MarkdownLine {
    Heading { level: usize, text: String, line: usize, span: Range<usize> },
    Bullet { key: Option<String>, value: String, text: String, span: Range<usize> },
    Text { text: String },
    Block(CodeBlock),
}

/// A block of code.
#[derive(Debug)]
pub(super) struct CodeBlock {
    pub(super) language: String,
    /// Its content.
    pub(super) span: Range<usize>,
}

impl Markdown {
    pub(super) fn of(text: &str) -> Self {
        let mut lines = Vec::new();
        let mut fence: Option<Fence> = None;
        let mut start = 0;
        for (index, whole) in text.split_inclusive('\n').enumerate() {
            let span = start..start + whole.trim_end().len();
            start += whole.len();
            let trimmed = whole.trim();
            if let Some(open) = &mut fence {
                if open.ends_with(trimmed) {
                    let content = open.content..span.start;
                    lines.push(MarkdownLine::Block(CodeBlock {
                        language: open.language.clone(),
                        span: content,
                    }));
                    fence = None;
                }
                continue;
            }
            if let Some(open) = Fence::opened_by(trimmed, span.clone(), start) {
                fence = Some(open);
            } else {
                lines.extend(MarkdownLine::of(trimmed, index + 1, span));
            }
        }
        Self { lines, unclosed: fence.map(|open| open.opening) }
    }

    /// The parts of the document that start with a heading of the second level.
    pub(super) fn sections(&self) -> impl Iterator<Item = &[MarkdownLine]> {
        let starts = |line: &MarkdownLine| matches!(line, MarkdownLine::Heading { level, .. } if *level <= 2);
        let mut rest = self.lines.as_slice();
        std::iter::from_fn(move || {
            let first = rest.iter().position(starts)?;
            let length = rest[first + 1..].iter().position(starts);
            let end = length.map_or(rest.len(), |length| first + 1 + length);
            let section = &rest[first..end];
            rest = &rest[end..];
            Some(section)
        })
    }
}

impl MarkdownLine {
    fn of(trimmed: &str, line: usize, span: Range<usize>) -> Option<Self> {
        if trimmed.is_empty() || trimmed.chars().all(|one| one == '-') {
            return None;
        }
        let level = trimmed.bytes().take_while(|one| *one == b'#').count();
        if (1..=6).contains(&level) && trimmed[level..].starts_with(' ') {
            let text = trimmed[level..].trim().trim_end_matches('#').trim_end().to_owned();
            return Some(MarkdownLine::Heading { level, text, line, span });
        }
        let Some(item) = trimmed.strip_prefix("- ").or(trimmed.strip_prefix("* ")) else {
            return Some(MarkdownLine::Text { text: trimmed.to_owned() });
        };
        let item = item.trim();
        let key = item.split_once(':').map(|(key, value)| (key.trim_matches(['`', '*']), value));
        let is_word = |key: &str| {
            !key.is_empty() && key.bytes().all(|one| one.is_ascii_lowercase() || one == b'_')
        };
        let (key, value) = match key {
            Some((key, value)) if is_word(key) => (Some(key.to_owned()), value.trim().to_owned()),
            _ => (None, String::new()),
        };
        Some(MarkdownLine::Bullet { key, value, text: item.to_owned(), span })
    }
}

struct Fence {
    mark: u8,
    length: usize,
    language: String,
    /// The line that opens it.
    opening: Range<usize>,
    content: usize,
    /// How many blocks are open inside, in a block that is itself Markdown.
    inner: usize,
}

impl Fence {
    fn opened_by(trimmed: &str, opening: Range<usize>, content: usize) -> Option<Self> {
        let mark = trimmed.bytes().next().filter(|mark| matches!(mark, b'`' | b'~'))?;
        let length = trimmed.bytes().take_while(|one| *one == mark).count();
        let rest = &trimmed[length..];
        if length < 3 || rest.contains('`') {
            return None;
        }
        let language = rest.split_whitespace().next().unwrap_or_default().to_lowercase();
        Some(Self { mark, length, language, opening, content, inner: 0 })
    }

    /// Whether a line is the end of the block. People write Markdown with blocks inside a block with
    /// the same marks; what is meant is clear, whatever a strict reader makes of it.
    fn ends_with(&mut self, trimmed: &str) -> bool {
        let length = trimmed.bytes().take_while(|one| *one == self.mark).count();
        if length < self.length {
            return false;
        }
        if trimmed.len() > length {
            self.inner += usize::from(matches!(self.language.as_str(), "markdown" | "md"));
            return false;
        }
        if self.inner > 0 {
            self.inner -= 1;
            return false;
        }
        true
    }
}
