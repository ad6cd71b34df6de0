//! HTML that is well-formed and escaped by construction.
//!
//! Names, descriptions, patterns and examples come out of contracts that somebody else
//! wrote. Nothing reaches the page but through [`Html`]: what is markup there is a name in
//! this code (`&'static str`), and everything else goes through [`escape`].

use std::fmt::Write;

use contract::unseen::{is_direction_mark, only_hides};

/// Attributes of an element: the name is ours, the value may be anybody's.
pub(super) type Attributes<'a> = &'a [(&'static str, &'a str)];

/// A piece of a page.
#[derive(Default)]
pub(super) struct Html(String);

impl Html {
    /// A whole document begins like this.
    pub(super) fn document() -> Self {
        Self("<!doctype html>\n".to_owned())
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }

    /// Text, with everything in it as it is.
    pub(super) fn text(&mut self, text: &str) {
        escape(&mut self.0, text);
    }

    /// An element and what is inside it.
    pub(super) fn element(
        &mut self,
        name: &'static str,
        attributes: Attributes,
        inside: impl FnOnce(&mut Self),
    ) {
        self.void(name, attributes);
        inside(self);
        self.0.push_str("</");
        self.0.push_str(name);
        self.0.push('>');
        if is_block(name) {
            self.0.push('\n');
        }
    }

    /// An element that has no inside: `meta`, `link`, `input`.
    pub(super) fn void(&mut self, name: &'static str, attributes: Attributes) {
        self.0.push('<');
        self.0.push_str(name);
        for (name, value) in attributes {
            self.0.push(' ');
            self.0.push_str(name);
            // A flag such as `hidden` has no value.
            if !value.is_empty() {
                self.0.push_str("=\"");
                escape(&mut self.0, value);
                self.0.push('"');
            }
        }
        self.0.push('>');
    }

    /// An element that holds a text.
    pub(super) fn leaf(&mut self, name: &'static str, attributes: Attributes, text: &str) {
        self.element(name, attributes, |html| html.text(text));
    }

    /// A text as code.
    pub(super) fn code(&mut self, text: &str) {
        self.leaf("code", &[], text);
    }

    /// A block of code that can be copied.
    pub(super) fn listing(&mut self, label: &str, text: &str) {
        self.element("figure", &[("class", "listing")], |html| {
            html.leaf("figcaption", &[], label);
            // It scrolls, so the keyboard must reach it.
            html.element("pre", &[("tabindex", "0")], |html| html.code(text));
        });
    }

    /// A table with a head; `class` says how it is laid out.
    pub(super) fn table(
        &mut self,
        class: &'static str,
        head: &[&'static str],
        body: impl FnOnce(&mut Self),
    ) {
        self.element("table", &[("class", class)], |html| {
            html.element("thead", &[], |html| {
                html.element("tr", &[], |html| {
                    for name in head {
                        html.leaf("th", &[("scope", "col")], name);
                    }
                });
            });
            html.element("tbody", &[], body);
        });
    }
}

/// Whether a line break after the element changes nothing but how the source reads.
fn is_block(name: &str) -> bool {
    !matches!(name, "a" | "abbr" | "code" | "span" | "strong" | "textarea" | "button" | "label")
}

/// The one way of a text into the page. Beside the characters that mean something in HTML
/// it shows those that nobody sees (controls, direction overrides, tags): with them a
/// contract could look different from what a model reads.
pub(super) fn escape(page: &mut String, text: &str) {
    for one in text.chars() {
        match one {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            hidden if is_hidden(hidden) => {
                // Writing to a String cannot fail.
                let _ = write!(page, "\u{27e8}U+{:04X}\u{27e9}", u32::from(hidden));
            }
            plain => page.push(plain),
        }
    }
}

/// Characters that change how a text looks and are not seen themselves. Joiners stay:
/// scripts and emoji need them.
pub(super) fn is_hidden(one: char) -> bool {
    (one.is_control() && !matches!(one, '\n' | '\r' | '\t'))
        || matches!(one, '\u{2028}' | '\u{2029}')
        || is_direction_mark(one)
        || only_hides(one)
}

/// A name as a part of a path or as a fragment.
pub(super) fn encoded(name: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    utf8_percent_encode(name, KEPT).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut page = String::new();
        escape(&mut page, text);
        page
    }

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            escaped("<script>alert(\"1\" & '2')</script>"),
            "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script&gt;"
        );
        assert_eq!(escaped("&lt; is kept as written"), "&amp;lt; is kept as written");
        assert_eq!(escaped("größer 測試 👩\u{200d}🚀\n\tend"), "größer 測試 👩\u{200d}🚀\n\tend");
    }

    #[test]
    fn nothing_in_a_value_ends_its_attribute() {
        let mut html = Html::default();
        html.leaf("a", &[("href", "\"><script>"), ("hidden", "")], "</a>");
        assert_eq!(
            html.into_string(),
            "<a href=\"&quot;&gt;&lt;script&gt;\" hidden>&lt;/a&gt;</a>"
        );
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(escaped("a\u{202e}b\0c\u{e0041}"), "a⟨U+202E⟩b⟨U+0000⟩c⟨U+E0041⟩");
    }

    #[test]
    fn a_name_stays_one_part_of_a_path() {
        assert_eq!(encoded("search.web_2-x"), "search.web_2-x");
        assert_eq!(encoded("a/b?c#d e'\"<"), "a%2Fb%3Fc%23d%20e%27%22%3C");
    }
}
