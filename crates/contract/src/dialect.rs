//! The versions of JSON Schema, and what a keyword means in each.
//!
//! Contracts of our own are written in 2020-12. Schemas of other people come in the dialect that
//! their `$schema` names, from draft-04 on, and mean what that dialect says.

use jsonschema::Draft;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::SchemaError;

/// A version of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Dialect {
    /// Draft 4, of 2013.
    #[serde(rename = "draft-04")]
    Draft04,
    /// Draft 6, of 2017.
    #[serde(rename = "draft-06")]
    Draft06,
    /// Draft 7, of 2018.
    #[serde(rename = "draft-07")]
    Draft07,
    /// 2019-09.
    #[serde(rename = "2019-09")]
    Draft201909,
    /// 2020-12, which is meant where nothing is said.
    #[serde(rename = "2020-12")]
    Draft202012,
}

impl Dialect {
    /// Every dialect, the oldest first.
    pub const ALL: [Dialect; 5] = [
        Dialect::Draft04,
        Dialect::Draft06,
        Dialect::Draft07,
        Dialect::Draft201909,
        Dialect::Draft202012,
    ];

    /// The dialect that a schema declares at its root.
    pub fn of(schema: &Value) -> Result<Self, SchemaError> {
        match schema.get("$schema") {
            None => Ok(Dialect::Draft202012),
            Some(Value::String(address)) => Self::named(address).ok_or_else(|| {
                let known = Self::ALL.map(Self::word).join(", ");
                let message =
                    format!("declares the unknown dialect `{address}`; known are {known}");
                SchemaError::new("/$schema", message)
            }),
            Some(_) => Err(SchemaError::new("/$schema", "must be the URI of a dialect")),
        }
    }

    /// The dialect of an address, as it stands in `$schema`.
    pub fn named(address: &str) -> Option<Self> {
        Some(match Draft::from_schema_uri(address) {
            Draft::Draft4 => Dialect::Draft04,
            Draft::Draft6 => Dialect::Draft06,
            Draft::Draft7 => Dialect::Draft07,
            Draft::Draft201909 => Dialect::Draft201909,
            Draft::Draft202012 => Dialect::Draft202012,
            _ => return None,
        })
    }

    /// Its usual name.
    pub fn word(self) -> &'static str {
        match self {
            Dialect::Draft04 => "draft-04",
            Dialect::Draft06 => "draft-06",
            Dialect::Draft07 => "draft-07",
            Dialect::Draft201909 => "2019-09",
            Dialect::Draft202012 => "2020-12",
        }
    }

    /// The value of `$schema`.
    pub fn address(self) -> &'static str {
        match self {
            Dialect::Draft04 => "http://json-schema.org/draft-04/schema#",
            Dialect::Draft06 => "http://json-schema.org/draft-06/schema#",
            Dialect::Draft07 => "http://json-schema.org/draft-07/schema#",
            Dialect::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
            Dialect::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    pub fn draft(self) -> Draft {
        match self {
            Dialect::Draft04 => Draft::Draft4,
            Dialect::Draft06 => Draft::Draft6,
            Dialect::Draft07 => Draft::Draft7,
            Dialect::Draft201909 => Draft::Draft201909,
            Dialect::Draft202012 => Draft::Draft202012,
        }
    }

    /// True if keywords beside `$ref` mean nothing, as up to draft-07.
    pub fn reference_stands_alone(self) -> bool {
        self <= Dialect::Draft07
    }

    /// The first dialect that a keyword of 2020-12 which decides about values, or holds schemas,
    /// meant something in. `None` where that was the first of all, for annotations, and for what
    /// nobody knows.
    fn since(keyword: &str) -> Option<Dialect> {
        Some(match keyword {
            "const" | "contains" | "propertyNames" => Dialect::Draft06,
            "if" | "then" | "else" => Dialect::Draft07,
            "$defs"
            | "dependentRequired"
            | "dependentSchemas"
            | "maxContains"
            | "minContains"
            | "unevaluatedItems"
            | "unevaluatedProperties" => Dialect::Draft201909,
            "prefixItems" | "$dynamicRef" => Dialect::Draft202012,
            _ => return None,
        })
    }

    /// True if a keyword that decides about values in 2020-12 does so in this dialect too.
    pub fn knows(self, keyword: &str) -> bool {
        Self::since(keyword).is_none_or(|first| first <= self)
    }
}

