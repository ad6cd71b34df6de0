//! Processes that append: this very test program, started again.

use std::{
    io::{Read as _, Write as _},
    path::Path,
    process::{Child, Stdio},
    time::Duration,
};

use super::{append, ledger};
use crate::harness::Command;

/// What a child is told: folder, name, entries of each writer, writers.
const TOLD: &str = "LEDGER_TEST_CHILD";

/// Makes a command line of this program one that appends.
pub fn tell(command: &mut Command, folder: &Path, name: &str, entries: usize, writers: usize) {
    let told = format!("{}|{name}|{entries}|{writers}", folder.display());
    command
        .args(["--exact", "ledger::processes::appends_where_it_is_told_to", "--nocapture"])
        .env(TOLD, told)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
}

pub fn start(folder: &Path, name: &str, entries: usize, writers: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    tell(&mut command, folder, name, entries, writers);
    command.spawn().unwrap()
}

/// The entries that a child has acknowledged, with their lines.
pub fn acknowledged(child: &mut Child) -> Vec<(u64, String)> {
    let mut said = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut said).unwrap();
    parse(&said)
}

/// The same of all that it said. The last line may be cut short where the child was killed.
pub fn parse(said: &[u8]) -> Vec<(u64, String)> {
    let end = said.iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
    let said = String::from_utf8_lossy(&said[..end]);
    let words = said.lines().filter_map(|line| line.strip_prefix("appended ")?.split_once(' '));
    words.map(|(line, entry)| (line.parse().unwrap(), entry.to_owned())).collect()
}

/// An entry of some length, so that a torn one shows.
fn entry(name: &str, writer: usize, number: usize) -> String {
    let text = "x".repeat((writer * 131 + number * 17) % 700);
    serde_json::json!({ "id": format!("{name}-{writer}-{number}"), "text": text }).to_string()
}

/// No test where nobody tells it anything: what the children of other tests do.
#[test]
fn appends_where_it_is_told_to() {
    let Ok(told) = std::env::var(TOLD) else { return };
    let told: Vec<&str> = told.split('|').collect();
    // On a busy machine it takes longer to come to one's turn than a caller would wait.
    let log = ledger(told[0].as_ref()).with_lock_wait(Duration::from_mins(2));
    let name = told[1];
    let (entries, writers): (usize, usize) = (told[2].parse().unwrap(), told[3].parse().unwrap());
    writeln!(std::io::stdout()).unwrap();
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let log = &log;
            scope.spawn(move || {
                for number in 0..entries {
                    let entry = entry(name, writer, number);
                    let text = match append(log, &entry) {
                        Ok(line) => format!("appended {line} {entry}\n"),
                        Err(error) => format!("refused {error}\n"),
                    };
                    std::io::stdout().write_all(text.as_bytes()).unwrap();
                }
            });
        }
    });
}

#[test]
fn several_processes_append_without_torn_lines() {
    const PROCESSES: usize = 4;
    const ENTRIES: usize = 100;
    const WRITERS: usize = 2;
    let folder = tempfile::tempdir().unwrap();
    let start = |process: usize| {
        self::start(folder.path(), &format!("p{process}"), ENTRIES / WRITERS, WRITERS)
    };
    let children: Vec<Child> = (0..PROCESSES).map(start).collect();
    let mut all = Vec::new();
    // Each is read by a thread of its own, so that none waits for its reader.
    let readers: Vec<_> = children
        .into_iter()
        .map(|mut child| {
            std::thread::spawn(move || (acknowledged(&mut child), child.wait().unwrap()))
        })
        .collect();
    for reader in readers {
        let (entries, status) = reader.join().unwrap();
        assert!(status.success());
        assert_eq!(entries.len(), ENTRIES);
        all.extend(entries);
    }
    all.sort();
    let text = super::read(folder.path());
    assert!(text.ends_with('\n'));
    let found: Vec<(u64, String)> = (1..).zip(text.lines().map(str::to_owned)).collect();
    // Each acknowledged number is the line where that very entry stands, and there is nothing else.
    assert_eq!(all.len(), PROCESSES * ENTRIES);
    assert!(all == found, "acknowledged and written differ");
    for (_, line) in &found {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}
