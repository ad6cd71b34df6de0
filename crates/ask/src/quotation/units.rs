//! The units of a text: lines, sentences and list items, with what stands above them.
//!
//! Where it is not clear whether a unit ends, it goes on: a quote that is longer than it need be says nothing
//! wrong, one that is half a sentence may. No language is known here but for a few abbreviations.

use std::ops::Range;

/// A list mark with a number has at most so many digits.
const MAX_MARK_DIGITS: usize = 3;
/// The most marks before one text, as in `> - [x] text`.
const MAX_MARKS: usize = 8;
/// A line of at least so many characters may have been wrapped.
const MIN_WRAPPED_CHARACTERS: usize = 50;
/// The greatest length of the name in a line like `Name: value`, in bytes.
const MAX_LABEL_BYTES: usize = 40;
/// The columns that a tab stands for.
const TAB_COLUMNS: usize = 4;
/// The level of a heading that is only bold, below all others.
const BOLD_LEVEL: usize = 7;

/// Abbreviations that do not end a sentence, in small letters.
const ABBREVIATIONS: &[&str] = &[
    "abs", "al", "approx", "art", "bzw", "ca", "co", "cf", "corp", "dept", "dr", "ed", "eq", "etc",
    "evtl", "fig", "ggf", "hr", "inc", "incl", "inkl", "jr", "ltd", "max", "min", "mr", "mrs",
    "ms", "mt", "mme", "no", "nr", "op", "pp", "prof", "resp", "sec", "sr", "sra", "st", "tel",
    "usw", "vgl", "vol", "vs",
];

/// A line, a sentence, a list item, or a whole value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// Its bytes, with its final mark and without list marks.
    pub range: Range<usize>,
    /// The heading, lead-in or list item right above it.
    pub parent: Option<usize>,
}

/// The marks before the text of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineMark {
    None,
    Item,
    Heading(usize),
}

/// A line that is not blank, or several that were wrapped.
#[derive(Debug, Clone)]
struct SourceLine {
    /// Its text, without marks.
    range: Range<usize>,
    mark: LineMark,
    /// The columns before it.
    indent: usize,
    /// True if a blank line stands before it.
    is_after_blank: bool,
}

/// A line that introduces what follows.
#[derive(Debug)]
struct LeadIn {
    unit: usize,
    indent: usize,
    is_item: bool,
    /// The indent of the first line below it, and whether that is an item.
    below: Option<(usize, bool)>,
}

/// The units of a text, in order.
pub(super) fn read(text: &str) -> Vec<Unit> {
    let mut reader = UnitReader { text, ..UnitReader::default() };
    for line in wrapped(text, &lines(text)) {
        reader.line(&line);
    }
    if reader.units.is_empty() && !text.trim().is_empty() {
        let start = text.len() - text.trim_start().len();
        reader.units.push(Unit { range: start..start + text.trim().len(), parent: None });
    }
    reader.units
}

/// A line without its list marks.
pub(super) fn without_mark(line: &str) -> &str {
    line[marks(line).1..].trim()
}

#[derive(Default)]
struct UnitReader<'a> {
    text: &'a str,
    units: Vec<Unit>,
    /// The headings above, with their levels.
    headings: Vec<(usize, usize)>,
    lead_ins: Vec<LeadIn>,
    /// The list items that are open, with their indents.
    items: Vec<(usize, usize)>,
    /// The last unit of the line before, where that was neither an item nor a heading.
    plain: Option<usize>,
    /// The head of the table that is read.
    table: Option<usize>,
}

