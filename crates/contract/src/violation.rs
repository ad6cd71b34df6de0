//! One way in which a value breaks a schema, said for a person.
//!
//! The texts name what was expected and never repeat the value: it may be secret,
//! it may be large, and these texts end up in answers and in logs.

use std::fmt;

use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde::Serialize;
use serde_json::Value;

/// The most violations that are named in one refusal.
pub const MAX_VIOLATIONS: usize = 32;

/// One place where a value breaks a schema, with the expected value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// JSON pointer into the value; empty for the whole.
    pub pointer: String,
    /// The schema keyword that refuses.
    pub keyword: String,
    /// The expectation, to be read after the pointer.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            write!(formatter, "the value {}", self.message)
        } else {
            write!(formatter, "`{}` {}", self.pointer, self.message)
        }
    }
}

impl Violation {
    /// A violation found by other means than a schema.
    pub fn new(pointer: &str, keyword: &str, message: &str) -> Self {
        Self { pointer: pointer.into(), keyword: keyword.into(), message: message.into() }
    }

    /// A key that nobody knows, with the nearest one that is known.
    pub fn unknown_key<'a>(parent: &str, key: &str, known: impl Iterator<Item = &'a str>) -> Self {
        let message = match nearest(key, known) {
            Some(near) => format!("is not a known key; did you mean `{near}`?"),
            None => "is not a known key".to_owned(),
        };
        let shown: String = key.chars().take(64).collect();
        Self {
            pointer: format!("{parent}/{}", escape(&shown)),
            keyword: "additionalProperties".into(),
            message,
        }
    }

    /// True if it is about this argument of a call, or something within it.
    pub fn is_of_argument(&self, name: &str) -> bool {
        let rest = self.pointer.strip_prefix('/');
        let rest = rest.and_then(|rest| rest.strip_prefix(&*escape(name)));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// All the violations on one line.
    pub fn list(violations: &[Violation]) -> String {
        let mut line = violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        if violations.len() >= MAX_VIOLATIONS {
            line.push_str("; there may be more");
        }
        line
    }

    /// The violations of one error of the validator. Unknown keys are one violation each.
    pub(crate) fn from_error(error: &jsonschema::ValidationError<'_>, schema: &Value) -> Vec<Self> {
        let pointer = error.instance_path().to_string();
        let keyword = error.kind().keyword();
        match error.kind() {
            Kind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let pointer = format!("{pointer}/{}", escape(name));
                vec![Self::new(&pointer, keyword, "is required")]
            }
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                let known = known_keys(error, schema);
                let known = || known.iter().map(String::as_str);
                unexpected
                    .iter()
                    .take(MAX_VIOLATIONS)
                    .map(|key| Self::unknown_key(&pointer, key, known()))
                    .collect()
            }
            Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
                let message = match constants(error, schema) {
                    Some(allowed) => format!("must be one of {}", values(&allowed)),
                    None => "matches none of the allowed forms".to_owned(),
                };
                vec![Self::new(&pointer, keyword, &message)]
            }
            kind => vec![Self::new(&pointer, keyword, &expected(kind))],
        }
    }
}

/// The values of a choice that is nothing but values, each in a branch of its own so that
/// it can have a description.
fn constants(error: &jsonschema::ValidationError<'_>, schema: &Value) -> Option<Vec<Value>> {
    let branches = schema.pointer(&error.schema_path().to_string())?.as_array()?;
    let mut allowed = Vec::new();
    for branch in branches {
        match (branch.get("const"), branch.get("enum").and_then(Value::as_array)) {
            (Some(value), _) => allowed.push(value.clone()),
            (None, Some(options)) => allowed.extend(options.iter().cloned()),
            (None, None) => return None,
        }
    }
    Some(allowed)
}

