//! Files that calls leave: their names, where they are served, how long they stay.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::{Answer, World, eventually};

use crate::{start, with_commands};

async fn write(world: &World, name: &str, text: &str) -> Answer {
    let input = json!({ "filename": name, "text": text });
    world.execute(&json!({ "tool": "write_text_artifact", "input": input })).await
}

/// Writes an artifact and yields how it is listed.
async fn written(world: &World, name: &str, text: &str) -> Value {
    let answer = write(world, name, text).await;
    let result = answer.tool_result();
    assert_eq!(answer.status, 200, "{result}");
    assert_eq!(result["artifacts"].as_array().unwrap().len(), 1, "{result}");
    result["artifacts"][0].clone()
}

/// Every path below a folder, but for the spool's, which are other ones from time to time.
fn tree(folder: &std::path::Path) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("spool") {
            paths.extend(tree(&path));
        }
        paths.insert(path.display().to_string());
    }
    paths
}

#[tokio::test]
async fn names_that_are_no_plain_file_names_are_refused_and_nothing_is_written() {
    let world = start("").await;
    write(&world, "warm-up.txt", "x").await.tool_result();
    let before = tree(world.folder());
    let (long, wide) = ("x".repeat(300), "é".repeat(128));
    for (name, words) in [
        ("../x", "must not contain `/`"),
        ("../../toolgate.db", "must not contain `/`"),
        ("/etc/passwd", "must not contain `/`"),
        ("a/b", "must not contain `/`"),
        ("a\\b", "or `\\`"),
        ("..\\x", "or `\\`"),
        ("", "`/filename` must not be empty"),
        (".", "must not be `.` or `..`"),
        ("..", "must not be `.` or `..`"),
        (&*long, "`/filename` must have at most 255 characters"),
        (&*wide, "must not be longer than 255 bytes"),
        ("a\nb", "must not contain control characters"),
        ("a\0b", "must not contain control characters"),
        ("a\u{1b}[31m", "must not contain control characters"),
        ("a\u{7f}", "must not contain control characters"),
        ("a\u{202e}txt.exe", "must not contain invisible"),
        ("a\u{200b}", "must not contain invisible"),
    ] {
        let answer = write(&world, name, "x").await;
        let result = answer.tool_result();
        let code = &result["metrics"]["error_code"];
        assert_eq!((answer.status, code), (400, &"invalid_input".into()), "{name:?}: {result}");
        assert!(result["stderr"].as_str().unwrap().contains(words), "{name:?}: {result}");
        assert_eq!(result["artifacts"], json!([]));
    }
    assert_eq!(tree(world.folder()), before);
}

