//! A command that runs for long: its streams, its end, and that nothing of it is left.

use std::time::{Duration, Instant};

use guard::process::{Child, ExitReason, Launch};
use testkit::until;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::harness::{DEADLINE, Mark, shell, spawner, within};

async fn open(launch: Launch) -> Child {
    within(spawner().open(launch)).await.unwrap()
}

async fn rest(child: &mut Child) -> String {
    let mut text = String::new();
    within(child.stdout.take().unwrap().read_to_string(&mut text)).await.unwrap();
    text
}

#[tokio::test]
async fn lines_go_in_and_come_out_while_it_runs() {
    let mut child = open(shell("while read line; do echo \"got $line\"; done; exit 5")).await;
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for word in ["one", "two", "three"] {
        stdin.write_all(format!("{word}\n").as_bytes()).await.unwrap();
        let line = within(lines.next_line()).await.unwrap();
        assert_eq!(line, Some(format!("got {word}")));
    }
    drop(stdin);
    assert_eq!(within(child.ended()).await, ExitReason::Exited(5));
    assert_eq!(within(child.ended()).await, ExitReason::Exited(5));
}

#[tokio::test]
async fn the_end_can_be_waited_for_in_pieces() {
    let mut child = open(shell("read line; kill -11 $$")).await;
    for _ in 0..5 {
        let waited = tokio::time::timeout(Duration::from_millis(1), child.ended()).await;
        assert!(waited.is_err());
    }
    drop(child.stdin.take());
    assert_eq!(within(child.ended()).await, ExitReason::Signalled(11));
}

#[tokio::test]
async fn closing_waits_for_an_orderly_end() {
    let mark = Mark::new();
    let mut child = open(mark.shell("sleep MARK & cat; echo bye; exit 3")).await;
    let stdout = child.stdout.take().unwrap();
    assert_eq!(within(child.close(DEADLINE)).await, ExitReason::Exited(3));
    assert_eq!(mark.running(), Vec::<String>::new());
    let mut text = String::new();
    within(BufReader::new(stdout).read_to_string(&mut text)).await.unwrap();
    assert_eq!(text, "bye\n");
}

#[tokio::test]
async fn closing_kills_what_does_not_end() {
    let mark = Mark::new();
    let script =
        "trap '' TERM HUP INT; setsid sleep MARK & (setsid sleep MARK &); echo up; sleep MARK";
    let mut child = open(mark.shell(script)).await;
    let mut line = [0; 3];
    within(child.stdout.as_mut().unwrap().read_exact(&mut line)).await.unwrap();
    let began = Instant::now();
    assert_eq!(within(child.close(Duration::from_millis(50))).await, ExitReason::Stopped);
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn a_dropped_child_takes_everything_along() {
    let mark = Mark::new();
    let script = "setsid sleep MARK & (setsid sleep MARK &); echo up; sleep MARK";
    let mut child = open(mark.shell(script)).await;
    let mut line = [0; 3];
    within(child.stdout.as_mut().unwrap().read_exact(&mut line)).await.unwrap();
    drop(child);
    until("nothing is left", || mark.running().is_empty());
}

#[tokio::test]
async fn what_it_forked_is_gone_with_it() {
    let mark = Mark::new();
    let mut child = open(mark.shell("setsid sleep MARK & sleep MARK & echo out; exit 0")).await;
    assert_eq!(within(child.ended()).await, ExitReason::Exited(0));
    assert_eq!(mark.running(), Vec::<String>::new());
    assert_eq!(rest(&mut child).await, "out\n");
}

#[tokio::test]
async fn a_child_that_ends_at_once_has_started_all_the_same() {
    for _ in 0..20 {
        let mut child = open(shell("echo hi; exit 9")).await;
        assert_eq!(child.sandbox(), None);
        assert_eq!(within(child.ended()).await, ExitReason::Exited(9));
        assert_eq!(rest(&mut child).await, "hi\n");
    }
}
