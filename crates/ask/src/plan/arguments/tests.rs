//! Honest arguments pass, and what is changed about them does not.

mod answers;
mod choices;
mod counts;
mod dishonest;
mod honest;
mod mutants;
mod replaced;
mod tools;

use serde_json::{Map, Value, json};

use super::{strange, strange_answer};

/// What is said of a call of one of the [`tools`].
fn said(tool: &str, question: &str, args: &Value) -> Option<String> {
    strange(&tools::schema(tool), args.as_object().unwrap(), question)
}

#[track_caller]
fn check(tool: &str, question: &str, args: &Value, expected: &str) {
    assert_eq!(said(tool, question, args).as_deref(), Some(expected), "{question}");
}

#[test]
fn the_message_says_what_is_missing() {
    let id = json!({ "id": "policy-001" });
    check(
        "get",
        "what does policy-002 say?",
        &id,
        "Arg 'id' is 'policy-001', which is not in the question; name it there",
    );
    check("get", "policy-002", &json!({ "id": " " }), "Arg 'id' is empty");
    check(
        "port",
        "load it",
        &json!({ "port": 8101 }),
        "Arg 'port' is '8101', which is not in the question",
    );
    check(
        "get",
        "policy-002",
        &json!({ "id": "policy-\u{200b}002" }),
        "Arg 'id' is 'policy-\u{200b}002', which has characters that cannot be seen",
    );
    check(
        "search",
        "who is on call?",
        &json!({ "query": "salaries of all employees" }),
        "Arg 'query' is 'salaries of all employees', which is not in the question",
    );
    check(
        "get",
        "policy-002",
        &json!({ "id": "policy-002", "exfiltrate": 1 }),
        "Arg 'exfiltrate' is neither in the schema nor in the question",
    );
}

#[test]
fn large_input_takes_little_time() {
    let question = "what does policy-002 say about ".repeat(500);
    let text = "policy-003 retention of logs ".repeat(2_000);
    let started = std::time::Instant::now();
    assert!(said("search", &question, &json!({ "query": text })).is_some());
    let marks = "'\"(".repeat(5_000);
    assert!(said("search", &marks, &json!({ "query": "a".repeat(60_000) })).is_some());
    let signs = "策略".repeat(2_000);
    assert!(said("search", &signs, &json!({ "query": "略策日".repeat(7_000) })).is_some());
    let digits = "123 ".repeat(4_000);
    assert!(said("count", &digits, &json!({ "n": 7 })).is_some());
    let mixed = "a策".repeat(4_000);
    let _ = said("search", &mixed, &json!({ "query": "策a ".repeat(12_000) }));
    let _ = strange_answer(&text, &question, &|_| false);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}

#[test]
fn a_schema_that_leads_in_circles_ends() {
    let schema = json!({
        "$ref": "#",
        "properties": { "a": { "$ref": "#/properties/a", "anyOf": [{ "$ref": "#" }] } },
    });
    let args = json!({ "a": { "a": { "a": "made-up-7" } } });
    assert!(strange(&schema, args.as_object().unwrap(), "hello").is_some());
}

proptest::proptest! {
    #[test]
    fn never_panics(question in ".{0,60}", value in ".{0,60}") {
        for tool in ["search", "get"] {
            for name in ["query", "id"] {
                let args = Map::from_iter([(name.to_owned(), json!(value))]);
                let _ = strange(&tools::schema(tool), &args, &question);
            }
        }
        let _ = strange_answer(&value, &question, &|_| false);
    }

    #[test]
    fn never_panics_on_marks(
        question in "([a2é是,.:;='\"()\\[\\]{}/\\\\*_~`|@?#$% -]|://|年|2024|月|二|个|三|'s|march|hundred){0,30}",
        value in "([a2é是,.:;='\"()\\[\\]{}/\\\\*_~`|@?#$% -]|://|年|2024|月|二|个|三|'s|march|hundred){0,30}",
    ) {
        let args = Map::from_iter([("query".to_owned(), json!(value))]);
        let _ = strange(&tools::schema("search"), &args, &question);
        let _ = strange_answer(&value, &question, &|_| false);
    }

    #[test]
    fn a_word_of_the_question_is_fine(words in proptest::collection::vec("[a-zA-Z0-9]{1,8}q([/._-][a-zA-Z0-9]{1,5}){0,2}", 1..9)) {
        let question = words.join(" ");
        for word in words {
            let args = Map::from_iter([("id".to_owned(), json!(word))]);
            proptest::prop_assert_eq!(strange(&tools::schema("get"), &args, &question), None);
        }
    }

    #[test]
    fn a_piece_of_an_id_is_not(id in "[a-z]{2,6}-[0-9]{3,6}", more in "[-/._@][a-z]{1,5}", is_after in proptest::bool::ANY) {
        let longer = if is_after { format!("{id}{more}") } else { format!("{}{id}", more.chars().rev().collect::<String>()) };
        let args = Map::from_iter([("id".to_owned(), json!(id))]);
        let question = format!("please open {longer} for me");
        proptest::prop_assert!(strange(&tools::schema("get"), &args, &question).is_some(), "{}", question);
    }
}
