//! Characters that have no shape of their own. One list for all who show, compare or clean a text,
//! because what one of them does not know is where a text hides something from it.

/// True if a character shows nothing by itself: joiners, fillers, marks of direction, selectors,
/// tags. Controls and ends of lines are for the caller to judge.
pub fn has_no_shape(one: char) -> bool {
    is_needed(one) || only_hides(one)
}

/// True if an honest text loses nothing without it. Joiners, selectors and plain marks of direction
/// also show nothing, but emoji and the scripts of Persia, India and Israel are written with them.
pub fn only_hides(one: char) -> bool {
    matches!(one,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{200b}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// True if a mark only sets the direction of a text.
pub fn is_direction_mark(one: char) -> bool {
    matches!(one, '\u{61c}' | '\u{200e}' | '\u{200f}')
}

fn is_needed(one: char) -> bool {
    is_direction_mark(one)
        || matches!(one,
            '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{200c}' | '\u{200d}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_see_has_a_shape() {
        for one in "aé ü漢字😀ｱ́ ٠ —\u{a0}\u{3000}\n\u{fffd}".chars() {
            assert!(!has_no_shape(one), "{one:?}");
        }
    }

    #[test]
    fn what_scripts_need_hides_nothing() {
        for one in ['\u{200c}', '\u{200d}', '\u{200f}', '\u{fe0f}', '\u{e0100}', '\u{180b}'] {
            assert!(has_no_shape(one) && !only_hides(one), "{one:?}");
        }
        for one in ['\u{200b}', '\u{202e}', '\u{2066}', '\u{e0041}', '\u{3164}', '\u{feff}'] {
            assert!(has_no_shape(one) && only_hides(one), "{one:?}");
        }
    }
}
