//! A command runs, and its end, output and failure to start are told exactly.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use guard::process::{CapturedOutput, DetachedLaunch, ExitReason, Launch, Spawner, StartError};
use testkit::peak_bytes;
use tokio_util::sync::CancellationToken;

use crate::harness::{launch, run, shell, spawner, within};

#[tokio::test]
async fn input_goes_in_and_output_comes_out() {
    let input = "hello ".repeat(100_000).into_bytes();
    let cat = Launch { stdin: input.clone(), ..launch("cat", &[]) };
    let finished = run(cat).await.unwrap();
    assert_eq!(finished.ending, ExitReason::Exited(0));
    assert!(finished.stdout.bytes == input);
    assert_eq!(finished.stdout.dropped, 0);
    assert_eq!(finished.stderr, CapturedOutput::default());
}

#[tokio::test]
async fn endings_are_told_apart() {
    for (script, ending) in [
        ("exit 0", ExitReason::Exited(0)),
        ("exit 7", ExitReason::Exited(7)),
        ("exit 126", ExitReason::Exited(126)),
        ("exit 137", ExitReason::Exited(137)),
        ("kill -9 $$", ExitReason::Signalled(9)),
        ("kill -15 $$", ExitReason::Signalled(15)),
        // Those that a Rust program ignores or catches itself.
        ("kill -11 $$", ExitReason::Signalled(11)),
        ("kill -13 $$", ExitReason::Signalled(13)),
    ] {
        assert_eq!(run(shell(script)).await.unwrap().ending, ending, "{script}");
    }
}

#[tokio::test]
async fn signals_are_as_usual_in_the_tool() {
    // Of those that have a name: the C library leaves its own two, 32 and 33, ignored.
    const NAMED: u64 = (1 << 31) - 1;
    let status = run(launch("grep", &["^Sig[BI]", "/proc/self/status"])).await.unwrap();
    let text = String::from_utf8(status.stdout.bytes).unwrap();
    assert_eq!(text.lines().count(), 2);
    for line in text.lines() {
        let mask = u64::from_str_radix(line.split('\t').nth(1).unwrap(), 16).unwrap();
        assert_eq!(mask & NAMED, 0, "{line}");
    }
}

#[tokio::test]
async fn the_environment_is_exactly_what_was_given() {
    let env = vec![("ONE".to_owned(), "1=\n".to_owned()), ("LEER".to_owned(), String::new())];
    let finished = run(Launch { env, ..launch("env", &["-0"]) }).await.unwrap();
    let mut variables: Vec<_> = finished.stdout.bytes.split(|byte| *byte == 0).collect();
    variables.sort_unstable();
    assert_eq!(variables, [&b""[..], b"LEER=", b"ONE=1=\n"]);
}

#[tokio::test]
async fn arguments_and_folder_are_what_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let long = "x".repeat(100_000);
    let script = r#"pwd; printf '%s\n' "$1" "$2"; printf '%s' "$3$4" | wc -c"#;
    let arguments = ["-c", script, "name", "a b", "*", &long, &long];
    let finished = run(Launch { cwd: folder.clone(), ..launch("sh", &arguments) }).await.unwrap();
    let text = String::from_utf8(finished.stdout.bytes).unwrap();
    assert_eq!(text, format!("{}\na b\n*\n200000\n", folder.display()));
}

#[tokio::test]
async fn none_of_our_descriptors_is_passed_on() {
    let finished = run(shell("ls /proc/$$/fd")).await.unwrap();
    let text = String::from_utf8(finished.stdout.bytes).unwrap();
    // What the tests themselves were started with is not ours, and cannot be told to close.
    let not_ours: Vec<String> = std::fs::read_dir("/proc/self/fdinfo")
        .unwrap()
        .filter_map(|entry| {
            const CLOSE_ON_EXEC: u32 = 0o2_000_000;
            let entry = entry.ok()?;
            let info = std::fs::read_to_string(entry.path()).ok()?;
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?.trim();
            let flags = u32::from_str_radix(flags, 8).ok()?;
            (flags & CLOSE_ON_EXEC == 0).then(|| entry.file_name().into_string().unwrap())
        })
        .collect();
    let passed_on: Vec<&str> =
        text.lines().filter(|line| !not_ours.iter().any(|number| number == line)).collect();
    assert_eq!(passed_on, Vec::<&str>::new());
}

#[tokio::test]
async fn a_terminal_is_out_of_reach() {
    let finished = run(shell("exec 3</dev/tty && echo reached")).await.unwrap();
    assert_eq!(finished.stdout.bytes, b"");
}

#[tokio::test]
async fn a_tool_may_ignore_its_input() {
    for script in ["exit 3", "exec <&-; exit 3", "head -c 10 >/dev/null; exit 3"] {
        let launch = Launch { stdin: vec![b'x'; 2_000_000], ..shell(script) };
        assert_eq!(run(launch).await.unwrap().ending, ExitReason::Exited(3), "{script}");
    }
}

