//! A claim and the passage that is to support it: what each must be by itself, and whether the
//! words of the one are in the other.

use std::{collections::HashSet, ops::Range};

use super::{
    MAX_CLAIM_BYTES, MAX_CLAIM_WORDS, MIN_COVERED_PERCENT, MIN_EVIDENCE_WORDS, Ungrounded, clauses,
    fold, hedges, label, letters, measures, modality, names, polarity, replaced, roles, stem,
    together,
    units::Unit,
    vocabulary::{self, Denial},
    words::{self, Kind, Word},
};

/// A claim that may be held against evidence.
#[derive(Debug)]
pub(super) struct Claim {
    /// Its words.
    pub words: Vec<Word>,
}

/// A quote where it stands.
#[derive(Debug)]
pub(super) struct Passage<'a> {
    text: &'a str,
    /// What the quote must not cut.
    chunks: Vec<Range<usize>>,
    range: Range<usize>,
    /// The words of the quote and of the sentences that it touches.
    words: Vec<Word>,
    /// The sentences that it touches.
    pub parts: Vec<Part>,
    is_whole: bool,
    /// What the property is called whose whole value the quote is.
    label: Vec<Word>,
}

/// A sentence that a quote touches.
#[derive(Debug)]
pub(super) struct Part {
    /// All its words.
    pub words: Vec<Word>,
    /// Which of them are in the quote.
    pub quoted: Range<usize>,
    /// The line that it is an item of.
    pub lead: Vec<Word>,
    /// Whether that line ends with a colon, so that what it denies is denied here.
    pub lead_opens: bool,
    /// Whether that line is in the quote.
    pub lead_quoted: bool,
    /// Whether it asks.
    pub is_question: bool,
}

impl Part {
    /// The words that are in the quote.
    pub fn quote(&self) -> &[Word] {
        &self.words[self.quoted.clone()]
    }

    /// The clauses of the quote as sentences of their own, where there are several.
    pub fn clauses(&self) -> Vec<Part> {
        let part = |words: Vec<Word>| Part {
            quoted: 0..words.len(),
            words,
            lead: self.lead.clone(),
            lead_opens: self.lead_opens,
            lead_quoted: self.lead_quoted,
            is_question: self.is_question,
        };
        clauses::apart(self.quote()).into_iter().map(part).collect()
    }
}

impl<'a> Passage<'a> {
    /// Reads a quote and some text around it.
    pub fn read(flat: &'a str, window: Range<usize>, range: Range<usize>) -> Self {
        let moved = |place: Range<usize>| window.start + place.start..window.start + place.end;
        let text = &flat[window.clone()];
        let chunks = words::chunks(text).into_iter().map(moved).collect();
        let mut words = words::read(text);
        for word in &mut words {
            word.range = moved(word.range.clone());
        }
        for place in [range.start, range.end] {
            part_run(&mut words, place);
        }
        Self {
            text: flat,
            chunks,
            range,
            words,
            parts: Vec::new(),
            is_whole: false,
            label: Vec::new(),
        }
    }

    /// Adds a sentence that the quote touches, and the line that it is an item of.
    pub fn add(&mut self, unit: &Unit, lead: Option<(Range<usize>, &str)>) {
        let is_in = |word: &&Word, range: &Range<usize>| {
            word.range.start >= range.start && word.range.end <= range.end
        };
        let words: Vec<Word> =
            self.words.iter().filter(|word| is_in(word, &unit.range)).cloned().collect();
        let start = words.iter().take_while(|word| word.range.start < self.range.start).count();
        let end = words.iter().take_while(|word| word.range.end <= self.range.end).count();
        let lead_quoted = lead.as_ref().is_some_and(|(range, _)| range.start >= self.range.start);
        self.is_whole |= self.range.start <= unit.core.start && self.range.end >= unit.core.end;
        self.parts.push(Part {
            words,
            quoted: start.min(end)..end,
            lead_opens: lead.as_ref().is_some_and(|(_, text)| text.ends_with([':', '：'])),
            lead: lead.map(|(_, text)| words::read(text)).unwrap_or_default(),
            lead_quoted,
            is_question: self.text[unit.range.clone()].ends_with(['?', '？']),
        });
    }

    /// Takes the name of the property whose whole value the quote is.
    pub fn name(&mut self, property: &str) {
        self.label = label::read(property);
    }

