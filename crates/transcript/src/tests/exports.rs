//! Exports of meeting programs, players and editors of subtitles.

use super::{super::TranscriptFormat, check};

#[test]
fn scripts_of_subtitles_are_read() {
    let text = "[Script Info]\nTitle: um\nScriptType: v4.00+\n\n[V4+ Styles]\n\
        Format: Name, Fontname, Fontsize\nStyle: Default,Arial,20\n\n[Events]\n\
        Format: Layer, Start, End, TextStyle, Name, MarginL, MarginR, MarginV, Effect, Text\n\
        Comment: 0,0:00:00.00,0:00:01.00,Default,,0,0,0,,not shown\n\
        Dialogue: 0,0:00:01.00,0:00:03.00,Default,,0,0,0,,{\\an8}Well, um, the {\\i1}old{\\i0} mill,\\Nas we\\hcall it.\n\
        Dialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,{\\p1}m 0 0 l 100 0 100 100{\\p0}\n\
        Dialogue: 0,0:00:04.00,0:00:06.00,Default,,0,0,0,,{a note}It is, of course, closed.\n";
    check(
        TranscriptFormat::Cues,
        text,
        "Well, the old mill, as we call it. It is, of course, closed.",
    );
}

#[test]
fn scripts_say_who_speaks() {
    let text = "[Script Info]\n\n[Events]\nFormat: Marked, Start, End, TextStyle, Name, MarginL, MarginR, MarginV, Effect, Text\n\
        Dialogue: Marked=0,0:00:01.00,0:00:02.00,Default,Mira,0000,0000,0000,,Who is there?\n\
        Dialogue: Marked=0,0:00:02.00,0:00:03.00,Default,Old Man,0000,0000,0000,,Only me.\n\
        Dialogue: Marked=0,0:00:03.00,0:00:04.00,Default,Old Man,0000,0000,0000,,And the dog.\n";
    check(TranscriptFormat::Cues, text, "Mira: Who is there?\n\nOld Man: Only me. And the dog.");
    let bare = "Dialogue: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,Who is there?\nDialogue: 0,0:00:02.00,0:00:03.00,Default,,0,0,0,,Me.\n";
    check(TranscriptFormat::Cues, bare, "Who is there? Me.");
}

#[test]
fn a_play_is_no_script_of_subtitles() {
    let text = "Dialogue: a scene for two\n\n[Events] of the night are told by both.";
    check(TranscriptFormat::Plain, text, text);
}

#[test]
fn names_above_what_is_said_are_read() {
    let text = "0:0:0.0 --> 0:0:2.340\nDana Levi\nGood morning, um, everyone.\n\n\
        0:0:2.340 --> 0:0:4.100\nKofi Mensah\nMorning! Did the the build pass?\n\n\
        0:0:4.100 --> 0:0:6.0\nDana Levi\nNot yet.\n\n0:0:6.0 --> 0:0:7.5\nDana Levi\nIt is slow today.\n";
    check(
        TranscriptFormat::Cues,
        text,
        "Dana Levi: Good morning, everyone.\n\nKofi Mensah: Morning! Did the build pass?\n\n\
         Dana Levi: Not yet. It is slow today.",
    );
}

#[test]
fn short_captions_are_no_names() {
    let text = "1\n00:00:01,000 --> 00:00:02,000\nHello\nyou there.\n\n2\n00:00:02,000 --> 00:00:03,000\nBob\nis late.\n\n\
        3\n00:00:03,000 --> 00:00:04,000\nWhere\nis he?\n\n4\n00:00:04,000 --> 00:00:05,000\nParis\nin spring.\n";
    check(
        TranscriptFormat::Cues,
        text,
        "Hello you there. Bob is late. Where is he? Paris in spring.",
    );
}

#[test]
fn chats_of_zoom_are_read() {
    let text = "10:02:33 From Priya Nair to Everyone:\n\tcan you hear me?\n\
        10:02:40 From Tom O'Brien to Everyone:\n\tYes, um, we can.\n10:02:44 From Tom O'Brien to Priya Nair(Direct Message):\n\tAll of us.\n";
    check(
        TranscriptFormat::TimedLines,
        text,
        "Priya Nair: can you hear me?\n\nTom O'Brien: Yes, we can. All of us.",
    );
    let old = "10:02:33\t From Priya Nair : Can you hear me?\n10:02:40\t From Tom O'Brien : Yes.\n";
    check(TranscriptFormat::TimedLines, old, "Priya Nair: Can you hear me?\n\nTom O'Brien: Yes.");
}

#[test]
fn closed_captions_of_zoom_are_read() {
    let text = "10:02:33 Shall we start?\n10:02:36 Yes, go ahead.\n10:02:41 I have the numbers.\n";
    check(TranscriptFormat::TimedLines, text, "Shall we start? Yes, go ahead. I have the numbers.");
}

