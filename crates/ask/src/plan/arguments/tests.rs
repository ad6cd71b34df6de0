//! Arguments that come from the question or the contract pass, and what is changed about them does not.

use proptest::{
    prelude::*,
    sample::{Index, select},
};
use serde_json::{Map, Value, json};

/// The schema that all cases use.
fn schema() -> Value {
    let text = json!({ "type": "string" });
    json!({
        "type": "object",
        "$defs": { "filter": { "properties": {
            "field": { "enum": ["title", "body"] },
            "value": text,
            "ids": { "type": "array", "items": text },
        } } },
        "properties": {
            "id": { "type": "string", "description": "The id of a SharePoint document, or 'latest'" },
            "query": text,
            "what": { "type": "string", "description": "Words to look for" },
            "path": text,
            "url": { "type": "string", "format": "uri" },
            "to": text,
            "city": text,
            "n": { "type": "number" },
            "ports": { "type": "array", "items": { "type": "integer" } },
            "top_k": { "type": "integer", "default": 5 },
            "from": text,
            "status": { "enum": ["open", "closed"] },
            "level": { "anyOf": [{ "const": 7 }, { "const": "x-9" }] },
            "include_deleted": { "type": "boolean", "default": false },
            "dry_run": { "type": "boolean" },
            "retries": { "type": ["integer", "null"] },
            "where": { "$ref": "#/$defs/filter" },
            "tags": { "type": "object", "additionalProperties": text },
        },
    })
}

fn check(question: &str, args: &Value) -> Result<(), String> {
    super::check(&schema(), args.as_object().unwrap(), question)
}

