//! Advanced `SubStation` Alpha (ASS) and its elder (SSA): captions as `Dialogue:` lines with fields.

use super::{captions::Captions, speaker, timestamp};

/// The fields of a caption where the file does not say which, as ASS has them; the text is the last.
const FIELDS: usize = 10;
/// The field that names the speaker.
const NAME: usize = 4;
/// Of ten captions, so many must say who speaks for the others to have nobody.
const NAMES_OF_TEN: usize = 9;
/// The longest tag, in bytes: a line full of `{` must not be searched to its end for each.
const MAX_TAG_BYTES: usize = 2_000;

/// The captions of a file, if it is one.
pub(super) fn read(text: &str) -> Option<Captions> {
    let head = text.trim_start();
    let is_script = head.get(..13).is_some_and(|start| start.eq_ignore_ascii_case("[Script Info]"));
    if !(is_script || head.starts_with("Dialogue:") || head.starts_with("[Events]")) {
        return None;
    }
    if !is_script && captions(head).next().is_none() {
        return None;
    }
    let names = has_names(head);
    let mut lines = Captions::with_room(text.len() / 2);
    for (name, said) in captions(head) {
        lines.begin_cue();
        if names {
            lines.set_voice(name);
        }
        push(&mut lines, said);
    }
    Some(lines)
}

/// The speaker and the text of each caption, with its drawing tags.
fn captions(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let (mut fields, mut name) = (FIELDS, Some(NAME));
    text.lines().filter_map(move |line| {
        if let Some(format) = line.trim_start().strip_prefix("Format:") {
            // The format of the styles comes first, that of the captions last.
            fields = format.split(',').count().max(1);
            let is_name = |field: &str| matches!(field.trim(), "Name" | "Actor");
            name = format.split(',').position(is_name);
            return None;
        }
        let mut parts = line.trim_start().strip_prefix("Dialogue:")?.splitn(fields, ',');
        // The layer, and when it is shown.
        timestamp::leading(parts.nth(1)?.trim())?;
        let between = name.and_then(|name| name.checked_sub(2));
        let speaker = between.and_then(|at| parts.nth(at)).unwrap_or("").trim();
        let said = parts.last()?;
        Some((speaker, said))
    })
}

fn has_names(text: &str) -> bool {
    let (mut all, mut named) = (0_usize, 0_usize);
    for (name, _) in captions(text) {
        all += 1;
        named += usize::from(speaker::is_name(name));
    }
    named > 0 && named * 10 >= all * NAMES_OF_TEN
}

/// Adds the text of a caption without `{\\an8}` and the like, and without what is drawn.
fn push(lines: &mut Captions, said: &str) {
    let mut out = lines.begin_line();
    let mut rest = said.trim_end();
    let mut draws = false;
    while let Some(at) = rest.find(['{', '\\']) {
        if !draws {
            out.push_str(&rest[..at]);
        }
        rest = &rest[at..];
        let near = &rest.as_bytes()[..rest.len().min(MAX_TAG_BYTES)];
        let end = rest.strip_prefix('{').and_then(|_| memchr::memchr(b'}', near));
        if let Some(end) = end {
            draws = draws_after(&rest[1..end], draws);
            rest = &rest[end + 1..];
        } else if let Some(after) = strip_break(rest) {
            lines.end_line();
            out = lines.begin_line();
            rest = after;
        } else if let Some(after) = rest.strip_prefix("\\h") {
            out.push(' ');
            rest = after;
        } else {
            let (sign, after) = rest.split_at(1);
            if !draws {
                out.push_str(sign);
            }
            rest = after;
        }
    }
    if !draws {
        out.push_str(rest);
    }
    lines.end_line();
}

fn strip_break(text: &str) -> Option<&str> {
    text.strip_prefix("\\N").or_else(|| text.strip_prefix("\\n"))
}

/// True if lines and curves follow a tag instead of text: `{\\p1}` begins them and `{\\p0}` ends them.
fn draws_after(tag: &str, draws: bool) -> bool {
    let orders = tag.split('\\').skip(1);
    let scale =
        |order: &str| order.strip_prefix('p').and_then(|scale| scale.trim().parse::<u8>().ok());
    orders.filter_map(scale).last().map_or(draws, |scale| scale > 0)
}
