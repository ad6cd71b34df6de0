//! `requestState`: what a client carries for us comes back as it was given, once, for the same
//! request, or not at all. And what clients answer when they are asked.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::{
    Raw, World, eventually,
    mcp::{Legacy, Modern, cancelled, extended, request},
    resident_bytes,
};

/// The program with tools that ask.
const FIXTURE: &str = env!("CARGO_BIN_EXE_conformance-fixture");
/// A tool that asks one thing, another that does, and one that asks twice.
const TOOL: &str = "test_input_required_result_request_state";
const OTHER: &str = "test_input_required_result_tampered_state";
const TWICE: &str = "test_input_required_result_multi_round";

/// A server with tools that ask.
pub async fn fixture() -> World {
    // A world starts its program with `serve` and an address: to the shell that is a script.
    let world = World::new("/bin/sh", "");
    world.write("serve", &format!("TMPDIR=\"$PWD\" exec '{FIXTURE}' \"$@\"\n"));
    world.started().await
}

/// A client that can show a form, and what it says to the question.
struct Person<'a>(Modern<'a>);

impl<'a> Person<'a> {
    fn new(world: &'a World) -> Self {
        Self(Modern::new(world).able(json!({ "elicitation": {} })))
    }

    async fn send(&self, tool: &str, more: &Value) -> (u16, Value) {
        let params = extended(json!({ "name": tool, "arguments": {} }), more);
        let answer = self.0.send("tools/call", params).await;
        (answer.status, answer.json())
    }

    /// Begins a call, up to its question.
    async fn begin(&self, tool: &str) -> String {
        let (_, answer) = self.send(tool, &json!({})).await;
        asked(&answer)
    }

    /// Goes on with a state and a reply.
    async fn go_on(&self, tool: &str, state: &Value) -> (u16, Value) {
        self.send(tool, &json!({ "requestState": state, "inputResponses": yes() })).await
    }

    /// The state is no good, for this reason.
    async fn refused(&self, tool: &str, state: &Value, (status, words): (u16, &str)) {
        let (got, answer) = self.go_on(tool, state).await;
        let context = format!("{state:.200}: {got} {answer:.500}");
        assert_eq!((got, answer["error"]["code"].as_i64()), (status, Some(-32602)), "{context}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{context}");
    }

    /// The state is good, and the call comes to its end with it.
    async fn finishes(&self, state: &str) {
        let (status, answer) = self.go_on(TOOL, &json!(state)).await;
        assert_eq!(status, 200);
        assert_eq!(answer["result"]["content"][0]["text"], "state-ok", "{answer}");
    }
}

fn yes() -> Value {
    json!({ "confirm": { "action": "accept", "content": { "ok": true } } })
}

/// The state that comes with a question.
fn asked(answer: &Value) -> String {
    assert_eq!(answer["result"]["resultType"], "input_required", "{answer:.1000}");
    answer["result"]["requestState"].as_str().unwrap().to_owned()
}

const BROKEN: (u16, &str) = (200, "not one that this server made");

#[tokio::test]
async fn a_state_that_was_changed_is_refused_and_the_true_one_is_not_lost() {
    let world = fixture().await;
    let client = Person::new(&world);
    let state = client.begin(TOOL).await;
    let other = client.begin(TOOL).await;
    let ((body, seal), (other_body, other_seal)) =
        (state.split_once('.').unwrap(), other.split_once('.').unwrap());
    let mut changed: Vec<String> = vec![
        String::new(),
        ".".into(),
        " ".into(),
        "null".into(),
        "é😀\u{0}".into(),
        body.into(),
        format!("{body}."),
        format!(".{seal}"),
        format!("{seal}.{body}"),
        format!("{body}.{other_seal}"),
        format!("{other_body}.{seal}"),
        format!("{body}.{seal}.{seal}"),
        format!("{state}{state}"),
        format!("{state}="),
        format!("{state}\n"),
        format!(" {state}"),
        state.to_uppercase(),
        "A".repeat(900_000),
        format!("{}.{seal}", "A".repeat(900_000)),
    ];
    // Every so often one letter is another, one is missing, one is there twice.
    for place in (0..state.len()).step_by(9) {
        let (begin, rest) = state.split_at(place);
        let letter = if rest.starts_with('A') { "B" } else { "A" };
        changed.push(format!("{begin}{letter}{}", &rest[1..]));
        changed.push(format!("{begin}{}", &rest[1..]));
        changed.push(format!("{begin}{}{rest}", &rest[..1]));
        changed.push(begin.to_owned());
    }
    for changed in changed {
        client.refused(TOOL, &json!(changed), BROKEN).await;
    }
    for no_text in [json!(5), json!(true), json!([]), json!([state]), json!({ "a": state })] {
        client.refused(TOOL, &no_text, (400, "`requestState` must be a string")).await;
    }
    client.finishes(&state).await;
    client.finishes(&other).await;
}

