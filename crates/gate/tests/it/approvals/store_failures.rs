//! A store that fails in the middle of an approval: whatever cannot be written, nothing runs.

use gate::{ApprovalId, Recording};
use serde_json::json;

use super::{ApprovalGate, Preview, usual, with};

/// A gate with a usual call that was approved.
async fn approved() -> (ApprovalGate, ApprovalId) {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let id = fixture.ask(usual()).await;
    fixture.decide(&id, true).await;
    (fixture, id)
}

/// From now on the database refuses this.
fn forbid(fixture: &ApprovalGate, what: &str) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(fixture.database()).unwrap();
    connection
        .execute_batch(&format!(
            "CREATE TRIGGER forbidden BEFORE {what}
             BEGIN SELECT RAISE(ABORT, 'not today'); END;"
        ))
        .unwrap();
    connection
}

fn allow(connection: &rusqlite::Connection) {
    connection.execute_batch("DROP TRIGGER forbidden").unwrap();
}

#[tokio::test]
async fn what_cannot_be_asked_does_not_run() {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let database = forbid(&fixture, "INSERT ON approvals");
    let failure = fixture.call(usual()).await.result.unwrap_err();
    assert_eq!((&*failure.code, failure.http_status), ("unavailable", 503));
    assert!(failure.approval.is_none());
    allow(&database);
    fixture.ask(usual()).await;
    assert_eq!(fixture.runs(), 0);
}

#[tokio::test]
async fn what_cannot_be_used_up_does_not_run() {
    let (fixture, id) = approved().await;
    let database = forbid(&fixture, "UPDATE ON approvals");
    let keyed = || usual().idempotency_key(Some("k".into()));
    let always = || usual().recording(Recording::Always);
    for call in [usual(), with(usual(), &id), always(), keyed()] {
        assert_eq!(fixture.code(call).await, "unavailable");
    }
    assert_eq!(fixture.runs(), 0);
    allow(&database);
    assert_eq!(fixture.code(with(keyed(), &id)).await, "ok");
    assert_eq!(fixture.runs(), 1);
}

#[tokio::test]
async fn what_cannot_be_decided_is_not() {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let id = fixture.ask(usual()).await;
    let database = forbid(&fixture, "UPDATE ON approvals");
    let verdict =
        gate::approvals::ApprovalDecision { approve: true, by: "operator".into(), reason: None };
    assert!(fixture.gate.decide(&id, verdict).await.is_err());
    assert_eq!(fixture.events(), ["approval_requested"]);
    allow(&database);
    assert_eq!(fixture.ask(usual()).await, id);
    assert_eq!(fixture.runs(), 0);
}

#[tokio::test]
async fn a_table_that_is_gone_is_no_consent() {
    let (fixture, id) = approved().await;
    let database = rusqlite::Connection::open(fixture.database()).unwrap();
    database.execute_batch("DROP TABLE approvals").unwrap();
    for call in [usual(), with(usual(), &id)] {
        assert_eq!(fixture.code(call).await, "unavailable");
    }
    assert_eq!(fixture.runs(), 0);
}

#[tokio::test]
async fn a_row_that_says_nonsense_is_no_consent() {
    for (column, value) in [("state", "'yes'"), ("id", "'apr_x'"), ("expires_at", "-1")] {
        let (fixture, id) = approved().await;
        let database = rusqlite::Connection::open(fixture.database()).unwrap();
        let sql = format!("UPDATE approvals SET {column} = {value}");
        database.execute(&sql, []).unwrap();
        for call in [usual(), with(usual(), &id)] {
            let code = fixture.code(call).await;
            assert!(["unavailable", "approval_required"].contains(&code.as_str()), "{code}");
        }
        assert_eq!(fixture.runs(), 0, "{column}");
    }
}

#[tokio::test]
async fn a_key_whose_call_had_to_wait_can_be_used_again() {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let keyed =
        |path: &str| usual().idempotency_key(Some("k".into())).input(json!({ "path": path }));
    // Also for something else: nothing has run under it.
    fixture.ask(keyed("a")).await;
    fixture.ask(keyed("b")).await;
}
