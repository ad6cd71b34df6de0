//! Makes the contract of a tool wide enough for an answer that broke it.

use std::path::Path;

use anyhow::{Context, bail};
use contract::{
    Schema,
    compare::{self, Direction},
};
use gate::quarantine::Decision;
use serde_json::{Value, json};

use super::{given, unknown, widen};
use crate::{
    Answer, commands,
    printer::Printer,
    settings::{Flags, Loaded},
    wiring::{
        Bound, Kept,
        overlays::{self, Overlay},
    },
};

/// Writes the overlay, and marks the entry as adopted.
pub async fn adopt(
    as_json: bool,
    kept: &Kept,
    id: &str,
    decision: Decision,
    flags: &Flags,
    printer: &Printer,
) -> anyhow::Result<Answer> {
    let id = given(id)?;
    let Some(entry) = kept.gate.store().quarantined(&id, kept.gate.clock().now()).await? else {
        return Ok(unknown(&id, printer));
    };
    let summary = &entry.summary;
    if !summary.whole {
        bail!("only the beginning of {id} was kept: there is no telling what it was");
    }
    if summary.violations.is_empty() {
        bail!("no schema would let {id} pass: {}", summary.reason);
    }
    let (loaded, bound) = match commands::ready(flags, printer)? {
        Ok(ready) => ready,
        Err(answer) => return Ok(answer),
    };
    let tool = find(&summary.tool, &bound, &loaded)?;
    let payload: Value =
        serde_json::from_str(entry.payload.get()).context("the answer is not JSON any more")?;
    let own = &tool.contract.output_schema;
    if Schema::compile(own).is_ok_and(|schema| schema.is_valid(&payload)) {
        printer.say(format!("the contract of `{}` takes {id} as it is", summary.tool));
        return Ok(Answer::No);
    }
    let wide = widen::widened(own, &payload);
    if !Schema::compile(&wide).is_ok_and(|schema| schema.is_valid(&payload)) {
        bail!("the output schema of `{}` cannot be widened by itself: edit it", summary.tool);
    }
    let changes = compare::schemas(Some(own), Some(&wide), "output", Direction::Output);
    let file = overlays::path(&tool.contract, &loaded)?;
    let overlay = Overlay { tool: summary.tool.clone(), output_schema: wide };
    let origin =
        format!("Wide enough for {id}, by `toolgate quarantine adopt`. Edit it as you like.");
    write(&file, &overlay.to_text(&origin))?;
    kept.gate.adopt(&id, decision).await?;
    if as_json {
        let shown = file.display().to_string();
        printer.json(&json!({ "id": id, "file": shown, "changes": changes }));
    } else {
        printer.data(format!("wrote {}", file.display()));
        for change in changes {
            printer.say(format!("{}: {}", change.class.word(), change.text));
        }
        printer.say("it holds from the next start of the server on");
    }
    Ok(Answer::Yes)
}

/// The tool that answered, if its contract is one that the operator may change.
fn find<'a>(name: &str, bound: &'a [Bound], loaded: &Loaded) -> anyhow::Result<&'a Bound> {
    let Some(tool) = bound.iter().find(|one| one.contract.name == name) else {
        bail!("there is no tool `{name}` any more");
    };
    let settings = loaded.tools();
    let is_built_in = tools::built_in(&settings).iter().any(|tool| {
        contract::read::trusted(tool.contract).is_ok_and(|contract| contract.name == name)
    });
    if is_built_in {
        bail!("`{name}` is built in: its contract is not changed, and its answer is a bug of ours");
    }
    Ok(tool)
}

/// Writes the file, whole or not at all, over what was there.
fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    let wrote = std::fs::create_dir_all(folder)
        .and_then(|()| commands::contracts::written(folder, text))
        .and_then(|temporary| temporary.persist(file).map_err(|error| error.error));
    wrote.map(|_| ()).with_context(|| format!("cannot write `{}`", file.display()))
}
