//! The checks of one tool through every door.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use anyhow::Context;
use contract::{Example, Schema, codes};
use gate::Provider;
use probe::{
    Check, CheckSuite, ProbeFinding, ProbeOptions,
    generate::{self, GenerateOptions},
    rules as common,
};
use serde_json::Value;

use super::{
    built_in,
    doors::{DOORS, DoorResponse},
    marks,
    open_doors::{OpenDoors, ProbedTool},
    rules,
};
use crate::settings::Loaded;

/// One tool, with the doors and options of its checks.
pub struct ToolCheck<'a> {
    pub doors: &'a OpenDoors,
    pub actor: &'a ProbedTool,
    pub options: &'a ProbeOptions,
    pub loaded: &'a Loaded,
    /// The folder for tools that run for real.
    pub folder: &'a Path,
}

/// Valid arguments, and the example that they belong to.
struct ValidInput<'a> {
    title: String,
    input: Value,
    example: Option<&'a Example>,
}

/// Returns the reason if the probe ends early.
pub type EndsEarly<'a> = &'a (dyn Fn() -> Option<String> + Sync);

impl ToolCheck<'_> {
    /// Runs all checks; returns the reason if the probe ends early.
    pub async fn run(
        &self,
        ends_early: EndsEarly<'_>,
    ) -> anyhow::Result<(CheckSuite, Option<String>)> {
        let contract = &self.actor.contract;
        let mut suite = CheckSuite::tool(&contract.name);
        let valid = self.valid(&mut suite);
        let cut = self.try_all(&mut suite, &valid, ends_early).await?;
        Ok((suite, cut))
    }

    async fn try_all(
        &self,
        suite: &mut CheckSuite,
        valid: &[ValidInput<'_>],
        ends_early: EndsEarly<'_>,
    ) -> anyhow::Result<Option<String>> {
        let contract = &self.actor.contract;
        match self.not_run() {
            Some(reason) => suite.skip("valid calls", reason),
            None => {
                for (index, given) in valid.iter().enumerate() {
                    if let Some(why) = ends_early() {
                        return Ok(Some(why));
                    }
                    suite.checks.push(self.accepted(given, index).await?);
                }
            }
        }
        let invalid = generate::invalid(&contract.input_schema, self.wanted(true))
            .with_context(|| format!("the input schema of `{}`", contract.name))?;
        // Must not run.
        self.actor.switch.set_output(Value::Null);
        for case in invalid.cases {
            if let Some(why) = ends_early() {
                return Ok(Some(why));
            }
            suite.checks.push(self.refused(&case).await);
        }
        let Some(any) = valid.first() else { return Ok(None) };
        let schema = Schema::compile(&contract.output_schema)
            .with_context(|| format!("the output schema of `{}`", contract.name))?;
        let fitting = generate::valid(
            &contract.output_schema,
            GenerateOptions { most: 1, ..self.wanted(false) },
        )
        .with_context(|| format!("the output schema of `{}`", contract.name))?;
        // One is enough: it shows that the marks would be seen in the others.
        if let Some(case) = fitting.cases.first() {
            suite.checks.push(self.passed(&any.input, case, &schema).await);
        }
        let broken = generate::invalid(&contract.output_schema, self.wanted(false))
            .with_context(|| format!("the output schema of `{}`", contract.name))?;
        for case in broken.cases {
            if let Some(why) = ends_early() {
                return Ok(Some(why));
            }
            suite.checks.push(self.stopped(&any.input, &case, &schema).await);
        }
        Ok(None)
    }

    /// The options of the generation; arguments are objects.
    fn wanted(&self, objects: bool) -> GenerateOptions<'static> {
        let most = self.options.cases;
        GenerateOptions { most, objects, ..GenerateOptions::all(self.options.seed) }
    }

    /// The reason why the tool is not run for real.
    fn not_run(&self) -> Option<&'static str> {
        if self.options.effects {
            return None;
        }
        if self.actor.contract.effects.changes_the_world() {
            return Some("it has effects; --effects runs it in a folder of its own");
        }
        let asks = self.actor.command.is_some() && self.actor.needs_approval;
        asks.then_some("it needs an approval; --effects runs it")
    }

    /// Valid arguments: those of the examples, and generated ones.
    fn valid(&self, suite: &mut CheckSuite) -> Vec<ValidInput<'_>> {
        let contract = &self.actor.contract;
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
        let made = generate::valid(&contract.input_schema, self.wanted(true)).unwrap_or_default();
        all.extend(made.cases.into_iter().map(|case| ValidInput {
            title: format!("accepts: {}", case.title),
            input: case.value,
            example: examples.first().copied(),
        }));
        if all.is_empty() {
            let message = format!("no valid arguments: {}", made.given_up.join("; "));
            let finding = ProbeFinding::new(&common::NO_VALUES, message);
            suite.checks.push(Check::of("arguments can be generated", vec![finding]));
        }
        all
    }

    /// A valid call has the same code through every door, one that the contract declares.
    async fn accepted(&self, given: &ValidInput<'_>, index: usize) -> anyhow::Result<Check> {
        let changes = self.actor.contract.effects.changes_the_world();
        let began = Instant::now();
        if !changes {
            self.actor.switch.set(self.provider(given.example, &format!("{index}"))?);
        }
        let mut all = Vec::new();
        for door in DOORS {
            if changes {
                // Each gets a fresh folder.
                let place = format!("{index}-{door:?}");
                self.actor.switch.set(self.provider(given.example, &place)?);
            }
            all.push((door.name(), door.call(self.doors, self.actor, &given.input).await));
        }
        let mut findings = self.agreement(&all);
        if let Some(Ok(first)) = all.first().map(|(_, seen)| seen) {
            findings.extend(self.known(&first.code));
        }
        let shown = findings.into_iter().map(|one| one.shown_by(&given.input)).collect();
        Ok(Check { took: began.elapsed(), ..Check::of(given.title.clone(), shown) })
    }

    /// An invalid call is refused by every door, with the contract's code.
    async fn refused(&self, case: &generate::GeneratedValue) -> Check {
        let began = Instant::now();
        let contract = &self.actor.contract;
        let all = self.through_all(&case.value).await;
        let mut findings = self.agreement(&all);
        if findings.is_empty()
            && let Some((_, Ok(seen))) = all.first()
            && !contract.is_input_error(&seen.code)
        {
            let expected = contract.input_error().0;
            let message = format!("the code is `{}` in place of `{expected}`", seen.code);
            findings.push(ProbeFinding::new(&rules::REFUSED_OTHERWISE, message));
        }
        let shown = findings.into_iter().map(|one| one.shown_by(&case.value)).collect();
        Check { took: began.elapsed(), ..Check::of(format!("refuses: {}", case.title), shown) }
    }

    /// An output that breaks the contract is stopped, and no door shows any part of it.
    async fn stopped(
        &self,
        input: &Value,
        case: &generate::GeneratedValue,
        schema: &Schema,
    ) -> Check {
        let began = Instant::now();
        let answer = marks::marked(schema, &case.value);
        self.actor.switch.set_output(answer);
        let mut findings = Vec::new();
        for (door, seen) in self.through_all(input).await {
            let seen = match seen {
                Ok(seen) => seen,
                Err(error) => {
                    findings.push(door_broken(door, &error));
                    continue;
                }
            };
            if seen.code != codes::INVALID_OUTPUT.code {
                let message = format!("{door}: the code is `{}`", seen.code);
                findings.push(ProbeFinding::new(&rules::OUTPUT_PASSED, message));
            }
            if marks::shows(&seen.text) {
                let message = door.to_owned();
                findings.push(ProbeFinding::new(&rules::PAYLOAD_SHOWN, message));
            }
        }
        let shown = findings.into_iter().map(|one| one.shown_by(input)).collect();
        Check { took: began.elapsed(), ..Check::of(format!("stops: {}", case.title), shown) }
    }

    /// A valid output passes every door, with its marks.
    async fn passed(
        &self,
        input: &Value,
        case: &generate::GeneratedValue,
        schema: &Schema,
    ) -> Check {
        let began = Instant::now();
        let answer = marks::marked(schema, &case.value);
        let marks = marks::shows(&answer.to_string());
        self.actor.switch.set_output(answer);
        let mut findings = Vec::new();
        for (door, seen) in self.through_all(input).await {
            match seen {
                Err(error) => findings.push(door_broken(door, &error)),
                Ok(seen) if seen.code != "ok" => {
                    let message = format!("{door}: the code is `{}`", seen.code);
                    findings.push(ProbeFinding::new(&rules::OUTPUT_LOST, message));
                }
                Ok(seen) if marks && !marks::shows(&seen.text) => {
                    let message = format!("{door}: the output is not the same");
                    findings.push(ProbeFinding::new(&rules::OUTPUT_LOST, message));
                }
                Ok(_) => {}
            }
        }
        let shown = findings.into_iter().map(|one| one.shown_by(input)).collect();
        Check { took: began.elapsed(), ..Check::of(format!("passes: {}", case.title), shown) }
    }

    async fn through_all(
        &self,
        input: &Value,
    ) -> Vec<(&'static str, anyhow::Result<DoorResponse>)> {
        let mut all = Vec::new();
        for door in DOORS {
            all.push((door.name(), door.call(self.doors, self.actor, input).await));
        }
        all
    }

    /// Differences between the doors.
    fn agreement(&self, all: &[(&'static str, anyhow::Result<DoorResponse>)]) -> Vec<ProbeFinding> {
        let mut findings = Vec::new();
        let mut first: Option<(&str, &str)> = None;
        for (door, seen) in all {
            match (seen, first) {
                (Err(error), _) => findings.push(door_broken(door, error)),
                (Ok(seen), None) => first = Some((door, &seen.code)),
                (Ok(seen), Some((other, code))) if seen.code != code => {
                    let message = format!("{other}: `{code}`, {door}: `{}`", seen.code);
                    findings.push(ProbeFinding::new(&rules::DOORS_DISAGREE, message));
                }
                (Ok(_), Some(_)) => {}
            }
        }
        findings
    }

    /// A finding if the contract does not declare the code.
    fn known(&self, code: &str) -> Option<ProbeFinding> {
        let contract = &self.actor.contract;
        if code == codes::INVALID_OUTPUT.code {
            return Some(ProbeFinding::new(&rules::OUTPUT_BROKEN, "the code is `invalid_output`"));
        }
        if contract.is_input_error(code) {
            let message = format!("the code is `{code}`");
            return Some(ProbeFinding::new(&common::VALID_REJECTED, message));
        }
        let ours = [codes::INTERNAL.code, codes::TIMEOUT.code, codes::UNAVAILABLE.code];
        if ours.contains(&code) && contract.declared(code).is_none() {
            let message = format!("the code is `{code}`");
            return Some(ProbeFinding::new(&rules::TOOL_BROKEN, message));
        }
        None
    }

    /// The real provider, with the files of an example.
    fn provider(
        &self,
        example: Option<&Example>,
        place: &str,
    ) -> anyhow::Result<Arc<dyn Provider>> {
        if let Some(command) = &self.actor.command {
            return Ok(command.clone());
        }
        let name = &self.actor.contract.name;
        let folder: PathBuf = self.folder.join(name).join(place);
        std::fs::create_dir_all(&folder)?;
        for (path, text) in example.map(|example| &example.files).into_iter().flatten() {
            let file = folder.join(path);
            std::fs::create_dir_all(file.parent().unwrap_or(&folder))?;
            std::fs::write(file, text)?;
        }
        built_in(name, self.loaded, &folder)
            .with_context(|| format!("there is no built-in tool `{name}`"))
    }
}

fn door_broken(door: &str, error: &anyhow::Error) -> ProbeFinding {
    ProbeFinding::new(&rules::DOOR_BROKEN, format!("{door}: {error:#}"))
}
