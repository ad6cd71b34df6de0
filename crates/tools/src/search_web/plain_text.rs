//! Text out of a search result, as text: without markup, in one line, with nothing in it that
//! cannot be seen.

use contract::invisible::{is_direction_mark, only_hides};

use super::markup::{self, MarkupPiece};

/// The text, cut to so many characters. Tags go first and entities are decoded once after that,
/// so that `&lt;b&gt;` comes out as the `<b>` that its author wrote about.
pub(super) fn plain_text(text: &str, max_characters: usize) -> String {
    let mut plain = String::with_capacity(text.len().min(max_characters.saturating_mul(4)));
    let mut hidden_until: Option<String> = None;
    let closed = markup::closed_names(text);
    for piece in markup::pieces(text, &closed) {
        match (&hidden_until, piece) {
            (None, MarkupPiece::Text(text)) => plain.push_str(text),
            (None, MarkupPiece::Tag { name, closing }) => {
                if !closing && markup::hides(&name) && closed.contains(&name) {
                    hidden_until = Some(name);
                } else if markup::breaks(&name) {
                    plain.push(' ');
                }
            }
            (Some(hidden), MarkupPiece::Tag { name, closing: true }) if *hidden == name => {
                hidden_until = None;
            }
            (Some(_), _) => {}
        }
    }
    shorten(&visible(&html_escape::decode_html_entities(&plain)), max_characters)
}

/// One line: runs of white space are a space, and what has no shape of its own is gone.
pub(super) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for word in text.split(|one: char| one.is_whitespace() || one == '\u{1f}') {
        let before = shown.len();
        if before > 0 {
            shown.push(' ');
        }
        shown.extend(word.chars().filter(|one| !one.is_control() && !is_hidden(*one)));
        if shown.len() == before + usize::from(before > 0) {
            shown.truncate(before);
        }
    }
    shown
}

/// Marks that turn a line around, and those that only a machine reads. The joiners that some
/// scripts and pictures need stay.
pub(super) fn is_hidden(one: char) -> bool {
    matches!(one, '\u{2028}' | '\u{2029}') || is_direction_mark(one) || only_hides(one)
}

/// At most so many characters, the last of them a sign that there was more.
fn shorten(text: &str, max_characters: usize) -> String {
    if text.chars().nth(max_characters).is_none() {
        return text.to_owned();
    }
    let kept: String = text.chars().take(max_characters.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        for (given, expected) in [
            ("plain", "plain"),
            ("  two\n\t words ", "two words"),
            ("<b>Rust</b> is <em class=\"x\">fast</em>", "Rust is fast"),
            ("<strong>in</strong>line", "inline"),
            ("one<br>two<p>three</p>four", "one two three four"),
            (
                "Tom &amp; Jerry&#39;s &quot;show&quot; &mdash; &#x1F600;",
                "Tom & Jerry's \"show\" — 😀",
            ),
            ("&amp;lt;b&amp;gt;", "&lt;b&gt;"),
            ("use &lt;b&gt; for bold", "use <b> for bold"),
            ("a < b and c > d", "a < b and c > d"),
            ("1 <2 <3", "1 <2 <3"),
            (
                "Vec<String> and HashMap<String, Vec<u8>>",
                "Vec<String> and HashMap<String, Vec<u8>>",
            ),
            ("<hit>word</hit> and <x-mark>more</x-mark>", "word and more"),
            ("<script>alert(1)</script>after<style>p { }</style>!", "after!"),
            ("the <script> tag", "the tag"),
            ("one <b <i>two", "one two"),
            ("a <!-- comment > --> b <!doctype html>c", "a b c"),
            ("cut off <a href=\"https://exam", "cut off"),
            ("cut off <b", "cut off"),
            ("quoted <a title=\"a > b\">link</a>", "quoted link"),
            ("<img src=x onerror=alert(1)>", ""),
            ("AT&T &unknown; & &#xZZ; &#; ?a=1&copy=2", "AT&T &unknown; & &#xZZ; &#; ?a=1&copy=2"),
            ("", ""),
        ] {
            assert_eq!(plain_text(given, 1_000), expected, "{given}");
        }
    }

    #[test]
    fn what_cannot_be_seen_is_gone() {
        assert_eq!(plain_text("a\u{0}b\u{1b}[2Jc\u{7f}\u{9b}d", 100), "ab[2Jcd");
        assert_eq!(
            plain_text("safe\u{202e}gpj.exe \u{2066}x\u{2069} \u{200f}y", 100),
            "safegpj.exe x y"
        );
        assert_eq!(plain_text("&#x202e;ok &ZeroWidthSpace;", 100), "ok");
        assert_eq!(plain_text("hi\u{e0041}\u{e0042}", 100), "hi");
        // Emoji and Persian need their joiners.
        assert_eq!(plain_text("👩\u{200d}💻 می\u{200c}خواهم", 100), "👩\u{200d}💻 می\u{200c}خواهم");
    }

    #[test]
    fn long_text_is_cut_and_says_so() {
        assert_eq!(plain_text("abcdef", 6), "abcdef");
        assert_eq!(plain_text("abcdefg", 6), "abcde…");
        assert_eq!(plain_text("ab cdefg", 4), "ab…");
        assert_eq!(plain_text(&"ü".repeat(1_000_000), 1_000).chars().count(), 1_000);
    }

    #[test]
    fn hostile_text_takes_linear_time() {
        for text in [
            "<x>", "<b ", "<!--", "&#", "<", "</", "<a \"", "<x ='", "<script>", "\u{202e}",
            "&amp;",
        ] {
            let start = std::time::Instant::now();
            let text = text.repeat(1_000_000 / text.len());
            assert!(plain_text(&text, 1_000).chars().count() <= 1_000);
            // In quadratic time it would be hours; with a long look at every beginning, a minute.
            assert!(start.elapsed().as_secs() < 20, "{text:.5}: {}", start.elapsed().as_secs());
        }
    }
}
