//! Properties that hold whatever a model answers.

use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;

use super::{chunks::SentenceCut, verify::verify};

/// Words as somebody else counts them.
static WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[$#]?\w+(?:['\u{2019}.,:@/-]\w+)*[%+]?").unwrap());

const SAID: &[&str] = &[
    "so",
    "we",
    "met",
    "anna",
    "it's",
    "well-known",
    "can",
    "not",
    "go",
    "$5.50",
    "3pm",
    "10:30",
    "1,000",
    "12%",
    "ops@acme.io",
    "https://a.example/b_(c)?d=1",
    "iPhone",
    "Node.js",
    "C#",
    "e.g.",
    "Dr.",
    "straße",
    "Ärger",
    "naïve",
    "мир",
    "\"quoted\"",
    "(aside)",
    "yes,",
    "no.",
    "what?",
    "left.\nright",
    "U.S.",
];
const STRANGE: &[&str] = &[
    "else", "cannot", "5", "1000", "🤷", "**bold**", "- item", "1.", "```", "</text>", "…", "\n\n",
];
const MARKS: &[&str] =
    &["", "", "", ".", ",", "?", "!", ";", ":", "...", " —", "—", "\"", "'", ")", "\n\n", "\n"];

fn words(text: &str) -> Vec<String> {
    WORD.find_iter(text).map(|found| found.as_str().to_lowercase()).collect()
}

/// Makes an answer of words that are each changed in some way: kept, dropped, doubled, replaced, in capitals.
fn answer(said: &[&str], deeds: &[(usize, usize, usize)]) -> String {
    let mut answer = String::new();
    for (word, (deed, strange, mark)) in said.iter().zip(deeds) {
        match deed {
            0 => continue,
            1 => answer.push_str(&format!("{word} {word}")),
            2 => answer.push_str(STRANGE[strange % STRANGE.len()]),
            3 => answer.push_str(&word.to_uppercase()),
            4 => answer.push_str(&word.replace('\'', "’")),
            5 => answer.push_str(word.trim_end_matches(['.', ',', '?'])),
            _ => answer.push_str(word),
        }
        answer.push_str(MARKS[mark % MARKS.len()]);
        if *deed != 6 {
            answer.push(' ');
        }
    }
    answer
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn no_word_is_added_changed_or_lost(
        said in prop::collection::vec(prop::sample::select(SAID), 1..40),
        deeds in prop::collection::vec((0..40_usize, 0..100_usize, 0..100_usize), 40),
        edges in (any::<bool>(), any::<bool>()),
    ) {
        let piece = said.join(" ");
        let answer = answer(&said, &deeds);
        let cut = SentenceCut { begins_within: edges.0, ends_within: edges.1 };
        let text = verify(&piece, &answer, false, cut).unwrap_or_else(|_| piece.clone());
        prop_assert_eq!(words(&text), words(&piece), "{:?} became {:?}", answer, text);
        for entity in said.iter().filter(|word| word.contains(|one: char| one.is_numeric() || one == '@')) {
            prop_assert!(text.contains(entity), "{:?} lacks {:?}", text, entity);
        }
    }

    #[test]
    fn no_sign_is_added_or_moved_whatever_is_answered(piece in "\\PC{0,200}", answer in "\\PC{0,300}") {
        // Signs that are neither letters nor marks are all there, in their order.
        let signs = |text: &str| text.chars().filter(|one| !one.is_whitespace() && !".,;!?…。，、！？；؟،؛۔।॥։¿¡".contains(*one)).flat_map(char::to_lowercase).collect::<String>();
        if let Ok(text) = verify(&piece, &answer, false, SentenceCut::default()) {
            prop_assert_eq!(signs(&text), signs(&piece));
        }
    }

    #[test]
    fn an_answer_that_only_adds_marks_is_taken(
        said in prop::collection::vec(prop::sample::select(&SAID[..10]), 3..40),
        marks in prop::collection::vec(prop::sample::select(&[".", ",", "?", "", ""][..]), 40),
    ) {
        let answer: Vec<_> = said.iter().zip(&marks).map(|(word, mark)| format!("{word}{mark}")).collect();
        let answer = answer.join(" ");
        let verdict = verify(&said.join(" "), &answer, false, SentenceCut::default());
        prop_assert_eq!(verdict.as_deref(), Ok(&*answer));
    }
}
