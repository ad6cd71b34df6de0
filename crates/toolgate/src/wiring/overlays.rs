//! What the operator puts over contracts that others wrote: a file for each tool, in a folder for
//! each upstream or toolset (`overlays/<id>/<tool>.yaml`, by the setting `overlays`).
//!
//! Over a tool of an upstream everything can be put that [`Overlay`] has; over a contract of the user
//! an output schema, because the rest stands in a file that is theirs to edit.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use anyhow::{Context, bail};
use contract::{Diagnostic, Document, Schema, Severity};
use serde_json::Value;
use upstream::{Latest, names, settings::Overlay};

use super::BoundTool;
use crate::settings::{Loaded, SettingsError};

/// What is put over the tools of an upstream, by their own names.
type ByTool = BTreeMap<String, Overlay>;

/// What an overlay of a contract of the user's own may have.
const OWN_KEYS: &[&str] = &["tool", "output_schema"];

/// An overlay that is a file.
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// The tool that it is about: what the file says, or what it is named after.
    pub tool: String,
    /// What it says.
    pub overlay: Overlay,
    document: Document,
}

/// The overlays of an upstream or a toolset, and what is wrong with their files.
pub fn read(loaded: &Loaded, group: &str) -> anyhow::Result<(Vec<Written>, Vec<Diagnostic>)> {
    read_in(&folder(loaded), group)
}

/// The folder that all of them are in.
fn folder(loaded: &Loaded) -> PathBuf {
    loaded.path(&loaded.settings.overlays)
}

fn read_in(folder: &Path, group: &str) -> anyhow::Result<(Vec<Written>, Vec<Diagnostic>)> {
    let (mut all, mut diagnostics) = (Vec::<Written>::new(), Vec::new());
    let folder = folder.join(group);
    if !is_file_name(group) {
        return Ok((all, diagnostics));
    }
    let unreadable = |error: std::io::Error| {
        SettingsError::new("/overlays", format!("cannot read `{}`: {error}", folder.display()))
    };
    // One that cannot be looked into is not the same as none.
    match folder.metadata() {
        Ok(found) if found.is_dir() => {}
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(unreadable(error).into());
        }
        _ => return Ok((all, diagnostics)),
    }
    for path in super::contract_files(&folder).map_err(unreadable)? {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path)
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
        let prefix = format!("{group}{}", names::BETWEEN);
        let tool = named.strip_prefix(&prefix).unwrap_or(&named).to_owned();
        if let Some(other) = all.iter().find(|other| other.tool == tool) {
            let message = format!("`{tool}` has an overlay already");
            let hint = format!("in `{}`", other.path.display());
            diagnostics.push(document.error("/tool", message).hint(hint));
        }
        let unusable = unusable(&document, &overlay);
        if !unusable.is_empty() {
            diagnostics.extend(unusable);
            continue;
        }
        all.push(Written { path, tool, overlay, document });
    }
    Ok((all, diagnostics))
}

/// What an overlay of a file cannot say: schemas that nothing can be held against, and names, which have to be seen
/// together.
fn unusable(document: &Document, overlay: &Overlay) -> Vec<Diagnostic> {
    let schemas =
        [("input_schema", &overlay.input_schema), ("output_schema", &overlay.output_schema)];
    let mut found = Vec::new();
    if overlay.serve_as.is_some() {
        let message = "a name is chosen in the settings (`upstreams.ID.tools.TOOL.serve_as`)";
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

/// What the operator adds to the tools of an upstream, by their own names: in the settings and in files.
/// Where both say something, the file counts.
pub fn of_upstream(loaded: &Loaded, id: &str) -> anyhow::Result<ByTool> {
    let own = loaded.settings.upstreams.get(id).map(|own| own.tools.clone());
    with_files(own.unwrap_or_default(), &folder(loaded), id)
}

fn with_files(mut all: ByTool, folder: &Path, id: &str) -> anyhow::Result<ByTool> {
    let (written, diagnostics) = read_in(folder, id)?;
    if let Some(first) = diagnostics.first() {
        let message = format!("`{}`: {}", first.file, first.message);
        return Err(SettingsError::new("/overlays", message).into());
    }
    for Written { tool, overlay, .. } in written {
        let below = all.remove(&tool).unwrap_or_default();
        all.insert(tool, over(&below, &overlay)?);
    }
    Ok(all)
}

/// Reads overlays of upstreams again when a file of them has changed. While one has a mistake, what they
/// said before counts.
pub fn follow(loaded: &Loaded) -> Latest {
    let folder = folder(loaded);
    let own: BTreeMap<String, ByTool> = loaded
        .settings
        .upstreams
        .iter()
        .map(|(id, upstream)| (id.clone(), upstream.tools.clone()))
        .collect();
    let seen = Mutex::new(stamps(&folder, own.keys()));
    Arc::new(move || {
        let now = stamps(&folder, own.keys());
        {
            let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
            if *seen == now {
                return None;
            }
            let there_were = !seen.is_empty();
            *seen = now;
            // Who moves all of them away for a moment does not mean to open what they close.
            if there_were && !folder.is_dir() {
                let folder = folder.display();
                tracing::warn!("`{folder}` is gone; what overlays said until now still counts");
                return None;
            }
        }
        let read =
            own.iter().map(|(id, tools)| Ok((id.clone(), with_files(tools.clone(), &folder, id)?)));
        match read.collect::<anyhow::Result<BTreeMap<_, _>>>() {
            Ok(all) => Some(all),
            Err(error) => {
                tracing::warn!("{error:#}; what overlays said until now still counts");
                None
            }
        }
    })
}

/// What tells whether a file has changed.
type Stamp = (PathBuf, Option<SystemTime>, u64);

fn stamps<'a>(folder: &Path, groups: impl Iterator<Item = &'a String>) -> Vec<Stamp> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let files =
        groups.flat_map(|group| super::contract_files(&folder.join(group)).unwrap_or_default());
    let stamp = |file: PathBuf| {
        let metadata = file.metadata().ok();
        let size = metadata.as_ref().map_or(0, std::fs::Metadata::len);
        (file, metadata.and_then(|one| one.modified().ok()), size)
    };
    files.map(stamp).collect()
}

