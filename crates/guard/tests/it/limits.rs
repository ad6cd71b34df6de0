//! The kernel holds a tool to its limits.

use guard::process::{ExitReason, Launch, ResourceLimits};

use crate::harness::{launch, run, shell};

const SIGXCPU: i32 = 24;
const SIGXFSZ: i32 = 25;

#[tokio::test]
async fn a_file_grows_no_further_than_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let limits = ResourceLimits { max_file_bytes: 10_000, ..ResourceLimits::default() };
    let finished = run(Launch {
        limits,
        cwd: folder.path().to_owned(),
        ..launch("dd", &["if=/dev/zero", "of=grown", "bs=1000", "count=100"])
    })
    .await
    .unwrap();
    assert_eq!(finished.ending, ExitReason::Signalled(SIGXFSZ));
    assert_eq!(folder.path().join("grown").metadata().unwrap().len(), 10_000);
}

#[tokio::test]
async fn memory_beyond_the_limit_is_refused() {
    // `dd` asks for its block size at once.
    let read_at_once = |max_memory_bytes| Launch {
        limits: ResourceLimits { max_memory_bytes, ..ResourceLimits::default() },
        ..launch("dd", &["if=/dev/zero", "of=/dev/null", "bs=200M", "count=1"])
    };
    assert_eq!(run(read_at_once(1 << 30)).await.unwrap().ending, ExitReason::Exited(0));
    let refused = run(read_at_once(100 << 20)).await.unwrap();
    assert_eq!(refused.ending, ExitReason::Exited(1));
    assert!(String::from_utf8_lossy(&refused.stderr.bytes).contains("memory"));
}

#[tokio::test]
async fn a_limit_below_our_own_needs_hurts_only_the_tool() {
    let limits = ResourceLimits {
        max_memory_bytes: 16 << 20,
        max_cpu_seconds: 1,
        max_file_bytes: 0,
        max_open_files: 3,
    };
    // With so few descriptors a program cannot even load its libraries. It is the one that says so.
    let finished = run(Launch { limits, ..launch("ls", &["/"]) }).await.unwrap();
    assert!(matches!(finished.ending, ExitReason::Exited(1..)), "{finished:?}");
    let limits = ResourceLimits { max_open_files: 10, ..limits };
    let finished = run(Launch { limits, ..launch("ls", &["/"]) }).await.unwrap();
    assert_eq!(finished.ending, ExitReason::Exited(0), "{finished:?}");
    let nothing = ResourceLimits { max_memory_bytes: 0, ..limits };
    let finished = run(Launch { limits: nothing, ..launch("ls", &["/"]) }).await.unwrap();
    assert!(!matches!(finished.ending, ExitReason::Exited(0)), "{finished:?}");
}

#[tokio::test]
async fn processor_time_runs_out() {
    let limits = ResourceLimits { max_cpu_seconds: 1, ..ResourceLimits::default() };
    let finished = run(Launch { limits, ..shell("while :; do :; done") }).await.unwrap();
    assert_eq!(finished.ending, ExitReason::Signalled(SIGXCPU));
}

#[tokio::test]
async fn limits_are_final_and_core_dumps_are_off() {
    let limits = ResourceLimits {
        max_memory_bytes: 1 << 30,
        max_cpu_seconds: 50,
        max_file_bytes: 1 << 20,
        max_open_files: 64,
    };
    let finished = run(Launch { limits, ..launch("cat", &["/proc/self/limits"]) }).await.unwrap();
    let text = String::from_utf8(finished.stdout.bytes).unwrap();
    let limit = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        let mut numbers = line.split_ascii_whitespace();
        (numbers.next().unwrap().to_owned(), numbers.next().unwrap().to_owned())
    };
    let check = |name, soft: &str, hard: &str| {
        assert_eq!(limit(name), (soft.to_owned(), hard.to_owned()), "{name}");
    };
    check("Max address space", "1073741824", "1073741824");
    check("Max cpu time", "50", "51");
    check("Max file size", "1048576", "1048576");
    check("Max open files", "64", "64");
    check("Max core file size", "0", "0");
}

#[tokio::test]
async fn a_limit_above_what_we_may_use_is_lowered() {
    let limits = ResourceLimits {
        max_memory_bytes: u64::MAX,
        max_cpu_seconds: u64::MAX,
        max_file_bytes: u64::MAX,
        max_open_files: u64::MAX,
    };
    let finished = run(Launch { limits, ..shell("exit 5") }).await.unwrap();
    assert_eq!(finished.ending, ExitReason::Exited(5));
}

#[tokio::test]
async fn privileges_cannot_be_gained() {
    let finished = run(launch("grep", &["NoNewPrivs", "/proc/self/status"])).await.unwrap();
    assert_eq!(finished.stdout.bytes, b"NoNewPrivs:\t1\n");
}
