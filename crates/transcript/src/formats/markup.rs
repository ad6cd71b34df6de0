//! Tags, positions and entities in the text of captions.

use memchr::{memchr, memchr3};

use super::captions::Captions;

/// Tags that captions have. Anything else between angle brackets is text.
const TAGS: &[&str] = &[
    "b", "br", "c", "em", "font", "i", "lang", "metadata", "p", "rp", "rt", "ruby", "s", "span",
    "strong", "u", "v",
];

/// The longest tag, in bytes: a line full of `<` must not be searched to its end for each.
const MAX_TAG_BYTES: usize = 300;

/// Adds a line of a caption without its markup. A voice tag says who speaks.
pub(super) fn push(lines: &mut Captions, line: &str) {
    let line = line.trim_start();
    let dashed = ["- ", "– ", "— "].into_iter().find_map(|dash| line.strip_prefix(dash));
    // `-Where are you?`, but not `-5 degrees`, `-v` or `--`.
    let dashed = dashed.or_else(|| {
        line.strip_prefix(['-', '–']).filter(|said| said.starts_with(char::is_uppercase))
    });
    let before = lines.all.len();
    strip(lines, dashed.unwrap_or(line));
    if dashed.is_some() {
        lines.mark_opening(before);
    }
}

fn strip(lines: &mut Captions, line: &str) {
    let mut rest = line;
    let mut out = lines.begin_line();
    while let Some(at) = memchr3(b'<', b'{', b'&', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let is_tag = rest.starts_with('<');
        let length = match rest.as_bytes()[0] {
            b'<' => tag(rest),
            b'{' => position(rest),
            _ => entity(rest, out),
        };
        let Some(length) = length else {
            out.push_str(&rest[..1]);
            rest = &rest[1..];
            continue;
        };
        let inside = if is_tag { &rest[1..length - 1] } else { "" };
        let inside = inside.strip_prefix("tt:").unwrap_or(inside);
        rest = &rest[length..];
        if inside.starts_with("br") || inside.starts_with("p ") || inside == "p" {
            out.push(' ');
        } else if let Some(name) = voice(inside) {
            lines.end_line();
            lines.set_voice(name);
            out = lines.begin_line();
        } else if inside == "/v" {
            lines.end_line();
            lines.set_voice("");
            out = lines.begin_line();
        }
    }
    out.push_str(rest);
    lines.end_line();
}

/// The name in a voice tag: `v Ada`, `v.loud Ada`.
fn voice(inside: &str) -> Option<&str> {
    let rest = inside.strip_prefix('v')?;
    if !rest.starts_with([' ', '.', '\t']) {
        return None;
    }
    rest.split_once([' ', '\t']).map(|(_, name)| name.trim())
}

/// The length of the tag that a text begins with.
fn tag(text: &str) -> Option<usize> {
    let end = memchr(b'>', near(text))?;
    let inside = text[1..end].trim_start_matches('/');
    let inside = inside.strip_prefix("tt:").unwrap_or(inside);
    let name_end = inside.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inside.len());
    let name = &inside[..name_end];
    // `<00:00:01.000>` says when a word is spoken.
    let is_time = name.bytes().all(|byte| byte.is_ascii_digit()) && inside.contains(':');
    let is_known = TAGS.iter().any(|tag| tag.eq_ignore_ascii_case(name));
    (is_known || (is_time && !name.is_empty())).then_some(end + 1)
}

/// The length of the position or style that a text begins with: `{\an8}`.
fn position(text: &str) -> Option<usize> {
    let is_one = text.starts_with("{\\") || text.starts_with("{y:") || text.starts_with("{c:");
    is_one.then(|| memchr(b'}', near(text))).flatten().map(|end| end + 1)
}

fn near(text: &str) -> &[u8] {
    &text.as_bytes()[..text.len().min(MAX_TAG_BYTES)]
}

/// Decodes the entity that a text begins with; how long it is.
fn entity(text: &str, out: &mut String) -> Option<usize> {
    // The longest name has 33 characters; a text full of `&` must not be searched to its end.
    let near = &text.as_bytes()[..text.len().min(36)];
    let end = memchr(b';', near)? + 1;
    let entity = text.get(..end)?;
    let decoded = html_escape::decode_html_entities(entity);
    if decoded == entity {
        return None;
    }
    match decoded.as_ref() {
        "\u{a0}" | "\n" | "\r" => out.push(' '),
        seen => out.extend(seen.chars().filter(|character| !character.is_control())),
    }
    Some(end)
}