/// One overlay over another: what the upper one says counts.
fn over(below: &Overlay, above: &Overlay) -> anyhow::Result<Overlay> {
    let mut whole = serde_json::to_value(below)?;
    if let (Value::Object(whole), Value::Object(above)) = (&mut whole, serde_json::to_value(above)?)
    {
        whole.extend(above);
    }
    let overlay: Overlay = serde_json::from_value(whole)?;
    Ok(Overlay { whole: below.whole.clone().or(above.whole.clone()), ..overlay })
}

/// Puts the overlays that there are over contracts of the user's own; tells what is wrong with all
/// overlays, those of upstreams too.
pub fn apply(bound: &mut [BoundTool], loaded: &Loaded) -> anyhow::Result<Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    for id in loaded.settings.upstreams.keys() {
        diagnostics.extend(read(loaded, id)?.1);
    }
    let mut toolsets: Vec<String> = bound.iter().map(|one| one.contract.toolset.clone()).collect();
    toolsets.sort();
    toolsets.dedup();
    diagnostics.extend(strays(loaded, &toolsets));
    // An upstream of the same name has its tools there.
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
                    None => found.hint("this overlay is for nothing"),
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

/// Folders of overlays that are for no upstream and no toolset of the user's own: what they say is not
/// in force.
fn strays(loaded: &Loaded, toolsets: &[String]) -> Vec<Diagnostic> {
    let folder = folder(loaded);
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let ids = loaded.settings.upstreams.keys();
    let known: Vec<&str> = ids.chain(toolsets).map(String::as_str).collect();
    let mut groups: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    groups.retain(|group| super::contract_files(group).is_ok_and(|files| !files.is_empty()));
    groups.sort();
    let stray = groups.into_iter().filter_map(|group| {
        let name = group.file_name()?.to_str()?.to_owned();
        if known.contains(&name.as_str()) {
            return None;
        }
        let message = format!("there is no upstream and no toolset of yours called `{name}`");
        let place = group.display().to_string();
        let found = Diagnostic::new(Severity::Warning, &place, &"".into(), 0..0, message);
        Some(match contract::nearest(&name, known.iter().copied()) {
            Some(near) => found
                .hint(format!("what is in this folder is not in force; did you mean `{near}`?")),
            None => found.hint("what is in this folder is not in force"),
        })
    });
    stray.collect()
}

fn is_for(written: &Written, name: &str) -> bool {
    written.tool == name || written.path.file_stem().is_some_and(|stem| stem == name)
}

/// The output schema of an overlay over a contract of the user's own.
fn checked(written: &Written, name: &str) -> Result<Option<Value>, Box<Diagnostic>> {
    let Written { document, overlay, tool, .. } = written;
    if tool != name {
        let message = format!("this is the place for the overlay of `{name}`");
        return Err(Box::new(document.error("/tool", message)));
    }
    let keys = document.value().as_object().into_iter().flatten().map(|(key, _)| key);
    if let Some(key) = keys.into_iter().find(|key| !OWN_KEYS.contains(&key.as_str())) {
        let found = document
            .error(&format!("/{key}"), format!("`{key}` is for tools of upstreams"))
            .hint("this contract is yours: write it there");
        return Err(Box::new(found));
    }
    if let Some(Err(error)) = overlay.output_schema.as_ref().map(Schema::compile) {
        let pointer = format!("/output_schema{}", error.pointer);
        return Err(Box::new(document.error(&pointer, format!("the schema {error}"))));
    }
    Ok(overlay.output_schema.clone())
}

/// The file for the overlay of a tool, and what it says now: the one that there is, or where a new one
/// belongs.
pub fn place(
    loaded: &Loaded,
    group: &str,
    tool: &str,
) -> anyhow::Result<(PathBuf, Option<Overlay>)> {
    if !is_file_name(group) {
        bail!("`{group}` cannot be the name of a folder");
    }
    let (written, diagnostics) = read(loaded, group)?;
    if let Some(first) = diagnostics.first() {
        let message = format!("`{}`: {}", first.file, first.message);
        return Err(SettingsError::new("/overlays", message).into());
    }
    if let Some(one) = written.into_iter().find(|one| one.tool == tool) {
        return Ok((one.path, Some(one.overlay)));
    }
    // A name that is no name of a file is cut as it is where the tool is served.
    let served = names::served(group, tool);
    let stem = if is_file_name(tool) { tool } else { &served };
    if !is_file_name(stem) {
        bail!("`{tool}` cannot be the name of a file");
    }
    let folder = folder(loaded).join(group);
    Ok((folder.join(format!("{stem}.yaml")), None))
}

/// The text of an overlay's file, which says where it came from.
pub fn to_text(overlay: &Overlay, origin: &str) -> String {
    let whole = serde_json::to_value(overlay).unwrap_or_default();
    format!("# {origin}\n{}", contract::document::to_yaml(&whole))
}

/// Writes the file, whole or not at all, over what was there.
pub fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    crate::files::replace(file, text)
}

/// Paths are made of such names only.
fn is_file_name(name: &str) -> bool {
    let fits = |one: char| one.is_ascii_alphanumeric() || "_.-".contains(one);
    !name.is_empty() && name.len() <= 64 && name.chars().all(fits) && !name.starts_with('.')
}
