//! Our own secrets: what the settings got from the environment, and the tokens of this server.
//!
//! A server is sent some of them and may send them back: in an error, in what it prints, in a description. So
//! whoever reads a secret names it here ([`hide`]), and it is replaced by `[redacted]` wherever the words of a server or of a
//! tool are kept or shown. A result that matches its contract is not touched: it is what the caller has asked for.
//!
//! The list is one for the whole process, as the log is.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use aho_corasick::{AhoCorasick, MatchKind};
use arc_swap::ArcSwapOption;
use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{
        GeneralPurpose,
        general_purpose::{self, NO_PAD},
    },
};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, value::RawValue};

use crate::{CapturedText, InputRequests, OutputPayload, ToolError, ToolOutput};

/// The text in the place of a secret.
pub const REDACTED: &str = "[redacted]";
/// The shortest secret that is hidden, in bytes. What is as short as a word would tear holes into everything.
pub const MIN_SECRET_BYTES: usize = 8;

/// All but the characters that have no meaning in any part of a URL.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The characters that a URL library encodes in a query, in a path, and in the name and password before a host.
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');
const PATH: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}');
const USER: &AsciiSet = &PATH
    .add(b'/')
    .add(b':')
    .add(b';')
    .add(b'=')
    .add(b'@')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'|');

/// All secrets, in every form in which they are looked for.
static FORMS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
static FINDER: ArcSwapOption<SecretFinder> = ArcSwapOption::const_empty();

/// Finds all secrets in one pass.
struct SecretFinder {
    automaton: AhoCorasick,
    longest: usize,
}

/// Hides these values from now on, except those that are too short.
pub fn hide<S: AsRef<str>>(values: impl IntoIterator<Item = S>) {
    let mut forms = FORMS.lock().unwrap_or_else(PoisonError::into_inner);
    let before = forms.len();
    for value in values {
        let value = value.as_ref().trim();
        if value.len() >= MIN_SECRET_BYTES {
            add_forms(value, &mut forms);
        }
    }
    if forms.len() == before {
        return;
    }
    let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&*forms);
    // It fails only for more patterns than memory can hold.
    if let Ok(automaton) = automaton {
        let longest = forms.iter().map(String::len).max().unwrap_or_default();
        FINDER.store(Some(SecretFinder { automaton, longest }.into()));
    }
}

/// The forms in which a server may give a value back: as it is, in JSON, in a URL, in Base64.
fn add_forms(value: &str, forms: &mut BTreeSet<String>) {
    let json = serde_json::to_string(value).unwrap_or_default();
    let json = json.trim_matches('"');
    forms.extend([value, json].map(str::to_owned));
    for encoded_in_url in [RESERVED, QUERY, PATH, USER] {
        let encoded = utf8_percent_encode(value, encoded_in_url).to_string();
        forms.insert(encoded.replace("%20", "+"));
        forms.insert(encoded.to_lowercase());
        forms.insert(encoded);
    }
    for alphabet in [&STANDARD, &URL_SAFE] {
        let engine = GeneralPurpose::new(alphabet, NO_PAD);
        // Within something longer it begins at one of three places, and its ends depend on what is beside it.
        for offset in 0..3 {
            let padded = [&[0; 3][..offset], value.as_bytes()].concat();
            let text = engine.encode(&padded);
            let (start, end) = ((offset * 8).div_ceil(6), padded.len() * 8 / 6);
            forms.insert(text[start..end].to_owned());
        }
    }
    // What is sent for `Basic` is the Base64 of a user and a password.
    let decoded = general_purpose::STANDARD.decode(value).ok();
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some((_, password)) = decoded.as_ref().and_then(|text| text.split_once(':'))
        && password.len() >= MIN_SECRET_BYTES
    {
        forms.insert(password.to_owned());
    }
}

/// The text without secrets.
pub fn redact(text: &str) -> Cow<'_, str> {
    let finder = FINDER.load();
    let Some(finder) = finder
        .as_ref()
        .filter(|finder| text.len() >= MIN_SECRET_BYTES && finder.automaton.is_match(text))
    else {
        return Cow::Borrowed(text);
    };
    let mut clean = String::with_capacity(text.len());
    finder.automaton.replace_all_with(text, &mut clean, |_, _, clean| {
        clean.push_str(REDACTED);
        true
    });
    Cow::Owned(clean)
}

/// The end of a text whose beginning was lost, without secrets: nor with the rest of one that began before.
pub fn redact_end(bytes: &[u8]) -> String {
    let Some(finder) = FINDER.load_full() else {
        return String::from_utf8_lossy(bytes).into_owned();
    };
    let start = finder.longest.min(bytes.len());
    let across = finder.automaton.find_iter(bytes).take_while(|found| found.start() < start);
    let start = across.map(|found| found.end()).fold(start, usize::max);
    redact(&String::from_utf8_lossy(&bytes[start..])).into_owned()
}

