//! The ends of connections: nothing is left of them.

use std::time::{Duration, Instant};

use guard::process::{ProcessSandbox, SandboxLevel, StartError};
use testkit::eventually;
use upstream::connection::{ConnectError, ConnectOptions, Program, RequestError};

use crate::harness::{
    Mark, SentRequest, answer, closed, connected, options, python, serving, serving_with, shell,
    try_connect, within,
};

#[tokio::test]
async fn a_server_that_dies_takes_its_requests_along_and_says_why() {
    let connection = serving(
        "    if len(globals().setdefault('calls', [])) == 1:
        print('out of coffee', file=sys.stderr); os._exit(7)
    calls.append(message)",
    )
    .await;
    let mut first = SentRequest::call(&connection, "{}");
    let mut second = SentRequest::call(&connection, "{}");
    for pending in [&mut first, &mut second] {
        let Err(RequestError::Lost(why)) = pending.finish().await else { panic!("not lost") };
        assert_eq!(why, "the server exited with code 7: out of coffee");
    }
    assert_eq!(closed(&connection).await, "the server exited with code 7: out of coffee");
    let after = answer(&connection, "{}").await.unwrap_err();
    assert!(matches!(after, RequestError::NotSent(_)), "{after:?}");
    assert_eq!(connection.stderr().for_programs(), "out of coffee\n");
}

#[tokio::test]
async fn a_response_before_the_exit_is_delivered() {
    for _ in 0..10 {
        let connection = serving("    echo(message); os._exit(0)").await;
        assert!(answer(&connection, "{}").await.is_ok());
        assert_eq!(closed(&connection).await, "the server exited with code 0");
    }
}

#[tokio::test]
async fn a_signal_is_named() {
    let connection = serving("    os.kill(os.getpid(), 9)").await;
    let error = answer(&connection, "{}").await.unwrap_err();
    assert_eq!(error.to_string(), "the server was killed by signal 9");
}

#[tokio::test]
async fn a_server_that_closes_its_streams_is_ended() {
    let output = serving("    os.close(1); time.sleep(1000)").await;
    let error = answer(&output, "{}").await.unwrap_err();
    assert_eq!(error.to_string(), "the server closed its output");
    let input = serving("    os.close(0); time.sleep(1000)").await;
    let mut pending = SentRequest::call(&input, "{}");
    // The one that it has read is waited for until the next one cannot be written.
    let _second = SentRequest::call(&input, &format!(r#"{{"x":"{}"}}"#, "x".repeat(200_000)));
    let Err(RequestError::Lost(why)) = pending.finish().await else { panic!("not lost") };
    assert_eq!(why, "the server closed its input");
}

#[tokio::test]
async fn only_the_latest_of_standard_error_is_kept() {
    let connection = serving_with(
        "    for number in range(100000): print('line', number, file=sys.stderr)
    echo(message)",
        |options| options.limits.stderr_bytes = 1_000,
    )
    .await;
    answer(&connection, "{}").await.unwrap();
    eventually("all was read", async || {
        connection.stderr().for_programs().ends_with("line 99999\n")
    })
    .await;
    assert_eq!(connection.stderr().for_programs().len(), 1_000);
}

/// Starts a child in a session of its own, and a grandchild that nobody waits for.
const FORKS: &str = "import subprocess
subprocess.Popen(['sleep', 'MARK'], start_new_session=True)
subprocess.Popen(['sh', '-c', '(setsid sleep MARK &) ; exit 0'])
for message in messages(): modern(message) or echo(message)";

#[tokio::test]
async fn nothing_is_left_after_closing() {
    let mark = Mark::new();
    let connection = connected(&mark.in_text(FORKS)).await;
    eventually("it has children", async || mark.sleeps() == 2).await;
    let mut pending = SentRequest::call(&connection, r#"{"late":true}"#);
    within(connection.close()).await;
    assert_eq!(mark.running(), Vec::<String>::new());
    // It may have been answered before.
    let _ = pending.finish().await;
    assert_eq!(closed(&connection).await, "the connection was closed");
    within(connection.close()).await;
}

#[tokio::test]
async fn a_server_that_will_not_end_is_killed() {
    let mark = Mark::new();
    let script = "import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for message in messages(): modern(message)
while True: time.sleep(1) # MARK";
    let connection = connected(&mark.in_text(script)).await;
    let began = Instant::now();
    within(connection.close()).await;
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn nothing_is_left_of_a_connection_that_is_dropped() {
    let mark = Mark::new();
    let connection = connected(&mark.in_text(FORKS)).await;
    eventually("it has children", async || mark.sleeps() == 2).await;
    let other = connection.clone();
    drop(connection);
    assert!(answer(&other, "{}").await.is_ok());
    // The last request holds it.
    let mut pending = SentRequest::call(&other, "{}");
    drop(other);
    pending.finish().await.unwrap();
    drop(pending);
    eventually("nothing is left", async || mark.running().is_empty()).await;
}

#[tokio::test]
async fn nothing_is_left_of_a_server_that_forks_and_dies() {
    let mark = Mark::new();
    let script = mark.in_text(FORKS).replace("or echo(message)", "or os._exit(1)");
    let connection = connected(&script).await;
    eventually("it has children", async || mark.sleeps() == 2).await;
    assert!(answer(&connection, "{}").await.is_err());
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn nothing_is_left_of_a_connection_that_never_was() {
    let mark = Mark::new();
    let mut options = options();
    options.limits.connect_timeout = Duration::from_millis(300);
    let script = mark.in_text("sleep MARK & setsid sleep MARK & sleep MARK");
    let error = try_connect(shell(&script), options).await.unwrap_err();
    assert!(matches!(error, ConnectError::Timeout { .. }), "{error:?}");
    eventually("nothing is left", async || mark.running().is_empty()).await;
}

#[tokio::test]
async fn a_server_can_run_in_a_sandbox() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret"), "x").unwrap();
    let script = format!(
        "for message in messages():
    if modern(message): continue
    try: result(message, seen=open('{}').read())
    except PermissionError: result(message, seen=None)",
        folder.path().join("secret").display()
    );
    for read in [vec![], vec![folder.path().to_owned()]] {
        let open = !read.is_empty();
        let sandbox = Some(ProcessSandbox { read, ..ProcessSandbox::default() });
        let program = Program { sandbox, ..python(&script) };
        let connection = match try_connect(program, ConnectOptions { ..options() }).await {
            Err(ConnectError::Start(StartError::NoSandbox)) => return,
            connection => connection.unwrap(),
        };
        assert!(matches!(connection.sandbox(), Some(SandboxLevel::Fully | SandboxLevel::Partly)));
        let seen = answer(&connection, "{}").await.unwrap();
        assert_eq!(seen["seen"].is_string(), open);
    }
}
