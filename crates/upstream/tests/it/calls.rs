//! Requests: their answers, what happens to them on the way, and how they are given up.

use std::time::Duration;

use serde_json::{Value, json};
use upstream::connection::{Event, Flight, Happening, Request, RequestError};

use crate::harness::{answer, call, connected, serving, wait_until, within};

async fn next(flight: &mut Box<dyn Flight>) -> Happening {
    within(flight.next()).await
}

async fn outcome(flight: &mut Box<dyn Flight>) -> Result<Value, RequestError> {
    loop {
        if let Happening::Done(outcome) = next(flight).await {
            return outcome.map(|reply| serde_json::from_str(reply.json()).unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_find_their_requests_in_any_order() {
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
async fn errors_are_told_with_all_they_have() {
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
    let mut flight = connection.begin(Request { wants_progress: true, ..call("{}") });
    for step in 0..10_u8 {
        let Happening::Progress { progress, total, message } = next(&mut flight).await else {
            panic!("no progress")
        };
        assert!((progress - f64::from(step)).abs() < f64::EPSILON);
        assert_eq!((total, message), (Some(10.0), Some(format!("step {step}"))));
    }
    let Happening::Log { level, data } = next(&mut flight).await else { panic!("no log") };
    assert_eq!((&*level, data), ("warning", json!({ "free": 3 })));
    assert!(matches!(next(&mut flight).await, Happening::Done(Ok(_))));
}

#[tokio::test]
async fn a_flood_of_progress_costs_nothing_and_loses_no_answer() {
    let connection = serving(
        "    for step in range(100000):
        sys.stdout.write(json.dumps({'jsonrpc': '2.0', 'method': 'notifications/progress',
            'params': {'progressToken': message['id'], 'progress': step}}) + '\\n')
    echo(message)",
    )
    .await;
    let mut flight = connection.begin(call("{}"));
    // Nobody looks while it comes.
    let late = answer(&connection, "{}");
    late.await.unwrap();
    let mut notes = 0;
    loop {
        match next(&mut flight).await {
            Happening::Done(outcome) => break assert!(outcome.is_ok()),
            _ => notes += 1,
        }
    }
    assert!((1..=64).contains(&notes), "{notes} notes");
}

#[tokio::test]
async fn a_request_that_nobody_waits_for_is_called_back() {
    let connection = serving(
        "    seen = globals().setdefault('seen', [])
    if 'id' not in message: seen.append([message['method'], message['params']['requestId']])
    elif message['params'].get('tell'): result(message, seen=seen)
    elif message['params'].get('late'): seen.append(['called', message['id']])",
    )
    .await;
    let flight = connection.begin(call(r#"{"late":true}"#));
    drop(flight);
    let seen = answer(&connection, r#"{"tell":true}"#).await.unwrap();
    assert_eq!(seen["seen"][0][0], "called");
    assert_eq!(seen["seen"][1], json!(["notifications/cancelled", seen["seen"][0][1]]));
    // One that was answered is not.
    assert_eq!(answer(&connection, r#"{"tell":true}"#).await.unwrap(), seen);
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_called_back_and_its_late_answer_ignored() {
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
    let late = Request { timeout, ..call(r#"{"late":true}"#) };
    let error = within(connection.request(late)).await.unwrap_err();
    assert!(matches!(error, RequestError::Timeout(100)), "{error:?}");
    assert_eq!(error.to_string(), "no answer within 100 ms");
    wait_until("both late answers came", || connection.oddities().unexpected == 2).await;
    let seen = answer(&connection, r#"{"number":2}"#).await.unwrap();
    assert_eq!(seen["structuredContent"]["number"], 2);
}

/// Asks back once, and answers the call with what it was told.
const ASKS: &str = "    if called(message):
        call = message
        send(id='q1', method=message['params']['ask'], params={'message': 'which one?'})
    elif message.get('id') == 'q1': result(call, told=message)";

#[tokio::test]
async fn a_question_is_carried_to_who_made_the_call() {
    let connection = serving(ASKS).await;
    for method in ["elicitation/create", "sampling/createMessage", "roots/list"] {
        let params = format!(r#"{{"ask":"{method}"}}"#);
        let mut flight = connection.begin(call(&params));
        let Happening::Asked(asked) = next(&mut flight).await else { panic!("no question") };
        assert_eq!((&*asked.method, &asked.params), (method, &json!({ "message": "which one?" })));
        asked.answer(json!({ "action": "accept", "content": { "a": 1 } }));
        let told = outcome(&mut flight).await.unwrap();
        assert_eq!(
            told["told"],
            json!({ "jsonrpc": "2.0", "id": "q1",
                "result": { "action": "accept", "content": { "a": 1 } } })
        );
    }
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_answered_all_the_same() {
    let connection = serving(ASKS).await;
    // By somebody who does not look at questions, and of a method that is none.
    for method in ["elicitation/create", "tools/call", "completion/complete"] {
        let seen = answer(&connection, &format!(r#"{{"ask":"{method}"}}"#)).await.unwrap();
        assert_eq!(seen["told"]["error"]["code"], -32_601, "{method}");
    }
    let seen = answer(&connection, r#"{"ask":"ping"}"#).await.unwrap();
    assert_eq!(seen["told"]["result"], json!({}));
}

#[tokio::test]
async fn a_question_beside_all_calls_reaches_nobody() {
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
async fn time_does_not_run_while_somebody_is_asked() {
    let connection = serving(ASKS).await;
    let timeout = Duration::from_millis(200);
    let params = r#"{"ask":"elicitation/create"}"#;
    let mut flight = connection.begin(Request { timeout, ..call(params) });
    let Happening::Asked(asked) = next(&mut flight).await else { panic!("no question") };
    let slow = async {
        tokio::time::sleep(timeout * 4).await;
        asked.answer(json!({}));
    };
    let ((), outcome) = tokio::join!(slow, outcome(&mut flight));
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[tokio::test]
async fn a_question_can_be_taken_back() {
    let connection = serving(
        "    if called(message):
        call = message
        send(id=5, method='elicitation/create', params={})
        send(method='notifications/cancelled', params={'requestId': 5})
        send(id=6, method='ping')
    elif message.get('id') == 6: result(call, told='nothing')
    else: result(call, told=message)",
    )
    .await;
    let mut flight = connection.begin(call("{}"));
    let Happening::Asked(asked) = next(&mut flight).await else { panic!("no question") };
    assert_eq!(outcome(&mut flight).await.unwrap()["told"], "nothing");
    asked.answer(json!({}));
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
    let mut flights = [connection.begin(call("{}")), connection.begin(call("{}"))];
    for flight in &mut flights {
        assert!(matches!(next(flight).await, Happening::Done(Ok(_))));
    }
}

#[tokio::test]
async fn changes_are_told_as_events() {
    let connection = serving(
        "    for kind in ['tools', 'prompts', 'resources']:
        send(method=f'notifications/{kind}/list_changed')
    echo(message)",
    )
    .await;
    answer(&connection, "{}").await.unwrap();
    let mut events = connection.events().unwrap();
    assert!(connection.events().is_none());
    for expected in [Event::ToolsChanged, Event::PromptsChanged, Event::ResourcesChanged] {
        assert_eq!(within(events.recv()).await, Some(expected));
    }
}

#[tokio::test]
async fn a_modern_server_is_listened_to_where_it_tells_changes() {
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
    assert_eq!(within(events.recv()).await, Some(Event::ToolsChanged));
    let seen = answer(&connection, "{}").await.unwrap();
    assert_eq!(seen["listened"], json!({ "toolsListChanged": true }));
}

#[tokio::test]
async fn a_child_that_does_not_read_is_not_waited_for() {
    let connection = serving("    time.sleep(1000)").await;
    let large = format!(r#"{{"text":"{}"}}"#, "x".repeat(3 << 20));
    let mut flights: Vec<_> = (0..3).map(|_| connection.begin(call(&large))).collect();
    let mut last = flights.pop().unwrap();
    let Happening::Done(Err(RequestError::NotSent(why))) = next(&mut last).await else {
        panic!("was sent")
    };
    assert!(why.contains("does not read its input"), "{why}");
    let short = Request { timeout: Duration::from_millis(50), ..call("{}") };
    let error = within(connection.request(short)).await.unwrap_err();
    assert!(matches!(error, RequestError::Timeout(50)), "{error:?}");
}

#[tokio::test]
async fn one_that_hangs_does_not_hold_another() {
    let hangs = serving("    time.sleep(1000)").await;
    let answers = serving("    echo(message)").await;
    let mut waiting = hangs.begin(call("{}"));
    for number in 0..100 {
        let seen = answer(&answers, &format!(r#"{{"number":{number}}}"#)).await.unwrap();
        assert_eq!(seen["structuredContent"]["number"], number);
    }
    let hung = tokio::time::timeout(Duration::from_millis(1), waiting.next()).await;
    assert!(hung.is_err());
}
