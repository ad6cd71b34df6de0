//! Overlays: the operator's additions to contracts that others wrote, one file for each tool in a folder for each
//! upstream or toolset (`overlays/<id>/<tool>.yaml`, by the setting `overlays`).
//!
//! An overlay of an upstream tool may have everything that [`Overlay`] has; one of a user's own contract only an output
//! schema, because the rest is in a file of their own.

use std::{
    collections::BTreeMap,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use contract::{Diagnostic, Document, Schema, Severity};
use serde_json::Value;
use upstream::{names, settings::Overlay};

use super::BoundTool;
use crate::{
    files,
    settings::{FileErrors, LoadedSettings, SettingsError},
};

/// The overlays of an upstream, by the tools' own names.
type OverlaysByTool = BTreeMap<String, Overlay>;

/// The keys that an overlay of a user's own contract may have.
const OWN_KEYS: &[&str] = &["tool", "output_schema"];

pub struct OverlayFile {
    /// The file.
    pub path: PathBuf,
    /// The tool: the value of `tool`, or the file name.
    pub tool: String,
    /// The contents.
    pub overlay: Overlay,
    document: Document,
}

/// The overlays of an upstream or a toolset, and the mistakes in their files.
pub fn read(
    loaded: &LoadedSettings,
    group: &str,
) -> anyhow::Result<(Vec<OverlayFile>, Vec<Diagnostic>)> {
    let (mut all, mut diagnostics) = (Vec::<OverlayFile>::new(), Vec::new());
    let folder = folder(loaded).join(group);
    if !is_file_name(group) {
        return Ok((all, diagnostics));
    }
    let unreadable = |error: std::io::Error| {
        SettingsError::new("/overlays", format!("cannot read `{}`: {error}", folder.display()))
    };
    let files = match loaded.sources.contract_files(&folder) {
        Ok(files) => files,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok((all, diagnostics));
        }
        // A folder that cannot be read is not the same as none.
        Err(error) => return Err(unreadable(error).into()),
    };
    for path in files {
        let name = path.display().to_string();
        let text = loaded
            .sources
            .document_text(&path)
            .with_context(|| format!("cannot read the overlay `{name}`"))?;
        let checked = Document::parse(&name, &text)
            .map_err(|one| vec![*one])
            .and_then(|document| Ok((document.check::<Overlay>()?, document)));
        let (overlay, document) = match checked {
            Ok(checked) => checked,
            Err(found) => {
                diagnostics.extend(found);
                continue;
            }
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let named = overlay.tool.clone().unwrap_or(stem);
        let prefix = format!("{group}{}", names::SEPARATOR);
        let tool = named.strip_prefix(&prefix).unwrap_or(&named).to_owned();
        if let Some(other) = all.iter().find(|other| other.tool == tool) {
            let message = format!("`{tool}` has more than one overlay");
            let hint = format!("the other one is `{}`", other.path.display());
            diagnostics.push(document.error("/tool", message).hint(hint));
        }
        let mistakes = mistakes(&document, &overlay);
        if !mistakes.is_empty() {
            diagnostics.extend(mistakes);
            continue;
        }
        all.push(OverlayFile { path, tool, overlay, document });
    }
    Ok((all, diagnostics))
}

/// The folder of all overlays.
fn folder(loaded: &LoadedSettings) -> PathBuf {
    loaded.path(&loaded.settings.overlays)
}

/// The overlays of an upstream or a toolset, if no file has a mistake.
fn read_valid(loaded: &LoadedSettings, group: &str) -> anyhow::Result<Vec<OverlayFile>> {
    let (files, mistakes) = read(loaded, group)?;
    if mistakes.is_empty() { Ok(files) } else { Err(FileErrors(mistakes).into()) }
}

/// Mistakes in an overlay file: schemas that cannot be compiled, and names, which belong in the settings.
fn mistakes(document: &Document, overlay: &Overlay) -> Vec<Diagnostic> {
    let schemas =
        [("input_schema", &overlay.input_schema), ("output_schema", &overlay.output_schema)];
    let mut found = Vec::new();
    if overlay.serve_as.is_some() {
        let message = "`serve_as` belongs in the settings (`upstreams.ID.tools.TOOL.serve_as`)";
        found.push(document.error("/serve_as", message));
    }
    for (key, schema) in schemas {
        if let Some(Err(error)) = schema.as_ref().map(Schema::compile_foreign) {
            let pointer = format!("/{key}{}", error.pointer);
            found.push(document.error(&pointer, format!("the schema {error}")));
        }
    }
    found
}

/// The overlays of an upstream, of the settings and of files. Where both set a value, the file wins.
pub fn of_upstream(loaded: &LoadedSettings, id: &str) -> anyhow::Result<OverlaysByTool> {
    let own = loaded.settings.upstreams.get(id).map(|own| own.tools.clone());
    let mut all = own.unwrap_or_default();
    for OverlayFile { tool, overlay, .. } in read_valid(loaded, id)? {
        let below = all.remove(&tool).unwrap_or_default();
        all.insert(tool, over(&below, &overlay)?);
    }
    Ok(all)
}

/// True if overlays were read from files, and their folder is gone now. Moving all of them away for a moment must not permit
/// what they forbid.
pub fn are_gone(before: &LoadedSettings, now: &LoadedSettings) -> bool {
    let folder = folder(now);
    before.sources.has_contracts_below(&folder) && !folder.is_dir()
}

/// Two overlays in one: the values of the upper one win.
fn over(below: &Overlay, above: &Overlay) -> anyhow::Result<Overlay> {
    let mut whole = serde_json::to_value(below)?;
    if let (Value::Object(whole), Value::Object(above)) = (&mut whole, serde_json::to_value(above)?)
    {
        whole.extend(above);
    }
    let overlay: Overlay = serde_json::from_value(whole)?;
    Ok(Overlay { whole: below.whole.clone().or(above.whole.clone()), ..overlay })
}

/// Applies overlays to the user's own contracts. Returns the mistakes in all overlays, those of upstreams too.
pub fn apply(bound: &mut [BoundTool], loaded: &LoadedSettings) -> anyhow::Result<Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    for id in loaded.settings.upstreams.keys() {
        diagnostics.extend(read(loaded, id)?.1);
    }
    let mut toolsets: Vec<String> = bound.iter().map(|one| one.contract.toolset.clone()).collect();
    toolsets.sort();
    toolsets.dedup();
    diagnostics.extend(strays(loaded, &toolsets));
    // The folder of an upstream with the same name is not for the toolset.
    toolsets.retain(|name| !loaded.settings.upstreams.contains_key(name));
    for toolset in toolsets {
        let (written, found) = read(loaded, &toolset)?;
        diagnostics.extend(found);
        for one in &written {
            let mut names = bound.iter().filter(|one| one.contract.toolset == toolset);
            if !names.any(|own| is_for(one, &own.contract.name)) {
                let names = bound.iter().map(|one| one.contract.name.as_str());
                let message = format!("there is no tool `{}` in `{toolset}`", one.tool);
                let found = one.document.warning("", message);
                diagnostics.push(match contract::nearest(&one.tool, names) {
                    Some(near) => found.hint(format!("did you mean `{near}`?")),
                    None => found.hint("this overlay has no effect"),
                });
            }
        }
        let own = bound.iter_mut().filter(|one| one.contract.toolset == toolset);
        for BoundTool { contract, .. } in own {
            for one in written.iter().filter(|one| is_for(one, &contract.name)) {
                match checked(one, &contract.name) {
                    Ok(Some(schema)) => contract.output_schema = schema,
                    Ok(None) => {}
                    Err(found) => diagnostics.push(*found),
                }
            }
        }
    }
    Ok(diagnostics)
}

