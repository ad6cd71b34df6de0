//! What a command in a sandbox can reach, and what it cannot. On a kernel without Landlock the tests
//! check that this is told.

use std::path::Path;

use guard::process::{
    ExitReason, FinishedCommand, Launch, ProcessSandbox, SandboxLevel, StartError,
};
use testkit::eventually;
use tokio::io::AsyncReadExt;

use crate::harness::{Mark, run, shell, spawner, within};

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
