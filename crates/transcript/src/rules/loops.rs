//! Recognisers that hang: the same words again and again, where nobody speaks.

use super::token::{self, StopMark, TokenFlag, WordToken};

/// The longest piece that is looked for, in words.
const MAX_WORDS: usize = 24;
/// The repetitions from which on one word in a row is nothing that somebody said.
const TIMES_A_WORD: usize = 10;
/// The same for two words and more, if they are so many words together.
const TIMES: usize = 5;
const WORDS_TOGETHER: usize = 12;
/// The distance of the tokens that are looked at: a loop covers at least one.
const STRIDE: usize = 8;

/// Leaves of words that come again and again the first.
pub(super) fn remove(tokens: &mut Vec<WordToken>) {
    let mut at = 0;
    while at < tokens.len() {
        let Some(run) = found(tokens, at) else {
            at += STRIDE;
            continue;
        };
        if run.is_loop() {
            cut(tokens, &run);
        }
        // Also what is no loop is not looked at again.
        at = run.end().max(at + 1);
    }
    token::sweep(tokens);
}

/// A piece that comes several times in a row.
struct RepeatedRun {
    start: usize,
    /// Its length in words.
    period: usize,
    times: usize,
    has_numbers: bool,
}

impl RepeatedRun {
    fn end(&self) -> usize {
        self.start + self.times * self.period
    }

    fn is_loop(&self) -> bool {
        let is_long = match self.period {
            1 => self.times >= TIMES_A_WORD,
            period => self.times >= TIMES && self.times * period >= WORDS_TOGETHER,
        };
        is_long && !self.has_numbers
    }
}

fn cut(tokens: &mut [WordToken], run: &RepeatedRun) {
    let start = run.start + run.period;
    for token in &mut tokens[start..run.end()] {
        token.set(TokenFlag::Gone);
    }
    // What ends the last one ends the first.
    let stop = StopMark::of(tokens[run.end() - 1].after());
    if stop.is_some() && matches!(tokens[start - 1].after(), "" | ",") {
        tokens[start - 1].stop = stop;
    }
}

/// The run that covers this place, if there is one.
fn found(tokens: &[WordToken], at: usize) -> Option<RepeatedRun> {
    let key = tokens[at].key;
    let near = &tokens[at + 1..(at + 1 + MAX_WORDS).min(tokens.len())];
    near.iter().enumerate().filter(|(_, token)| token.key == key).find_map(|(gap, _)| {
        let period = gap + 1;
        let repeats = |index: usize| {
            index + period < tokens.len()
                && tokens[index].is_same(&tokens[index + period])
                && !tokens[index].is(TokenFlag::Code)
                && !tokens[index].is(TokenFlag::Gone)
        };
        // Most words come again soon without being a loop: look at the next few first.
        if !(at..at + period * 2).all(repeats) {
            return None;
        }
        let start = (0..at).rev().take_while(|index| repeats(*index)).last().unwrap_or(at);
        let again = (start..tokens.len()).take_while(|index| repeats(*index)).count();
        let is_number = |token: &WordToken| token.word().bytes().any(|byte| byte.is_ascii_digit());
        let has_numbers = tokens[start..start + period].iter().any(is_number);
        Some(RepeatedRun { start, period, times: again / period + 1, has_numbers })
    })
}
