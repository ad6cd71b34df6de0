//! Which word of an answer is which word of the text.

use super::words::Words;

/// How many words must be the same for an answer to have come back to the text.
const SAME_WORDS: usize = 3;
/// How far that is looked for, in words.
const WINDOW: usize = 24;
/// After so many differences an answer is another text.
const MAX_DIFFERENCES: usize = 64;

/// What is wrong with the words of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Difference {
    /// Words of the text are not in it.
    Missing,
    /// There are words in it that the text does not have.
    Added,
    /// There are others in their place.
    Changed,
}

/// Which word of the answer is which of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Alignment {
    /// For each word of the text its place in the answer, if it is there.
    pub places: Vec<Option<usize>>,
    /// The words of the text that are missing and may be.
    pub removed: Vec<bool>,
    /// The first difference; nothing where the answer has the words of the text.
    pub difference: Option<Difference>,
}

/// Goes through both, word by word.
pub(super) fn align(
    text: &Words<'_>,
    answer: &Words<'_>,
    may_go: impl Fn(usize) -> bool,
) -> Alignment {
    let mut all = Alignment {
        places: vec![None; text.len()],
        removed: vec![false; text.len()],
        difference: None,
    };
    let (mut at, mut place) = (0, 0);
    let mut differences = 0;
    while at < text.len() || place < answer.len() {
        if at < text.len() && place < answer.len() && text.is_same(at, answer, place) {
            all.places[at] = Some(place);
            at += 1;
            place += 1;
        } else if at < text.len() && may_go(at) {
            all.removed[at] = true;
            at += 1;
        } else {
            let (skipped, strange) =
                meet(text, answer, at, place).unwrap_or((text.len() - at, answer.len() - place));
            all.difference.get_or_insert(match (skipped, strange) {
                (_, 0) => Difference::Missing,
                (0, _) => Difference::Added,
                _ => Difference::Changed,
            });
            at += skipped;
            place += strange;
            differences += 1;
            if differences > MAX_DIFFERENCES {
                break;
            }
        }
    }
    all
}

/// The nearest place where both go on with the same words: how many words of each are before it.
fn meet(text: &Words<'_>, answer: &Words<'_>, at: usize, place: usize) -> Option<(usize, usize)> {
    let goes_on = |skipped: usize, strange: usize| {
        (0..SAME_WORDS).all(|step| {
            let (one, other) = (at + skipped + step, place + strange + step);
            if one < text.len() && other < answer.len() {
                text.is_same(one, answer, other)
            } else {
                // Both end with the same words.
                step > 0 && one == text.len() && other == answer.len()
                    || step > 0 && one >= text.len() && other >= answer.len()
            }
        })
    };
    (1..=2 * WINDOW).find_map(|distance| {
        let least = distance.saturating_sub(WINDOW);
        (least..=distance.min(WINDOW))
            .map(|skipped| (skipped, distance - skipped))
            .find(|(skipped, strange)| goes_on(*skipped, *strange))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, answer: &str, difference: Option<Difference>, places: &[Option<usize>]) {
        let (text, answer) = (Words::of(text), Words::of(answer));
        let found = align(&text, &answer, |at| text.word(at) == "um");
        assert_eq!(found.difference, difference);
        assert_eq!(found.places, places);
    }

    #[test]
    fn words_find_their_places() {
        let all = |count| (0..count).map(Some).collect::<Vec<_>>();
        check("so we met anna", "So, we met Anna.", None, &all(4));
        check("so um we met", "So we met.", None, &[Some(0), None, Some(1), Some(2)]);
        check("so we met um", "So we met.", None, &[Some(0), Some(1), Some(2), None]);
        let missing = Some(Difference::Missing);
        check(
            "a b c d e f",
            "a b d e f",
            missing,
            &[Some(0), Some(1), None, Some(2), Some(3), Some(4)],
        );
        check("a b c", "a b", missing, &[Some(0), Some(1), None]);
        let added = Some(Difference::Added);
        check("a b c d", "x a b c d", added, &[Some(1), Some(2), Some(3), Some(4)]);
        check("a b", "a b c", added, &[Some(0), Some(1)]);
        let changed = Some(Difference::Changed);
        check("a b c d e", "a x c d e", changed, &[Some(0), None, Some(2), Some(3), Some(4)]);
        check("can not", "cannot", changed, &[None, None]);
        check("a b", "", missing, &[None, None]);
        check("", "", None, &[]);
    }

    #[test]
    fn another_text_is_given_up_soon() {
        let text = "one two three ".repeat(5_000);
        let answer = "four five six ".repeat(5_000);
        let began = std::time::Instant::now();
        let (text, answer) = (Words::of(&text), Words::of(&answer));
        assert_eq!(align(&text, &answer, |_| false).difference, Some(Difference::Changed));
        assert!(began.elapsed() < std::time::Duration::from_secs(2));
    }
}
