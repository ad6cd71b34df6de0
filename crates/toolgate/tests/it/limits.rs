//! What bounds a call, and what a request may say about it.

use serde_json::{Value, json};
use testkit::World;

use crate::{BINARY, command, start, with_commands};

async fn execute(world: &World, tool: &str, limits: &Value) -> (u16, Value) {
    let answer = world.execute(&json!({ "tool": tool, "context": { "limits": limits } })).await;
    (answer.status, answer.tool_result())
}

/// The limits are refused, in these words, by both doors that take them, and no job is made.
async fn check(world: &World, limits: &str, words: &str) {
    let call = r#""tool":"echo_json","input":{"message":"a"}"#;
    let body = format!(r#"{{{call},"context":{{"limits":{limits}}}}}"#);
    let answer = world.post("/v1/tools/execute", &body).await;
    let result = answer.tool_result();
    assert_eq!((answer.status, &result["metrics"]["error_code"]), (400, &"invalid_request".into()));
    assert_eq!(result["stderr"], format!("limits: {words}"));
    assert!(result["metrics"].get("job_id").is_none(), "{result}");
    assert!(result["metrics"]["error_details"]["violations"].is_array(), "{result}");
    for body in [body, format!(r#"{{{call},"limits":{limits}}}"#)] {
        let answer = world.post("/v1/jobs", &body).await;
        let error = answer.error();
        assert_eq!((answer.status, &error["code"]), (400, &"invalid_request".into()));
        assert_eq!(error["message"], format!("limits: {words}"));
    }
    let jobs = world.get("/v1/jobs").await.json();
    assert_eq!(jobs["jobs"], json!([]), "{limits}");
}

#[tokio::test]
async fn a_limit_outside_its_range_is_refused_by_name() {
    let world = start("").await;
    for (name, range) in [
        ("timeout_ms", "1 to 600000"),
        ("max_stdout_bytes", "1 to 10000000"),
        ("max_stderr_bytes", "1 to 10000000"),
        ("max_artifact_bytes", "1 to 1000000000"),
        ("max_artifacts", "1 to 1024"),
        ("max_summary_characters", "16 to 4000"),
        ("max_output_bytes", "1 to 67108864"),
    ] {
        let above = range.rsplit(' ').next().unwrap().parse::<u64>().unwrap() + 1;
        let above = above.to_string();
        for value in [
            "0",
            "-1",
            "1e99",
            "-1e99",
            "2.5",
            "\"5\"",
            "null",
            "true",
            "[]",
            "{}",
            "18446744073709551616",
            &above,
        ] {
            let words = format!("`/{name}` must be a whole number from {range}");
            check(&world, &format!(r#"{{"{name}":{value}}}"#), &words).await;
        }
    }
    check(
        &world,
        r#"{"max_summary_characters":15}"#,
        "`/max_summary_characters` must be a whole number from 16 to 4000",
    )
    .await;
}

#[tokio::test]
async fn limits_that_are_none_are_refused() {
    let world = start("").await;
    for (limits, words) in [
        (r#"{"timeout":5}"#, "`/timeout` is not a known key; did you mean `timeout_ms`?"),
        (r#"{"Timeout_ms":5}"#, "`/Timeout_ms` is not a known key; did you mean `timeout_ms`?"),
        (r#"{"colour":5}"#, "`/colour` is not a known key"),
        ("[]", "the value must be an object of limits"),
        ("5", "the value must be an object of limits"),
        ("\"timeout_ms\"", "the value must be an object of limits"),
        ("null", "the value must be an object of limits"),
        // All that is wrong, at once.
        (
            r#"{"timeout_ms":0,"max_artifacts":4,"max_output_bytes":-1}"#,
            "`/timeout_ms` must be a whole number from 1 to 600000; \
             `/max_output_bytes` must be a whole number from 1 to 67108864",
        ),
    ] {
        check(&world, limits, words).await;
    }
}

/// Prints more than it should of everything.
const NOISY: &str = r#"for i in 1 2 3 4 5 6 7 8; do printf 'stderr-' >&2; done
printf '{"status":"ok","summary":"Noisy output for truncation testing.","stdout":"stdout-stdout-stdout-","output":{"answer":1}}'"#;

#[tokio::test]
async fn any_subset_can_be_lowered_and_what_was_cut_is_told() {
    let world = with_commands("", &[("noisy", NOISY)]).await;
    let noisy = "Noisy output for truncation testing.";
    for (limits, stdout, stderr, summary) in [
        (json!({}), 21, 56, noisy.to_owned()),
        (json!({ "max_stdout_bytes": 21, "max_stderr_bytes": 56.0 }), 21, 56, noisy.to_owned()),
        (json!({ "max_stdout_bytes": 20 }), 20, 56, format!("{noisy} [limits: stdout truncated]")),
        (json!({ "max_stderr_bytes": 1 }), 21, 1, format!("{noisy} [limits: stderr truncated]")),
        (
            json!({ "max_stdout_bytes": 6, "max_stderr_bytes": 7, "timeout_ms": 20_000 }),
            6,
            7,
            format!("{noisy} [limits: stdout truncated, stderr truncated]"),
        ),
    ] {
        let (status, result) = execute(&world, "noisy", &limits).await;
        assert_eq!((status, &result["summary"]), (200, &summary.into()), "{limits}");
        let number = |name: &str| result["metrics"][name].as_u64().unwrap_or(0);
        for (stream, kept, whole) in [("stdout", stdout, 21), ("stderr", stderr, 56)] {
            let text = result[stream].as_str().unwrap();
            assert!(text.len() as u64 == kept && text.starts_with(&stream[..1]), "{text}");
            assert_eq!(number(&format!("{stream}_truncated_bytes")), whole - kept, "{limits}");
        }
        assert_eq!(result["output"], json!({ "answer": 1 }));
    }
}

#[tokio::test]
async fn a_summary_is_cut_by_characters_and_its_note_is_whole() {
    let long = "é".repeat(400);
    let script = format!(
        r#"printf '{{"status":"ok","summary":"{long}","stdout":"out","output":{{"answer":1}}}}'"#
    );
    let world = with_commands("", &[("long", &script), ("short", "echo '{\"answer\":1}'")]).await;
    let cut = |characters: usize, note: &str| {
        format!("{}...{note}", "é".repeat(characters - 3 - note.chars().count()))
    };
    for (tool, limits, summary) in [
        ("long", json!({}), cut(280, " [limits: summary truncated]")),
        ("long", json!({ "max_summary_characters": 400 }), long.clone()),
        (
            "long",
            json!({ "max_summary_characters": 399 }),
            cut(399, " [limits: summary truncated]"),
        ),
        (
            "long",
            json!({ "max_summary_characters": 60, "max_stdout_bytes": 1 }),
            cut(60, " [limits: stdout truncated, summary truncated]"),
        ),
        ("long", json!({ "max_summary_characters": 16 }), "[limits: 1 cut]".into()),
        ("short", json!({ "max_summary_characters": 16 }), "short succeeded.".into()),
    ] {
        let (_, result) = execute(&world, tool, &limits).await;
        assert_eq!(result["summary"], summary, "{limits}");
        let truncated = summary.contains("[limits");
        assert_eq!(result["metrics"]["summary_truncated"] == true, truncated, "{limits}");
        let most = limits["max_summary_characters"].as_u64().unwrap_or(280);
        assert!(summary.chars().count() as u64 <= most, "{limits}");
    }
    // A failure has a summary too.
    let call = json!({ "tool": "echo_json", "input": {}, "context": { "limits": { "max_summary_characters": 16 } } });
    let failed = world.execute(&call).await.tool_result();
    assert_eq!(failed["summary"], "[limits: 1 cut]");
}

#[tokio::test]
async fn a_result_over_its_limit_is_quarantined() {
    let script = r#"printf '{"answer":"0123456789"}'"#;
    let world = with_commands("", &[("ten", script)]).await;
    let size = r#"{"answer":"0123456789"}"#.len();
    for (max, status) in [(size, 200), (size - 1, 502), (1, 502)] {
        let (got, result) = execute(&world, "ten", &json!({ "max_output_bytes": max })).await;
        assert_eq!(got, status, "{result}");
        if status == 200 {
            continue;
        }
        assert_eq!(result["metrics"]["error_code"], "invalid_output");
        assert!(!result.to_string().contains("0123456789"), "{result}");
        let id = result["metrics"]["error_details"]["quarantine_id"].as_str().unwrap();
        let entry = world.get(&format!("/v1/quarantine/{id}")).await.json();
        let reason =
            format!("the answer has {size} bytes, more than its limit of {max} (max_output_bytes)");
        assert_eq!(
            (&entry["reason"], &entry["payload"]),
            (&reason.into(), &json!({ "answer": "0123456789" }))
        );
    }
    // Also where it is built in.
    let call = json!({ "tool": "hello", "input": { "name": "Ada" }, "context": { "limits": { "max_output_bytes": 5 } } });
    assert_eq!(world.execute(&call).await.tool_result()["metrics"]["error_code"], "invalid_output");
}

#[tokio::test]
async fn the_settings_bound_what_a_request_may_ask_for() {
    let settings =
        "limits: { max_output_bytes: 20, ceilings: { max_output_bytes: 40, timeout_ms: 5000 } }";
    let world =
        with_commands(settings, &[("thirty", r#"printf '{"answer":"01234567890123456"}'"#)]).await;
    for (limits, status) in [
        (json!({}), 502),
        (json!({ "max_output_bytes": 40 }), 200),
        (json!({ "max_output_bytes": 30 }), 200),
        (json!({ "max_output_bytes": 29 }), 502),
        (json!({ "max_output_bytes": 41 }), 400),
        (json!({ "timeout_ms": 5_001 }), 400),
        (json!({ "max_output_bytes": 40, "timeout_ms": 5_000 }), 200),
    ] {
        let (got, result) = execute(&world, "thirty", &limits).await;
        assert_eq!(got, status, "{limits}: {result}");
        if status == 400 {
            let ceiling = if limits.get("timeout_ms").is_some() { "5000" } else { "40" };
            assert!(result["stderr"].as_str().unwrap().ends_with(&format!("from 1 to {ceiling}")));
        }
    }
}

#[tokio::test]
async fn a_contract_has_limits_of_its_own_which_a_request_can_change() {
    let settings = "contracts: [ ./contracts ]\nlimits: { max_stderr_bytes: 4 }";
    let mut world = World::new(BINARY, settings);
    let script = "printf 0123456789 >&2; echo '{\"answer\":1}'";
    command(&world, "plain", script, "");
    command(&world, "own", script, "limits: { max_stderr_bytes: 6, max_artifacts: 1 }");
    command(&world, "hasty", "sleep 600", "limits: { timeout_ms: 200 }");
    world.run().await;
    for (tool, limits, stderr) in [
        ("plain", json!({}), "0123"),
        ("own", json!({}), "012345"),
        ("own", json!({ "max_stderr_bytes": 2 }), "01"),
        ("own", json!({ "max_stderr_bytes": 8 }), "01234567"),
        ("own", json!({ "max_artifacts": 5 }), "012345"),
    ] {
        let (_, result) = execute(&world, tool, &limits).await;
        assert_eq!(result["stderr"], stderr, "{tool} {limits}");
    }
    let answer = world.post("/v1/tools/hasty", "{}").await;
    answer.fails(504, "timeout");
    assert!(answer.text().contains("its limit of 200 ms (timeout_ms)"), "{}", answer.text());
}
