//! Whether arguments come from the question. A model that cannot find an id makes one up, and one that has read
//! instructions in a description follows them; neither is what the person asked.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::shown;
use crate::policy;

/// How many values of a schema are looked at for what may be chosen freely.
const MAX_SCHEMA_NODES: usize = 5_000;
/// The words of small numbers, from 0.
const NUMBER_WORDS: [&str; 21] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
];
/// How many letters two forms of one word have in common at the start.
const STEM_CHARACTERS: usize = 4;
/// How long the ending of a word is.
const MAX_ENDING_CHARACTERS: usize = 3;

/// What is strange about the first argument that the question does not bear out.
pub(super) fn strange(schema: &Value, args: &Map<String, Value>, question: &str) -> Option<String> {
    let question = Asked::new(question);
    let mut free = Free::default();
    free.collect(schema);
    args.iter().find_map(|(name, value)| {
        // A default makes a knob of an argument: how many, how long.
        let is_knob = schema["properties"][name.as_str()].get("default").is_some();
        let strange = leaf(value, &mut |value| match value {
            Value::String(text) => free.texts.contains(text.as_str()) || question.bears(text),
            Value::Number(number) => {
                is_knob || free.numbers.contains(&number.to_string()) || question.has_number(number)
            }
            _ => true,
        })?;
        let (name, strange) = (shown(name), shown(&strange));
        Some(format!("Arg '{name}' is '{strange}', which is not in the question"))
    })
}

/// The first number, address or id of a text that is neither in the question nor known otherwise.
pub(super) fn unknown_token(
    text: &str,
    question: &str,
    known: impl Fn(&str) -> bool,
) -> Option<String> {
    let question = Asked::new(question);
    let text = policy::normal(text);
    let mut tokens = text.split_whitespace().map(trimmed);
    tokens
        .find(|token| is_fact(token) && !question.text.contains(token) && !known(token))
        .map(str::to_owned)
}

/// Whether a token could be a fact.
fn is_fact(token: &str) -> bool {
    token.contains("://") || token.contains('@') || token.chars().any(|one| one.is_numeric())
}