impl UnitReader<'_> {
    fn line(&mut self, line: &SourceLine) {
        let written = &self.text[line.range.clone()];
        if let Some(level) = underline(written, line) {
            self.underlined(written, level);
            return;
        }
        if !written.contains('|') {
            self.table = None;
        }
        match line.mark {
            LineMark::Heading(level) => self.open_heading(level),
            LineMark::Item => self.open_item(line),
            LineMark::None => self.open_plain(line),
        }
        let is_open = written.trim_end().ends_with([':', '：']);
        if is_open {
            let is_item = line.mark == LineMark::Item;
            let is_sibling = |one: &LeadIn| one.indent >= line.indent && one.is_item == is_item;
            while self.lead_ins.last().is_some_and(is_sibling) {
                self.lead_ins.pop();
            }
        }
        let parent = self.parent();
        let before = self.units.len();
        let parts = match line.mark {
            LineMark::Heading(_) => vec![line.range.clone()],
            _ => sentences(self.text, line.range.clone()),
        };
        let parts = parts.into_iter().filter(|part| has_content(&self.text[part.clone()]));
        self.units.extend(parts.map(|range| Unit { range, parent }));
        if self.units.len() == before {
            return;
        }
        let last = self.units.len() - 1;
        self.plain = (line.mark == LineMark::None).then_some(last);
        match line.mark {
            LineMark::Heading(level) => self.headings.push((level, last)),
            LineMark::Item => self.items.push((line.indent, last)),
            LineMark::None => {}
        }
        if is_open && !matches!(line.mark, LineMark::Heading(_)) {
            let is_item = line.mark == LineMark::Item;
            self.lead_ins.push(LeadIn { unit: last, indent: line.indent, is_item, below: None });
        }
    }

    /// The unit that a line stands below.
    fn parent(&self) -> Option<usize> {
        let lead_in = self.lead_ins.last().map(|one| one.unit);
        let item = self.items.last().map(|(_, unit)| *unit);
        let heading = self.headings.last().map(|(_, unit)| *unit);
        self.table.or(item).or(lead_in).or(heading)
    }

    fn open_heading(&mut self, level: usize) {
        self.lead_ins.clear();
        self.items.clear();
        self.headings.retain(|(other, _)| *other < level);
    }

    fn open_item(&mut self, line: &SourceLine) {
        self.items.retain(|(indent, _)| *indent < line.indent);
        // An item that stands as far to the left as its lead-in, where others stood further in, is below it no more.
        let is_over = |one: &LeadIn| {
            one.below.is_some_and(|(below, _)| line.indent < below && line.indent <= one.indent)
        };
        while self.lead_ins.last().is_some_and(is_over) {
            self.lead_ins.pop();
        }
        // The line right above a list introduces it, with a colon or without.
        if let (Some(unit), false, true) = (self.plain, line.is_after_blank, self.items.is_empty())
            && self.lead_ins.last().is_none_or(|one| one.unit != unit)
        {
            let indent = line.indent;
            self.lead_ins.push(LeadIn { unit, indent, is_item: false, below: None });
        }
        self.note_below(line);
    }

    fn open_plain(&mut self, line: &SourceLine) {
        self.items.retain(|(indent, _)| *indent < line.indent);
        if self.items.is_empty() {
            let is_over = |one: &LeadIn| match one.below {
                None => false,
                Some((indent, is_item)) => line.is_after_blank || is_item || line.indent < indent,
            };
            while self.lead_ins.last().is_some_and(is_over) {
                self.lead_ins.pop();
            }
        }
        self.note_below(line);
    }

    fn note_below(&mut self, line: &SourceLine) {
        if let Some(one) = self.lead_ins.last_mut() {
            one.below.get_or_insert((line.indent, line.mark == LineMark::Item));
        }
    }

    /// A line that only underlines: it makes the line above it a heading, or the head of a table.
    fn underlined(&mut self, written: &str, level: usize) {
        let Some(unit) = self.plain.take() else { return };
        if written.contains('|') {
            self.table = Some(unit);
        } else {
            self.open_heading(level);
            self.headings.push((level, unit));
        }
    }
}

