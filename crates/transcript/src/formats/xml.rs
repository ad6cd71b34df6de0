//! TTML, and the XML that YouTube makes of captions.

use memchr::memchr;

use super::{captions::Captions, markup};

/// The elements that are captions.
const CAPTIONS: &[&str] = &["p", "text"];

/// The captions of a document, if it is one of captions.
pub(super) fn read(text: &str) -> Option<Captions> {
    let head = text.trim_start();
    let near = head.char_indices().nth(2_000).map_or(head, |(end, _)| &head[..end]);
    let roots = ["<tt ", "<tt>", "<tt:tt", "<transcript", "<timedtext"];
    if !roots.iter().any(|root| near.contains(root)) {
        return None;
    }
    // What YouTube serves as a transcript is text in HTML in XML.
    let escapes_twice = near.contains("<transcript");
    let mut lines = Captions::with_room(text.len() / 2);
    let mut rest = head;
    while let Some(start) = memchr(b'<', rest.as_bytes()) {
        rest = &rest[start + 1..];
        let Some(end) = memchr(b'>', rest.as_bytes()) else { break };
        let opening = &rest[..end];
        rest = &rest[end + 1..];
        let Some(name) = caption(opening) else { continue };
        let (inside, after) = until_closed(rest, name);
        lines.begin_cue();
        // Lines of the source are no lines of the caption.
        let inside = without_newlines(inside);
        if escapes_twice {
            markup::push(&mut lines, &html_escape::decode_html_entities(&inside));
        } else {
            markup::push(&mut lines, &inside);
        }
        rest = after;
    }
    Some(lines)
}

/// The name of the element, if it is a caption that has text.
fn caption(opening: &str) -> Option<&str> {
    let name = opening.split([' ', '\t', '\n', '/']).next()?;
    let local = name.strip_prefix("tt:").unwrap_or(name);
    (CAPTIONS.contains(&local) && !opening.ends_with('/')).then_some(name)
}

/// The content of an element, and the text behind it. An element that is never closed ends with the text.
fn until_closed<'a>(text: &'a str, name: &str) -> (&'a str, &'a str) {
    let mut at = 0;
    while let Some(found) = memchr(b'<', &text.as_bytes()[at..]) {
        at += found;
        if let Some(rest) =
            text[at + 1..].strip_prefix('/').and_then(|rest| rest.strip_prefix(name))
            && rest.starts_with(['>', ' '])
        {
            return (&text[..at], rest);
        }
        at += 1;
    }
    (text, "")
}

fn without_newlines(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains('\n') { text.replace('\n', " ").into() } else { text.into() }
}
