//! `toolgate init`: a commented settings file to start from.

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;

use crate::{Exit, files::write_new, printer::Printer};

/// All settings, commented out, with their defaults.
const STARTER: &str = include_str!("../starter/toolgate.yaml");

/// Write a commented settings file to start from
#[derive(Args)]
pub struct InitCommand {
    /// Where to write it
    #[arg(default_value = "toolgate.yaml")]
    file: PathBuf,
}

impl InitCommand {
    pub fn run(&self, printer: &Printer) -> anyhow::Result<Exit> {
        if self.file.exists() {
            bail!("`{}` already exists", self.file.display());
        }
        write_new(&self.file, STARTER)?;
        printer.say(format!("wrote {}", self.file.display()));
        if self.file == Path::new("toolgate.yaml") {
            printer.say("next: toolgate config check, then toolgate serve");
        }
        Ok(Exit::Ok)
    }
}
