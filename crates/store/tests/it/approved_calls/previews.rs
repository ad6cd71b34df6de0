//! What a tool shows of a call before it runs.

use std::time::{Duration, Instant};

use gate::Approval;
use serde_json::json;

use super::{Desk, Preview, call, usual, with};

async fn asked(desk: &Desk) -> Approval {
    let id = desk.ask(usual()).await;
    desk.gate.store().approval(&id, desk.gate.clock().now()).await.unwrap().unwrap()
}

#[tokio::test]
async fn it_is_shown_with_the_arguments_and_the_call_still_has_them() {
    let desk = Desk::new(Preview::Input);
    let approval = asked(&desk).await;
    assert_eq!(approval.preview.unwrap(), r#"would write {"path":"a"}"#);
    assert_eq!(approval.input.unwrap().get(), r#"{"path":"a"}"#);
    desk.decide(&approval.id, true).await;
    assert_eq!(desk.code(with(usual(), &approval.id)).await, "ok");
}

#[tokio::test]
async fn a_tool_that_breaks_while_it_shows_is_still_asked_about() {
    for preview in [Preview::Panics, Preview::PanicsAtOnce] {
        let desk = Desk::new(preview);
        let approval = asked(&desk).await;
        assert!(approval.preview.is_none());
        assert_eq!(approval.input.unwrap().get(), r#"{"path":"a"}"#);
        desk.decide(&approval.id, true).await;
        assert_eq!(desk.code(with(usual(), &approval.id)).await, "ok");
        assert_eq!(desk.runs(), 1);
    }
}

#[tokio::test]
async fn a_tool_that_shows_nothing_holds_up_nobody_for_long() {
    let desk = Desk::new(Preview::Hangs);
    let began = Instant::now();
    let approval = asked(&desk).await;
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
    assert!(approval.preview.is_none());
    assert_eq!(desk.runs(), 0);
}

#[tokio::test]
async fn what_is_too_long_is_cut_and_that_is_told() {
    let desk = Desk::new(Preview::Huge);
    let shown = asked(&desk).await.preview.unwrap();
    assert!(shown.len() < 66_000, "{}", shown.len());
    assert!(shown.ends_with("é\n… and 1934464 more bytes"), "{}", &shown[shown.len() - 60..]);
}

#[tokio::test]
async fn secrets_are_not_shown_and_not_written_down() {
    let desk = Desk::new(Preview::Nothing);
    let secret = "hunter2-hunter2";
    let input = || json!({ "key": secret, "path": "\u{1b}[2Jx" });
    let id = desk.ask(call("one", input())).await;
    desk.decide(&id, true).await;
    let approval = desk.gate.store().approval(&id, desk.gate.clock().now()).await.unwrap().unwrap();
    let kept = serde_json::to_string(&approval).unwrap();
    assert!(!kept.contains(secret), "{kept}");
    assert!(kept.contains("\\u001b[2Jx"), "{kept}");
    assert_eq!(desk.code(with(call("one", input()), &id)).await, "ok");
    assert!(!desk.journal().contains(secret));
    for ending in ["", "-wal"] {
        let mut path = desk.database().into_os_string();
        path.push(ending);
        let bytes = std::fs::read(path).unwrap_or_default();
        assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
    }
}
