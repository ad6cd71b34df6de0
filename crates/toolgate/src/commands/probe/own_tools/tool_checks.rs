//! The checks of one tool through every door.

use std::{path::Path, sync::Arc, time::Instant};

use anyhow::Context;
use contract::{Example, Schema, codes};
use gate::Provider;
use probe::{
    Check, CheckSuite, ProbeFinding, ProbeOptions,
    generate::{self, GenerateOptions, GeneratedValue},
    rules as common,
};
use serde_json::Value;

use super::{
    doors::{DOORS, DoorResponse},
    marks,
    open_doors::{OpenDoors, ProbedTool},
    rules,
};
use crate::{examples, settings::LoadedSettings};

/// One tool, with the doors and options of its checks.
pub struct ToolCheck<'a> {
    pub doors: &'a OpenDoors,
    pub tool: &'a ProbedTool,
    pub options: &'a ProbeOptions,
    pub loaded: &'a LoadedSettings,
    /// The folder for tools that run for real.
    pub folder: &'a Path,
}

/// Valid arguments, and the example that they belong to.
struct ValidInput<'a> {
    title: String,
    input: Value,
    example: Option<&'a Example>,
}

/// The responses of all doors, by the name of the door.
type DoorResponses = Vec<(&'static str, anyhow::Result<DoorResponse>)>;

/// Returns the reason if the probe ends early.
pub type EndsEarly<'a> = &'a (dyn Fn() -> Option<String> + Sync);

impl ToolCheck<'_> {
    /// Runs all checks; returns the reason if the probe ends early.
    pub async fn run(
        &self,
        ends_early: EndsEarly<'_>,
    ) -> anyhow::Result<(CheckSuite, Option<String>)> {
        let mut suite = CheckSuite::tool(&self.tool.contract.name);
        let valid = self.valid_inputs(&mut suite);
        let cut = self.run_checks(&mut suite, &valid, ends_early).await?;
        Ok((suite, cut))
    }

    async fn run_checks(
        &self,
        suite: &mut CheckSuite,
        valid: &[ValidInput<'_>],
        ends_early: EndsEarly<'_>,
    ) -> anyhow::Result<Option<String>> {
        let contract = &self.tool.contract;
        match self.not_run() {
            Some(reason) => suite.skip("valid calls", reason),
            None => {
                for (index, given) in valid.iter().enumerate() {
                    if let Some(why) = ends_early() {
                        return Ok(Some(why));
                    }
                    suite.checks.push(self.accepts(given, index).await?);
                }
            }
        }
        let invalid = generate::invalid(&contract.input_schema, self.generate_options(true))
            .with_context(|| format!("the input schema of `{}`", contract.name))?;
        // Must not run.
        self.tool.provider.set_output(Value::Null);
        for case in invalid.cases {
            if let Some(why) = ends_early() {
                return Ok(Some(why));
            }
            suite.checks.push(self.refuses(&case).await);
        }
        let Some(any) = valid.first() else { return Ok(None) };
        let in_schema = || format!("the output schema of `{}`", contract.name);
        let schema = Schema::compile(&contract.output_schema).with_context(in_schema)?;
        let one = GenerateOptions { most: 1, ..self.generate_options(false) };
        let good = generate::valid(&contract.output_schema, one).with_context(in_schema)?;
        // One is enough: it shows that the marks would be seen in the others.
        for case in good.cases.iter().take(1) {
            suite.checks.push(self.returns(&any.input, case, &schema, true).await);
        }
        let bad = generate::invalid(&contract.output_schema, self.generate_options(false))
            .with_context(in_schema)?;
        for case in bad.cases {
            if let Some(why) = ends_early() {
                return Ok(Some(why));
            }
            suite.checks.push(self.returns(&any.input, &case, &schema, false).await);
        }
        Ok(None)
    }

    /// The options of the generation; arguments are objects.
    fn generate_options(&self, objects: bool) -> GenerateOptions<'static> {
        let most = self.options.cases;
        GenerateOptions { most, objects, ..GenerateOptions::all(self.options.seed) }
    }

    /// The reason why the tool is not run for real.
    fn not_run(&self) -> Option<&'static str> {
        if self.options.effects {
            return None;
        }
        if self.tool.contract.effects.changes_the_world() {
            return Some("it has effects; --effects runs it in a folder of its own");
        }
        let asks = self.tool.command.is_some() && self.tool.needs_approval;
        asks.then_some("it needs an approval; --effects runs it")
    }

    /// Valid arguments: those of the examples, and generated ones.
    fn valid_inputs(&self, suite: &mut CheckSuite) -> Vec<ValidInput<'_>> {
        let contract = &self.tool.contract;
        let good = |example: &&Example| example.error.is_none() && example.bad_output.is_none();
        let examples: Vec<&Example> = contract.examples.iter().filter(good).collect();
        let mut all: Vec<ValidInput<'_>> = examples
            .iter()
            .map(|example| ValidInput {
                title: format!("example: {}", example.title),
                input: Value::Object(example.input.clone()),
                example: Some(example),
            })
            .collect();
        let options = self.generate_options(true);
        let generated = generate::valid(&contract.input_schema, options).unwrap_or_default();
        all.extend(generated.cases.into_iter().map(|case| ValidInput {
            title: format!("accepts: {}", case.title),
            input: case.value,
            example: examples.first().copied(),
        }));
        if all.is_empty() {
            let message = format!("no valid arguments: {}", generated.not_generated.join("; "));
            let finding = ProbeFinding::new(&common::NO_VALUES, message);
            suite.checks.push(Check::of("arguments can be generated", vec![finding]));
        }
        all
    }

    /// A valid call has the same code through every door, one that the contract declares.
    async fn accepts(&self, given: &ValidInput<'_>, index: usize) -> anyhow::Result<Check> {
        let began = Instant::now();
        let has_effects = self.tool.contract.effects.changes_the_world();
        let mut responses = DoorResponses::new();
        for (turn, door) in DOORS.into_iter().enumerate() {
            // A tool with effects gets a fresh folder for each door.
            if turn == 0 || has_effects {
                let folder = format!("{index}-{turn}");
                self.tool.provider.set(self.real_provider(given.example, &folder)?);
            }
            responses.push((door.name(), door.call(self.doors, self.tool, &given.input).await));
        }
        let mut findings = differences(&responses);
        if let Some((_, Ok(first))) = responses.first() {
            findings.extend(self.undeclared(&first.code));
        }
        Ok(check(given.title.clone(), began, findings, &given.input))
    }

    /// An invalid call is refused by every door, with the contract's code.
    async fn refuses(&self, case: &GeneratedValue) -> Check {
        let began = Instant::now();
        let contract = &self.tool.contract;
        let responses = self.call_all(&case.value).await;
        let mut findings = differences(&responses);
        if findings.is_empty()
            && let Some((_, Ok(response))) = responses.first()
            && !contract.is_input_error(&response.code)
        {
            let expected = contract.input_error().0;
            let message = format!("the code is `{}` in place of `{expected}`", response.code);
            findings.push(ProbeFinding::new(&rules::REFUSED_OTHERWISE, message));
        }
        check(format!("refuses: {}", case.title), began, findings, &case.value)
    }

    /// The tool returns this output. A valid one passes every door with its marks; an invalid one is stopped, and no
    /// door shows any part of it.
    async fn returns(
        &self,
        input: &Value,
        case: &GeneratedValue,
        schema: &Schema,
        is_valid: bool,
    ) -> Check {
        let began = Instant::now();
        let output = marks::marked(schema, &case.value);
        let has_marks = marks::shows(&output.to_string());
        self.tool.provider.set_output(output);
        let (verb, code, rule) = if is_valid {
            ("passes", "ok", &rules::OUTPUT_LOST)
        } else {
            ("stops", codes::INVALID_OUTPUT.code, &rules::OUTPUT_PASSED)
        };
        let mut findings = Vec::new();
        for (door, response) in self.call_all(input).await {
            let response = match response {
                Ok(response) => response,
                Err(error) => {
                    findings.push(door_broken(door, &error));
                    continue;
                }
            };
            let shows = marks::shows(&response.text);
            if response.code != code {
                let message = format!("{door}: the code is `{}`", response.code);
                findings.push(ProbeFinding::new(rule, message));
            } else if is_valid && has_marks && !shows {
                let message = format!("{door}: the output is not the same");
                findings.push(ProbeFinding::new(rule, message));
            }
            if !is_valid && shows {
                findings.push(ProbeFinding::new(&rules::PAYLOAD_SHOWN, door.to_owned()));
            }
        }
        check(format!("{verb}: {}", case.title), began, findings, input)
    }

    async fn call_all(&self, input: &Value) -> DoorResponses {
        let mut responses = Vec::new();
        for door in DOORS {
            responses.push((door.name(), door.call(self.doors, self.tool, input).await));
        }
        responses
    }

    /// A finding if the contract does not declare the code.
    fn undeclared(&self, code: &str) -> Option<ProbeFinding> {
        let contract = &self.tool.contract;
        let ours = [codes::INTERNAL.code, codes::TIMEOUT.code, codes::UNAVAILABLE.code];
        let rule = if code == codes::INVALID_OUTPUT.code {
            &rules::OUTPUT_BROKEN
        } else if contract.is_input_error(code) {
            &common::VALID_REJECTED
        } else if ours.contains(&code) && contract.declared(code).is_none() {
            &rules::TOOL_BROKEN
        } else {
            return None;
        };
        Some(ProbeFinding::new(rule, format!("the code is `{code}`")))
    }

    /// The real provider, with the files of an example.
    fn real_provider(
        &self,
        example: Option<&Example>,
        folder: &str,
    ) -> anyhow::Result<Arc<dyn Provider>> {
        if let Some(command) = &self.tool.command {
            return Ok(command.clone());
        }
        let name = &self.tool.contract.name;
        examples::built_in(name, example, self.loaded, &self.folder.join(name).join(folder))
    }
}

/// The result of a check that made calls with these arguments.
fn check(title: String, began: Instant, findings: Vec<ProbeFinding>, input: &Value) -> Check {
    let findings = findings.into_iter().map(|one| one.shown_by(input)).collect();
    Check { took: began.elapsed(), ..Check::of(title, findings) }
}

/// Differences between the doors.
fn differences(responses: &DoorResponses) -> Vec<ProbeFinding> {
    let mut findings = Vec::new();
    let mut first: Option<(&str, &str)> = None;
    for (door, response) in responses {
        match (response, first) {
            (Err(error), _) => findings.push(door_broken(door, error)),
            (Ok(response), None) => first = Some((door, &response.code)),
            (Ok(response), Some((other, code))) if response.code != code => {
                let message = format!("{other}: `{code}`, {door}: `{}`", response.code);
                findings.push(ProbeFinding::new(&rules::DOORS_DISAGREE, message));
            }
            (Ok(_), Some(_)) => {}
        }
    }
    findings
}

fn door_broken(door: &str, error: &anyhow::Error) -> ProbeFinding {
    ProbeFinding::new(&rules::DOOR_BROKEN, format!("{door}: {error:#}"))
}
