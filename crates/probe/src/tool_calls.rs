//! The calls of one tool, with arguments made from its input schema.

use contract::{ParameterHeader, Schema, parameter_headers};
use serde_json::Value;

use super::{
    Check, CheckSuite, ProbeFinding, ProbeOptions,
    arguments::ArgumentCases,
    call_result::{self, ResultKind},
    connection::{ProbeConnection, ProbeEnd, RequestAttempt, call},
    generate::GeneratedValue,
    listed_tool,
    report::shown_text,
    rules,
    server_checks::{INVALID_PARAMS, no_response},
};
use upstream::connection::{RequestError, RequestOptions};

/// The number of calls without a response after which a tool is not called any more.
const MAX_BREAKS: usize = 3;

/// The expected response of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expectation {
    /// The arguments are valid.
    Accepts,
    /// They are not.
    Refuses,
}

impl Expectation {
    fn word(self) -> &'static str {
        match self {
            Expectation::Accepts => "accepts",
            Expectation::Refuses => "refuses",
        }
    }
}

/// Calls a tool with all generated arguments, and adds a check for each. Returns the reason if the probe ends early.
pub(crate) async fn make(
    tool: &Value,
    suite: &mut CheckSuite,
    options: &ProbeOptions,
    server: &mut ProbeConnection<'_>,
) -> Option<ProbeEnd> {
    let name = listed_tool::name_of(tool)?;
    if let Some(reason) = listed_tool::not_called(tool).filter(|_| !options.effects) {
        suite.skip("calls", reason);
        return None;
    }
    let schema = tool.get("inputSchema")?;
    let Ok(input) = Schema::compile_foreign(schema) else {
        suite.skip("calls", "its input schema cannot be enforced");
        return None;
    };
    let cases = match ArgumentCases::of(schema, options.seed, options.cases, server.ended()).await {
        Ok(cases) => cases,
        Err(over) => {
            suite.skip("calls", &over.to_string());
            return Some(over);
        }
    };
    suite.checks.push(cases.check);
    let mut calls = Calls {
        name,
        // One that cannot be enforced is a finding already.
        output: listed_tool::output_schema(tool).and_then(|own| Schema::compile_foreign(own).ok()),
        parameter_headers: parameter_headers::declared(schema).unwrap_or_default(),
        server,
        breaks: 0,
        succeeded: 0,
    };
    let given = given(name, &input, options, suite);
    let valid = given.iter().chain(&cases.valid).map(|case| (Expectation::Accepts, case));
    let invalid = cases.invalid.iter().map(|case| (Expectation::Refuses, case));
    let mut over = None;
    for (purpose, case) in valid.chain(invalid) {
        let title = format!("{}: {}", purpose.word(), case.title);
        if over.is_some() {
            suite.skip(&title, "the probe ended early");
        } else if calls.breaks >= MAX_BREAKS {
            let reason = format!("skipped after {MAX_BREAKS} calls without a response");
            suite.skip(&title, &reason);
        } else {
            match calls.one(title.clone(), purpose, case).await {
                Ok(check) => suite.checks.push(check),
                Err(ended) => {
                    suite.skip(&title, &ended.to_string());
                    over = Some(ended);
                }
            }
        }
    }
    let tried = given.len() + cases.valid.len();
    if calls.output.is_some() && calls.succeeded == 0 && tried > 0 && over.is_none() {
        let message = format!("none of {tried} valid calls succeeded");
        let finding = ProbeFinding::new(&rules::OUTPUT_UNPROVEN, message);
        suite.checks.push(Check::of("the output schema is tested", vec![finding]));
    }
    over
}

/// The arguments of the operator that are valid.
fn given(
    name: &str,
    input: &Schema,
    options: &ProbeOptions,
    suite: &mut CheckSuite,
) -> Vec<GeneratedValue> {
    let all = options.arguments.get(name).into_iter().flatten().enumerate();
    let mut given = Vec::new();
    for (index, value) in all {
        let title = format!("given arguments, {}", index + 1);
        if input.is_valid(value) {
            given.push(GeneratedValue { title, value: value.clone() });
        } else {
            suite.skip(&title, "they do not match the input schema");
        }
    }
    given
}

struct Calls<'a, 's> {
    name: &'a str,
    output: Option<Schema>,
    parameter_headers: Vec<ParameterHeader>,
    server: &'a mut ProbeConnection<'s>,
    breaks: usize,
    succeeded: usize,
}

impl Calls<'_, '_> {
    async fn one(
        &mut self,
        title: String,
        purpose: Expectation,
        case: &GeneratedValue,
    ) -> Result<Check, ProbeEnd> {
        let params = call(self.name, &case.value);
        let headers = match &case.value {
            Value::Object(arguments) => {
                upstream::mirror_headers(&self.parameter_headers, arguments)
            }
            _ => Vec::new(),
        };
        let timeout = self.server.call_timeout();
        let options =
            RequestOptions { name: Some(self.name), headers, ..RequestOptions::new(timeout) };
        let attempt = self.server.request("tools/call", &params, options).await?;
        let findings = self.judge(purpose, &attempt);
        let shown = findings.into_iter().map(|one| one.shown_by(&case.value)).collect();
        Ok(Check { took: attempt.took, ..Check::of(title, shown) })
    }

    fn judge(&mut self, purpose: Expectation, attempt: &RequestAttempt) -> Vec<ProbeFinding> {
        let mut findings = Vec::new();
        if let Some(why) = &attempt.gone_before {
            self.breaks += 1;
            let message =
                format!("the connection was lost after the call before: {}", shown_text(why));
            findings.push(ProbeFinding::new(&rules::CALL_LOST, message));
        }
        if attempt.asked {
            findings.push(ProbeFinding::new(
                &rules::CALL_ASKS,
                "it sent an input request during the call",
            ));
        }
        let reply = match &attempt.ended {
            Ok(reply) => reply,
            Err(RequestError::Rpc(error)) => {
                let said = shown_text(&error.to_string());
                let rule = match purpose {
                    Expectation::Accepts if error.code == INVALID_PARAMS => &rules::VALID_REJECTED,
                    Expectation::Accepts => &rules::VALID_REFUSED,
                    Expectation::Refuses if error.code == INVALID_PARAMS => return findings,
                    Expectation::Refuses => &rules::REFUSAL_CODE,
                };
                findings.push(ProbeFinding::new(rule, said));
                return findings;
            }
            Err(error) => {
                self.breaks += 1;
                findings
                    .push(no_response(error, &format!("a call of `{}`", shown_text(self.name))));
                return findings;
            }
        };
        let answer = call_result::read(reply.json(), self.output.as_ref());
        match (answer.kind, purpose) {
            (ResultKind::Result, Expectation::Accepts) => self.succeeded += 1,
            (ResultKind::Error(said), Expectation::Accepts) => {
                findings
                    .push(ProbeFinding::new(&rules::VALID_REFUSED, format!("its error: `{said}`")));
            }
            (ResultKind::Result, Expectation::Refuses) => {
                let message = "the call returned a result";
                findings.push(ProbeFinding::new(&rules::INVALID_ACCEPTED, message));
            }
            (ResultKind::Asks, _) if !attempt.asked => {
                findings.push(ProbeFinding::new(&rules::CALL_ASKS, "it returned input requests"));
            }
            (ResultKind::Error(_), Expectation::Refuses)
            | (ResultKind::Asks | ResultKind::None, _) => {}
        }
        findings.extend(answer.findings);
        findings
    }
}
