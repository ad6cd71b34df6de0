//! Set-up that tests share: commands and their processes, strace.

use std::future::Future;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use guard::process::{FinishedCommand, Launch, Spawner, StartError};
use testkit::skipped;
use tokio_util::sync::CancellationToken;

/// Generous for a loaded machine: a test that passes does not wait for it.
pub const DEADLINE: Duration = Duration::from_secs(20);

pub fn spawner() -> Spawner {
    Spawner::new(PathBuf::from(env!("CARGO_BIN_EXE_guard-supervise")))
}

pub fn launch(program: &str, args: &[&str]) -> Launch {
    Launch {
        args: args.iter().map(ToString::to_string).collect(),
        env: vec![("PATH".to_owned(), std::env::var("PATH").unwrap())],
        ..Launch::new(program, "/")
    }
}

pub fn shell(script: &str) -> Launch {
    launch("sh", &["-c", script])
}

pub async fn run(launch: Launch) -> Result<FinishedCommand, StartError> {
    within(spawner().run(launch, &CancellationToken::new(), None)).await
}

pub async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.expect("took too long")
}

/// A number that no other test uses. A test sleeps for so many seconds, and finds its processes by it.
#[derive(Clone)]
pub struct Mark(String);

impl Mark {
    pub fn new() -> Mark {
        static NEXT: AtomicU32 = AtomicU32::new(100);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Mark(format!("{}{number}", std::process::id()))
    }

    /// One that another process made.
    pub fn from(number: String) -> Mark {
        Mark(number)
    }

    pub fn number(&self) -> &str {
        &self.0
    }

    /// A command with the number wherever an argument says `MARK`.
    pub fn launch(&self, program: &str, args: &[&str]) -> Launch {
        let args: Vec<String> = args.iter().map(|text| text.replace("MARK", &self.0)).collect();
        Launch { args, ..launch(program, &[]) }
    }

    pub fn shell(&self, script: &str) -> Launch {
        self.launch("sh", &["-c", script])
    }

    /// The command lines of all running processes with the number in it, our supervisors included.
    pub fn running(&self) -> Vec<String> {
        testkit::running(&self.0)
    }

    /// Another handle on the standard output of a running `sleep`.
    pub fn open_output(&self) -> std::fs::File {
        let line = format!("sleep\0{}\0", self.0);
        let is_ours = |path: &PathBuf| {
            std::fs::read_to_string(path.join("cmdline")).is_ok_and(|text| text == line)
        };
        let mut paths = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        let process = paths.find(is_ours).unwrap();
        std::fs::OpenOptions::new().write(true).open(process.join("fd/1")).unwrap()
    }

    /// How many of them are `sleep` itself.
    pub fn sleeps(&self) -> usize {
        self.running().iter().filter(|line| line.starts_with("sleep ")).count()
    }
}

// As strace, which kills or fails a process at a chosen system call, is started.
#[allow(clippy::disallowed_types)]
pub type Command = std::process::Command;

/// True if strace can trace here.
pub fn strace_works() -> bool {
    let traced = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).output();
    let works = traced.is_ok_and(|output| output.status.success());
    if !works {
        skipped("strace is not there, or may not trace");
    }
    works
}

pub fn wait_until(what: &str, deadline: Duration, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + deadline;
    while !holds() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}
