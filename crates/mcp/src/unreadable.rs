//! The reason why JSON cannot be read, without a word of it.

/// The longest reason that is not ours, in characters.
const MAX_REASON: usize = 200;

/// What is wrong with JSON. A message of serde quotes the value that it did not expect, however long it is and whatever
/// it says: of that only what was expected, and the place, are told.
pub fn unreadable(error: &serde_json::Error) -> String {
    let message = error.to_string();
    match message.rsplit_once(", expected ") {
        Some((_, expected)) if error.is_data() => format!("expected {expected}"),
        _ => message.chars().take(MAX_REASON).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Form {
        #[allow(dead_code)]
        list: Vec<u8>,
    }

    #[test]
    fn no_value_is_quoted() {
        let secret = r#"the ", expected nothing "#.repeat(1_000);
        let secret = serde_json::to_string(&secret).unwrap();
        let told = |json: &str| unreadable(&serde_json::from_str::<Form>(json).unwrap_err());
        let text = told(&format!(r#"{{"list":{secret}}}"#));
        assert!(text.starts_with("expected a sequence at line 1 column "), "{text}");
        assert!(told(r#"{"list":["x"]}"#).starts_with("expected u8 at line 1"));
        assert!(told("{}").starts_with("missing field `list`"));
        assert!(told(r#"{"list":[],"list":[]}"#).starts_with("duplicate field `list`"));
        assert!(told("{").starts_with("EOF while parsing"));
        let unknown = format!(r#"{{"{}":1}}"#, "k".repeat(10_000));
        assert!(told(&unknown).len() <= MAX_REASON);
        let wrong = serde_json::from_str::<BTreeMap<String, bool>>(r#"{"a":"yes"}"#).unwrap_err();
        assert_eq!(unreadable(&wrong), "expected a boolean at line 1 column 10");
    }
}
