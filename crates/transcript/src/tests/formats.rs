//! The formats that transcripts come in.

use super::{super::TranscriptFormat, check, clean, cleaned};

#[test]
fn rolling_captions_are_merged() {
    let text = "WEBVTT\nKind: captions\nLanguage: en\n\n\
        00:00:00.000 --> 00:00:02.000 align:start position:0%\n \nhello<00:00:00.500><c> and</c>\n\n\
        00:00:02.000 --> 00:00:02.010 align:start position:0%\nhello and\n \n\n\
        00:00:02.010 --> 00:00:04.000 align:start position:0%\nhello and\nwelcome<00:00:02.500><c> back</c>\n\n\
        00:00:04.000 --> 00:00:04.010 align:start position:0%\nwelcome back\n \n\n\
        00:00:04.010 --> 00:00:06.000 align:start position:0%\nwelcome back\nto the show\n";
    check(TranscriptFormat::Cues, text, "Hello and welcome back to the show.");
}

#[test]
fn growing_captions_are_merged() {
    let cue = |n: usize, text: &str| format!("{n}\n00:00:0{n},000 --> 00:00:0{n},900\n{text}\n\n");
    let texts = ["so", "so\nwe begin", "we begin", "we begin here", "we begin here\nand now"];
    let file: String = texts.iter().enumerate().map(|(n, text)| cue(n + 1, text)).collect();
    check(TranscriptFormat::Cues, &file, "So we begin here and now.");
}

#[test]
fn two_people_may_say_the_same() {
    let text = "1\n00:00:01,000 --> 00:00:02,000\nNo.\n\n2\n00:00:02,000 --> 00:00:03,000\nNo.\n\n\
                3\n00:00:03,000 --> 00:00:04,000\nYes.\n";
    check(TranscriptFormat::Cues, text, "No. No. Yes.");
}

#[test]
fn a_recogniser_that_hangs_is_cut() {
    let cue = |n: usize| format!("{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\nThank you.\n\n");
    let file: String = (1..20).map(cue).collect();
    check(
        TranscriptFormat::Cues,
        &format!("{file}20\n00:01:00,000 --> 00:01:01,000\nThe end.\n"),
        "Thank you. The end.",
    );
    let text = format!("We start. {}Then we stop.", "I'm going to go there. ".repeat(30));
    check(TranscriptFormat::Plain, &text, "We start. I'm going to go there. Then we stop.");
}

#[test]
fn a_real_farewell_stays() {
    let text = "1\n00:00:01,000 --> 00:00:02,000\nThat is all.\n\n2\n00:00:02,000 --> 00:00:03,000\nThanks for watching!\n";
    check(TranscriptFormat::Cues, text, "That is all. Thanks for watching!");
}

#[test]
fn sbv_is_read() {
    check(
        TranscriptFormat::Cues,
        "0:00:01.000,0:00:03.000\nHello.\n\n0:00:03.000,0:00:04.000\nBye.\n",
        "Hello. Bye.",
    );
}