#[tokio::test]
async fn every_plain_name_is_served_under_the_path_that_is_listed() {
    let world = start("").await;
    let longest = format!("{}.txt", "n".repeat(251));
    for (name, encoded) in [
        ("note.txt", "note.txt"),
        ("error.json", "error.json"),
        ("result.json", "result.json"),
        ("request.json", "request.json"),
        ("summary.json", "summary.json"),
        ("naïve 文.txt", "na%C3%AFve%20%E6%96%87.txt"),
        ("100%.txt", "100%25.txt"),
        ("%2e%2e", "%252e%252e"),
        ("..%2fx", "..%252fx"),
        ("a#b?c&d=e.txt", "a%23b%3Fc%26d%3De.txt"),
        ("quo\"te's.txt", "quo%22te%27s.txt"),
        (" leading and trailing ", "%20leading%20and%20trailing%20"),
        ("...", "..."),
        (".hidden", ".hidden"),
        ("-rf", "-rf"),
        ("a+b;c:d@e,f$g!h*i(j)~k", "a%2Bb%3Bc%3Ad%40e%2Cf%24g%21h%2Ai%28j%29~k"),
        ("😀", "%F0%9F%98%80"),
        (&*longest, &*longest),
    ] {
        let text = format!("this is {name}");
        let artifact = written(&world, name, &text).await;
        let path = artifact["path"].as_str().unwrap();
        let (job, file) =
            path.strip_prefix("/v1/jobs/").unwrap().split_once("/artifacts/").unwrap();
        assert_eq!((artifact["name"].as_str().unwrap(), file), (name, encoded));
        assert_eq!(artifact["bytes"], text.len());
        // Exactly as given, and as a URL library would have it.
        for answer in [world.raw("GET", path, &[]).await, world.get(path).await] {
            assert_eq!((answer.status, answer.text().as_str()), (200, text.as_str()), "{name}");
            let disposition = answer.header("content-disposition");
            let encoded = disposition.split("filename*=UTF-8''").nth(1).unwrap();
            assert_eq!(decoded(encoded), name, "{disposition}");
            let plain = disposition.strip_prefix("attachment; filename=\"").unwrap();
            let plain = plain.split("\"; filename*=").next().unwrap();
            assert!(plain.is_ascii() && !plain.contains(['"', '\\', '%']), "{disposition}");
        }
        // No name stands in the way of the job's own record.
        let record = world.job(job).await;
        assert_eq!(record["status"], "succeeded");
        assert_eq!(record["result"]["output"]["filename"], name);
        let listed = world.get(&format!("/v1/jobs/{job}/artifacts")).await.json();
        assert_eq!(listed["files"], json!([artifact]));
        assert_eq!(world.get(&format!("/v1/jobs/{job}/artifacts/other")).await.status, 404);
    }
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next().unwrap(), rest.next().unwrap()];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn the_type_follows_from_the_ending_and_is_never_guessed_by_a_browser() {
    let world = start("").await;
    for (name, text, kind) in [
        ("a.json", "{}", "application/json"),
        ("a.jsonl", "{}", "application/jsonl"),
        ("a.csv", "a,b", "text/csv; charset=utf-8"),
        ("a.txt", "a", "text/plain; charset=utf-8"),
        ("A.TXT", "a", "text/plain; charset=utf-8"),
        ("a.log", "a", "text/plain; charset=utf-8"),
        ("a.md", "a", "text/markdown; charset=utf-8"),
        ("a.png", "no image", "image/png"),
        ("a.html", "<script>", "text/html; charset=utf-8"),
        ("a.svg", "<svg>", "image/svg+xml"),
        ("a.unknown", "some text", "text/plain; charset=utf-8"),
        ("b.unknown", "bytes \0", "application/octet-stream"),
        ("plain", "", "text/plain; charset=utf-8"),
    ] {
        let artifact = written(&world, name, text).await;
        assert_eq!(artifact["mime_type"], kind, "{name}");
        let answer = world.get(artifact["path"].as_str().unwrap()).await;
        assert_eq!(
            (answer.header("content-type"), answer.body.as_slice()),
            (kind, text.as_bytes())
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert!(answer.header("content-disposition").starts_with("attachment; "));
        assert!(answer.header("content-security-policy").contains("sandbox"));
        assert_eq!(answer.header("content-length"), text.len().to_string());
        assert!(!answer.header("x-request-id").is_empty());
    }
}

#[tokio::test]
async fn a_part_of_an_artifact_can_be_asked_for() {
    let world = start("").await;
    let artifact = written(&world, "digits.txt", "0123456789").await;
    let path = artifact["path"].as_str().unwrap();
    for (range, status, body, content_range) in [
        ("bytes=0-3", 206, "0123", Some("bytes 0-3/10")),
        ("bytes=4-4", 206, "4", Some("bytes 4-4/10")),
        ("bytes=7-", 206, "789", Some("bytes 7-9/10")),
        ("bytes=-3", 206, "789", Some("bytes 7-9/10")),
        ("bytes=-100", 206, "0123456789", Some("bytes 0-9/10")),
        ("bytes=8-100", 206, "89", Some("bytes 8-9/10")),
        ("bytes=0-18446744073709551615", 206, "0123456789", Some("bytes 0-9/10")),
        // What is not understood is not asked for; nor are several parts.
        ("bytes=0-1,4-5", 200, "0123456789", None),
        ("bytes=5-2", 200, "0123456789", None),
        ("bytes=a-b", 200, "0123456789", None),
        ("bytes=-", 200, "0123456789", None),
        ("bytes=--3", 200, "0123456789", None),
        ("bytes=+1-3", 200, "0123456789", None),
        ("lines=0-3", 200, "0123456789", None),
        ("", 200, "0123456789", None),
    ] {
        let answer = world.raw("GET", path, &[("range", range)]).await;
        assert_eq!((answer.status, answer.text().as_str()), (status, body), "{range}");
        let given = answer.headers.get("content-range").map(String::as_str);
        assert_eq!(given, content_range, "{range}");
        assert_eq!(answer.header("content-length"), body.len().to_string());
        assert_eq!(answer.header("accept-ranges"), "bytes");
    }
    for range in ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=18446744073709551615-"] {
        let answer = world.raw("GET", path, &[("range", range)]).await;
        assert_eq!((answer.status, answer.header("content-range")), (416, "bytes */10"), "{range}");
        assert_eq!(answer.error()["code"], "range_not_satisfiable");
    }
}

