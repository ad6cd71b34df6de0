//! Properties of every text: no word is added, what is clean stays, what is no speech stays whole.

use proptest::prelude::*;

use super::{
    super::{TranscriptFormat, unicode},
    clean, is_subsequence, words,
};

/// Words that must come out as they went in.
const ENTITIES: &[&str] = &[
    "ada.l@example.com",
    "https://example.com/a?b=um&c=uh",
    "$1,299.99",
    "14:30",
    "2026-03-01",
    "2.5mg/kg",
    "3.14",
    "O'Brien",
    "`let i = 1;`",
    "a[0]",
    "f(x)",
    "C++",
    "@ada",
    "#um",
    "v1.2.3",
    "10-20%",
    "i.e.",
    "x86_64",
    "192.168.0.1",
    "10:30pm",
    "€5",
    "1:02:03",
    "um.txt",
    "/etc/uh",
    "--um",
    "um_um",
    "[sic]",
    "D'Alembert",
    "Uh-Land",
    "+49-30-1234567",
];

/// The same for what has spaces.
const PHRASES: &[&str] = &[
    "+49 30 123 123 45",
    "2 2 3",
    "1 1 2 2 1 1 2 2 1 1 2 2",
    "`um um the the`",
    "New York, New York",
    "Walla Walla",
    "9:30 and 10:15",
    "$5 $5",
    "[the music of Bach]",
    "A A A",
    "x = x = 1",
];

/// Words of speech, with marks, fillers and several languages among them.
const WORDS: &str = r#"
    the the i I um uh, Um, you know, like, we have had that very very, [Music] (laughter) [1] th-
    und ich um er das nicht je pas est euh que para un no. No! so? go... "well there" hello Hello ♪
    >> - Ada: Bob: Note: mm 5 5 ähm, ÄHM UH the. I, and and to, of naïve 日本 שלום 🎉 i'm
"#;

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(WORDS.split_whitespace().collect::<Vec<_>>()).prop_map(str::to_owned),
        1 => prop::sample::select(ENTITIES).prop_map(str::to_owned),
    ]
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    let line = prop::collection::vec(piece(), 1..10).prop_map(|words| words.join(" "));
    prop::collection::vec(line, 1..12)
}

fn captions(lines: &[String], comma: char) -> String {
    let cue = |(n, line): (usize, &String)| {
        format!("{}\n00:00:{n:02}{comma}000 --> 00:00:{n:02}{comma}900\n{line}\n\n", n + 1)
    };
    lines.iter().enumerate().map(cue).collect()
}

fn script(lines: &[String]) -> String {
    let head = "[Script Info]\n\n[Events]\n";
    let cue = |line: &String| format!("Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{line}\n");
    head.to_owned() + &lines.iter().map(cue).collect::<String>()
}

fn rolling(lines: &[String]) -> String {
    let pairs: Vec<String> = lines.windows(2).map(|pair| pair.join("\n")).collect();
    captions(&pairs, ',')
}

/// The same text in several formats.
fn files(lines: &[String]) -> Vec<String> {
    let segments: Vec<_> = lines.iter().map(|line| serde_json::json!({ "text": line })).collect();
    vec![
        lines.join(" "),
        lines.join("\n"),
        lines.join("\n\n"),
        captions(lines, ','),
        format!("WEBVTT\n\n{}", captions(lines, '.')),
        rolling(lines),
        serde_json::json!({ "segments": segments }).to_string(),
        lines.iter().map(|line| format!("[00:00] {line}\n")).collect(),
        script(lines),
        lines.iter().map(|line| format!("10:02:33 From Ada to Everyone:\n\t{line}\n")).collect(),
    ]
}

fn letters(text: &str) -> Vec<char> {
    let letters = text.chars().filter(|letter| letter.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn no_word_is_added_and_what_is_clean_stays(lines in lines()) {
        for text in files(&lines) {
            let Ok(found) = clean(&text) else { continue };
            prop_assert!(is_subsequence(&words(&found.text), &words(&text)), "{text:?} -> {:?}", found.text);
            let again = clean(&found.text);
            prop_assert_eq!(again.map(|again| again.text), Ok(found.text), "of {:?}", text);
        }
    }

    #[test]
    fn what_is_no_speech_stays_whole(lines in lines()) {
        // Not through rolling captions, which leave out what is shown twice.
        let files = files(&lines);
        for text in files.iter().take(5) {
            let Ok(found) = clean(text) else { continue };
            if found.counts.format == TranscriptFormat::TimedLines {
                continue; // A name and a time, twice, are those of a meeting.
            }
            for entity in ENTITIES {
                // "O'Brien Ada: yes" is said by somebody of that name, and "O'Brien Ada:" is somebody who says nothing.
                if lines.iter().any(|line| line.split_once(':').is_some_and(|(name, _)| name.contains(entity))) {
                    continue;
                }
                let count = |text: &str| text.split_whitespace().filter(|word| word.trim_end_matches('.') == entity.trim_end_matches('.')).count();
                if text.matches(entity).count() == 1 && count(text) == 1 {
                    prop_assert_eq!(count(&found.text), 1, "{} of {:?} -> {:?}", entity, text, found.text);
                }
            }
        }
    }

    #[test]
    fn phrases_that_are_no_speech_stay_whole(
        lines in lines(),
        at in any::<prop::sample::Index>(),
        phrase in prop::sample::select(PHRASES),
    ) {
        let mut lines = lines;
        let line = at.get_mut(&mut lines);
        *line = format!("well {phrase} here {line}");
        // One line alone cannot roll.
        for text in files(&lines).into_iter().filter(|text| !text.is_empty()) {
            let found = clean(&text).unwrap();
            prop_assert!(found.text.contains(phrase), "{phrase:?} of {text:?} -> {:?}", found.text);
        }
    }

    #[test]
    fn any_text_is_clean_after_one_pass(text in "[\\PC\n\r\t<>\\[\\]{}:0-9-]{0,200}") {
        let Ok(found) = clean(&text) else { return Ok(()) };
        prop_assert!(!found.text.is_empty());
        let again = clean(&found.text);
        prop_assert_eq!(again.map(|again| again.text), Ok(found.text), "of {:?}", text);
    }

    #[test]
    fn no_letter_is_added_to_a_soup_of_markup(pieces in prop::collection::vec(prop::sample::select(&[
        "WEBVTT\n\n", "00:00:01.000 --> 00:00:02.000\n", "1\n", "\n", "\n\n", "<v Ada>", "</v>", "<i>", "<", ">", "[", "]", "hello ",
        "um, ", "Ada: ", "0:01\n", "```\n", "`", "{\\an8}", "{", "}", "\"text\":", "[00:01] ", "- ", ">> ", "NOTE\n", "the the ", "42\n",
        "Ada Lovelace  0:03\n", "♪", "...", "I ", ", ", "<p begin=\"1\">", "</p>", "<tt >",
        "[Script Info]\n", "Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,", "{\\p1}", "\\N", "10:02:33 From Ada to Bob: ", "9:30 ", "9:30\n",
        "[9:30] ", "uh ", "I I've ", "wa- was ", "in the in the ",
    ][..]), 0..30)) {
        let text = pieces.concat();
        let Ok(found) = clean(&text) else { return Ok(()) };
        prop_assert!(is_subsequence(&letters(&found.text), &letters(&unicode::normal(&text))), "{text:?} -> {:?}", found.text);
        let again = clean(&found.text);
        prop_assert_eq!(again.map(|again| again.text), Ok(found.text), "of {:?}", text);
    }
}
