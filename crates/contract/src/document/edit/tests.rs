use serde_json::json;

use super::*;

/// Sets a value; everything that was there before must still be there, comments too.
fn check(before: &str, path: &[&str], value: &Value, after: &str) {
    let found = set(before, path, value).unwrap_or_else(|error| panic!("{before:?}: {error}"));
    assert_eq!(found, after, "{before:?}");
}

#[test]
fn an_entry_is_added_in_every_form_of_a_mapping() {
    let value = json!({ "command": "npx", "args": ["-y", "a: b"], "env": { "A": "${B}" } });
    let lines = |indent: &str| {
        ["two:", "  command: npx", "  args: [\"-y\", \"a: b\"]", "  env:", "    A: \"${B}\""]
            .map(|line| format!("{indent}{line}\n"))
            .concat()
    };
    let (two, four) = (lines("  "), lines("    "));
    let flow = r#""two": {"command":"npx","args":["-y","a: b"],"env":{"A":"${B}"}}"#;
    for (before, after) in [
        (String::new(), format!("upstreams:\n{two}")),
        ("# mine".into(), format!("# mine\n\nupstreams:\n{two}")),
        ("server: {} # a\n# b\n".into(), format!("server: {{}} # a\n# b\n\nupstreams:\n{two}")),
        ("upstreams:\n".into(), format!("upstreams:\n{two}")),
        (
            "upstreams: # a\n# b\nserver: {}\n".into(),
            format!("upstreams: # a\n{two}# b\nserver: {{}}\n"),
        ),
        ("upstreams: {} # a\n".into(), format!("upstreams: # a\n{two}")),
        ("upstreams: {}\nserver: {}\n".into(), format!("upstreams:\n{two}server: {{}}\n")),
        ("upstreams: ~\n".into(), format!("upstreams:\n{two}")),
        (
            "upstreams:\n  # a\n  one: { command: x } # b\n\n# c\nserver: {}\n".into(),
            format!("upstreams:\n  # a\n  one: {{ command: x }} # b\n{two}\n# c\nserver: {{}}\n"),
        ),
        (
            "upstreams:\n    one:\n        command: x".into(),
            format!("upstreams:\n    one:\n        command: x\n{four}"),
        ),
        (
            "upstreams:\n  one: {\n    command: x,\n  }\nlock: a\n".into(),
            format!("upstreams:\n  one: {{\n    command: x,\n  }}\n{two}lock: a\n"),
        ),
        (
            "upstreams:\n  one:\n    args:\n    - a\n    - b # c\nlock: a\n".into(),
            format!("upstreams:\n  one:\n    args:\n    - a\n    - b # c\n{two}lock: a\n"),
        ),
        (
            "upstreams:\n  one:\n    command: |\n      x\n      y\nlock: a\n".into(),
            format!("upstreams:\n  one:\n    command: |\n      x\n      y\n{two}lock: a\n"),
        ),
        (
            "upstreams: { one: { command: x } } # a\n".into(),
            format!("upstreams: {{ one: {{ command: x }}, {flow} }} # a\n"),
        ),
        (
            "{\n  \"upstreams\": {\n    \"one\": { \"command\": \"x\" }\n  }\n}\n".into(),
            format!(
                "{{\n  \"upstreams\": {{\n    \"one\": {{ \"command\": \"x\" }}, {flow}\n  }}\n}}\n"
            ),
        ),
        (
            "{}\n".into(),
            format!("{{ \"upstreams\": {{{flow}}} }}\n")
                .replace(&format!("{{{flow}}}"), &json!({ "two": value }).to_string()),
        ),
        ("{ \"upstreams\": {} }\n".into(), format!("{{ \"upstreams\": {{ {flow} }} }}\n")),
    ] {
        check(&before, &["upstreams", "two"], &value, &after);
    }
}

#[test]
fn a_value_is_replaced_and_its_neighbours_stay() {
    for (before, after) in [
        ("a:\n  b: 1 # c\n", "a:\n  b: content # c\n"),
        ("a: { b: 'x', c: 1 }\n", "a: { b: content, c: 1 }\n"),
        ("a:\n  b: # c\n", "a:\n  b: content # c\n"),
        ("a:\n  b: ~ # c\n", "a:\n  b: content # c\n"),
        ("a:\n  b: [1, 2] # c\n", "a:\n  b: content # c\n"),
        ("a:\n  b:\n    - 1\n    - 2 # c\n  d: 1\n", "a:\n  b: content # c\n  d: 1\n"),
        ("a:\r\n  c: 1\r\n", "a:\r\n  c: 1\r\n  b: content\r\n"),
        ("\u{feff}a:\n  b: \"ü\"\n", "\u{feff}a:\n  b: content\n"),
    ] {
        check(before, &["a", "b"], &json!("content"), after);
    }
    check(
        "a:\n  c: {}\n",
        &["a", "c", "d", "e"],
        &json!(true),
        "a:\n  c:\n    d:\n      e: true\n",
    );
}

#[test]
fn a_form_that_cannot_be_changed_alone_is_refused() {
    for before in
        ["a: &x\n  b: 1\nc: *x\n", "a:\n  b:\n    # mine\n    c: 1\n", "a: 7\n", "- a\n", "a: [\n"]
    {
        let refused = set(before, &["a", "b"], &json!("content")).unwrap_err().to_string();
        assert!(refused.contains("a.b") && refused.contains("b: content"), "{refused}");
    }
}

#[test]
fn texts_are_quoted_where_they_could_be_something_else() {
    for text in
        ["true", "No", "1", "1e3", "", " a", "a: b", "#a", "${A}", "a\nb", "nan", "0x1", "-", "é"]
    {
        let written = set("", &["a"], &json!(text)).unwrap();
        assert_eq!(Document::parse("", &written).unwrap().value()["a"], text, "{written}");
        assert!(written.starts_with("a: \""), "{written}");
    }
    for text in ["npx", "/usr/bin/x", "mcp-server-git", "a@b", "A_b.c"] {
        assert_eq!(set("", &["a"], &json!(text)).unwrap(), format!("a: {text}\n"));
    }
}

#[test]
fn an_item_is_added_in_every_form_of_a_list() {
    for (before, after) in [
        ("", "a: [\"./x\"]\n"),
        ("a:\n", "a: [\"./x\"]\n"),
        ("a: [] # one\n", "a: [\"./x\"] # one\n"),
        ("a: [b] # one\nc: 1\n", "a: [b, \"./x\"] # one\nc: 1\n"),
        ("a: [ b, # one\n  c ]\n", "a: [ b, # one\n  c, \"./x\" ]\n"),
        ("a:\n- b\n- c # one\n# two\nd: 1\n", "a:\n- b\n- c # one\n- \"./x\"\n# two\nd: 1\n"),
        ("a:\n  # one\n  - b-c\n\nd: 1", "a:\n  # one\n  - b-c\n  - \"./x\"\n\nd: 1\n"),
        ("a:\r\n  - b\r\nd: 1\r\n", "a:\r\n  - b\r\n  - \"./x\"\r\nd: 1\r\n"),
        ("{\"a\": [\"b\"]}", "{\"a\": [\"b\", \"./x\"]}\n"),
    ] {
        let found = push(before, &["a"], &json!("./x"));
        assert_eq!(
            found.unwrap_or_else(|error| panic!("{before:?}: {error}")),
            after,
            "{before:?}"
        );
    }
}
