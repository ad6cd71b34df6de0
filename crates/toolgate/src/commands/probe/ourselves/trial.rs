//! One tool, through every door.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use anyhow::Context;
use contract::{Example, Schema, codes};
use gate::Provider;
use probe::{
    Check, Finding, Options, Suite,
    generate::{self, Wanted},
    rules as common,
};
use serde_json::Value;

use super::{
    built_in,
    door::{DOORS, Seen},
    leak, rules,
    stage::{Actor, Stage},
};
use crate::settings::Loaded;

/// One tool, and all that is needed to try it.
pub struct Trial<'a> {
    pub stage: &'a Stage,
    pub actor: &'a Actor,
    pub options: &'a Options,
    pub loaded: &'a Loaded,
    /// Where tools work that are run for real.
    pub folder: &'a Path,
}

/// Arguments, and the example that they are from.
struct Given<'a> {
    title: String,
    input: Value,
    example: Option<&'a Example>,
}

/// Says why nothing more is to be done, if that is so.
pub type Over<'a> = &'a (dyn Fn() -> Option<String> + Sync);

impl Trial<'_> {
    /// Tries the tool; and why that ended early, if it did.
    pub async fn run(&self, over: Over<'_>) -> anyhow::Result<(Suite, Option<String>)> {
        let contract = &self.actor.contract;
        let mut suite = Suite::tool(&contract.name);
        let valid = self.valid(&mut suite);
        let cut = self.try_all(&mut suite, &valid, over).await?;
        Ok((suite, cut))
    }

    async fn try_all(
        &self,
        suite: &mut Suite,
        valid: &[Given<'_>],
        over: Over<'_>,
    ) -> anyhow::Result<Option<String>> {
        let contract = &self.actor.contract;
        match self.not_run() {
            Some(reason) => suite.skip("valid calls", reason),
            None => {
                for (index, given) in valid.iter().enumerate() {
                    if let Some(why) = over() {
                        return Ok(Some(why));
                    }
                    suite.checks.push(self.accepted(given, index).await?);
                }
            }
        }
        let invalid = generate::invalid(&contract.input_schema, self.wanted(true))
            .with_context(|| format!("the input schema of `{}`", contract.name))?;
        // Whatever runs it: it must not come to that.
        self.actor.switch.say(Value::Null);
        for case in invalid.cases {
            if let Some(why) = over() {
                return Ok(Some(why));
            }
            suite.checks.push(self.refused(&case).await);
        }
        let Some(any) = valid.first() else { return Ok(None) };
        let schema = Schema::compile(&contract.output_schema)
            .with_context(|| format!("the output schema of `{}`", contract.name))?;
        let fitting =
            generate::valid(&contract.output_schema, Wanted { most: 1, ..self.wanted(false) })
                .with_context(|| format!("the output schema of `{}`", contract.name))?;
        // One is enough: it shows that what is looked for in the others would be seen.
        if let Some(case) = fitting.cases.first() {
            suite.checks.push(self.passed(&any.input, case, &schema).await);
        }
        let broken = generate::invalid(&contract.output_schema, self.wanted(false))
            .with_context(|| format!("the output schema of `{}`", contract.name))?;
        for case in broken.cases {
            if let Some(why) = over() {
                return Ok(Some(why));
            }
            suite.checks.push(self.stopped(&any.input, &case, &schema).await);
        }
        Ok(None)
    }

    /// How many values are made from its schemas; arguments are objects.
    fn wanted(&self, objects: bool) -> Wanted<'static> {
        let most = self.options.cases;
        Wanted { most, objects, ..Wanted::all(self.options.seed) }
    }

    /// Why the tool is not run for real.
    fn not_run(&self) -> Option<&'static str> {
        if self.options.effects {
            return None;
        }
        if self.actor.contract.effects.changes_the_world() {
            return Some("it changes something; --effects runs it, in a folder of its own");
        }
        let asks = self.actor.command.is_some() && self.actor.needs_approval;
        asks.then_some("somebody would have to approve it; --effects runs it")
    }

    /// Arguments that fit: those of the good examples, and made ones.
    fn valid(&self, suite: &mut Suite) -> Vec<Given<'_>> {
        let contract = &self.actor.contract;
        let good = |example: &&Example| example.error.is_none() && example.bad_output.is_none();
        let examples: Vec<&Example> = contract.examples.iter().filter(good).collect();
        let mut all: Vec<Given<'_>> = examples
            .iter()
            .map(|example| Given {
                title: format!("example: {}", example.title),
                input: Value::Object(example.input.clone()),
                example: Some(example),
            })
            .collect();
        let made = generate::valid(&contract.input_schema, self.wanted(true)).unwrap_or_default();
        all.extend(made.cases.into_iter().map(|case| Given {
            title: format!("accepts: {}", case.title),
            input: case.value,
            example: examples.first().copied(),
        }));
        if all.is_empty() {
            let message = format!("there are no valid values: {}", made.given_up.join("; "));
            let finding = Finding::new(&common::NO_VALUES, message);
            suite.checks.push(Check::of("values can be made", vec![finding]));
        }
        all
    }

    /// A call that fits has the same code through every door, and one that the contract knows.
    async fn accepted(&self, given: &Given<'_>, index: usize) -> anyhow::Result<Check> {
        let changes = self.actor.contract.effects.changes_the_world();
        let began = Instant::now();
        if !changes {
            self.actor.switch.set(self.provider(given.example, &format!("{index}"))?);
        }
        let mut all = Vec::new();
        for door in DOORS {
            if changes {
                // Each finds the world as it was.
                let place = format!("{index}-{door:?}");
                self.actor.switch.set(self.provider(given.example, &place)?);
            }
            all.push((door.name(), door.call(self.stage, self.actor, &given.input).await));
        }
        let mut findings = self.agreement(&all);
        if let Some(Ok(first)) = all.first().map(|(_, seen)| seen) {
            findings.extend(self.known(&first.code));
        }
        let shown = findings.into_iter().map(|one| one.shown_by(&given.input)).collect();
        Ok(Check { took: began.elapsed(), ..Check::of(given.title.clone(), shown) })
    }

    /// A call that does not fit is refused by every door, in the contract's own word.
    async fn refused(&self, case: &generate::Case) -> Check {
        let began = Instant::now();
        let contract = &self.actor.contract;
        let all = self.through_all(&case.value).await;
        let mut findings = self.agreement(&all);
        if findings.is_empty()
            && let Some((_, Ok(seen))) = all.first()
            && !contract.is_input_error(&seen.code)
        {
            let expected = contract.input_error().0;
            let message = format!("it ended as `{}` and not as `{expected}`", seen.code);
            findings.push(Finding::new(&rules::REFUSED_OTHERWISE, message));
        }
        let shown = findings.into_iter().map(|one| one.shown_by(&case.value)).collect();
        Check { took: began.elapsed(), ..Check::of(format!("refuses: {}", case.title), shown) }
    }

    /// An answer that breaks the contract is stopped at every door, and nothing of it is shown.
    async fn stopped(&self, input: &Value, case: &generate::Case, schema: &Schema) -> Check {
        let began = Instant::now();
        let answer = leak::marked(schema, &case.value);
        self.actor.switch.say(answer);
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
                let message = format!("through {door} it ended as `{}`", seen.code);
                findings.push(Finding::new(&rules::OUTPUT_PASSED, message));
            }
            if leak::shows(&seen.text) {
                let message = format!("through {door}");
                findings.push(Finding::new(&rules::PAYLOAD_SHOWN, message));
            }
        }
        let shown = findings.into_iter().map(|one| one.shown_by(input)).collect();
        Check { took: began.elapsed(), ..Check::of(format!("stops: {}", case.title), shown) }
    }

    /// An answer that fits gets through every door, with the marks that are looked for in others.
    async fn passed(&self, input: &Value, case: &generate::Case, schema: &Schema) -> Check {
        let began = Instant::now();
        let answer = leak::marked(schema, &case.value);
        let marks = leak::shows(&answer.to_string());
        self.actor.switch.say(answer);
        let mut findings = Vec::new();
        for (door, seen) in self.through_all(input).await {
            match seen {
                Err(error) => findings.push(door_broken(door, &error)),
                Ok(seen) if seen.code != "ok" => {
                    let message = format!("through {door} it ended as `{}`", seen.code);
                    findings.push(Finding::new(&rules::OUTPUT_LOST, message));
                }
                Ok(seen) if marks && !leak::shows(&seen.text) => {
                    let message = format!("what came through {door} is something else");
                    findings.push(Finding::new(&rules::OUTPUT_LOST, message));
                }
                Ok(_) => {}
            }
        }
        let shown = findings.into_iter().map(|one| one.shown_by(input)).collect();
        Check { took: began.elapsed(), ..Check::of(format!("passes: {}", case.title), shown) }
    }

    async fn through_all(&self, input: &Value) -> Vec<(&'static str, anyhow::Result<Seen>)> {
        let mut all = Vec::new();
        for door in DOORS {
            all.push((door.name(), door.call(self.stage, self.actor, input).await));
        }
        all
    }

    /// What the doors do not agree on.
    fn agreement(&self, all: &[(&'static str, anyhow::Result<Seen>)]) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut first: Option<(&str, &str)> = None;
        for (door, seen) in all {
            match (seen, first) {
                (Err(error), _) => findings.push(door_broken(door, error)),
                (Ok(seen), None) => first = Some((door, &seen.code)),
                (Ok(seen), Some((other, code))) if seen.code != code => {
                    let message =
                        format!("`{code}` through {other}, `{}` through {door}", seen.code);
                    findings.push(Finding::new(&rules::DOORS_DISAGREE, message));
                }
                (Ok(_), Some(_)) => {}
            }
        }
        findings
    }

    /// Whether the contract knows how a call ended.
    fn known(&self, code: &str) -> Option<Finding> {
        let contract = &self.actor.contract;
        if code == codes::INVALID_OUTPUT.code {
            return Some(Finding::new(&rules::OUTPUT_BROKEN, "a call ended as `invalid_output`"));
        }
        if contract.is_input_error(code) {
            let message = format!("the call ended as `{code}`");
            return Some(Finding::new(&common::VALID_REJECTED, message));
        }
        let ours = [codes::INTERNAL.code, codes::TIMEOUT.code, codes::UNAVAILABLE.code];
        if ours.contains(&code) && contract.declared(code).is_none() {
            let message = format!("the call ended as `{code}`");
            return Some(Finding::new(&rules::TOOL_BROKEN, message));
        }
        None
    }

    /// What runs the tool for real, where the files of an example are.
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

fn door_broken(door: &str, error: &anyhow::Error) -> Finding {
    Finding::new(&rules::DOOR_BROKEN, format!("{door}: {error:#}"))
}
