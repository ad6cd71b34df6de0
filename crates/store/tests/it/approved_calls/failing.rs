//! A store that fails in the middle of an approval: whatever cannot be written, nothing runs.

use gate::{Call, Recording};
use serde_json::json;

use super::{Desk, Preview, usual, with};

/// From now on the database refuses this.
fn forbid(desk: &Desk, what: &str) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(desk.database()).unwrap();
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
    let desk = Desk::new(Preview::Nothing);
    let database = forbid(&desk, "INSERT ON approvals");
    let failure = desk.call(usual()).await.result.unwrap_err();
    assert_eq!((&*failure.code, failure.http_status), ("unavailable", 503));
    assert!(failure.approval.is_none());
    allow(&database);
    desk.ask(usual()).await;
    assert_eq!(desk.runs(), 0);
}

#[tokio::test]
async fn what_cannot_be_used_up_does_not_run() {
    let desk = Desk::new(Preview::Nothing);
    let id = desk.ask(usual()).await;
    desk.decide(&id, true).await;
    let database = forbid(&desk, "UPDATE ON approvals");
    let keyed = || Call { idempotency_key: Some("k".into()), ..usual() };
    let always = || Call { recording: Recording::Always, ..usual() };
    for call in [usual(), with(usual(), &id), always(), keyed()] {
        assert_eq!(desk.code(call).await, "unavailable");
    }
    assert_eq!(desk.runs(), 0);
    allow(&database);
    assert_eq!(desk.code(with(keyed(), &id)).await, "ok");
    assert_eq!(desk.runs(), 1);
}

#[tokio::test]
async fn what_cannot_be_decided_is_not() {
    let desk = Desk::new(Preview::Nothing);
    let id = desk.ask(usual()).await;
    let database = forbid(&desk, "UPDATE ON approvals");
    let verdict =
        gate::approvals::ApprovalDecision { approve: true, by: "operator".into(), reason: None };
    assert!(desk.gate.decide(&id, verdict).await.is_err());
    assert_eq!(desk.events(), ["approval_requested"]);
    allow(&database);
    assert_eq!(desk.ask(usual()).await, id);
    assert_eq!(desk.runs(), 0);
}

#[tokio::test]
async fn a_table_that_is_gone_is_no_consent() {
    let desk = Desk::new(Preview::Nothing);
    let id = desk.ask(usual()).await;
    desk.decide(&id, true).await;
    let database = rusqlite::Connection::open(desk.database()).unwrap();
    database.execute_batch("DROP TABLE approvals").unwrap();
    for call in [usual(), with(usual(), &id)] {
        assert_eq!(desk.code(call).await, "unavailable");
    }
    assert_eq!(desk.runs(), 0);
}

#[tokio::test]
async fn a_row_that_says_nonsense_is_no_consent() {
    for (column, value) in [("state", "'yes'"), ("id", "'apr_x'"), ("expires_at", "-1")] {
        let desk = Desk::new(Preview::Nothing);
        let id = desk.ask(usual()).await;
        desk.decide(&id, true).await;
        let database = rusqlite::Connection::open(desk.database()).unwrap();
        let sql = format!("UPDATE approvals SET {column} = {value}");
        database.execute(&sql, []).unwrap();
        for call in [usual(), with(usual(), &id)] {
            let code = desk.code(call).await;
            assert!(["unavailable", "approval_required"].contains(&code.as_str()), "{code}");
        }
        assert_eq!(desk.runs(), 0, "{column}");
    }
}

#[tokio::test]
async fn a_key_whose_call_had_to_wait_can_be_used_again() {
    let desk = Desk::new(Preview::Nothing);
    let keyed = |path: &str| Call {
        idempotency_key: Some("k".into()),
        input: json!({ "path": path }),
        ..usual()
    };
    // Also for something else: nothing has run under it.
    desk.ask(keyed("a")).await;
    desk.ask(keyed("b")).await;
}
