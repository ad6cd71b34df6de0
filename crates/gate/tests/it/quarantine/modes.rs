//! How strictly a tool is held to its contract, and answers that come with their text.

use gate::{EnforcementMode, OutputPayload, PrintedJson, quarantine::QuarantineState};
use serde_json::{Value, json, value::RawValue};

use super::{QuarantineGate, call, executed, output, usual};

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).unwrap()
}

fn in_mode(
    mode: EnforcementMode,
    payload: impl Fn() -> OutputPayload + Send + Sync + 'static,
) -> QuarantineGate {
    QuarantineGate::with("", mode, None, move |_| payload())
}

#[tokio::test]
async fn what_is_enforced_is_stopped_both_ways() {
    let fixture = in_mode(EnforcementMode::Enforce, || OutputPayload::Json(json!({ "text": 1 })));
    let id = fixture.stopped(usual()).await;
    let entry = fixture.entry(&id).await;
    let summary = &entry.summary;
    assert_eq!((summary.state, summary.whole), (QuarantineState::Held, true));
    assert_eq!((&*summary.caller, summary.input_sha256.len()), ("ada", 64));
    assert_eq!(summary.violations[0].pointer, "/text");
    assert_eq!(fixture.call(call(json!({ "n": "a" }))).await.code(), "invalid_input");
    assert_eq!(fixture.runs(), 1);
    // Nothing is an answer that is missing.
    let fixture = in_mode(EnforcementMode::Enforce, || OutputPayload::Missing);
    let id = fixture.stopped(usual()).await;
    assert_eq!(fixture.entry(&id).await.summary.reason, "the tool answered nothing");
}

