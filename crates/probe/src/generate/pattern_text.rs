//! Texts that fit a length, a format and patterns.

use regex_syntax::hir::{Class, Hir, HirKind};

use super::{merged_schema::MergedSchema, value_builder::Random};

/// The longest text that is made, in characters.
pub(super) const MAX_TEXT: usize = 20_000;
/// The largest number of steps through a pattern for one text: some parts match without adding to it.
const MAX_STEPS: usize = 80_000;
/// The largest number of tries with longer repetitions until a text is long enough.
const MAX_TRIES: usize = 40;

/// A text that fits, of at least so many characters.
pub(super) fn fitting(
    view: &MergedSchema,
    length: usize,
    random: &mut Random,
) -> Result<String, String> {
    let least = view.min_length.unwrap_or(0).max(length);
    let most = view.max_length.unwrap_or(usize::MAX);
    if least > MAX_TEXT {
        return Err(format!("a text would have more than {MAX_TEXT} characters"));
    }
    if let Some(pattern) = view.patterns.first() {
        return matching(pattern, least, most, random);
    }
    if let Some(format) = view.format
        && let Some(text) = formatted(format, random)
    {
        return Ok(text.to_owned());
    }
    let word = WORDS[usize::try_from(random.below(WORDS.len() as u64)).unwrap_or(0)];
    let mut text: String = word.chars().take(most).collect();
    let missing = least.saturating_sub(text.chars().count());
    text.extend(std::iter::repeat_n('a', missing));
    Ok(text)
}

const WORDS: [&str; 4] = ["example", "sample text", "value", "Grüße"];

/// A text of a format.
pub(super) fn formatted(format: &str, random: &mut Random) -> Option<&'static str> {
    let texts = samples(format);
    let index = usize::try_from(random.below(texts.len() as u64)).unwrap_or(0);
    texts.get(index).copied()
}

/// Texts of a format, ordinary ones first.
pub(super) fn samples(format: &str) -> &'static [&'static str] {
    match format {
        "date-time" => &["2024-02-29T23:59:59Z", "1970-01-01T00:00:00.5+14:00"],
        "date" => &["2024-02-29", "0001-01-01"],
        "time" => &["23:59:59Z", "00:00:00+01:00"],
        "duration" => &["P1DT12H", "PT0S"],
        "email" | "idn-email" => &["ada@example.com", "a+b@sub.example.org"],
        "hostname" | "idn-hostname" => &["example.com", "a"],
        "ipv4" => &["192.0.2.1", "255.255.255.255"],
        "ipv6" => &["2001:db8::1", "::"],
        "uri" | "iri" => &["https://example.com/path?q=1", "urn:isbn:0451450523"],
        "uri-reference" | "iri-reference" => &["/path", "https://example.com"],
        "uri-template" => &["https://example.com/{id}"],
        "uuid" => &["3f2b8c1e-0b7a-4c8e-9d2f-1a2b3c4d5e6f", "00000000-0000-0000-0000-000000000000"],
        "json-pointer" => &["/a/0", ""],
        "relative-json-pointer" => &["1/a", "0#"],
        "regex" => &["^a+$", ""],
        _ => &[],
    }
}

/// A text that matches a pattern and has a length within bounds.
pub(super) fn matching(
    pattern: &str,
    least: usize,
    most: usize,
    random: &mut Random,
) -> Result<String, String> {
    let read = regex_syntax::ParserBuilder::new().nest_limit(50).build().parse(pattern);
    let parsed = read.map_err(|_| format!("the pattern `{}` is not supported", shown(pattern)))?;
    for extra in 0..MAX_TRIES {
        // A few more at first, then as many as can be missing.
        let extra = if extra < 8 { extra } else { least.saturating_sub(MAX_TRIES - extra) };
        let mut writer = PatternWriter { text: String::new(), steps: 0, random };
        if !writer.write(&parsed, extra) {
            break;
        }
        let text = writer.text;
        let length = text.chars().count();
        if (least..=most).contains(&length) {
            return Ok(text);
        }
    }
    Err(format!("no text matches the pattern `{}`", shown(pattern)))
}

fn shown(pattern: &str) -> String {
    pattern.chars().take(60).collect()
}

/// Writes a text that matches a pattern.
struct PatternWriter<'r> {
    text: String,
    steps: usize,
    random: &'r mut Random,
}

impl PatternWriter<'_> {
    /// Writes a text that matches, with so much more than needed in the first repetition that takes it.
    fn write(&mut self, pattern: &Hir, extra: usize) -> bool {
        self.steps += 1;
        if self.text.len() > MAX_TEXT * 4 || self.steps > MAX_STEPS {
            return false;
        }
        match pattern.kind() {
            HirKind::Empty | HirKind::Look(_) => true,
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(literal) => {
                    self.text.push_str(literal);
                    true
                }
                Err(_) => false,
            },
            HirKind::Class(class) => match character(class, self.random) {
                Some(character) => {
                    self.text.push(character);
                    true
                }
                None => false,
            },
            HirKind::Repetition(repetition) => {
                let least = repetition.min as usize;
                let most = repetition.max.map_or(usize::MAX, |most| most as usize);
                let count = least.saturating_add(extra).min(most).min(MAX_TEXT);
                (0..count).all(|_| self.write(&repetition.sub, 0))
            }
            HirKind::Capture(capture) => self.write(&capture.sub, extra),
            HirKind::Concat(parts) => {
                // All that is more goes into one place, so that lengths grow by one.
                let roomy = parts.iter().position(|part| {
                    let properties = part.properties();
                    properties.maximum_len() != properties.minimum_len()
                });
                parts.iter().enumerate().all(|(index, part)| {
                    let extra = if Some(index) == roomy { extra } else { 0 };
                    self.write(part, extra)
                })
            }
            HirKind::Alternation(branches) => {
                let index = usize::try_from(self.random.below(branches.len() as u64)).unwrap_or(0);
                branches.get(index).is_some_and(|branch| self.write(branch, extra))
            }
        }
    }
}

/// A character of a class, a plain one where there is one.
fn character(class: &Class, random: &mut Random) -> Option<char> {
    let Class::Unicode(class) = class else {
        let Class::Bytes(class) = class else { return None };
        return class.iter().map(|range| char::from(range.start())).find(char::is_ascii);
    };
    let has =
        |wanted: char| class.iter().any(|range| (range.start()..=range.end()).contains(&wanted));
    let plain: Vec<char> =
        ('a'..='z').chain('0'..='9').chain('A'..='Z').filter(|c| has(*c)).collect();
    if plain.is_empty() {
        return class.iter().next().map(regex_syntax::hir::ClassUnicodeRange::start);
    }
    let index = usize::try_from(random.below(plain.len() as u64)).unwrap_or(0);
    plain.get(index).copied()
}
