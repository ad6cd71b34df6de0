//! The calls of one tool: what its schemas promise, tried.

use contract::{ParameterHeader, Schema, parameter_headers};
use serde_json::{Map, Value};

use super::{
    Check, Finding, Options, Suite,
    arguments::Cases,
    call_result::{self, Kind},
    connection::{Attempt, Over, Session, call},
    generate::Case,
    listed_tool,
    report::told,
    rules,
    server_checks::{INVALID_PARAMS, broken},
};
use upstream::connection::{RequestError, RequestOptions};

/// How often a tool may end the server or not answer before it is left alone.
const MAX_BREAKS: usize = 3;

/// What a call is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// It fits the schema.
    Accepts,
    /// It does not.
    Refuses,
}

impl Purpose {
    fn word(self) -> &'static str {
        match self {
            Purpose::Accepts => "accepts",
            Purpose::Refuses => "refuses",
        }
    }
}

/// Calls a tool in every way that its schemas give, and notes what came of it. Ends early where
/// nothing more can be asked.
pub(crate) async fn make(
    tool: &Value,
    suite: &mut Suite,
    options: &Options,
    session: &mut Session<'_>,
) -> Option<Over> {
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
    let cases = match Cases::of(schema, options.seed, options.cases, session.over()).await {
        Ok(cases) => cases,
        Err(over) => {
            suite.skip("calls", &over.to_string());
            return Some(over);
        }
    };
    suite.checks.push(cases.check);
    let mut calls = Calls {
        name,
        // One that cannot be enforced has been told.
        output: listed_tool::output_schema(tool).and_then(|own| Schema::compile_foreign(own).ok()),
        parameter_headers: parameter_headers::declared(schema).unwrap_or_default(),
        session,
        breaks: 0,
        succeeded: 0,
    };
    let given = given(name, &input, options, suite);
    let valid = given.iter().chain(&cases.valid).map(|case| (Purpose::Accepts, case));
    let invalid = cases.invalid.iter().map(|case| (Purpose::Refuses, case));
    let mut over = None;
    for (purpose, case) in valid.chain(invalid) {
        let title = format!("{}: {}", purpose.word(), case.title);
        if over.is_some() {
            suite.skip(&title, "the probe ended before");
        } else if calls.breaks >= MAX_BREAKS {
            let reason = format!("left alone after {MAX_BREAKS} calls that broke the connection");
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
        let finding = Finding::new(&rules::OUTPUT_UNPROVEN, message);
        suite.checks.push(Check::of("the output schema was tried", vec![finding]));
    }
    over
}

/// The arguments that the operator gives, as far as they fit.
fn given(name: &str, input: &Schema, options: &Options, suite: &mut Suite) -> Vec<Case> {
    let all = options.arguments.get(name).into_iter().flatten().enumerate();
    let mut given = Vec::new();
    for (index, value) in all {
        let title = format!("arguments that were given, {}", index + 1);
        if input.is_valid(value) {
            given.push(Case { title, value: value.clone() });
        } else {
            suite.skip(&title, "they do not fit the input schema");
        }
    }
    given
}

struct Calls<'a, 's> {
    name: &'a str,
    output: Option<Schema>,
    parameter_headers: Vec<ParameterHeader>,
    session: &'a mut Session<'s>,
    breaks: usize,
    succeeded: usize,
}

impl Calls<'_, '_> {
    async fn one(&mut self, title: String, purpose: Purpose, case: &Case) -> Result<Check, Over> {
        let params = call(self.name, &case.value);
        let headers = match &case.value {
            Value::Object(arguments) => self.headers(arguments),
            _ => Vec::new(),
        };
        let timeout = self.session.call_timeout();
        let options =
            RequestOptions { name: Some(self.name), headers, ..RequestOptions::new(timeout) };
        let attempt = self.session.request("tools/call", &params, options).await?;
        let findings = self.judge(purpose, &attempt);
        let shown = findings.into_iter().map(|one| one.shown_by(&case.value)).collect();
        Ok(Check { took: attempt.took, ..Check::of(title, shown) })
    }

    fn judge(&mut self, purpose: Purpose, attempt: &Attempt) -> Vec<Finding> {
        let mut findings = Vec::new();
        if let Some(why) = &attempt.gone_before {
            self.breaks += 1;
            let message =
                format!("it was gone before this call, after the one before: {}", told(why));
            findings.push(Finding::new(&rules::CALL_LOST, message));
        }
        if attempt.asked {
            findings.push(Finding::new(&rules::CALL_ASKS, "it asked during the call"));
        }
        let reply = match &attempt.ended {
            Ok(reply) => reply,
            Err(RequestError::Rpc(error)) => {
                let said = told(&error.to_string());
                let rule = match purpose {
                    Purpose::Accepts if error.code == INVALID_PARAMS => &rules::VALID_REJECTED,
                    Purpose::Accepts => &rules::VALID_REFUSED,
                    Purpose::Refuses if error.code == INVALID_PARAMS => return findings,
                    Purpose::Refuses => &rules::REFUSAL_CODE,
                };
                findings.push(Finding::new(rule, said));
                return findings;
            }
            Err(error) => {
                self.breaks += 1;
                findings.push(broken(error, &format!("a call of `{}`", told(self.name))));
                return findings;
            }
        };
        let answer = call_result::read(reply.json(), self.output.as_ref());
        match (answer.kind, purpose) {
            (Kind::Result, Purpose::Accepts) => self.succeeded += 1,
            (Kind::Error(said), Purpose::Accepts) => {
                findings.push(Finding::new(&rules::VALID_REFUSED, format!("it said: `{said}`")));
            }
            (Kind::Result, Purpose::Refuses) => {
                let message = "the call was answered with a result";
                findings.push(Finding::new(&rules::INVALID_ACCEPTED, message));
            }
            (Kind::Asks, _) if !attempt.asked => {
                findings.push(Finding::new(&rules::CALL_ASKS, "it answered with a question"));
            }
            (Kind::Error(_), Purpose::Refuses) | (Kind::Asks | Kind::None, _) => {}
        }
        findings.extend(answer.findings);
        findings
    }

    /// Arguments that the server wants to see in the head as well.
    fn headers(&self, arguments: &Map<String, Value>) -> Vec<(String, String)> {
        let shown = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let mirrors = self.parameter_headers.iter();
        mirrors
            .filter_map(|mirror| Some((mirror.header.clone(), shown(mirror.value(arguments)?))))
            .collect()
    }
}
