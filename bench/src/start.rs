//! Servers to measure, and how long they take to be there.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::Instant,
};

use anyhow::Context;
use tempfile::TempDir;

use crate::{
    mcp::{
        Piped,
        bare::{self, Legacy, Streams},
    },
    proxy,
};

// What is measured here is the program as a person starts it.
#[allow(clippy::disallowed_types)]
pub type Command = std::process::Command;

/// A server that is stopped when it is dropped.
pub struct Server {
    child: Child,
    port: u16,
    _data: TempDir,
}

impl Server {
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its resident memory.
    pub fn resident_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let kilobytes: f64 = status
            .unwrap_or_default()
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse().ok())
            .unwrap_or(f64::NAN);
        kilobytes / 1_024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The floor, as a process of its own like the server that it is compared with.
pub fn floor() -> anyhow::Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("floor");
    spawn(command, tempfile::tempdir()?)
}

/// The floor of the local tools, with the files of a folder.
pub fn local_floor(folder: &Path) -> anyhow::Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("floor").arg(folder);
    spawn(command, tempfile::tempdir()?)
}

/// The floor of MCP over HTTP, with so many tools.
pub fn bare_rmcp(legacy: Legacy, tools: usize) -> anyhow::Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([bare::ARGUMENT, legacy.argument(), &tools.to_string()]);
    spawn(command, tempfile::tempdir()?)
}

/// The least that a relay does, in front of a server; with checks of what passes or without.
pub fn bare_proxy(upstream: u16, checks: bool) -> anyhow::Result<Server> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([proxy::ARGUMENT, &upstream.to_string()]);
    command.args(checks.then_some(proxy::CHECKS));
    spawn(command, tempfile::tempdir()?)
}

/// The floor of MCP on stdio.
pub fn bare_rmcp_on_stdio(streams: Streams) -> anyhow::Result<Piped> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args([bare::ARGUMENT, streams.argument()]);
    Piped::spawn(command, tempfile::tempdir()?)
}

/// `toolgate mcp`, on defaults.
pub fn toolgate_on_stdio() -> anyhow::Result<Piped> {
    let data = tempfile::tempdir()?;
    let mut command = Command::new(beside()?);
    command.args(["mcp", "--data-dir"]).arg(data.path());
    Piped::spawn(command, data)
}

/// The binary that was built beside this one, on defaults.
pub fn toolgate() -> anyhow::Result<Server> {
    let data = tempfile::tempdir()?;
    let binary = beside()?;
    let mut command = Command::new(&binary);
    command.args(["serve", "--listen", "127.0.0.1:0", "--data-dir"]).arg(data.path());
    command.current_dir(data.path());
    spawn(command, data).with_context(|| {
        format!("cannot start {}; run cargo build --release first", binary.display())
    })
}

/// The same with the settings that lie in a folder.
pub fn with_settings(folder: TempDir) -> anyhow::Result<Server> {
    let mut command = Command::new(beside()?);
    command.args(["serve", "--listen", "127.0.0.1:0"]).current_dir(folder.path());
    spawn(command, folder)
}

/// Gets a path on a connection of its own and tells how many bytes came.
pub fn get(port: u16, path: &str) -> anyhow::Result<usize> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    anyhow::ensure!(answer.starts_with(b"HTTP/1.1 200"), "not a success");
    Ok(answer.len())
}

fn beside() -> anyhow::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("toolgate"))
}

fn spawn(mut command: Command, data: TempDir) -> anyhow::Result<Server> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut line = String::new();
    let stdout = child.stdout.take().context("no stdout")?;
    BufReader::new(stdout).read_line(&mut line)?;
    let port = line
        .split("http://127.0.0.1:")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .with_context(|| format!("no port in `{line}`"))?;
    Ok(Server { child, port, _data: data })
}

/// From start to the first answered call, and memory when nothing happens.
pub fn report() -> anyhow::Result<()> {
    let mut times = Vec::new();
    let mut resident = 0.0;
    for _ in 0..5 {
        let begin = Instant::now();
        let server = toolgate()?;
        call(server.port())?;
        times.push(begin.elapsed());
        std::thread::sleep(std::time::Duration::from_millis(200));
        resident = server.resident_mb();
    }
    times.sort();
    println!("start to first answered call: {:?} (median of 5)", times[2]);
    println!("resident when idle: {resident:.1} MB");
    Ok(())
}

fn call(port: u16) -> anyhow::Result<()> {
    let body = r#"{"args":{"message":"hello"}}"#;
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    write!(
        stream,
        "POST /v1/tools/echo_json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    anyhow::ensure!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    Ok(())
}