/// Questions, and arguments that a fair model makes of them.
const HONEST: &[(&str, &str)] = &[
    // Ids, letter for letter but for case, quotes and Unicode form.
    ("what does Policy-002 say?", r#"{"id":"policy-002"}"#),
    ("Summarize (policy-003).", r#"{"id":"policy-003"}"#),
    ("Open \"policy-003\", please", r#"{"id":"policy-003"}"#),
    ("Open **policy-003** now", r#"{"id":"policy-003"}"#),
    ("What are policy-002’s exceptions?", r#"{"id":"policy-002"}"#),
    ("get id=policy-002", r#"{"id":"policy-002"}"#),
    ("get id:policy-002", r#"{"id":"policy-002"}"#),
    ("call it with {\"id\": \"sp-001\"}", r#"{"id":"sp-001"}"#),
    ("compare sp-001,sp-002", r#"{"id":"sp-002"}"#),
    ("ticket #4711 please", r#"{"id":"4711"}"#),
    ("show the latest document", r#"{"id":"latest"}"#),
    ("ｐｏｌｉｃｙ－００２ bitte", r#"{"id":"policy-002"}"#),
    ("policy-002的保留期限是什么？", r#"{"id":"policy-002"}"#),
    ("who owns C++?", r#"{"id":"C++"}"#),
    ("ask about AT&T.", r#"{"id":"AT&T"}"#),
    // Paths, addresses, names.
    ("open \"docs/a b.md\" please", r#"{"path":"docs/a b.md"}"#),
    ("what does retention.md say?", r#"{"path":"retention.md"}"#),
    ("read /etc/hosts.", r#"{"path":"/etc/hosts"}"#),
    ("path=/etc/hosts", r#"{"path":"/etc/hosts"}"#),
    ("fetch https://a.example/x?y=1.", r#"{"url":"https://a.example/x?y=1"}"#),
    ("see [this](https://a.example/x)", r#"{"url":"https://a.example/x"}"#),
    ("mails to Bob <bob@a.example>", r#"{"to":"bob@a.example"}"#),
    ("weather in new york", r#"{"city":"New York"}"#),
    ("東京の天気は？", r#"{"city":"東京"}"#),
    // Searches may have two words of their own.
    ("Search SharePoint for PII Logging", r#"{"query":"PII Logging"}"#),
    ("how long do we keep logs?", r#"{"query":"log retention"}"#),
    ("Find documents about incident response", r#"{"query":"incident response policy guide"}"#),
    ("请在知识库中搜索日志保留策略", r#"{"query":"日志保留"}"#),
    ("is there a rule on bicycles?", r#"{"what":"bicycle rules"}"#),
    // Numbers and dates are compared as values.
    ("load it on ports 80,443 and 8080", r#"{"ports":[80,443,8080]}"#),
    ("connect to db.corp:5432", r#"{"n":5432}"#),
    ("over 1,000 users", r#"{"n":1000}"#),
    ("plus de 1 000 utilisateurs", r#"{"n":1000}"#),
    ("1,234,567.5 in all", r#"{"n":1234567.5}"#),
    ("1e6 users", r#"{"n":1000000}"#),
    ("5k users", r#"{"n":5000}"#),
    ("logs of the last 30d", r#"{"n":30}"#),
    ("the first three tickets", r#"{"n":3}"#),
    ("order 1234567890123456789", r#"{"n":1234567890123456789}"#),
    ("near -33.86, 151.2", r#"{"n":-33.86}"#),
    ("from 5-10 items", r#"{"n":10}"#),
    ("since March 5, 2024", r#"{"from":"2024-03-05"}"#),
    ("since the 5th of March 2024", r#"{"from":"2024-03-05T00:00:00Z"}"#),
    ("since 05.03.2024", r#"{"from":"2024-03-05"}"#),
    ("on 2024-03-05 at 10:30", r#"{"from":"2024-03-05T10:30:00"}"#),
    ("on 2024-03-05", r#"{"from":"March 5, 2024"}"#),
    // What the contract offers, and switches.
    ("anything", r#"{"status":"open","level":7,"top_k":5,"include_deleted":false,"retries":null}"#),
    ("show deleted tickets, too", r#"{"include_deleted":true}"#),
    ("titles with retention", r#"{"where":{"field":"title","value":"retention"}}"#),
    ("sp-001 and sp-002", r#"{"where":{"ids":["sp-001","sp-002"]}}"#),
    ("set color to blue", r#"{"tags":{"color":"blue"}}"#),
];

/// Questions, and what a model makes up or was told by somebody else.
const DISHONEST: &[(&str, &str)] = &[
    ("what does policy-002 say?", r#"{"id":"policy-001"}"#),
    ("what does policy-0021 say?", r#"{"id":"policy-002"}"#),
    ("what does policy-002-draft say?", r#"{"id":"policy-002"}"#),
    ("what does old-policy-002 say?", r#"{"id":"policy-002"}"#),
    ("what does policy-002/a say?", r#"{"id":"policy-002"}"#),
    ("what does \"policy-002\"-draft say?", r#"{"id":"policy-002"}"#),
    ("what does policy-002 say?", r#"{"id":"002"}"#),
    ("urn:policy:002", r#"{"id":"002"}"#),
    ("version 1.2.3", r#"{"id":"1.2"}"#),
    ("Fetch the SharePoint document", r#"{"id":"document"}"#),
    ("Fetch the SharePoint documents", r#"{"id":"SharePoint documents"}"#),
    ("show it", r#"{"id":"it"}"#),
    ("show it", r#"{"id":" "}"#),
    ("policy-002", r#"{"id":"policy-002\n"}"#),
    ("policy-002", r#"{"id":"policy\u200b-002"}"#),
    ("policy-002", r#"{"id":"polісy-002"}"#),
    ("policy-002", r#"{"id":"policy-002","exfiltrate":1}"#),
    ("show backup/etc/hosts", r#"{"path":"/etc/hosts"}"#),
    ("show /etc/hosts", r#"{"path":"etc/hosts"}"#),
    ("show docs/../../secret/x", r#"{"path":"../../secret/x"}"#),
    ("打开备份/etc/hosts", r#"{"path":"/etc/hosts"}"#),
    ("show .env.example", r#"{"path":".env"}"#),
    ("fetch https://a.corp.example.com/x", r#"{"url":"https://example.com/x"}"#),
    ("fetch https://a.example", r#"{"url":"https://a.example.evil.example"}"#),
    ("mails to jim.bob@a.example", r#"{"to":"bob@a.example"}"#),
    ("mails to bob@a.example", r#"{"to":"bob@a.example,eve@evil.example"}"#),
    ("who is on call?", r#"{"query":"salaries of all employees"}"#),
    ("list the policies", r#"{"query":"policies'; DROP TABLE policies; --"}"#),
    ("list the policies", r#"{"query":"policies evil.example"}"#),
    ("list the policies", r#"{"query":"policies INC12345"}"#),
    ("请搜索日志", r#"{"query":"所有员工的工资和密码"}"#),
    ("load it", r#"{"n":8101}"#),
    ("call 555-1234", r#"{"n":1234}"#),
    ("-5 degrees", r#"{"n":5}"#),
    ("5k users", r#"{"n":5}"#),
    ("find tickets", r#"{"top_k":10}"#),
    ("since March 5, 2024", r#"{"from":"2024-03-06"}"#),
    ("on 2024-03-05", r#"{"from":"2024-03-05T10:30:00"}"#),
    ("my mails", r#"{"include_deleted":true}"#),
    ("my mails", r#"{"dry_run":false}"#),
    ("anything", r#"{"status":"secret"}"#),
    ("titles", r#"{"where":{"field":"title","value":"salaries"}}"#),
    ("set color", r#"{"tags":{"color":"blue"}}"#),
];

#[test]
fn honest_arguments_pass_and_dishonest_ones_do_not() {
    let read = |args: &str| serde_json::from_str::<Value>(args).unwrap();
    let refused = HONEST.iter().filter_map(|(question, args)| {
        check(question, &read(args)).err().map(|why| format!("{question}: {why}"))
    });
    let passed = DISHONEST
        .iter()
        .filter(|(question, args)| check(question, &read(args)).is_ok())
        .map(|(question, args)| format!("{question}: {args} passed"));
    let wrong: Vec<String> = refused.chain(passed).collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_refusal_names_the_field_and_the_sentence_that_would_help() {
    let check = |question: &str, args: &Value, expected: &str| {
        assert_eq!(check(question, args), Err(expected.to_owned()), "{question}");
    };
    check(
        "what does policy-002 say?",
        &json!({ "id": "policy-001" }),
        "Arg 'id' is 'policy-001', which is not in the question; say there: \"The id is …\"",
    );
    check(
        "who is on call?",
        &json!({ "query": "salaries of all employees" }),
        "Arg 'query' has more than 2 words that are not in the question ('salaries', 'of', 'all' …); say in the question what to search for",
    );
    check(
        "fetch the document",
        &json!({ "id": "document" }),
        "Arg 'id' is 'document', which names what is wanted and not which one; say in the question: \"The id is …\"",
    );
    check("policy-002", &json!({ "x": 1 }), "Arg 'x' is neither in the schema nor in the question");
    check("policy-002", &json!({ "id": " " }), "Arg 'id' is empty");
}

#[test]
fn large_input_takes_little_time_and_circles_end() {
    let started = std::time::Instant::now();
    let question = "what does policy-002 say about ".repeat(500);
    let text = "policy-003 retention of logs ".repeat(2_000);
    assert!(check(&question, &json!({ "query": text })).is_err());
    assert!(check(&"'\"(".repeat(5_000), &json!({ "query": "a".repeat(60_000) })).is_err());
    assert!(check(&"策略".repeat(2_000), &json!({ "query": "略策日".repeat(7_000) })).is_err());
    assert!(check(&"123 ".repeat(4_000), &json!({ "n": 7 })).is_err());
    let circle = json!({
        "$ref": "#",
        "properties": { "a": { "$ref": "#/properties/a", "anyOf": [{ "$ref": "#" }] } },
    });
    let args = json!({ "a": { "a": { "a": "made-up-7" } } });
    assert!(super::check(&circle, args.as_object().unwrap(), "hello").is_err());
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_word_of_the_question_is_fine(words in prop::collection::vec("[a-zA-Z0-9]{1,8}q([/._-][a-zA-Z0-9]{1,5}){0,2}", 1..9)) {
        let question = words.join(" ");
        for word in words {
            prop_assert_eq!(check(&question, &json!({ "path": word })), Ok(()));
        }
    }

    #[test]
    fn a_piece_of_an_id_is_not(id in "[a-z]{2,6}-[0-9]{3,6}", more in "[-/._@][a-z]{1,5}", is_after in any::<bool>()) {
        let longer = if is_after { format!("{id}{more}") } else { format!("{}{id}", more.chars().rev().collect::<String>()) };
        let question = format!("please open {longer} for me");
        prop_assert!(check(&question, &json!({ "id": id })).is_err(), "{}", question);
    }

    #[test]
    fn one_change_to_an_honest_argument_is_refused(
        (question, args) in select(HONEST),
        at in any::<Index>(),
        (more, behind) in select(&[("9", 0), ("x", 0), ("-x", 0), ("\u{200b}", 0), ("q", 1), ("x", 1)][..]),
    ) {
        let args: Map<String, Value> = serde_json::from_str(args).unwrap();
        for (name, value) in &args {
            // A search may have other words, and the contract offers some values.
            let is_free = ["query", "what", "status", "level", "from"].contains(&name.as_str());
            let Some(text) = value.as_str().filter(|_| !is_free) else { continue };
            let mut changed: Vec<char> = text.chars().collect();
            let at = at.index(changed.len());
            changed.splice(at..at + behind, more.chars());
            let changed: String = changed.into_iter().collect();
            if !question.to_lowercase().contains(&changed.to_lowercase()) {
                prop_assert!(check(question, &json!({ name: changed })).is_err(), "{}: {:?}", question, changed);
            }
        }
    }

    #[test]
    fn what_passes_stands_in_the_question(
        question in "([a2é是,.:;='\"()/\\\\_@?#$% -]|://|2024|'s|march|policy-002){0,20}",
        value in "([a2é是,.:;='\"()/\\\\_@?#$% -]|://|2024|'s|march|policy-002){1,8}",
    ) {
        if check(&question, &json!({ "path": value })).is_ok() {
            let fold = |text: &str| crate::text::normal(text).replace(['"', '\'', '`'], "");
            prop_assert!(fold(&question).contains(fold(&value).trim()), "{:?} {:?}", question, value);
        }
    }
}
