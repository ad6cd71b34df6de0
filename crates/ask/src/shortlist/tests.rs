//! The right tool is among the first, within the budget, every time.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The lowest place at which the right tool may stand.
const FIRST: usize = 5;

/// The tools of the table, and its questions with the place of the tool that answers them.
fn table() -> (Vec<Vec<&'static str>>, Vec<(&'static str, usize)>) {
    let (mut tools, mut questions) = (Vec::new(), Vec::new());
    let lines = include_str!("tests/catalogue.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            Some(question) => questions.push((question, tools.len() - 1)),
            None => tools.push(line.split(" | ").collect()),
        }
    }
    (tools, questions)
}

/// A schema with these properties, each of which may say something: `id: as in sp-001`.
fn schema(properties: &[&str]) -> Value {
    let properties = properties.iter().map(|property| {
        let (name, description) = property.split_once(": ").unwrap_or((property, ""));
        (name.to_owned(), json!({ "type": "string", "description": description }))
    });
    json!({ "type": "object", "properties": Value::Object(properties.collect()) })
}

fn entry<'a>(
    name: &'a str,
    description: &'a str,
    schema: &'a Value,
    tokens: usize,
) -> ShortlistEntry<'a> {
    ShortlistEntry { name, description, schema, tokens }
}

fn index() -> ToolIndex {
    let (tools, _) = table();
    let schemas: Vec<Value> = tools.iter().map(|tool| schema(&tool[2..])).collect();
    let entries = tools.iter().zip(&schemas);
    ToolIndex::new(entries.map(|(tool, schema)| entry(tool[0], tool[1], schema, 100)))
}

#[test]
fn the_right_tool_is_among_the_first() {
    let (index, again, (tools, questions)) = (index(), index(), table());
    assert!(tools.len() >= 40 && questions.len() >= 40);
    let (mut wrong, mut best) = (Vec::new(), 0);
    for (question, right) in &questions {
        let ranked = index.ranked(question);
        let place = ranked.iter().position(|tool| tool == right).unwrap();
        best += usize::from(place == 0);
        if place >= FIRST {
            wrong.push(format!("{question:?}: {} is number {}", tools[*right][0], place + 1));
        }
        assert_eq!(ranked, again.ranked(question), "the same every time");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A search that gets worse is seen here before it drops anything.
    assert!(best * 10 >= questions.len() * 8, "{best} of {} stand first", questions.len());
}

#[test]
fn a_question_about_nothing_gets_the_first_of_the_catalogue() {
    for question in ["", "the of and", "zzzz qqqq", "\u{0}\u{200b}"] {
        assert_eq!(index().pick(question, 350), [0, 1, 2], "{question:?}");
    }
}

#[test]
fn what_does_not_fit_is_passed_over_for_what_does() {
    let empty = json!({});
    let tools = [("weather_now", 50), ("weather", 900), ("news", 40), ("huge", usize::MAX)];
    let index = ToolIndex::new(tools.map(|(name, tokens)| entry(name, "", &empty, tokens)));
    assert_eq!(index.pick("weather", 100), [0, 2]);
    assert_eq!(index.pick("weather", 940), [1, 2]);
    assert!(index.pick("weather", 39).is_empty());
}

#[test]
fn every_part_of_a_tool_is_found_and_a_name_counts_most() {
    let nested = json!({ "properties": { "filter": { "anyOf": [{ "items": { "properties": {
        "colour": { "enum": ["crimson"], "title": "Shade", "examples": ["tone-7"], "pattern": "^HUE[0-9]+$" }
    } } }] } } });
    let empty = json!({});
    let index = ToolIndex::new([
        entry("other", "Says parcel once.", &empty, 10),
        entry("parcel", "", &empty, 10),
        entry("deep", "", &nested, 10),
    ]);
    assert_eq!(index.ranked("parcel")[..2], [1, 0]);
    for question in ["filters", "colour", "crimson", "shade", "tone-9", "HUE12"] {
        assert_eq!(index.ranked(question)[0], 2, "{question}");
    }
}

#[test]
fn a_hostile_tool_stays_within_limits() {
    let words: String = (0..200_000).map(|at| format!("word{at}x ")).collect();
    let mut deep = json!({ "properties": { "bottom": {} } });
    // As deep as JSON can be read.
    for _ in 0..contract::MAX_VALUE_DEPTH / 2 {
        deep = json!({ "properties": { "level": deep } });
    }
    let wide: serde_json::Map<_, _> = (0..5_000).map(|at| (format!("p{at}"), json!({}))).collect();
    let wide = json!({ "properties": wide });
    let index = ToolIndex::new([entry("hostile", &words, &wide, 10)]);
    assert!(index.postings.len() <= MAX_TERMS_PER_TOOL);
    let index = ToolIndex::new([entry("deep", "", &deep, 10)]);
    assert!(index.postings.contains_key("level") && index.postings.contains_key("bottom"));
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
        let index = ToolIndex::new(entries.map(|((name, description, tokens), schema)| {
            entry(name, description, schema, *tokens)
        }));
        let picked = index.pick(&question, budget);
        let used: usize = picked.iter().map(|tool| tools[*tool].2).sum();
        prop_assert!(used <= budget);
        prop_assert!(picked.is_sorted_by(|one, other| one < other));
        // Nothing that would still fit is left out.
        let fits = |tool: usize| tools[tool].2 <= budget - used;
        prop_assert!((0..tools.len()).all(|tool| picked.contains(&tool) || !fits(tool)));
    }
}
