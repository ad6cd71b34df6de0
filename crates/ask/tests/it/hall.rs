//! A gate with a few servers' tools that count their calls, and a model that says what a test wants.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use ask::{Ask, AskOutcome, AskRejection, AskRequest, AskSettings};
use contract::{Contract, Limits, codes};
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

/// What tools were called with, in order.
#[derive(Clone, Default)]
pub struct Calls(Arc<Mutex<Vec<(String, Value)>>>);

impl Calls {
    pub fn all(&self) -> Vec<(String, Value)> {
        self.0.lock().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

type Says = Arc<dyn Fn(&Value) -> Value + Send + Sync>;

struct Counting {
    name: String,
    calls: Calls,
    says: Says,
    slow: Option<Duration>,
}

impl Provider for Counting {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            self.calls.0.lock().unwrap().push((self.name.clone(), call.input.clone()));
            if let Some(time) = self.slow {
                tokio::select! {
                    () = tokio::time::sleep(time) => {}
                    () = call.stop.cancelled() => return Err(ToolError::new("upstream_error", "stopped")),
                }
            }
            let output = (self.says)(&call.input);
            if output == "fail" {
                return Err(ToolError::new("upstream_error", "the server says no"));
            }
            Ok(ToolOutput::new(output))
        })
    }
}

/// A tool of a server: its name, effects, arguments and results.
pub fn contract(
    server: &str,
    name: &str,
    effects: &str,
    input: &Value,
    output: &Value,
) -> Contract {
    let document = json!({
        "name": format!("{server}__{name}"),
        "description": format!("{} something of {server}.", name.replace('_', " ")),
        "version": "1",
        "stability": "stable",
        "toolset": server,
        "effects": effects,
        "input_schema": input,
        "output_schema": output,
        "errors": [{ "code": "upstream_error", "http_status": 502, "description": "It failed." }],
    });
    serde_json::from_value(document).unwrap()
}

/// An object of texts.
pub fn texts(names: &[&str]) -> Value {
    let properties: Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false })
}

/// A gate, and whoever answers questions through it.
pub struct Hall {
    pub ask: Ask,
    pub gate: Arc<Gate>,
    pub calls: Calls,
    folder: TempDir,
}

/// What a hall is made of.
pub struct Plan {
    pub settings: AskSettings,
    pub llm: llm::LlmSettings,
    /// What `mcp-policy-kb.fetch_policy_entry` answers.
    pub says: Says,
    /// What it describes itself as.
    pub description: Option<String>,
    /// How long it takes.
    pub slow: Option<Duration>,
    /// Whether its id and its text are secrets.
    pub secret: bool,
}

impl Plan {
    pub fn new(peer: &Peer) -> Self {
        let llm = llm::LlmSettings {
            base_url: Some(peer.url("/v1")),
            model: Some("small".into()),
            stall_timeout_ms: 700,
            ..llm::LlmSettings::default()
        };
        let says =
            Arc::new(|input: &Value| json!({ "policy_id": input["policy_id"], "content": POLICY }));
        Self {
            settings: AskSettings::default(),
            llm,
            says,
            description: None,
            slow: None,
            secret: false,
        }
    }

