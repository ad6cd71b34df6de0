//! The database of Homebrew: a folder for each package, and in it one for each version.

use std::path::{Path, PathBuf};

use super::{SourceState, collect::Collector};
use crate::{MachineEnvironment, read};

/// Where Homebrew lives: on Apple's processors, on others, on Linux.
const PLACES: &[&str] = &["opt/homebrew", "usr/local", "home/linuxbrew/.linuxbrew"];

pub(super) fn read(machine: &MachineEnvironment, collector: &mut Collector) -> Option<SourceState> {
    let mut prefixes: Vec<PathBuf> = machine.homebrew.iter().cloned().collect();
    prefixes.extend(PLACES.iter().map(|place| machine.at(place)));
    prefixes.sort_unstable();
    prefixes.dedup();
    let mut found = false;
    for folder in
        prefixes.iter().flat_map(|prefix| [prefix.join("Cellar"), prefix.join("Caskroom")])
    {
        found |= packages(&folder, collector).is_some();
    }
    found.then_some(SourceState::Read)
}

fn packages(folder: &Path, collector: &mut Collector) -> Option<()> {
    let is_shown = |name: &&std::ffi::OsString| !name.as_encoded_bytes().starts_with(b".");
    for name in read::names(folder)?.iter().filter(is_shown) {
        match read::names(&folder.join(name)) {
            Some(versions) => {
                for version in versions.iter().filter(is_shown) {
                    collector.take(name.as_encoded_bytes(), version.as_encoded_bytes());
                }
            }
            None => collector.skip(),
        }
    }
    Some(())
}