    /// The words of the property's name, if a claim has all of them: `Owner` is not said by
    /// `previous_owner`.
    pub fn label(&self, claim: &Claim) -> &[Word] {
        let is_said = |label: &Word| claim.words.iter().any(|word| word.key == label.key);
        let mut content = self.label.iter().filter(|word| word.is_content());
        if content.all(is_said) { &self.label } else { &[] }
    }

    /// Whether it is too short to say much by itself.
    pub fn is_short(&self) -> bool {
        count(&self.text[self.range.clone()]) < MIN_EVIDENCE_WORDS
    }

    /// Whether it may be quoted.
    pub fn check(&self) -> Result<(), Ungrounded> {
        let Range { start, end } = self.range;
        let cuts = |place: usize| {
            self.chunks.iter().any(|chunk| {
                chunk.start < place
                    && place < chunk.end
                    // Scripts without spaces have words, but nobody sees where they end.
                    && !self.text[chunk.clone()].chars().all(words::is_run)
            }) || cuts_figure(&self.text[..place], &self.text[place..])
        };
        if cuts(start) || cuts(end) {
            return Err(Ungrounded::CutsWord);
        }
        if self.is_short() && !self.is_whole {
            return Err(Ungrounded::ShortEvidence);
        }
        let says =
            |word: &Word| !matches!(word.kind, Kind::Stop | Kind::Denial(_) | Kind::Absolute(_));
        if !self.quote().any(says) {
            return Err(Ungrounded::IdleEvidence);
        }
        Ok(())
    }

    /// The words of the quote.
    pub fn quote(&self) -> impl Iterator<Item = &Word> {
        self.parts.iter().flat_map(Part::quote)
    }

    /// The words of the quote and of the headings above it: below `Fixed`, `Fixed` is said. Where
    /// a claim names the property, its name is said too.
    pub fn said<'b>(&'b self, claim: &Claim) -> impl Iterator<Item = &'b Word> {
        let leads = self.parts.iter().flat_map(|part| &part.lead);
        self.quote().chain(leads).chain(self.label(claim))
    }

    /// The text between two words.
    pub fn between(&self, one: &Word, other: &Word) -> &str {
        self.text.get(one.range.end..other.range.start).unwrap_or_default()
    }
}

/// Parts a run of a script without spaces where a quote begins or ends. A denial stays one, even
/// where it is itself parted.
fn part_run(words: &mut Vec<Word>, place: usize) {
    let is_within = |word: &Word| word.range.start < place && place < word.range.end;
    let Some(at) = words.iter().position(|word| word.kind == Kind::Run && is_within(word)) else {
        return;
    };
    let whole = words[at].clone();
    if !whole.text.is_char_boundary(place - whole.range.start) {
        return;
    }
    let (before, behind) = whole.text.split_at(place - whole.range.start);
    let part = |text: &str, range: Range<usize>| Word {
        range,
        text: text.to_owned(),
        key: text.to_owned(),
        stem: text.to_owned(),
        ..whole.clone()
    };
    let mut before = part(before, whole.range.start..place);
    let mut behind = part(behind, place..whole.range.end);
    behind.gap = words::Gap::None;
    if whole.denial().is_some() && before.denial().or(behind.denial()).is_none() {
        before.kind = Kind::Denial(Denial::Sentence);
        behind.kind = before.kind.clone();
    }
    words[at] = before;
    words.insert(at + 1, behind);
}

/// Whether a place is within a number of Chinese or Japanese, or between digits and such a number.
fn cuts_figure(before: &str, behind: &str) -> bool {
    let (Some(last), Some(next)) = (before.chars().next_back(), behind.chars().next()) else {
        return false;
    };
    (is_figure(last) || last.is_ascii_digit())
        && (is_figure(next) || (is_figure(last) && next.is_ascii_digit()))
}

/// Whether a character is a numeral of Chinese and Japanese.
fn is_figure(character: char) -> bool {
    "〇一二三四五六七八九十百千万萬億亿兆割".contains(character)
}

/// How many words a text has: pieces between spaces, and two characters of a script without them.
fn count(text: &str) -> usize {
    let words = text.split_whitespace().map(|piece| {
        let run = piece.chars().filter(|one| words::is_run(*one)).count();
        let has_other = piece.chars().any(|one| one.is_alphanumeric() && !words::is_run(one));
        run.div_ceil(2) + usize::from(has_other)
    });
    words.sum()
}