#[tokio::test]
async fn a_client_that_has_an_artifact_is_not_sent_it_again() {
    let world = start("").await;
    let path = written(&world, "a.txt", "text").await["path"].as_str().unwrap().to_owned();
    let etag = world.get(&path).await.header("etag").to_owned();
    let weak = format!("W/{etag}");
    let among = format!("\"other\", {etag}");
    for (tags, status) in
        [(&*etag, 304), (&*weak, 304), (&*among, 304), ("*", 304), ("\"other\"", 200)]
    {
        let answer = world.raw("GET", &path, &[("if-none-match", tags)]).await;
        assert_eq!((answer.status, answer.header("etag")), (status, &*etag), "{tags}");
        assert_eq!(answer.body.is_empty(), status == 304);
        assert!(!answer.header("x-request-id").is_empty());
    }
    let head = world.raw("HEAD", &path, &[]).await;
    assert_eq!((head.status, head.header("content-length")), (200, "4"));
    for name in
        ["etag", "content-type", "content-disposition", "x-content-type-options", "accept-ranges"]
    {
        assert_eq!(head.header(name), world.get(&path).await.header(name));
    }
}

#[tokio::test]
async fn an_empty_file_is_an_artifact_too() {
    let world = start("").await;
    let artifact = written(&world, "empty.txt", "").await;
    let path = artifact["path"].as_str().unwrap();
    assert_eq!(artifact["bytes"], 0);
    let answer = world.get(path).await;
    assert_eq!(
        (answer.status, answer.header("content-length"), answer.text().as_str()),
        (200, "0", "")
    );
    for range in ["bytes=0-", "bytes=-1", "bytes=0-0"] {
        let answer = world.raw("GET", path, &[("range", range)]).await;
        assert_eq!((answer.status, answer.header("content-range")), (416, "bytes */0"), "{range}");
    }
}

#[tokio::test]
async fn only_what_a_job_lists_can_be_reached_through_it() {
    let world = start("").await;
    let mine = written(&world, "mine.txt", "mine").await["path"].as_str().unwrap().to_owned();
    let theirs = written(&world, "theirs.txt", "theirs").await["path"].as_str().unwrap().to_owned();
    let folder = mine.strip_suffix("/mine.txt").unwrap();
    let job = folder.strip_prefix("/v1/jobs/").unwrap().strip_suffix("/artifacts").unwrap();
    let other = theirs.split('/').nth(3).unwrap();
    for name in [
        "theirs.txt",
        "MINE.TXT",
        "mine.txt%00",
        "..",
        ".",
        "%2e%2e",
        "%2E%2E%2F",
        "..%2f..%2ftoolgate.db",
        "%2e%2e%2f%2e%2e%2ftoolgate.db",
        "..%5c..%5ctoolgate.db",
        "..%252f..%252ftoolgate.db",
        "%2fetc%2fpasswd",
        "%FF",
        "",
        &format!("..%2f{other}%2ftheirs.txt"),
        &format!("../{other}/theirs.txt"),
        "../../../toolgate.db",
        &"x".repeat(5_000),
    ] {
        let answer = world.raw("GET", &format!("{folder}/{name}"), &[]).await;
        answer.fails(404, "not_found");
    }
    for id in
        ["job_9999", "..", "%2e%2e", "..%2f..", &job.to_lowercase(), "%FF", &format!("{job}%2f")]
    {
        for rest in ["", "/artifacts", "/artifacts/mine.txt", "/events"] {
            let answer = world.raw("GET", &format!("/v1/jobs/{id}{rest}"), &[]).await;
            answer.fails(404, "not_found");
        }
    }
}

