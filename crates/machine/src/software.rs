//! The software of the machine: the system, Python, and packages.
//!
//! Everything is read from where package managers keep their databases; no program is run. Each
//! source is a file in this folder, and says nothing where it is not in use.

mod apk;
mod brew;
mod collect;
mod dpkg;
mod pacman;
mod paragraphs;
mod pip;
mod python;
#[cfg(target_os = "linux")]
mod rpm;
mod select;
mod system;

use serde::Serialize;

use self::collect::Collector;
pub(crate) use self::select::folded;
pub use self::select::{KeyPackages, PackageScope, Selection, default_key_packages};
use crate::MachineEnvironment;

/// The software of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Software {
    /// The name and version of the system, as it calls itself.
    pub os_version: String,
    /// The version of the kernel.
    pub kernel: String,
    /// The version of Python that a shell would start: `not found` where there is none, `unknown`
    /// where its version cannot be told.
    pub python_version: String,
    /// The packages as `name==version`, sorted, each once.
    pub packages: Vec<String>,
    /// Which packages those are.
    pub packages_scope: PackageScope,
    /// Where they come from.
    pub package_sources: Vec<PackageSource>,
}

/// A package manager that is in use here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PackageSource {
    /// Its name.
    pub source: &'static str,
    /// The result of reading its database.
    pub state: SourceState,
    /// The number of packages that it has, whether they were asked for or not.
    pub packages: usize,
    /// The number of entries that were left out: broken, or beyond the limit.
    pub skipped: usize,
}

/// The result of reading the database of a package manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceState {
    /// It was read to the end.
    Read,
    /// It is larger than the limit.
    TooLarge,
    /// It may not be read, or is broken; what came before is listed.
    Unreadable,
    /// It is in a format that is not read here.
    NotSupported,
}

/// Reads the database of a package manager, where it is in use.
type PackageReader<'a> = dyn Fn(&mut Collector) -> Option<SourceState> + 'a;

/// Reads the software of this machine.
pub fn software(machine: &MachineEnvironment, selection: &Selection) -> Software {
    let (os_version, kernel) = system::read(machine);
    let python = python::find(machine);
    let mut collector = Collector::new(selection, python.package_names());
    let mut package_sources = Vec::new();
    let readers: &[(&'static str, &PackageReader)] = &[
        ("apk", &|collector| apk::read(machine, collector)),
        ("brew", &|collector| brew::read(machine, collector)),
        ("dpkg", &|collector| dpkg::read(machine, collector)),
        ("pacman", &|collector| pacman::read(machine, collector)),
        ("pip", &|collector| pip::read(machine, &python, collector)),
        #[cfg(target_os = "linux")]
        ("rpm", &|collector| rpm::read(machine, collector)),
    ];
    for (source, reader) in readers {
        collector.begin();
        if let Some(state) = reader(&mut collector) {
            let (packages, skipped) = collector.counts();
            package_sources.push(PackageSource { source, state, packages, skipped });
        }
    }
    let python_version = python.version(|name| collector.version_of(name));
    Software {
        os_version,
        kernel,
        python_version,
        packages: collector.finish(),
        packages_scope: selection.scope(),
        package_sources,
    }
}

#[cfg(test)]
mod tests;
