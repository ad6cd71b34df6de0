//! Commands that outlive the server that started them: who holds on to them, what is kept of their output,
//! and how they end.

use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use guard::process::{
    DetachedChild, DetachedLaunch, ExitReason, Identity, Launch, StartError, log_tail,
};

use crate::harness::{DEADLINE, Mark, launch, spawner, wait_until, wait_until_async, within};

/// A folder with a lock and a log.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
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

    async fn keep(&self, launch: Launch) -> Result<DetachedChild, StartError> {
        let keep = DetachedLaunch {
            launch,
            lock: self.lock().unwrap(),
            log: self.0.path().join("log"),
            max_log_bytes: 4_000,
            timeout: Duration::from_secs(1),
        };
        within(spawner().start_detached(keep)).await
    }

    /// Lets go of a command, which then is on its own.
    async fn let_go(&self, launch: Launch) -> Identity {
        let kept = self.keep(launch).await.unwrap();
        let identity = kept.identity();
        kept.detach().await.unwrap();
        identity
    }

    async fn free(&self) {
        wait_until_async("the lock is free", || self.lock().is_ok()).await;
    }
}

#[tokio::test]
async fn until_it_is_let_go_it_ends_with_whoever_holds_it() {
    let (place, mark) = (Place::new(), Mark::new());
    let kept = place.keep(mark.shell("setsid sleep MARK & sleep MARK")).await.unwrap();
    wait_until("it runs", DEADLINE, || mark.sleeps() == 2);
    assert!(place.lock().is_err());
    drop(kept);
    wait_until("all is gone", DEADLINE, || mark.running().is_empty());
    place.free().await;
}

#[tokio::test]
async fn let_go_it_runs_on_and_holds_the_lock_until_it_is_asked_to_end() {
    let (place, mark) = (Place::new(), Mark::new());
    let identity = place.let_go(mark.shell("echo begun; exec sleep MARK")).await;
    wait_until("it runs", DEADLINE, || mark.sleeps() == 1 && place.log() == "begun\n");
    assert!(place.lock().is_err());
    assert!(identity.is_alive());
    identity.ask_to_end();
    place.free().await;
    assert_eq!(mark.running(), Vec::<String>::new());
    assert_eq!(place.log(), "begun\n[toolgate] it ended by signal 15\n");
}

#[tokio::test]
async fn it_may_end_gently_and_is_killed_when_it_does_not() {
    let (place, mark) = (Place::new(), Mark::new());
    let script = "trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done # MARK";
    let identity = place.let_go(mark.shell(script)).await;
    wait_until("it is ready", DEADLINE, || place.log().contains("ready"));
    identity.ask_to_end();
    place.free().await;
    assert!(
        place.log().ends_with("bye\n[toolgate] it ended with exit code 3\n"),
        "{}",
        place.log()
    );

    let script = "trap '' TERM; echo ready; sleep MARK & setsid sleep MARK & wait; wait";
    let identity = place.let_go(mark.shell(script)).await;
    wait_until("it is ready", DEADLINE, || place.log().contains("ready") && mark.sleeps() == 2);
    let began = Instant::now();
    identity.ask_to_end();
    place.free().await;
    assert!(began.elapsed() >= Duration::from_secs(1), "the timeout was used");
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn a_command_that_forks_away_has_ended_and_nothing_of_it_is_left() {
    let (place, mark) = (Place::new(), Mark::new());
    let mut kept = place.keep(mark.shell("setsid sleep MARK & exit 0")).await.unwrap();
    assert_eq!(within(kept.ended()).await, ExitReason::Exited(0));
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn what_cannot_be_started_is_told() {
    let place = Place::new();
    let error = place.keep(launch("no-such-program", &[])).await.err().unwrap();
    assert_eq!(error.to_string(), "program `no-such-program` was not found");
    let script = place.0.path().join("script");
    std::fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(&script, mode).unwrap();
    let error = place.keep(launch(script.to_str().unwrap(), &[])).await.err().unwrap();
    assert!(error.to_string().ends_with("could not be executed"), "{error}");
    place.free().await;
}

#[tokio::test]
async fn endless_output_is_read_and_bounded() {
    let (place, mark) = (Place::new(), Mark::new());
    let identity = place.let_go(mark.shell("yes MARK")).await;
    let earlier = place.0.path().join("log.1");
    let inode = || earlier.metadata().map(|earlier| earlier.ino()).ok();
    for _ in 0..3 {
        // Each time the log was full, it took the place of the earlier one.
        let before = inode();
        wait_until("the log was full", DEADLINE, || inode() != before);
        let sizes = std::fs::read_dir(place.0.path()).unwrap().flatten();
        let sizes = sizes.filter_map(|entry| Some(entry.metadata().ok()?.len()));
        let on_disk: u64 = sizes.sum();
        assert!(on_disk <= 4_000, "{on_disk}");
    }
    identity.ask_to_end();
    place.free().await;
    assert_eq!(mark.running(), Vec::<String>::new());
}

#[tokio::test]
async fn a_keeper_that_is_killed_takes_the_command_with_it() {
    let (place, mark) = (Place::new(), Mark::new());
    let identity = place.let_go(mark.shell("exec sleep MARK")).await;
    wait_until("it runs", DEADLINE, || mark.sleeps() == 1);
    kill(identity);
    wait_until("all is gone", DEADLINE, || mark.running().is_empty());
    place.free().await;
    assert!(!identity.is_alive());
    // Nobody is meant any more.
    identity.ask_to_end();
    identity.destroy();
}

#[tokio::test]
async fn a_keeper_that_hangs_can_be_destroyed() {
    let (place, mark) = (Place::new(), Mark::new());
    let identity = place.let_go(mark.shell("setsid sleep MARK & exec sleep MARK")).await;
    wait_until("it runs", DEADLINE, || mark.sleeps() == 2);
    signal(identity, rustix::process::Signal::STOP);
    identity.destroy();
    place.free().await;
    wait_until("all is gone", DEADLINE, || mark.running().is_empty());
}

#[tokio::test]
async fn the_sockets_of_a_command_are_told_from_those_of_others() {
    let place = Place::new();
    let script = "import socket,time\ns=socket.socket(); s.bind(('127.0.0.1',0)); s.listen()\n\
                  print(s.getsockname()[1], flush=True); time.sleep(1000)";
    let identity = place.let_go(launch("python3", &["-c", script])).await;
    wait_until("it listens", DEADLINE, || place.log().ends_with('\n'));
    let port: u16 = place.log().trim().parse().unwrap();
    let own: Vec<u16> = identity.listeners().iter().map(|one| one.port).collect();
    assert_eq!(own, [port]);
    identity.ask_to_end();
    place.free().await;
    assert_eq!(identity.listeners(), []);
}

fn kill(identity: Identity) {
    signal(identity, rustix::process::Signal::KILL);
}

fn signal(identity: Identity, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(identity.pid).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

#[test]
fn the_lock_of_a_folder_is_one_for_all_who_open_it() {
    let place = Place::new();
    let held = place.lock().unwrap();
    assert!(place.lock().is_err());
    drop(held);
    assert!(place.lock().is_ok() && Path::new(&place.lock_path()).exists());
}
