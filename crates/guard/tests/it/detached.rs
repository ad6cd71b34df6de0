//! Commands that outlive the server that started them: who holds on to them, what is kept of their output,
//! and how they end.

use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use guard::process::{
    DetachedChild, DetachedLaunch, ExitReason, Launch, ProcessIdentity, StartError, log_tail,
};
use testkit::{eventually, until};

use crate::harness::{Mark, launch, spawner, within};

/// A folder with a lock and a log.
struct DetachedFolder(tempfile::TempDir);

impl DetachedFolder {
    fn new() -> DetachedFolder {
        DetachedFolder(tempfile::tempdir().unwrap())
    }

    fn lock_path(&self) -> PathBuf {
        self.0.path().join("lock")
    }

    fn lock(&self) -> Result<File, TryLockError> {
        let file = File::options().create(true).append(true).open(self.lock_path()).unwrap();
        file.try_lock().map(|()| file)
    }

    fn log(&self) -> String {
        String::from_utf8_lossy(&log_tail(&self.0.path().join("log"), 10_000)).into_owned()
    }

    async fn start(&self, launch: Launch) -> Result<DetachedChild, StartError> {
        let detached = DetachedLaunch {
            launch,
            lock: self.lock().unwrap(),
            log: self.0.path().join("log"),
            max_log_bytes: 4_000,
            timeout: Duration::from_secs(1),
        };
        within(spawner().start_detached(detached)).await
    }

    /// Lets go of a command, which then is on its own.
    async fn detach(&self, launch: Launch) -> ProcessIdentity {
        let child = self.start(launch).await.unwrap();
        let identity = child.identity();
        child.detach().await.unwrap();
        identity
    }

    async fn wait_for_lock(&self) {
        eventually("the lock is free", async || self.lock().is_ok()).await;
    }
}

#[tokio::test]
async fn until_it_is_detach_it_ends_with_whoever_holds_it() {
    let (folder, mark) = (DetachedFolder::new(), Mark::new());
    let child = folder.start(mark.shell("setsid sleep MARK & sleep MARK")).await.unwrap();
    until("it runs", || mark.sleeps() == 2);
    assert!(folder.lock().is_err());
    drop(child);
    until("all is gone", || mark.running().is_empty());
    folder.wait_for_lock().await;
}

#[tokio::test]
async fn detach_it_runs_on_and_holds_the_lock_until_it_is_asked_to_end() {
    let (folder, mark) = (DetachedFolder::new(), Mark::new());
    let identity = folder.detach(mark.shell("echo begun; exec sleep MARK")).await;
    until("it runs", || mark.sleeps() == 1 && folder.log() == "begun\n");
    assert!(folder.lock().is_err());
    assert!(identity.is_alive());
    identity.ask_to_end();
    folder.wait_for_lock().await;
    assert_eq!(mark.running(), Vec::<String>::new());
    assert_eq!(folder.log(), "begun\n[toolgate] it ended by signal 15\n");
}

#[tokio::test]
async fn it_may_end_gently_and_is_killed_when_it_does_not() {
    let (folder, mark) = (DetachedFolder::new(), Mark::new());
    let script = "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done # MARK";
    let identity = folder.detach(mark.shell(script)).await;
    until("it is ready", || folder.log().contains("ready"));
    identity.ask_to_end();
    folder.wait_for_lock().await;
    assert!(
        folder.log().ends_with("bye\n[toolgate] it ended with exit code 3\n"),
        "{}",
        folder.log()
    );

    let script = "trap '' TERM; echo ready; sleep MARK & setsid sleep MARK & wait; wait";
    let identity = folder.detach(mark.shell(script)).await;
    until("it is ready", || folder.log().contains("ready") && mark.sleeps() == 2);
    let began = Instant::now();
    identity.ask_to_end();
    folder.wait_for_lock().await;
    assert!(began.elapsed() >= Duration::from_secs(1), "the timeout was used");
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn a_command_that_forks_away_has_ended_and_nothing_of_it_is_left() {
    let (folder, mark) = (DetachedFolder::new(), Mark::new());
    let mut child = folder.start(mark.shell("setsid sleep MARK & exit 0")).await.unwrap();
    assert_eq!(within(child.ended()).await, ExitReason::Exited(0));
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn what_cannot_be_started_gives_the_lock_back() {
    let folder = DetachedFolder::new();
    let script = folder.0.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&script, mode).unwrap();
    for program in ["no-such-program", script.to_str().unwrap()] {
        assert!(folder.start(launch(program, &[])).await.is_err(), "{program}");
        folder.wait_for_lock().await;
    }
}

#[tokio::test]
async fn endless_output_is_read_and_bounded() {
    let (folder, mark) = (DetachedFolder::new(), Mark::new());
    let identity = folder.detach(mark.shell("yes MARK")).await;
    let earlier = folder.0.path().join("log.1");
    let inode = || earlier.metadata().map(|earlier| earlier.ino()).ok();
    for _ in 0..3 {
        // Each time the log was full, it took the folder of the earlier one.
        let before = inode();
        until("the log was full", || inode() != before);
        let sizes = std::fs::read_dir(folder.0.path()).unwrap().flatten();
        let sizes = sizes.filter_map(|entry| Some(entry.metadata().ok()?.len()));
        let on_disk: u64 = sizes.sum();
        assert!(on_disk <= 4_000, "{on_disk}");
    }
    identity.ask_to_end();
    folder.wait_for_lock().await;
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn a_supervisor_that_is_killed_takes_the_command_with_it() {
    let (folder, mark) = (DetachedFolder::new(), Mark::new());
    let identity = folder.detach(mark.shell("exec sleep MARK")).await;
    until("it runs", || mark.sleeps() == 1);
    kill(identity);
    until("all is gone", || mark.running().is_empty());
    folder.wait_for_lock().await;
    assert!(!identity.is_alive());
    // Nobody is meant any more.
    identity.ask_to_end();
    identity.destroy();
}

#[tokio::test]
async fn a_supervisor_that_hangs_can_be_destroyed() {
    let (folder, mark) = (DetachedFolder::new(), Mark::new());
    let identity = folder.detach(mark.shell("setsid sleep MARK & exec sleep MARK")).await;
    until("it runs", || mark.sleeps() == 2);
    signal(identity, rustix::process::Signal::STOP);
    identity.destroy();
    folder.wait_for_lock().await;
    until("all is gone", || mark.running().is_empty());
}

#[tokio::test]
async fn the_sockets_of_a_command_are_told_from_those_of_others() {
    let folder = DetachedFolder::new();
    let script = "import socket,time\ns=socket.socket(); s.bind(('127.0.0.1',0)); s.listen()\n\
                  print(s.getsockname()[1], flush=True); time.sleep(1000)";
    let identity = folder.detach(launch("python3", &["-c", script])).await;
    until("it listens", || folder.log().ends_with('\n'));
    let port: u16 = folder.log().trim().parse().unwrap();
    let own: Vec<u16> = identity.listeners().iter().map(|one| one.port).collect();
    assert_eq!(own, [port]);
    identity.ask_to_end();
    folder.wait_for_lock().await;
    assert_eq!(identity.listeners(), []);
}

fn kill(identity: ProcessIdentity) {
    signal(identity, rustix::process::Signal::KILL);
}

fn signal(identity: ProcessIdentity, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(identity.pid).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn the_lock_of_a_folder_is_one_for_all_who_open_it() {
    let folder = DetachedFolder::new();
    let held = folder.lock().unwrap();
    assert!(folder.lock().is_err());
    drop(held);
    assert!(folder.lock().is_ok() && Path::new(&folder.lock_path()).exists());
}
