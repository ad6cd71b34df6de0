//! What a command in a sandbox can reach, and what it cannot. On a kernel without Landlock the tests
//! check that this is told.

use std::path::Path;

use guard::process::{
    ExitReason, FinishedCommand, Launch, ProcessSandbox, SandboxLevel, StartError,
};
use tokio::io::AsyncReadExt;

use crate::harness::{Mark, run, shell, spawner, wait_until_async, within};

/// Runs a script in a sandbox; nothing where the kernel has none.
async fn boxed(script: &str, sandbox: ProcessSandbox) -> Option<FinishedCommand> {
    match run(Launch { sandbox: Some(sandbox), ..shell(script) }).await {
        Err(StartError::NoSandbox) => None,
        finished => Some(finished.unwrap()),
    }
}

fn opens(read: &[&Path], write: &[&Path]) -> ProcessSandbox {
    let own = |paths: &[&Path]| paths.iter().map(|path| path.to_path_buf()).collect();
    ProcessSandbox { read: own(read), write: own(write), required: true }
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
    wait_until_async("the command runs", || mark.sleeps() == 3).await;
    drop(child);
    wait_until_async("nothing is left", || mark.running().is_empty()).await;
}
