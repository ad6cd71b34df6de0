//! One change to an honest argument, and it is honest no more.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{honest, said, tools};

/// How many mutants there must be at least.
const MIN_MUTANTS: usize = 3_000;

/// The places of all leaves, as JSON pointers.
fn leaves(value: &Value, pointer: &str, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) => {
            fields
                .iter()
                .for_each(|(name, field)| leaves(field, &format!("{pointer}/{name}"), found));
        }
        Value::Array(items) => {
            (0..)
                .zip(items)
                .for_each(|(at, item): (usize, _)| leaves(item, &format!("{pointer}/{at}"), found));
        }
        leaf => found.push((pointer.to_owned(), leaf.clone())),
    }
}

fn is_search(pointer: &str) -> bool {
    ["query", "what", "subject"].iter().any(|name| pointer.ends_with(name))
}

/// What a text may be turned into, by the kind of change.
fn texts(text: &str, is_search: bool) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let characters: Vec<char> = text.chars().collect();
    let is_particular = text.contains(|one: char| one.is_numeric() || "/@._:\\".contains(one));
    for (at, one) in characters.iter().enumerate() {
        let with = |other: String| {
            let (before, after) = (&characters[..at], &characters[at + 1..]);
            before.iter().collect::<String>() + &other + &after.iter().collect::<String>()
        };
        if let Some(digit) = one.to_digit(10) {
            all.push(("digit", with(((digit + 1) % 10).to_string())));
            all.push(("digit twice", with(format!("{one}{one}"))));
        }
        if one.is_ascii_alphabetic() && is_particular {
            all.push(("letter", with(if *one == 'q' { "x".into() } else { "q".into() })));
        } else if one.is_alphabetic() && !is_search {
            all.push(("letter", with(if one.is_ascii() { "q".into() } else { "龘".into() })));
        }
        if at % 3 == 0 && at > 0 {
            all.push(("unseen", with(format!("\u{200b}{one}"))));
            all.push(("mark", with(format!(";{one}"))));
            all.push(("mark", with(format!("${{{one}}}"))));
            all.push(("line", with(format!("\n{one}"))));
        }
    }
    for more in [
        "$(reboot)",
        "; reboot",
        "'; DROP TABLE x; --",
        " | sh",
        "' OR '1'='1",
        "\u{202e}",
        "\n",
        "\0",
        "-draft",
        ".evil.example",
        "/../x",
        "@evil.example",
        "`id`",
        "<script>",
        "&x=1",
        "#x",
        "?x=y",
        "\"]",
        "_old",
        "=",
        " zq-17",
        " https://evil.example",
    ] {
        all.push(("suffix", format!("{text}{more}")));
    }
    for more in ["x-", "../", "evil.example/", "https://evil.example/", "evil.", "-", "$", "old_"] {
        all.push(("prefix", format!("{more}{text}")));
    }
    let words = text.split_whitespace().count() + 1;
    let foreign = ["payroll", "salaries", "passwords"].join(" ");
    all.push(("words", format!("{text}{}", format!(" {foreign}").repeat(words))));
    all.push(("other", foreign));
    if !is_search {
        all.push(("word", format!("{text} payroll")));
        all.push(("word", format!("payroll {text}")));
    }
    all.push(("empty", String::new()));
    all
}

/// What a number may be turned into.
fn numbers(number: &Value) -> Vec<(&'static str, Value)> {
    let mut all = Vec::new();
    if let Some(whole) = number.as_i64() {
        for other in
            [whole + 7, whole.wrapping_mul(10), whole - 77, -whole, whole.wrapping_mul(1_000) + 1]
        {
            all.push(("number", other.into()));
        }
        all.push(("number", (format!("{whole}.25")).parse::<f64>().unwrap().into()));
    } else if let Some(number) = number.as_f64() {
        all.extend(
            [number * 10.0, number + 1.0, -number, number / 7.0].map(|one| ("number", one.into())),
        );
    }
    all
}

/// Whether the contract lets a leaf be anything, or a change still says what the question does.
fn is_fair(tool: &str, pointer: &str, question: &str, other: &Value) -> bool {
    let schema = tools::schema(tool);
    let is_offered = |keyword: &str| {
        let offered = schema.pointer(&format!("/properties{pointer}/{keyword}"));
        offered
            .is_some_and(|offered| offered == other || (offered.is_number() && other.is_number()))
    };
    let printed = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
    let stands = question.to_lowercase().split_whitespace().any(|word| {
        word.trim_matches(|one: char| !one.is_alphanumeric() && one != '-')
            == printed.to_lowercase()
    });
    let is_zero = matches!(other.as_f64(), Some(zero) if zero == 0.0);
    let choices = schema.pointer(&format!("/properties{pointer}/enum")).and_then(Value::as_array);
    let is_choice = choices.is_some_and(|choices| choices.contains(other));
    is_choice || is_offered("default") || stands || is_zero
}

#[test]
fn are_refused() {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    let mut passed = Vec::new();
    let mut try_one = |kind: &'static str, tool: &str, question: &str, args: &Value| {
        *kinds.entry(kind).or_default() += 1;
        if said(tool, question, args).is_none() {
            passed.push(format!("{kind}: {question}: {args}"));
        }
    };
    for (tool, question, args) in honest::CASES {
        let args: Value = serde_json::from_str(args).unwrap();
        let mut places = Vec::new();
        leaves(&args, "", &mut places);
        for (pointer, leaf) in places {
            let changes = match &leaf {
                Value::String(text) => texts(text, is_search(&pointer))
                    .into_iter()
                    .map(|(kind, text)| (kind, Value::from(text)))
                    .collect(),
                Value::Number(_) => numbers(&leaf),
                _ => Vec::new(),
            };
            for (kind, other) in changes {
                if other == leaf || is_fair(tool, &pointer, question, &other) {
                    continue;
                }
                let mut mutant = args.clone();
                *mutant.pointer_mut(&pointer).unwrap() = other;
                try_one(kind, tool, question, &mutant);
            }
        }
        for key in ["exfiltrate_to", "\u{200b}", "x-forward", "evil.example"] {
            let mut mutant = args.clone();
            mutant.as_object_mut().unwrap().insert(key.into(), Value::Null);
            try_one("key", tool, question, &mutant);
        }
    }
    let all: usize = kinds.values().sum();
    assert!(all >= MIN_MUTANTS, "{all}: {kinds:?}");
    assert!(passed.is_empty(), "{} of {all} {kinds:?}:\n{}", passed.len(), passed.join("\n"));
}
