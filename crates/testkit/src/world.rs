//! A folder, a settings file, and a server that runs on them.

use std::{
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;

use crate::{Answer, Arguments, CliOutput};

// The server is started as a person starts it, and killed as a machine kills it.
#[allow(clippy::disallowed_types)]
type Command = std::process::Command;

/// A server on a folder of its own.
pub struct World {
    binary: PathBuf,
    folder: TempDir,
    child: Option<Child>,
    port: u16,
    /// `http` or `https`.
    scheme: String,
    stderr: Arc<Mutex<String>>,
    /// The stderr of a server whose log nobody reads.
    unread_stderr: Option<ChildStderr>,
    reads_stderr: bool,
    environment: Vec<(String, String)>,
    /// A client that keeps its connections.
    pub client: reqwest::Client,
}

impl World {
    /// A folder with these settings, and no server yet.
    pub fn new(binary: impl AsRef<Path>, settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("toolgate.yaml"), settings).unwrap();
        Self {
            binary: binary.as_ref().to_owned(),
            folder,
            child: None,
            port: 0,
            scheme: String::new(),
            stderr: Arc::default(),
            unread_stderr: None,
            reads_stderr: true,
            environment: Vec::new(),
            // A connection that the server is about to close for being idle is not used again.
            client: reqwest::Client::builder()
                .no_proxy()
                .pool_idle_timeout(Duration::from_millis(500))
                .build()
                .unwrap(),
        }
    }

    /// A copy of a folder with its settings, and no server yet.
    pub fn copy_of(binary: impl AsRef<Path>, folder: &Path) -> Self {
        let world = Self::new(binary, "");
        std::fs::remove_file(world.folder().join("toolgate.yaml")).unwrap();
        copy(folder, world.folder());
        world
    }

    /// A server with these settings.
    pub async fn start(binary: impl AsRef<Path>, settings: &str) -> Self {
        Self::new(binary, settings).started().await
    }

    /// The same with its server running.
    pub async fn started(mut self) -> Self {
        self.run().await;
        self
    }

    /// Sets a variable of the server's environment.
    #[must_use]
    pub fn with_env(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Leaves the server's log unread: its pipe fills up.
    #[must_use]
    pub fn with_unread_log(mut self) -> Self {
        self.reads_stderr = false;
        self
    }

    /// Writes a file into the folder.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// The text of a file in the folder.
    #[track_caller]
    pub fn read(&self, path: &str) -> String {
        let file = self.folder.path().join(path);
        std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// True if the folder has this file or folder.
    pub fn has(&self, path: &str) -> bool {
        self.folder.path().join(path).exists()
    }

    /// Writes a program into the folder.
    pub fn write_program(&self, path: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        self.write(path, text);
        let path = self.folder.path().join(path);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The additions to the environment.
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// The program under test.
    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Starts the server (again) and waits until it says where it listens.
    pub async fn run(&mut self) {
        self.run_with(&["serve", "--listen", "127.0.0.1:0"]).await;
    }

    /// The same with these arguments. It listens on every address or on a loopback one.
    pub async fn run_with(&mut self, arguments: &[&str]) {
        let mut child =
            self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let mut stderr = child.stderr.take().unwrap();
        if self.reads_stderr {
            let kept = self.stderr.clone();
            std::thread::spawn(move || {
                let mut bytes = [0; 4_096];
                while let Ok(read @ 1..) = stderr.read(&mut bytes) {
                    kept.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..read]));
                }
            });
        } else {
            self.unread_stderr = Some(stderr);
        }
        let line = tokio::task::spawn_blocking(move || {
            let mut line = String::new();
            BufReader::new(stdout).read_line(&mut line).unwrap();
            line
        });
        let line = tokio::time::timeout(Duration::from_mins(1), line).await.unwrap().unwrap();
        let address = line.split_whitespace().find_map(|word| {
            let (scheme, address) = word.split_once("://")?;
            Some((scheme.to_owned(), address.rsplit(':').next()?.parse().ok()?))
        });
        (self.scheme, self.port) =
            address.unwrap_or_else(|| panic!("no port in `{line}`: {}", self.stderr()));
        self.child = Some(child);
    }

    /// A command line of the binary in the folder, with nothing of our environment that
    /// could change what it does.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(arguments).current_dir(self.folder.path());
        without_settings(&mut command);
        if matches!(arguments.first(), Some(&("serve" | "mcp"))) {
            // On a busy machine upstreams take longer than anybody would wait for them.
            command.env("TOOLGATE_SERVER__START_WAIT_MS", "60000");
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command line to its end.
    pub fn cli(&self, arguments: impl Arguments) -> CliOutput {
        CliOutput::of(&mut self.command(&arguments.list()))
    }

    /// The server's stderr.
    pub fn stderr(&self) -> String {
        self.stderr.lock().unwrap().clone()
    }

    /// The port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The process of the server.
    pub fn pid(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("{}://127.0.0.1:{}{path}", self.scheme, self.port)
    }

    /// Kills the server at once.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Asks the server to stop, and waits until it has; its exit code.
    pub async fn stop(&mut self) -> i32 {
        let mut child = self.child.take().unwrap();
        assert!(crate::signal(child.id(), "-TERM"));
        tokio::task::spawn_blocking(move || child.wait().unwrap().code().unwrap_or(-1))
            .await
            .unwrap()
    }

    /// A request with headers and a body.
    pub async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Vec<u8>>,
    ) -> Answer {
        let shown = format!("{method} {path}");
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let mut request = self.client.request(method, self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        Answer::read(shown, request.send().await.unwrap()).await
    }

    /// `GET`.
    pub async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None).await
    }

    /// `DELETE`.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], None).await
    }

    /// `POST` of a JSON text or value.
    pub async fn post(&self, path: &str, body: impl std::fmt::Display) -> Answer {
        let headers = [("content-type", "application/json")];
        self.send("POST", path, &headers, Some(body.to_string().into_bytes())).await
    }

    /// `POST /v1/tools/TOOL` with these arguments.
    pub async fn call(&self, tool: &str, args: &Value) -> Answer {
        self.post(&format!("/v1/tools/{tool}"), serde_json::json!({ "args": args })).await
    }

    /// `POST /v1/tools/execute`.
    pub async fn execute(&self, body: &Value) -> Answer {
        self.post("/v1/tools/execute", body).await
    }

    /// A request of the operator, whose token the server has written down.
    pub async fn as_operator(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let token = self.operator_token();
        let body = body.map(|body| body.to_string().into_bytes());
        self.send(method, path, &[("authorization", &token)], body).await
    }

    /// The `Authorization` header of the operator.
    pub fn operator_token(&self) -> String {
        format!("Bearer {}", self.read("data/operator.token").trim())
    }

    /// Submits a job; its id.
    pub async fn submit(&self, body: &Value) -> String {
        let answer = self.post("/v1/jobs", body).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        answer.json()["job_id"].as_str().unwrap().to_owned()
    }

    /// A job as REST shows it.
    pub async fn job(&self, id: &str) -> Value {
        self.get(&format!("/v1/jobs/{id}")).await.json()
    }

    /// Waits until a job has this status.
    pub async fn until_job_is(&self, id: &str, status: &str) -> Value {
        crate::eventually(&format!("{id} is {status}"), async || {
            Some(self.job(id).await).filter(|job| job["status"] == status)
        })
        .await
    }

    /// The lines of the journal.
    pub fn journal(&self) -> Vec<Value> {
        let text = self.read("data/journal.jsonl");
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            #[allow(clippy::print_stderr)] // Shown only where a test fails.
            {
                let settings = std::fs::read_to_string(self.folder.path().join("toolgate.yaml"));
                eprintln!("settings:\n{}", settings.unwrap_or_default());
                eprintln!("the server said:\n{}", self.stderr());
            }
        }
    }
}

/// Takes away what of our environment would be settings to the binary.
pub(crate) fn without_settings(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if name.to_str().is_some_and(|name| name.starts_with("TOOLGATE_")) {
            command.env_remove(name);
        }
    }
}

/// Copies what is in a folder, with what may be executed.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