/// The content of a keyword of JSON Schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeywordContent {
    /// A schema, or a list of them.
    Schemas,
    /// Names, each with a schema or with other names.
    Named,
    /// A list of names.
    Names,
    /// Values that are taken as they are.
    Values,
    /// A word of the language, a number or a switch.
    Fixed,
    /// A text, or anything else that changes no value.
    Text,
}

/// The keywords of all dialects that decide about values, hold schemas or name one.
const KEYWORDS: [(KeywordContent, &str); 5] = [
    (
        KeywordContent::Schemas,
        "additionalItems additionalProperties allOf anyOf contains contentSchema else if items not \
         oneOf prefixItems propertyNames then unevaluatedItems unevaluatedProperties",
    ),
    (
        KeywordContent::Named,
        "$defs definitions dependencies dependentRequired dependentSchemas patternProperties \
         properties",
    ),
    (KeywordContent::Names, "required"),
    (KeywordContent::Values, "const enum"),
    (
        KeywordContent::Fixed,
        "$anchor $dynamicAnchor $dynamicRef $id $recursiveAnchor $recursiveRef $ref $schema \
         $vocabulary contentEncoding contentMediaType exclusiveMaximum exclusiveMinimum format id \
         maxContains maxItems maxLength maxProperties maximum minContains minItems minLength \
         minProperties minimum multipleOf pattern type uniqueItems",
    ),
];

/// All of them.
pub fn keywords() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().flat_map(|(_, keywords)| keywords.split(' '))
}

/// The content of a keyword. A keyword that no dialect knows is text.
pub fn content_of(keyword: &str) -> KeywordContent {
    let known = KEYWORDS.iter().find(|(_, all)| all.split(' ').any(|one| one == keyword));
    known.map_or(KeywordContent::Text, |(content, _)| *content)
}

/// The relation of a schema to the one around it: the part of the value that it applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applicator<'a> {
    /// A part of the object with this name.
    Property(&'a str),
    /// Parts whose names match.
    Pattern(&'a str),
    /// Parts that no other keyword beside it speaks about.
    AdditionalProperties,
    /// Parts that nothing speaks about.
    UnevaluatedProperties,
    /// The names of the parts.
    PropertyNames,
    /// The item at this subschema.
    Prefix(usize),
    /// All items, or the rest of them.
    Items,
    /// Some items.
    Contains,
    /// Items that nothing speaks about.
    UnevaluatedItems,
    /// The value itself, always: `allOf`, and where a reference leads.
    All,
    /// The value itself, perhaps: `anyOf` and `oneOf`.
    Choice,
    /// The value itself, the other way round.
    Not,
    /// The value itself, perhaps: `if`, `then`, `else`.
    Condition,
    /// The value itself if it has this part.
    Dependent(&'a str),
    /// Nothing, until somebody refers to it.
    Definition(&'a str),
}

impl Applicator<'_> {
    /// True if the schema applies to the same value as the one around it.
    pub fn is_in_place(self) -> bool {
        use Applicator::{All, Choice, Condition, Dependent, Not};
        matches!(self, All | Choice | Not | Condition | Dependent(_))
    }
}

/// A schema inside a schema.
#[derive(Debug, Clone, Copy)]
pub struct ChildSchema<'a> {
    pub applicator: Applicator<'a>,
    /// The keyword that it stands under.
    pub keyword: &'a str,
    /// Its name or number there.
    pub key: Option<ChildKey<'a>>,
    pub schema: &'a Value,
}

/// A step of a JSON pointer below a keyword.
#[derive(Debug, Clone, Copy)]
pub enum ChildKey<'a> {
    Name(&'a str),
    Index(usize),
}

/// The schemas right inside a schema, in the order of the document.
pub fn child_schemas(dialect: Dialect, schema: &Map<String, Value>) -> Vec<ChildSchema<'_>> {
    let alone = dialect.reference_stands_alone() && schema.contains_key("$ref");
    let tuple = match schema.get("items") {
        Some(Value::Array(items)) if dialect != Dialect::Draft202012 => Some(items.len()),
        _ => None,
    };
    let mut found = Vec::new();
    for (keyword, value) in schema {
        let keyword = keyword.as_str();
        let is_definition = matches!(keyword, "$defs" | "definitions");
        if (alone && !is_definition) || !dialect.knows(keyword) {
            continue;
        }
        let mut one =
            |applicator| found.push(ChildSchema { applicator, keyword, key: None, schema: value });
        match keyword {
            "additionalProperties" => one(Applicator::AdditionalProperties),
            "unevaluatedProperties" => one(Applicator::UnevaluatedProperties),
            "propertyNames" => one(Applicator::PropertyNames),
            "items" if tuple.is_none() => one(Applicator::Items),
            "additionalItems" if tuple.is_some() => one(Applicator::Items),
            "contains" => one(Applicator::Contains),
            "unevaluatedItems" => one(Applicator::UnevaluatedItems),
            "not" => one(Applicator::Not),
            "if" | "then" | "else" => one(Applicator::Condition),
            "items" | "prefixItems" => listed(&mut found, keyword, value, Applicator::Prefix),
            "allOf" => listed(&mut found, keyword, value, |_| Applicator::All),
            "anyOf" | "oneOf" => listed(&mut found, keyword, value, |_| Applicator::Choice),
            "properties" => named(&mut found, keyword, value, Applicator::Property),
            "patternProperties" => named(&mut found, keyword, value, Applicator::Pattern),
            "dependentSchemas" | "dependencies" => {
                named(&mut found, keyword, value, Applicator::Dependent);
            }
            "$defs" | "definitions" => named(&mut found, keyword, value, Applicator::Definition),
            _ => {}
        }
    }
    found
}