/// The level of heading that a line makes of the one above it by underlining it.
fn underline(written: &str, line: &SourceLine) -> Option<usize> {
    let written = written.trim();
    let is_only = |marks: &[char]| written.chars().all(|one| marks.contains(&one));
    if line.is_after_blank || line.mark != LineMark::None || written.len() < 2 {
        None
    } else if is_only(&['=']) {
        Some(1)
    } else if is_only(&['-']) || written.contains('-') && is_only(&['|', '-', ':', '+', ' ']) {
        Some(2)
    } else {
        None
    }
}

/// The lines of a text that are not blank.
fn lines(text: &str) -> Vec<SourceLine> {
    let mut found: Vec<SourceLine> = Vec::new();
    let mut is_after_blank = true;
    let mut start = 0;
    let is_end = |one: char| matches!(one, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}');
    for line in text.split_inclusive(is_end) {
        let range = start..start + line.trim_end().len();
        // Of `\r\n` the second half is no blank line.
        let is_half = line == "\n" && text[..start].ends_with('\r');
        start += line.len();
        if range.is_empty() {
            is_after_blank |= !is_half;
            continue;
        }
        let (mark, body) = marks(&text[range.clone()]);
        let space = line.chars().take_while(|one| one.is_whitespace());
        let indent = space.map(|one| if one == '\t' { TAB_COLUMNS } else { 1 }).sum();
        let mut range = range.start + body..range.end;
        let mark = if mark == LineMark::None { bold(text, &mut range) } else { mark };
        if let LineMark::Heading(_) = mark {
            range.end = range.start + text[range.clone()].trim_end_matches(['#', ' ', '\t']).len();
        }
        found.push(SourceLine { range, mark, indent, is_after_blank });
        is_after_blank = false;
    }
    found
}

/// A line that is bold as a whole is a heading; the marks around it are none of its text.
fn bold(text: &str, range: &mut Range<usize>) -> LineMark {
    let written = &text[range.clone()];
    for mark in ["**", "__"] {
        let inner = written.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
        if inner.is_some_and(|inner| !inner.trim().is_empty() && !inner.contains(mark)) {
            *range = range.start + mark.len()..range.end - mark.len();
            return LineMark::Heading(BOLD_LEVEL);
        }
    }
    LineMark::None
}

/// The same lines, with those taken together that are one text.
fn wrapped(text: &str, lines: &[SourceLine]) -> Vec<SourceLine> {
    let mut joined: Vec<SourceLine> = Vec::new();
    for paragraph in lines.chunk_by(|_, next| is_continued(next)) {
        let is_prose = text[..paragraph[paragraph.len() - 1].range.end].ends_with(is_final);
        let mut length = None;
        for line in paragraph {
            let written = &text[line.range.clone()];
            if let (Some(length), Some(last)) = (length, joined.last_mut())
                && !matches!(last.mark, LineMark::Heading(_))
                && goes_on(&text[last.range.clone()], written, is_prose, length)
            {
                last.range.end = line.range.end;
            } else {
                joined.push(line.clone());
            }
            length = Some(written.chars().count());
        }
    }
    joined
}

/// True if a line may go on with the text of the one before it.
fn is_continued(line: &SourceLine) -> bool {
    line.mark == LineMark::None && !line.is_after_blank
}

/// True if a text goes on behind a line end. `length` is that of its last line.
fn goes_on(before: &str, next: &str, is_prose: bool, length: usize) -> bool {
    let is_closed = before.ends_with(is_final) || before.ends_with([':', '：', ';', '|']);
    let is_text = has_content(before) && has_content(next);
    if is_closed || !is_text || is_labelled(next) || next.starts_with('|') {
        return false;
    }
    next.starts_with(char::is_lowercase)
        || before.ends_with([',', '、', '-', '(', '['])
        || is_prose && length >= MIN_WRAPPED_CHARACTERS
}

/// True if a line is like `Name: value`.
fn is_labelled(line: &str) -> bool {
    line.split_once(':').is_some_and(|(label, value)| {
        let is_short = label.len() <= MAX_LABEL_BYTES && label.split_whitespace().count() <= 3;
        is_short && value.starts_with(char::is_whitespace)
    })
}