impl Claim {
    /// Reads a claim, if it may be one.
    pub fn read(written: &str) -> Result<Self, Ungrounded> {
        if written.len() > MAX_CLAIM_BYTES {
            return Err(Ungrounded::LongClaim);
        }
        if has_unseen(written) {
            return Err(Ungrounded::UnseenInClaim);
        }
        let text = fold::needle(written);
        if let Some(mixed) = text.split_whitespace().find(|word| letters::is_mixed(word)) {
            return Err(Ungrounded::MixedScripts(mixed.to_owned()));
        }
        match count(&text) {
            0 => return Err(Ungrounded::EmptyClaim),
            1..=MAX_CLAIM_WORDS => {}
            _ => return Err(Ungrounded::LongClaim),
        }
        let words = words::read(&text);
        if !words.iter().any(|word| word.is_content() || word.kind == Kind::Run) {
            return Err(Ungrounded::IdleClaim);
        }
        Ok(Self { words })
    }

    /// Whether a passage bears it out.
    pub fn check(&self, passage: &Passage<'_>) -> Result<(), Ungrounded> {
        measures::check(self, passage)?;
        names::check(self, passage)?;
        self.check_runs(passage)?;
        polarity::check(self, passage)?;
        self.check_absolutes(passage)?;
        self.check_contrasts(passage)?;
        modality::check(self, passage)?;
        hedges::check(self, passage)?;
        replaced::check(self, passage)?;
        roles::check(self, passage)?;
        together::check(self, passage)?;
        self.check_verbs(passage)?;
        self.check_coverage(passage)
    }

    /// In scripts without spaces every character that carries meaning must be there: Chinese
    /// characters one by one, foreign words and numbers as a whole.
    fn check_runs(&self, passage: &Passage<'_>) -> Result<(), Ungrounded> {
        for word in self.words.iter().filter(|word| word.kind == Kind::Run) {
            for piece in pieces(&word.text) {
                let is_there = |one: &Word| {
                    one.kind == Kind::Run && pieces(&one.text).any(|other| other == piece)
                };
                if !passage.quote().any(is_there) {
                    return Err(Ungrounded::Name(piece.to_owned()));
                }
            }
        }
        Ok(())
    }

    fn check_absolutes(&self, passage: &Passage<'_>) -> Result<(), Ungrounded> {
        let is_negated = self.words.iter().any(|word| word.denial().is_some());
        for word in &self.words {
            let Kind::Absolute(group) = word.kind else { continue };
            // `Never log any secrets` is `Never log secrets`.
            let is_empty = is_negated && word.key.starts_with("any");
            if !is_empty && !passage.quote().any(|one| one.kind == Kind::Absolute(group)) {
                return Err(Ungrounded::Absolute(word.text.clone()));
            }
        }
        Ok(())
    }

    fn check_contrasts(&self, passage: &Passage<'_>) -> Result<(), Ungrounded> {
        let is_negated = self.words.iter().any(|word| word.denial().is_some());
        // What is not allowed is forbidden.
        let forbids = |word: &Word, one: &Word| {
            matches!(&*word.stem, "allow" | "permit") && one.denial() == Some(Denial::Sentence)
        };
        for word in &self.words {
            if !matches!(word.kind, Kind::Content | Kind::Relation) {
                continue;
            }
            let is_like = |one: &Word| word.is_like(one) || (is_negated && forbids(word, one));
            if passage.said(self).any(is_like) {
                continue;
            }
            let is_known = vocabulary::contrast(&word.stem).is_some();
            if is_known || passage.quote().any(|one| stem::is_opposite(&word.stem, &one.stem)) {
                return Err(Ungrounded::Contrast(word.text.clone()));
            }
        }
        Ok(())
    }