#[tokio::test]
async fn a_warning_is_told_counted_and_written_down_and_the_call_goes_on() {
    let fixture = in_mode(EnforcementMode::Warn, || OutputPayload::Json(json!({ "text": 1 })));
    let outcome = fixture.call(call(json!({ "n": "a" }))).await;
    assert_eq!((outcome.code(), outcome.http_status()), ("ok", 200));
    assert_eq!(output(&outcome), json!({ "text": 1 }));
    let warnings = &executed(&outcome)["metrics"]["contract_warnings"];
    assert_eq!(warnings[0]["direction"], "input");
    assert_eq!(warnings[0]["reason"], "`/n` must be a whole number");
    assert_eq!(warnings[1]["direction"], "output");
    let id = warnings[1]["quarantine_id"].as_str().unwrap();
    let entry = fixture.entry(id).await;
    assert_eq!(entry.summary.state, QuarantineState::Passed);
    assert_eq!(entry.payload.get(), r#"{"text":1}"#);
    let line = fixture.journal().pop().unwrap();
    assert_eq!((&line["code"], &line["warnings"]), (&json!("ok"), warnings));
    for direction in ["input", "output"] {
        let counted = format!(
            "toolgate_contract_warnings_total{{tool=\"one\",direction=\"{direction}\"}} 1\n"
        );
        assert!(fixture.gate.metrics().contains(&counted));
    }
    // What the caller has cannot be released to it.
    assert!(format!("{:?}", fixture.release(id).await).contains("Passed"));
    let listed: Value =
        serde_json::from_str(fixture.gate.catalogue().find("one").unwrap().descriptor().get())
            .unwrap();
    assert_eq!(listed["mode"], "warn");
}

#[tokio::test]
async fn a_tool_that_is_always_wrong_does_not_fill_the_disk() {
    let fixture = in_mode(EnforcementMode::Warn, || OutputPayload::Json(json!([])));
    for _ in 0..200 {
        assert_eq!(fixture.call(usual()).await.code(), "ok");
    }
    assert_eq!(fixture.entries().await, 60);
    fixture.clock.advance_ms(60_000);
    fixture.call(usual()).await;
    assert_eq!(fixture.entries().await, 61);
}

#[tokio::test]
async fn nobody_looks_where_it_is_off() {
    for (payload, expected) in
        [(Some(json!({ "text": 1 })), json!({ "text": 1 })), (None, Value::Null)]
    {
        let fixture = in_mode(EnforcementMode::Off, move || {
            payload.clone().map_or(OutputPayload::Missing, OutputPayload::Json)
        });
        let outcome = fixture.call(call(json!({ "n": "a" }))).await;
        assert_eq!((outcome.code(), output(&outcome)), ("ok", expected));
        assert!(outcome.flags.warnings.is_empty());
        assert_eq!(
            (fixture.entries().await, fixture.journal().pop().unwrap().get("warnings")),
            (0, None)
        );
    }
}

#[tokio::test]
async fn a_size_is_held_to_in_every_mode() {
    for mode in EnforcementMode::ALL {
        let fixture = QuarantineGate::with("limits: { max_output_bytes: 100 }", mode, None, |_| {
            OutputPayload::Json(json!({ "text": "x".repeat(100) }))
        });
        let id = fixture.stopped(usual()).await;
        let reason = fixture.entry(&id).await.summary.reason;
        assert_eq!(
            reason,
            "the answer has 111 bytes, more than its limit of 100 (max_output_bytes)"
        );
    }
}

#[tokio::test]
async fn what_is_no_json_passes_as_a_text() {
    let unreadable =
        || OutputPayload::Unreadable { text: "{oops".into(), reason: "it is not JSON".into() };
    let fixture = in_mode(EnforcementMode::Warn, unreadable);
    let outcome = fixture.call(usual()).await;
    assert_eq!(output(&outcome), json!("{oops"));
    assert_eq!(outcome.flags.warnings[0].reason, "it is not JSON");
}

#[tokio::test]
async fn a_change_of_mode_is_in_the_journal() {
    let fixture = in_mode(EnforcementMode::Enforce, || OutputPayload::Missing);
    fixture.gate.mode_changed("one", EnforcementMode::Enforce, EnforcementMode::Off, "settings");
    let line = fixture.journal().pop().unwrap();
    let told = ["event", "tool", "from", "to", "by"].map(|key| line[key].as_str().unwrap());
    assert_eq!(told, ["mode_changed", "one", "enforce", "off", "settings"]);
}

#[tokio::test]
async fn the_very_text_goes_on() {
    // Spelt as no printer of ours would.
    let text = r#"{ "text" : "\u00e9\/" }"#;
    let fixture = in_mode(EnforcementMode::Enforce, || {
        OutputPayload::Printed(PrintedJson::read(raw(text)).unwrap())
    });
    assert_eq!(fixture.call(usual()).await.result.unwrap().json.get(), text);
    // It is judged by its value, and measured by its length.
    let fixture = in_mode(EnforcementMode::Enforce, || {
        OutputPayload::Printed(PrintedJson::read(raw("{ }")).unwrap())
    });
    let id = fixture.stopped(usual()).await;
    assert_eq!(fixture.entry(&id).await.payload.get(), "{ }");
    let fixture = QuarantineGate::with(
        "limits: { max_output_bytes: 20 }",
        EnforcementMode::Enforce,
        None,
        |_| {
            let spaces = " ".repeat(20);
            OutputPayload::Printed(
                PrintedJson::read(raw(&format!("{{\"text\":{spaces}\"\"}}"))).unwrap(),
            )
        },
    );
    fixture.stopped(usual()).await;
}

#[tokio::test]
async fn a_text_of_several_lines_is_printed_in_one() {
    let text = "{\n  \"text\":\r\n\"a\\nb\"\n}";
    let fixture = in_mode(EnforcementMode::Enforce, || {
        OutputPayload::Printed(PrintedJson::read(raw(text)).unwrap())
    });
    let printed = fixture.call(usual()).await.result.unwrap().json;
    assert_eq!(printed.get(), r#"{"text":"a\nb"}"#);
}

#[test]
fn a_text_says_one_thing_only() {
    assert!(PrintedJson::read(raw(r#"{"text":"good","text":1}"#)).is_err());
}
