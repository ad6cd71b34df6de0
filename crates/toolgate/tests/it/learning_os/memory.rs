//! `write_memory_entry` behind the real gate, as if a person had approved every call.

use std::{path::PathBuf, sync::Arc};

use contract::ApprovalRequirement;
use gate::{
    BoxFuture, Call, Caller, Catalogue, Clock, Door, Failure, Gate, GateParts, Journal,
    ManualClock, Provider, RequestId, RunningCall, SystemClock, Tool, ToolError, ToolOutput,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tools::{
    WriteMemoryEntry,
    settings::{MemoryFile, MemorySettings},
};

const CONTRACT: &str = include_str!("../../../../../contracts/write_memory_entry.yaml");

/// A repository with a memory, and a gate that wants no approval.
struct MemoryFolder {
    folder: tempfile::TempDir,
    clock: Arc<ManualClock>,
    settings: MemorySettings,
    gate: Arc<Gate>,
}

impl MemoryFolder {
    fn new(change: impl FnOnce(&mut MemorySettings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::default());
        clock.advance_ms(1_767_960_000_000);
        let mut settings = MemorySettings {
            dir: folder.path().join(".claude/memory"),
            times_dir: folder.path().join("data/memory"),
            ..MemorySettings::default()
        };
        change(&mut settings);
        let tool = Arc::new(WriteMemoryEntry::new(&settings, &(clock.clone() as Arc<dyn Clock>)));
        let gate = gate(&folder.path().join("data"), tool, None);
        Self { folder, clock, settings, gate }
    }

    async fn call(&self, input: Value) -> Result<Value, Box<Failure>> {
        call(&self.gate, input).await
    }

    /// Writes the entry into the progress log and tells its line.
    async fn write(&self, entry: &Value) -> Value {
        let input = json!({ "file": "progress_log.jsonl", "entry": entry });
        let output = self.call(input).await.unwrap();
        assert_eq!(output["success"], true);
        output["line_number"].clone()
    }

    /// Status, code and text of what is refused.
    async fn refused(&self, file: &str, entry: &Value) -> (u16, String, String) {
        let failure = self.call(json!({ "file": file, "entry": entry })).await.unwrap_err();
        (failure.http_status, failure.code.to_string(), failure.message)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.settings.dir.join(file)
    }

    fn progress(&self) -> String {
        std::fs::read_to_string(self.path("progress_log.jsonl")).unwrap()
    }
}

fn gate(data: &std::path::Path, tool: Arc<dyn Provider>, output: Option<Value>) -> Arc<Gate> {
    std::fs::create_dir_all(data).unwrap();
    let mut contract = contract::read::trusted(CONTRACT).unwrap();
    contract.approval = ApprovalRequirement::Never;
    if let Some(output) = output {
        contract.output_schema = output;
    }
    let limits = contract::Limits::default();
    let tool = Tool::new(contract, tool, &limits).unwrap();
    let sqlite = store::Sqlite::open(&data.join("toolgate.db"), store::Durability::Process);
    let blobs =
        store::LocalBlobs::open(data, &[data.join("work")], store::Durability::Process).unwrap();
    Arc::new(Gate::new(GateParts {
        catalogue: Catalogue::new(vec![tool]),
        store: Arc::new(sqlite.unwrap()),
        blobs: Arc::new(blobs),
        journal: Journal::open(&data.join("journal.jsonl"), 1_000_000, 1).unwrap(),
        clock: Arc::new(SystemClock),
        max_concurrency: 64,
        settings: gate::GateSettings { ceilings: limits, ..gate::GateSettings::default() },
    }))
}

async fn call(gate: &Arc<Gate>, input: Value) -> Result<Value, Box<Failure>> {
    let (caller, request_id) = (Caller::named("test"), RequestId::new(gate.clock().now()));
    let call = Call::new("write_memory_entry", input, Door::Cli, caller, request_id);
    let outcome = gate.call(call).await;
    let output = outcome.result.map_err(Box::new)?;
    Ok(serde_json::from_str(output.json.get()).unwrap())
}

fn entry() -> Value {
    json!({ "timestamp": "2026-01-09T12:00:00Z", "type": "task_complete", "task": "Example task" })
}

/// An entry of exactly so many bytes, as many as can be of them of two-byte characters.
fn entry_of(bytes: usize) -> Value {
    let mut entry = entry();
    entry["b"] = json!("");
    let rest = bytes - entry.to_string().len();
    entry["b"] = json!("ü".repeat(rest / 2) + &"x".repeat(rest % 2));
    assert_eq!(entry.to_string().len(), bytes);
    entry
}

#[tokio::test]
async fn entries_become_lines_l22() {
    let world = MemoryFolder::new(|_| {});
    assert_eq!(world.write(&entry()).await, 1);
    assert_eq!(world.write(&entry()).await, 2);
    let line =
        r#"{"timestamp":"2026-01-09T12:00:00Z","type":"task_complete","task":"Example task"}"#;
    assert_eq!(world.progress(), format!("{line}\n{line}\n"));
    // After a line without an end the entry has one of its own, and what was there stays.
    std::fs::write(world.path("progress_log.jsonl"), "{\"torn\":").unwrap();
    let odd = json!({ "z": 1, "timestamp": "2026-01-09T12:00:00+01:00", "type": "a\nb\u{2028}" });
    assert_eq!(world.write(&odd).await, 2);
    let line = r#"{"z":1,"timestamp":"2026-01-09T12:00:00+01:00","type":"a\nb\u2028"}"#;
    assert_eq!(world.progress(), format!("{{\"torn\":\n{line}\n"));
    let other = world.call(json!({ "file": "decisions.jsonl", "entry": entry() })).await.unwrap();
    assert_eq!(other, json!({ "success": true, "line_number": 1 }));
}

#[tokio::test]
async fn entries_that_are_none_are_refused_l23_to_l28() {
    let world = MemoryFolder::new(|_| {});
    for (file, entry, words) in [
        ("progress_log.jsonl", json!({ "note": "Missing timestamp and type" }), "timestamp"),
        ("../x", entry(), "`/file` must be one of"),
        ("progress_log.jsonl", json!({ "timestamp": "not-a-date", "type": "t" }), "timestamp"),
        ("decisions.jsonl", json!({ "timestamp": "2026-01-09T14:30:00Z", "type": 7 }), "type"),
        ("decisions.jsonl", json!("timestamp type"), "`/entry` must be an object"),
    ] {
        let (status, code, message) = world.refused(file, &entry).await;
        assert_eq!((status, code.as_str()), (400, "invalid_input"), "{message}");
        assert!(message.contains(words), "{message}");
    }
    for time in [
        "2026-01-09",
        "2026-01-09T12:00:00",
        "2026-01-09 12:00:00Z",
        "2026-02-30T12:00:00Z",
        "2026-13-09T12:00:00Z",
        "2026-01-09T24:00:00Z",
        "2026-01-09T12:00Z",
        "1767960000",
        "",
        " 2026-01-09T12:00:00Z",
    ] {
        let entry = json!({ "timestamp": time, "type": "t" });
        let (status, ..) = world.refused("progress_log.jsonl", &entry).await;
        assert_eq!(status, 400, "{time}");
    }
    assert!(!world.settings.dir.exists(), "nothing was written");
}

#[tokio::test]
async fn size_is_counted_in_bytes_l25_and_l38() {
    let world = MemoryFolder::new(|_| {});
    let expected =
        (413, "too_large".to_owned(), "Entry too large: 10241 bytes (max 10240)".to_owned());
    assert_eq!(world.refused("decisions.jsonl", &entry_of(10_241)).await, expected);
    let entry = entry_of(10_240);
    assert_eq!(world.write(&entry).await, 1);
    let line = world.progress();
    // Written as UTF-8, and not escaped.
    assert_eq!(line.len(), 10_241);
    assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), entry);
    let small = MemoryFolder::new(|settings| settings.max_entry_bytes = 100);
    assert_eq!(small.refused("decisions.jsonl", &entry_of(101)).await.1, "too_large");
    assert_eq!(small.write(&entry_of(100)).await, 1);
    // An entry is measured as it is, not with what is escaped in its line.
    let mut separated = entry_of(100);
    separated["b"] = json!("\u{2028}");
    let bytes = separated.to_string().len() as u64;
    let exact = MemoryFolder::new(|settings| settings.max_entry_bytes = bytes);
    assert_eq!(exact.write(&separated).await, 1);
    assert_eq!(exact.progress().len() as u64, bytes + 3 + 1);
}

