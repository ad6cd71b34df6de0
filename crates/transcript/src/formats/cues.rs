//! WebVTT, SRT and SBV: captions under the times when they are shown.
//!
//! Read line by line and leniently: files of the wild lack blank lines, numbers and headers. Captions
//! stay in the order of the file, whatever their times say.

use super::{captions::Captions, markup, speaker, timestamp::is_timing};

/// The most lines before the first time.
const MAX_LINES_BEFORE: usize = 200;
/// The most speakers where names stand above what they say.
const MAX_VOICES: usize = 100;

#[derive(PartialEq, Eq)]
enum CueSection {
    /// In the header of the file.
    Header,
    /// After a blank line.
    Between,
    /// In the text of a caption.
    Text,
    /// In a comment or a style sheet.
    Aside,
}

/// The captions of a file, if it has any.
pub(super) fn read(text: &str) -> Option<Captions> {
    let is_webvtt = is_webvtt(text);
    if !is_webvtt && !text.lines().take(MAX_LINES_BEFORE).any(|line| is_timing(line.trim())) {
        return None;
    }
    let mut lines = Captions::with_room(text.len() / 2);
    let mut at = if is_webvtt { CueSection::Header } else { CueSection::Between };
    let mut rest = text.split('\n').map(str::trim).peekable();
    while let Some(line) = rest.next() {
        if line.is_empty() {
            // A comment before the first blank line of a header belongs to the header.
            at = CueSection::Between;
        } else if is_timing(line) {
            lines.begin_cue();
            at = CueSection::Text;
        } else {
            let names_next = rest.peek().is_some_and(|next| is_timing(next));
            match at {
                CueSection::Header | CueSection::Aside => {}
                CueSection::Between if is_webvtt && is_aside(line) => at = CueSection::Aside,
                // The name of a caption. Where blank lines are missing only a number is one.
                CueSection::Between if names_next => {}
                CueSection::Text
                    if names_next && line.bytes().all(|byte| byte.is_ascii_digit()) => {}
                CueSection::Between | CueSection::Text => {
                    markup::push(&mut lines, line);
                    at = CueSection::Text;
                }
            }
        }
    }
    if !is_webvtt {
        name_voices(&mut lines);
    }
    Some(lines)
}

/// True if a file says that it is one, and has times or nothing at all to say.
fn is_webvtt(text: &str) -> bool {
    let mut lines = text.trim_start().lines().map(str::trim);
    let Some(rest) = lines.next().and_then(|first| first.strip_prefix("WEBVTT")) else {
        return false;
    };
    // A sentence may begin with the name of the format.
    rest.is_empty()
        || (rest.starts_with([' ', '\t'])
            && lines.take(MAX_LINES_BEFORE).any(|line| line.is_empty() || is_timing(line)))
}

/// Teams once wrote the name above what is said, in every caption.
fn name_voices(lines: &mut Captions) {
    let (mut cues, mut with_name) = (0_usize, 0_usize);
    let mut voices: Vec<&str> = Vec::new();
    for cue in lines.all.chunk_by(|one, other| one.cue == other.cue) {
        cues += 1;
        let first = lines.text(&cue[0]);
        // Captions in capitals only are no names.
        let is_name = speaker::is_name(first) && first.chars().any(char::is_lowercase);
        if cue.len() > 1 && is_name {
            with_name += 1;
            if voices.len() <= MAX_VOICES && !voices.contains(&first) {
                voices.push(first);
            }
        }
    }
    // Captions that only look like names do not come again and again.
    if cues < 2
        || with_name < cues
        || voices.len() > MAX_VOICES
        || (cues > 3 && voices.len() * 2 > cues)
    {
        return;
    }
    let all = std::mem::take(&mut lines.all);
    for cue in all.chunk_by(|one, other| one.cue == other.cue) {
        let name = lines.text(&cue[0]).to_owned();
        let voice = lines.voice_of(&name);
        lines.all.extend_from_slice(&cue[1..]);
        let at = lines.all.len() - (cue.len() - 1);
        lines.all[at].voice = Some(voice);
    }
}

fn is_aside(line: &str) -> bool {
    matches!(line, "NOTE" | "STYLE" | "REGION") || line.starts_with("NOTE ")
}
