//! Nothing of a command is left, however it ends.
#![allow(
    clippy::disallowed_types,
    reason = "a test starts a process of its own in order to kill it"
)]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use guard::process::{ExitReason, FinishedCommand, Launch, Spawner};
use testkit::{eventually, until};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::harness::{Mark, run, shell, spawner, wait_until, within};

/// What a stopped call may take, by promise.
const STOP_DEADLINE: Duration = Duration::from_secs(2);
/// The same when one of the waits that we allow ourselves has to run out first.
const FORCED_DEADLINE: Duration = Duration::from_secs(5);

/// Runs a command, and stops it once `started` holds. Says how long that took.
async fn stop_when(
    launch: Launch,
    mut started: impl FnMut() -> bool,
) -> (FinishedCommand, Duration) {
    let stop = CancellationToken::new();
    let spawner = spawner();
    let cancel = async {
        eventually("the command runs", || std::future::ready(started())).await;
        stop.cancel();
        Instant::now()
    };
    let (finished, cancelled) = tokio::join!(within(spawner.run(launch, &stop, None)), cancel);
    (finished.unwrap(), cancelled.elapsed())
}

#[tokio::test]
async fn a_stopped_command_is_gone_and_its_output_kept() {
    let mark = Mark::new();
    let script = "echo begun; trap '' TERM INT HUP; sleep MARK & sleep MARK";
    let (finished, took) = stop_when(mark.shell(script), || mark.sleeps() == 2).await;
    assert_eq!(finished.ending, ExitReason::Stopped);
    assert_eq!(finished.stdout.bytes, b"begun\n");
    assert!(took < STOP_DEADLINE, "took {took:?}");
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn a_call_that_is_stopped_already_runs_nothing_for_long() {
    let mark = Mark::new();
    let stop = CancellationToken::new();
    stop.cancel();
    let finished =
        within(spawner().run(mark.launch("sleep", &["MARK"]), &stop, None)).await.unwrap();
    assert_eq!(finished.ending, ExitReason::Stopped);
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn children_in_the_background_end_with_the_command() {
    let mark = Mark::new();
    let script = "sleep MARK & setsid sleep MARK & (setsid sleep MARK &) ; echo done; exit 6";
    let began = Instant::now();
    let finished = run(mark.shell(script)).await.unwrap();
    assert_eq!(finished.ending, ExitReason::Exited(6));
    assert_eq!(finished.stdout.bytes, b"done\n");
    assert!(began.elapsed() < STOP_DEADLINE, "waited for the children");
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn a_daemon_is_no_way_out() {
    let mark = Mark::new();
    let script = "import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.chdir('/')
        for number in range(3): os.close(number)
        os.execvp('sleep', ['sleep', 'MARK'])
    os._exit(0)
os.wait()
print('daemon started', flush=True)
if len(sys.argv) > 1: os.execvp('sleep', ['sleep', 'MARK'])";
    let finished = match run(mark.launch("python3", &["-c", script])).await {
        Err(guard::process::StartError::NotFound { .. }) => return,
        finished => finished.unwrap(),
    };
    assert_eq!(finished.ending, ExitReason::Exited(0));
    assert_eq!(finished.stdout.bytes, b"daemon started\n");
    assert_eq!(mark.running(), Vec::<String>::new());

    let daemon_beside = mark.launch("python3", &["-c", script, "stay"]);
    let (finished, took) = stop_when(daemon_beside, || mark.sleeps() == 2).await;
    assert_eq!(finished.ending, ExitReason::Stopped);
    assert!(took < STOP_DEADLINE, "took {took:?}");
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn what_forks_all_the_time_is_caught() {
    let mark = Mark::new();
    // Several loops, each with new sessions all the time, until it is stopped.
    let script = "for loop in 1 2 3; do
        (trap '' HUP TERM; while :; do setsid sleep MARK & sleep 0.005; done) &
    done; wait";
    let (finished, took) = stop_when(mark.shell(script), || mark.sleeps() > 30).await;
    assert_eq!(finished.ending, ExitReason::Stopped);
    assert!(took < STOP_DEADLINE, "took {took:?}");
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn a_dropped_call_is_killed_at_once() {
    let mark = Mark::new();
    let script = "setsid sleep MARK & sleep MARK & wait";
    let spawner = spawner();
    let stop = CancellationToken::new();
    let call = spawner.run(mark.shell(script), &stop, None);
    tokio::select! {
        finished = call => panic!("ended by itself: {finished:?}"),
        () = eventually("the command runs", async || mark.sleeps() == 2) => {}
    }
    // Killed already, and on their way out without us.
    wait_until("nothing is left", STOP_DEADLINE, || mark.running().is_empty());
}

#[tokio::test]
async fn a_call_dropped_while_it_starts_leaves_nothing() {
    let mark = Mark::new();
    for _ in 0..30 {
        drop_while_running(&spawner(), mark.launch("sleep", &["MARK"])).await;
    }
    wait_until("nothing is left", STOP_DEADLINE, || mark.running().is_empty());
}

/// Children of this process that ended and were not reaped; other tests may have some for a moment.
fn zombies_of_ours() -> usize {
    let me = std::process::id().to_string();
    let is_zombie_of_ours = |stat: String| {
        let mut fields = stat.rsplit(')').next().unwrap_or("").split_ascii_whitespace();
        fields.next() == Some("Z") && fields.next() == Some(&me)
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok())
        .filter(|stat| is_zombie_of_ours(stat.clone()))
        .count()
}

#[tokio::test]
async fn no_zombie_stays() {
    for _ in 0..5 {
        run(shell("true & exit 0")).await.unwrap();
        drop_while_running(&spawner(), shell("true & sleep 1000")).await;
    }
    eventually("all are reaped", async || zombies_of_ours() == 0).await;
}

/// Lets go of a call before it had the chance to do anything.
async fn drop_while_running(spawner: &Spawner, launch: Launch) {
    let stop = CancellationToken::new();
    tokio::select! {
        biased;
        finished = spawner.run(launch, &stop, None) => panic!("ended by itself: {finished:?}"),
        () = tokio::task::yield_now() => {}
    }
}

#[tokio::test]
async fn a_killed_supervisor_takes_its_session_along() {
    let mark = Mark::new();
    let script = "trap '' HUP TERM; sleep MARK & kill -9 $PPID; sleep MARK";
    let finished = run(mark.shell(script)).await.unwrap();
    assert_eq!(finished.ending, ExitReason::Signalled(9));
    wait_until("nothing is left", STOP_DEADLINE, || mark.running().is_empty());
}

#[tokio::test]
async fn a_supervisor_that_is_asked_to_end_clears_up_first() {
    let mark = Mark::new();
    let finished =
        run(mark.shell("setsid sleep MARK & kill -TERM $PPID; sleep MARK")).await.unwrap();
    assert_eq!(finished.ending, ExitReason::Signalled(9));
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn a_supervisor_that_hangs_is_done_without() {
    let mark = Mark::new();
    let script = "setsid sleep MARK & kill -STOP $PPID; sleep MARK";
    let (finished, took) = stop_when(mark.shell(script), || mark.sleeps() == 2).await;
    assert_eq!(finished.ending, ExitReason::Stopped);
    assert!(took < FORCED_DEADLINE, "took {took:?}");
    wait_until("nothing is left", FORCED_DEADLINE, || mark.running().is_empty());
}

#[tokio::test]
async fn an_output_that_somebody_else_holds_does_not_hold_the_call() {
    let mark = Mark::new();
    let stop = CancellationToken::new();
    let spawner = spawner();
    let call = spawner.run(mark.shell("exec sleep MARK"), &stop, None);
    // The test itself keeps the tool's standard output open, as a process outside of the tree would.
    let mut held = None;
    let grasp = async {
        eventually("the command runs", async || mark.sleeps() == 1).await;
        held = Some(mark.open_output());
        stop.cancel();
        Instant::now()
    };
    let (finished, cancelled) = tokio::join!(within(call), grasp);
    assert_eq!(finished.unwrap().ending, ExitReason::Stopped);
    let took = cancelled.elapsed();
    assert!(took < FORCED_DEADLINE, "took {took:?}");
    drop(held);
}

const VICTIM: &str = "GUARD_TEST_VICTIM";

/// Not a test: the program that `a_killed_server_leaves_nothing` kills, started with its mark.
#[test]
#[ignore = "does nothing by itself"]
fn victim() {
    let Ok(number) = std::env::var(VICTIM) else { return };
    let script = "setsid sleep MARK & (sleep MARK &) ; sleep MARK";
    let mark = Mark::from(number);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let _opened = spawner().open(mark.shell("setsid sleep MARK & cat")).await.unwrap();
        let _ = spawner().run(mark.shell(script), &CancellationToken::new(), None).await;
    });
}

/// A process that gets its `SIGKILL` even when the test fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn a_killed_server_leaves_nothing() {
    let mark = Mark::new();
    let server = Command::new(std::env::current_exe().unwrap())
        .args(["process_cleanup::victim", "--exact", "--ignored"])
        .env(VICTIM, mark.number())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let server = Killed(server);
    until("the commands run", || mark.sleeps() == 4);
    drop(server);
    wait_until("nothing is left", FORCED_DEADLINE, || mark.running().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_do_not_disturb_each_other() {
    let mark = Mark::new();
    let spawner = spawner();
    let calls = (0..40).map(|number| {
        let (spawner, mark) = (spawner.clone(), mark.clone());
        async move {
            let launch = mark.shell(&format!("sleep MARK & echo {number}; exit {number}"));
            let stop = CancellationToken::new();
            (number, within(spawner.run(launch, &stop, None)).await.unwrap())
        }
    });
    for (number, finished) in calls.collect::<JoinSet<_>>().join_all().await {
        assert_eq!(finished.ending, ExitReason::Exited(number));
        assert_eq!(finished.stdout.bytes, format!("{number}\n").into_bytes());
    }
    assert_eq!(mark.running(), Vec::<String>::new());
}
