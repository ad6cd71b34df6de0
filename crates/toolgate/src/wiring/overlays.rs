//! What the operator puts over a contract that others wrote: `overlays/<toolset>/<tool>.yaml` beside
//! the settings file.

use std::path::PathBuf;

use anyhow::{Context, bail};
use contract::{Contract, Diagnostic, Document, Schema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Bound;
use crate::settings::Loaded;

/// The folder of overlays, beside the settings file.
const FOLDER: &str = "overlays";

/// What is put over a contract.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// The tool whose contract it is.
    pub tool: String,
    /// In place of the contract's own.
    #[schemars(schema_with = "any_schema")]
    pub output_schema: Value,
}

fn any_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "description": "A JSON Schema (2020-12)." })
}

impl Overlay {
    /// The text of its file, which says where it came from.
    pub fn to_text(&self, origin: &str) -> String {
        let whole = json!({ "tool": self.tool, "output_schema": self.output_schema });
        format!("# {origin}\n{}", contract::document::to_yaml(&whole))
    }
}

/// Where the overlay of a contract is.
pub fn path(contract: &Contract, loaded: &Loaded) -> anyhow::Result<PathBuf> {
    let Contract { name, toolset, .. } = contract;
    // Contracts have such names only; a path is made of them.
    for part in [name, toolset] {
        let fits = |one: char| one.is_ascii_alphanumeric() || "_.-".contains(one);
        if part.is_empty() || part.len() > 64 || !part.chars().all(fits) || part.starts_with('.') {
            bail!("`{part}` cannot be the name of a file");
        }
    }
    Ok(loaded.path(FOLDER).join(toolset).join(format!("{name}.yaml")))
}

/// Puts the overlays that there are over these contracts; tells what is wrong with them.
pub fn apply(bound: &mut [Bound], loaded: &Loaded) -> anyhow::Result<Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    for Bound { contract, .. } in bound {
        let Ok(file) = path(contract, loaded) else { continue };
        let name = file.display().to_string();
        let text = match std::fs::read_to_string(&file) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            text => text.with_context(|| format!("cannot read the overlay `{name}`"))?,
        };
        match read(&name, &text, contract) {
            Ok(overlay) => contract.output_schema = overlay.output_schema,
            Err(found) => diagnostics.extend(found),
        }
    }
    Ok(diagnostics)
}

fn read(name: &str, text: &str, contract: &Contract) -> Result<Overlay, Vec<Diagnostic>> {
    let document = Document::parse(name, text).map_err(|one| vec![*one])?;
    let overlay: Overlay = document.check()?;
    if overlay.tool != contract.name {
        let message = format!("this is the place for the overlay of `{}`", contract.name);
        return Err(vec![document.error("/tool", message)]);
    }
    if let Err(error) = Schema::compile(&overlay.output_schema) {
        let pointer = format!("/output_schema{}", error.pointer);
        return Err(vec![document.error(&pointer, format!("the schema {error}"))]);
    }
    Ok(overlay)
}
