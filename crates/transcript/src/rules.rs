//! The rules: they take words out of a turn and print the rest.
//!
//! The steps work on [`token::WordToken`]s: pieces of the turn between spaces. A step marks what goes; it never
//! changes letters, except that a sentence may get its capital and its full stop.

mod fillers;
mod language;
mod loops;
mod marks;
mod phrases;
mod sentences;
mod stutters;
mod token;

pub(super) use language::Language;
pub(super) use sentences::{TextStyle, is_end};

use super::turn::Turn;

/// Prints a turn without what its speaker did not mean to say. Returns how many words are gone.
pub(super) fn clean(turn: &Turn, style: TextStyle, out: &mut String) -> usize {
    if turn.verbatim {
        out.push_str(&turn.text);
        return 0;
    }
    let text = marks::without(&turn.text);
    let mut tokens = token::of(&text);
    let before = tokens.len();
    loops::remove(&mut tokens);
    fillers::remove(&mut tokens, style.language);
    stutters::remove(&mut tokens, style.language);
    sentences::mend(&mut tokens, style);
    token::print(&tokens, out);
    before - tokens.len()
}
