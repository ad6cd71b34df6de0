//! Writes a contract to start from.

use std::{
    io::IsTerminal,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::Args;
use contract::read;
use serde_json::{Value, json};

use crate::{
    Exit,
    commands::{unserved, upstream::settings_file::SettingsFile},
    examples,
    files::write_new,
    printer::Printer,
    settings::{Flags, LoadedSettings},
};

/// A working contract to start from.
const STARTER: &str = include_str!("../../starter/contract.yaml");
/// The key of the settings that names contracts.
const KEY: &str = "contracts";

#[derive(Args)]
pub struct NewCommand {
    /// The name of the tool
    name: String,
    /// The folder to write it to
    #[arg(long, default_value = unserved::CONTRACTS_FOLDER)]
    folder: PathBuf,
    /// Add it to the settings without asking
    #[arg(long)]
    yes: bool,
}

impl NewCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let Self { name, folder, yes } = self;
        let text = STARTER.replace("NAME", name);
        let (read, diagnostics) = read::contract(name, &text);
        let Some((contract, _)) = read else {
            // The starter is sound, so it can only be the name.
            let first = diagnostics.first().map(|one| one.message.clone()).unwrap_or_default();
            bail!("`{name}` cannot be the name of a tool: {first}");
        };
        if contract.toolset == *name {
            bail!("`{name}` is the toolset of new contracts; choose another name");
        }
        if examples::find_built_in(name, &tools::ToolSettings::default()).is_some() {
            bail!("`{name}` is a built-in tool; choose another name");
        }
        if *yes {
            // Said before anything is written.
            SettingsFile::of(flags, "contracts new --yes")?.draft()?.load()?;
        }
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
        let file = folder.join(format!("{name}.yaml"));
        write_new(&file, &text)?;
        printer.say(format!("wrote {}", file.display()));
        let next = format!("toolgate contracts test {name}");
        let line = match self.wire(flags, &file, printer)? {
            Wiring::Done => None,
            Wiring::Missing(line) => Some(line),
        };
        printer.say(match line {
            None => format!("next: {next}"),
            Some(line) => format!("next: {line}, then {next}"),
        });
        Ok(Exit::Ok)
    }

    /// Adds the folder to the settings, if the person wants that.
    fn wire(&self, flags: &Flags, file: &Path, printer: &Printer) -> anyhow::Result<Wiring> {
        // Settings with mistakes are not changed, and what is missing in them cannot be told.
        let Ok(loaded) = flags.load() else {
            let folder = self.folder.display();
            let line = format!("add `contracts: [ ./{folder} ]` to toolgate.yaml");
            return Ok(Wiring::Missing(line));
        };
        if is_wired(&loaded, file) {
            return Ok(Wiring::Done);
        }
        let line = unserved::line_to_add(&loaded, &self.folder);
        let is_asked = !self.yes && !flags.no_config && std::io::stdin().is_terminal();
        let agrees = self.yes || is_asked && printer.confirm(&format!("{line}?"))?;
        if !agrees {
            return Ok(Wiring::Missing(line));
        }
        let settings = SettingsFile::of(flags, "contracts new --yes")?;
        settings.change(|draft| {
            // Another command may have added it since.
            let entry = unserved::entry(&loaded, &self.folder);
            let there = draft.value(&[KEY]);
            let there = there.as_ref().and_then(Value::as_array).into_iter().flatten();
            if there.into_iter().any(|one| *one == entry) {
                return Ok(());
            }
            draft.push(&[KEY], &json!(entry))
        })?;
        let entry = unserved::entry(&loaded, &self.folder);
        printer.say(format!("added `{entry}` to `contracts` in {}", settings.path.display()));
        Ok(Wiring::Done)
    }
}

/// Whether the settings name a new contract.
enum Wiring {
    Done,
    /// What to add to them.
    Missing(String),
}

fn is_wired(loaded: &LoadedSettings, file: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let own = real(file);
    let wired = crate::wiring::user_files(loaded).unwrap_or_default();
    own.is_some() && wired.iter().any(|one| real(one) == own)
}
