//! The Markdown of descriptions as HTML.
//!
//! A contract may have come from anywhere, so raw HTML stays the text that it is, an image is its
//! description, and a link leads to `http:` or `https:` or nowhere.

use maud::{Markup, PreEscaped, Render, html};
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd, html::push_html};

use super::untrusted::{Untrusted, visible};

/// The blocks of a text: paragraphs, lists, code.
pub(super) fn blocks(text: &str) -> Markup {
    render(harmless(text))
}

/// The text of all blocks, on one line.
pub(super) fn inline(text: &str) -> Markup {
    let is_inline = |event: &Event| match event {
        Event::Start(tag) => is_inline_tag(tag.to_end()),
        Event::End(tag) => is_inline_tag(*tag),
        // A block of code has its markup from `harmless`.
        Event::Html(_) | Event::Rule => false,
        _ => true,
    };
    render(harmless(text).filter(is_inline))
}

/// The first paragraph on one line, as it is written.
pub(super) fn one_line(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn render<'a>(events: impl Iterator<Item = Event<'a>>) -> Markup {
    let mut page = String::new();
    push_html(&mut page, events);
    PreEscaped(page)
}

fn is_inline_tag(tag: TagEnd) -> bool {
    matches!(tag, TagEnd::Emphasis | TagEnd::Strong | TagEnd::Link)
}

/// The events of a text, without everything that could act on the page.
fn harmless(text: &str) -> impl Iterator<Item = Event<'_>> {
    let mut links = Vec::new();
    Parser::new_ext(text, Options::empty()).filter_map(move |event| {
        Some(match event {
            Event::Html(text) | Event::InlineHtml(text) | Event::Text(text) => {
                ours(Untrusted(&text).render())
            }
            Event::Code(text) => ours(html! { code { (Untrusted(&text)) } }),
            Event::Start(Tag::Link { dest_url, .. }) => {
                let kept = leads_to_the_web(&dest_url);
                links.push(kept);
                if !kept {
                    return None;
                }
                let dest_url = visible(&dest_url).into_owned().into();
                let (title, id) = ("".into(), "".into());
                Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, title, id })
            }
            Event::End(TagEnd::Link) => {
                return links.pop().unwrap_or_default().then_some(Event::End(TagEnd::Link));
            }
            Event::Start(Tag::Image { .. } | Tag::HtmlBlock)
            | Event::End(TagEnd::Image | TagEnd::HtmlBlock) => return None,
            // The page has headings of its own.
            Event::Start(Tag::Heading { .. }) => Event::Start(Tag::Paragraph),
            Event::End(TagEnd::Heading(_)) => Event::End(TagEnd::Paragraph),
            // It scrolls, so the keyboard must reach it.
            Event::Start(Tag::CodeBlock(_)) => Event::Html("<pre tabindex=\"0\"><code>".into()),
            Event::End(TagEnd::CodeBlock) => Event::Html("</code></pre>\n".into()),
            other => other,
        })
    })
}

/// Markup that is ours, with the text escaped in one way for the whole page.
fn ours<'a>(markup: Markup) -> Event<'a> {
    Event::InlineHtml(markup.into_string().into())
}

fn leads_to_the_web(address: &str) -> bool {
    let scheme = address.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    matches!(scheme.as_deref(), Some("http" | "https"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(make: fn(&str) -> Markup, text: &str, expected: &str) {
        assert_eq!(make(text).into_string(), expected, "{text}");
    }

    #[test]
    fn code_stands_between_equal_runs_of_backticks() {
        check(inline, "a `b` c", "a <code>b</code> c");
        check(inline, "`` ^`a|b`$ ``.", "<code>^`a|b`$</code>.");
        check(inline, "`a `` b` and `never closed", "<code>a `` b</code> and `never closed");
        check(inline, "`<b>`", "<code>&lt;b&gt;</code>");
        check(inline, "One.\n\n- *two*\n\n```\nthree\n```", "One.<em>two</em>three\n");
    }

    #[test]
    fn nothing_in_a_text_acts() {
        check(inline, "[x](javascript:1) <b>", "x &lt;b&gt;");
        check(inline, "<javascript:alert> <data:text/html,1>", "javascript:alert data:text/html,1");
        check(inline, "![seen](https://a.example/pixel.png)", "seen");
        check(inline, "[a](//b.example) [c](d.html \"t\")", "a c");
        check(
            inline,
            "[a\u{202e}](https://b.example/\"c)",
            "<a href=\"https://b.example/%22c\">a⟨U+202E⟩</a>",
        );
        check(
            blocks,
            "<script>\nalert(1)\n</script>\n\n<div onclick=x>y</div>",
            "&lt;script&gt;\nalert(1)\n&lt;/script&gt;\n&lt;div onclick=x&gt;y&lt;/div&gt;",
        );
    }

    #[test]
    fn blocks_are_told_apart() {
        check(
            blocks,
            "One\nline.\n\nTwo:\n- a\n  b\n* `c`\n\n```json\n{ \"<\": 1 }\n```\nEnd.",
            "<p>One\nline.</p>\n<p>Two:</p>\n<ul>\n<li>a\nb</li>\n</ul>\n<ul>\n<li><code>c</code></li>\n</ul>\n\
             <pre tabindex=\"0\"><code>{ &quot;&lt;&quot;: 1 }\n</code></pre>\n<p>End.</p>\n",
        );
        check(blocks, "```\nnever closed", "<pre tabindex=\"0\"><code>never closed</code></pre>\n");
        check(blocks, "# A title", "<p>A title</p>\n");
        check(blocks, " \n ", "");
    }
}
