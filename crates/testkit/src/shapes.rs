//! The three shapes of an answer, each judged whole.

use serde_json::Value;

use crate::Answer;

/// The fields of a `ToolResult`, in their order.
const TOOL_RESULT: [&str; 9] = [
    "status",
    "solver",
    "summary",
    "stdout",
    "stderr",
    "exit_code",
    "artifacts",
    "metrics",
    "output",
];

impl Answer {
    /// The body, which must be a `ToolResult`.
    pub fn tool_result(&self) -> Value {
        let result = self.answered_json();
        let keys: Vec<_> = result.as_object().unwrap().keys().collect();
        assert_eq!(keys, TOOL_RESULT, "{result}");
        for text in ["solver", "summary", "stdout", "stderr"] {
            assert!(result[text].is_string(), "{text}: {result}");
        }
        assert!(result["artifacts"].is_array() && result["output"].is_object(), "{result}");
        let metrics = &result["metrics"];
        assert!(metrics["duration_ms"].is_number(), "{result}");
        if !self.headers.contains_key("idempotency-replayed") {
            assert_eq!(metrics["request_id"], self.header("x-request-id"), "{result}");
        }
        if self.status == 200 {
            assert_eq!((&result["status"], &result["exit_code"]), (&"ok".into(), &0.into()));
            assert!(metrics.get("error_code").is_none(), "{result}");
        } else {
            assert_eq!(result["status"], "error", "{result}");
            assert!(result["exit_code"].as_i64().is_some_and(|code| code != 0), "{result}");
            assert!(metrics["error_code"].is_string(), "{result}");
            assert!(result["stderr"] != "" && result["summary"] != "", "{result}");
        }
        result
    }

    /// The body, which must be the simple envelope.
    pub fn envelope(&self) -> Value {
        let body = self.answered_json();
        assert!(body["tool"].is_string(), "{body}");
        assert_eq!(body["ok"], self.status == 200, "{body}");
        let (present, absent) = if self.status == 200 {
            (["result"].as_slice(), ["error", "code"].as_slice())
        } else {
            (["error", "code"].as_slice(), ["result", "artifacts"].as_slice())
        };
        assert!(present.iter().all(|key| body.get(key).is_some()), "{body}");
        assert!(absent.iter().all(|key| body.get(key).is_none()), "{body}");
        body
    }

    /// The `error` of the body: an error outside a tool call.
    pub fn error(&self) -> Value {
        let body = self.answered_json();
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        let error = &body["error"];
        assert!(error["code"].is_string() && error["message"].is_string(), "{body}");
        error.clone()
    }

    /// The body of a success.
    #[track_caller]
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}: {}", self.request, self.text());
        self.json()
    }

    /// The body of a failure in the shape of its door, which must have this status and code.
    #[track_caller]
    pub fn fails(&self, status: u16, code: &str) -> Value {
        let body = self.answered_json();
        let shown = if body.get("metrics").is_some() {
            self.tool_result()["metrics"]["error_code"].clone()
        } else if body.get("tool").is_some() {
            self.envelope()["code"].clone()
        } else {
            self.error()["code"].clone()
        };
        let Self { request, status: got, .. } = self;
        assert!(
            *got == status && shown == code,
            "{request}: {got}, not {status} {code}: {body:.500}"
        );
        body
    }

    fn answered_json(&self) -> Value {
        assert!(!self.header("x-request-id").is_empty());
        assert_eq!(self.header("content-type"), "application/json", "{}", self.text());
        self.json()
    }
}
