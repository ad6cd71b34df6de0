//! Choices that the question leaves open, and those that it names.

use serde_json::{Value, json};

use super::{check as check_words, said};

#[track_caller]
fn check(question: &str, args: &Value, is_fine: bool) {
    let found = said("stock", question, args);
    assert_eq!(found.is_none(), is_fine, "{question} {args}: {found:?}");
}

#[test]
fn the_choice_that_is_named_is_taken() {
    for (question, named) in [
        ("Look up laptops", "laptop"),
        ("Which servers are in Berlin?", "server"),
        ("Laptops of the sales team", "laptop"),
        ("Please show me all phones", "phone"),
        ("How many Servers do we have?", "server"),
    ] {
        for kind in ["laptop", "server", "phone"] {
            check(question, &json!({ "kind": kind }), kind == named);
            check(question, &json!({ "kinds": [kind] }), kind == named);
        }
    }
    check("tickets in progress", &json!({ "state": "closed" }), false);
    check("tickets in progress", &json!({ "state": "in_progress" }), true);
    check_words(
        "stock",
        "Look up laptops",
        &json!({ "kind": "server" }),
        "Arg 'kind' is 'server', and the question names 'laptop'",
    );
}

#[test]
fn what_the_question_leaves_open_may_be_chosen() {
    check("What do we have in Berlin?", &json!({ "kind": "server" }), true);
    check("laptops and servers", &json!({ "kind": "server" }), true);
    check("laptops and servers", &json!({ "kinds": ["laptop", "server"] }), true);
    // More than was named is no other.
    check("laptops", &json!({ "kinds": ["laptop", "server"] }), true);
    // Another word for it.
    check("Which notebooks hang at the server?", &json!({ "kind": "laptop" }), true);
    check("everything that is not a laptop", &json!({ "kind": "server" }), true);
    check("tickets that aren't closed", &json!({ "state": "in_progress" }), true);
    // A deed is no state.
    check("Open the tickets of Bob", &json!({ "state": "closed" }), true);
    check("Could you open the tickets of Bob", &json!({ "state": "closed" }), true);
    // How it is shown is for the model to say.
    check("laptops with their title", &json!({ "sort_by": "date" }), true);
    // What is taken anyway may be taken.
    check("closed tickets", &json!({ "state": "open" }), true);
}