#[tokio::test]
async fn the_twenty_first_entry_of_an_hour_is_refused_l36() {
    let world = MemoryFolder::new(|_| {});
    for line in 1..=20 {
        assert_eq!(world.write(&entry()).await, line);
        world.clock.advance_ms(1_000);
    }
    let input = json!({ "file": "progress_log.jsonl", "entry": entry() });
    let failure = world.call(input.clone()).await.unwrap_err();
    assert_eq!((failure.http_status, &*failure.code), (429, "rate_limited"));
    let words =
        "Too many entries: progress_log.jsonl takes at most 20 an hour; try again in 3580 s";
    assert_eq!((failure.message.as_str(), failure.retry_after), (words, Some(3_580)));
    let details = json!({ "max_entries_per_hour": 20, "retry_after_seconds": 3_580 });
    assert_eq!(failure.details, Some(details));
    // The other file has its own hour; another process counts the same entries.
    world.call(json!({ "file": "decisions.jsonl", "entry": entry() })).await.unwrap();
    let clock: Arc<dyn Clock> = world.clock.clone();
    let tool = Arc::new(WriteMemoryEntry::new(&world.settings, &clock));
    let again = gate(&world.folder.path().join("again"), tool, None);
    assert_eq!(call(&again, input.clone()).await.unwrap_err().code, "rate_limited");
    world.clock.advance_ms(3_580_000);
    assert_eq!(world.write(&entry()).await, 21);
    assert_eq!(call(&again, input).await.unwrap_err().retry_after, Some(1));
    assert_eq!(world.progress().lines().count(), 21);
}

