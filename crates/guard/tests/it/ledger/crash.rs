//! `kill -9` at any moment: what was acknowledged is there, and only what was not may be torn.

use std::{io::Read as _, path::Path, process::Child};

use super::{
    FILE, appends, ledger,
    processes::{self, acknowledged},
};
use crate::harness::{Command, strace_works};

/// Every acknowledged entry stands where it was said to stand. Every line is whole, but as many as
/// there were kills may be torn, and none of those was acknowledged.
fn holds(folder: &Path, acknowledged: &[(u64, String)], kills: usize) {
    let text = super::read(folder);
    let lines: Vec<&str> = text.lines().collect();
    for (number, entry) in acknowledged {
        let found = lines.get(usize::try_from(*number).unwrap() - 1);
        assert_eq!(found, Some(&entry.as_str()), "line {number}");
    }
    let whole = |line: &&&str| serde_json::from_str::<serde_json::Value>(line).is_ok();
    let torn = lines.iter().filter(|line| !whole(line)).count();
    assert!(torn <= kills, "{torn} torn lines after {kills} kills");
}

#[test]
fn nothing_acknowledged_is_lost_when_writers_are_killed() {
    const ROUNDS: usize = 12;
    let folder = tempfile::tempdir().unwrap();
    let mut kept = Vec::new();
    let mut kills = 0;
    for round in 0..ROUNDS {
        let mut two: Vec<Child> = (0..2)
            .map(|child| processes::start(folder.path(), &format!("{round}.{child}"), 100_000, 4))
            .collect();
        // Somewhere in the middle of it: after so many bytes of answers.
        let mut some = vec![0; 200 + round * 331];
        two[0].stdout.as_mut().unwrap().read_exact(&mut some).unwrap();
        for child in &mut two {
            child.kill().unwrap();
            kills += 1;
        }
        // What was read above is part of what was said; its whole lines count too.
        let head = String::from_utf8(some).unwrap();
        for (index, mut child) in two.into_iter().enumerate() {
            let mut rest = Vec::new();
            child.stdout.take().unwrap().read_to_end(&mut rest).unwrap();
            child.wait().unwrap();
            let said = [if index == 0 { head.as_bytes() } else { b"" }, &rest].concat();
            kept.extend(processes::parse(&said));
        }
        holds(folder.path(), &kept, kills);
    }
    assert!(kept.len() > 100, "{}", kept.len());
    // And it goes on.
    let log = ledger(folder.path());
    let line = appends(&log, "\"after\"");
    kept.push((line, "\"after\"".into()));
    holds(folder.path(), &kept, kills);
}

/// What an entry does to the file and to its folder.
const CALLS: [&str; 10] = [
    "openat",
    "newfstatat",
    "fstat",
    "flock",
    "fsync",
    "write",
    "fdatasync",
    "lseek",
    "pread64",
    "close",
];

/// A child of three entries to which something happens as it enters its so-manieth system call of
/// a kind on the file or its folder.
fn tampered(folder: &Path, call: &str, what: &str, when: usize) -> Child {
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq", "-o", "/dev/null", "-P"])
        .arg(folder)
        .arg("-P")
        .arg(folder.join(FILE))
        .arg(format!("-etrace={call}"))
        .arg(format!("-einject={call}:{what}:when={when}"))
        .arg(std::env::current_exe().unwrap());
    processes::tell(&mut strace, folder, &format!("{call}-{when}"), 3, 1);
    strace.spawn().unwrap()
}

#[test]
fn nothing_acknowledged_is_lost_whichever_system_call_is_the_last() {
    if !strace_works() {
        return;
    }
    let mut kills = 0;
    for before in ["", "{\"old\":1}\n", "{\"torn\":"] {
        for call in CALLS {
            for when in 1..100 {
                let folder = tempfile::tempdir().unwrap();
                if !before.is_empty() {
                    std::fs::write(folder.path().join(FILE), before).unwrap();
                }
                let mut child = tampered(folder.path(), call, "signal=SIGKILL", when);
                let mut kept = acknowledged(&mut child);
                let ended = child.wait().unwrap().success();
                assert_eq!(ended, kept.len() == 3, "{call} {when}");
                let log = ledger(folder.path());
                let line = appends(&log, "\"after\"");
                kept.push((line, "\"after\"".into()));
                // The one that was torn before is no work of ours.
                holds(folder.path(), &kept, 1 + usize::from(before.ends_with(':')));
                assert!(super::read(folder.path()).starts_with(before), "{call} {when}");
                if ended {
                    break;
                }
                kills += 1;
            }
        }
    }
    assert!(kills > 100, "only {kills} kills");
}

#[test]
fn an_entry_that_the_disk_refuses_leaves_nothing_and_harms_no_other() {
    if !strace_works() {
        return;
    }
    for before in ["", "{\"torn\":"] {
        for (call, error) in [("write", "ENOSPC"), ("write", "EIO"), ("fdatasync", "EIO")] {
            for when in 1..=3 {
                let folder = tempfile::tempdir().unwrap();
                std::fs::write(folder.path().join(FILE), before).unwrap();
                let what = format!("error={error}");
                let mut child = tampered(folder.path(), call, &what, when);
                let kept = acknowledged(&mut child);
                assert!(child.wait().unwrap().success());
                assert_eq!(kept.len(), 2, "{call} {error} {when}");
                holds(folder.path(), &kept, usize::from(!before.is_empty()));
                let lines = super::read(folder.path()).lines().count();
                assert_eq!(lines, 2 + usize::from(!before.is_empty()), "{call} {error} {when}");
            }
        }
    }
}
