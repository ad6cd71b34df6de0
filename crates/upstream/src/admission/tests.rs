use serde_json::json;

use super::*;

fn tool(name: &str) -> Value {
    let text = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    json!({ "name": name, "description": "Does it.", "inputSchema": text, "outputSchema": text })
}

fn admission(tools: &[Value]) -> Admission {
    let rules = AdmissionRules {
        id: "docs",
        settings: &UpstreamSettings::default(),
        overlays: &BTreeMap::new(),
        allowlist: None,
        pinned: None,
        taken: &HashSet::new(),
    };
    admit(&rules, "1", tools)
}

/// The admitted and the rejected ones of these, by the tools' own names.
fn judged(tools: &[Value]) -> (Vec<String>, Vec<(String, RejectionReason)>) {
    let admission = admission(tools);
    (
        admission.admitted.into_iter().map(|one| one.own_name).collect(),
        admission.rejected.into_iter().map(|one| (one.tool, one.reason)).collect(),
    )
}

#[test]
fn two_of_one_name_are_both_not_served_whatever_the_name_is() {
    for name in ["plain", "has 'quotes'", &"x".repeat(200)] {
        let (served, rejected) = judged(&[tool(name), tool("other"), tool(name)]);
        assert_eq!(served, ["other"]);
        assert!(
            rejected.iter().all(|(_, reason)| *reason == RejectionReason::Duplicate),
            "{rejected:?}"
        );
        assert_eq!(rejected.len(), 2);
    }
}

#[test]
fn two_that_would_be_served_under_one_name_are_both_not_served() {
    let twin = names::served("docs", "a b").split_once(names::SEPARATOR).unwrap().1.to_owned();
    let (served, rejected) = judged(&[tool("a b"), tool(&twin), tool("c")]);
    assert_eq!(served, ["c"]);
    assert!(
        rejected.iter().all(|(_, reason)| *reason == RejectionReason::NameTaken),
        "{rejected:?}"
    );
}

#[test]
fn one_that_is_too_large_is_shown_by_its_name() {
    let (served, rejected) = judged(&[json!({ "name": "big", TOO_LARGE: true }), tool("a")]);
    assert_eq!(
        (served, rejected),
        (vec!["a".to_owned()], vec![("big".to_owned(), RejectionReason::TooLarge)])
    );
}

#[test]
fn a_description_that_is_too_long_is_not_taken_for_none() {
    let mut long = tool("a");
    long["description"] = json!("x".repeat(MAX_DESCRIPTION_BYTES + 1));
    let message = &admission(&[long]).rejected[0].message;
    assert!(message.contains("32768 bytes"), "{message}");
}
