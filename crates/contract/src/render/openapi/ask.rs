//! The route of questions.

use serde_json::{Map, Value, json};

use super::{
    operation::{Operation, Paths, json_response, schema, with_header},
    schemas::{closed, text, whole},
};

pub(super) fn paths(paths: &mut Paths) {
    let question = closed(
        "",
        &["question"],
        json!({
            "question": { "type": "string", "minLength": 1,
                "description": "In a person's words; `ask.max_question_bytes` bounds it." },
            "summarize": { "type": ["boolean", "null"], "description": "Whether the result is summarized; as the settings say where this is left out." },
            "plan_only": { "type": ["boolean", "null"], "description": "Whether to end with the plan." },
            "tool": { "type": ["string", "null"], "description": "The tool to call; then no planner is asked." },
            "args": { "type": ["object", "null"], "description": "The arguments of `tool`." },
            "trace": { "type": ["boolean", "null"], "description": "Whether the answer comes with its trace." },
        }),
    );
    let examples = json!({
        "question": { "summary": "A question", "value": { "question": "what does policy-002 say about log retention?", "summarize": true } },
        "tool": { "summary": "A tool of your choice", "value": { "question": "say hello", "tool": "hello", "args": { "name": "Ada" } } },
    });
    let answer = |words: &str| json_response(words, schema("AskAnswer"));
    let mut came = answer("What came of it. A refusal is an answer, too.");
    came["content"]["text/event-stream"] = json!({
        "schema": { "type": "string", "description": "Every event of the trace as it happens, and then `result` with the answer. For whoever accepts it." },
    });
    paths.add(
        "/v1/ask",
        "post",
        Operation::new("ask", "Ask", "Answers a question with at most one call of a tool")
            .description(
                "A language model chooses one call among the tools that have no effects. Its plan is \
                 checked against the catalogue, the tool's schema and the question; the call takes the usual path; \
                 a summary holds only what its quotes bear out.",
            )
            .body(question, examples.as_object().cloned().unwrap_or_else(Map::new))
            .response(200, came)
            .response(502, answer("The model failed."))
            .response(503, with_header(answer("There is no model, or it has too much to do."), "Retry-After"))
            .response(504, answer("The model or the run took too long."))
            .errors(&[400, 413, 429]),
    );
}

/// What comes of a question.
pub(super) fn answer() -> Value {
    let kind = |name: &str| json!({ "type": "string", "const": name });
    let plan = schema("AskPlan");
    let typed = json!({ "description": "The result, which matches the tool's output schema." });
    let raw = schema("ToolResult");
    let named = |mut properties: Value, required: &[&str]| {
        properties["trace_id"] = text("The name of the run's trace.");
        properties["trace_path"] =
            text("The name of the file that holds it, where traces are kept.");
        properties["trace"] = schema("AskTrace");
        let required: Vec<_> = required.iter().copied().chain(["type", "trace_id"]).collect();
        closed("", &required, properties)
    };
    let codes = [
        "policy",
        "no_tools",
        "planner_rejected",
        "plan_invalid",
        "tool_not_allowed",
        "approval_required",
        "call_refused",
        "no_model",
        "model_error",
        "model_busy",
        "timeout",
        "cancelled",
    ];
    let forms = [
        named(
            json!({
                "type": kind("blocked"),
                "reason": text("Why, for a person."),
                "code": { "type": "string", "enum": codes },
                "message": text("What else the person should know."),
                "plan": plan,
                "raw": text("What the model wrote, where it was no plan."),
                "approval_id": text("The approval that a person has yet to give."),
                "retry_after": { "type": "integer", "minimum": 0 },
            }),
            &["reason", "code"],
        ),
        named(
            json!({
                "type": kind("final_answer"),
                "answer": text("What the person has to say first."),
                "needs_more_info": { "const": true },
                "plan": plan,
            }),
            &["answer", "needs_more_info", "plan"],
        ),
        named(json!({ "type": kind("plan"), "plan": plan }), &["plan"]),
        named(
            json!({
                "type": kind("tool_result"),
                "plan": plan,
                "typed": typed,
                "note": text("Why there is no result, or no summary."),
                "raw": raw,
            }),
            &["plan", "raw"],
        ),
        named(
            json!({
                "type": kind("tool_result_with_summary"),
                "plan": plan,
                "typed": typed,
                "summary": schema("AskSummary"),
                "raw": raw,
            }),
            &["plan", "typed", "summary", "raw"],
        ),
    ];
    json!({ "description": "What came of a question.", "oneOf": forms })
}

/// What a model wanted to do.
pub(super) fn plan() -> Value {
    let call = whole(
        "",
        json!({
            "type": { "const": "call_tool" },
            "server": text("The toolset."),
            "tool": text("The tool, by the name that it has there."),
            "args": { "type": "object" },
        }),
    );
    let asks = whole(
        "",
        json!({
            "type": { "const": "final_answer" },
            "answer": text("What the person has to say first."),
            "needs_more_info": { "const": true },
        }),
    );
    json!({ "description": "One call, or a question back.", "oneOf": [call, asks] })
}

/// What a result says.
pub(super) fn summary() -> Value {
    let place = json!({ "type": "integer", "minimum": 0 });
    let location = whole(
        "Where the quote stands: characters of the string at that pointer of `typed`.",
        json!({ "pointer": text("A JSON pointer."), "start": place, "end": place }),
    );
    let bullet = whole(
        "",
        json!({
            "claim": text("What the result says."),
            "evidence": text("The quote that bears it out, letter for letter."),
            "location": location,
        }),
    );
    let list = |most: u32| json!({ "type": "array", "items": bullet, "maxItems": most });
    whole(
        "What a result says. Every claim was held against its quote.",
        json!({
            "type": { "const": "summary" },
            "bullets": list(5),
            "risks": list(3),
            "recommendations": list(3),
            "dropped": { "type": "integer", "minimum": 0, "description": "How many claims the result does not bear out." },
            "source_truncated": { "type": "boolean", "description": "Whether the model saw only the beginning of the result." },
        }),
    )
}

/// How a run went.
pub(super) fn trace() -> Value {
    let event = whole(
        "",
        json!({
            "ts_ms": { "type": "integer", "description": "When, in milliseconds since 1970." },
            "name": text("What happened."),
            "payload": { "description": "More about it, cut at `ask.max_payload_characters`, without secrets." },
        }),
    );
    whole(
        "How a run went, step by step.",
        json!({
            "trace_id": text("Its name."),
            "meta": { "type": "object" },
            "events": { "type": "array", "items": event },
            "final_output": {},
        }),
    )
}