/// Overlay folders without an upstream or a toolset of the user's own: they have no effect.
fn strays(loaded: &LoadedSettings, toolsets: &[String]) -> Vec<Diagnostic> {
    let folder = folder(loaded);
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let ids = loaded.settings.upstreams.keys();
    let known: Vec<&str> = ids.chain(toolsets).map(String::as_str).collect();
    let mut groups: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    groups.retain(|group| files::contracts_in(group).is_ok_and(|files| !files.is_empty()));
    groups.sort();
    let stray = groups.into_iter().filter_map(|group| {
        let name = group.file_name()?.to_str()?.to_owned();
        if known.contains(&name.as_str()) {
            return None;
        }
        let message = format!("there is no upstream and no toolset of your own named `{name}`");
        let place = group.display().to_string();
        let found = Diagnostic::new(Severity::Warning, &place, &"".into(), 0..0, message);
        Some(match contract::nearest(&name, known.iter().copied()) {
            Some(near) => found.hint(format!(
                "the overlays in this folder have no effect; did you mean `{near}`?"
            )),
            None => found.hint("the overlays in this folder have no effect"),
        })
    });
    stray.collect()
}

fn is_for(written: &OverlayFile, name: &str) -> bool {
    written.tool == name || written.path.file_stem().is_some_and(|stem| stem == name)
}

