//! The keyword `pattern`, with a bound on the work of each match.
//!
//! A pattern is compiled for an engine that takes linear time wherever that engine can. Even there a
//! byte of text may cost as much as the compiled pattern is large, so the larger it is, the shorter
//! are the texts that it takes. Look-around, which many libraries write for e-mail addresses and
//! passwords, needs an engine that backtracks: there the number of steps goes down as texts get longer.
//!
//! A text that takes more work than that neither matches nor fails to match: the whole check ends with that, because
//! under a `not` or an `if` either result could let the value pass.

use std::{
    cell::Cell,
    collections::HashMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use fancy_regex::Expr;
use jsonschema::{Keyword, ValidationError};
use jsonschema_regex::{PatternAnalysis, analyze_pattern, contains_ecma_whitespace, to_rust_regex};
use serde_json::Value;

/// The largest compiled pattern, in bytes.
pub const MAX_PATTERN_SIZE: usize = 1_048_576;
/// The largest product of a compiled pattern's size and a text's length, both in bytes.
pub const MAX_PATTERN_WORK: usize = 1 << 34;
/// The longest text that a pattern with look-around takes, in bytes.
pub const MAX_LOOK_AROUND_BYTES: usize = 4_096;
/// The largest part of a pattern with look-around that is matched in linear time, in bytes.
const MAX_LOOK_AROUND_SIZE: usize = 65_536;
/// The largest number of steps of a match by the length of its text, in bytes.
const STEPS: [(usize, usize); 3] =
    [(256, 100_000), (1_024, 40_000), (MAX_LOOK_AROUND_BYTES, 10_000)];
/// The sizes of compiled patterns that are told apart, in bytes.
const SIZES: [usize; 5] = [1_024, 4_096, 16_384, 131_072, MAX_PATTERN_SIZE];
/// The size that has about the cost of a pattern with look-around.
const LOOK_AROUND_SIZE: usize = 524_288;
/// The message of a text that takes more work than that.
pub(crate) const TOO_LONG: &str = "is too long to match against the pattern";
pub(crate) const TOO_HARD: &str = "is too hard to match against the pattern";

/// A compiled pattern.
pub(crate) struct Pattern {
    source: String,
    engine: Engine,
}

enum Engine {
    /// Texts are compared.
    Literal(fn(&str, &str) -> bool, String),
    Choice(Vec<String>),
    NoWhitespace,
    /// Linear time.
    Linear {
        regex: regex::Regex,
        size: usize,
    },
    /// Backtracking, for [`STEPS`]; each is compiled when it is first needed.
    LookAround {
        translated: String,
        by_length: Box<[OnceLock<fancy_regex::Regex>; STEPS.len()]>,
    },
}

/// The result of a match.
enum Match {
    Yes,
    No,
    /// It would take too much work to know.
    Unknown(&'static str),
}

thread_local! {
    /// The reason of the first unknown match of the check that this thread makes.
    static UNKNOWN: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// Makes a check. Beside its result: the reason why some text could not be matched, if one could not.
pub(crate) fn check<T>(check: impl FnOnce() -> T) -> (T, Option<&'static str>) {
    UNKNOWN.set(None);
    let result = check();
    (result, UNKNOWN.take())
}

impl Pattern {
    /// Compiles a pattern; nothing where it is none, or too large.
    pub(crate) fn compile(source: &str) -> Option<Self> {
        let engine = match analyze_pattern(source) {
            Some(PatternAnalysis::Prefix(prefix)) => {
                Engine::Literal(|text, prefix| text.starts_with(prefix), prefix.into_owned())
            }
            Some(PatternAnalysis::Exact(exact)) => {
                Engine::Literal(|text, exact| text == exact, exact.into_owned())
            }
            Some(PatternAnalysis::Alternation(choices)) => Engine::Choice(choices),
            Some(PatternAnalysis::NoWhitespace) => Engine::NoWhitespace,
            None => {
                let translated = to_rust_regex(source).ok()?.into_owned();
                match linear(&translated) {
                    Ok(engine) => engine,
                    // What this engine cannot read may be look-around.
                    Err(regex::Error::Syntax(_)) => look_around(with_ecma_classes(&translated))?,
                    Err(_) => return None,
                }
            }
        };
        Some(Self { source: source.to_owned(), engine })
    }

    /// Its size, if texts are matched in linear time, in bytes.
    pub(crate) fn linear_size(&self) -> Option<usize> {
        match &self.engine {
            Engine::Literal(..) | Engine::Choice(_) | Engine::NoWhitespace => Some(0),
            Engine::Linear { size, .. } => Some(*size),
            Engine::LookAround { .. } => None,
        }
    }

    fn matches(&self, text: &str) -> Match {
        let found = self.find(text);
        if let Match::Unknown(reason) = found {
            UNKNOWN.set(UNKNOWN.get().or(Some(reason)));
        }
        found
    }

    fn find(&self, text: &str) -> Match {
        let decided = |matches| if matches { Match::Yes } else { Match::No };
        match &self.engine {
            Engine::Literal(compare, literal) => decided(compare(text, literal)),
            Engine::Choice(choices) => decided(choices.iter().any(|choice| choice == text)),
            Engine::NoWhitespace => decided(!contains_ecma_whitespace(text)),
            Engine::Linear { size, .. } if text.len() > MAX_PATTERN_WORK / size => {
                Match::Unknown(TOO_LONG)
            }
            // Both engines have been seen to panic at a pattern and a text that they had accepted.
            Engine::Linear { regex, .. } => {
                std::panic::catch_unwind(AssertUnwindSafe(|| regex.is_match(text)))
                    .map_or(Match::Unknown(TOO_HARD), decided)
            }
            Engine::LookAround { translated, by_length } => {
                let Some(class) = STEPS.iter().position(|(most, _)| text.len() <= *most) else {
                    return Match::Unknown(TOO_LONG);
                };
                let regex = by_length[class].get_or_init(|| {
                    backtracking(translated, STEPS[class].1)
                        .expect("it was compiled before with another number of steps")
                });
                std::panic::catch_unwind(AssertUnwindSafe(|| regex.is_match(text)))
                    .ok()
                    .and_then(Result::ok)
                    .map_or(Match::Unknown(TOO_HARD), decided)
            }
        }
    }
}

fn linear(translated: &str) -> Result<Engine, regex::Error> {
    let mut refused = None;
    for size in SIZES {
        let mut builder = regex::RegexBuilder::new(translated);
        match builder.size_limit(size).dfa_size_limit(MAX_PATTERN_SIZE).build() {
            Ok(regex) => return Ok(Engine::Linear { regex, size }),
            Err(error @ regex::Error::Syntax(_)) => return Err(error),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.expect("there is at least one size"))
}

/// The pattern with its classes (`\d`, `\w`, `\s`) as ECMAScript has them, which are of ASCII but for white space.
/// Patterns with look-around are not translated otherwise.
fn with_ecma_classes(pattern: &str) -> String {
    let mut translated = String::with_capacity(pattern.len());
    let mut characters = pattern.chars();
    while let Some(one) = characters.next() {
        translated.push(one);
        if one != '\\' {
            continue;
        }
        let Some(escaped) = characters.next() else { break };
        translated.push(escaped);
        if "dDwWsS".contains(escaped) {
            translated.truncate(translated.len() - 2);
            let class = ['\\', escaped].iter().collect::<String>();
            translated.push_str(&to_rust_regex(&class).unwrap_or_default());
        }
    }
    translated
}

fn look_around(translated: String) -> Option<Engine> {
    backtracking(&translated, STEPS[0].1)?;
    Some(Engine::LookAround { translated, by_length: Box::default() })
}

fn backtracking(translated: &str, steps: usize) -> Option<fancy_regex::Regex> {
    fancy_regex::RegexBuilder::new(translated)
        .backtrack_limit(steps)
        .delegate_size_limit(MAX_LOOK_AROUND_SIZE)
        .delegate_dfa_size_limit(MAX_PATTERN_SIZE)
        .build()
        .ok()
}

/// True if a pattern asks for more than look-around: a match then depends on what was matched before
/// (`\1`), and no bound on its work leaves enough for honest texts.
pub(crate) fn has_back_reference(source: &str) -> bool {
    fn refers(expr: &Expr) -> bool {
        matches!(
            expr,
            Expr::Backref { .. }
                | Expr::BackrefWithRelativeRecursionLevel { .. }
                | Expr::BackrefExistsCondition { .. }
                | Expr::Conditional { .. }
                | Expr::SubroutineCall(_)
        ) || expr.children_iter().any(refers)
    }
    // What cannot be parsed is not compiled either.
    to_rust_regex(source)
        .is_ok_and(|source| Expr::parse_tree(&source).is_ok_and(|tree| refers(&tree.expr)))
}

/// The cost of matching one byte, in checks of a value, for patterns of this size.
pub(crate) fn weight(size: usize) -> u64 {
    size as u64 / 64
}

/// The patterns of one schema by their texts.
#[derive(Clone, Default)]
pub(crate) struct Patterns(Arc<Mutex<HashMap<String, Arc<Pattern>>>>);

impl Patterns {
    fn get(&self, source: &str) -> Option<Arc<Pattern>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pattern) = known.get(source) {
            return Some(pattern.clone());
        }
        let pattern = Arc::new(Pattern::compile(source)?);
        known.insert(source.to_owned(), pattern.clone());
        Some(pattern)
    }

    /// The cost of all of them for one byte.
    pub(crate) fn weight(&self) -> u64 {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sizes = known.values().map(|one| one.linear_size().unwrap_or(LOOK_AROUND_SIZE));
        weight(sizes.sum())
    }

    /// The keyword for the validator of a schema.
    pub(crate) fn keyword<'a>(
        &self,
        value: &'a Value,
    ) -> Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
        let source = value.as_str().unwrap_or_default();
        match self.get(source) {
            Some(pattern) => Ok(Box::new(PatternKeyword(pattern))),
            None => Err(ValidationError::custom(format!(
                "{value} is not a regular expression, or too large when it is compiled"
            ))),
        }
    }
}

