//! Which Python a shell would start, without starting it: an interpreter takes milliseconds to
//! answer, and a shim of pyenv hundreds.
//!
//! The exact version is, in this order: what a virtual environment notes, what the path of the
//! program says, what the headers beside it say, what conda notes, what the system's package
//! says. Where none does, it is the series that the program is named after (`3.11`).

use std::path::{Component, Path, PathBuf};

use crate::{MachineEnvironment, read};

/// The version where there is no Python.
const NOT_FOUND: &str = "not found";

/// The version where there is one, and nothing tells which.
const UNKNOWN: &str = "unknown";

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Python {
    is_found: bool,
    exact: Option<String>,
    series: Option<String>,
    /// True if a package of the system has it.
    is_packaged: bool,
    /// The folders that it has packages in, as `lib/python3.11/site-packages`.
    pub prefixes: Vec<PathBuf>,
}

impl Python {
    /// The packages of the system that can tell its version, the nearest first.
    pub(super) fn package_names(&self) -> Vec<String> {
        match &self.series {
            Some(series) if self.exact.is_none() && self.is_packaged => {
                let own = [format!("python{series}-minimal"), format!("python{series}")];
                own.into_iter().chain(["python3".into(), "python".into()]).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its version, as well as it can be told.
    pub(super) fn version<'a>(&self, of_package: impl Fn(&str) -> Option<&'a str>) -> String {
        let packaged = || {
            self.package_names().iter().find_map(|name| {
                let version = exact(of_package(name)?)?;
                belongs(version, self.series.as_deref()).then(|| version.to_owned())
            })
        };
        let known = self.exact.clone().or_else(packaged).or_else(|| self.series.clone());
        known.unwrap_or_else(|| if self.is_found { UNKNOWN } else { NOT_FOUND }.to_owned())
    }
}

/// The Python that a shell would start.
pub(super) fn find(machine: &MachineEnvironment) -> Python {
    if let Some(python) = machine.virtual_env.as_deref().and_then(environment) {
        return python;
    }
    for name in ["python3", "python"] {
        let programs = machine.path.iter().map(|folder| folder.join(name));
        for program in programs.filter(|program| can_be_started(program)) {
            if let Some(python) = started_by(machine, &program) {
                return python;
            }
        }
    }
    Python::default()
}

/// True if a shell would start it, and not look on.
fn can_be_started(program: &Path) -> bool {
    program.is_file() && rustix::fs::access(program, rustix::fs::Access::EXEC_OK).is_ok()
}

/// The Python that a program on the path starts; nothing where it hands on to the next one.
fn started_by(machine: &MachineEnvironment, program: &Path) -> Option<Python> {
    let folder = program.parent()?;
    if folder.file_name()? == "shims"
        && let Some(root) = folder.parent()
        && root.join("versions").is_dir()
    {
        return pyenv(machine, root);
    }
    Some(folder.parent().and_then(environment).unwrap_or_else(|| installation(program)))
}

/// A virtual environment.
fn environment(prefix: &Path) -> Option<Python> {
    let notes = read::text(&prefix.join("pyvenv.cfg"))?;
    let note = |name: &str| {
        let lines = notes.lines().filter_map(|line| line.split_once('='));
        lines.filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim()).next()
    };
    // The standard library writes the first, virtualenv the second.
    let version = note("version").or_else(|| note("version_info")).unwrap_or_default();
    Some(Python {
        is_found: true,
        exact: exact(version).map(str::to_owned),
        series: series(version).map(str::to_owned),
        is_packaged: false,
        prefixes: vec![prefix.to_owned()],
    })
}

/// The Python that pyenv starts: the version that its environment or its file names.
fn pyenv(machine: &MachineEnvironment, root: &Path) -> Option<Python> {
    let global = || read::text(&root.join("version"));
    let names = machine.pyenv_version.clone().or_else(global).unwrap_or_default();
    let name = names.split([':', '\n', ' ', '\t']).find(|name| !name.is_empty())?;
    if name == "system" {
        return None;
    }
    let versions = root.join("versions");
    let mut parts = Path::new(name).components();
    let is_plain = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    // `3.11` means the newest of that series.
    let newest = || {
        let folders = read::folders(&versions, &format!("{name}."));
        folders.into_iter().max_by_key(|folder| {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            name.split('.').map(|part| part.parse().unwrap_or(0)).collect::<Vec<u32>>()
        })
    };
    let prefix = Some(versions.join(name)).filter(|it| is_plain && it.is_dir());
    let Some(prefix) = prefix.or_else(|| newest().filter(|_| is_plain)) else {
        return Some(Python { is_found: true, ..Python::default() });
    };
    let found = environment(&prefix);
    Some(found.unwrap_or_else(|| installation(&prefix.join("bin/python3"))))
}

/// A Python that is installed.
fn installation(program: &Path) -> Python {
    let mut python = Python { is_found: true, ..Python::default() };
    let Ok(real) = program.canonicalize() else { return python };
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else { return python };
    let Some(prefix) = folder.parent() else { return python };
    let name = name.to_string_lossy();
    let named = name.strip_prefix("python").and_then(series).map(str::to_owned);
    python.is_packaged = folder.ends_with("usr/bin");
    python.series = named.or_else(|| only_library(prefix));
    if let Some(series) = &python.series {
        python.exact = in_path(&real, series)
            .or_else(|| in_headers(prefix, series))
            .or_else(|| in_conda(prefix, series));
    }
    python.prefixes.push(prefix.to_owned());
    python
}

/// The series of the one library there is.
fn only_library(prefix: &Path) -> Option<String> {
    let folders = read::folders(&prefix.join("lib"), "python3.");
    let [folder] = folders.as_slice() else { return None };
    let name = folder.file_name()?.to_string_lossy();
    name.strip_prefix("python").and_then(series).map(str::to_owned)
}

/// `~/.pyenv/versions/3.11.7/bin`, `Cellar/python@3.11/3.11.7_1/bin`.
fn in_path(path: &Path, series: &str) -> Option<String> {
    let parts = path.components().rev().map(|part| part.as_os_str().to_string_lossy());
    let versions = parts.filter_map(|part| exact(&part).map(str::to_owned));
    versions.into_iter().find(|version| belongs(version, Some(series)))
}

fn in_headers(prefix: &Path, series: &str) -> Option<String> {
    let header = prefix.join(format!("include/python{series}/patchlevel.h"));
    let text = read::text(&header)?;
    let line = text.lines().find_map(|line| line.strip_prefix("#define PY_VERSION "))?;
    exact(line).filter(|version| belongs(version, Some(series))).map(str::to_owned)
}

/// `conda-meta/python-3.11.4-h955ad1f_0.json`
fn in_conda(prefix: &Path, series: &str) -> Option<String> {
    let names = read::names(&prefix.join("conda-meta"))?;
    names.iter().find_map(|name| {
        let name = name.to_str()?.strip_prefix("python-")?;
        exact(name).filter(|version| belongs(version, Some(series))).map(str::to_owned)
    })
}

fn belongs(version: &str, series: Option<&str>) -> bool {
    let rest = series.and_then(|series| version.strip_prefix(series));
    rest.is_some_and(|rest| rest.starts_with('.'))
}

/// `3.11` at the beginning.
fn series(text: &str) -> Option<&str> {
    let end = numbers(text, 2)?;
    Some(&text[..end])
}

/// The first exact version in a text, such as `3.11.4` or `3.13.0rc1`.
fn exact(text: &str) -> Option<&str> {
    let begins = |(at, _): &(usize, char)| {
        let before = text[..*at].chars().next_back();
        !before.is_some_and(|one| one.is_ascii_digit() || one == '.')
    };
    let digits = text.char_indices().filter(|(_, one)| one.is_ascii_digit()).filter(begins);
    digits.into_iter().find_map(|(start, _)| {
        let rest = &text[start..];
        let end = numbers(rest, 3)?;
        let candidate = ["rc", "a", "b"].iter().find_map(|word| {
            let rest = rest[end..].strip_prefix(word)?;
            numbers(rest, 1).map(|digits| word.len() + digits)
        });
        Some(&rest[..end + candidate.unwrap_or(0)])
    })
}

/// Where so many numbers with dots between them end.
fn numbers(text: &str, count: usize) -> Option<usize> {
    let mut end = 0;
    for number in 0..count {
        if number > 0 {
            end += text[end..].starts_with('.').then_some(1)?;
        }
        let digits = text[end..].bytes().take_while(u8::is_ascii_digit).count();
        end += (1..=5).contains(&digits).then_some(digits)?;
    }
    Some(end)
}

#[cfg(test)]
mod tests;