#[tokio::test]
async fn a_state_is_good_for_its_request_alone() {
    let world = fixture().await;
    let client = Person::new(&world);
    let state = client.begin(TOOL).await;
    let foreign = (200, "belongs to another request");
    client.refused(OTHER, &json!(state), foreign).await;
    client.refused("no_such_tool", &json!(state), foreign).await;
    client.refused("", &json!(state), foreign).await;
    let arguments = json!({
        "requestState": state, "inputResponses": yes(), "arguments": { "more": 1 },
    });
    let (_, answer) = client.send(TOOL, &arguments).await;
    assert_eq!(answer["error"]["message"], "requestState belongs to another request");
    let prompt = json!({ "name": "test_input_required_result_prompt", "requestState": state });
    let answer = client.0.ask("prompts/get", prompt).await;
    assert_eq!(answer["error"]["message"], "requestState belongs to another request");
    // One of a prompt is none of a tool.
    let prompt = json!({ "name": "test_input_required_result_prompt" });
    let of_prompt = asked(&client.0.ask("prompts/get", prompt).await);
    client.refused(TOOL, &json!(of_prompt), foreign).await;
    client.finishes(&state).await;
}

#[tokio::test]
async fn a_state_that_did_its_work_does_it_once() {
    let world = fixture().await;
    let client = Person::new(&world);
    let used = (200, "was already used");
    let state = client.begin(TOOL).await;
    client.finishes(&state).await;
    for _ in 0..3 {
        client.refused(TOOL, &json!(state), used).await;
    }
    // Of many at once, one gets through.
    let state = client.begin(TOOL).await;
    let params = json!({ "requestState": state, "inputResponses": yes() });
    let mut finished = 0;
    for (_, answer) in join_all((0..16).map(|_| client.send(TOOL, &params))).await {
        finished += usize::from(answer["result"]["content"][0]["text"] == "state-ok");
        let refused =
            answer["error"]["message"].as_str().is_none_or(|words| words.contains(used.1));
        assert!(refused, "{answer}");
    }
    assert_eq!(finished, 1);
    // One that only led to the next question can be brought again: it has done nothing.
    let first = client.begin(TWICE).await;
    let step = json!({ "action": "accept", "content": { "name": "Ada" } });
    let next = json!({ "requestState": first, "inputResponses": { "step1": step } });
    for _ in 0..3 {
        asked(&client.send(TWICE, &next).await.1);
    }
}

#[tokio::test]
async fn a_request_that_is_refused_does_not_use_its_state_up() {
    let world = fixture().await;
    let client = Person::new(&world);
    let mut said = testkit::mcp::meta(&json!({ "elicitation": {} }));
    said["progressToken"] = json!([]);
    for wrong in [
        json!({ "inputResponses": 5 }),
        json!({ "inputResponses": [] }),
        json!({ "inputResponses": yes(), "_meta": said }),
    ] {
        let state = client.begin(TOOL).await;
        let mut params = wrong.clone();
        params["requestState"] = json!(state);
        let (status, answer) = client.send(TOOL, &params).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32602)), "{answer}");
        client.finishes(&state).await;
    }
}

#[tokio::test]
async fn a_reply_that_is_none_is_asked_for_again() {
    let world = fixture().await;
    let client = Person::new(&world);
    for reply in [
        json!(5),
        json!(null),
        json!([]),
        json!("yes"),
        json!({}),
        json!({ "action": "maybe" }),
        json!({ "action": 1 }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": "yes" }),
        json!({ "action": "accept", "content": { "ok": "yes" } }),
        json!({ "action": "accept", "content": {} }),
    ] {
        let state = client.begin(TOOL).await;
        let params = json!({ "requestState": state, "inputResponses": { "confirm": reply } });
        let next = asked(&client.send(TOOL, &params).await.1);
        client.finishes(&next).await;
    }
    for wrong in [json!(5), json!("x"), json!([]), json!([yes()])] {
        let (status, answer) = client.send(TOOL, &json!({ "inputResponses": wrong })).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32602)), "{answer}");
    }
}