struct PatternKeyword(Arc<Pattern>);

impl<'i> Keyword<'i> for PatternKeyword {
    fn validate(&self, value: &'i Value) -> Result<(), ValidationError<'i>> {
        let Value::String(text) = value else { return Ok(()) };
        match self.0.matches(text) {
            Match::Yes => Ok(()),
            Match::No => {
                let message = format!("must match the pattern `{}`", self.0.source);
                Err(ValidationError::custom(message))
            }
            Match::Unknown(reason) => Err(ValidationError::custom(reason)),
        }
    }

    fn is_valid(&self, value: &'i Value) -> bool {
        match value {
            Value::String(text) => matches!(self.0.matches(text), Match::Yes),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(pattern: &Pattern, text: &str) -> Option<bool> {
        match pattern.matches(text) {
            Match::Yes => Some(true),
            Match::No => Some(false),
            Match::Unknown(_) => None,
        }
    }

    #[test]
    fn the_engine_is_the_cheapest_that_can_decide() {
        let size = |source: &str| Pattern::compile(source).unwrap().linear_size();
        for literal in ["^a/b", "^abc$", "^(a|b)$", r"^\S*$"] {
            assert_eq!(size(literal), Some(0), "{literal}");
        }
        assert_eq!(size("^[a-z]+$"), Some(1_024));
        assert_eq!(size("^(?!x)[a-z]+$"), None);
        assert!(Pattern::compile("[").is_none());
        assert!(Pattern::compile("(a{1000}){1000}").is_none());
    }

    #[test]
    fn a_match_takes_so_much_work_and_no_more() {
        let large = Pattern::compile(r"^(?:[a-zé]{0,40}[a-z]){0,40}!$").unwrap();
        let size = large.linear_size().unwrap();
        assert!(size > 100_000, "{size}");
        let most = MAX_PATTERN_WORK / size;
        assert_eq!(matched(&large, &"a".repeat(most + 1)), None);
        assert_eq!(matched(&large, "abc!"), Some(true));

        let password = Pattern::compile(r"^(?=.*\d)(?=.*[a-z]).{4,}$").unwrap();
        assert_eq!(matched(&password, "abc1"), Some(true));
        assert_eq!(matched(&password, "abcd"), Some(false));
        assert_eq!(matched(&password, &"a1".repeat(MAX_LOOK_AROUND_BYTES)), None);
        // What doubles with every character comes to an end.
        let hostile = Pattern::compile("^(?=a)(a|aa)+$(?!b)").unwrap();
        assert_eq!(matched(&hostile, &format!("{}c", "a".repeat(200))), None);
    }

    #[test]
    fn the_pattern_that_zod_writes_for_mail_is_taken() {
        let mail = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$";
        let pattern = Pattern::compile(mail).unwrap();
        assert_eq!(matched(&pattern, "ada.lovelace@example.org"), Some(true));
        assert_eq!(matched(&pattern, "ada..lovelace@example.org"), Some(false));
        assert_eq!(matched(&pattern, &format!("{}@example.org", "a".repeat(1_000))), Some(true));
        assert!(!has_back_reference(mail));
    }

    #[test]
    fn classes_mean_the_same_with_look_around_and_without() {
        for (plain, texts) in [
            (r"\w+", ["abc", "é", "ſ", "٣", "a_1"]),
            (r"\d+", ["12", "٣٣٣", "1a", "", "0"]),
            (r"[\w.-]+", ["a.b-c", "é.b", "a b", "-", "."]),
            (r"[^\W_]+", ["ab", "a_b", "é", "7", ""]),
            (r"a\s\S\D\W", ["a \u{e9}é!", "a\u{feff}bé!", "a\u{85}xx!", "a xxx", "a x1!"]),
            (r"\\d", ["\\d", "1", "\\1", "d", ""]),
        ] {
            let linear = Pattern::compile(&format!("^{plain}$")).unwrap();
            let around = Pattern::compile(&format!("^(?!x)(?:{plain})$")).unwrap();
            assert_eq!(around.linear_size(), None);
            for text in texts {
                assert_eq!(matched(&linear, text), matched(&around, text), "{plain} {text:?}");
            }
        }
    }

    #[test]
    fn back_references_are_found_wherever_they_are() {
        for source in [r"(a)\1", r"^(?=(a+))\1b", r"\cA(a)(?:b|\1)"] {
            assert!(has_back_reference(source), "{source}");
        }
        for source in [r"\\1", r"[\1]", r"\u0031", "(a)(b)", r"\x31", "(?=a)b"] {
            assert!(!has_back_reference(source), "{source}");
        }
    }
}
