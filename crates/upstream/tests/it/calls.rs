//! Requests: their responses, the messages before them, and cancellation.

use std::time::Duration;

use mcp::ListKind;
use serde_json::json;
use testkit::eventually;
use upstream::connection::{ConnectionEvent, InterimMessage, RequestError, RequestOptions};

use crate::harness::{SentRequest, answer, call_options, connected, serving, within};

#[tokio::test(flavor = "multi_thread")]
async fn responses_find_their_requests_in_any_order() {
    let connection = serving(
        "    waiting = globals().setdefault('waiting', [])
    waiting.append(message)
    if len(waiting) == 50:
        for message in reversed(waiting): echo(message)",
    )
    .await;
    let calls = (0..50).map(|number| {
        let connection = connection.clone();
        tokio::spawn(async move { answer(&connection, &format!(r#"{{"number":{number}}}"#)).await })
    });
    for (number, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        let seen = call.await.unwrap().unwrap();
        assert_eq!(seen["structuredContent"]["number"], number);
    }
}

#[tokio::test]
async fn parameters_of_several_lines_are_one_message() {
    let connection = serving("    echo(message)").await;
    let seen = answer(&connection, "{\n  \"a\": \"b\\n\"\r\n}").await.unwrap();
    assert_eq!(seen["structuredContent"], json!({ "a": "b\n" }));
}

#[tokio::test]
async fn an_rpc_error_keeps_its_code_and_data() {
    let connection = serving("    error(message, -32602, 'no such tool', {'name': 'x'})").await;
    let error = answer(&connection, "{}").await.unwrap_err();
    let RequestError::Rpc(error) = error else { panic!("{error:?}") };
    assert_eq!((error.code, &*error.message), (-32_602, "no such tool"));
    assert_eq!(error.data, Some(json!({ "name": "x" })));
}

#[tokio::test]
async fn progress_comes_in_order_and_before_the_end() {
    let connection = serving(
        "    token = message['params']['_meta']['progressToken']
    send(method='notifications/progress', params={'progressToken': 99999, 'progress': 1})
    for step in range(10):
        send(method='notifications/progress',
             params={'progressToken': token, 'progress': step, 'total': 10, 'message': f'step {step}'})
    send(method='notifications/message', params={'level': 'warning', 'data': {'free': 3}})
    echo(message)
    send(method='notifications/progress', params={'progressToken': token, 'progress': 11})",
    )
    .await;
    let options = RequestOptions { wants_progress: true, ..call_options() };
    let mut pending = SentRequest::call_with(&connection, "{}", options);
    for step in 0..10_u8 {
        let Some(InterimMessage::Progress(mcp::Progress { progress, total, message })) =
            pending.message().await
        else {
            panic!("no progress")
        };
        assert!((progress - f64::from(step)).abs() < f64::EPSILON);
        assert_eq!((total, message), (Some(10.0), Some(format!("step {step}"))));
    }
    let Some(InterimMessage::Log(mcp::LogMessage { level, data })) = pending.message().await else {
        panic!("no log")
    };
    assert_eq!((&*level, data), ("warning", json!({ "free": 3 })));
    assert!(pending.message().await.is_none());
    pending.finish().await.unwrap();
}

#[tokio::test]
async fn a_flood_of_progress_is_bounded_and_loses_no_response() {
    let connection = serving(
        "    for step in range(100000):
        sys.stdout.write(json.dumps({'jsonrpc': '2.0', 'method': 'notifications/progress',
            'params': {'progressToken': message['id'], 'progress': step}}) + '\\n')
    echo(message)",
    )
    .await;
    let mut pending = SentRequest::call(&connection, "{}");
    // Nobody looks while it comes.
    let late = answer(&connection, "{}");
    late.await.unwrap();
    let mut notes = 0;
    while pending.message().await.is_some() {
        notes += 1;
    }
    pending.finish().await.unwrap();
    assert!((1..=64).contains(&notes), "{notes} notes");
}

#[tokio::test]
async fn a_dropped_request_is_cancelled() {
    let connection = serving(
        "    seen = globals().setdefault('seen', [])
    if 'id' not in message: seen.append([message['method'], message['params']['requestId']])
    elif message['params'].get('tell'): result(message, seen=seen)
    elif message['params'].get('late'): seen.append(['called', message['id']])",
    )
    .await;
    let pending = SentRequest::call(&connection, r#"{"late":true}"#);
    drop(pending);
    let seen = answer(&connection, r#"{"tell":true}"#).await.unwrap();
    assert_eq!(seen["seen"][0][0], "called");
    assert_eq!(seen["seen"][1], json!(["notifications/cancelled", seen["seen"][0][1]]));
    // One that was answered is not.
    assert_eq!(answer(&connection, r#"{"tell":true}"#).await.unwrap(), seen);
}

#[tokio::test]
async fn a_request_that_times_out_is_cancelled_and_its_late_response_ignored() {
    let connection = serving(
        "    late = globals().setdefault('late', [])
    if message.get('method') == 'notifications/cancelled':
        for one in late: echo(one)
        result({'id': message['params']['requestId']})
    elif message['params'].get('late'): late.append(message)
    else: echo(message)",
    )
    .await;
    let timeout = Duration::from_millis(100);
    let options = RequestOptions { timeout, ..call_options() };
    let late = connection.request("tools/call", r#"{"late":true}"#, options);
    let error = within(late).await.unwrap_err();
    assert!(matches!(error, RequestError::Timeout(100)), "{error:?}");
    assert_eq!(error.to_string(), "no response within 100 ms");
    eventually("both late answers came", async || connection.discarded().unexpected == 2).await;
    let seen = answer(&connection, r#"{"number":2}"#).await.unwrap();
    assert_eq!(seen["structuredContent"]["number"], 2);
}

/// Asks back once, and answers the call with the reply.
const ASKS: &str = "    if called(message):
        call = message
        send(id='q1', method=message['params']['ask'], params={'message': 'which one?'})
    elif message.get('id') == 'q1': result(call, reply=message)";

#[tokio::test]
async fn an_input_request_reaches_the_call() {
    let connection = serving(ASKS).await;
    for method in ["elicitation/create", "sampling/createMessage", "roots/list"] {
        let params = format!(r#"{{"ask":"{method}"}}"#);
        let mut pending = SentRequest::call(&connection, &params);
        let asked = pending.input_request().await;
        assert_eq!(
            (asked.method.as_str(), &asked.params),
            (method, &json!({ "message": "which one?" }))
        );
        asked.respond(json!({ "action": "accept", "content": { "a": 1 } }));
        let result = pending.finish().await.unwrap();
        assert_eq!(
            result["reply"],
            json!({ "jsonrpc": "2.0", "id": "q1",
                "result": { "action": "accept", "content": { "a": 1 } } })
        );
    }
}

#[tokio::test]
async fn an_input_request_that_nobody_answers_is_declined() {
    let connection = serving(ASKS).await;
    // By somebody who does not look at questions, and of a method that is none.
    for method in ["elicitation/create", "tools/call", "completion/complete"] {
        let seen = answer(&connection, &format!(r#"{{"ask":"{method}"}}"#)).await.unwrap();
        assert_eq!(seen["reply"]["error"]["code"], -32_601, "{method}");
    }
    let seen = answer(&connection, r#"{"ask":"ping"}"#).await.unwrap();
    assert_eq!(seen["reply"]["result"], json!({}));
}

#[tokio::test]
async fn an_input_request_beside_all_calls_is_declined() {
    let connection = serving(
        "    if message.get('method') == 'tools/list':
        send(id='q1', method='roots/list')
        call = message
    elif message.get('id') == 'q1': result(call, tools=[message])",
    )
    .await;
    let listing = within(connection.list("tools/list", "tools")).await.unwrap();
    assert_eq!(listing.items[0]["error"]["code"], -32_601);
}

#[tokio::test]
async fn time_does_not_run_while_an_input_request_is_open() {
    let connection = serving(ASKS).await;
    let timeout = Duration::from_millis(200);
    let params = r#"{"ask":"elicitation/create"}"#;
    let options = RequestOptions { timeout, ..call_options() };
    let mut pending = SentRequest::call_with(&connection, params, options);
    let asked = pending.input_request().await;
    let slow = async {
        tokio::time::sleep(timeout * 4).await;
        asked.respond(json!({}));
    };
    let ((), outcome) = tokio::join!(slow, pending.finish());
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[tokio::test]
async fn an_input_request_can_be_cancelled() {
    let connection = serving(
        "    if called(message):
        call = message
        send(id=5, method='elicitation/create', params={})
        send(method='notifications/cancelled', params={'requestId': 5})
        send(id=6, method='ping')
    elif message.get('id') == 6: result(call, reply='nothing')
    else: result(call, reply=message)",
    )
    .await;
    let mut pending = SentRequest::call(&connection, "{}");
    let asked = pending.input_request().await;
    assert_eq!(pending.finish().await.unwrap()["reply"], "nothing");
    asked.respond(json!({}));
}

#[tokio::test]
async fn a_call_that_runs_with_others_reads_no_log_that_may_be_theirs() {
    let connection = serving(
        "    if called(message):
        calls = globals().setdefault('calls', [])
        calls.append(message)
        if len(calls) == 2:
            send(method='notifications/message', params={'level': 'info', 'data': 'whose?'})
            for one in calls: echo(one)",
    )
    .await;
    let mut pending_requests =
        [SentRequest::call(&connection, "{}"), SentRequest::call(&connection, "{}")];
    for pending in &mut pending_requests {
        assert!(pending.message().await.is_none());
        pending.finish().await.unwrap();
    }
}

#[tokio::test]
async fn changed_lists_are_events() {
    let connection = serving(
        "    for kind in ['tools', 'prompts', 'resources']:
        send(method=f'notifications/{kind}/list_changed')
    echo(message)",
    )
    .await;
    answer(&connection, "{}").await.unwrap();
    let mut events = connection.events().unwrap();
    assert!(connection.events().is_none());
    for expected in [
        ConnectionEvent::ListChanged(ListKind::Tools),
        ConnectionEvent::ListChanged(ListKind::Prompts),
        ConnectionEvent::ListChanged(ListKind::Resources),
    ] {
        assert_eq!(within(events.recv()).await, Some(expected));
    }
}

#[tokio::test]
async fn a_modern_server_that_notifies_is_subscribed_to() {
    let connection = connected(
        "for message in messages():
    if modern(message, {'tools': {'listChanged': True}, 'prompts': {}}): continue
    if message['method'] == 'subscriptions/listen':
        meta = {'io.modelcontextprotocol/subscriptionId': message['id']}
        send(method='notifications/subscriptions/acknowledged', params={'_meta': meta})
        send(method='notifications/tools/list_changed', params={'_meta': meta})
        listened = message['params']
    else: result(message, listened=listened['notifications'])",
    )
    .await;
    let mut events = connection.events().unwrap();
    assert_eq!(within(events.recv()).await, Some(ConnectionEvent::ListChanged(ListKind::Tools)));
    let seen = answer(&connection, "{}").await.unwrap();
    assert_eq!(seen["listened"], json!({ "toolsListChanged": true }));
}

#[tokio::test]
async fn a_child_that_does_not_read_is_not_waited_for() {
    let connection = serving("    time.sleep(1000)").await;
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(3 << 20));
    let mut pending_requests: Vec<_> =
        (0..3).map(|_| SentRequest::call(&connection, &large)).collect();
    let mut last = pending_requests.pop().unwrap();
    let Err(RequestError::NotSent(why)) = last.finish().await else { panic!("was sent") };
    assert!(why.contains("does not read its input"), "{why}");
    let options = RequestOptions { timeout: Duration::from_millis(50), ..call_options() };
    let error = within(connection.request("tools/call", "{}", options)).await.unwrap_err();
    assert!(matches!(error, RequestError::Timeout(50)), "{error:?}");
}

#[tokio::test]
async fn one_that_hangs_does_not_hold_another() {
    let hangs = serving("    time.sleep(1000)").await;
    let answers = serving("    echo(message)").await;
    let mut waiting = SentRequest::call(&hangs, "{}");
    for number in 0..100 {
        let seen = answer(&answers, &format!(r#"{{"number":{number}}}"#)).await.unwrap();
        assert_eq!(seen["structuredContent"]["number"], number);
    }
    let hung = tokio::time::timeout(Duration::from_millis(1), &mut waiting.response).await;
    assert!(hung.is_err());
}