/// The marks of a line and where its text begins.
fn marks(line: &str) -> (LineMark, usize) {
    let (mut kind, mut at) = (LineMark::None, 0);
    for _ in 0..MAX_MARKS {
        let rest = line[at..].trim_start();
        let begin = line.len() - rest.len();
        let word = rest.split(char::is_whitespace).next().unwrap_or_default();
        match line_mark(word) {
            // A mark is followed by a space, and then by something.
            Some(mark) if rest.trim_end().len() > word.len() => {
                // A heading may stand in a quotation, and is one there.
                if kind == LineMark::None || matches!(mark, LineMark::Heading(_)) {
                    kind = mark;
                }
                at = begin + word.len();
            }
            _ => return (kind, begin),
        }
    }
    (kind, line.len() - line[at..].trim_start().len())
}

fn line_mark(word: &str) -> Option<LineMark> {
    let bytes = word.as_bytes();
    if !word.is_empty() && word.len() < BOLD_LEVEL && bytes.iter().all(|byte| *byte == b'#') {
        return Some(LineMark::Heading(word.len()));
    }
    if matches!(
        word,
        "-" | "*" | "+" | "•" | "‣" | "◦" | "▪" | "·" | "–" | "—" | ">" | "[x]" | "[X]" | "[]"
    ) {
        return Some(LineMark::Item);
    }
    let number = word.strip_suffix(['.', ')'])?;
    let number = number.strip_prefix('(').unwrap_or(number);
    let is_number = (1..=MAX_MARK_DIGITS).contains(&number.len())
        && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_letter = number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_number || is_letter).then_some(LineMark::Item)
}

fn sentences(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let line = &text[part.clone()];
    let mut found = Vec::new();
    let mut start = 0;
    let mut characters = line.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if !is_final(character) {
            continue;
        }
        let mut end = at + character.len_utf8();
        while let Some((_, closing)) =
            characters.next_if(|(_, one)| is_final(*one) || is_closing(*one))
        {
            end += closing.len_utf8();
        }
        if is_wide(character) || ends_sentence(&line[start..at], &line[end..], character) {
            found.push(start..end);
            start = end;
        }
    }
    found.push(start..line.len());
    let trimmed = |range: Range<usize>| {
        let piece = &line[range.clone()];
        let start = part.start + range.start + (piece.len() - piece.trim_start().len());
        start..start + piece.trim().len()
    };
    found.into_iter().map(trimmed).collect()
}

fn ends_sentence(before: &str, behind: &str, mark: char) -> bool {
    if !behind.starts_with(char::is_whitespace) {
        return false;
    }
    if behind.trim_start().starts_with(char::is_lowercase) {
        return false;
    }
    if mark != '.' {
        return true;
    }
    let word =
        before.rsplit(|one: char| one.is_whitespace() || one == '(').next().unwrap_or_default();
    // `31. März`, `J. Doe`, `e.g. This`
    let is_short =
        word.chars().count() <= 1 || word.len() <= 2 && word.bytes().all(|b| b.is_ascii_digit());
    !(is_short || word.contains('.') || ABBREVIATIONS.contains(&word.to_lowercase().as_str()))
}

/// True if there is anything in a text but marks.
fn has_content(text: &str) -> bool {
    let is_mark = |one: char| {
        one.is_whitespace() || one.is_ascii_punctuation() || matches!(one, '\u{2000}'..='\u{206f}')
    };
    text.chars().any(|one| one.is_alphanumeric() || !is_mark(one))
}

fn is_final(character: char) -> bool {
    matches!(character, '.' | '!' | '?' | '…' | '؟' | '।') || is_wide(character)
}

/// Marks of scripts that put no space behind them.
fn is_wide(character: char) -> bool {
    matches!(character, '。' | '！' | '？' | '｡' | '．')
}

fn is_closing(character: char) -> bool {
    matches!(character, '"' | '\'' | ')' | ']' | '”' | '’' | '»' | '」' | '』' | '）' | '*' | '_')
}
