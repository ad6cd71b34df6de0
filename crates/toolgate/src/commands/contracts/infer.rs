//! Infers the output schema of an upstream tool from its results.

mod gather;
mod sample;

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;
use serde_json::json;
use upstream::{
    lock::ContractLock,
    names,
    settings::{OutputFormat, Overlay},
};

use self::{
    gather::CollectedResults,
    sample::{Proposal, Sample},
};
use crate::{
    Exit, commands, files,
    printer::{Printer, counted},
    settings::{Flags, LoadedSettings},
    wiring::overlays,
};

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct InferCommand {
    /// The id of an upstream, a dot, and the tool's own name
    #[arg(value_name = "SERVER.TOOL")]
    tool: String,
    /// Files with one result each: a `tools/call` result, or the bare value
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "arguments")]
    results: Vec<PathBuf>,
    /// Call the tool with these arguments, a JSON object or @FILE; repeatable
    #[arg(long, value_name = "JSON")]
    arguments: Vec<String>,
    /// Call it even if it may have effects
    #[arg(long, requires = "arguments")]
    effects: bool,
    /// Write the overlay, overlays/SERVER/TOOL.yaml
    #[arg(long)]
    save: bool,
    /// Replace the output schema of an existing overlay
    #[arg(long, requires = "save")]
    force: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl InferCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let Some((id, tool)) = self.tool.split_once('.') else {
            bail!("`{}` is not of the form SERVER.TOOL, such as `weather.forecast`", self.tool);
        };
        let loaded = flags.load()?;
        commands::upstream::is_known(&loaded, Some(id))?;
        let (file, before) = overlays::file_of(&loaded, id, tool)?;
        if before.is_some() && self.save && !self.force {
            bail!("`{}` already exists; --force replaces its output schema", file.display());
        }
        let CollectedResults { samples, errors } = self.gather(&loaded, id, tool)?;
        let count = samples.len();
        if count == 0 && errors > 0 {
            printer.say(format!(
                "no schema can be inferred: the tool reports an error in {}",
                counted(errors, "result")
            ));
            return Ok(Exit::Failed);
        }
        if count == 0 {
            printer.say(format!(
                "no results of `{id}.{tool}` are stored; give results with --results FILE, or call the tool with \
                 --arguments JSON"
            ));
            return Ok(Exit::Failed);
        }
        let proposal = sample::propose(&samples);
        let overlay = overlay(&loaded, id, tool, before, &proposal);
        let origin = format!(
            "Inferred from {} by `toolgate contracts infer`. Read it, and edit it as you like.",
            counted(count, "result")
        );
        let text = overlays::to_text(&overlay, &origin);
        if self.save {
            overlays::write(&file, &text)?;
        }
        if self.json {
            let saved = self.save.then(|| file.display().to_string());
            printer.json(&json!({
                "tool": names::served(id, tool), "results": count, "errors": errors,
                "remarks": proposal.remarks, "overlay": overlay, "file": saved,
            }));
            return Ok(Exit::Ok);
        }
        // Names in it are the server's.
        printer.data(gate::visible_text::visible(text.trim_end()));
        for remark in &proposal.remarks {
            printer.say(remark);
        }
        if errors > 0 {
            printer.say(format!(
                "{} ignored: the tool reports an error there",
                counted(errors, "result")
            ));
        }
        if self.save {
            printer.say(format!("wrote {}", file.display()));
            printer.say(self.effect(&loaded, id, tool));
        } else {
            printer.say(format!("not written; --save writes it to {}", file.display()));
        }
        Ok(Exit::Ok)
    }

    /// The effect of the overlay that was written. Results from files do not show that there is such a tool.
    fn effect(&self, loaded: &LoadedSettings, id: &str, tool: &str) -> String {
        if self.results.is_empty() {
            return "a running server reloads it".to_owned();
        }
        let lock = ContractLock::read(&loaded.path(&loaded.settings.lock)).ok().flatten();
        let pinned = lock.as_ref().and_then(|lock| lock.upstreams.get(id));
        match pinned.map(|pinned| &pinned.tools) {
            Some(tools) if tools.contains_key(tool) => "a running server reloads it".to_owned(),
            Some(tools) => {
                let near = contract::did_you_mean(tool, tools.keys().map(String::as_str));
                format!("`{id}` has no tool `{tool}` in the lock{near}")
            }
            None => format!(
                "it has an effect if `{id}` lists a tool `{tool}`: see `toolgate upstream list {id}`"
            ),
        }
    }

    /// The results to infer from.
    fn gather(
        &self,
        loaded: &LoadedSettings,
        id: &str,
        tool: &str,
    ) -> anyhow::Result<CollectedResults> {
        let mut gathered = CollectedResults::default();
        if !self.results.is_empty() {
            for file in &self.results {
                gathered.add(Sample::read(files::read_json(file)?));
            }
            return Ok(gathered);
        }
        if self.arguments.is_empty() {
            return gather::kept(loaded, id, tool);
        }
        let mut calls = Vec::new();
        for text in &self.arguments {
            let value = files::given_json(text, || format!("--arguments: `{text}` is not JSON"))?;
            if !value.is_object() {
                bail!("--arguments: `{text}` is not a JSON object");
            }
            calls.push(value);
        }
        gather::called(loaded, id, tool, &calls, self.effects)
    }
}

/// The overlay of the proposal; other keys of an earlier overlay stay.
fn overlay(
    loaded: &LoadedSettings,
    id: &str,
    tool: &str,
    before: Option<Overlay>,
    proposal: &Proposal,
) -> Overlay {
    // The format is left out if it is the default of this upstream.
    let usual = loaded.settings.upstreams.get(id).map(|own| own.output).unwrap_or_default();
    let output =
        Some(proposal.output).filter(|own| *own != usual || *own != OutputFormat::Declared);
    Overlay {
        tool: Some(tool.to_owned()),
        output,
        output_schema: proposal.schema.clone(),
        ..before.unwrap_or_default()
    }
}