/// The length of the longest form of a secret, in bytes.
pub fn longest() -> usize {
    FINDER.load().as_ref().map_or(0, |finder| finder.longest)
}

/// Takes secrets out of a text.
pub fn redact_in(text: &mut String) {
    if let Cow::Owned(clean) = redact(text) {
        *text = clean;
    }
}

/// Takes secrets out of every text and every name of a value.
pub fn redact_value(value: &mut Value) {
    match value {
        Value::String(text) => redact_in(text),
        Value::Array(items) => items.iter_mut().for_each(redact_value),
        Value::Object(fields) => {
            fields.values_mut().for_each(redact_value);
            if fields.keys().any(|name| matches!(redact(name), Cow::Owned(_))) {
                let clean = std::mem::take(fields).into_iter();
                *fields = clean.map(|(name, field)| (redact(&name).into_owned(), field)).collect();
            }
        }
        _ => {}
    }
}

/// JSON without secrets.
pub(crate) fn redact_json(json: Box<RawValue>) -> Box<RawValue> {
    if matches!(redact(json.get()), Cow::Borrowed(_)) {
        return json;
    }
    let mut value: Value = serde_json::from_str(json.get()).unwrap_or_default();
    redact_value(&mut value);
    serde_json::value::to_raw_value(&value).unwrap_or_default()
}

/// Takes secrets out of what a provider says beside its result.
pub(crate) fn redact_answer(answer: &mut Result<ToolOutput, ToolError>) {
    let captured = |text: &mut CapturedText| redact_in(&mut text.text);
    match answer {
        Ok(output) => {
            captured(&mut output.stdout);
            captured(&mut output.stderr);
            output.summary.iter_mut().for_each(redact_in);
            if let OutputPayload::Unreadable { text, reason }
            | OutputPayload::Broken { text, reason } = &mut output.output
            {
                redact_in(text);
                redact_in(reason);
            }
        }
        Err(error) => {
            captured(&mut error.stdout);
            captured(&mut error.stderr);
            redact_in(&mut error.message);
            error.operator.iter_mut().for_each(redact_in);
            error.details.iter_mut().for_each(redact_value);
            let questions =
                error.questions.iter_mut().flat_map(|all| InputRequests::values_mut(all));
            questions.for_each(|question| redact_value(&mut question.params));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // Other tests of this process must not have these in their texts.
    const SECRET: &str = "zQ7\"k/é+secret value";
    const PASSWORD: &str = "correct-horse-battery";

    fn hidden() {
        let basic = general_purpose::STANDARD.encode(format!("ada:{PASSWORD}"));
        hide([SECRET, &basic, "short"]);
    }

    #[test]
    fn a_secret_is_found_in_every_form() {
        hidden();
        let base64 = |text: &str| general_purpose::STANDARD.encode(text);
        let url_safe = |text: &str| general_purpose::URL_SAFE_NO_PAD.encode(text);
        for text in [
            SECRET.to_owned(),
            format!("Bearer {SECRET}, and more"),
            serde_json::to_string(SECRET).unwrap(),
            format!("https://host/?key={}", utf8_percent_encode(SECRET, RESERVED)),
            "https://host/zQ7%22k/%C3%A9+secret%20value/x".to_owned(),
            "https://host/?key=zQ7%22k/%C3%A9+secret+value".to_owned(),
            "https://user:zQ7%22k%2F%C3%A9+secret%20value@host/".to_owned(),
            PASSWORD.to_owned(),
            base64(SECRET),
            base64(&format!("u:{SECRET}")),
            base64(&format!("us:{SECRET}: and more")),
            url_safe(&format!("use:{SECRET}")),
            base64(&format!("ada:{PASSWORD}")),
        ] {
            let clean = redact(&text);
            assert!(clean.contains(REDACTED), "{text}: {clean}");
            assert!(!clean.contains("secret") && !clean.contains("horse"), "{clean}");
        }
        for text in ["short", "", "nothing of that"] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn values_keep_their_form() {
        hidden();
        let mut value = json!({ "a": [SECRET, 7, { SECRET: null }], "b": "fine" });
        redact_value(&mut value);
        assert_eq!(value, json!({ "a": [REDACTED, 7, { REDACTED: null }], "b": "fine" }));
        let raw = RawValue::from_string(json!({ "a": SECRET }).to_string()).unwrap();
        assert_eq!(redact_json(raw).get(), r#"{"a":"[redacted]"}"#);
    }

    #[test]
    fn the_rest_of_a_secret_is_not_the_beginning_of_a_text() {
        hidden();
        let text = format!("{SECRET}{}{SECRET} end", "x".repeat(3 * longest()));
        let bytes = text.as_bytes();
        for cut in 0..bytes.len() {
            let clean = redact_end(&bytes[cut..]);
            assert!(!clean.contains("value"), "{cut}: {clean}");
        }
        assert!(redact_end(bytes).ends_with("x[redacted] end"));
    }
}
