//! Commands that misbehave: what they answer, what they leave, how they end.

mod operator;

use serde_json::{Value, json};
use testkit::{Answer, World, eventually, mcp::frame, running};

use crate::{BINARY, command, command_taking, with_commands};

/// Seconds that no other process on this machine sleeps for.
fn unique_sleep(number: u32) -> String {
    format!("9{}.{number:03}", std::process::id())
}

/// Nothing of the world's commands runs any more: neither scripts nor what starts them.
fn nothing_is_left(world: &World, sleep: &str) {
    for words in [sleep, world.folder().to_str().unwrap()] {
        let left = running(words);
        assert!(left.is_empty(), "{left:?}");
    }
}

async fn execute(world: &World, tool: &str) -> Answer {
    world.execute(&json!({ "tool": tool })).await
}

async fn simple(world: &World, tool: &str) -> Answer {
    world.post(&format!("/v1/tools/{tool}"), "{}").await
}

/// Calls a tool through both doors: the same status, code and words at each. Yields the
/// `ToolResult`.
async fn check(world: &World, tool: &str, (status, code): (u16, &str), words: &str) -> Value {
    let answer = execute(world, tool).await;
    let result = answer.tool_result();
    assert_eq!(answer.status, status, "{tool}: {result}");
    assert_eq!(result["metrics"]["error_code"], code, "{tool}: {result}");
    assert!(result.to_string().contains(words), "{tool}: no `{words}` in {result}");
    let job = result["metrics"]["job_id"].as_str().unwrap();
    assert_eq!(world.job(job).await["status"], "failed");
    let answer = simple(world, tool).await;
    let envelope = answer.envelope();
    assert_eq!((answer.status, &envelope["code"]), (status, &code.into()), "{tool}: {envelope}");
    assert!(envelope["error"].as_str().unwrap().contains(words), "{tool}: {envelope}");
    result
}