#[test]
fn whisper_json_is_read() {
    let text = r#"{"text":" Hello. Bye.","segments":[{"id":0,"start":0.0,"text":" Hello."},{"id":1,"text":" Bye."}],"language":"en"}"#;
    check(TranscriptFormat::Json, text, "Hello. Bye.");
    let text = r#"{"transcription":[{"timestamps":{"from":"00:00:00,000"},"text":" Hello."},{"text":" Bye."}]}"#;
    check(TranscriptFormat::Json, text, "Hello. Bye.");
    check(TranscriptFormat::Json, r#"{"segments":[],"text":"Hello."}"#, "Hello.");
    let text = r#"{"segments":[{"text":"Hi.","speaker":"SPEAKER_00"},{"text":"Yes?","speaker":"SPEAKER_01"},{"text":"Go.","speaker":"SPEAKER_01"}]}"#;
    check(TranscriptFormat::Json, text, "SPEAKER_00: Hi.\n\nSPEAKER_01: Yes? Go.");
}

#[test]
fn json_of_other_recognisers_is_read() {
    let deepgram = r#"{"metadata":{},"results":{"channels":[{"alternatives":[{"transcript":"Hello there.","words":[{"word":"hello"}]}]}]}}"#;
    check(TranscriptFormat::Json, deepgram, "Hello there.");
    let spoken = r#"{"results":{"channels":[{"alternatives":[{"transcript":"x"}]}],"utterances":[{"speaker":0,"transcript":"Hello."},{"speaker":1,"transcript":"Hi."}]}}"#;
    check(TranscriptFormat::Json, spoken, "Speaker 0: Hello.\n\nSpeaker 1: Hi.");
    let assembly = r#"{"text":"Hello. Hi.","utterances":[{"speaker":"A","text":"Hello."},{"speaker":"B","text":"Hi."}]}"#;
    check(TranscriptFormat::Json, assembly, "Speaker A: Hello.\n\nSpeaker B: Hi.");
    let amazon = r#"{"jobName":"x","results":{"transcripts":[{"transcript":"Hello there."}],"items":[{"alternatives":[{"content":"Hello"}]}]}}"#;
    check(TranscriptFormat::Json, amazon, "Hello there.");
    let google = r#"{"results":[{"alternatives":[{"transcript":"Hello."},{"transcript":"Yellow."}]},{"alternatives":[{"transcript":"Bye."}]}]}"#;
    check(TranscriptFormat::Json, google, "Hello. Bye.");
    let azure = r#"{"recognizedPhrases":[{"nBest":[{"display":"Hello."},{"display":"Yellow."}]}]}"#;
    check(TranscriptFormat::Json, azure, "Hello.");
    let rev = r#"{"monologues":[{"speaker":0,"elements":[{"type":"text","value":"Hello"},{"type":"punct","value":" "},{"type":"text","value":"there"},{"type":"punct","value":"."}]}]}"#;
    check(TranscriptFormat::Json, rev, "Speaker 0: Hello there.");
    let lines = "{\"text\":\"Hello.\"}\n{\"text\":\"Bye.\"}\n";
    check(TranscriptFormat::Json, lines, "Hello. Bye.");
    check(
        TranscriptFormat::Json,
        r#"[{"text":"Hello.","start":0.0,"duration":1.0},{"text":"Bye.","start":1.0}]"#,
        "Hello. Bye.",
    );
}

#[test]
fn json_that_is_no_transcript_is_text() {
    let text = r#"{"name": "um", "version": 1}"#;
    assert_eq!(clean(text).unwrap().counts.format, TranscriptFormat::Plain);
}

#[test]
fn meetings_keep_their_speakers() {
    let otter = "Priya Nair  0:00  \nShall we start?\n\nTom O'Brien  0:04  \nYes, um, go ahead.\n\nTom O'Brien  0:09\nI have the numbers.\n";
    check(
        TranscriptFormat::TimedLines,
        otter,
        "Priya Nair: Shall we start?\n\nTom O'Brien: Yes, go ahead. I have the numbers.",
    );
    let zoom = "[Priya Nair] 10:02:33\nShall we start?\n\n[Tom O'Brien] 10:02:40\nYes.\n";
    check(TranscriptFormat::TimedLines, zoom, "Priya Nair: Shall we start?\n\nTom O'Brien: Yes.");
    let plain = "Speaker 1: Shall we start?\nSpeaker 2: Yes.\nSpeaker 2: Go ahead.\n";
    check(
        TranscriptFormat::Plain,
        plain,
        "Speaker 1: Shall we start?\n\nSpeaker 2: Yes. Go ahead.",
    );
}

#[test]
fn code_stays_as_it_is() {
    let text = "Call it so:\n\n```\nfn um(i: u8) {\n    a >> b\n}\n```\n\nThe name `um` is `i` here, and um, that is all.";
    let expected = "Call it so:\n\n```\nfn um(i: u8) {\n    a >> b\n}\n```\n\nThe name `um` is `i` here, and that is all.";
    assert_eq!(cleaned(text), expected);
}

#[test]
fn wrapped_lines_are_joined() {
    check(
        TranscriptFormat::Plain,
        "We went to the\nstore. Then\nwe left.\nThe end.",
        "We went to the store. Then we left.\nThe end.",
    );
}