    pub fn build(self) -> Hall {
        let calls = Calls::default();
        let mut tools = Vec::new();
        let slow = self.slow;
        let mut add = |mut contract: Contract, says: Says, description: Option<String>| {
            if let Some(description) = description {
                contract.description = description;
            }
            let name = contract.name.clone();
            let provider = Arc::new(Counting { name, calls: calls.clone(), says, slow });
            tools.push(Arc::new(Tool::new(contract, provider, &Limits::default()).unwrap()));
        };
        let search = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "minLength": 1 },
                "top_k": { "type": "integer", "minimum": 1, "maximum": 50, "default": 5 },
            },
            "required": ["query"],
            "additionalProperties": false,
        });
        let echo: Says = Arc::new(Value::clone);
        let found = json!({ "type": "object" });
        let mut fetched = texts(&["policy_id", "content"]);
        let mut wanted = texts(&["policy_id"]);
        if self.secret {
            wanted["properties"]["policy_id"]["x-secret"] = json!(true);
            fetched["properties"]["policy_id"]["x-secret"] = json!(true);
            fetched["properties"]["content"]["x-secret"] = json!(true);
        }
        let policy = contract("mcp-policy-kb", "fetch_policy_entry", "read", &wanted, &fetched);
        add(policy, self.says, self.description);
        add(
            contract("mcp-policy-kb", "search_policy_kb", "read", &search, &found),
            echo.clone(),
            None,
        );
        let document = texts(&["doc_id", "content"]);
        let fetch: Says =
            Arc::new(|input| json!({ "doc_id": input["doc_id"], "content": "NOT_FOUND" }));
        add(
            contract(
                "mcp-sharepoint",
                "fetch_sharepoint_doc",
                "read",
                &texts(&["doc_id"]),
                &document,
            ),
            fetch,
            None,
        );
        let effects = json!({ "type": "object" });
        for name in ["delete_sharepoint_doc", "append_note"] {
            let effect = if name.starts_with("delete") { "write" } else { "append" };
            let delete = contract("mcp-sharepoint", name, effect, &texts(&["doc_id"]), &effects);
            add(delete, echo.clone(), None);
        }
        let withheld = |toolset: &str, tool: &str| {
            let withheld = WithheldTool {
                toolset: toolset.into(),
                code: codes::NOT_ALLOWED,
                message: format!("Tool not allowed: {toolset}.{tool}"),
                reason: "not_allowed",
            };
            (format!("{toolset}__{tool}"), withheld)
        };
        let withheld = [
            withheld("mcp-policy-kb", "delete_policy_entry"),
            withheld("mcp-payroll", "get_salary"),
        ];
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let gate = Arc::new(Gate::new(GateParts {
            catalogue: Catalogue::of(tools, withheld.into()),
            store: Arc::new(Sqlite::open(&path.join("toolgate.db"), Durability::Process).unwrap()),
            blobs: Arc::new(LocalBlobs::open(path, Durability::Process).unwrap()),
            journal: Journal::open(&path.join("journal.jsonl"), 1 << 30, 1).unwrap(),
            clock: Arc::new(SystemClock),
            max_concurrency: 64,
            ceilings: Limits::default_ceilings(),
            approvals: gate::approvals::ApprovalSettings::default(),
            quarantine: gate::quarantine::QuarantineSettings::default(),
        }));
        let model = llm::Model::new(&self.llm).unwrap();
        let ask = Ask::new(gate.clone(), model, self.settings).with_model_name(self.llm.model);
        Hall { ask, gate, calls, folder }
    }
}

impl Hall {
    /// With a model that answers each question by this script.
    pub async fn saying(
        script: impl Fn(&PeerRequest) -> Vec<Act> + Send + Sync + 'static,
    ) -> (Self, Peer) {
        let peer = Peer::start(script).await;
        (Plan::new(&peer).build(), peer)
    }

    /// With a model that says these one after the other, and the last again and again.
    pub async fn of(texts: &[&str]) -> (Self, Peer) {
        Self::saying(in_turn(texts)).await
    }

    pub async fn ask(&self, question: &str) -> AskOutcome {
        self.run(request(question)).await.unwrap()
    }

    pub async fn run(&self, request: AskRequest) -> Result<AskOutcome, AskRejection> {
        self.ask.run(request, &()).await
    }

    pub fn journal(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("journal.jsonl")).unwrap()
    }
}

/// A script that says these one after the other, and the last again and again.
pub fn in_turn(texts: &[&str]) -> impl Fn(&PeerRequest) -> Vec<Act> + Send + Sync + use<> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let next = AtomicUsize::new(0);
    move |_| {
        let number = next.fetch_add(1, Ordering::SeqCst).min(texts.len() - 1);
        vec![saying(&texts[number])]
    }
}

/// A whole answer that says this.
pub fn saying(text: &str) -> Act {
    Act::json(json!({
        "model": "small-v1",
        "choices": [{ "index": 0, "message": { "content": text }, "finish_reason": "stop" }],
    }))
}

/// A request that asks this.
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

/// The answer as programs see it.
pub fn told(outcome: &AskOutcome) -> Value {
    serde_json::to_value(&outcome.response).unwrap()
}

/// The names of what happened.
pub fn events(outcome: &AskOutcome) -> Vec<&str> {
    outcome.trace.events.iter().map(|event| event.name.as_str()).collect()
}

pub const QUESTION: &str = "what does policy-002 say about log retention?";
pub const FETCH: &str = r#"{"type":"call_tool","server":"mcp-policy-kb","tool":"fetch_policy_entry","args":{"policy_id":"policy-002"}}"#;