#[tokio::test]
async fn an_answer_outside_the_contract_is_quarantined_and_not_passed_on() {
    let world = with_commands(
        "",
        &[
            ("garbage", "echo MARKER is no JSON"),
            ("nothing", "true"),
            ("blank", "printf ' \\n'"),
            ("wrong_schema", r#"echo '{"answers":"MARKER"}'"#),
            ("wrong_type", r#"echo '["MARKER"]'"#),
            ("two_documents", r#"echo '{"answer":"MARKER"}'; echo '{"answer":"MARKER"}'"#),
            ("same_key_twice", r#"echo '{"answer":"MARKER","answer":2}'"#),
            ("no_text", r#"printf '{"answer":"MARKER\377"}'"#),
            ("wrapped", r#"echo '{"status":"ok","summary":"MARKER","stdout":"MARKER","metrics":{"m":"MARKER"},"output":{"answers":"MARKER"}}'"#),
            ("wrapped_nothing", r#"echo '{"status":"ok","summary":"MARKER"}'"#),
        ],
    )
    .await;
    for (tool, reason, payload) in [
        ("garbage", "the command's stdout is not JSON", json!("MARKER is no JSON\n")),
        ("nothing", "the tool answered nothing", Value::Null),
        ("blank", "the tool answered nothing", Value::Null),
        ("wrong_schema", "did you mean `answer`?", json!({ "answers": "MARKER" })),
        ("wrong_type", "the value must be an object", json!(["MARKER"])),
        (
            "two_documents",
            "trailing characters",
            json!("{\"answer\":\"MARKER\"}\n{\"answer\":\"MARKER\"}\n"),
        ),
        (
            "same_key_twice",
            "key `answer` appears twice",
            json!("{\"answer\":\"MARKER\",\"answer\":2}\n"),
        ),
        ("no_text", "is not JSON", json!("{\"answer\":\"MARKER\u{fffd}\"}")),
        ("wrapped", "did you mean `answer`?", json!({ "answers": "MARKER" })),
        ("wrapped_nothing", "the tool answered nothing", Value::Null),
    ] {
        let words = "does not match its contract and was quarantined";
        let result = check(&world, tool, (502, "invalid_output"), words).await;
        assert!(!result.to_string().contains("MARKER"), "{result}");
        let id = result["metrics"]["error_details"]["quarantine_id"].as_str().unwrap();
        let entry = world.get(&format!("/v1/quarantine/{id}")).await.json();
        assert_eq!((&entry["tool"], &entry["payload"]), (&tool.into(), &payload), "{entry}");
        assert_eq!(entry["job_id"], result["metrics"]["job_id"]);
        assert!(entry["reason"].as_str().unwrap().contains(reason), "{entry}");
        let job = result["metrics"]["job_id"].as_str().unwrap();
        let job = world.get(&format!("/v1/jobs/{job}")).await.text();
        assert!(!job.contains("MARKER"), "{job}");

        let envelope = simple(&world, tool).await;
        assert!(!envelope.text().contains("MARKER"));
        let id = envelope.envelope()["details"]["quarantine_id"].as_str().unwrap().to_owned();
        assert_eq!(world.get(&format!("/v1/quarantine/{id}")).await.json()["payload"], payload);
    }
    let listed = world.get("/v1/quarantine?limit=200").await;
    assert_eq!(listed.json()["entries"].as_array().unwrap().len(), 30);
    assert!(!listed.text().contains("MARKER"), "the list has no payloads");
    assert!(world.journal().iter().all(|line| !line.to_string().contains("MARKER")));
    let missing = world.get("/v1/quarantine/q_nope").await;
    missing.fails(404, "not_found");
}

#[tokio::test]
async fn a_gigabyte_of_output_takes_no_memory() {
    let gigabyte = "head -c 1073741824 /dev/zero | tr '\\0' x";
    let world = with_commands(
        "",
        &[
            ("loud", gigabyte),
            ("noisy", &format!("{gigabyte} >&2; echo '{{\"answer\":1}}'")),
            ("chatty", "yes progress | head -c 20000000 >&2; echo '{\"answer\":1}'"),
        ],
    )
    .await;
    let result = execute(&world, "loud").await.tool_result();
    assert_eq!(result["metrics"]["error_code"], "invalid_output", "{result:.500}");
    let id = result["metrics"]["error_details"]["quarantine_id"].as_str().unwrap();
    let entry = world.get(&format!("/v1/quarantine/{id}")).await.json();
    let reason = entry["reason"].as_str().unwrap();
    assert_eq!(reason, "the command printed 1073741824 bytes, more than max_output_bytes");

    for (tool, printed) in [("noisy", 1_073_741_824_u64), ("chatty", 20_000_000)] {
        let result = execute(&world, tool).await.tool_result();
        assert_eq!(result["output"], json!({ "answer": 1 }));
        assert_eq!(result["stderr"].as_str().unwrap().len(), 1_000_000);
        assert_eq!(result["metrics"]["stderr_truncated_bytes"], printed - 1_000_000);
        let summary = format!("{tool} succeeded. [limits: stderr truncated]");
        assert_eq!(result["summary"], summary);
    }
    let most = testkit::peak_bytes(world.pid());
    assert!(most < 200 * 1_024 * 1_024, "the server took {most} bytes");
}

#[tokio::test]
async fn a_command_that_sleeps_for_ever_is_ended_and_what_it_said_is_kept() {
    let sleep = unique_sleep(1);
    let script = format!("echo before >&2; sleep {sleep}; echo after >&2");
    let world = with_commands("", &[("sleeper", &script)]).await;
    // With so little time it may not have said anything yet.
    for (timeout_ms, stderr) in [(300, None), (3_000, Some("before\n"))] {
        let limits = json!({ "limits": { "timeout_ms": timeout_ms } });
        let answer = world.execute(&json!({ "tool": "sleeper", "context": limits })).await;
        let result = answer.tool_result();
        assert_eq!((answer.status, &result["metrics"]["error_code"]), (504, &"timeout".into()));
        let words = format!("the call took longer than its limit of {timeout_ms} ms (timeout_ms)");
        assert!(result["summary"].as_str().unwrap().contains(&words), "{result}");
        if let Some(stderr) = stderr {
            assert_eq!(result["stderr"], stderr);
        }
        let took = result["metrics"]["duration_ms"].as_f64().unwrap();
        assert!(took >= f64::from(timeout_ms) && took < 10_000.0, "{took}");
        nothing_is_left(&world, &sleep);
    }
}

#[tokio::test]
async fn nothing_that_a_command_starts_outlives_it() {
    let sleep = unique_sleep(2);
    let forks = |how: &str| format!("{how}\necho '{{\"answer\":1}}'");
    let world = with_commands(
        "",
        &[
            // Holds the output open: an answer must not wait for it.
            ("child", &forks(&format!("sleep {sleep} &"))),
            ("many", &forks(&format!("for i in 1 2 3 4 5 6 7 8; do sleep {sleep} & done"))),
            ("nested", &forks(&format!("sh -c 'sh -c \"sleep {sleep} & sleep {sleep}\" &' &"))),
            ("daemon", &forks(&format!("(setsid sleep {sleep} </dev/null >/dev/null 2>&1 &)"))),
            (
                "deaf",
                &forks(&format!(
                    "(trap '' TERM HUP INT; setsid nohup sleep {sleep} >/dev/null 2>&1 &)"
                )),
            ),
        ],
    )
    .await;
    for tool in ["child", "many", "nested", "daemon", "deaf"] {
        let tool_result = execute(&world, tool).await.tool_result();
        assert_eq!(tool_result["output"], json!({ "answer": 1 }), "{tool}");
        let took = tool_result["metrics"]["duration_ms"].as_f64().unwrap();
        assert!(took < 10_000.0, "{tool}: {took}");
        nothing_is_left(&world, &sleep);
        assert_eq!(simple(&world, tool).await.status, 200, "{tool}");
        nothing_is_left(&world, &sleep);
    }
}

#[tokio::test]
async fn a_command_that_fails_is_an_error_with_its_exit_code() {
    let world = with_commands(
        "",
        &[
            ("seven", "echo oh no >&2; echo half an answer; exit 7"),
            ("quiet", "exit 7"),
            ("after_a_good_answer", "echo '{\"answer\":1}'; exit 3"),
            ("killed", "echo dying >&2; kill -KILL $$"),
            ("terminated", "kill -TERM $$"),
            ("aborted", "kill -ABRT $$"),
        ],
    )
    .await;
    for (tool, words, exit_code, stderr) in [
        ("seven", "the command exited with status 7", 7, "oh no\n"),
        ("quiet", "the command exited with status 7", 7, "the command exited with status 7"),
        ("after_a_good_answer", "exited with status 3", 3, "the command exited with status 3"),
        ("killed", "the command was ended by signal 9", 137, "dying\n"),
        ("terminated", "ended by signal 15", 143, "the command was ended by signal 15"),
        ("aborted", "ended by signal 6", 134, "the command was ended by signal 6"),
    ] {
        let result = check(&world, tool, (500, "internal"), words).await;
        assert_eq!((&result["exit_code"], &result["stderr"]), (&exit_code.into(), &stderr.into()));
    }
    let seven = execute(&world, "seven").await.tool_result();
    assert_eq!(seven["stdout"], "half an answer\n");
}

/// A declared error, for the head of a contract.
const DECLARED: &str = "errors:
  - { code: no_such_city, http_status: 404, description: There is no such city. }";

#[tokio::test]
async fn a_command_names_its_errors_and_only_declared_ones_count() {
    let mut world = World::new(BINARY, "contracts: [ ./contracts ]");
    let error = |code: &str| {
        format!(
            r#"echo said >&2; echo '{{"error":{{"code":"{code}","message":"No city there.","details":{{"near":"Ulm"}}}}}}'; exit 1"#
        )
    };
    command(&world, "declared", &error("no_such_city"), DECLARED);
    command(&world, "undeclared", &error("no_such_street"), DECLARED);
    command(&world, "our_own", &error("not_found"), DECLARED);
    command(&world, "bad_input", &error("invalid_input"), DECLARED);
    world.run().await;
    for (tool, expected, words) in [
        ("declared", (404, "no_such_city"), "No city there."),
        ("bad_input", (400, "invalid_input"), "No city there."),
        ("undeclared", (500, "internal"), "an error that its contract does not declare"),
        ("our_own", (500, "internal"), "an error that its contract does not declare"),
    ] {
        let result = check(&world, tool, expected, words).await;
        assert_eq!((&result["exit_code"], &result["stderr"]), (&1.into(), &"said\n".into()));
        let details = if expected.1 == "internal" { Value::Null } else { json!({ "near": "Ulm" }) };
        assert_eq!(result["metrics"]["error_details"], details);
        if expected.1 == "internal" {
            assert!(!result.to_string().contains("No city there."), "{result}");
        }
    }
    let lines = world.journal();
    let notes: Vec<_> = lines.iter().filter(|line| line["tool"] == "undeclared").collect();
    let note = "the tool answered with the undeclared code `no_such_street`: No city there.";
    assert!(notes.iter().all(|line| line["note"] == note && line["code"] == "internal"));
    assert_eq!(notes.len(), 2);
}

#[tokio::test]
async fn a_wrapped_answer_carries_more_than_the_result() {
    let mut world = World::new(BINARY, "contracts: [ ./contracts ]");
    let wrapped = r#"echo printed >&2; echo '{"status":"ok","summary":"All is well.","stdout":"out","metrics":{"cities":3,"job_id":"mine"},"output":{"answer":1}}'"#;
    let failed = r#"echo printed >&2; echo '{"status":"error","summary":"No city there","stderr":"own words","exit_code":9,"metrics":{"error_code":"no_such_city","cities":0}}'"#;
    command(&world, "wrapped", wrapped, "");
    command(&world, "failed", failed, DECLARED);
    world.run().await;
    let result = execute(&world, "wrapped").await.tool_result();
    assert_eq!(result["summary"], "All is well.");
    assert_eq!((&result["stdout"], &result["stderr"]), (&"out".into(), &"printed\n".into()));
    assert_eq!(
        (&result["output"], &result["solver"]),
        (&json!({ "answer": 1 }), &"wrapped".into())
    );
    assert_eq!(result["metrics"]["cities"], 3);
    assert!(result["metrics"]["job_id"].as_str().unwrap().starts_with("job_"));
    assert_eq!(simple(&world, "wrapped").await.envelope()["result"], json!({ "answer": 1 }));

    let result = check(&world, "failed", (404, "no_such_city"), "No city there").await;
    assert_eq!((&result["exit_code"], &result["stderr"]), (&9.into(), &"own words".into()));
    assert_eq!((&result["metrics"]["cities"], &result["output"]), (&0.into(), &json!({})));
}

#[tokio::test]
async fn progress_goes_to_those_who_watch_and_not_into_stderr() {
    let mut world = World::new(BINARY, "contracts: [ ./contracts ]");
    let go = world.folder().join("go");
    let script = format!(
        r#"echo '{{"progress":0.25,"message":"a quarter"}}' >&2
echo plain words >&2
while [ ! -e {} ]; do sleep 0.02; done
echo '{{"progress":7}}' >&2
echo '{{"progress":"no number"}}' >&2
echo '{{"answer":1}}'"#,
        go.display()
    );
    command(&world, "steps", &script, "");
    world.run().await;
    let job = format!("/v1/jobs/{}", world.submit(&json!({ "tool": "steps" })).await);
    // Watched before it goes on.
    let events = world.client.get(world.url(&format!("{job}/events"))).send().await.unwrap();
    assert_eq!(events.headers()["content-type"], "text/event-stream");
    std::fs::write(go, "").unwrap();
    let text = events.text().await.unwrap();
    let field = |name: &str| -> Vec<String> {
        text.lines().filter_map(|line| line.strip_prefix(name)).map(str::to_owned).collect()
    };
    let data: Vec<Value> =
        field("data: ").iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(field("event: "), ["state", "state", "progress", "progress", "state"], "{text}");
    assert_eq!((&data[2]["progress"], &data[2]["message"]), (&0.25.into(), &"a quarter".into()));
    assert_eq!(data[3]["progress"], 1.0, "no further than the whole");
    assert_eq!(data[4]["status"], "succeeded");
    assert_eq!(field("id: "), ["1", "2", "3", "4", "5"]);
    let record = world.get(&job).await.json();
    assert_eq!(record["result"]["stderr"], "plain words\n{\"progress\":\"no number\"}\n");
}

#[tokio::test]
async fn the_environment_is_what_the_contract_lists_and_nothing_else() {
    let mut world = World::new(BINARY, "contracts: [ ./contracts ]")
        .with_env("GIVEN", "from the server")
        .with_env("SECRET", "not for tools");
    // What the kernel was given for the shell, before the shell adds anything of its own.
    let script = r#"printf '{"answer":"%s"}' "$(tr '\0' '|' < /proc/$$/environ)""#;
    command(&world, "listed", script, "env: [ALPHA=1, GIVEN, MISSING, 'BETA=a=b']");
    command(&world, "unlisted", script, "");
    world.run().await;
    // The data folder of a test lies in the folder for temporary files, which is then no place for a program's own.
    let user = std::os::unix::fs::MetadataExt::uid(&world.folder().metadata().unwrap());
    let temporary = format!("TMPDIR={}/toolgate-{user}|", std::env::temp_dir().display());
    for (tool, environment) in
        [("listed", "ALPHA=1|GIVEN=from the server|BETA=a=b|"), ("unlisted", "")]
    {
        let environment = format!("{environment}{temporary}");
        let mut got: Vec<_> = simple(&world, tool).await.envelope()["result"]["answer"]
            .as_str()
            .unwrap()
            .split('|')
            .map(str::to_owned)
            .collect();
        let mut expected: Vec<_> = environment.split('|').collect();
        got.sort_unstable();
        expected.sort_unstable();
        assert_eq!(got, expected);
    }
}

#[tokio::test]
async fn arguments_arrive_on_stdin_with_defaults_filled_in() {
    let mut world = World::new(BINARY, "contracts: [ ./contracts ]");
    let script =
        r#"printf '{"answer":{"arguments":%s,"count":%s,"folder":"%s"}}' "$(cat)" $# "$PWD""#;
    let properties = "value: { description: Any value. }
city: { type: string, default: Köln, description: A city. }
deep: { type: object, description: More., default: { a: [1, null] } }";
    command_taking(&world, "shown", script, "", properties);
    world.run().await;
    let default = json!({ "city": "Köln", "deep": { "a": [1, null] } });
    for (given, arrived) in [
        (json!({}), default.clone()),
        (
            json!({ "value": "é\"\\\n$(id)", "city": "" }),
            json!({ "value": "é\"\\\n$(id)", "city": "", "deep": { "a": [1, null] } }),
        ),
    ] {
        let result = world.execute(&json!({ "tool": "shown", "input": given })).await.tool_result();
        let answer = &result["output"]["answer"];
        // No word but that of its contract.
        assert_eq!((&answer["arguments"], &answer["count"]), (&arrived, &1.into()));
        let work = world.folder().join("data.work").canonicalize().unwrap();
        assert!(answer["folder"].as_str().unwrap().starts_with(work.to_str().unwrap()), "{answer}");
    }
    // More than a pipe holds, to a command that reads nothing.
    command(&world, "deaf", "echo '{\"answer\":1}'", "");
    world.kill();
    world.run().await;
    let large = json!({ "tool": "deaf", "input": { "value": "x".repeat(1_000_000) } });
    assert_eq!(world.execute(&large).await.tool_result()["output"], json!({ "answer": 1 }));
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_an_error_of_the_call() {
    use std::os::unix::fs::PermissionsExt;
    let mut world = World::new(BINARY, "contracts: [ ./contracts ]");
    for name in ["missing", "not_executable", "folder", "no_interpreter"] {
        command(&world, name, "echo '{\"answer\":1}'", "");
    }
    let script = |name: &str| world.folder().join(format!("contracts/{name}.sh"));
    std::fs::remove_file(script("missing")).unwrap();
    let plain = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(script("not_executable"), plain).unwrap();
    std::fs::remove_file(script("folder")).unwrap();
    std::fs::create_dir(script("folder")).unwrap();
    world.write_program("contracts/no_interpreter.sh", "#!/no/such/interpreter\n");
    world.run().await;
    for (tool, note) in [
        ("missing", "was not found"),
        ("not_executable", "is not a file that may be executed"),
        ("folder", "is not a file that may be executed"),
        ("no_interpreter", "could not be executed: No such file or directory"),
    ] {
        let words = "the command could not be started";
        let result = check(&world, tool, (500, "internal"), words).await;
        assert_eq!(result["exit_code"], 127);
        // Where programs lie is for the operator.
        let folder = world.folder().to_str().unwrap();
        assert!(!result.to_string().contains(folder), "{result}");
        let line = world.journal().into_iter().rfind(|line| line["tool"] == tool).unwrap();
        assert!(line["note"].as_str().unwrap().contains(note), "{line}");
    }
}

#[tokio::test]
async fn a_closed_connection_ends_the_command_and_is_recorded_as_cancelled() {
    let sleep = unique_sleep(3);
    let world = with_commands("", &[("sleeper", &format!("sleep {sleep}"))]).await;
    for (path, body) in
        [("/v1/tools/execute", r#"{"tool":"sleeper"}"#), ("/v1/tools/sleeper", r#"{"args":{}}"#)]
    {
        let before = world.journal().len();
        let raw = world.sent(frame("POST", path, &[], body)).await;
        eventually("the command runs", async || !running(&sleep).is_empty()).await;
        drop(raw);
        eventually("the command is gone", async || running(&sleep).is_empty()).await;
        let line =
            eventually("it is journalled", async || world.journal().get(before).cloned()).await;
        assert_eq!((&line["event"], &line["code"]), (&"tool_call".into(), &"cancelled".into()));
        let folder = world.folder().to_str().unwrap();
        eventually("all of it is gone", async || running(folder).is_empty()).await;
    }
    let job = eventually("the job is cancelled", async || {
        let jobs = world.get("/v1/jobs").await.json()["jobs"].as_array().unwrap().clone();
        jobs.into_iter().find(|job| job["status"] == "cancelled")
    })
    .await;
    assert_eq!((&job["tool"], &job["error_code"]), (&"sleeper".into(), &"cancelled".into()));
    let work = world.folder().join("data.work");
    eventually("its folder is gone", async || std::fs::read_dir(&work).unwrap().count() == 0).await;
}

#[tokio::test]
async fn only_plain_files_become_artifacts() {
    let mut world = World::new(BINARY, "contracts: [ ./contracts ]");
    world.write("theirs/outside.txt", "not yours");
    let script = format!(
        "outside={}/theirs/outside.txt
printf kept > report.txt
printf '' > empty
ln -s $outside link.txt
ln -s /nowhere dangling
ln $outside hard.txt
mkfifo pipe
mkdir -p folder/deeper
echo inside > folder/deeper/file.txt
printf x > \"$(printf 'new\\nline')\"
printf x > \"$(printf 'no-text-\\377')\"
printf x > 'back\\slash'
echo '{{\"answer\":1}}'",
        world.folder().display()
    );
    command(&world, "leaves", &script, "");
    world.run().await;
    let result = execute(&world, "leaves").await.tool_result();
    let job = result["metrics"]["job_id"].as_str().unwrap().to_owned();
    let path = |name: &str| format!("/v1/jobs/{job}/artifacts/{name}");
    assert_eq!(
        result["artifacts"],
        json!([
            { "name": "empty", "path": path("empty"), "mime_type": "text/plain; charset=utf-8", "bytes": 0 },
            { "name": "report.txt", "path": path("report.txt"), "mime_type": "text/plain; charset=utf-8", "bytes": 4 },
        ])
    );
    assert_eq!(result["metrics"]["artifacts_ignored"], 8, "{result}");
    assert_eq!(world.get(&path("report.txt")).await.text(), "kept");
    for name in [
        "link.txt",
        "dangling",
        "hard.txt",
        "pipe",
        "folder",
        "folder%2Fdeeper%2Ffile.txt",
        "new%0Aline",
        "no-text-%FF",
        "back%5Cslash",
    ] {
        assert_eq!(world.raw("GET", &path(name), &[]).await.status, 404, "{name}");
    }
    // What is not listed takes no room either, and what was linked to is as it was.
    let kept = std::fs::read_dir(world.folder().join("data/artifacts").join(&job)).unwrap();
    let mut kept: Vec<_> = kept.map(|entry| entry.unwrap().file_name()).collect();
    kept.sort();
    assert_eq!(kept, ["empty", "report.txt"]);
    assert_eq!(std::fs::read_dir(world.folder().join("data.work")).unwrap().count(), 0);
    let outside = world.read("theirs/outside.txt");
    assert_eq!(outside, "not yours");
}

#[tokio::test]
async fn artifacts_over_the_limits_are_counted_and_told() {
    let script = "for name in a b c d e; do printf small > $name.txt; done
printf 'much too large' > large-1.txt
printf 'much too large' > large-2.txt
echo '{\"answer\":1}'";
    let world =
        with_commands("", &[("leaves", script), ("fails", &format!("{script}\nexit 1"))]).await;
    let oversize = " [limits: oversize artifacts removed]";
    let count = " [limits: artifact count capped]";
    let both = " [limits: oversize artifacts removed, artifact count capped]";
    for (limits, names, removed, note) in [
        (
            json!({}),
            &["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "large-1.txt", "large-2.txt"][..],
            (0, 0),
            "",
        ),
        (
            json!({ "max_artifact_bytes": 5 }),
            &["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"],
            (2, 0),
            oversize,
        ),
        (
            json!({ "max_artifacts": 6 }),
            &["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "large-1.txt"],
            (0, 1),
            count,
        ),
        (json!({ "max_artifacts": 2, "max_artifact_bytes": 5 }), &["a.txt", "b.txt"], (2, 3), both),
        (json!({ "max_artifact_bytes": 4 }), &[], (7, 0), oversize),
    ] {
        let call = json!({ "tool": "leaves", "context": { "limits": limits } });
        let result = world.execute(&call).await.tool_result();
        let kept: Vec<_> =
            result["artifacts"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
        assert_eq!(kept, names, "{limits}");
        let metrics = &result["metrics"];
        let number = |name: &str| metrics[name].as_u64().unwrap_or(0);
        assert_eq!(
            (number("artifacts_removed_oversize"), number("artifacts_removed_count_cap")),
            removed
        );
        assert_eq!(result["summary"], format!("leaves succeeded.{note}"));
        let job = metrics["job_id"].as_str().unwrap();
        let folder = world.folder().join("data/artifacts").join(job);
        let on_disk = std::fs::read_dir(folder).map_or(0, Iterator::count);
        assert_eq!(on_disk, names.len(), "{limits}");
    }
    // A call that failed leaves nothing.
    let failed = execute(&world, "fails").await.tool_result();
    assert_eq!(failed["artifacts"], json!([]));
    let job = failed["metrics"]["job_id"].as_str().unwrap();
    assert!(!world.folder().join("data/artifacts").join(job).exists());
}

#[tokio::test]
async fn a_name_in_a_result_forges_no_line_of_the_log() {
    let forged = "x\n2026-01-01T00:00:00Z  WARN forged\u{202e}\u{9b}2J";
    let printed = serde_json::json!({ "answer": 1, forged: 1 }).to_string();
    let script = format!("cat > /dev/null; echo '{}'", printed.replace("\\n", "\\\\n"));
    let world = crate::with_commands("log: { format: human }\n", &[("forges", &script)]).await;
    world.call("forges", &serde_json::json!({})).await.fails(502, "invalid_output");
    let log = testkit::eventually("the log tells", async || {
        Some(world.stderr()).filter(|log| log.contains("forged"))
    })
    .await;
    assert!(!log.lines().any(|line| line.contains(" forged") && !line.contains("forges")), "{log}");
    assert!(!log.contains(['\u{202e}', '\u{9b}']), "{log:?}");
}