/// The first part of a value that is not as it should be, printed.
fn leaf(value: &Value, is_fine: &mut dyn FnMut(&Value) -> bool) -> Option<String> {
    match value {
        Value::Array(items) => items.iter().find_map(|item| leaf(item, is_fine)),
        Value::Object(fields) => fields.values().find_map(|field| leaf(field, is_fine)),
        value if is_fine(value) => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// What a schema offers: a choice among these comes from the contract.
#[derive(Default)]
struct Free<'a> {
    texts: HashSet<&'a str>,
    numbers: HashSet<String>,
    seen: usize,
}

impl<'a> Free<'a> {
    fn collect(&mut self, schema: &'a Value) {
        self.seen += 1;
        if self.seen > MAX_SCHEMA_NODES {
            return;
        }
        match schema {
            Value::Object(fields) => {
                for (keyword, value) in fields {
                    match keyword.as_str() {
                        "enum" => {
                            value.as_array().into_iter().flatten().for_each(|one| self.take(one))
                        }
                        "const" | "default" => self.take(value),
                        _ => self.collect(value),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            _ => {}
        }
    }

    fn take(&mut self, value: &'a Value) {
        match value {
            Value::String(text) => {
                self.texts.insert(text);
            }
            Value::Number(number) => {
                self.numbers.insert(number.to_string());
            }
            _ => {}
        }
    }
}

/// A question, taken apart.
struct Asked {
    text: String,
    words: HashSet<String>,
    numbers: Vec<f64>,
}

impl Asked {
    fn new(question: &str) -> Self {
        let text = policy::normal(question);
        let words = words(&text).map(str::to_owned).collect();
        let digits = text.split(|one: char| !one.is_ascii_digit() && !matches!(one, '.' | ','));
        let digits =
            digits.filter_map(|run| run.trim_matches(['.', ',']).replace(',', "").parse().ok());
        let mut numbers: Vec<f64> = digits.collect();
        let spelt = NUMBER_WORDS.iter().zip(0_u8..);
        numbers.extend(spelt.filter(|(word, _)| has_word(&text, word)).map(|(_, n)| f64::from(n)));
        Self { text, words, numbers }
    }

    /// Whether a text comes from the question: it stands there, or what is special about it does and so does half of its words.
    fn bears(&self, text: &str) -> bool {
        let text = policy::normal(text);
        if text.is_empty() || has_word(&self.text, &text) {
            return true;
        }
        let mut tokens = text.split_whitespace().map(trimmed).filter(|token| !token.is_empty());
        if tokens.any(|token| is_special(token) && !has_word(&self.text, token)) {
            return false;
        }
        let is_asked = |word: &&str| self.words.iter().any(|other| are_kin(word, other));
        let (all, asked) = (words(&text).count(), words(&text).filter(is_asked).count());
        asked > 0 && asked * 2 >= all
    }

    fn has_number(&self, number: &serde_json::Number) -> bool {
        let Some(number) = number.as_f64() else { return false };
        self.numbers.iter().any(|other| (other - number).abs() <= f64::EPSILON * number.abs())
    }
}

/// Whether a text stands in another, not as a part of a word.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |one: Option<char>, end: Option<char>| {
        one.is_some_and(char::is_alphanumeric) && end.is_some_and(char::is_alphanumeric)
    };
    text.match_indices(word).any(|(start, found)| {
        let end = start + found.len();
        !is_part(text[..start].chars().next_back(), found.chars().next())
            && !is_part(text[end..].chars().next(), found.chars().next_back())
    })
}

fn trimmed(token: &str) -> &str {
    token
        .trim_matches(|one: char| {
            !one.is_alphanumeric() && !matches!(one, '/' | '.' | '_' | '~' | '*')
        })
        .trim_end_matches(['.', ':'])
}

/// Whether a token names something in particular: an id, a number, an address, a path.
fn is_special(token: &str) -> bool {
    token.contains(['/', '\\', '@', ':', '.', '_', '#', '=', '&', '%', '?', '*', '~'])
        || token.chars().any(char::is_numeric)
}

/// The words of a normalised text that say something.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let all = text.split(|one: char| !one.is_alphanumeric());
    all.filter(|word| word.chars().count() > 2 || !word.is_ascii())
        .filter(|word| !word.is_empty() && !STOP_WORDS.contains(word))
}

/// Two forms of one word: `log` and `logs`, `retain` and `retention`.
fn are_kin(one: &str, other: &str) -> bool {
    let common = one.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let (one, other) = (one.chars().count(), other.chars().count());
    let is_beginning = common == one.min(other) && one.abs_diff(other) <= MAX_ENDING_CHARACTERS;
    is_beginning || common >= STEM_CHARACTERS.max(one.min(other).saturating_sub(2))
}

/// Words that any two texts share.
const STOP_WORDS: &[&str] = &[
    "the", "and", "for", "with", "from", "that", "this", "what", "which", "who", "how", "when",
    "where", "why", "does", "are", "was", "were", "has", "have", "can", "could", "should", "would",
    "about", "into", "our", "your", "their", "all", "any", "please", "show", "give", "tell", "say",
    "says", "find", "search", "get", "fetch", "look",
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: &Value, question: &str, args: &Value, expected: Option<&str>) {
        let args = args.as_object().unwrap();
        let found = strange(schema, args, question);
        let expected = expected.map(|words| format!("{words}, which is not in the question"));
        assert_eq!(found, expected, "{question}");
    }

    #[test]
    fn ids_addresses_and_numbers_must_stand_in_the_question() {
        let any = json!({});
        let fine = |question: &str, args: Value| check(&any, question, &args, None);
        let strange = |question: &str, args: Value, expected: &str| {
            check(&any, question, &args, Some(expected));
        };
        fine("what does Policy-002 say?", json!({ "id": "policy-002" }));
        fine("open \"docs/a b.md\" please", json!({ "path": "docs/a b.md" }));
        fine("fetch https://a.example/x?y=1.", json!({ "url": "https://a.example/x?y=1" }));
        fine("load it on port 8101", json!({ "port": 8101 }));
        fine("the first three tickets", json!({ "n": 3, "deep": [{ "m": 3.0 }] }));
        fine("over 1,000 users", json!({ "n": 1000 }));
        strange(
            "what does policy-002 say?",
            json!({ "id": "policy-001" }),
            "Arg 'id' is 'policy-001'",
        );
        strange(
            "what does policy-0021 say?",
            json!({ "id": "policy-002" }),
            "Arg 'id' is 'policy-002'",
        );
        strange(
            "send a mail to Bob",
            json!({ "url": "http://example.com" }),
            "Arg 'url' is 'http://example.com'",
        );
        strange("show the ticket", json!({ "id": "INC12345" }), "Arg 'id' is 'INC12345'");
        strange("load it", json!({ "port": 8101 }), "Arg 'port' is '8101'");
        strange(
            "hello",
            json!({ "a": { "b": ["hello", "../../etc/passwd"] } }),
            "Arg 'a' is '../../etc/passwd'",
        );
    }

    #[test]
    fn words_may_be_chosen_if_half_of_them_were_asked_for() {
        let any = json!({});
        check(&any, "Search SharePoint for PII Logging", &json!({ "query": "PII Logging" }), None);
        check(&any, "how long do we keep logs?", &json!({ "query": "log retention" }), None);
        check(
            &any,
            "Wie lange bewahren wir Protokolle auf?",
            &json!({ "query": "Protokoll Aufbewahrung" }),
            None,
        );
        let evil = json!({ "id": "'; DROP TABLE policies; --" });
        let expected = "Arg 'id' is ''; DROP TABLE policies; --'";
        check(&any, "what does policy-002 say?", &evil, Some(expected));
        let evil = json!({ "query": "salaries of all employees" });
        check(&any, "who is on call?", &evil, Some("Arg 'query' is 'salaries of all employees'"));
    }

    #[test]
    fn what_the_contract_offers_may_be_chosen() {
        let schema = json!({ "properties": {
            "top_k": { "type": "integer", "default": 5 },
            "kind": { "enum": ["v1.2", "v1.3"] },
            "level": { "anyOf": [{ "const": 7 }, { "const": "x-9" }] },
            "flag": { "type": "boolean" },
        } });
        let args = json!({ "top_k": 3, "kind": "v1.2", "level": 7, "flag": true });
        check(&schema, "anything", &args, None);
        check(&schema, "anything", &json!({ "kind": "v1.4" }), Some("Arg 'kind' is 'v1.4'"));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(question in ".{0,60}", value in ".{0,60}") {
            let args = Map::from_iter([("a".to_owned(), json!(value))]);
            let _ = strange(&json!({}), &args, &question);
            let _ = unknown_token(&value, &question, |_| false);
        }

        #[test]
        fn a_piece_of_the_question_is_fine(words in proptest::collection::vec("[a-zA-Z0-9/._-]{1,9}", 1..9)) {
            let question = words.join(" ");
            for word in words {
                let args = Map::from_iter([("a".to_owned(), json!(word))]);
                proptest::prop_assert_eq!(strange(&json!({}), &args, &question), None);
            }
        }
    }
}
