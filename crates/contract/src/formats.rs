//! Formats of texts, judged as the newest dialect judges them.
//!
//! Every dialect lets a validator know more formats than it names, and people use them: most of
//! what says `format: uuid` declares draft-07, which does not.

use std::{collections::HashMap, sync::LazyLock};

use jsonschema::{ValidationOptions, Validator};
use serde_json::{Value, json};

use crate::dialect::Dialect;

/// Formats of 2020-12 with the dialect that first knew them as they are judged today.
const LATER: [(&str, Dialect); 11] = [
    ("duration", Dialect::Draft201909),
    ("hostname", Dialect::Draft07),
    ("idn-hostname", Dialect::Draft07),
    ("iri", Dialect::Draft07),
    ("iri-reference", Dialect::Draft07),
    ("json-pointer", Dialect::Draft06),
    ("relative-json-pointer", Dialect::Draft07),
    ("uri-reference", Dialect::Draft06),
    ("uri-template", Dialect::Draft06),
    ("uuid", Dialect::Draft201909),
    ("idn-email", Dialect::Draft07),
];

/// Formats that every dialect knows, and that are asked for by themselves.
const COMMON: [&str; 3] = ["date-time", "email", "uri"];

static JUDGES: LazyLock<HashMap<&'static str, Validator>> = LazyLock::new(|| {
    let judge = |format: &'static str| {
        let schema = json!({ "format": format });
        let options = jsonschema::options().should_validate_formats(true).offline();
        options.build(&schema).ok().map(|judge| (format, judge))
    };
    let all = LATER.iter().map(|(format, _)| *format).chain(COMMON);
    all.filter_map(judge).collect()
});

/// Adds to the options of a dialect the formats that came after it.
pub(crate) fn complete(
    mut options: ValidationOptions<'_>,
    dialect: Dialect,
) -> ValidationOptions<'_> {
    for (format, first) in LATER {
        if dialect < first {
            options = options.with_format(format, move |text: &str| is_of(format, text));
        }
    }
    options
}

/// True if a text has this format. A format that is not listed above accepts every text.
pub fn is_of(format: &str, text: &str) -> bool {
    JUDGES.get(format).is_none_or(|judge| judge.is_valid(&Value::String(text.to_owned())))
}

/// True if a dialect names this format.
pub fn is_known(format: &str) -> bool {
    LATER.iter().any(|(known, _)| *known == format)
        || COMMON.contains(&format)
        || matches!(format, "date" | "time" | "ipv4" | "ipv6" | "regex")
}
