//! Texts of other people on the page.
//!
//! Names, descriptions, patterns and examples come from contracts that somebody else wrote. `maud`
//! escapes every text; [`Untrusted`] also shows the characters that nobody sees. With them a
//! contract could look different from what a model reads.

use std::{borrow::Cow, fmt::Write};

use contract::invisible::{is_direction_mark, only_hides};
use maud::Render;

/// A text that somebody else wrote.
pub(super) struct Untrusted<'a>(pub &'a str);

impl Render for Untrusted<'_> {
    fn render_to(&self, page: &mut String) {
        visible(self.0).render_to(page);
    }
}

/// The text with its hidden characters shown as `⟨U+202E⟩`.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for one in text.chars() {
        if is_hidden(one) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "\u{27e8}U+{:04X}\u{27e9}", u32::from(one));
        } else {
            shown.push(one);
        }
    }
    Cow::Owned(shown)
}

/// True if a character changes how a text looks and is not seen itself. Joiners stay: scripts and
/// emoji need them.
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
    use maud::html;

    use super::*;

    fn escaped(text: &str) -> String {
        Untrusted(text).render().into_string()
    }

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            escaped("<script>alert(\"1\" & 2)</script>"),
            "&lt;script&gt;alert(&quot;1&quot; &amp; 2)&lt;/script&gt;"
        );
        assert_eq!(escaped("&lt; is kept as written"), "&amp;lt; is kept as written");
        assert_eq!(escaped("größer 測試 👩\u{200d}🚀\n\tend"), "größer 測試 👩\u{200d}🚀\n\tend");
    }

    #[test]
    fn nothing_in_a_value_ends_its_attribute() {
        let link = html! { a href=(Untrusted("\"><script>")) hidden { (Untrusted("</a>")) } };
        assert_eq!(
            link.into_string(),
            "<a href=\"&quot;&gt;&lt;script&gt;\" hidden>&lt;/a&gt;</a>"
        );
    }

    #[test]
    fn hidden_characters_are_shown() {
        assert_eq!(escaped("a\u{202e}b\0c\u{e0041}"), "a⟨U+202E⟩b⟨U+0000⟩c⟨U+E0041⟩");
    }

    #[test]
    fn a_name_stays_one_part_of_a_path() {
        assert_eq!(encoded("search.web_2-x"), "search.web_2-x");
        assert_eq!(encoded("a/b?c#d e'\"<"), "a%2Fb%3Fc%23d%20e%27%22%3C");
    }
}
