//! Text of others, for the eyes of a person who decides: what would steer a terminal, turn a line
//! around or not be seen at all is shown and not obeyed.

use contract::invisible::has_no_shape;

/// The text in its lines.
pub fn visible(text: &str) -> String {
    escaped(text, |one| matches!(one, '\n' | '\t'))
}

pub fn visible_line(text: &str) -> String {
    escaped(text, |_| false)
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for one in text.chars() {
        if (one.is_control() && !stays(one)) || deceives(one) {
            shown.extend(one.escape_unicode());
        } else {
            shown.push(one);
        }
    }
    shown
}

/// Marks without a shape of their own, and ends of lines that a terminal may not know.
fn deceives(one: char) -> bool {
    matches!(one, '\u{2028}' | '\u{2029}') || has_no_shape(one)
}

#[cfg(test)]
mod tests {
    use super::{visible, visible_line};

    #[test]
    fn what_steers_a_terminal_is_shown_and_not_obeyed() {
        assert_eq!(visible("a\tb\nc"), "a\tb\nc");
        assert_eq!(visible_line("a\tb\nc"), "a\\u{9}b\\u{a}c");
        assert_eq!(visible("\u{1b}[2J\u{9b}2J\u{7f}"), "\\u{1b}[2J\\u{9b}2J\\u{7f}");
        assert_eq!(visible("x\u{202e}y\r"), "x\\u{202e}y\\u{d}");
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        for hidden in [
            '\u{61c}',
            '\u{200d}',
            '\u{2066}',
            '\u{ad}',
            '\u{e0041}',
            '\u{3164}',
            '\u{2800}',
            '\u{fe01}',
        ] {
            let text = visible(&format!("a{hidden}b"));
            assert_eq!(text, format!("a{}b", hidden.escape_unicode()));
        }
        assert_eq!(visible("é ü 漢字 😀 \\u{202e}"), "é ü 漢字 😀 \\u{202e}");
    }
}