#[tokio::test]
async fn a_simple_call_that_leaves_an_artifact_has_a_job() {
    let world = start("").await;
    let body = r#"{"args":{"text":"left behind"}}"#;
    let envelope = world.post("/v1/tools/write_text_artifact", body).await.envelope();
    let job = envelope["job_id"].as_str().unwrap();
    assert_eq!(envelope["result"], json!({ "filename": "note.txt", "bytes": 11 }));
    assert_eq!(
        envelope["artifacts"],
        json!([{
            "name": "note.txt",
            "path": format!("/v1/jobs/{job}/artifacts/note.txt"),
            "mime_type": "text/plain; charset=utf-8",
            "bytes": 11,
        }])
    );
    let path = envelope["artifacts"][0]["path"].as_str().unwrap();
    assert_eq!(world.get(path).await.text(), "left behind");
    assert_eq!(world.job(job).await["status"], "succeeded");
    // One that leaves nothing has none.
    let envelope = world.post("/v1/tools/hello", r#"{"args":{"name":"Ada"}}"#).await.envelope();
    assert!(envelope.get("job_id").is_none() && envelope.get("artifacts").is_none());
}

#[tokio::test]
async fn a_large_artifact_arrives_whole() {
    let script = "head -c 20000000 /dev/zero | tr '\\0' x > large.bin; echo '{\"answer\":1}'";
    let world = with_commands("", &[("large", script)]).await;
    let result = world.execute(&json!({ "tool": "large" })).await.tool_result();
    let path = result["artifacts"][0]["path"].as_str().unwrap();
    let answer = world.get(path).await;
    assert_eq!((answer.status, answer.body.len()), (200, 20_000_000));
    assert!(answer.body.iter().all(|byte| *byte == b'x'));
}

/// Writes artifacts of ten bytes until the settings let none but the newest stay.
async fn sweeps(settings: &str, stay: usize) {
    let world = start(settings).await;
    let mut paths = Vec::new();
    for number in 0..6 {
        let artifact = written(&world, "a.txt", &format!("number {number:03}")).await;
        paths.push(artifact["path"].as_str().unwrap().to_owned());
    }
    let folder = world.folder().join("data/artifacts");
    let left = eventually("only the newest are left", async || {
        let jobs = world.get("/v1/jobs").await.json()["jobs"].as_array().unwrap().clone();
        let folders = std::fs::read_dir(&folder).unwrap().count();
        (jobs.len() == stay && folders == stay).then_some(jobs)
    })
    .await;
    for (number, path) in paths.iter().enumerate() {
        let answer = world.get(path).await;
        if number < paths.len() - stay {
            answer.fails(404, "not_found");
        } else {
            assert_eq!((answer.status, answer.text()), (200, format!("number {number:03}")));
        }
    }
    for job in left {
        let id = job["id"].as_str().unwrap();
        assert!(folder.join(id).is_dir(), "{id}");
    }
    let removed: u64 = world.journal().iter().filter_map(|line| line["jobs"].as_u64()).sum();
    assert_eq!(removed, 6 - stay as u64);
}

#[tokio::test]
async fn old_jobs_go_when_there_are_too_many() {
    sweeps("retention: { max_jobs: 2, sweep_interval_s: 1 }", 2).await;
}

#[tokio::test]
async fn old_jobs_go_when_their_artifacts_take_too_much_room() {
    sweeps("retention: { max_artifact_bytes: 39, sweep_interval_s: 1 }", 3).await;
}
