//! Text without times: paragraphs, lines, perhaps labels with names, perhaps code.

use super::speaker;
use crate::turn::Turn;

/// One in this many lines must have a label for labels to be names of speakers.
const LINES_A_LABEL: usize = 4;
/// The fence before and after code.
const FENCE: &str = "```";

/// The turns of a plain text, paragraph by paragraph.
pub(super) fn read(text: &str) -> Vec<Turn> {
    let has_labels = has_labels(text);
    let has_marks = text.trim_start().starts_with(">>");
    let mut turns: Vec<Turn> = Vec::new();
    let mut is_open = false;
    let mut in_code = false;
    for line in text.split('\n') {
        let said = line.trim();
        if in_code || said.starts_with(FENCE) {
            code(&mut turns, line, !in_code);
            in_code = !in_code || !said.starts_with(FENCE);
            is_open = false;
        } else if said.is_empty() {
            is_open = false;
        } else if has_labels && let Some((name, said)) = speaker::label(said) {
            // Only a paragraph that directly follows one of the same name goes on with it.
            if turns.last().is_none_or(|turn| turn.speaker.as_deref() != Some(name)) {
                turns.push(Turn::of(Some(name.to_owned())));
            }
            go_on(&mut turns, said, true);
            is_open = true;
        } else if has_marks {
            marked(&mut turns, said, &mut is_open);
        } else {
            if !is_open {
                turns.push(Turn::default());
            }
            go_on(&mut turns, said, false);
            is_open = true;
        }
    }
    turns
}

fn has_labels(text: &str) -> bool {
    let (mut lines, mut labels) = (0_usize, 0_usize);
    for line in text.split('\n').map(str::trim).filter(|line| !line.is_empty()) {
        lines += 1;
        labels += usize::from(speaker::label(line).is_some());
    }
    labels >= 2 && labels * LINES_A_LABEL >= lines
}

fn code(turns: &mut Vec<Turn>, line: &str, is_first: bool) {
    if is_first {
        turns.push(Turn { verbatim: true, ..Turn::default() });
    }
    if let Some(turn) = turns.last_mut() {
        if !is_first {
            turn.text.push('\n');
        }
        turn.text.push_str(line.trim_end());
    }
}

/// Adds a line to the last paragraph: on a line of its own, unless the sentence goes on in it.
fn go_on(turns: &mut [Turn], said: &str, join: bool) {
    let Some(turn) = turns.last_mut() else { return };
    let goes_on =
        said.starts_with(char::is_lowercase) && !turn.text.ends_with(['.', '!', '?', '…', ':']);
    if join || goes_on || turn.text.is_empty() || turn.text.ends_with(',') {
        turn.say(said);
    } else {
        turn.text.push('\n');
        turn.text.push_str(said);
    }
}

/// Adds a line in which `>>` says that somebody else speaks.
fn marked(turns: &mut Vec<Turn>, line: &str, is_open: &mut bool) {
    for (index, part) in line.split(">>").enumerate() {
        let is_silent = turns.last().is_some_and(|turn| turn.text.is_empty());
        if !is_silent && (index > 0 || !*is_open) {
            turns.push(Turn::default());
        }
        *is_open = true;
        go_on(turns, part.trim_start_matches('>').trim(), true);
    }
}
