//! Data folders that cannot be used, that another server uses, or that are full.

use std::{
    collections::BTreeSet,
    io::{Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::PathBuf,
};

use serde_json::{Value, json};
use testkit::{Answer, TmpfsMount, World, eventually};

use crate::{BINARY, command_that_waits};

/// The server must not start, and say why.
fn refuses_to_start(world: &World, words: &[&str]) {
    let stderr = world.cli("serve --listen 127.0.0.1:0").exits(2).stdout_is("").stderr;
    for words in words {
        assert!(stderr.contains(words), "no `{words}` in {stderr}");
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn a_data_folder_that_cannot_be_made_is_told() {
    for (settings, words) in [
        ("data_dir: ./file/data", "Not a directory"),
        ("data_dir: ./file", "File exists"),
        ("data_dir: /proc/toolgate", "No such file or directory"),
    ] {
        let world = World::new(BINARY, settings);
        world.write("file", "");
        refuses_to_start(&world, &["the data folder `", "cannot be written", words]);
    }
}

#[tokio::test]
async fn what_others_keep_is_neither_taken_nor_removed() {
    let theirs = ["work/thesis/chapter.txt", "spool/notes.jsonl", "artifacts/photo.jpg"];
    let is_there = |world: &World, folder: &str| {
        for path in theirs {
            let path = world.folder().join(folder).join(path);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "theirs", "{}", path.display());
        }
    };
    // A folder with a `work` of somebody's is not taken, be it `/` itself.
    let world = World::new(BINARY, "data_dir: .");
    for path in theirs {
        world.write(path, "theirs");
    }
    refuses_to_start(&world, &["none that Toolgate has made: it has a `work`", "--data-dir"]);
    is_there(&world, ".");
    // And in ours only what has a name of ours is removed.
    let mut world = World::start(BINARY, "").await;
    assert_eq!(world.stop().await, 0);
    for path in theirs {
        world.write(&format!("data/{path}"), "theirs");
    }
    let left = [
        "data.work/job_01HZX3W8E5V6T7R8Q9P0N1M2K3",
        "data/artifacts/job_01HZX3W8E5V6T7R8Q9P0N1M2K3-kept",
    ];
    for path in left {
        world.write(&format!("{path}/out.txt"), "ours");
    }
    world.run().await;
    is_there(&world, "data");
    assert!(left.iter().all(|path| !world.has(path)));
}

#[test]
fn a_read_only_data_folder_is_told() {
    let world = World::new(BINARY, "");
    let path = world.folder().join("data");
    let Some(_mount) = TmpfsMount::at(&path, "ro") else { return };
    let folder = format!("the data folder `{}` cannot be written", path.display());
    refuses_to_start(&world, &[&folder, "Read-only file system"]);
}

#[test]
fn a_database_or_journal_that_cannot_be_opened_is_told() {
    for (path, words) in [
        ("data/toolgate.db", "cannot open the database"),
        ("data/journal.jsonl", "cannot open the journal"),
    ] {
        let world = World::new(BINARY, "");
        std::fs::create_dir_all(world.folder().join(path)).unwrap();
        refuses_to_start(&world, &[words, path]);
    }
    let world = World::new(BINARY, "");
    world.write("data/toolgate.db", &"this is no database ".repeat(100));
    refuses_to_start(&world, &["cannot open the database", "not a database"]);
}

#[tokio::test]
async fn a_second_server_on_the_same_folder_is_refused() {
    let mut world = crate::start("").await;
    let pid = format!("another server (process {})", world.pid());
    refuses_to_start(&world, &[&pid, "--data-dir"]);
    assert_eq!(world.get("/readyz").await.status, 200);
    // Also for somebody who takes the lock of the first for a leftover.
    std::fs::remove_file(world.folder().join("data/server.lock")).unwrap();
    refuses_to_start(&world, &["another server (process unknown)", "--data-dir"]);
    assert_eq!(world.get("/readyz").await.status, 200);
    // A dead one leaves no lock behind.
    world.kill();
    world.run().await;
    assert_eq!(world.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn artifacts_outlive_a_database_that_is_gone() {
    let mut world = World::start(BINARY, "").await;
    let input = json!({ "filename": "note.txt", "text": "kept" });
    let body = json!({ "tool": "write_text_artifact", "input": input });
    let job = world.execute(&body).await.tool_result()["metrics"]["job_id"].clone();
    assert_eq!(world.stop().await, 0);
    let note = format!("data/artifacts/{}/note.txt", job.as_str().unwrap());
    let database = world.folder().join("data/toolgate.db");
    let backup = world.folder().join("backup.db");
    std::fs::rename(&database, &backup).unwrap();
    for is_empty in [false, true] {
        if is_empty {
            std::fs::write(&database, "").unwrap();
        }
        refuses_to_start(&world, &["`toolgate.db` is missing or empty", "put the database back"]);
        assert_eq!(world.read(&note), "kept");
    }
    // Also the other commands make no new one.
    world.cli("call hello name=Ada").exits(2).stderr_has("`toolgate.db` is missing or empty");
    std::fs::rename(&backup, &database).unwrap();
    world.run().await;
    assert_eq!(world.job(job.as_str().unwrap()).await["status"], "succeeded");
    assert_eq!(world.read(&note), "kept");
}

/// Makes an artifact, and names its job and its file.
async fn note(world: &World) -> (String, String) {
    let input = json!({ "filename": "note.txt", "text": "kept" });
    let body = json!({ "tool": "write_text_artifact", "input": input });
    let result = world.execute(&body).await.tool_result();
    let job = result["metrics"]["job_id"].as_str().unwrap().to_owned();
    let file = format!("data/artifacts/{job}/note.txt");
    (job, file)
}

#[tokio::test]
async fn artifacts_that_the_database_does_not_know_are_kept_and_told_of() {
    let mut world = World::start(BINARY, "retention: { sweep_interval_s: 1 }").await;
    let (first, first_note) = note(&world).await;
    assert_eq!(world.stop().await, 0);
    let database = world.folder().join("data/toolgate.db");
    let backup = world.folder().join("backup.db");
    // After a stop the file has everything.
    std::fs::copy(&database, &backup).unwrap();
    world.run().await;
    let (second, second_note) = note(&world).await;
    assert_eq!(world.stop().await, 0);

    let newest = world.folder().join("newest.db");
    std::fs::rename(&database, &newest).unwrap();
    std::fs::copy(&backup, &database).unwrap();
    // Of a job long ago: nobody would have its artifacts any more.
    let old = "data/artifacts/job_01HZX3W8E5V6T7R8Q9P0N1M2K3/old.txt";
    world.write(old, "old");
    world.run().await;
    eventually("they are told of", async || {
        let log = world.stderr();
        let place = format!("folder={}", world.folder().join("data/artifacts").display());
        log.contains("artifacts of jobs that the database does not know")
            && log.contains("count=2")
            && log.contains(&place)
    })
    .await;
    eventually("what is old goes", async || !world.has(old)).await;
    assert_eq!(world.job(&first).await["status"], "succeeded");
    assert_eq!(world.get(&format!("/v1/jobs/{second}")).await.status, 404);
    assert_eq!((world.read(&first_note), world.read(&second_note)), ("kept".into(), "kept".into()));

    assert_eq!(world.stop().await, 0);
    std::fs::rename(&newest, &database).unwrap();
    world.run().await;
    assert_eq!(world.job(&second).await["status"], "succeeded");
    assert_eq!(world.read(&second_note), "kept");
}

#[tokio::test]
async fn a_database_of_another_program_is_not_taken() {
    let mut world = World::start(BINARY, "").await;
    let (_, note) = note(&world).await;
    assert_eq!(world.stop().await, 0);
    let database = world.folder().join("data/toolgate.db");
    std::fs::remove_file(&database).unwrap();
    let theirs = rusqlite::Connection::open(&database).unwrap();
    theirs.execute_batch("CREATE TABLE notes (text TEXT)").unwrap();
    drop(theirs);
    refuses_to_start(&world, &["the database of another program", "--data-dir"]);
    world.cli("call hello name=Ada").exits(2).stderr_has("the database of another program");
    assert_eq!(world.read(&note), "kept");
}

#[tokio::test]
async fn records_are_swept_before_they_are_much_more_than_may_be_kept() {
    const KEPT: usize = 4 << 20;
    let settings = format!("retention: {{ max_bytes: {KEPT} }}");
    let world = World::start(BINARY, &settings).await;
    let body = json!({ "tool": "echo_json", "input": { "message": "x".repeat(100_000) } });
    for _ in 0..200 {
        assert_eq!(world.execute(&body).await.status, 200);
    }
    // Each has its arguments and its result.
    eventually("most of them are gone", async || {
        let jobs = world.get("/v1/jobs?limit=200").await.json();
        let kept = jobs["jobs"].as_array().unwrap().len();
        assert!(kept * 200_000 > KEPT / 2);
        kept * 200_000 < KEPT * 3 / 2
    })
    .await;
    eventually("and the file is small again", async || {
        let database = world.folder().join("data/toolgate.db");
        let log = world.folder().join("data/toolgate.db-wal");
        let bytes = |file: &PathBuf| std::fs::metadata(file).unwrap().len();
        bytes(&database) + bytes(&log) < 3 * KEPT as u64
    })
    .await;
}

#[tokio::test]
async fn a_device_or_a_pipe_is_written_to_and_never_rotated() {
    use std::os::unix::fs::FileTypeExt;
    let settings = "journal: { path: ./journal, max_bytes: 4096, max_files: 2 }";
    // A null device of our own: the machine's must not be at stake.
    for (kind, made) in [("device", "mknod journal c 1 3"), ("pipe", "mkfifo journal")] {
        let mut world = World::new(BINARY, settings);
        #[allow(clippy::disallowed_types)] // A program of the machine.
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", made]).current_dir(world.folder());
        if !shell.status().unwrap().success() {
            // Only root makes devices.
            continue;
        }
        world.run().await;
        for _ in 0..40 {
            let echo = world.post("/v1/tools/echo_json", r#"{"args":{"message":"hi"}}"#).await;
            assert_eq!(echo.status, 200);
        }
        let found = std::fs::symlink_metadata(world.folder().join("journal")).unwrap().file_type();
        assert!(found.is_char_device() || found.is_fifo(), "{kind}: {found:?}");
        assert!(!world.has("journal.1"), "{kind}");
    }
}

/// A server on a disk of two megabytes, and the way to fill it.
struct Small {
    // Dropped in this order: the mount must be gone before the folder can go.
    mount: TmpfsMount,
    world: World,
}

impl Small {
    fn new(settings: &str) -> Option<Self> {
        let world = World::new(BINARY, settings);
        let mount = TmpfsMount::at(&world.folder().join("data"), "size=2m")?;
        Some(Self { mount, world })
    }

    fn filler(&self) -> PathBuf {
        self.mount.path().join("filler")
    }

    /// Takes every byte that is left.
    fn fill(&self) {
        let mut file = std::fs::File::create(self.filler()).unwrap();
        while file.write(&[0; 4_096]).is_ok_and(|written| written > 0) {}
    }

    fn free(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    async fn write_artifact(&self, text: &str) -> Answer {
        let input = json!({ "filename": "note.txt", "text": text });
        self.world.execute(&json!({ "tool": "write_text_artifact", "input": input })).await
    }

    /// The job is there with its artifact whole.
    async fn has(&self, job: &str, text: &str) {
        let record = self.world.get(&format!("/v1/jobs/{job}")).await;
        assert_eq!((record.status, &record.json()["status"]), (200, &"succeeded".into()), "{job}");
        let artifact = self.world.get(&format!("/v1/jobs/{job}/artifacts/note.txt")).await;
        assert_eq!((artifact.status, artifact.text().as_str()), (200, text), "{job}");
    }

    fn count(&self, folder: &str) -> usize {
        std::fs::read_dir(self.mount.path().join(folder)).unwrap().count()
    }
}

fn says_that_it_is_full(text: &str) {
    let clear = ["the disk is full", "No space left on device"];
    assert!(clear.iter().any(|words| text.contains(words)), "{text}");
}

fn metric(text: &str, name: &str) -> u64 {
    let line = text.lines().find(|line| line.starts_with(&format!("{name} "))).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_works_again_when_there_is_room() {
    let Some(mut small) = Small::new("") else { return };
    small.world.run().await;
    let mut kept: Vec<(String, String)> = Vec::new();
    for number in 0..5 {
        let text = format!("before {number}");
        let result = small.write_artifact(&text).await.tool_result();
        kept.push((result["metrics"]["job_id"].as_str().unwrap().to_owned(), text));
    }
    let failures = "toolgate_journal_failures_total";
    assert_eq!(metric(&small.world.get("/metrics").await.text(), failures), 0);

    small.fill();
    for _ in 0..3 {
        let answer = small.write_artifact("while it is full").await;
        let result = answer.tool_result();
        let code = &result["metrics"]["error_code"];
        assert_eq!((answer.status, code), (503, &"unavailable".into()), "{result}");
        says_that_it_is_full(result["stderr"].as_str().unwrap());
        assert_eq!((&result["artifacts"], &result["output"]), (&json!([]), &json!({})));
    }
    let body = r#"{"args":{"text":"while it is full"}}"#;
    let answer = small.world.post("/v1/tools/write_text_artifact", body).await;
    answer.fails(503, "unavailable");
    let submitted =
        small.world.post("/v1/jobs", r#"{"tool":"hello","input":{"name":"Ada"}}"#).await;
    submitted.fails(503, "unavailable");
    says_that_it_is_full(submitted.error()["message"].as_str().unwrap());
    assert_eq!(submitted.header("retry-after"), "5");
    let ready = small.world.get("/readyz").await;
    assert_eq!((ready.status, &ready.json()["status"]), (503, &"not_ready".into()));
    says_that_it_is_full(&ready.text());
    assert_eq!(small.world.get("/healthz").await.status, 200);
    // What needs no disk is answered, and what was kept can be read.
    for _ in 0..40 {
        let echo = small.world.post("/v1/tools/echo_json", r#"{"args":{"message":"hi"}}"#).await;
        assert_eq!(echo.status, 200);
    }
    for (job, text) in &kept {
        small.has(job, text).await;
    }
    // The journal has disk space of its own.
    assert_eq!(metric(&small.world.get("/metrics").await.text(), failures), 0);

    small.free();
    assert_eq!(small.world.get("/readyz").await.status, 200);
    for number in 0..5 {
        let text = format!("after {number}");
        let result = small.write_artifact(&text).await.tool_result();
        kept.push((result["metrics"]["job_id"].as_str().unwrap().to_owned(), text));
    }
    let after = metric(&small.world.get("/metrics").await.text(), failures);
    assert_eq!(after, 0);
    // Every line of the journal but the one that was cut short can be read.
    let journal = std::fs::read_to_string(small.mount.path().join("journal.jsonl")).unwrap();
    let torn = journal.lines().filter(|line| serde_json::from_str::<Value>(line).is_err()).count();
    assert!(torn <= 1 && journal.ends_with("}\n"), "{journal}");

    small.world.kill();
    small.world.run().await;
    for (job, text) in &kept {
        small.has(job, text).await;
    }
    assert_eq!(small.count("artifacts"), kept.len());
    assert_eq!(small.count("../data.work"), 0);
    let listed = small.world.get("/v1/jobs?status=succeeded").await.json();
    assert_eq!(listed["jobs"].as_array().unwrap().len(), kept.len());
    assert!(!small.world.stderr().contains("panicked"), "{}", small.world.stderr());
}

#[tokio::test]
async fn jobs_that_were_accepted_before_the_disk_was_full_are_not_lost() {
    let settings = "contracts: [ ./contracts ]\njobs: { max_running: 1 }";
    let Some(mut small) = Small::new(settings) else { return };
    let go = command_that_waits(&small.world, "waits");
    small.world.run().await;
    let mut jobs = Vec::new();
    for body in [json!({ "tool": "waits" }), json!({ "tool": "hello", "input": { "name": "Ada" } })]
    {
        jobs.push(small.world.submit(&body).await);
    }
    small.world.until_job_is(&jobs[0], "running").await;
    small.fill();
    std::fs::write(&go, "").unwrap();
    eventually("the server sees that the disk is full", async || {
        small.world.stderr().contains("the disk is full")
    })
    .await;
    small.free();
    small.world.until_job_is(&jobs[1], "succeeded").await;
    // Whether the first one ended well could not be written down; that it ended must be.
    let is_over = async || small.world.job(&jobs[0]).await["status"] != "running";
    eventually("the first one is over", is_over).await;
}

#[tokio::test]
async fn what_was_acknowledged_on_a_full_disk_survives_a_kill() {
    let Some(mut small) = Small::new("") else { return };
    small.world.run().await;
    let mut acknowledged = BTreeSet::new();
    // There may be room for a few more where a file has begun a page.
    for call in 0..40 {
        if call == 5 {
            small.fill();
        }
        let input = json!({ "message": format!("call {call}") });
        let answer = small.world.execute(&json!({ "tool": "echo_json", "input": input })).await;
        let result = answer.tool_result();
        match answer.status {
            200 => {
                let job = result["metrics"]["job_id"].as_str().unwrap().to_owned();
                acknowledged.insert((job, format!("call {call}")));
            }
            503 => says_that_it_is_full(result["stderr"].as_str().unwrap()),
            _ => panic!("{result}"),
        }
    }
    assert!((5..40).contains(&acknowledged.len()), "{acknowledged:?}");
    small.world.kill();
    small.free();
    small.world.run().await;
    let listed = small.world.get("/v1/jobs?status=succeeded&limit=200").await.json();
    let mut found = BTreeSet::new();
    for job in listed["jobs"].as_array().unwrap() {
        let id = job["id"].as_str().unwrap().to_owned();
        let job = small.world.job(&id).await;
        found.insert((id, job["result"]["output"]["message"].as_str().unwrap().to_owned()));
    }
    assert_eq!(found, acknowledged);
}

#[tokio::test]
async fn a_full_disk_is_no_consent() {
    let settings = "policy: { approval: [ { tool: write_text_artifact, require: always } ] }";
    let Some(mut small) = Small::new(settings) else { return };
    small.world.run().await;
    let asked = small.write_artifact("first").await.tool_result();
    let id = asked["metrics"]["error_details"]["approval_id"].as_str().unwrap().to_owned();
    small.world.cli(&["approvals", "approve", &id]).exits(0);
    small.fill();
    for text in ["first", "second"] {
        let result = small.write_artifact(text).await.tool_result();
        assert_eq!(result["metrics"]["error_code"], "unavailable", "{result}");
        says_that_it_is_full(result["stderr"].as_str().unwrap());
    }
    assert_eq!((small.count("artifacts"), small.count("../data.work")), (0, 0));
    small.world.cli(&["approvals", "approve", &id]).exits(2);
    small.free();
    // What could not be used up then is used now, once.
    assert_eq!(small.write_artifact("first").await.status, 200);
    let again = small.write_artifact("first").await.tool_result();
    assert_eq!(again["metrics"]["error_code"], "approval_required");
    assert_eq!(small.count("artifacts"), 1);
}

#[tokio::test]
async fn a_disk_that_is_full_at_the_start_is_told() {
    let Some(small) = Small::new("") else { return };
    small.fill();
    refuses_to_start(&small.world, &["the data folder `", "No space left on device"]);
    small.free();
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_happen() {
    let world = World::start(BINARY, "journal: { path: /dev/full }").await;
    for (path, body) in [
        ("/v1/tools/write_file", r#"{"args":{"path":"a.txt","content":"x"}}"#),
        ("/v1/tools/execute", r#"{"tool":"write_file","input":{"path":"a.txt","content":"x"}}"#),
    ] {
        let answer = world.post(path, body).await;
        assert_eq!(answer.status, 503, "{}", answer.text());
        assert!(answer.text().contains("the journal cannot be written"), "{}", answer.text());
    }
    assert!(!world.folder().join("data/files/a.txt").exists());
    // What changes nothing is answered, and counted.
    let echo = world.post("/v1/tools/echo_json", r#"{"args":{"message":"hi"}}"#).await;
    assert_eq!(echo.status, 200);
    let ready = world.get("/readyz").await;
    assert_eq!(ready.status, 503);
    assert!(ready.text().contains("the journal cannot be written"), "{}", ready.text());
    let metrics = world.get("/metrics").await.text();
    assert_eq!(metric(&metrics, "toolgate_journal_writable"), 0);
    assert!(metric(&metrics, "toolgate_journal_failures_total") >= 1);
    // The device is what it was.
    let device = std::fs::metadata("/dev/full").unwrap();
    assert!(std::os::unix::fs::FileTypeExt::is_char_device(&device.file_type()));
}

#[tokio::test]
async fn a_journal_that_is_moved_or_removed_is_made_again() {
    let world = World::start(BINARY, "journal: { path: ./j.jsonl }").await;
    let path = world.folder().join("j.jsonl");
    let write = async |expected: u16| {
        let input = json!({ "path": "a.txt", "content": "x" });
        assert_eq!(world.call("write_file", &input).await.status, expected);
        let ready = world.get("/readyz").await;
        assert_eq!(ready.status, expected, "{}", ready.text());
    };
    let events = |file: &str| {
        let text = world.read(file);
        let event = |line: &str| serde_json::from_str::<Value>(line).unwrap()["event"].clone();
        text.lines().map(event).collect::<Vec<_>>()
    };
    write(200).await;
    // As logrotate does it.
    std::fs::rename(&path, world.folder().join("j.old")).unwrap();
    write(200).await;
    assert_eq!(events("j.jsonl"), ["call_started", "tool_call"]);
    assert_eq!(events("j.old").last().unwrap(), "tool_call");
    std::fs::remove_file(&path).unwrap();
    write(200).await;
    assert_eq!(events("j.jsonl"), ["call_started", "tool_call"]);
    // What is something else is no journal.
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/null", &path).unwrap();
    std::fs::remove_file(world.folder().join("data/files/a.txt")).unwrap();
    write(503).await;
    assert!(!world.has("data/files/a.txt"));
    let ready = world.get("/readyz").await.text();
    assert!(ready.contains("something else than the journal lies there now"), "{ready}");
    let echo = world.call("echo_json", &json!({ "message": "hi" })).await;
    assert_eq!(echo.status, 200);
    std::fs::remove_file(&path).unwrap();
    write(200).await;
}

#[tokio::test]
async fn a_pipe_is_a_journal_while_somebody_reads_it() {
    let mut world = World::new(BINARY, "journal: { path: ./pipe }");
    #[allow(clippy::disallowed_types)] // A program of the machine.
    let mut mkfifo = std::process::Command::new("mkfifo");
    assert!(mkfifo.arg("pipe").current_dir(world.folder()).status().unwrap().success());
    world.run().await;
    let write = async || {
        let input = json!({ "path": "a.txt", "content": "x" });
        (world.call("write_file", &input).await.status, world.get("/readyz").await.status)
    };
    assert_eq!(write().await, (503, 503));
    assert!(!world.has("data/files/a.txt"));
    let reader = std::fs::OpenOptions::new()
        .read(true)
        // Not to wait for the one who writes (`O_NONBLOCK`).
        .custom_flags(0o4000)
        .open(world.folder().join("pipe"))
        .unwrap();
    assert_eq!(write().await, (200, 200));
    let mut read = [0; 4_096];
    let count = (&reader).read(&mut read).unwrap();
    assert!(String::from_utf8_lossy(&read[..count]).contains("\"event\":\"call_started\""));
    drop(reader);
    assert_eq!(write().await, (503, 503));
}

#[tokio::test]
async fn a_database_that_is_removed_while_it_is_open_is_told() {
    let world = crate::start("").await;
    assert_eq!(world.get("/readyz").await.status, 200);
    let (path, aside) =
        (world.folder().join("data/toolgate.db"), world.folder().join("data/aside.db"));
    std::fs::rename(&path, &aside).unwrap();
    let ready = world.get("/readyz").await;
    assert_eq!(ready.status, 503);
    assert!(ready.text().contains("the database was moved or removed"), "{}", ready.text());
    std::fs::rename(&aside, &path).unwrap();
    assert_eq!(world.get("/readyz").await.status, 200);
}

#[tokio::test]
async fn a_rotation_that_cannot_happen_is_told_once() {
    let world = World::new(BINARY, "journal: { path: ./j.jsonl, max_bytes: 4096, max_files: 1 }");
    std::fs::create_dir(world.folder().join("j.jsonl.1")).unwrap();
    let world = world.started().await;
    for _ in 0..60 {
        world.call("echo_json", &json!({ "message": "hi" })).await;
    }
    assert_eq!(world.read("j.jsonl").lines().filter(|line| line.contains("tool_call")).count(), 60);
    let metrics = world.get("/metrics").await.text();
    assert!(metric(&metrics, "toolgate_journal_rotation_failures_total") > 1);
    assert_eq!(metric(&metrics, "toolgate_journal_failures_total"), 0);
    assert_eq!(world.stderr().matches("the journal cannot be rotated").count(), 1);
}

#[test]
fn of_a_document_that_has_no_end_no_more_is_read_than_tells_so() {
    let endless = |world: &World, path: &str| {
        std::os::unix::fs::symlink("/dev/zero", world.folder().join(path)).unwrap();
    };
    let too_large = "the document is larger than 1048576 bytes";
    let world = World::new(BINARY, "contracts: [ ./contracts ]\nallowlist: ./allowed.yaml\n");
    world.cli("config show --config /dev/zero").exits(2).stderr_has(too_large);
    std::fs::create_dir(world.folder().join("contracts")).unwrap();
    endless(&world, "allowed.yaml");
    world.cli("upstream list").exits(2).stderr_has(too_large);
    endless(&world, "contracts/endless.yaml");
    world.cli("tools").exits(2).stderr_has(too_large);
    let world = World::new(BINARY, "");
    endless(&world, "toolgate.lock");
    world.cli("lock check --lock toolgate.lock").exits(2);
}
