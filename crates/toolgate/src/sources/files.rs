//! Contracts from files: YAML, listings, the lock, and Markdown documents.

use std::path::Path;

use anyhow::{Context, bail};
use contract::{
    Contract, Diagnostic, Document, Severity, document::MAX_DOCUMENT_BYTES, lint, read,
};
use upstream::{ServerListings, lock::ContractLock, names};
use workbench::documents;

use super::{SourceTool, ToolSource, draft, listing};
use crate::{files, wiring::upstreams};

/// The most contracts in a file.
const MAX_PARTS: usize = 10_000;

/// Reads a file, or every contract of a folder.
pub(super) fn read(path: &Path) -> anyhow::Result<ToolSource> {
    let title = path.display().to_string();
    if path.is_dir() {
        let files = files::contracts_in(path).with_context(|| format!("cannot read `{title}`"))?;
        if files.is_empty() {
            bail!("`{title}` has no contracts: no file that ends in .yaml, .yml or .json");
        }
        let mut set = ToolSource::new(title, false);
        let mut contracts = Vec::new();
        for file in files {
            let name = file.display().to_string();
            let text = files::read_contract_text(&file)
                .with_context(|| format!("cannot read the contract `{name}`"))?;
            contracts.extend(of_text(&mut set, &name, &text)?);
        }
        together(&mut set, &contracts);
        return Ok(set);
    }
    let text = files::read(path)?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending {
        "yaml" | "yml" => {
            let mut set = ToolSource::new(&title, false);
            let contracts = of_text(&mut set, &title, &text)?;
            together(&mut set, &contracts);
            Ok(set)
        }
        "json" | "lock" => of_json(path, &title, &text),
        _ => Ok(of_document(&title, &text)),
    }
}

/// Contracts with `---` between them; each is added to the set.
fn of_text(
    set: &mut ToolSource,
    title: &str,
    text: &str,
) -> anyhow::Result<Vec<(Contract, Document)>> {
    let mut contracts = Vec::new();
    let parts = parts(text);
    if parts.len() > MAX_PARTS {
        bail!("`{title}` has more than {MAX_PARTS} contracts");
    }
    for (line, part) in parts {
        // Errors are shown at their line of the file.
        let fits = line + part.len() <= MAX_DOCUMENT_BYTES;
        let part = if fits { "\n".repeat(line) + part } else { part.to_owned() };
        let (read, found) = read::contract(title, &part);
        set.diagnostics.extend(found);
        if let Some((contract, document)) = read {
            set.tools.push(draft::known(contract.clone()));
            contracts.push((contract, document));
        }
    }
    Ok(contracts)
}

/// The documents of a file, each with the number of lines before it.
fn parts(text: &str) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let (mut begin, mut line_of_part, mut at) = (0, 0, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        if line.trim_end() == "---" {
            parts.push((line_of_part, &text[begin..at]));
            (begin, line_of_part) = (at + line.len(), index + 1);
        }
        at += line.len();
    }
    parts.push((line_of_part, &text[begin..]));
    let says_something = |part: &str| {
        part.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
    };
    if parts.len() > 1 {
        parts.retain(|(_, part)| says_something(part));
    }
    parts
}

fn together(set: &mut ToolSource, contracts: &[(Contract, Document)]) {
    let all: Vec<_> = contracts.iter().map(|(contract, document)| (contract, document)).collect();
    set.diagnostics.extend(lint::lint_together(&all));
    let shipped = tools::built_in(&tools::ToolSettings::default());
    let shipped: Vec<Contract> =
        shipped.iter().filter_map(|tool| read::trusted(tool.contract).ok()).collect();
    let known = contracts.iter().map(|(contract, _)| contract).chain(&shipped);
    let known: Vec<&str> = known.map(|contract| contract.name.as_str()).collect();
    // The tool may be in another file.
    set.diagnostics.extend(lint::lint_replacements(&all, &known, Severity::Warning));
}

/// A listing, the lock, descriptions as we serve them, or a contract that is JSON.
fn of_json(path: &Path, title: &str, text: &str) -> anyhow::Result<ToolSource> {
    let value = files::json(title, text)?;
    if value.get("upstreams").is_some() && value.get("version").is_some() {
        let lock = upstreams::read_lock(path)?.with_context(|| format!("cannot read `{title}`"))?;
        return Ok(of_lock(title, &lock));
    }
    if value.get("input_schema").is_some() {
        let mut set = ToolSource::new(title, false);
        of_text(&mut set, title, text)?;
        return Ok(set);
    }
    let lists = ["/tools", "/result/tools", "/contracts", ""];
    let tools = lists.iter().find_map(|place| value.pointer(place)?.as_array());
    let Some(tools) = tools else {
        bail!("`{title}` is not a `tools/list` response, a lock or a contract");
    };
    let mut set = ToolSource::new(title, true);
    if tools.iter().any(|tool| tool.get("input_schema").is_some()) {
        set.tools = tools.iter().filter_map(draft::described).collect();
        if set.tools.len() < tools.len() {
            bail!("`{title}`: every tool needs a `name` and an `input_schema`");
        }
        return Ok(set);
    }
    listing::written_down(
        &mut set,
        &ServerListings { tools: tools.clone(), ..ServerListings::default() },
    );
    Ok(set)
}

/// Everything that is pinned, by the names under which it is served.
fn of_lock(title: &str, lock: &ContractLock) -> ToolSource {
    let mut set = ToolSource::new(title, true);
    for (id, pinned) in &lock.upstreams {
        let mut own = ToolSource::new(format!("{title}: {id}"), true);
        listing::written_down(&mut own, &pinned.to_listings());
        set.findings.append(&mut own.findings);
        for mut known in own.tools {
            let name = known.promise.name.clone();
            known.promise.name = names::served(id, &name);
            known.contract.name.clone_from(&known.promise.name);
            known.contract.toolset.clone_from(id);
            known.own_name = Some(name);
            set.tools.push(known);
        }
    }
    set
}

/// A Markdown document, of which some sections are tools.
fn of_document(title: &str, text: &str) -> ToolSource {
    let mut set = ToolSource::new(title, false);
    let (tools, diagnostics) = documents::read(title, text);
    set.diagnostics = diagnostics;
    if tools.is_empty() && set.diagnostics.is_empty() {
        let text = text.into();
        let message = "this document has no section for a tool";
        set.diagnostics
            .push(Diagnostic::new(contract::Severity::Error, title, &text, 0..0, message).hint(
            "write `## name` with `- input_schema:`, or `## Tool: name` with `### Input Schema`",
        ));
    }
    set.tools = tools.iter().map(|tool| of_section(&tool.promise())).collect();
    set
}

fn of_section(promise: &workbench::compare::PartialContract) -> SourceTool {
    let contract = draft::of(promise, "document", "0");
    SourceTool { promise: promise.clone(), contract, listed: None, own_name: None, inputs: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_a_file_keep_their_lines() {
        assert_eq!(parts("a: 1\n"), [(0, "a: 1\n")]);
        assert_eq!(parts("a: 1\n---\nb: 2\n"), [(0, "a: 1\n"), (2, "b: 2\n")]);
        assert_eq!(parts("# head\n---\nb: 2\n---\n"), [(2, "b: 2\n")]);
        assert_eq!(parts(""), [(0, "")]);
        assert_eq!(parts("---"), []);
    }
}
