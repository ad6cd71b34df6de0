//! The packages of Python: a folder (or a file) of metadata for each, whose name tells name and
//! version. Only where it does not is the metadata itself read.

use std::path::{Path, PathBuf};

use super::{SourceState, collect::Collector, folded, python::Python};
use crate::{MachineEnvironment, read};

/// The number of folders of packages that are looked into.
const MAX_FOLDERS: usize = 64;

/// Where Pythons of the system keep their libraries.
const PREFIXES: &[&str] = &["usr", "usr/local", "opt/homebrew"];

pub(super) fn read(
    machine: &MachineEnvironment,
    python: &Python,
    collector: &mut Collector,
) -> Option<SourceState> {
    let folders = folders(machine, python);
    for folder in &folders {
        for name in read::names(folder).unwrap_or_default() {
            if let Some(name) = name.to_str() {
                entry(folder, name, collector);
            }
        }
    }
    (!folders.is_empty()).then_some(SourceState::Read)
}

/// The folders of packages: of the Python in use, of the system, and of this user. Each once,
/// by whatever names it is reached.
fn folders(machine: &MachineEnvironment, python: &Python) -> Vec<PathBuf> {
    let mut prefixes = python.prefixes.clone();
    prefixes.extend(PREFIXES.iter().map(|prefix| machine.at(prefix)));
    prefixes.extend(machine.home.iter().map(|home| home.join(".local")));
    let mut found: Vec<PathBuf> = Vec::new();
    for prefix in prefixes {
        for library in ["lib", "lib64"] {
            for version in read::folders(&prefix.join(library), "python3") {
                for name in ["site-packages", "dist-packages"] {
                    let Ok(folder) = version.join(name).canonicalize() else { continue };
                    if !found.contains(&folder) && found.len() < MAX_FOLDERS {
                        found.push(folder);
                    }
                }
            }
        }
    }
    found
}

/// An entry of such a folder: most are the packages themselves.
fn entry(folder: &Path, entry: &str, collector: &mut Collector) {
    // What begins with a tilde is what an interrupted pip left over.
    let (stem, file) = match (entry.strip_suffix(".dist-info"), entry.strip_suffix(".egg-info")) {
        _ if entry.starts_with('~') => return,
        (Some(stem), _) => (stem, "METADATA"),
        (_, Some(stem)) => (without_python(stem), "PKG-INFO"),
        _ => return,
    };
    if let Some((name, version)) = split(stem) {
        collector.take(folded(name).as_bytes(), version.as_bytes());
        return;
    }
    let path = folder.join(entry);
    let text = read::text(&path.join(file)).or_else(|| read::text(&path)).unwrap_or_default();
    let field = |name: &str| {
        let header = text.lines().take_while(|line| !line.is_empty());
        header.filter_map(|line| line.strip_prefix(name)).map(str::trim).next()
    };
    match field("Version:") {
        Some(version) => {
            let name = field("Name:").unwrap_or(stem);
            collector.take(folded(name).as_bytes(), version.as_bytes());
        }
        None => collector.skip(),
    }
}

/// `name-version`, where a version begins with a digit.
fn split(stem: &str) -> Option<(&str, &str)> {
    let (name, version) = stem.rsplit_once('-')?;
    version.starts_with(|one: char| one.is_ascii_digit()).then_some((name, version))
}

/// Old metadata ends with the Python that it is for: `name-1.0-py3.11`.
fn without_python(stem: &str) -> &str {
    match stem.rsplit_once('-') {
        Some((rest, python)) if python.starts_with("py") => rest,
        _ => stem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Selection;

    fn read_all(entries: &[(&str, &str)]) -> (Vec<String>, (usize, usize)) {
        let folder = tempfile::tempdir().unwrap();
        let site = folder.path().join("usr/lib/python3.11/site-packages");
        std::fs::create_dir_all(&site).unwrap();
        // The same by another name.
        std::os::unix::fs::symlink("lib", folder.path().join("usr/lib64")).unwrap();
        for (path, text) in entries {
            let path = site.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let selection = Selection::all();
        let mut collector = Collector::new(&selection, Vec::new());
        let machine = MachineEnvironment::under(folder.path());
        let state = read(&machine, &Python::default(), &mut collector);
        assert_eq!(state, Some(SourceState::Read));
        let counts = collector.counts();
        (collector.finish(), counts)
    }

    #[test]
    fn names_of_folders_tell_all() {
        let (packages, counts) = read_all(&[
            ("fastapi-0.103.2.dist-info/METADATA", "Name: other\nVersion: 9\n"),
            ("PyYAML-6.0.1.dist-info/RECORD", ""),
            ("typing_extensions-4.8.0.dist-info/RECORD", ""),
            ("python_apt-2.6.0.egg-info", "Name: python-apt\n"),
            ("old-1.0-py3.11.egg-info/PKG-INFO", ""),
            ("~umpy-1.26.0.dist-info/RECORD", ""),
            ("numpy/__init__.py", ""),
        ]);
        let expected = [
            "fastapi==0.103.2",
            "old==1.0",
            "python-apt==2.6.0",
            "pyyaml==6.0.1",
            "typing-extensions==4.8.0",
        ];
        assert_eq!(packages, expected);
        assert_eq!(counts, (5, 0));
    }

    #[test]
    fn metadata_tells_what_names_do_not() {
        let (packages, counts) = read_all(&[
            ("dev.egg-info/PKG-INFO", "Name: Dev_Tool\nVersion: 1.5\n\nVersion: 2\n"),
            ("single.egg-info", "Metadata-Version: 2.1\nVersion: 3\n"),
            ("two-words.dist-info/METADATA", "Name: two-words\r\nVersion: 4\r\n"),
            ("nothing.dist-info/METADATA", "\nVersion: 4\n"),
            ("empty.egg-info/x", ""),
        ]);
        assert_eq!(packages, ["dev-tool==1.5", "single==3", "two-words==4"]);
        assert_eq!(counts, (3, 2));
    }
}
