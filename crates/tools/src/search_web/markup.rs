//! Tags in text that may or may not be HTML. Search services give either, and do not say which.
//!
//! `a < b` and `Vec<String>` are text. A tag has a name that HTML knows, or attributes, or it is
//! closed somewhere in the same text.

use std::collections::HashSet;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum MarkupPiece<'a> {
    /// Text between tags.
    Text(&'a str),
    /// A tag, by its name in small letters.
    Tag {
        /// The name; empty for comments and the like.
        name: String,
        /// True if it is a closing one.
        closing: bool,
    },
}

/// The longest name of a tag, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// Elements that HTML knows.
const KNOWN: &str = "\
    a abbr acronym address article aside audio b bdi bdo big blockquote body br button \
    canvas caption center cite code col dd del details dfn dialog div dl dt em embed \
    fieldset figcaption figure font footer form frame h1 h2 h3 h4 h5 h6 head header hr html \
    i iframe img input ins kbd label legend li link main map mark meta nav nobr noscript \
    object ol optgroup option p picture pre q rp rt ruby s samp script section select small \
    source span strike strong style sub summary sup svg table tbody td template textarea \
    tfoot th thead time title tr tt u ul var video wbr";

/// Elements between which there is a gap.
const BREAKING: &str = "\
    address article aside blockquote br caption center dd details div dl dt fieldset \
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main nav ol option p \
    pre section summary table tbody td tfoot th thead title tr ul";

fn is_listed(names: &str, name: &str) -> bool {
    names.split(' ').any(|one| one == name)
}

/// True if what is inside is not meant to be read.
pub(super) fn hides(name: &str) -> bool {
    matches!(name, "script" | "style" | "template")
}

/// True if it parts words.
pub(super) fn breaks(name: &str) -> bool {
    is_listed(BREAKING, name)
}

/// The names that are closed somewhere in the text.
pub(super) fn closed_names(text: &str) -> HashSet<String> {
    text.match_indices("</").filter_map(|(at, _)| name_of(&text[at + 2..])).collect()
}

/// The text in parts.
pub(super) fn pieces<'a>(
    text: &'a str,
    closed: &'a HashSet<String>,
) -> impl Iterator<Item = MarkupPiece<'a>> {
    let mut rest = text;
    let mut budget = SearchBudget { comments: text.contains("-->"), bytes: MAX_IN_VAIN_BYTES };
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some((piece, end)) = tag(rest, closed, &mut budget) {
            rest = &rest[end..];
            return Some(piece);
        }
        // The first character is text, whatever it is.
        let from = usize::from(rest.starts_with('<'));
        let end = rest[from..].find('<').map_or(rest.len(), |at| at + from);
        let (text, more) = rest.split_at(end);
        rest = more;
        Some(MarkupPiece::Text(text))
    })
}

/// The most of a text that is searched in vain for the ends of tags, in bytes.
const MAX_IN_VAIN_BYTES: usize = 262_144;

/// The limits of the search for ends of tags: time must not grow with the square of a text.
struct SearchBudget {
    /// True if a comment that begins may end.
    comments: bool,
    /// The bytes that may still be searched in vain.
    bytes: usize,
}

/// The tag that the text begins with, and where it ends.
fn tag<'a>(
    text: &'a str,
    closed: &HashSet<String>,
    budget: &mut SearchBudget,
) -> Option<(MarkupPiece<'a>, usize)> {
    let inside = text.strip_prefix('<')?;
    let nothing = || MarkupPiece::Tag { name: String::new(), closing: false };
    if inside.starts_with("!--") {
        if budget.comments
            && let Some(end) = inside.find("-->")
        {
            return Some((nothing(), end + 4));
        }
        budget.comments = false;
        return Some((nothing(), text.len()));
    }
    let markup =
        |after: &str| after.starts_with(|one: char| one.is_ascii_alphabetic() || one == '[');
    if inside.strip_prefix(['!', '?']).is_some_and(markup) {
        return Some((nothing(), end_of_tag(text).unwrap_or_else(|broken_off| broken_off)));
    }
    let (closing, named) = match inside.strip_prefix('/') {
        Some(named) => (true, named),
        None => (false, inside),
    };
    let name = name_of(named)?;
    let after = &named[name.len()..];
    let known = is_listed(KNOWN, &name);
    if !known && budget.bytes == 0 {
        return None;
    }
    let end = end_of_tag(text);
    let is_tag = match end {
        _ if known => true,
        Ok(end) => {
            let before = text.len() - after.len();
            closing || closed.contains(&name) || text[before..end].contains('=')
        }
        Err(looked_at) => {
            budget.bytes = budget.bytes.saturating_sub(looked_at);
            false
        }
    };
    is_tag
        .then(|| (MarkupPiece::Tag { name, closing }, end.unwrap_or_else(|broken_off| broken_off)))
}

/// The name that the text begins with, in small letters, where it is one of a tag.
fn name_of(text: &str) -> Option<String> {
    if !text.starts_with(|one: char| one.is_ascii_alphabetic()) {
        return None;
    }
    let end = text
        .bytes()
        .take(MAX_NAME_BYTES + 1)
        .position(|one| !(one.is_ascii_alphanumeric() || matches!(one, b'-' | b':' | b'_')))
        .unwrap_or(text.len());
    let ends = text[end..].starts_with(|one: char| one == '>' || one == '/' || one.is_whitespace());
    let fits = end <= MAX_NAME_BYTES && (ends || end == text.len());
    fits.then(|| text[..end].to_ascii_lowercase())
}

/// The longest tag, in bytes: in a snippet there is none that is longer.
const MAX_TAG_BYTES: usize = 8_192;

/// The end of the tag that the text begins with, or the point where it is broken off. `>` within quotation
/// marks does not count.
fn end_of_tag(text: &str) -> Result<usize, usize> {
    let mut quoted = None;
    let mut value = false;
    for (at, one) in text.char_indices() {
        match (quoted, one) {
            _ if at > MAX_TAG_BYTES => return Err(at),
            (None, '>') => return Ok(at + 1),
            (None, '<') if at > 0 => return Err(at),
            // Quotation marks mean something only where a value begins.
            (None, '"' | '\'') if value => quoted = Some(one),
            (Some(mark), _) if mark == one => quoted = None,
            _ => {}
        }
        if !one.is_whitespace() {
            value = one == '=';
        }
    }
    Err(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_break_are_known() {
        assert!(BREAKING.split(' ').all(|name| is_listed(KNOWN, name)));
    }
}
