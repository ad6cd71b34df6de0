//! Servers that do what no server should.

use std::time::Duration;

use testkit::peak_bytes;
use upstream::{
    ServerText,
    connection::{RequestError, RequestOptions},
};

use crate::harness::{SentRequest, answer, call_options, serving, serving_with, within};

#[tokio::test]
async fn garbage_is_counted_and_ignored() {
    let connection = serving(
        "    for text in ['INFO starting', '', '   ', '{', '[]', '{\"level\":\"info\"}', 'null', '\\u2028', '[1]']:
        line(text)
    sys.stdout.buffer.write(b'\\xff\\xfe\\x00\\n')
    line(json.dumps({'jsonrpc': '1.0', 'id': message['id'], 'result': {}}))
    echo(message)",
    )
    .await;
    let seen = answer(&connection, r#"{"number":1}"#).await.unwrap();
    assert_eq!(seen["structuredContent"]["number"], 1);
    let discarded = connection.discarded();
    let samples: Vec<_> = discarded.samples.iter().map(ServerText::for_programs).collect();
    assert_eq!(samples[..3], ["INFO starting", "{", r#"{"level":"info"}"#]);
    assert_eq!(discarded.samples.len(), 5);
    // An empty batch has no messages, and one of a number has one that is none.
    assert_eq!((discarded.malformed, discarded.too_long, discarded.unexpected), (8, 0, 0));
}

#[tokio::test]
async fn the_first_response_counts_and_others_are_ignored() {
    let connection = serving(
        "    send(id=message['id'] + 1, result={'wrong': True})
    send(id=str(message['id']), result={'wrong': True})
    send(id=None, result={'wrong': True})
    send(id=-1, error={'code': 1, 'message': 'wrong'})
    send(id=message['id'], result=message['params'])
    send(id=message['id'], result={'wrong': True})",
    )
    .await;
    for number in 0..20 {
        // The next request has the number that the one before was answered with too early.
        let seen = answer(&connection, &format!(r#"{{"number":{number}}}"#)).await.unwrap();
        assert_eq!(seen["number"], number);
    }
    assert!(connection.discarded().unexpected >= 19 * 5);
}

#[tokio::test]
async fn a_line_of_a_hundred_megabytes_costs_no_memory() {
    let connection = serving_with(
        "    if message['params'].get('large'):
        sys.stdout.write('{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"text\":\"' % message['id'])
        for _ in range(100): sys.stdout.write('x' * 1000000)
        line('\"}}')
    else: echo(message)",
        |options| options.limits.max_message_bytes = 1 << 20,
    )
    .await;
    let before = peak_bytes(std::process::id());
    let error = answer(&connection, r#"{"large":true}"#).await.unwrap_err();
    assert!(matches!(error, RequestError::TooLarge(1_048_576)), "{error:?}");
    assert_eq!(error.to_string(), "the response has more than 1048576 bytes (max_message_bytes)");
    let grown = peak_bytes(std::process::id()) - before;
    assert!(grown < 64 << 20, "memory grew by {grown} bytes");
    assert_eq!(connection.discarded().too_long, 1);
    assert!(answer(&connection, "{}").await.is_ok());
}

#[tokio::test]
async fn a_response_above_the_limit_of_its_request_is_dropped_where_it_is_read() {
    let connection = serving_with(
        "    if 'id' in message: line('{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"text\":\"%s\"}}' %
        (message['id'], 'x' * 2000))",
        |_| {},
    )
    .await;
    for (max_response_bytes, is_large) in [(1_000, true), (3_000, false)] {
        let options = RequestOptions { max_response_bytes, ..call_options() };
        let ended = within(connection.request("resources/read", "{}", options)).await;
        match ended {
            Err(RequestError::TooLarge(1_000)) => assert!(is_large),
            ended => assert!(!is_large && ended.is_ok(), "{ended:?}"),
        }
    }
}

#[tokio::test]
async fn a_long_line_without_an_id_leaves_its_request_to_the_timeout() {
    let connection = serving_with(
        "    if message['params'].get('large'): line('x' * 2000)
    elif 'id' in message: echo(message)",
        |options| options.limits.max_message_bytes = 1_000,
    )
    .await;
    let timeout = Duration::from_millis(200);
    let options = RequestOptions { timeout, ..call_options() };
    let large = connection.request("tools/call", r#"{"large":true}"#, options);
    let error = within(large).await.unwrap_err();
    assert!(matches!(error, RequestError::Timeout(200)), "{error:?}");
    assert!(answer(&connection, "{}").await.is_ok());
}

#[tokio::test]
async fn a_response_of_many_megabytes_arrives_whole() {
    let connection = serving("    result(message, text='ä' * 2000000)").await;
    let seen = answer(&connection, "{}").await.unwrap();
    assert_eq!(seen["text"].as_str().unwrap().chars().count(), 2_000_000);
}

#[tokio::test]
async fn a_server_that_asks_all_the_time_is_not_remembered_for_it() {
    let connection = serving(
        "    if called(message):
        for number in range(5000):
            sys.stdout.write(json.dumps({'jsonrpc': '2.0', 'id': number, 'method': 'elicitation/create', 'params': {}}) + '\\n')
        sys.stdout.flush()",
    )
    .await;
    // As many as wait for their turn are open until they are looked at; all others are refused.
    let mut pending = SentRequest::call(&connection, "{}");
    let mut questions = Vec::new();
    while questions.len() < 64 {
        questions.push(pending.input_request().await);
    }
    drop((questions, pending));
    let pending = connection.request("tools/list", "{}", call_options());
    let waited = tokio::time::timeout(Duration::from_millis(100), pending).await;
    assert!(waited.is_err(), "{waited:?}");
}

#[tokio::test]
async fn a_batch_is_taken_apart() {
    let connection = serving(
        "    line(json.dumps([
        {'jsonrpc': '2.0', 'method': 'notifications/message', 'params': {'level': 'info', 'data': 1}},
        {'jsonrpc': '2.0', 'id': message['id'], 'result': {'number': 5}},
    ]))",
    )
    .await;
    assert_eq!(answer(&connection, "{}").await.unwrap()["number"], 5);
}