fn listed<'a>(
    found: &mut Vec<ChildSchema<'a>>,
    keyword: &'a str,
    value: &'a Value,
    applicator: impl Fn(usize) -> Applicator<'a>,
) {
    for (index, schema) in value.as_array().into_iter().flatten().enumerate() {
        found.push(ChildSchema {
            applicator: applicator(index),
            keyword,
            key: Some(ChildKey::Index(index)),
            schema,
        });
    }
}

fn named<'a>(
    found: &mut Vec<ChildSchema<'a>>,
    keyword: &'a str,
    value: &'a Value,
    applicator: impl Fn(&'a str) -> Applicator<'a>,
) {
    for (name, schema) in value.as_object().into_iter().flatten() {
        // `dependencies` has lists of names beside schemas.
        if !schema.is_array() {
            found.push(ChildSchema {
                applicator: applicator(name),
                keyword,
                key: Some(ChildKey::Name(name)),
                schema,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Applicator::*, *};

    #[test]
    fn the_dialect_is_what_the_root_says() {
        for dialect in Dialect::ALL {
            let declared = json!({ "$schema": dialect.address() });
            assert_eq!(Dialect::of(&declared).unwrap(), dialect, "{}", dialect.word());
            assert_eq!(serde_json::to_value(dialect).unwrap(), dialect.word());
        }
        assert_eq!(Dialect::of(&json!({})).unwrap(), Dialect::Draft202012);
        assert_eq!(Dialect::of(&json!(true)).unwrap(), Dialect::Draft202012);
        let unknown = Dialect::of(&json!({ "$schema": "http://json-schema.org/draft-03/schema#" }));
        assert_eq!(
            unknown.unwrap_err().to_string(),
            "declares the unknown dialect `http://json-schema.org/draft-03/schema#`; known are \
             draft-04, draft-06, draft-07, 2019-09, 2020-12"
        );
        assert_eq!(Dialect::of(&json!({ "$schema": 7 })).unwrap_err().pointer, "/$schema");
    }

    #[test]
    fn keywords_mean_what_their_dialect_says() {
        let schema = json!({
            "items": [{}, {}], "additionalItems": {}, "if": {}, "const": {}, "properties": { "a": {} },
            "dependencies": { "x": ["y"], "z": {} },
        });
        let applicators = |dialect| {
            let parts = child_schemas(dialect, schema.as_object().unwrap());
            parts.into_iter().map(|part| part.applicator).collect::<Vec<_>>()
        };
        let last = [Property("a"), Dependent("z")];
        assert_eq!(
            applicators(Dialect::Draft04),
            [&[Prefix(0), Prefix(1), Items][..], &last].concat()
        );
        assert_eq!(
            applicators(Dialect::Draft07),
            [&[Prefix(0), Prefix(1), Items, Condition][..], &last].concat()
        );
        assert_eq!(applicators(Dialect::Draft202012), [&[Items, Condition][..], &last].concat());
        let alone = json!({ "$ref": "#", "properties": { "a": {} }, "definitions": { "b": {} } });
        let count = |dialect| child_schemas(dialect, alone.as_object().unwrap()).len();
        assert_eq!((count(Dialect::Draft07), count(Dialect::Draft201909)), (1, 2));
    }
}
