//! Numbers that a model may choose, and those that the question gives.

use serde_json::json;

use super::said;

#[track_caller]
fn check(question: &str, name: &str, number: i64, is_fine: bool) {
    let found = said("page", question, &json!({ "query": "mail", name: number }));
    let found = found.filter(|said| !said.contains("query"));
    assert_eq!(found.is_none(), is_fine, "{question} {name}: {number}: {found:?}");
}

#[test]
fn a_limit_may_be_chosen_where_nobody_says_one() {
    for question in [
        "find mail documents",
        "mail of the last 30 days",
        "find mail tickets of the last 3 months",
        "show mail about error 500",
        "find mail tickets from 2024",
        "summarize mail in 3 sentences",
        "find the mail policy and give me 3 bullets",
        "read the first 2 chapters on mail",
        "mail about 5 users without access",
        "is mail with 10 recipients slow?",
        "tickets about mail on port 25",
    ] {
        check(question, "limit", 17, true);
        check(question, "max_results", 40, true);
        check(question, "page", 2, true);
    }
}

#[test]
fn the_number_of_the_question_is_not_replaced() {
    for (question, asked) in [
        ("Find 30 tickets about mail", 30),
        ("show me the first 5 mail documents", 5),
        ("list the latest 3 open network tickets about mail", 3),
        ("top 7 tickets about mail", 7),
        ("Give me at most 12 results on mail", 12),
        ("Mail is slow. Show 8 tickets.", 8),
        ("which are the 4 newest tickets about mail?", 4),
        ("find twenty-five tickets about mail", 25),
        ("please list ten mail documents", 10),
        ("get up to 15 mails of the last 30 days", 15),
        ("mail tickets, limit 9", 9),
        ("mail tickets with a limit of 9", 9),
    ] {
        check(question, "limit", asked, true);
        check(question, "limit", 17, false);
        check(question, "limit", asked + 20, false);
    }
    check("Find 100 tickets about mail of the last 30 days", "max_results", 30, false);
    check("Find 100 tickets about mail", "max_results", 50, false);
    check("Find 1,000 tickets about mail", "max_results", 1000, true);
    check("Find one hundred tickets about mail", "max_results", 100, true);
    check("Find one hundred tickets about mail", "max_results", 60, false);
    check("page 3 of the mail tickets", "page", 3, true);
    check("page 3 of the mail tickets", "page", 2, false);
    check("find 5 mail tickets", "page", 2, true);
    check("find 5 mail tickets", "timeout_seconds", 60, true);
    check("find mail with a timeout of 5", "timeout_seconds", 60, false);
}

#[test]
fn what_lies_beyond_the_bounds_becomes_the_bound() {
    check("Find 100 tickets about mail", "limit", 50, true);
    check("Find 100 tickets about mail", "limit", 49, false);
    check("Find 40 tickets about mail", "limit", 50, false);
    check("Find 0 tickets about mail", "limit", 1, true);
    check("Find 7 tickets about mail", "limit", 1, false);
}

#[test]
fn the_default_stands_for_leaving_it_out() {
    check("Find 100 tickets about mail", "limit", 10, true);
}

#[test]
fn whatever_the_verb_the_number_counts() {
    for (question, asked) in [
        ("Look up 4 mails", 4),
        ("Look up the first 4 mails", 4),
        ("look up at most 20 tickets about mail", 20),
        ("Pull up 6 mail tickets", 6),
        ("Could you pick 3 mail documents?", 3),
        ("I'd like 5 mail tickets", 5),
        ("Send me no more than 8 mail tickets", 8),
        ("mail tickets, at most 20", 20),
        ("mail tickets, at most 20 results please", 20),
        ("tickets about mail (max 6)", 6),
        ("tickets about mail, only the first 7.", 7),
        ("tickets about mail, a maximum of 12", 12),
        ("Select five tickets about mail", 5),
        ("I am looking for 4 mails", 4),
        ("Which 6 mails are the newest?", 6),
    ] {
        check(question, "limit", asked, true);
        check(question, "limit", 2, false);
        check(question, "limit", 33, false);
    }
    for question in [
        "look up mail of the last 30 days",
        "look up mail with at most 10 recipients",
        "check mail on port 25",
        "look up mail, error 500",
        "look up mail from 2024",
        "pick the mail with 3 attachments",
    ] {
        check(question, "limit", 17, true);
    }
}
