//! What is no transcript, or a broken one.

use std::time::{Duration, Instant};

use super::{Refusal, clean, cleaned};

#[test]
fn binary_is_refused() {
    let bytes: Vec<u8> =
        (0..20_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    assert_eq!(clean(&String::from_utf8_lossy(&bytes)), Err(Refusal::Binary));
    let utf16: String = "hello there".chars().flat_map(|letter| [letter, '\0']).collect();
    assert_eq!(clean(&utf16), Err(Refusal::Binary));
}

#[test]
fn a_few_strange_characters_are_no_binary() {
    assert_eq!(cleaned("Hello\0 there, this is fine.\u{7}"), "Hello there, this is fine.");
}

#[test]
fn what_has_no_text_is_refused() {
    for text in [
        " \n\t ",
        "\u{200b}\u{feff}",
        "WEBVTT\n\n00:00.000 --> 00:01.000\n\n",
        "1\n00:00:01,000 --> 00:00:02,000\n<i></i>\n",
    ] {
        let found = clean(text);
        assert!(
            found == Err(Refusal::Empty) || found.is_ok_and(|clean| !clean.text.is_empty()),
            "{text:?}"
        );
    }
    assert_eq!(clean(" \n\t "), Err(Refusal::Empty));
}

#[test]
fn what_the_rules_would_take_away_whole_is_returned_as_it_is() {
    assert_eq!(cleaned("[Music]\n\n[Applause]"), "[Music]\n\n[Applause]");
    assert_eq!(cleaned("uh, hmm"), "uh, hmm");
    assert_eq!(
        cleaned("1\n00:00:00,000 --> 00:00:30,000\nThanks for watching!\n"),
        "Thanks for watching!"
    );
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
fn captions_stay_in_the_order_of_the_file() {
    let text =
        "2\n00:00:09,000 --> 00:00:10,000\nSecond.\n\n1\n00:00:01,000 --> 00:00:02,000\nFirst.\n";
    assert_eq!(cleaned(text), "Second. First.");
}

#[test]
fn mixed_line_ends_are_line_ends() {
    let text = "1\r\n00:00:01,000 --> 00:00:02,000\rHello\u{2028}there.\n\r\n2\n00:00:03,000 --> 00:00:04,000\r\nBye.";
    assert_eq!(cleaned(text), "Hello there. Bye.");
}

#[test]
fn right_to_left_text_and_emoji_pass() {
    for text in [
        "שלום לכולם, ברוכים הבאים.",
        "مرحبا بكم في البرنامج؟",
        "Great job 👩‍👩‍👧‍👦 everyone 🎉! See you.",
    ] {
        assert_eq!(cleaned(text), text);
    }
    assert_eq!(cleaned("می‌خواهم بروم."), "می‌خواهم بروم.");
    assert_eq!(cleaned("\u{202e}Hello\u{202c} you."), "Hello you.");
}

#[test]
fn decomposed_letters_are_composed() {
    assert_eq!(cleaned("Wir sind, a\u{308}hm, im Cafe\u{301}."), "Wir sind, im Café.");
}

/// Each of these makes some naive reader slow: five megabytes take seconds at most, even unoptimised.
#[test]
fn long_texts_take_linear_time() {
    const SIZE: usize = 1_000_000;
    let fill = |piece: &str| piece.repeat(SIZE / piece.len());
    let texts = [
        fill("a"),
        fill("the "),
        fill("um "),
        fill("um, "),
        fill("<"),
        fill("[ "),
        fill("( "),
        fill("&"),
        fill("`"),
        fill("{\"text\":"),
        fill("["),
        fill("0:00\n"),
        fill("Ada: hi\n"),
        fill(">> "),
        fill("I I "),
        fill("a b "),
        fill("the end of the "),
        fill("- "),
        fill(".\n"),
        fill("``` \n"),
        fill("♪"),
        fill("[Music] "),
        format!("WEBVTT\n\n00:00.000 --> 00:01.000\n{}", fill("<v Ada>")),
        format!("WEBVTT\n\n00:00.000 --> 00:01.000\n{}", fill("<b ")),
        format!("WEBVTT\n\n00:00.000 --> 00:01.000\n{}", fill("{\\an8")),
        format!("<tt >{}", fill("<p >")),
        format!("<tt >{}", fill("<p")),
        format!("WEBVTT\n\n{}", fill("00:00.000 --> 00:01.000\nhello\n\n")),
    ];
    for text in texts {
        let start = Instant::now();
        let _ = clean(&text);
        let head: String = text.chars().take(60).collect();
        assert!(start.elapsed() < Duration::from_secs(10), "{head:?} took {:?}", start.elapsed());
    }
}
