//! `transcript.clean` by rules, in megabytes a second on one core, against a floor: a pass that splits a
//! text into words and copies them.
//!
//! Texts are made up, of the same sentences in each format. The last column says whether the work is
//! linear: 5 MB take five times as long as 1 MB.

use std::{fmt::Write, hint::black_box, time::Instant};

use anyhow::{Context, ensure};
use serde_json::json;
use transcript::TranscriptFormat;

const MEGABYTE: usize = 1_000_000;
const SIZES: [usize; 2] = [MEGABYTE, 5 * MEGABYTE];
const ROUNDS: usize = 7;

/// As people speak: fluent for the most part.
const SENTENCES: &[&str] = &[
    "So the first thing that we want to talk about today is the budget for next year.",
    "Um, I think we should, uh, wait until the report comes out, you know, on Friday.",
    "The the numbers look good, but we have to check them again before the meeting.",
    "Can everybody see my screen?",
    "We sold 1,250 units at $19.99 in March, and that is 12% more than last year.",
    "I I wanted to ask about the new office in Hamburg, because nobody told us anything.",
    "It was very, very cold, and the heating in the warehouse had had a problem since Monday.",
    "Please send the file to ada.l@example.com and put it on https://example.com/reports as well.",
    "Then Dr. Okafor said that the results would be there at 14:30, and they were.",
    "[laughter] That is what I was going to say.",
];

/// A format: what it is called here, what it is read as, and a text in it of so many bytes.
type Format = (&'static str, TranscriptFormat, fn(usize) -> String);

const FORMATS: [Format; 4] = [
    ("WebVTT", TranscriptFormat::Cues, webvtt),
    ("SRT", TranscriptFormat::Cues, srt),
    ("plain text", TranscriptFormat::Plain, plain),
    ("JSON", TranscriptFormat::Json, json),
];

pub fn report() -> anyhow::Result<()> {
    println!("\ntranscript.clean   MB/s of 1 MB   of 5 MB  5 MB × floor  time 5 MB / 1 MB");
    for (name, format, make) in FORMATS {
        let texts = SIZES.map(make);
        let mut seconds: [Vec<f64>; 3] = Default::default();
        for _ in 0..ROUNDS {
            for (size, text) in texts.iter().enumerate() {
                let mut cleaned = None;
                let took = measure(|| cleaned = transcript::clean(black_box(text)).ok());
                let cleaned = cleaned.context("the text was refused")?;
                ensure!(cleaned.counts.format == format, "read as {:?}", cleaned.counts);
                seconds[size].push(took);
            }
            seconds[2].push(measure(|| drop(black_box(floor(black_box(&texts[1]))))));
        }
        let [small, large, floor] = seconds.map(median);
        println!(
            "{name:<17}  {:>13.1}  {:>8.1}  {:>12.3}  {:>16.2}",
            rate(&texts[0], small),
            rate(&texts[1], large),
            floor / large,
            large / small
        );
    }
    Ok(())
}

/// Megabytes a second.
#[allow(clippy::cast_precision_loss)] // A few megabytes.
fn rate(text: &str, seconds: f64) -> f64 {
    text.len() as f64 / MEGABYTE as f64 / seconds
}

fn webvtt(bytes: usize) -> String {
    captions("WEBVTT\n\n", '.', bytes)
}

fn srt(bytes: usize) -> String {
    captions("", ',', bytes)
}

fn captions(head: &str, separator: char, bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 200);
    out.push_str(head);
    for (index, sentence) in sentences().enumerate() {
        if out.len() >= bytes {
            break;
        }
        let (hour, minute, second) = (index / 3600, index / 60 % 60, index % 60);
        let time = format!("{hour:02}:{minute:02}:{second:02}{separator}");
        // A caption has two lines of some forty characters.
        let middle = sentence[..sentence.len() / 2].rfind(' ').unwrap_or(0);
        let (first, rest) = sentence.split_at(middle);
        let _ = write!(out, "{}\n{time}000 --> {time}900\n{first}\n{}\n\n", index + 1, rest.trim());
    }
    out
}

fn plain(bytes: usize) -> String {
    let mut out = String::with_capacity(bytes + 200);
    for (index, sentence) in sentences().enumerate() {
        if out.len() >= bytes {
            break;
        }
        out.push_str(sentence);
        out.push_str(if index % 8 == 7 { "\n\n" } else { " " });
    }
    out
}

fn json(bytes: usize) -> String {
    let mut size = 0;
    let mut segments = Vec::new();
    for (index, sentence) in sentences().enumerate() {
        let segment = json!({ "id": index, "start": index, "end": index + 1, "text": sentence });
        size += segment.to_string().len() + 1;
        if size >= bytes {
            break;
        }
        segments.push(segment);
    }
    json!({ "language": "en", "segments": segments }).to_string()
}

/// The sentences in an order that does not come again soon: equal captions in a row would be taken for a
/// recogniser that hangs.
fn sentences() -> impl Iterator<Item = &'static str> {
    let mut state = 1_usize;
    let mut last = SENTENCES.len();
    std::iter::repeat_with(move || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let mut next = (state >> 33) % SENTENCES.len();
        if next == last {
            next = (next + 1) % SENTENCES.len();
        }
        last = next;
        SENTENCES[next]
    })
}

/// The least that can be done with the words of a text.
fn floor(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        out.push_str(word);
        out.push(' ');
    }
    out
}

fn measure(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
