//! Markdown of a contract, kept within its place on a page. A contract may have come from anywhere.

use std::borrow::Cow;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag};

/// The text without raw HTML, images, headings, code that does not end, and links that lead elsewhere than to the web:
/// they are shown as they are written.
pub(super) fn contained(text: &str) -> Cow<'_, str> {
    let first = marks(text);
    if first.is_empty() {
        return Cow::Borrowed(text);
    }
    let escaped = escape(text, &first);
    // A part that was HTML or code may be links now. Such a text is no honest one.
    if marks(&escaped).is_empty() {
        return Cow::Owned(escaped);
    }
    let all: Vec<usize> = text
        .char_indices()
        .filter(|(_, one)| one.is_ascii_punctuation())
        .map(|(place, _)| place)
        .collect();
    Cow::Owned(escape(text, &all))
}

/// True for an address that a page may link to.
fn is_harmless(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    lower.starts_with("https://") || lower.starts_with("http://") || lower.starts_with('#')
}

/// The places that need a backslash, in order.
fn marks(text: &str) -> Vec<usize> {
    let parser = Parser::new_ext(text, Options::empty());
    let definitions = parser.reference_definitions().iter();
    // They would hold for the whole page.
    let mut marks: Vec<usize> = definitions.map(|(_, one)| one.span.start).collect();
    for (event, range) in parser.into_offset_iter() {
        let part = &text[range.clone()];
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                marks.extend(part.match_indices('<').map(|(place, _)| range.start + place));
            }
            Event::Start(Tag::Link { dest_url, .. }) if !is_harmless(&dest_url) => {
                marks.push(range.start);
            }
            // Its bracket, so that no link is left of it.
            Event::Start(Tag::Image { .. }) => marks.push(range.start + 1),
            Event::Start(Tag::Heading { .. }) if part.starts_with('#') => marks.push(range.start),
            Event::Start(Tag::Heading { .. }) => {
                let under = part.trim_end().rfind('\n').map_or(0, |end| end + 1);
                let line = &part[under..];
                let indent = line.len() - line.trim_start().len();
                marks.push(range.start + under + indent);
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) if !is_closed(part) => {
                let fence = fence_length(part);
                marks.extend(range.start..range.start + fence);
            }
            _ => {}
        }
    }
    marks.sort_unstable();
    marks.dedup();
    marks
}

fn fence_length(block: &str) -> usize {
    let mark = block.chars().next();
    block.chars().take_while(|one| Some(*one) == mark).count()
}

/// True if a fenced block of code has its last line.
fn is_closed(block: &str) -> bool {
    let mark = block.chars().next().unwrap_or('`');
    let last = block.trim_end().rsplit_once('\n').map_or("", |(_, last)| last);
    let last = last.trim_start_matches(['>', ' ', '\t']);
    last.len() >= fence_length(block) && last.chars().all(|one| one == mark)
}

fn escape(text: &str, marks: &[usize]) -> String {
    let mut escaped = String::with_capacity(text.len() + marks.len());
    let mut done = 0;
    for mark in marks {
        escaped.push_str(&text[done..*mark]);
        escaped.push('\\');
        done = *mark;
    }
    escaped.push_str(&text[done..]);
    escaped
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::html::push_html;

    use super::*;

    #[test]
    fn honest_text_stays_as_it_is() {
        for text in [
            "Reads *a* file, `<b>` and [more](https://example.com/a_b) at <https://example.com>.",
            "- one\n- two\n\n```json\n{ \"a\": \"<b>\" }\n```\n\nSee [below](#errors). a < b",
            "    <indented>",
            "> ```\n> quoted\n> ```",
        ] {
            assert_eq!(contained(text), text);
        }
    }

    #[test]
    fn nothing_of_it_acts_on_the_page() {
        for text in [
            "<img src=x onerror=alert(1)>",
            "a <script>alert(1)</script> b",
            "<div>\n[x](javascript:alert(1))\n\n</div>",
            "<!-- the rest",
            "[x](javascript:alert(1)) <javascript:alert(1)> ![x](https://example.com/pixel)",
            "[x]\n\n[x]: javascript:alert(1)",
            "[Errors]: https://elsewhere.example",
            "# Standard errors",
            "Standard errors\n===",
            "   Standard errors\n   ---",
            "- ```\n  code without an end\n",
            "```\n<script>\n[x](data:text/html,1)",
            "~~~~\nx\n~~~",
            "[x](JaVaScRiPt:alert(1)) [y](&#106;avascript:alert(1)) [z](./local)",
        ] {
            let mut html = String::new();
            push_html(&mut html, Parser::new(&format!("{}\n\n## After", contained(text))));
            let without = html.replace("<p>", "").replace("</p>", "").replace("<h2>After</h2>", "");
            let tags = ["<ul>", "</ul>", "<li>", "</li>"];
            let left = tags.iter().fold(without, |html, tag| html.replace(tag, ""));
            assert!(!left.contains('<') && html.contains("<h2>After</h2>"), "{text:?}: {html}");
        }
    }
}
