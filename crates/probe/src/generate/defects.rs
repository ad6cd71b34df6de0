//! Values with one defect.

use serde_json::{Value, json};

use super::{
    MAX_VALUE_BYTES, ValuePart, copies, pattern_text::MAX_TEXT, value_builder::as_value, weight,
};
use contract::json::kind;

/// The longest list with too many items.
const MAX_LIST: usize = 2_000;
/// A name that nobody uses.
const UNKNOWN: &str = "toolgate_unknown_property";

/// Values for this place with one defect each, and a title. Nothing is sure here: the
/// schema is asked about each.
pub(super) fn of(site: &ValuePart) -> Vec<(String, Option<Value>)> {
    let mut found: Vec<(String, Option<Value>)> = Vec::new();
    let view = &site.view;
    if !view.allows("null") || view.listed.is_some() {
        found.push(("is null".to_owned(), Some(Value::Null)));
    }
    let others = [json!("text"), json!(7), json!(true), json!([]), json!({}), json!(0.5)];
    let own = kind(site.value);
    for other in others {
        let kind_of_other = kind(&other);
        let related = matches!((own, kind_of_other), ("number", "integer") | ("integer", "number"));
        if kind_of_other != own && !related && !view.allows(kind_of_other) {
            found.push((format!("of the wrong type, {}", article(kind_of_other)), Some(other)));
        }
    }
    if view.allows("integer") && !view.allows("number") {
        found.push(("a number with a fraction".to_owned(), Some(json!(1.5))));
    }
    if let Some(listed) = &view.listed {
        let unlisted = json!("toolgate-not-listed");
        if !listed.contains(&&unlisted) {
            found.push(("not one of the listed values".to_owned(), Some(unlisted)));
        }
        return found;
    }
    match site.value {
        Value::String(text) => texts(site, text, &mut found),
        Value::Number(_) => numbers(site, !view.allows("number"), &mut found),
        Value::Array(items) => lists(site, items, &mut found),
        Value::Object(fields) => {
            for name in view.required.iter().take(copies(site.value)) {
                let mut fields = fields.clone();
                if fields.shift_remove(*name).is_some() {
                    found.push((format!("`{name}` is missing"), Some(Value::Object(fields))));
                }
            }
            let mut more = fields.clone();
            more.insert(UNKNOWN.to_owned(), json!(1));
            // Only a schema that is closed has something against it.
            let closed = !view.additional.is_empty();
            found.push(("an unknown property".to_owned(), closed.then_some(Value::Object(more))));
        }
        _ => {}
    }
    found
}

fn texts(site: &ValuePart, text: &str, found: &mut Vec<(String, Option<Value>)>) {
    let view = &site.view;
    let mut add = |title: &str, text: String| found.push((title.to_owned(), Some(json!(text))));
    if let Some(least) = view.min_length.filter(|least| *least > 0) {
        add("too short", text.chars().take(least - 1).collect());
    }
    if let Some(most) = view.max_length.filter(|most| *most < MAX_TEXT) {
        let filler = text.chars().next_back().unwrap_or('a');
        let mut long = text.to_owned();
        long.extend(std::iter::repeat_n(filler, (most + 1).saturating_sub(text.chars().count())));
        add("too long", long);
    }
    if view.format.is_some() {
        add("does not match the format", " not \u{1} of any format ".to_owned());
    }
    if !view.patterns.is_empty() {
        for wrong in ["\u{1}", "", "!", "a b", "0", "Z"] {
            add("does not match the pattern", wrong.to_owned());
        }
    }
}

fn numbers(site: &ValuePart, whole: bool, found: &mut Vec<(String, Option<Value>)>) {
    let view = &site.view;
    let step = view.multiple_of.unwrap_or(if whole { 1.0 } else { 0.001 });
    let mut add = |title: &str, number: f64| {
        found.push((title.to_owned(), as_value(number, whole)));
    };
    if let Some(least) = view.minimum {
        add("below the minimum", least - step);
    }
    if let Some(most) = view.maximum {
        add("above the maximum", most + step);
    }
    if let Some(bound) = view.exclusive_minimum {
        add("at the excluded bound", bound);
    }
    if let Some(bound) = view.exclusive_maximum {
        add("at the excluded bound", bound);
    }
    if let (Some(step), Some(number)) = (view.multiple_of, site.value.as_f64()) {
        found.push(("not a multiple".to_owned(), as_value(number + step / 2.0, false)));
    }
}

fn lists(site: &ValuePart, items: &[Value], found: &mut Vec<(String, Option<Value>)>) {
    let view = &site.view;
    if let Some(least) = view.min_items.filter(|least| *least > 0) {
        let few: Vec<Value> = items.iter().take(least - 1).cloned().collect();
        found.push(("too few items".to_owned(), Some(Value::Array(few))));
    }
    let last = items.last().cloned();
    let fits = |most: &usize| {
        let each = last.as_ref().map_or(0, weight);
        *most < MAX_LIST && (most + 1).saturating_mul(each) <= MAX_VALUE_BYTES
    };
    if let (Some(most), Some(last)) = (view.max_items.filter(fits), &last) {
        let mut many = items.to_vec();
        many.resize(most + 1, last.clone());
        found.push(("too many items".to_owned(), Some(Value::Array(many))));
    }
    if let (true, Some(last)) = (view.unique, last) {
        let mut twice = items.to_vec();
        twice.push(last);
        found.push(("the same item twice".to_owned(), Some(Value::Array(twice))));
    }
}

fn article(kind: &str) -> String {
    match kind {
        "array" | "integer" | "object" => format!("an {kind}"),
        kind => format!("a {kind}"),
    }
}
