//! A gate with a few servers' tools that count their calls, and a model that replies as a test wants.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ask::{Ask, AskOutcome, AskRequest, AskSettings};
use contract::{Limits, codes};
use gate::{
    BoxFuture, Caller, Catalogue, Gate, GateParts, Journal, Provider, Recording, RequestId,
    RunningCall, SystemClock, Timestamp, Tool, ToolError, ToolOutput, WithheldTool,
};
use serde_json::{Map, Value, json};
use store::{Durability, LocalBlobs, Sqlite};
use tempfile::TempDir;
use testkit::{Act, Peer, PeerRequest};
use tokio_util::sync::CancellationToken;

/// The document that everybody asks about.
pub const POLICY: &str = "# Data Retention Policy\n- Retain logs for 30 days\n- Retain audit events for 180 days\n- Never log secrets\n";
pub const QUESTION: &str = "what does policy-002 say about log retention?";
pub const FETCH: &str = r#"{"type":"call_tool","server":"mcp-policy-kb","tool":"fetch_policy_entry","args":{"policy_id":"policy-002"}}"#;

/// The calls of tools, in order: the tool and its arguments.
pub type Calls = Arc<Mutex<Vec<(String, Value)>>>;

/// Makes a result of arguments; `"fail"` is a failure of the tool.
type MakeResult = Arc<dyn Fn(&Value) -> Value + Send + Sync>;

struct CountingProvider {
    name: String,
    calls: Calls,
    result: MakeResult,
    delay: Option<Duration>,
}

impl Provider for CountingProvider {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            self.calls.lock().unwrap().push((self.name.clone(), call.input.clone()));
            if let Some(time) = self.delay {
                tokio::select! {
                    () = tokio::time::sleep(time) => {}
                    () = call.stop.cancelled() => return Err(ToolError::new("upstream_error", "stopped")),
                }
            }
            let output = (self.result)(&call.input);
            if output == "fail" {
                return Err(ToolError::new("upstream_error", "the server says no"));
            }
            Ok(ToolOutput::new(output))
        })
    }
}

/// The contract of a tool of a server: its name, effects, arguments and results.
fn contract(path: &str, effects: &str, input: &Value, output: &Value) -> Value {
    let (server, name) = path.split_once('.').unwrap();
    json!({
        "name": format!("{server}__{name}"),
        "description": format!("{} something of {server}.", name.replace('_', " ")),
        "version": "1",
        "stability": "stable",
        "toolset": server,
        "effects": effects,
        "input_schema": input,
        "output_schema": output,
        "errors": [{ "code": "upstream_error", "http_status": 502, "description": "It failed." }],
    })
}

fn tool(contract: Value, calls: &Calls, result: MakeResult, delay: Option<Duration>) -> Arc<Tool> {
    let name = contract["name"].as_str().unwrap().to_owned();
    let provider = CountingProvider { name, calls: calls.clone(), result, delay };
    let contract = serde_json::from_value(contract).unwrap();
    Arc::new(Tool::new(contract, Arc::new(provider), &Limits::default()).unwrap())
}

/// A tool that nobody calls.
pub fn uncalled(path: &str, input: &Value) -> Arc<Tool> {
    let contract = contract(path, "read", input, &json!({ "type": "object" }));
    tool(contract, &Calls::default(), Arc::new(Value::clone), None)
}

/// A tool that is known and not served, by the name that it would be served under.
pub fn withheld(path: &str) -> (String, WithheldTool) {
    let (server, name) = path.split_once('.').unwrap();
    let withheld = WithheldTool {
        toolset: server.into(),
        code: codes::NOT_ALLOWED,
        message: format!("Tool not allowed: {path}"),
        reason: "not_allowed",
    };
    (format!("{server}__{name}"), withheld)
}

/// An object of texts.
fn texts(names: &[&str]) -> Value {
    let properties: Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false })
}

/// The parts of a fixture.
pub struct Setup {
    pub model: Peer,
    pub settings: AskSettings,
    pub llm: llm::LlmSettings,
    /// Of `mcp-policy-kb.fetch_policy_entry`: its results, its own description, how long it takes, and whether its id
    /// and its text are secrets.
    pub result: MakeResult,
    pub description: Option<String>,
    pub delay: Option<Duration>,
    pub is_secret: bool,
    /// The callers that share what there is.
    pub callers: Vec<Arc<str>>,
}

impl Setup {
    /// With a model that answers each request by this script.
    pub async fn scripted(
        script: impl Fn(&PeerRequest) -> Vec<Act> + Send + Sync + 'static,
    ) -> Self {
        let model = Peer::start(script).await;
        let llm = llm::LlmSettings {
            base_url: Some(model.url("/v1")),
            model: Some("small".into()),
            stall_timeout_ms: 700,
            ..llm::LlmSettings::default()
        };
        Self {
            model,
            settings: AskSettings::default(),
            llm,
            result: Arc::new(|input| json!({ "policy_id": input["policy_id"], "content": POLICY })),
            description: None,
            delay: None,
            is_secret: false,
            callers: Vec::new(),
        }
    }

    /// With a model that replies these one after the other, and the last again and again.
    pub async fn replying(texts: &[&str]) -> Self {
        Self::scripted(in_turn(texts)).await
    }

    /// The same, where the tool returns this text.
    pub fn with_content(mut self, content: impl Into<String>) -> Self {
        let result = json!({ "policy_id": "policy-002", "content": content.into() });
        self.result = Arc::new(move |_| result.clone());
        self
    }

