//! The paths that a program is started with: whatever its words and variables name.
//!
//! Code and data look alike there, so everything counts as code. The operator says what is data (`sandbox.data`).

use std::{
    collections::{BTreeSet, HashMap},
    ffi::OsString,
    path::{Path, PathBuf},
};

/// Divides the paths in a word or a variable: lists, options with a value, lines for a shell.
const DIVIDERS: [char; 12] = [':', ',', '=', ';', '\'', '"', '(', ')', '<', '>', '|', '&'];

/// The folder that a program starts in, to look for names.
pub struct StartFolder<'a> {
    folder: &'a Path,
    /// Its entries by the part of their names before the first dot, as modules are named.
    entries: HashMap<String, Vec<OsString>>,
}

impl<'a> StartFolder<'a> {
    pub fn read(folder: &'a Path) -> Self {
        let mut entries: HashMap<_, Vec<OsString>> = HashMap::new();
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let stem = stem(&name.to_string_lossy()).to_owned();
            entries.entry(stem).or_default().push(name);
        }
        Self { folder, entries }
    }

    /// The paths that a word or the value of a variable names. One with a slash counts also if nothing is there yet:
    /// it may be made.
    pub fn named_by(&self, text: &str) -> BTreeSet<PathBuf> {
        let value = text.split_once('=').map(|(_, value)| value);
        let whole = [Some(text), value].into_iter().flatten().filter(|name| !name.is_empty());
        let whole = whole.map(|name| self.folder.join(name));
        let mut paths: BTreeSet<_> = whole.filter(|path| path.exists()).collect();
        for part in text.split(|one: char| one.is_whitespace() || DIVIDERS.contains(&one)) {
            // A value may stand right behind the letter of its option.
            let name = match part.strip_prefix('-') {
                Some(option) if option.starts_with('-') => continue,
                Some(option) => option.get(1..).unwrap_or_default(),
                None => part,
            };
            if name.is_empty() {
                continue;
            }
            let path = self.folder.join(name);
            if name.contains('/') || path.exists() {
                paths.insert(path);
            } else if let Some(entries) = self.entries.get(stem(name)) {
                paths.extend(entries.iter().map(|entry| self.folder.join(entry)));
            }
        }
        paths
    }
}

/// The name of a module: what stands before the first dot.
fn stem(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_words_name_counts() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for file in ["app/__main__.py", "site/x", "tool.py", "run.js", "a b/x"] {
            std::fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            std::fs::write(at(file), "").unwrap();
        }
        let start = StartFolder::read(folder.path());
        for (text, expected) in [
            ("./app", &["app"][..]),
            ("app.sub", &["app"]),
            ("tool", &["tool.py"]),
            ("-mtool", &["tool.py"]),
            ("-I./lib", &["lib"]),
            ("--import=./site", &["site"]),
            ("/opt/x:./lib:site", &["/opt/x", "lib", "site"]),
            ("--no-warnings --require=./hook.js", &["hook.js"]),
            ("exec ./run.js", &["run.js"]),
            ("cd site && ./run.js >out/x 2>/dev/null", &["site", "run.js", "out/x", "/dev/null"]),
            ("a b", &["a b"]),
            (".", &["."]),
            ("--root=a b", &["a b"]),
            ("file:///opt/x", &["/opt/x"]),
            ("dev", &[]),
            ("-u", &[]),
            ("", &[]),
        ] {
            let plain = |path: PathBuf| -> PathBuf { path.components().collect() };
            let found: BTreeSet<_> = start.named_by(text).into_iter().map(plain).collect();
            let expected: BTreeSet<_> = expected.iter().map(|path| plain(at(path))).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