#[tokio::test]
async fn only_plain_files_that_the_settings_list_are_written() {
    let world = MemoryFolder::new(|settings| settings.files = vec![MemoryFile::Decisions]);
    let words = "File not allowed: progress_log.jsonl";
    let expected = (403, "file_not_allowed".to_owned(), words.to_owned());
    assert_eq!(world.refused("progress_log.jsonl", &entry()).await, expected);
    assert!(!world.settings.dir.exists());

    let world = MemoryFolder::new(|_| {});
    let secret = world.folder.path().join("secret");
    std::fs::write(&secret, "secret\n").unwrap();
    std::fs::create_dir_all(&world.settings.dir).unwrap();
    std::os::unix::fs::symlink(&secret, world.path("progress_log.jsonl")).unwrap();
    std::fs::hard_link(&secret, world.path("decisions.jsonl")).unwrap();
    for file in ["progress_log.jsonl", "decisions.jsonl"] {
        let expected = (403, "file_not_allowed".to_owned(), format!("File not allowed: {file}"));
        assert_eq!(world.refused(file, &entry()).await, expected);
    }
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "secret\n");
    // A folder that cannot be one is the operator's to see.
    let world = MemoryFolder::new(|settings| settings.dir = "/proc/none/memory".into());
    let failure =
        world.call(json!({ "file": "decisions.jsonl", "entry": entry() })).await.unwrap_err();
    assert_eq!((failure.http_status, &*failure.code), (503, "unavailable"));
    assert_eq!(failure.message, "the entry could not be written");
    assert!(failure.operator.unwrap().contains("No such file"));
}

