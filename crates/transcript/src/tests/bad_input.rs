//! Input that is no transcript, or a broken one.

use std::time::{Duration, Instant};

use super::{CleaningError, clean, cleaned};

#[test]
fn binary_is_refused() {
    let bytes: Vec<u8> =
        (0..20_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    assert_eq!(clean(&String::from_utf8_lossy(&bytes)), Err(CleaningError::Binary));
    let utf16: String = "hello there".chars().flat_map(|letter| [letter, '\0']).collect();
    assert_eq!(clean(&utf16), Err(CleaningError::Binary));
}

#[test]
fn what_has_no_text_is_refused() {
    for text in [
        " \n\t ",
        "\u{200b}\u{feff}",
        "WEBVTT",
        "WEBVTT - A title\nLanguage: en\n\nNOTE nothing here\n",
        "WEBVTT\n\n00:00.000 --> 00:01.000\n\n",
        "1\n00:00:01,000 --> 00:00:02,000\n<i></i>\n",
        "[Script Info]\nTitle: x\n\n[Events]\nDialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,{\\an8}\n",
        "<tt xmlns=\"http://www.w3.org/ns/ttml\"><body><div><p begin=\"1s\"> </p></div></body></tt>",
        r#"{"text":"","segments":[]}"#,
        r#"{"wireMagic":"pb3","events":[]}"#,
        "0:00\n0:04\n0:09\n",
    ] {
        assert_eq!(clean(text), Err(CleaningError::Empty), "{text:?}");
    }
}

#[test]
fn broken_captions_lose_no_words() {
    let text = "WEBVTT\n00:00:01.000 --> \nHello there.\n2\n00:00:02 -->00:00:03\nHow are <b>you?\n\nNOTE\nnot said\n\n\
                00:00:xx --> 00:00:05.000\nFine, <i thank you.\n00:00:09.000 --> 00:00:04.000\nBye";
    let clean = cleaned(text);
    for said in ["Hello there.", "How are you?", "thank you.", "Bye"] {
        assert!(clean.contains(said), "{clean:?}");
    }
    assert!(!clean.contains("not said"), "{clean:?}");
}

#[test]
fn one_line_of_five_megabytes_passes() {
    let text = format!("A{}, uh, the end.", "a".repeat(5_000_000));
    // Not compared by `assert_eq`, which would print it.
    assert!(cleaned(&text) == text.replace(" uh,", ""));
    let text = format!("{}\u{a0}\u{e9}nd.", "-".repeat(5_000_000));
    assert_eq!(cleaned(&text).len(), 5_000_006);
}

/// Each of these makes some naive reader slow: four times the text may take little more than four times
/// as long, where a square would take sixteen.
#[test]
fn long_texts_take_linear_time() {
    const SIZE: usize = 40_000;
    for (head, piece) in [
        ("", "a"),
        ("", "the "),
        ("", "um "),
        ("", "um, "),
        ("", "<"),
        ("", "[ "),
        ("", "( "),
        ("", "&"),
        ("", "`"),
        ("", "{\"text\":"),
        ("", "["),
        ("", "0:00\n"),
        ("", "Ada: hi\n"),
        ("", "Ada 0:00\nhi\n"),
        ("", "10:00:00 From Ada : hi\n"),
        ("", ">> "),
        ("", "I I "),
        ("", "I uh I "),
        ("", "I- I- "),
        ("", "a b "),
        ("", "the end of the "),
        ("", "- "),
        ("", ".\n"),
        ("", "``` \n"),
        ("", "♪"),
        ("", "[Music] "),
        ("WEBVTT\n\n00:00.000 --> 00:01.000\n", "<v Ada>"),
        ("WEBVTT\n\n00:00.000 --> 00:01.000\n", "<b "),
        ("WEBVTT\n\n00:00.000 --> 00:01.000\n", "{\\an8"),
        ("WEBVTT\n\n00:00.000 --> 00:01.000\n", ">"),
        ("WEBVTT\n\n", "00:00.000 --> 00:01.000\nhello\n\n"),
        ("", "00:00.000 --> 00:01.000\nAda\nhello\n\n"),
        ("<tt >", "<p >"),
        ("<tt >", "<p"),
        ("[Script Info]\nDialogue: 0,0:00:01.00,0,0,0,0,0,0,0,", "{\\"),
        ("[Script Info]\n", "Dialogue: 0,0:00:01.00,0,0,0,0,0,0,0,{\n"),
    ] {
        let time = |size: usize| {
            let text = head.to_owned() + &piece.repeat(size / piece.len());
            let start = Instant::now();
            let _ = clean(&text);
            start.elapsed()
        };
        // Another program may take the processor away once, but not every time.
        let is_linear = || {
            let (small, large) = (time(SIZE), time(4 * SIZE));
            large < small * 9 || large < Duration::from_millis(10)
        };
        assert!((0..5).any(|_| is_linear()), "{head:?} {piece:?}");
    }
}
