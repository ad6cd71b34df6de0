//! Captions that show each line two or three times, as it moves up the screen.

use std::ops::Range;

use super::captions::{CaptionLine, Captions};

/// One in this many captions must repeat lines of the one before for a file to be rolling.
const CUES_A_REPETITION: usize = 5;
/// So many words are no accident. Shorter ones count where most captions repeat: `No.` `No.` are two people.
const LONG: usize = 3;
/// A caption that comes this often in a row is a recogniser that hangs.
const LOOP: usize = 4;

/// Leaves of lines that are shown several times the first, if the file is like that, and of a caption
/// that comes again and again the first.
pub(super) fn merge(lines: &mut Captions) {
    let is_rolling = is_rolling(lines);
    let mut kept: Vec<CaptionLine> = Vec::with_capacity(lines.all.len());
    let mut before: &[CaptionLine] = &[];
    let cues: Vec<&[CaptionLine]> = lines.all.chunk_by(|one, other| one.cue == other.cue).collect();
    let mut index = 0;
    while let Some(&cue) = cues.get(index) {
        let equal = cues[index..].iter().take_while(|other| is_same(lines, cue, other)).count();
        index += if equal >= LOOP { equal } else { 1 };
        if is_rolling {
            let again = overlap(lines, before, cue);
            let mut fresh = cue[again..].to_vec();
            if again == 0
                && let (Some(last), Some(first)) = (before.last(), fresh.first_mut())
            {
                first.place = grown(lines, last, first);
            }
            kept.extend(fresh.into_iter().filter(|line| !line.place.is_empty()));
            before = cue;
        } else {
            kept.extend_from_slice(cue);
        }
    }
    lines.all = kept;
}

fn is_rolling(lines: &Captions) -> bool {
    let (mut cues, mut repetitions, mut long) = (0, 0, 0);
    let mut before: &[CaptionLine] = &[];
    for cue in lines.all.chunk_by(|one, other| one.cue == other.cue) {
        cues += 1;
        let again = overlap(lines, before, cue);
        let repeated = cue[..again].iter().map(|line| lines.text(line).split(' ').count());
        repetitions += usize::from(again > 0);
        long += usize::from(repeated.sum::<usize>() >= LONG);
        before = cue;
    }
    (long > 0 && long * CUES_A_REPETITION >= cues) || repetitions * 2 > cues
}

/// The number of lines at the beginning of a caption that are the last of the one before.
fn overlap(lines: &Captions, before: &[CaptionLine], cue: &[CaptionLine]) -> usize {
    let most = before.len().min(cue.len()).min(4);
    let repeats = |count: &usize| is_same(lines, &before[before.len() - count..], &cue[..*count]);
    (1..=most).rev().find(repeats).unwrap_or(0)
}

fn is_same(lines: &Captions, some: &[CaptionLine], others: &[CaptionLine]) -> bool {
    let mut pairs = some.iter().zip(others);
    some.len() == others.len() && pairs.all(|(one, other)| lines.text(one) == lines.text(other))
}

/// The new part of a line that begins with all of the line before it.
fn grown(lines: &Captions, before: &CaptionLine, line: &CaptionLine) -> Range<usize> {
    match lines.text(line).strip_prefix(lines.text(before)) {
        Some(more) if more.starts_with(' ') => {
            line.place.end - more.trim_start().len()..line.place.end
        }
        _ => line.place.clone(),
    }
}