fn expected(kind: &Kind) -> String {
    match kind {
        Kind::Type { kind } => format!("must be {}", types(kind)),
        Kind::Enum { options } => match options.as_array() {
            Some(options) => format!("must be one of {}", values(options)),
            None => "must be one of the listed values".into(),
        },
        Kind::Constant { expected_value } => format!("must be {}", short(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {limit}"),
        Kind::Maximum { limit } => format!("must be at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit: 1 } => "must not be empty".into(),
        Kind::MinLength { limit } => format!("must have at least {}", counted(*limit, "character")),
        Kind::MaxLength { limit } => format!("must have at most {}", counted(*limit, "character")),
        // Our own keyword: `pattern`.
        Kind::Custom { message, .. } => message.clone(),
        Kind::Format { format } => format!("must be a valid {format}"),
        Kind::MinItems { limit } => format!("must have at least {}", counted(*limit, "item")),
        Kind::MaxItems { limit } => format!("must have at most {}", counted(*limit, "item")),
        Kind::AdditionalItems { limit } => {
            format!("must have at most {}", counted(*limit, "item"))
        }
        Kind::UniqueItems => "must not contain the same item twice".into(),
        Kind::MinProperties { limit } => format!("must have at least {}", counted(*limit, "key")),
        Kind::MaxProperties { limit } => format!("must have at most {}", counted(*limit, "key")),
        Kind::FalseSchema => "is not allowed here".into(),
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => {
            "matches none of the allowed forms".into()
        }
        Kind::OneOfMultipleValid { .. } => "matches more than one of the exclusive forms".into(),
        Kind::PropertyNames { error } => {
            format!("has a key that {}", expected(error.kind()))
        }
        Kind::Not { .. } => "has a form that is not allowed (`not`)".into(),
        Kind::UnevaluatedItems { .. } => "has items that the schema does not describe".into(),
        Kind::Contains => "does not have the items that `contains` asks for".into(),
        // Never the validator's own text: it may repeat the value, or the schema with a keyword of ours in it.
        kind => format!("breaks the contract: `{}`", kind.keyword()),
    }
}

/// A number with its noun: `1 error`, `2 errors`.
pub fn counted(count: impl fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

fn types(kind: &TypeKind) -> String {
    let article = |name: &str| match name {
        "integer" => "a whole number".to_owned(),
        "array" | "object" => format!("an {name}"),
        "null" => "null".to_owned(),
        name => format!("a {name}"),
    };
    match kind {
        TypeKind::Single(one) => article(&one.to_string()),
        TypeKind::Multiple(set) => {
            set.iter().map(|one| article(&one.to_string())).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn values(options: &[Value]) -> String {
    let mut shown: Vec<_> = options.iter().take(12).map(short).collect();
    if options.len() > shown.len() {
        shown.push("…".into());
    }
    shown.join(", ")
}

/// A value out of the contract itself: harmless to repeat, not always short.
fn short(value: &Value) -> String {
    let text = value.to_string();
    if text.len() <= 80 { text } else { "a certain value".into() }
}

/// The keys that the object could have had, for a suggestion.
fn known_keys(error: &jsonschema::ValidationError<'_>, schema: &Value) -> Vec<String> {
    let path = error.schema_path().to_string();
    let Some((parent, _)) = path.rsplit_once('/') else { return Vec::new() };
    schema
        .pointer(&format!("{parent}/properties"))
        .and_then(Value::as_object)
        .map(|properties| properties.keys().cloned().collect())
        .unwrap_or_default()
}

/// The known word that the given one was probably meant to be.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Similarity is quadratic; nobody mistypes a kilobyte.
    if word.len() > 64 {
        return None;
    }
    known
        .map(|candidate| (strsim::jaro_winkler(word, candidate), candidate))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, candidate)| candidate)
}

/// The end of a message about an unknown word: `; did you mean ...?`, or nothing if no known one is near.
pub fn did_you_mean<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(word, known).map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// True if a word is a typing error for a known one: it differs in one or two letters, and
/// short words in one.
pub fn is_slip<'a>(word: &str, mut known: impl Iterator<Item = &'a str>) -> bool {
    let most = if word.len() <= 4 { 1 } else { 2 };
    let alike =
        |one: &str| one.len().abs_diff(word.len()) <= 1 && strsim::osa_distance(word, one) <= most;
    word.len() <= 64 && known.any(alike)
}

/// A key as a JSON pointer token.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
