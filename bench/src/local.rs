//! The tools of this machine, each against the least that does the same work.
//!
//! A file of 1 MiB and the hardware are answered by a bare axum handler in one process and by the
//! tool in another. Packages are read from a list of 1,500.

use std::{
    fmt::Write as _,
    time::{Duration, Instant},
};

use machine::{MachineEnvironment, Selection};

use crate::{floor, load, start, table};

const FILE: &str = "notes.txt";
const FILE_BYTES: usize = 1_048_576;
const CONNECTIONS: [usize; 2] = [1, 16];
const WRITERS: usize = 16;
const PACKAGES: usize = 1_500;
const LINE: &str =
    r#"{"timestamp":"2026-01-09T12:00:00Z","type":"task_complete","task":"Example task"}"#;

/// All of it.
pub async fn report(round: Duration) -> anyhow::Result<()> {
    doors(round).await?;
    packages()
}

async fn doors(round: Duration) -> anyhow::Result<()> {
    let files = tempfile::tempdir()?;
    let line = "A line of text as notes have them, with \"quotes\" now and then.\n";
    let text: String = line.chars().cycle().take(FILE_BYTES).collect();
    std::fs::write(files.path().join(FILE), text)?;
    let settings = tempfile::tempdir()?;
    let root = files.path().display();
    let more = "policy: { approval: [ { tool: write_memory_entry, require: never } ] }\n";
    let memory = "memory: { dir: ./memory, max_entries_per_hour: 4000000000 }";
    let yaml = format!("tools: {{ file_io: {{ root: {root} }}, {memory} }}\n{more}");
    std::fs::write(settings.path().join("toolgate.yaml"), yaml)?;
    let (floor, toolgate) = (start::local_floor(files.path())?, start::with_settings(settings)?);
    let read = format!(r#"{{"path":"{FILE}"}}"#);
    let call = |tool: &str, args: &str| {
        let body = format!(r#"{{"args":{args}}}"#);
        let path = format!("/v1/tools/{tool}");
        load::Target::new(&format!("POST {path}"), toolgate.port(), &path, &body)
    };
    let pairs = [
        (load::Target::new("bare axum, 1 MiB", floor.port(), floor::READ, &read), {
            call("read_file", &read)
        }),
        (load::Target::new("bare axum, hardware", floor.port(), floor::HARDWARE, "{}"), {
            call("list_hardware", "{}")
        }),
    ];
    println!("\n{}", table::header("floor"));
    for (bare, tool) in pairs {
        for connections in CONNECTIONS {
            let targets = [bare.clone(), tool.clone()];
            table::print(connections, &load::rounds(&targets, connections, round).await?);
        }
    }
    let entry = format!(r#"{{"file":"decisions.jsonl","entry":{LINE}}}"#);
    let rows = load::rounds(&[call("write_memory_entry", &entry)], WRITERS, round).await?;
    table::print(WRITERS, &rows);
    Ok(())
}

fn packages() -> anyhow::Result<()> {
    let root = tempfile::tempdir()?;
    let folder = root.path().join("var/lib/dpkg");
    std::fs::create_dir_all(&folder)?;
    let mut status = String::new();
    for number in 0..PACKAGES {
        write!(
            status,
            "Package: library-{number}\nStatus: install ok installed\nPriority: optional\n\
             Section: libs\nInstalled-Size: 1234\nMaintainer: Somebody <somebody@example.org>\n\
             Architecture: amd64\nVersion: 1.{number}.0-2\nDepends: libc6 (>= 2.36), library-1\n\
             Description: the library of number {number}\n{}\n",
            " A longer text, as real packages have it, over a few lines.\n".repeat(10)
        )?;
    }
    std::fs::write(folder.join("status"), &status)?;
    let places = MachineEnvironment::under(root.path());
    let mut times = Vec::new();
    for _ in 0..20 {
        let began = Instant::now();
        let found = machine::software(&places, &Selection::all()).packages.len();
        anyhow::ensure!(found == PACKAGES, "{found} packages were found");
        times.push(began.elapsed().as_secs_f64() * 1_000.0);
    }
    let megabytes = f64::from(u32::try_from(status.len())?) / 1e6;
    println!(
        "\nlist_software of {PACKAGES} dpkg packages ({megabytes:.1} MB): {:.1} ms",
        middle(times)
    );
    Ok(())
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
