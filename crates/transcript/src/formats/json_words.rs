//! Words of a recogniser that each say who speaks, as Deepgram, Google and AWS have them.

use serde_json::{Map, Value};

use super::captions::Captions;
use crate::unicode;

/// Lists that know who speaks in whole sentences, and are better.
const BETTER: &[&str] = &["utterances", "monologues", "recognizedPhrases"];
/// Keys of lists of words.
const LISTS: &[&str] = &["words", "items"];
/// Keys of the text of a word, best first.
const TEXTS: &[&str] = &["punctuated_word", "word", "content"];
/// Keys of the speaker.
const SPEAKERS: &[&str] = &["speaker", "speakerTag", "speaker_label", "speakerLabel"];
/// The depth to which they are searched for.
const MAX_DEPTH: usize = 8;
/// Of ten words, so many must say who speaks.
const SPOKEN_OF_TEN: usize = 8;

/// Reads the words of a document, if they say who speaks and nothing better is there.
pub(super) fn read(document: &Value, lines: &mut Captions) -> bool {
    let has_segments = document["segments"].as_array().is_some_and(|all| !all.is_empty());
    if has_segments || has_better(document, 0) {
        return false;
    }
    let Some(words) = find(document, 0) else { return false };
    let mut voice = None;
    let mut text = String::new();
    for word in words.iter().filter_map(Value::as_object) {
        let speaker = speaker(word);
        if speaker.is_some() && speaker != voice {
            flush(lines, voice.as_deref(), &mut text);
            voice = speaker;
        }
        let Some(said) = said(word) else { continue };
        let is_mark = word.get("type").and_then(Value::as_str) == Some("punctuation");
        if !text.is_empty() && !is_mark {
            text.push(' ');
        }
        text.push_str(said);
    }
    flush(lines, voice.as_deref(), &mut text);
    true
}

fn flush(lines: &mut Captions, voice: Option<&str>, text: &mut String) {
    if text.is_empty() {
        return;
    }
    lines.begin_cue();
    if let Some(voice) = voice {
        lines.set_voice(voice);
    }
    lines.push(&unicode::normal(text));
    text.clear();
}

fn has_better(value: &Value, depth: usize) -> bool {
    let Value::Object(object) = value else { return false };
    let here = BETTER.iter().filter_map(|name| object.get(*name)?.as_array());
    here.into_iter().any(|all| !all.is_empty())
        || depth < 2 && object.values().any(|inner| has_better(inner, depth + 1))
}

/// The last list of words that say who speaks: Google's last result has all of them.
fn find(value: &Value, depth: usize) -> Option<&Vec<Value>> {
    if depth > MAX_DEPTH {
        return None;
    }
    match value {
        Value::Object(object) => {
            let own = LISTS.iter().filter_map(|name| object.get(*name)?.as_array());
            let own = own.into_iter().find(|all| is_diarised(all));
            own.or_else(|| object.values().rev().find_map(|inner| find(inner, depth + 1)))
        }
        Value::Array(all) => all.iter().rev().find_map(|inner| find(inner, depth + 1)),
        _ => None,
    }
}

fn is_diarised(all: &[Value]) -> bool {
    let words = all.iter().filter_map(Value::as_object);
    let spoken = words.filter(|word| said(word).is_some() && speaker(word).is_some()).count();
    spoken > 0 && spoken * 10 >= all.len() * SPOKEN_OF_TEN
}

fn speaker(word: &Map<String, Value>) -> Option<String> {
    match SPEAKERS.iter().find_map(|name| word.get(*name))? {
        // The label is made of the key and the number: both are in the document.
        Value::Number(number) => Some(format!("Speaker {number}")),
        Value::String(name) if !name.is_empty() => Some(name.clone()),
        _ => None,
    }
}

/// The text of a word: AWS has it in the first of its guesses.
fn said(word: &Map<String, Value>) -> Option<&str> {
    let own = TEXTS.iter().find_map(|name| word.get(*name)?.as_str());
    own.or_else(|| {
        let best = word.get("alternatives")?.as_array()?.first()?.as_object()?;
        TEXTS.iter().find_map(|name| best.get(*name)?.as_str())
    })
}