#[tokio::test]
async fn a_tool_may_close_its_outputs_and_run_on() {
    let finished = run(shell("exec >&- 2>&-; sleep 0.1; exit 4")).await.unwrap();
    assert_eq!(finished.ending, ExitReason::Exited(4));
}

#[tokio::test]
async fn both_outputs_are_read_at_the_same_time() {
    let script = "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2; echo end; echo end >&2";
    let finished = run(Launch { max_stderr_bytes: 10, ..shell(script) }).await.unwrap();
    assert_eq!(finished.stdout.bytes.len() as u64, Launch::DEFAULT_OUTPUT_BYTES);
    assert_eq!(finished.stdout.dropped, 4);
    assert_eq!(finished.stderr, CapturedOutput { bytes: vec![0; 10], dropped: 1_000_004 - 10 });
}

#[tokio::test]
async fn endless_output_costs_no_memory() {
    const WRITTEN: u64 = 300_000_000;
    let before = peak_bytes(std::process::id());
    let finished = run(launch("head", &["-c", &WRITTEN.to_string(), "/dev/zero"])).await.unwrap();
    assert_eq!(finished.ending, ExitReason::Exited(0));
    assert_eq!(finished.stdout.bytes.len() as u64, Launch::DEFAULT_OUTPUT_BYTES);
    assert_eq!(finished.stdout.dropped, WRITTEN - Launch::DEFAULT_OUTPUT_BYTES);
    let grown = peak_bytes(std::process::id()) - before;
    assert!(grown < 64 << 20, "memory grew by {grown} bytes");
}

#[tokio::test]
async fn lines_of_standard_error_can_be_consumed() {
    let mut lines = Vec::new();
    let mut on_line = |line: &str| {
        lines.push(line.to_owned());
        line.starts_with("progress ")
    };
    let script =
        "echo progress 1 >&2; echo careful >&2; echo progress 2 >&2; printf 'progress 3' >&2";
    let stop = CancellationToken::new();
    let finished = within(spawner().run(shell(script), &stop, Some(&mut on_line))).await.unwrap();
    assert_eq!(lines, ["progress 1", "careful", "progress 2"]);
    assert_eq!(finished.stderr.bytes, b"careful\nprogress 3");
}

/// Starts a command in each of the three ways; the errors.
async fn start_errors(spawner: &Spawner, launch: Launch) -> [StartError; 3] {
    let folder = tempfile::tempdir().unwrap();
    let detached = DetachedLaunch {
        launch: launch.clone(),
        lock: std::fs::File::create(folder.path().join("lock")).unwrap(),
        log: folder.path().join("log"),
        max_log_bytes: 4_000,
        timeout: Duration::from_secs(1),
    };
    let stop = CancellationToken::new();
    [
        within(spawner.run(launch.clone(), &stop, None)).await.unwrap_err(),
        within(spawner.open(launch)).await.err().unwrap(),
        within(spawner.start_detached(detached)).await.err().unwrap(),
    ]
}

#[tokio::test]
async fn a_program_that_cannot_start_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str, mode| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write("plain", "", 0o644);
    write("orphan", "#!/nowhere/interpreter\n", 0o755);
    for (program, expected) in [
        ("no-such-program-here", "program `no-such-program-here` was not found"),
        ("./missing", "program `./missing` was not found"),
        ("./plain", "`./plain` is not a file that may be executed"),
        ("./orphan", "`./orphan` could not be executed"),
    ] {
        let launch = Launch { cwd: folder.path().to_owned(), ..launch(program, &[]) };
        for error in start_errors(&spawner(), launch).await {
            assert_eq!(error.to_string(), expected);
            let interpreter_is_missing = matches!(&error, StartError::Failed { source, .. }
                if source.raw_os_error() == Some(2));
            assert_eq!(interpreter_is_missing, program == "./orphan", "{error:?}");
        }
    }
}

#[tokio::test]
async fn a_helper_that_supervises_nothing_is_an_error() {
    for error in start_errors(&Spawner::new("/bin/true".into()), shell("true")).await {
        assert!(matches!(error, StartError::Supervisor { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn what_no_process_can_be_given_is_refused() {
    let nowhere = Launch { cwd: "/nowhere".into(), ..shell("true") };
    let error = run(nowhere).await.unwrap_err();
    assert!(matches!(error, StartError::WorkFolder { .. }), "{error:?}");

    for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "\0")] {
        let env = vec![(name.to_owned(), value.to_owned())];
        let error = run(Launch { env, ..shell("true") }).await.unwrap_err();
        assert!(matches!(error, StartError::Environment { .. }), "{error:?}");
    }

    let too_long = "x".repeat(200_000);
    for argument in ["a\0b", &too_long] {
        let error = run(launch("true", &[argument])).await.unwrap_err();
        assert!(matches!(error, StartError::Supervisor { .. }), "{error:?}");
    }
}

#[test]
fn a_running_command_can_move_between_threads() {
    fn check<T: Send>(_: &T) {}
    let (spawner, stop) = (spawner(), CancellationToken::new());
    check(&spawner.run(shell("true"), &stop, None));
}
