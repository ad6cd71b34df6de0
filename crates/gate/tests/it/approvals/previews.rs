//! What a tool shows of a call before it runs.

use std::time::{Duration, Instant};

use gate::Approval;
use serde_json::json;

use super::{ApprovalGate, Preview, call, usual, with};

async fn asked(fixture: &ApprovalGate) -> Approval {
    let id = fixture.ask(usual()).await;
    fixture.gate.store().approval(&id, fixture.gate.clock().now()).await.unwrap().unwrap()
}

#[tokio::test]
async fn it_is_shown_with_the_arguments_and_the_call_still_has_them() {
    let fixture = ApprovalGate::new(Preview::Input);
    let approval = asked(&fixture).await;
    assert_eq!(approval.preview.unwrap(), r#"would write {"path":"a"}"#);
    assert_eq!(approval.input.unwrap().get(), r#"{"path":"a"}"#);
    fixture.decide(&approval.id, true).await;
    assert_eq!(fixture.code(with(usual(), &approval.id)).await, "ok");
}

#[tokio::test]
async fn a_tool_that_breaks_while_it_shows_is_still_asked_about() {
    for preview in [Preview::Panics, Preview::PanicsAtOnce] {
        let fixture = ApprovalGate::new(preview);
        let approval = asked(&fixture).await;
        assert!(approval.preview.is_none());
        assert_eq!(approval.input.unwrap().get(), r#"{"path":"a"}"#);
        fixture.decide(&approval.id, true).await;
        assert_eq!(fixture.code(with(usual(), &approval.id)).await, "ok");
        assert_eq!(fixture.runs(), 1);
    }
}

#[tokio::test]
async fn a_tool_that_shows_nothing_holds_up_nobody_for_long() {
    let fixture = ApprovalGate::new(Preview::Hangs);
    let began = Instant::now();
    let approval = asked(&fixture).await;
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(approval.preview.is_none());
    assert_eq!(fixture.runs(), 0);
}

#[tokio::test]
async fn what_is_too_long_is_cut_and_that_is_told() {
    let fixture = ApprovalGate::new(Preview::Huge);
    let shown = asked(&fixture).await.preview.unwrap();
    assert!(shown.len() < 66_000, "{}", shown.len());
    assert!(shown.ends_with("é\n… and 1934464 more bytes"), "{}", &shown[shown.len() - 60..]);
}

#[tokio::test]
async fn secrets_are_not_shown_and_not_written_down() {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let secret = "hunter2-hunter2";
    let input = || json!({ "key": secret, "path": "\u{1b}[2Jx" });
    let id = fixture.ask(call("one", input())).await;
    fixture.decide(&id, true).await;
    let approval =
        fixture.gate.store().approval(&id, fixture.gate.clock().now()).await.unwrap().unwrap();
    let kept = serde_json::to_string(&approval).unwrap();
    assert!(!kept.contains(secret), "{kept}");
    assert!(kept.contains("\\u001b[2Jx"), "{kept}");
    assert_eq!(fixture.code(with(call("one", input()), &id)).await, "ok");
    assert!(!fixture.journal_has(secret));
    for ending in ["", "-wal"] {
        let mut path = fixture.database().into_os_string();
        path.push(ending);
        let bytes = std::fs::read(path).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
    }
}
