//! The lines of captions, and how they become turns.

use std::ops::Range;

use super::speaker;
use crate::turn::Turn;

/// One in this many lines must have a label for labels to be names of speakers.
const LINES_A_LABEL: usize = 20;

#[derive(Debug, Clone)]
pub(super) struct CaptionLine {
    /// Its place in the text of all lines.
    pub place: Range<usize>,
    /// The number of its caption.
    pub cue: usize,
    /// The speaker from here on, as an index into the voices. Only where it was said.
    pub voice: Option<usize>,
    /// True if somebody else begins to speak, although nobody says who.
    pub opens: bool,
}

/// The lines of captions. Their text is kept in one piece: there may be a hundred thousand.
#[derive(Debug, Default)]
pub(super) struct Captions {
    text: String,
    pub all: Vec<CaptionLine>,
    voices: Vec<String>,
    cue: usize,
    open: Option<usize>,
    voice: Option<usize>,
    /// The captions of which the recogniser says itself that nobody spoke, in order.
    pub unspoken: Vec<usize>,
}

impl Captions {
    /// For lines of so many bytes together.
    pub(super) fn with_room(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ..Self::default() }
    }

    pub(super) fn text(&self, line: &CaptionLine) -> &str {
        &self.text[line.place.clone()]
    }

    /// The number of captions with text.
    pub(super) fn cues(&self) -> usize {
        self.all.chunk_by(|one, other| one.cue == other.cue).count()
    }

    /// Begins the next caption. Its speaker is not known yet.
    pub(super) fn begin_cue(&mut self) {
        self.cue += 1;
        self.voice = None;
    }

    /// Says that nobody spoke where the recogniser heard this caption.
    pub(super) fn mark_unspoken(&mut self) {
        self.unspoken.push(self.cue);
    }

    /// Says who speaks from here on.
    pub(super) fn set_voice(&mut self, name: &str) {
        let name = name.trim();
        if name.is_empty() {
            self.voice = None;
            return;
        }
        self.voice = Some(self.voice_of(name));
    }

    /// The index of a voice, which is new or one of the last.
    pub(super) fn voice_of(&mut self, name: &str) -> usize {
        // The last one is nearly always it. A second entry for the same name does no harm.
        let last = [self.voices.len().checked_sub(1), self.voices.len().checked_sub(2)];
        let known = last.into_iter().flatten().find(|index| self.voices[*index] == name);
        known.unwrap_or_else(|| {
            self.voices.push(name.to_owned());
            self.voices.len() - 1
        })
    }

    /// Begins a line; what is written until [`Captions::end_line`] is its text.
    pub(super) fn begin_line(&mut self) -> &mut String {
        self.open = Some(self.text.len());
        &mut self.text
    }

    /// Ends the line that was begun. One without text is none.
    pub(super) fn end_line(&mut self) {
        let Some(start) = self.open.take() else { return };
        let written = &self.text[start..];
        let end = start + written.trim_end().len();
        let mut place = (end - written.trim().len()).max(start)..end;
        let mut opens = false;
        for mark in [">>>", ">>"] {
            if let Some(rest) = self.text[place.clone()].strip_prefix(mark) {
                place.start = end - rest.trim_start().len();
                opens = true;
            }
        }
        if place.is_empty() {
            self.text.truncate(start);
            return;
        }
        self.all.push(CaptionLine { place, cue: self.cue, voice: self.voice.take(), opens });
    }

    /// Adds a text without markup, line by line.
    pub(super) fn push(&mut self, text: &str) {
        for line in text.lines() {
            self.begin_line().push_str(line);
            self.end_line();
        }
    }

    /// Marks the line at this index, if it is there, as the first of another speaker.
    pub(super) fn mark_opening(&mut self, index: usize) {
        if let Some(line) = self.all.get_mut(index) {
            line.opens = true;
        }
    }

    /// The turns. Labels (`Ada: …`) are names where enough lines have one.
    pub(super) fn turns(self) -> Vec<Turn> {
        let label = |line: &CaptionLine| speaker::label(self.text(line));
        let labels = self.all.iter().filter(|line| label(line).is_some()).count();
        let has_labels = labels >= 2 && labels * LINES_A_LABEL >= self.all.len();
        let mut turns: Vec<Turn> = Vec::new();
        for line in &self.all {
            let mut text = self.text(line);
            let mut speaker = line.voice.map(|voice| self.voices[voice].as_str());
            if has_labels
                && speaker.is_none()
                && let Some((name, said)) = speaker::label(text)
            {
                (speaker, text) = (Some(name), said);
            }
            // A mid-line mark is another speaker, too.
            let mut opens = line.opens;
            loop {
                let (part, rest) = until_mark(text);
                let goes_on = !opens
                    && turns.last().is_some_and(|turn| {
                        speaker.is_none() || turn.speaker.as_deref() == speaker
                    });
                if !goes_on {
                    turns.push(Turn::of(speaker.map(str::to_owned)));
                }
                if let Some(turn) = turns.last_mut() {
                    turn.say(part.trim());
                }
                let Some(rest) = rest else { break };
                (text, speaker, opens) = (rest, None, true);
            }
        }
        turns
    }
}

/// The text before a mark of another speaker, and the text behind it. Nearly no line has one.
fn until_mark(text: &str) -> (&str, Option<&str>) {
    let split = memchr::memchr(b'>', text.as_bytes()).and_then(|_| text.split_once(">> "));
    split.map_or((text, None), |(before, after)| (before, Some(after)))
}
