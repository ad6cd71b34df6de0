//! Removes captions that recognisers invent where nobody speaks: the last words of the videos that they learned from,
//! and what they mark themselves.

use super::captions::Captions;
use crate::{turn::Turn, word_lists::COMMON};

/// The longest of them, in bytes.
const LONGEST: usize = 64;

/// Takes the captions out that nobody said. They come back as a turn, in case that there is no other.
pub(super) fn remove(lines: &mut Captions) -> Option<Turn> {
    let mut never = std::mem::take(&mut lines.unspoken);
    let mut once = Vec::new();
    let mut first = None;
    for cue in lines.all.chunk_by(|one, other| one.cue == other.cue) {
        let [line] = cue else { continue };
        first = first.or(Some(line.cue));
        let text = lines.text(line);
        if text.len() > LONGEST {
            continue;
        }
        let said = text.trim_end_matches(['.', '!', '?', '…', '。', ' ']);
        // Cheap enough for every short caption only because most differ in length or first letter.
        let is_one_of = |list: &[String]| list.iter().any(|one| is_same(one, said));
        if is_one_of(&COMMON.invented_captions) {
            never.push(line.cue);
        } else if is_one_of(&COMMON.farewells) {
            once.push(line.cue);
        }
    }
    if once.len() > 1 || (!once.is_empty() && once.first() == first.as_ref()) {
        never.append(&mut once);
    }
    if never.is_empty() {
        return None;
    }
    never.sort_unstable();
    let mut turn = Turn::default();
    let all = std::mem::take(&mut lines.all);
    let (gone, kept): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|line| never.binary_search(&line.cue).is_ok());
    for line in &gone {
        turn.say(lines.text(line));
    }
    lines.all = kept;
    Some(turn)
}

fn is_same(one: &str, said: &str) -> bool {
    one.eq_ignore_ascii_case(said)
        || (!said.is_ascii() && one.len() == said.len() && one == said.to_lowercase())
}
