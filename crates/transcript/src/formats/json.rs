//! JSON of speech recognisers: Whisper and its kin, YouTube, Deepgram, `AssemblyAI`, AWS, Google, Azure, Rev.
//!
//! The common parts are read, rather than one schema each: lists of segments under a few
//! names, each with a text under a few names and perhaps a speaker.

use serde_json::{Map, Value};

use super::{captions::Captions, json_words};
use crate::unicode;

/// Keys of lists of segments, best first: those that know who speaks come before those that do not.
const LISTS: &[&str] = &[
    "utterances",
    "monologues",
    "segments",
    "transcription",
    "events",
    "recognizedPhrases",
    "chunks",
    "paragraphs",
    "sentences",
    "results",
    "transcripts",
    "channels",
    "alternatives",
    "cues",
    "body",
];
/// Keys of the text of a segment.
const TEXTS: &[&str] = &[
    "text",
    "transcript",
    "display",
    "utf8",
    "value",
    "content",
    "punctuated_word",
    "word",
    "line",
];
/// Keys of the speaker.
const SPEAKERS: &[&str] =
    &["speaker", "speaker_name", "speaker_label", "speakerName", "channel_tag"];
/// Parts of a segment that has no text of its own.
const PARTS: &[&str] = &["segs", "elements", "alternatives", "nBest", "words", "sentences"];
/// Keys of how sure a recogniser is that nobody spoke, as Whisper and its kin have it.
const NO_SPEECH: &[&str] = &["no_speech_prob", "noSpeechProb", "no_speech_probability"];
/// The surety from which on nobody spoke, and the one from which on nobody did unless the words are likely. The second and
/// the likelihood are Whisper's own.
const SURELY_NO_SPEECH: f64 = 0.9;
const PERHAPS_NO_SPEECH: f64 = 0.6;
const LIKELY_WORDS: f64 = -1.0;
/// The depth to which lists are searched for.
const MAX_DEPTH: usize = 6;

/// The segments of a transcript in JSON, or in one JSON document a line.
pub(super) fn read(text: &str) -> Option<Captions> {
    let mut lines = Captions::with_room(text.len() / 2);
    let documents = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    for document in documents {
        let read = |document: &Value| {
            json_words::read(document, &mut lines)
                || whole(document, &mut lines, 0)
                || is_silent(document)
        };
        document.ok().filter(read)?;
    }
    Some(lines)
}

/// True if this is a transcript in which nothing is said: `{"text": "", "segments": []}`.
fn is_silent(document: &Value) -> bool {
    let is_empty = |name: &str| match document.get(name) {
        Some(Value::Array(all)) => all.is_empty(),
        Some(Value::String(text)) => text.trim().is_empty(),
        _ => false,
    };
    ["segments", "events", "utterances", "text", "transcript"].into_iter().any(is_empty)
}

/// Reads a document or a part of one. Says whether it was understood.
fn whole(value: &Value, lines: &mut Captions, depth: usize) -> bool {
    match value {
        _ if depth > MAX_DEPTH => false,
        Value::Array(all) => segments(all, lines, depth),
        Value::Object(object) => {
            for name in LISTS {
                match object.get(*name) {
                    Some(Value::Array(all)) if segments(all, lines, depth) => return true,
                    Some(inner @ Value::Object(_)) if whole(inner, lines, depth + 1) => {
                        return true;
                    }
                    _ => {}
                }
            }
            // Any document may have a `value`; only a transcript is all `text`.
            let is_text =
                depth > 0 || object.contains_key("text") || object.contains_key("transcript");
            is_text && segment(object, lines)
        }
        _ => false,
    }
}

fn segments(all: &[Value], lines: &mut Captions, depth: usize) -> bool {
    let mut any = false;
    for value in all {
        let Value::Object(object) = value else { return any };
        any |= segment(object, lines) || whole_below(object, lines, depth);
    }
    any
}

/// A channel or a result that holds lists itself. Of several guesses the first is the best.
fn whole_below(object: &Map<String, Value>, lines: &mut Captions, depth: usize) -> bool {
    let lists = LISTS.iter().filter_map(|name| object.get(*name)).find(|list| list.is_array());
    lists.is_some_and(|list| match list {
        Value::Array(all) => segments(&all[..all.len().min(1)], lines, depth + 1),
        _ => false,
    })
}

/// Adds a segment, if there is a text in it.
fn segment(object: &Map<String, Value>, lines: &mut Captions) -> bool {
    let mut text = String::new();
    if !said(object, &mut text, 0) {
        return false;
    }
    lines.begin_cue();
    if is_no_speech(object) {
        lines.mark_unspoken();
    }
    match SPEAKERS.iter().find_map(|name| object.get(*name)) {
        // The label is made of the key and the number: both are in the document.
        Some(Value::Number(number)) => lines.set_voice(&format!("Speaker {number}")),
        Some(Value::String(name)) if name.chars().count() == 1 => {
            lines.set_voice(&format!("Speaker {name}"));
        }
        Some(Value::String(name)) => lines.set_voice(name),
        _ => {}
    }
    lines.push(&unicode::normal(&text));
    true
}

/// True if the recogniser itself says of a segment that nobody spoke.
fn is_no_speech(segment: &Map<String, Value>) -> bool {
    let number = |key: &str| segment.get(key).and_then(Value::as_f64);
    let surety = NO_SPEECH.iter().find_map(|key| number(key)).unwrap_or(0.0);
    let is_likely = ["avg_logprob", "avgLogprob"]
        .into_iter()
        .find_map(number)
        .is_some_and(|likely| likely > LIKELY_WORDS);
    surety >= SURELY_NO_SPEECH
        || (surety > PERHAPS_NO_SPEECH && !is_likely)
        || segment.get("is_speech") == Some(&Value::Bool(false))
}

/// Collects the text of a segment, or of its parts. Says whether it has one, empty or not.
fn said(object: &Map<String, Value>, out: &mut String, depth: usize) -> bool {
    if let Some(text) = TEXTS.iter().find_map(|name| object.get(*name)).and_then(Value::as_str) {
        out.push_str(text);
        return true;
    }
    if depth > MAX_DEPTH {
        return false;
    }
    let Some(name) = PARTS.iter().find(|name| object.get(**name).is_some_and(Value::is_array))
    else {
        return false;
    };
    let parts = object.get(*name).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    // Guesses are ordered, the best first; anything else is to be read one after the other.
    let parts = if matches!(*name, "alternatives" | "nBest") {
        &parts[..parts.len().min(1)]
    } else {
        parts
    };
    let mut any = false;
    for part in parts.iter().filter_map(Value::as_object) {
        if *name == "words" && !out.is_empty() && !out.ends_with(' ') {
            out.push(' ');
        }
        any |= said(part, out, depth + 1);
    }
    any
}