#[tokio::test]
async fn replies_that_nobody_asked_for_do_not_spoil_the_state() {
    let world = fixture().await;
    let client = Person::new(&world);
    let deep = (0..126).fold(json!(1), |inner, _| json!([inner]));
    for junk in [deep, json!("x".repeat(900_000))] {
        let (_, answer) = client.send(TOOL, &json!({ "inputResponses": { "junk": junk } })).await;
        client.finishes(&asked(&answer)).await;
    }
}

#[tokio::test]
async fn questions_that_nobody_answers_cost_nothing() {
    let world = fixture().await;
    let client = Person::new(&world);
    for _ in 0..200 {
        client.begin(TOOL).await;
    }
    let before = resident_bytes(world.pid());
    let mut last = String::new();
    for _ in 0..2_000 {
        last = client.begin(TOOL).await;
    }
    let taken = resident_bytes(world.pid()).saturating_sub(before);
    assert!(taken < 4 * 1_024 * 1_024, "the server took {taken} bytes");
    client.finishes(&last).await;
}

/// A call of a legacy client on a connection of its own, up to the question of its tool: the
/// connection, and the id of the question.
async fn questioned(client: &Legacy<'_>) -> (Raw, Value) {
    let params = json!({ "name": "test_elicitation", "arguments": { "message": "well?" } });
    let mut raw = client.stream(&request(1, "tools/call", &params)).await;
    assert_eq!(raw.head().await.status, 200);
    let question = raw.message("elicitation/create").await;
    (raw, question["id"].clone())
}

#[tokio::test]
async fn an_answer_to_a_question_must_be_one_and_come_from_whom_it_was_put_to() {
    let world = fixture().await;
    let able = json!({ "elicitation": {} });
    let client = Legacy::able(&world, &able).await;
    let other = Legacy::able(&world, &able).await;
    let accepted =
        json!({ "action": "accept", "content": { "username": "ada", "email": "ada@example.com" } });
    let said = |id: &Value, result: &Value| {
        json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
    };
    for (wrong, words) in [
        (json!({ "result": 5 }), "does not fit the input request"),
        (json!({ "result": null }), "does not fit the input request"),
        (json!({ "result": { "action": "perhaps" } }), "does not fit the input request"),
        (json!({ "error": 5 }), "the peer sent an error that cannot be read"),
        (
            json!({ "error": { "code": "x", "message": [] } }),
            "the peer sent an error that cannot be read",
        ),
        (json!({ "error": { "code": -1, "message": "I will not" } }), "I will not"),
    ] {
        let (mut raw, id) = questioned(&client).await;
        // Nobody else's answer is taken, nor one to another question.
        assert_eq!(other.post(&said(&id, &accepted)).await.status, 202);
        assert_eq!(client.post(&said(&json!(id.to_string()), &accepted)).await.status, 202);
        assert_eq!(client.post(&said(&json!(9_999), &accepted)).await.status, 202);
        let mut body = wrong;
        body["jsonrpc"] = json!("2.0");
        body["id"] = id.clone();
        assert_eq!(client.post(&body.to_string()).await.status, 202);
        let answer = raw.message("\"id\":1").await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let shown = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(shown.contains(words), "no `{words}` in `{shown}`");
        // It comes too late now.
        assert_eq!(client.post(&said(&id, &accepted)).await.status, 202);
    }
    let (mut raw, id) = questioned(&client).await;
    assert_eq!(client.post(&said(&id, &accepted)).await.status, 202);
    let answer = raw.message("\"id\":1").await;
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

#[tokio::test]
async fn a_question_ends_with_its_session() {
    let world = fixture().await;
    let able = json!({ "elicitation": {} });
    let client = Legacy::able(&world, &able).await;
    let (mut raw, _) = questioned(&client).await;
    let headers = [("mcp-session-id", &*client.session)];
    assert_eq!(world.send("DELETE", "/mcp", &headers, None).await.status, 204);
    let answer = raw.message("\"id\":1").await;
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}

#[tokio::test]
async fn a_question_of_a_cancelled_call_is_given_up() {
    let world = fixture().await;
    let able = json!({ "elicitation": {} });
    let client = Legacy::able(&world, &able).await;
    let (mut raw, _) = questioned(&client).await;
    assert_eq!(client.post(&cancelled(&json!(1)).to_string()).await.status, 202);
    let answer = tokio::time::timeout(Duration::from_secs(3), raw.message("\"id\":1")).await;
    assert_eq!(answer.unwrap()["result"]["isError"], true);
    eventually("the id is free", async || {
        let ping = request(1, "ping", &json!({})).to_string();
        client.post(&ping).await.status == 200
    })
    .await;
}
