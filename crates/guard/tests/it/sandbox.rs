//! What a command in a sandbox can reach, and what it cannot. On a kernel without Landlock the tests
//! check that this is told.

use std::path::Path;

use guard::process::{
    ExitReason, FinishedCommand, Launch, ProcessSandbox, SandboxLevel, StartError,
};
use testkit::eventually;
use tokio::io::AsyncReadExt;

use crate::harness::{Mark, launch, run, shell, spawner, within};

/// Runs a script in a sandbox; nothing where the kernel has none.
async fn boxed(script: &str, sandbox: ProcessSandbox) -> Option<FinishedCommand> {
    match run(Launch { sandbox: Some(sandbox), ..shell(script) }).await {
        Err(StartError::NoSandbox) => None,
        finished => Some(finished.unwrap()),
    }
}

fn opens(read: &[&Path], write: &[&Path]) -> ProcessSandbox {
    let own = |paths: &[&Path]| paths.iter().map(|path| path.to_path_buf()).collect();
    ProcessSandbox { read: own(read), write: own(write), ..ProcessSandbox::default() }
}

#[tokio::test]
async fn files_are_reached_as_far_as_they_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["open", "writable", "closed"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("file"), name).unwrap();
    }
    let [open, writable] = ["open", "writable"].map(|name| folder.path().join(name));
    // In parentheses, because a shell may end where it cannot redirect.
    let script = format!(
        "cd {} || exit 9
        cat open/file; echo
        cat writable/file; echo
        cat closed/file || echo hidden
        ls closed || echo unlisted
        (echo x >open/file) || echo unwritable
        (echo x >open/new) || echo uncreatable
        (: >closed/file) || echo untruncated
        echo more >writable/new && cat writable/new
        echo y >/dev/null && echo device
        ls /usr >/dev/null && echo system",
        folder.path().display()
    );
    let Some(finished) = boxed(&script, opens(&[&open], &[&writable])).await else { return };
    let text = String::from_utf8(finished.stdout.bytes).unwrap();
    assert_eq!(
        text,
        "open\nwritable\nhidden\nunlisted\nunwritable\nuncreatable\nuntruncated\nmore\ndevice\nsystem\n"
    );
    assert_eq!(std::fs::read_to_string(folder.path().join("closed/file")).unwrap(), "closed");
}

/// Something of ours may lie in the folder for temporary files, as when somebody tries us there.
#[tokio::test]
async fn temporary_files_can_be_made_wherever_something_is_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let hidden = folder.path().join("data");
    std::fs::create_dir(&hidden).unwrap();
    let sandbox = |hidden: &Path| ProcessSandbox {
        write: vec!["/".into()],
        hidden: vec![hidden.to_path_buf()],
        ..ProcessSandbox::default()
    };
    let script = "echo x > \"$TMPDIR/file\" && cat \"$TMPDIR/file\" && echo \"$TMPDIR\"";
    let launch = |sandbox| {
        let mut launch = Launch { sandbox: Some(sandbox), ..shell(script) };
        launch.env.push(("TMPDIR".into(), folder.path().display().to_string()));
        launch
    };
    for (hidden, beside) in [(hidden.as_path(), true), (Path::new("/nowhere"), false)] {
        let finished = match run(launch(sandbox(hidden))).await {
            Err(StartError::NoSandbox) => return,
            finished => finished.unwrap(),
        };
        let text = String::from_utf8(finished.stdout.bytes).unwrap();
        let own = text.strip_prefix("x\n").unwrap_or_else(|| panic!("{text}")).trim_end();
        assert_eq!(Path::new(own) != folder.path(), beside, "{own}");
        assert!(Path::new(own).starts_with(folder.path()), "{own}");
    }
}

#[tokio::test]
async fn what_it_starts_is_in_the_same_sandbox() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("secret"), "secret").unwrap();
    let path = folder.path().join("secret");
    let script = format!("(setsid sh -c 'cat {}' || echo kept; wait)", path.display());
    let Some(finished) = boxed(&script, ProcessSandbox::default()).await else { return };
    assert_eq!(String::from_utf8(finished.stdout.bytes).unwrap(), "kept\n");
}

