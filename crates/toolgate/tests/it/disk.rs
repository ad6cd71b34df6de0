//! Data folders that cannot be used, that another server uses, or that are full.

use std::{
    collections::BTreeSet,
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use testkit::{Answer, World, eventually};

use crate::{BINARY, command};

// Mounting is the only way to a full or a read-only disk that root, too, is held to.
#[allow(clippy::disallowed_types)]
type Command = std::process::Command;

/// A file system of its own under the world, gone when dropped.
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    /// Nothing where this user may not mount; the test then says so and ends.
    pub fn new(path: &Path, options: &str) -> Option<Self> {
        std::fs::create_dir_all(path).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "toolgate-test"]).arg(path);
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(Self(path.to_owned()));
        }
        // Straight to stderr: what a test prints is shown only where it fails.
        let thread = std::thread::current();
        let name = thread.name().unwrap_or_default();
        let _ = writeln!(std::io::stderr(), "{name} skipped: mounting is not permitted here");
        None
    }

    /// Mounts it again with other options.
    pub fn again(&self, options: &str) {
        let options = format!("remount,{options}");
        let done = Command::new("mount").args(["-o", &options]).arg(&self.0).status().unwrap();
        assert!(done.success());
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily: the server may still run.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

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
        "data/work/job_01HZX3W8E5V6T7R8Q9P0N1M2K3",
        "data/work/job_01HZX3W8E5V6T7R8Q9P0N1M2K3-kept",
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
    let Some(_mount) = SmallDisk::new(&path, "ro") else { return };
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
    // A dead one leaves no lock behind.
    world.kill();
    world.run().await;
    assert_eq!(world.get("/readyz").await.status, 200);
}

/// A server on a disk of two megabytes, and the way to fill it.
struct Small {
    // Dropped in this order: the mount must be gone before the folder can go.
    mount: SmallDisk,
    world: World,
}

impl Small {
    fn new(settings: &str) -> Option<Self> {
        let world = World::new(BINARY, settings);
        let mount = SmallDisk::new(&world.folder().join("data"), "size=2m")?;
        Some(Self { mount, world })
    }

    fn filler(&self) -> PathBuf {
        self.mount.0.join("filler")
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
        std::fs::read_dir(self.mount.0.join(folder)).unwrap().count()
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
    // What is left of the journal's last page takes a few lines.
    for _ in 0..40 {
        let echo = small.world.post("/v1/tools/echo_json", r#"{"args":{"message":"hi"}}"#).await;
        assert_eq!(echo.status, 200);
    }
    for (job, text) in &kept {
        small.has(job, text).await;
    }
    let lost = metric(&small.world.get("/metrics").await.text(), failures);
    assert!(lost >= 1, "{lost} lines of the journal were lost");

    small.free();
    assert_eq!(small.world.get("/readyz").await.status, 200);
    for number in 0..5 {
        let text = format!("after {number}");
        let result = small.write_artifact(&text).await.tool_result();
        kept.push((result["metrics"]["job_id"].as_str().unwrap().to_owned(), text));
    }
    let after = metric(&small.world.get("/metrics").await.text(), failures);
    assert_eq!(after, lost);
    // Every line of the journal but the one that was cut short can be read.
    let journal = std::fs::read_to_string(small.mount.0.join("journal.jsonl")).unwrap();
    let torn = journal.lines().filter(|line| serde_json::from_str::<Value>(line).is_err()).count();
    assert!(torn <= 1 && journal.ends_with("}\n"), "{journal}");

    small.world.kill();
    small.world.run().await;
    for (job, text) in &kept {
        small.has(job, text).await;
    }
    assert_eq!(small.count("artifacts"), kept.len());
    assert_eq!(small.count("work"), 0);
    let listed = small.world.get("/v1/jobs?status=succeeded").await.json();
    assert_eq!(listed["jobs"].as_array().unwrap().len(), kept.len());
    assert!(!small.world.stderr().contains("panicked"), "{}", small.world.stderr());
}

#[tokio::test]
async fn jobs_that_were_accepted_before_the_disk_was_full_are_not_lost() {
    let settings = "contracts: [ ./contracts ]\njobs: { max_running: 1 }";
    let Some(mut small) = Small::new(settings) else { return };
    let go = small.world.folder().join("go");
    let script =
        format!("while [ ! -e {} ]; do sleep 0.02; done; echo '{{\"answer\":1}}'", go.display());
    command(&small.world, "waits", &script, "");
    small.world.run().await;
    let mut jobs = Vec::new();
    for body in [r#"{"tool":"waits"}"#, r#"{"tool":"hello","input":{"name":"Ada"}}"#] {
        let accepted = small.world.post("/v1/jobs", body).await;
        assert_eq!(accepted.status, 202);
        jobs.push(format!("/v1/jobs/{}", accepted.json()["job_id"].as_str().unwrap()));
    }
    let state =
        async |job: &str| small.world.get(job).await.json()["status"].as_str().unwrap().to_owned();
    eventually("the first one runs", async || state(&jobs[0]).await == "running").await;
    small.fill();
    std::fs::write(&go, "").unwrap();
    eventually("the server sees that the disk is full", async || {
        small.world.stderr().contains("the disk is full")
    })
    .await;
    small.free();
    eventually("the one that waited has run", async || state(&jobs[1]).await == "succeeded").await;
    // Whether the first one ended well could not be written down; that it ended must be.
    eventually("the first one is over", async || state(&jobs[0]).await != "running").await;
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
        let job = small.world.get(&format!("/v1/jobs/{id}")).await.json();
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
    assert_eq!((small.count("artifacts"), small.count("work")), (0, 0));
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