    fn catalogue(&self, calls: &Calls) -> Catalogue {
        let search = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "minLength": 1 },
                "top_k": { "type": "integer", "minimum": 1, "maximum": 50, "default": 5 },
            },
            "required": ["query"],
            "additionalProperties": false,
        });
        let (mut wanted, mut fetched) = (texts(&["policy_id"]), texts(&["policy_id", "content"]));
        if self.is_secret {
            wanted["properties"]["policy_id"]["x-secret"] = json!(true);
            fetched["properties"]["policy_id"]["x-secret"] = json!(true);
            fetched["properties"]["content"]["x-secret"] = json!(true);
        }
        let mut policy = contract("mcp-policy-kb.fetch_policy_entry", "read", &wanted, &fetched);
        if let Some(description) = &self.description {
            policy["description"] = json!(description);
        }
        let (any, doc) = (json!({ "type": "object" }), texts(&["doc_id"]));
        let echo: MakeResult = Arc::new(Value::clone);
        let tools = [
            (policy, &self.result),
            (contract("mcp-policy-kb.search_policy_kb", "read", &search, &any), &echo),
            (contract("mcp-sharepoint.fetch_sharepoint_doc", "read", &doc, &any), &echo),
            (contract("mcp-sharepoint.delete_sharepoint_doc", "write", &doc, &any), &echo),
            (contract("mcp-sharepoint.append_note", "append", &doc, &any), &echo),
        ];
        let tools =
            tools.map(|(contract, result)| tool(contract, calls, result.clone(), self.delay));
        let names = ["mcp-policy-kb.delete_policy_entry", "mcp-payroll.get_salary"];
        Catalogue::of(tools.to_vec(), HashMap::from(names.map(withheld)))
    }

    pub fn build(self) -> Fixture {
        let calls = Calls::default();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let gate = Arc::new(Gate::new(GateParts {
            catalogue: self.catalogue(&calls),
            store: Arc::new(Sqlite::open(&path.join("toolgate.db"), Durability::Process).unwrap()),
            blobs: Arc::new(
                LocalBlobs::open(path, &[path.join("work")], Durability::Process).unwrap(),
            ),
            journal: Journal::open(&path.join("journal.jsonl"), 1 << 30, 1).unwrap(),
            clock: Arc::new(SystemClock),
            max_concurrency: 64,
            settings: gate::GateSettings {
                callers: self.callers.clone(),
                ..gate::GateSettings::default()
            },
        }));
        let model = llm::Model::new(&self.llm).unwrap();
        let ask = Ask::new(gate.clone(), model, self.settings);
        Fixture { ask, gate, calls, model: self.model, folder }
    }
}

/// A gate, what answers questions through it, and its model.
pub struct Fixture {
    pub ask: Ask,
    pub gate: Arc<Gate>,
    pub calls: Calls,
    pub model: Peer,
    folder: TempDir,
}

impl Fixture {
    /// With a model that replies these one after the other, and the last again and again.
    pub async fn replying(texts: &[&str]) -> Self {
        Setup::replying(texts).await.build()
    }

    /// The response to a question as programs see it, and the outcome with its trace.
    pub async fn ask(&self, question: &str) -> (Value, AskOutcome) {
        self.run(request(question)).await
    }

    /// The same, where a summary is wanted.
    pub async fn summarize(&self, question: &str) -> (Value, AskOutcome) {
        self.run(AskRequest { summarize: Some(true), ..request(question) }).await
    }

    pub async fn run(&self, request: AskRequest) -> (Value, AskOutcome) {
        let outcome = self.ask.run(request, &()).await.unwrap();
        (serde_json::to_value(&outcome.response).unwrap(), outcome)
    }

    /// The number of calls that were made.
    pub fn call_count(&self) -> usize {
        self.calls.lock().unwrap().len()
    }

    /// A message of a request to the model: 0 is that of the system, 1 that of the user.
    pub fn message(&self, request: usize, number: usize) -> String {
        let messages = self.model.heard()[request].field("messages");
        messages[number]["content"].as_str().unwrap().to_owned()
    }

    pub fn journal(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("journal.jsonl")).unwrap()
    }
}

/// A script that replies these one after the other, and the last again and again.
pub fn in_turn(texts: &[&str]) -> impl Fn(&PeerRequest) -> Vec<Act> + Send + Sync + use<> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let next = AtomicUsize::new(0);
    move |_| {
        let number = next.fetch_add(1, Ordering::SeqCst).min(texts.len() - 1);
        vec![reply(&texts[number])]
    }
}

/// A whole reply of this text.
pub fn reply(text: &str) -> Act {
    Act::json(json!({
        "model": "small-v1",
        "choices": [{ "index": 0, "message": { "content": text }, "finish_reason": "stop" }],
    }))
}

pub fn request(question: &str) -> AskRequest {
    AskRequest {
        question: question.into(),
        tool: None,
        args: Map::new(),
        summarize: None,
        plan_only: false,
        caller: Caller::named("ada"),
        request_id: RequestId::new(Timestamp(1)),
        recording: Recording::WhenNeeded,
        stop: CancellationToken::new(),
    }
}

/// Asserts that a text of a response has this part.
#[track_caller]
pub fn has(response: &Value, field: &str, part: &str) {
    assert!(response[field].as_str().is_some_and(|text| text.contains(part)), "{part}: {response}");
}

/// The names of the events of a run.
pub fn events(outcome: &AskOutcome) -> Vec<&str> {
    outcome.trace.events.iter().map(|event| event.name.as_str()).collect()
}