#[test]
fn exports_of_otter_are_read() {
    let text = "Speaker 1  0:00  \nShall we start?\n\nUnknown Speaker  0:04  \nYes, um, go ahead.\n\n\
        Speaker 1  1:02:09  \nThat was long.\n\nTranscribed by https://otter.ai\n";
    check(
        TranscriptFormat::TimedLines,
        text,
        "Speaker 1: Shall we start?\n\nUnknown Speaker: Yes, go ahead.\n\nSpeaker 1: That was long.",
    );
}

#[test]
fn xml_of_players_is_read() {
    let text = "<?xml version=\"1.0\"?>\n<tt:tt xmlns:tt=\"http://www.w3.org/2006/10/ttaf1\">\n<tt:body><tt:div>\n\
        <tt:p begin=\"1s\"><tt:span tts:color=\"red\">The river</tt:span><tt:br/>rose,\n &amp; fell.</tt:p>\n\
        <tt:p begin=\"2s\">Um, twice.</tt:p>\n</tt:div></tt:body></tt:tt>";
    check(TranscriptFormat::Xml, text, "The river rose, & fell. Twice.");
    let youtube = "<transcript><text start=\"0\" dur=\"1\">It&#39;s</text><text start=\"1\">late.</text></transcript>";
    check(TranscriptFormat::Xml, youtube, "It's late.");
}

#[test]
fn json3_of_youtube_is_read() {
    let text = r#"{"wireMagic":"pb3","pens":[{}],"events":[{"tStartMs":0,"dDurationMs":5000,"id":1,"wpWinPosId":1},
        {"tStartMs":80,"segs":[{"utf8":"so","acAsrConf":0},{"utf8":" um","tOffsetMs":160},{"utf8":" the","tOffsetMs":300}]},
        {"tStartMs":1990,"aAppend":1,"segs":[{"utf8":"\n"}]},{"tStartMs":2000,"segs":[{"utf8":"lamp"},{"utf8":" broke"}]}]}"#;
    check(TranscriptFormat::Json, text, "So the lamp broke.");
}

#[test]
fn words_that_say_who_speaks_become_turns() {
    let deepgram = r#"{"results":{"channels":[{"alternatives":[{"transcript":"is it up yes it is","words":[
        {"word":"is","punctuated_word":"Is","speaker":0},{"word":"it","punctuated_word":"it","speaker":0},
        {"word":"up","punctuated_word":"up?","speaker":0},{"word":"yes","punctuated_word":"Yes,","speaker":1},
        {"word":"it","punctuated_word":"it","speaker":1},{"word":"is","punctuated_word":"is.","speaker":1}]}]}]}}"#;
    check(TranscriptFormat::Json, deepgram, "Speaker 0: Is it up?\n\nSpeaker 1: Yes, it is.");
    let google = r#"{"results":[{"alternatives":[{"transcript":"is it up"}]},{"alternatives":[{"words":[
        {"word":"Is","speakerTag":1},{"word":"it","speakerTag":1},{"word":"up?","speakerTag":1},
        {"word":"Yes.","speakerTag":2}]}]}]}"#;
    check(TranscriptFormat::Json, google, "Speaker 1: Is it up?\n\nSpeaker 2: Yes.");
    let aws = r#"{"jobName":"j","results":{"transcripts":[{"transcript":"Is it up? Yes."}],
        "speaker_labels":{"segments":[{"speaker_label":"spk_0","items":[]}]},"items":[
        {"type":"pronunciation","speaker_label":"spk_0","alternatives":[{"content":"Is"}]},
        {"type":"pronunciation","speaker_label":"spk_0","alternatives":[{"content":"it"}]},
        {"type":"pronunciation","speaker_label":"spk_0","alternatives":[{"content":"up"}]},
        {"type":"punctuation","speaker_label":"spk_0","alternatives":[{"content":"?"}]},
        {"type":"pronunciation","speaker_label":"spk_1","alternatives":[{"content":"Yes"}]},
        {"type":"punctuation","speaker_label":"spk_1","alternatives":[{"content":"."}]}]}}"#;
    check(TranscriptFormat::Json, aws, "spk_0: Is it up?\n\nspk_1: Yes.");
}

#[test]
fn what_programs_say_of_themselves_is_nobodys_word() {
    let teams = "Dana Levi started transcription\n\nDana Levi   0:03\nIs it up?\n\nKofi Mensah   0:08\nIt is.\n\n\
        Dana Levi   0:15\nGood.\n\nDana Levi stopped transcription\n";
    check(
        TranscriptFormat::TimedLines,
        teams,
        "Dana Levi: Is it up?\n\nKofi Mensah: It is.\n\nDana Levi: Good.",
    );
    let youtube = "<transcript><text start=\"0\">it&amp;#39;s um the nas &amp;amp; the router.</text></transcript>";
    check(TranscriptFormat::Xml, youtube, "It's the nas & the router.");
}