/// The output schema of an overlay over a contract of the user's own.
fn checked(written: &OverlayFile, name: &str) -> Result<Option<Value>, Box<Diagnostic>> {
    let OverlayFile { document, overlay, tool, .. } = written;
    if tool != name {
        let message = format!("this file is for the overlay of `{name}`");
        return Err(Box::new(document.error("/tool", message)));
    }
    let keys = document.value().as_object().into_iter().flatten().map(|(key, _)| key);
    if let Some(key) = keys.into_iter().find(|key| !OWN_KEYS.contains(&key.as_str())) {
        let found = document
            .error(&format!("/{key}"), format!("`{key}` is only for tools of upstreams"))
            .hint("set it in the contract itself");
        return Err(Box::new(found));
    }
    if let Some(Err(error)) = overlay.output_schema.as_ref().map(Schema::compile) {
        let pointer = format!("/output_schema{}", error.pointer);
        return Err(Box::new(document.error(&pointer, format!("the schema {error}"))));
    }
    Ok(overlay.output_schema.clone())
}

/// The file of the overlay of a tool, and its contents; for a new overlay, the file to create.
pub fn file_of(
    loaded: &LoadedSettings,
    group: &str,
    tool: &str,
) -> anyhow::Result<(PathBuf, Option<Overlay>)> {
    if !is_file_name(group) {
        bail!("`{group}` cannot be a folder name");
    }
    let folder = folder(loaded);
    if let Some(one) = read_valid(loaded, group)?.into_iter().find(|one| one.tool == tool) {
        return Ok((one.path, Some(one.overlay)));
    }
    // A name that is not a file name is shortened as the served name is.
    let served = names::served(group, tool);
    let stem = if is_file_name(tool) { tool } else { &served };
    if !is_file_name(stem) {
        bail!("`{tool}` cannot be a file name");
    }
    Ok((folder.join(group).join(format!("{stem}.yaml")), None))
}

/// The text of an overlay file, with its origin in a comment.
pub fn to_text(overlay: &Overlay, origin: &str) -> String {
    let whole = serde_json::to_value(overlay).unwrap_or_default();
    format!("# {origin}\n{}", contract::document::to_yaml(&whole))
}

/// Replaces the file as a whole or not at all.
pub fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
    crate::files::replace(file, text)
}

/// True if a name is safe as part of a path.
fn is_file_name(name: &str) -> bool {
    let fits = |one: char| one.is_ascii_alphanumeric() || "_.-".contains(one);
    !name.is_empty() && name.len() <= 64 && name.chars().all(fits) && !name.starts_with('.')
}