    /// Where all that is said to happen is not in the evidence, names that are there do not help:
    /// `by Maria Lopez` does not say that she was fired.
    fn check_verbs(&self, passage: &Passage<'_>) -> Result<(), Ungrounded> {
        let is_there = |word: &Word| {
            passage
                .said(self)
                .any(|one| word.is_like(one) || vocabulary::is_synonym(&word.stem, &one.stem))
        };
        let mut verbs = self.words.iter().filter(|word| clauses::is_verb_form(word)).peekable();
        let Some(first) = verbs.peek().copied() else { return Ok(()) };
        let is_light = |word: &Word| {
            let is_bid = matches!(&*word.stem, "allow" | "permit");
            // What is not allowed is forbidden.
            let is_denied = is_bid && passage.quote().any(|one| one.denial().is_some());
            is_denied || vocabulary::is_opener(&word.key) || clauses::is_state(word)
        };
        if verbs.any(|word| is_light(word) || is_there(word)) {
            return Ok(());
        }
        Err(Ungrounded::Contrast(first.text.clone()))
    }

    /// Whether it has a number; those were found in the evidence.
    fn has_number(&self) -> bool {
        self.words.iter().any(|word| matches!(word.kind, Kind::Number(_) | Kind::Date(_)))
    }

    fn check_coverage(&self, passage: &Passage<'_>) -> Result<(), Ungrounded> {
        let quoted: HashSet<(char, char)> =
            passage.quote().flat_map(|word| bigrams(&word.text)).collect();
        let label = passage.label(self);
        let (mut all, mut covered, mut labelled) = (0, 0, 0);
        for word in &self.words {
            if word.kind == Kind::Run {
                let pairs = bigrams(&word.text);
                all += pairs.len();
                covered += pairs.iter().filter(|pair| quoted.contains(pair)).count();
            } else if word.is_content() {
                // A word weighs as much as two characters without spaces.
                all += 2;
                let is_quoted = passage.quote().any(|one| word.is_like(one));
                covered += 2 * usize::from(is_quoted);
                labelled +=
                    2 * usize::from(!is_quoted && label.iter().any(|one| word.key == one.key));
            }
        }
        // What two words can say is not said by one of them.
        let least = if passage.is_short() { 100 } else { MIN_COVERED_PERCENT };
        let is_carried = covered > 0 || self.has_number();
        if (covered + labelled) * 100 < all * least || (all > 0 && !is_carried) {
            return Err(Ungrounded::Coverage);
        }
        Ok(())
    }
}

/// What carries meaning in a run: each Chinese character that is no numeral, words in katakana
/// and numbers as a whole. In other such scripts nothing does by itself.
fn pieces(run: &str) -> impl Iterator<Item = &str> {
    let class = |one: char| match one {
        _ if is_figure(one) => 1,
        '\u{30a0}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9d}' => 2,
        '々' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => 3,
        _ => 0,
    };
    let mut rest = run;
    std::iter::from_fn(move || {
        loop {
            let first = rest.chars().next()?;
            let kind = class(first);
            let length = if kind == 3 {
                first.len_utf8()
            } else {
                rest.find(|one| class(one) != kind).unwrap_or(rest.len())
            };
            let (piece, behind) = rest.split_at(length);
            rest = behind;
            if kind > 0 {
                return Some(piece);
            }
        }
    })
}

/// Pairs of neighbours in a run; a single character is a pair with itself.
pub(super) fn bigrams(run: &str) -> Vec<(char, char)> {
    let characters: Vec<char> = run.chars().collect();
    match characters[..] {
        [one] => vec![(one, one)],
        _ => characters.windows(2).map(|two| (two[0], two[1])).collect(),
    }
}

/// Whether a claim has anything that cannot be seen, other than what emoji and the scripts of
/// Persia and India are written with.
fn has_unseen(written: &str) -> bool {
    let characters: Vec<char> = written.chars().collect();
    let is_fair = |at: usize| {
        let before = at.checked_sub(1).map(|before| characters[before]);
        let behind = characters.get(at + 1).copied();
        let is_far = |one: Option<char>| one.is_some_and(|one| one >= '\u{590}');
        match characters[at] {
            '\u{fe0f}' => before.is_some_and(|one| !one.is_ascii() && !one.is_alphanumeric()),
            '\u{200c}' | '\u{200d}' => is_far(before) && is_far(behind),
            _ => false,
        }
    };
    let is_unseen = |one: char| one.is_control() || fold::is_unseen(one) || is_private(one);
    (0..characters.len()).any(|at| is_unseen(characters[at]) && !is_fair(at))
}

/// Characters that look like whatever a font makes of them.
fn is_private(character: char) -> bool {
    matches!(character, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}' | '\u{fffd}' | '\u{2028}' | '\u{2029}')
}
