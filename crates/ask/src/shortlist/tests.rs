//! The right tool is among the first, within the budget, every time.

mod catalogue;

use std::time::{Duration, Instant};

use catalogue::{QUESTIONS, TOOLS};
use proptest::prelude::*;
use serde_json::json;

use super::*;

/// How far down the right tool may stand.
const FIRST: usize = 5;

/// A schema with these properties, each of which may say something: `id: as in sp-001`.
fn schema(properties: &[&str]) -> Value {
    let properties = properties.iter().map(|property| {
        let (name, said) = property.split_once(": ").unwrap_or((property, ""));
        (name.to_owned(), json!({ "type": "string", "description": said }))
    });
    json!({ "type": "object", "properties": Value::Object(properties.collect()) })
}

fn index() -> ToolIndex {
    let schemas: Vec<Value> = TOOLS.iter().map(|(_, _, properties)| schema(properties)).collect();
    ToolIndex::new(TOOLS.iter().zip(&schemas).map(|((name, description, _), schema)| {
        ShortlistEntry { name, description, schema, tokens: 100 }
    }))
}

fn one(name: &str, description: &str, schema: &Value, tokens: usize) -> ToolIndex {
    ToolIndex::new([ShortlistEntry { name, description, schema, tokens }])
}

#[test]
fn the_right_tool_is_among_the_first() {
    let index = index();
    let (mut wrong, mut best) = (Vec::new(), 0);
    for (question, right) in QUESTIONS {
        let ranked = index.ranked(question);
        let place = ranked.iter().position(|tool| TOOLS[*tool].0 == *right).unwrap();
        best += usize::from(place == 0);
        if place >= FIRST {
            wrong.push(format!("{question:?}: {right} is number {}", place + 1));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A search that gets worse is seen here before it drops anything.
    assert!(best * 10 >= QUESTIONS.len() * 8, "{best} of {} stand first", QUESTIONS.len());
}

#[test]
fn the_table_is_long_enough_to_mean_something() {
    assert!(TOOLS.len() >= 40 && QUESTIONS.len() >= 40);
}

#[test]
fn all_are_chosen_where_all_fit() {
    let index = index();
    let all = index.pick("anything", TOOLS.len() * 100);
    assert_eq!(all, Shortlist { chosen: (0..TOOLS.len()).collect(), left_out: 0 });
    assert_eq!(ToolIndex::new([]).pick("x", 0), Shortlist { chosen: vec![], left_out: 0 });
    assert!(ToolIndex::new([]).is_empty());
}

#[test]
fn the_chosen_come_in_the_order_of_the_catalogue() {
    let picked = index().pick("what does policy-002 say?", 500);
    assert_eq!(picked.chosen.len(), 5);
    assert!(picked.chosen.is_sorted());
    assert_eq!(picked.left_out, TOOLS.len() - 5);
    assert!(picked.chosen.iter().any(|tool| TOOLS[*tool].0 == "fetch_policy_entry"));
}

#[test]
fn a_question_about_nothing_gets_the_first_of_the_catalogue() {
    for question in ["", "the of and", "zzzz qqqq", "\u{0}\u{200b}"] {
        assert_eq!(index().pick(question, 350).chosen, [0, 1, 2], "{question:?}");
    }
}

#[test]
fn what_does_not_fit_is_passed_over_for_what_does() {
    let empty = json!({});
    let entry = |name, tokens| ShortlistEntry { name, description: "", schema: &empty, tokens };
    let tools = [entry("weather_now", 50), entry("weather", 900), entry("news", 40)];
    let index = ToolIndex::new(tools);
    assert_eq!(index.pick("weather", 100).chosen, [0, 2]);
    assert_eq!(index.pick("weather", 940).chosen, [1, 2]);
    assert_eq!(index.pick("weather", 39), Shortlist { chosen: vec![], left_out: 3 });
    assert_eq!(one("x", "", &empty, usize::MAX).pick("x", 5).left_out, 1);
}

#[test]
fn every_part_of_a_tool_is_found_and_a_name_counts_most() {
    let nested = json!({ "properties": { "filter": { "anyOf": [{ "items": { "properties": {
        "colour": { "enum": ["crimson"], "title": "Shade", "examples": ["tone-7"], "pattern": "^HUE[0-9]+$" }
    } } }] } } });
    let empty = json!({});
    let entry =
        |name, description, schema| ShortlistEntry { name, description, schema, tokens: 10 };
    let index = ToolIndex::new([
        entry("other", "Says parcel once.", &empty),
        entry("parcel", "", &empty),
        entry("deep", "", &nested),
    ]);
    assert_eq!(index.ranked("parcel")[..2], [1, 0]);
    for question in ["filters", "colour", "crimson", "shade", "tone-9", "HUE12"] {
        assert_eq!(index.ranked(question)[0], 2, "{question}");
    }
}

#[test]
fn two_indices_of_one_catalogue_agree() {
    let (one, other) = (index(), index());
    for (question, _) in QUESTIONS {
        assert_eq!(one.ranked(question), other.ranked(question));
    }
}

#[test]
fn a_hostile_tool_stays_within_limits() {
    let words: String = (0..200_000).map(|at| format!("word{at}x ")).collect();
    let mut deep = json!({ "properties": { "bottom": {} } });
    for _ in 0..100 {
        deep = json!({ "properties": { "level": deep } });
    }
    let wide: serde_json::Map<_, _> = (0..5_000).map(|at| (format!("p{at}"), json!({}))).collect();
    let wide = json!({ "properties": wide });
    let index = one("hostile", &words, &wide, 10);
    assert!(index.terms.len() <= MAX_TERMS_PER_TOOL);
    let index = one("deep", "", &deep, 10);
    assert!(index.terms.contains_key("level") && !index.terms.contains_key("bottom"));
    let started = Instant::now();
    index.pick(&"level-1 ".repeat(1_000_000), 5);
    assert!(started.elapsed() < Duration::from_secs(2));
}

proptest! {
    #[test]
    fn any_catalogue_and_any_question_keep_the_budget(
        tools in prop::collection::vec((any::<String>(), any::<String>(), 0_usize..50), 0..12),
        question in any::<String>(),
        budget in 0_usize..300,
    ) {
        let schemas: Vec<Value> =
            tools.iter().map(|(name, said, _)| json!({ "properties": { said.clone(): { "title": name } } })).collect();
        let entries = tools.iter().zip(&schemas);
        let index = ToolIndex::new(entries.map(|((name, description, tokens), schema)| ShortlistEntry {
            name, description, schema, tokens: *tokens,
        }));
        let picked = index.pick(&question, budget);
        let used: usize = picked.chosen.iter().map(|tool| tools[*tool].2).sum();
        prop_assert!(used <= budget);
        prop_assert!(picked.chosen.is_sorted_by(|one, other| one < other));
        prop_assert_eq!(picked.chosen.len() + picked.left_out, tools.len());
        // Nothing that would still fit is left out.
        let fits = |tool: usize| tools[tool].2 <= budget - used;
        prop_assert!((0..tools.len()).all(|tool| picked.chosen.contains(&tool) || !fits(tool)));
    }
}