#[tokio::test]
async fn it_cannot_signal_or_look_into_us() {
    let us = std::process::id();
    let script = format!(
        "kill -0 {us} 2>/dev/null || echo no signal; cat /proc/{us}/environ || echo no look"
    );
    let launch = Launch { sandbox: Some(ProcessSandbox::default()), ..shell(&script) };
    let mut child = match within(spawner().open(launch)).await {
        Err(StartError::NoSandbox) => return,
        child => child.unwrap(),
    };
    let applied = child.sandbox();
    assert!(matches!(applied, Some(SandboxLevel::Fully | SandboxLevel::Partly)), "{applied:?}");
    let mut text = String::new();
    within(child.stdout.take().unwrap().read_to_string(&mut text)).await.unwrap();
    assert_eq!(within(child.ended()).await, ExitReason::Exited(0));
    if applied == Some(SandboxLevel::Fully) {
        assert_eq!(text, "no signal\nno look\n");
    }
}

#[tokio::test]
async fn a_program_outside_of_the_system_can_be_run_and_its_folder_not_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("beside"), "secret").unwrap();
    let program = folder.path().join("copy");
    std::fs::copy("/bin/cat", &program).unwrap();
    let launch = Launch {
        program: program.into(),
        args: vec![folder.path().join("beside").display().to_string()],
        sandbox: Some(ProcessSandbox::default()),
        ..shell("")
    };
    match run(launch).await {
        Err(StartError::NoSandbox) => {}
        finished => assert_eq!(finished.unwrap().ending, ExitReason::Exited(1)),
    }
}

#[tokio::test]
async fn a_path_that_is_not_there_is_named() {
    let sandbox = opens(&[Path::new("/nowhere/at/all")], &[]);
    let error = run(Launch { sandbox: Some(sandbox), ..shell("true") }).await.unwrap_err();
    assert!(matches!(error, StartError::SandboxPath { .. }), "{error:?}");
    assert!(error.to_string().contains("/nowhere/at/all"));
}

#[tokio::test]
async fn a_sandbox_that_is_only_wished_for_is_told_as_it_is() {
    let sandbox = ProcessSandbox { required: false, ..ProcessSandbox::default() };
    let launch = Launch { sandbox: Some(sandbox), ..shell("exit 4") };
    let mut child = within(spawner().open(launch)).await.unwrap();
    assert!(child.sandbox().is_some());
    assert_eq!(within(child.ended()).await, ExitReason::Exited(4));
}

#[tokio::test]
async fn a_tree_in_a_sandbox_is_cleared_like_any_other() {
    let mark = Mark::new();
    let script = "setsid sleep MARK & (setsid sleep MARK &); sleep MARK";
    let launch = Launch { sandbox: Some(ProcessSandbox::default()), ..mark.shell(script) };
    let child = match within(spawner().open(launch)).await {
        Err(StartError::NoSandbox) => return,
        child => child.unwrap(),
    };
    eventually("the command runs", async || mark.sleeps() == 3).await;
    drop(child);
    eventually("nothing is left", async || mark.running().is_empty()).await;
}

/// Everything but these.
fn beside(hidden: &[&Path], fixed: &[&Path]) -> ProcessSandbox {
    let own = |paths: &[&Path]| paths.iter().map(|path| path.to_path_buf()).collect();
    let (hidden, fixed) = (own(hidden), own(fixed));
    ProcessSandbox { hidden, fixed, ..opens(&[], &[Path::new("/")]) }
}