#[tokio::test]
async fn the_preview_is_the_line_that_would_be_written() {
    /// Answers with what the other one would show.
    struct Shows(WriteMemoryEntry);
    impl Provider for Shows {
        fn run<'a>(
            &'a self,
            call: &'a RunningCall,
        ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
            Box::pin(async { Ok(ToolOutput::new(json!({ "shown": self.0.preview(call).await }))) })
        }
    }
    let world = MemoryFolder::new(|_| {});
    let clock: Arc<dyn Clock> = world.clock.clone();
    let tool = Arc::new(Shows(WriteMemoryEntry::new(&world.settings, &clock)));
    let viewer = gate(&world.folder.path().join("shows"), tool, Some(json!({ "type": "object" })));
    let input = json!({ "file": "progress_log.jsonl", "entry": entry() });
    let line = entry().to_string();
    for number in 1..3 {
        let shown = format!("append to progress_log.jsonl as line {number}:\n{line}");
        assert_eq!(call(&viewer, input.clone()).await.unwrap()["shown"], shown);
        assert_eq!(world.write(&entry()).await, number);
    }
    let would_fail = async |input: Value, reason: &str| {
        let shown = format!("as things stand this call would fail: {reason}");
        assert_eq!(call(&viewer, input).await.unwrap()["shown"], shown);
    };
    for _ in 3..=20 {
        world.write(&entry()).await;
    }
    let reason =
        "Too many entries: progress_log.jsonl takes at most 20 an hour; try again in 3600 s";
    would_fail(input, reason).await;
    let mut large = entry();
    large["task"] = json!("x".repeat(20_000));
    let bytes = large.to_string().len();
    let reason = format!("Entry too large: {bytes} bytes (max 10240)");
    would_fail(json!({ "file": "decisions.jsonl", "entry": large }), &reason).await;
    std::os::unix::fs::symlink("elsewhere", world.path("decisions.jsonl")).unwrap();
    let input = json!({ "file": "decisions.jsonl", "entry": entry() });
    would_fail(input, "File not allowed: decisions.jsonl").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_stops_while_its_entry_is_written_tells_the_line() {
    /// Stops the call when the tool asks for the time: its entry has been taken by then.
    #[derive(Default)]
    struct Stops(std::sync::Mutex<CancellationToken>);
    impl Clock for Stops {
        fn now(&self) -> gate::Timestamp {
            self.0.lock().unwrap().cancel();
            std::thread::sleep(std::time::Duration::from_millis(100));
            gate::Timestamp(1_767_960_000_000)
        }
    }
    struct Stopped(WriteMemoryEntry, Arc<Stops>, std::sync::mpsc::Sender<Value>);
    impl Provider for Stopped {
        fn run<'a>(
            &'a self,
            call: &'a RunningCall,
        ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
            Box::pin(async {
                *self.1.0.lock().unwrap() = call.stop.clone();
                let answer = self.0.run(call).await?;
                if let gate::OutputPayload::Json(output) = &answer.output {
                    self.2.send(output.clone()).unwrap();
                }
                Ok(answer)
            })
        }
    }
    let world = MemoryFolder::new(|_| {});
    let clock = Arc::new(Stops::default());
    let tool = WriteMemoryEntry::new(&world.settings, &(clock.clone() as Arc<dyn Clock>));
    let (tells, told) = std::sync::mpsc::channel();
    let tool = Arc::new(Stopped(tool, clock, tells));
    let gate = gate(&world.folder.path().join("stops"), tool, None);
    let _ = call(&gate, json!({ "file": "progress_log.jsonl", "entry": entry() })).await;
    assert_eq!(told.try_recv().unwrap(), json!({ "success": true, "line_number": 1 }));
    assert_eq!(world.progress(), format!("{}\n", entry()));
}

#[test]
fn the_settings_know_the_files_of_the_contract() {
    let contract = contract::read::trusted(CONTRACT).unwrap();
    let known = &contract.input_schema["properties"]["file"]["enum"];
    let listed: Vec<_> = MemorySettings::default().files.iter().map(|file| file.name()).collect();
    assert_eq!(*known, json!(listed));
}
