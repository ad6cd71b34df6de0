//! Times of a recording go; times that a text is about stay.

use super::{super::TranscriptFormat, check, clean};

/// These stay as they are, apart from a last full stop.
fn keep(texts: &[&str]) {
    for text in texts {
        let found = clean(text).unwrap();
        assert_eq!(found.text.trim_end_matches('.'), text.trim_end_matches('.'));
        assert_eq!(found.counts.format, TranscriptFormat::Plain, "of {text:?}");
    }
}

#[test]
fn times_of_plans_stay() {
    keep(&[
        "10:00 Opening\n10:30 Coffee\n11:00 Talks\n\nBring a pen.",
        "9:30 Standup\n9:45 Review\n10:00 Planning",
        "9:32 Train to Ulm\n9:47 Bus\n10:03 Boat",
        "9:30\nStandup\n10:00\nReview\n11:00\nLunch",
        "[9:30] Standup\n[9:45] Review\n[10:00] Planning",
        "Lunch 12:30\nMeeting 14:00\nDinner 19:00",
        "Lunch 12:30\nAt the corner.\n\nMeeting 14:00\nRoom four.\n\nDinner 19:00\nAt home.",
        "0:00 is midnight.\nAt 1:00 it was dark.\nAt 2:00 we slept.\n3:00 came.\n4:00 too.",
        "7:00 Swim\n6:00 Run\n0:05 Rest\n8:00 Bike",
        "We met at 9:30.\n10:00 was too late for her.\nSo we left.",
    ]);
}

#[test]
fn times_of_recordings_go() {
    for text in [
        "0:00 Opening.\n0:30 Coffee.\n1:00 Talks.",
        "00:00:12 Opening.\n00:00:30 Coffee.\n00:01:00 Talks.",
        "[00:01] Opening.\n[00:03] Coffee.\n[00:07] Talks.",
        "(0:01) Opening.\n(0:03) Coffee.\n(0:07) Talks.",
        "[00:10:00.000 --> 00:10:04.000]  Opening.\n[00:10:04.000 --> 00:10:09.000]  Coffee. Talks.",
        "0:00\nOpening.\n0:04\nCoffee.\n0:09\nTalks.",
        "12:31\nOpening.\n12:34\nCoffee.\n12:39\nTalks.\n12:41\n12:47\n",
    ] {
        check(TranscriptFormat::TimedLines, text, "Opening. Coffee. Talks.");
    }
}
