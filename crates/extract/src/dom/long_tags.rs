//! Tags that no author wrote.
//!
//! The parser compares every attribute of a tag with all before it, so that a tag with a hundred
//! thousand of them takes minutes. Browsers have the same trouble; here such a tag is cut.

use std::borrow::Cow;

/// A tag is looked at more closely from so many bytes on.
const LONG_BYTES: usize = 16_384;
/// So many blanks mean at least half as many attributes; a picture within a tag has none.
const MAX_BLANKS: usize = 2_000;

/// The page without the rest of tags that are too long.
pub(super) fn without_long_tags(html: &str) -> Cow<'_, str> {
    let bytes = html.as_bytes();
    let (mut tamed, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(start) = memchr::memchr(b'<', &bytes[at..]).map(|found| at + found) {
        at = start + 1;
        let is_tag = bytes.get(at).is_some_and(|one| one.is_ascii_alphabetic() || *one == b'/');
        if !is_tag {
            continue;
        }
        let end = memchr::memchr(b'>', &bytes[at..]).map_or(bytes.len(), |found| at + found);
        if end - start > LONG_BYTES {
            let blanks = bytes[start..end].iter().filter(|one| one.is_ascii_whitespace());
            if blanks.count() > MAX_BLANKS {
                let mut kept = bytes[start..start + LONG_BYTES].iter();
                let cut = kept.rposition(u8::is_ascii_whitespace).map_or(at, |found| start + found);
                // Both are places of ASCII.
                tamed.push_str(html.get(copied..cut).unwrap_or_default());
                copied = end;
            }
            at = end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(html);
    }
    tamed.push_str(html.get(copied..).unwrap_or_default());
    Cow::Owned(tamed)
}

#[cfg(test)]
mod tests {
    use super::without_long_tags;

    #[test]
    fn only_monsters_are_cut() {
        let attributes: String = (0..50_000).map(|number| format!(" é{number}=1")).collect();
        let monster = format!("<p>a</p><p{attributes}>x</p><p>b</p>");
        let tamed = without_long_tags(&monster);
        assert!(tamed.len() < 20_000, "{}", tamed.len());
        assert!(tamed.starts_with("<p>a</p><p é0=1") && tamed.ends_with(">x</p><p>b</p>"));
        let picture = format!("<img src='data:image/png;base64,{}'>", "A".repeat(100_000));
        assert_eq!(without_long_tags(&picture), picture);
        for plain in ["", "<", "a < b", "<p", "<p>x</p>"] {
            assert_eq!(without_long_tags(plain), plain);
        }
    }
}
