//! The little Markdown that descriptions are written in: paragraphs, lists, code.
//!
//! Everything else, links and raw HTML before all, stays the text that it is: a contract
//! may have come from anywhere, and what it says must not act.

use super::html::Html;

/// Paragraphs, lists of `-` or `*`, and blocks between fences.
pub(super) fn blocks(html: &mut Html, text: &str) {
    let mut lines = text.trim().lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim().is_empty() {
            continue;
        }
        if is_fence(line) {
            let inside: Vec<&str> = lines.by_ref().take_while(|line| !is_fence(line)).collect();
            html.element("pre", &[("tabindex", "0")], |html| html.code(&inside.join("\n")));
        } else if let Some(first) = item(line) {
            let mut items = vec![first.to_owned()];
            while let Some(line) = lines.next_if(|line| !line.trim().is_empty() && !is_fence(line))
            {
                match item(line) {
                    Some(next) => items.push(next.to_owned()),
                    None => continue_line(items.last_mut(), line),
                }
            }
            html.element("ul", &[], |html| {
                for text in &items {
                    html.element("li", &[], |html| inline(html, text));
                }
            });
        } else {
            let mut paragraph = line.trim().to_owned();
            while let Some(line) = lines
                .next_if(|line| !line.trim().is_empty() && !is_fence(line) && item(line).is_none())
            {
                continue_line(Some(&mut paragraph), line);
            }
            html.element("p", &[], |html| inline(html, &paragraph));
        }
    }
}

/// Text with code between backticks: as many at the end as at the start.
pub(super) fn inline(html: &mut Html, text: &str) {
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let run = rest[start..].bytes().take_while(|byte| *byte == b'`').count();
        let after = &rest[start + run..];
        if let Some(end) = closing(after, run) {
            html.text(&rest[..start]);
            html.code(unpadded(&after[..end]));
            rest = &after[end + run..];
        } else {
            html.text(&rest[..start + run]);
            rest = after;
        }
    }
    html.text(rest);
}

/// The first paragraph on one line.
pub(super) fn one_line(text: &str) -> String {
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    paragraph.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Where the next run of exactly so many backticks starts.
fn closing(text: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let length = text[start..].bytes().take_while(|byte| *byte == b'`').count();
        if length == run {
            return Some(start);
        }
        at = start + length;
    }
    None
}

/// One space on both sides only keeps the backticks of the code apart from its own.
fn unpadded(code: &str) -> &str {
    let inner = code.strip_prefix(' ').and_then(|code| code.strip_suffix(' '));
    inner.filter(|inner| !inner.trim().is_empty()).unwrap_or(code)
}

fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

fn item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).map(str::trim)
}

fn continue_line(text: Option<&mut String>, line: &str) {
    if let Some(text) = text {
        text.push(' ');
        text.push_str(line.trim());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(make: fn(&mut Html, &str), text: &str, expected: &str) {
        let mut html = Html::default();
        make(&mut html, text);
        assert_eq!(html.into_string(), expected);
    }

    #[test]
    fn code_stands_between_equal_runs_of_backticks() {
        check(inline, "a `b` c", "a <code>b</code> c");
        check(inline, "`` ^`a|b`$ ``.", "<code>^`a|b`$</code>.");
        check(inline, "`a `` b` and `never closed", "<code>a `` b</code> and `never closed");
        check(inline, "`<b>`", "<code>&lt;b&gt;</code>");
        check(inline, "[x](javascript:1) <b>", "[x](javascript:1) &lt;b&gt;");
    }

    #[test]
    fn blocks_are_told_apart() {
        check(
            blocks,
            "One\nline.\n\nTwo:\n- a\n  b\n* `c`\n\n```json\n{ \"<\": 1 }\n```\nEnd.",
            "<p>One line.</p>\n<p>Two:</p>\n<ul><li>a b</li>\n<li><code>c</code></li>\n</ul>\n\
             <pre tabindex=\"0\"><code>{ &quot;&lt;&quot;: 1 }</code></pre>\n<p>End.</p>\n",
        );
        check(blocks, "```\nnever closed", "<pre tabindex=\"0\"><code>never closed</code></pre>\n");
        check(blocks, " \n ", "");
    }
}