#[tokio::test]
async fn everything_is_reached_but_what_is_hidden_and_nothing_leads_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["data", "beside", "lock"] {
        std::fs::create_dir(path(name)).unwrap();
        std::fs::write(path(name).join("file"), name).unwrap();
    }
    std::fs::write(path("settings"), "secret").unwrap();
    std::os::unix::fs::symlink("data", path("way")).unwrap();
    let us = std::process::id();
    let script = format!(
        "cd {0} || exit 9
        cat beside/file; echo; cat lock/file; echo
        for road in data/file settings way/file ../*/data/file /proc/self/cwd/data/file \
            /proc/self/root{0}/data/file /proc/{us}/root{0}/data/file /proc/{us}/environ; do
            cat $road 2>/dev/null && echo \" by $road\"
        done
        ln data/file beside/link 2>/dev/null && echo linked
        mv data beside/data 2>/dev/null && echo moved
        mv settings beside/settings 2>/dev/null && echo moved settings
        mv beside/file data/file 2>/dev/null && echo replaced
        (echo x >data/new) 2>/dev/null && echo made
        (echo x >lock/file) 2>/dev/null && echo changed
        rm -f settings lock/file 2>/dev/null && echo removed
        mount --bind data beside 2>/dev/null && echo mounted
        for disk in /dev/?da /dev/nvme?n?; do head -c1 $disk >/dev/null 2>&1 && echo disk; done
        echo more >beside/new && cat beside/new && rm beside/new
        mkdir beside/deep && mv beside/deep beside/deeper && echo 1 >beside/deeper/x && ls beside
        ls . >/dev/null && ls / >/dev/null && echo listed
        f=$(TMPDIR=/var/tmp mktemp) && rm $f && echo temporary",
        folder.path().display()
    );
    let sandbox = beside(&[&path("data"), &path("settings")], &[&path("lock"), &path("missing")]);
    let Some(finished) = boxed(&script, sandbox).await else { return };
    let text = String::from_utf8(finished.stdout.bytes).unwrap();
    assert_eq!(text, "beside\nlock\nmore\ndeeper\nfile\nlisted\ntemporary\n");
    assert_eq!(std::fs::read_to_string(path("data/file")).unwrap(), "data");
}

#[tokio::test]
async fn what_is_named_is_reached_although_it_is_hidden() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir_all(path("data/files")).unwrap();
    for name in ["data/token", "data/files/notes"] {
        std::fs::write(path(name), name).unwrap();
    }
    let script = format!(
        "cd {}; cat data/files/notes; echo; cat data/token || echo kept; echo new >data/files/new && cat data/files/new",
        folder.path().display()
    );
    let sandbox = ProcessSandbox {
        write: vec!["/".into(), path("data/files")],
        ..beside(&[&path("data")], &[])
    };
    let Some(finished) = boxed(&script, sandbox).await else { return };
    let text = String::from_utf8(finished.stdout.bytes).unwrap();
    assert_eq!(text, "data/files/notes\nkept\nnew\n");
}

#[tokio::test]
async fn without_a_network_no_socket_leaves_the_machine() {
    let script = "python3 - <<'E'
import socket
for family, kind in [(socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET6, socket.SOCK_DGRAM), (socket.AF_NETLINK, socket.SOCK_RAW)]:
    try:
        socket.socket(family, kind)
        print('open', family)
    except PermissionError:
        print('refused')
a, b = socket.socketpair()
a.send(b'x')
print(b.recv(1).decode(), socket.socket(socket.AF_UNIX).family.name)
E";
    let everything = ProcessSandbox { required: false, ..beside(&[], &[]) };
    let without = ProcessSandbox { network: false, ..everything.clone() };
    let launch = |sandbox| Launch { sandbox: Some(sandbox), ..shell(script) };
    let text = |finished: FinishedCommand| String::from_utf8(finished.stdout.bytes).unwrap();
    assert_eq!(text(run(launch(without)).await.unwrap()), "refused\nrefused\nrefused\nx AF_UNIX\n");
    assert!(text(run(launch(everything)).await.unwrap()).starts_with("open"));
}

#[tokio::test]
async fn runners_of_packages_find_their_folders_in_a_new_home() {
    let home = tempfile::tempdir().unwrap();
    let script = "mkdir -p ~/.npm/_npx ~/.cache/uv ~/.local/share/uv && echo made; mkdir ~/other || echo kept";
    let mut launch = Launch {
        sandbox: Some(beside(&[&home.path().join("project/data")], &[])),
        ..shell(script)
    };
    launch.env.push(("HOME".to_owned(), home.path().display().to_string()));
    let text = match run(launch).await {
        Err(StartError::NoSandbox) => return,
        finished => String::from_utf8(finished.unwrap().stdout.bytes).unwrap(),
    };
    assert_eq!(text, "made\nkept\n");
}

/// What a process can do to another one of its user, as lines of `NAME: done` or `NAME: refused`.
const CHANGES: &str = r"
import ctypes, os, resource, sys
libc = ctypes.CDLL(None, use_errno=True)
numbers = dict(pair.split('=') for pair in sys.argv[2:])

def call(name, *arguments):
    if libc.syscall(ctypes.c_long(int(numbers[name])), *map(ctypes.c_long, arguments)) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))

def attempt(name, change):
    try:
        change()
        print(name + ': done')
    except PermissionError:
        print(name + ': refused')
    except OSError as error:
        print(name + ': ' + os.strerror(error.errno))

pid = int(sys.argv[1])
limits = resource.getrlimit(resource.RLIMIT_CORE)
attempt('limits', lambda: resource.prlimit(pid, resource.RLIMIT_CORE, limits))
attempt('affinity', lambda: os.sched_setaffinity(pid, os.sched_getaffinity(0)))
attempt('scheduler', lambda: os.sched_setscheduler(pid, os.SCHED_OTHER, os.sched_param(0)))
attempt('parameters', lambda: os.sched_setparam(pid, os.sched_param(0)))
attempt('nice', lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid)))
attempt('disk', lambda: call('ioprio_set', 1, pid, 2 << 13 | 4))
if pid:
    attempt('nice of the group', lambda: os.setpriority(os.PRIO_PGRP, 0, 1))
    attempt('nice of the user', lambda: os.setpriority(os.PRIO_USER, 0, 1))
    attempt('disk of the group', lambda: call('ioprio_set', 2, 0, 2 << 13 | 4))
    attempt('pages', lambda: call('move_pages', pid, 0, 0, 0, 0, 0))
    attempt('nodes', lambda: call('migrate_pages', pid, 0, 0, 0))
    attempt('attributes', lambda: call('sched_setattr', pid, 0, 0))
    attempt('trace', lambda: call('ptrace', 0x4206, pid, 0, 0))
    attempt('be traced', lambda: call('ptrace', 0, 0, 0, 0))
    attempt('read', lambda: call('process_vm_readv', pid, 0, 0, 0, 0, 0))
    attempt('write', lambda: call('process_vm_writev', pid, 0, 0, 0, 0, 0))
    attempt('compare', lambda: call('kcmp', pid, pid, 1, 0, 0))
    attempt('advise', lambda: call('process_madvise', 0, 0, 0, 0, 0))
    attempt('descriptor', lambda: call('pidfd_getfd', 0, 0, 0))
    attempt('cores', lambda: call('prctl', 62, 1, pid, 0, 0))
";

#[tokio::test]
async fn it_changes_nothing_about_processes_outside_and_itself_as_ever() {
    let numbers = [
        ("ioprio_set", libc::SYS_ioprio_set),
        ("move_pages", libc::SYS_move_pages),
        ("migrate_pages", libc::SYS_migrate_pages),
        ("sched_setattr", libc::SYS_sched_setattr),
        ("ptrace", libc::SYS_ptrace),
        ("process_vm_readv", libc::SYS_process_vm_readv),
        ("process_vm_writev", libc::SYS_process_vm_writev),
        ("kcmp", libc::SYS_kcmp),
        ("process_madvise", libc::SYS_process_madvise),
        ("pidfd_getfd", libc::SYS_pidfd_getfd),
        ("prctl", libc::SYS_prctl),
    ];
    // The process itself, and one that is neither the sandbox's nor an ancestor that would be harmed.
    let other = Mark::new();
    let victim = within(spawner().open(other.shell("exec sleep MARK"))).await.unwrap();
    eventually("the other process runs", async || other.sleeps() == 1).await;
    let line = "for p in /proc/[0-9]*; do grep -qz \"^MARK$\" $p/cmdline && grep -q ^sleep $p/comm && echo ${p#/proc/}; done";
    let pid = run(other.shell(line)).await.unwrap();
    let pid = String::from_utf8(pid.stdout.bytes).unwrap().trim().to_owned();
    for network in [true, false] {
        for (pid, expected, lines) in [(pid.as_str(), "refused", 20), ("0", "done", 6)] {
            let numbers = numbers.iter().map(|(name, number)| format!("{name}={number}"));
            let words = ["-c".to_owned(), CHANGES.to_owned(), pid.to_owned()];
            let sandbox = ProcessSandbox { network, required: false, ..beside(&[], &[]) };
            let launch = Launch {
                args: words.into_iter().chain(numbers).collect(),
                sandbox: Some(sandbox),
                ..launch("python3", &[])
            };
            let finished = run(launch).await.unwrap();
            let text = String::from_utf8(finished.stdout.bytes).unwrap();
            assert_eq!(text.lines().count(), lines, "{text}{:?}", finished.stderr);
            for line in text.lines() {
                assert!(line.ends_with(&format!(": {expected}")), "{pid}: {line}");
            }
        }
    }
    drop(victim);
}

#[tokio::test]
async fn programs_limit_themselves_and_read_the_limits_of_others() {
    let script = "bash -c 'ulimit -n 100 && ulimit -n; ulimit -c; echo $(($(nice -n 3 nice) - $(nice))); taskset 1 true && echo pinned'
        python3 -c 'import os, resource, sys
parent = os.getppid()
print(resource.prlimit(parent, resource.RLIMIT_CORE))
print(resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 0, len(os.sched_getaffinity(parent)) > 0)'";
    let sandbox = ProcessSandbox { required: false, ..beside(&[], &[]) };
    let finished = run(Launch { sandbox: Some(sandbox), ..shell(script) }).await.unwrap();
    let text = String::from_utf8(finished.stdout.bytes).unwrap();
    assert_eq!(text, "100\n0\n3\npinned\n(0, 0)\nTrue True\n", "{:?}", finished.stderr);
}

/// Nothing of the memory of a supervisor, or of a program like ours, is found in a file when it crashes.
#[tokio::test]
async fn a_supervisor_leaves_no_core_dump_and_its_command_is_a_process_like_any_other() {
    let mark = Mark::new();
    let child = within(spawner().open(mark.shell("exec sleep MARK"))).await.unwrap();
    eventually("the command runs", async || mark.sleeps() == 1).await;
    let mut seen = 0;
    for entry in std::fs::read_dir("/proc").unwrap() {
        let path = entry.unwrap().path();
        let Ok(line) = std::fs::read_to_string(path.join("cmdline")) else { continue };
        if !line.contains(mark.number()) {
            continue;
        }
        seen += 1;
        let limits = std::fs::read_to_string(path.join("limits")).unwrap();
        let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
        let words: Vec<_> = core.split_ascii_whitespace().collect();
        assert_eq!(words[4..6], ["0", "0"], "{core}");
        // What cannot be dumped is root's, and no process of its user looks into it. So is what root runs: there nothing
        // can be seen of it.
        let owner = std::os::unix::fs::MetadataExt::uid(&path.join("maps").metadata().unwrap());
        let us = rustix::process::getuid().as_raw();
        assert_eq!(owner, if line.starts_with("sleep") { us } else { 0 });
    }
    assert_eq!(seen, 2);
    drop(child);
}

/// A terminal of the operator's shows what is to be approved, and takes the answer.
#[tokio::test]
async fn of_devices_only_harmless_ones_can_be_opened() {
    let script = "import os, pty, sys
master, slave = pty.openpty()
print(os.ttyname(slave), flush=True)
sys.stdin.read()";
    let mut terminal = within(spawner().open(launch("python3", &["-c", script]))).await.unwrap();
    let mut name = vec![0; 100];
    let length = within(terminal.stdout.as_mut().unwrap().read(&mut name)).await.unwrap();
    let name = String::from_utf8(name[..length].to_vec()).unwrap().trim().to_owned();
    assert!(name.starts_with("/dev/pts/"), "{name}");
    let script = format!(
        "for device in {name} /dev/ptmx /dev/tty /dev/tty0 /dev/console /dev/kmsg /dev/fuse /dev/input/event0; do
            (: <$device) 2>/dev/null && echo \"read $device\"
            [ -c $device ] && (: >>$device) 2>/dev/null && echo \"wrote $device\"
        done
        for device in null zero full random urandom; do
            head -c0 /dev/$device && (: >>/dev/$device) || echo \"no $device\"
        done
        echo here >/dev/stdout && echo lost >/dev/null && cat /dev/stdin </dev/null
        f=/dev/shm/toolgate-test-$$ && echo shared >$f && cat $f && rm $f"
    );
    let text = match run(Launch { sandbox: Some(beside(&[], &[])), ..shell(&script) }).await {
        Err(StartError::NoSandbox) => return,
        finished => String::from_utf8(finished.unwrap().stdout.bytes).unwrap(),
    };
    assert_eq!(text, "here\nshared\n");
    // Whoever needs terminals names them.
    let paths = ["/", "/dev/ptmx", "/dev/pts"].map(std::path::PathBuf::from);
    let sandbox = ProcessSandbox { write: paths.into(), ..beside(&[], &[]) };
    let script = "import os, pty; master, slave = pty.openpty(); print(os.write(slave, b'x'))";
    let launch = Launch { sandbox: Some(sandbox), ..launch("python3", &["-c", script]) };
    assert_eq!(String::from_utf8(run(launch).await.unwrap().stdout.bytes).unwrap(), "1\n");
    drop(terminal);
}
