//! Which packages are wanted.

use std::{borrow::Cow, collections::HashSet};

use serde::Serialize;

/// The names of the packages that are worth knowing on most machines.
pub fn default_key_packages() -> impl Iterator<Item = &'static str> {
    include_str!("key_packages.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Which packages a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageScope {
    /// The key packages.
    Key,
    /// All of them.
    All,
}

/// The packages that are worth listing every time.
#[derive(Debug, Clone, Default)]
pub struct KeyPackages {
    names: HashSet<String>,
    beginnings: Vec<String>,
}

impl KeyPackages {
    /// The packages of these names; one that ends with `*` is the beginning of names.
    pub fn new(names: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut key = Self::default();
        for name in names {
            match name.as_ref().strip_suffix('*') {
                Some(beginning) => key.beginnings.push(folded(beginning).into_owned()),
                None => {
                    key.names.insert(folded(name.as_ref()).into_owned());
                }
            }
        }
        key
    }

    fn has(&self, folded: &str) -> bool {
        self.names.contains(folded)
            || self.beginnings.iter().any(|beginning| folded.starts_with(beginning))
    }
}

/// Which packages are wanted.
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    key: Option<&'a KeyPackages>,
    also: HashSet<String>,
}

impl<'a> Selection<'a> {
    /// Every package.
    pub fn all() -> Self {
        Self { key: None, also: HashSet::new() }
    }

    pub fn key(key: &'a KeyPackages) -> Self {
        Self { key: Some(key), also: HashSet::new() }
    }

    /// The same and these, however their names are spelt.
    #[must_use]
    pub fn and<'n>(mut self, names: impl IntoIterator<Item = &'n str>) -> Self {
        self.also.extend(names.into_iter().map(|name| folded(name).into_owned()));
        self
    }

    /// The word for it.
    pub fn scope(&self) -> PackageScope {
        if self.key.is_some() { PackageScope::Key } else { PackageScope::All }
    }

    pub(super) fn takes(&self, name: &str) -> bool {
        let Some(key) = self.key else { return true };
        let folded = folded(name);
        key.has(&folded) || self.also.contains(&*folded)
    }
}

/// A name as it is compared: `MLX_LM` and `mlx-lm` are one package, by the rule of Python's
/// package index (small letters, and one hyphen for any run of `-`, `_` and `.`).
pub(crate) fn folded(name: &str) -> Cow<'_, str> {
    let plain = |byte: u8| !byte.is_ascii_uppercase() && byte != b'_' && byte != b'.';
    if name.bytes().all(plain) && !name.contains("--") {
        return Cow::Borrowed(name);
    }
    let mut folded = String::with_capacity(name.len());
    for character in name.chars() {
        let character = if matches!(character, '_' | '.') { '-' } else { character };
        if character != '-' || !folded.ends_with('-') {
            folded.push(character.to_ascii_lowercase());
        }
    }
    Cow::Owned(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_the_index_does() {
        for (name, expected) in [
            ("mlx-lm", "mlx-lm"),
            ("MLX_LM", "mlx-lm"),
            ("zope.interface", "zope-interface"),
            ("a-_.b", "a-b"),
            ("a--b", "a-b"),
            ("g++", "g++"),
            ("", ""),
        ] {
            assert_eq!(folded(name), expected);
        }
    }

    #[test]
    fn key_packages_are_names_or_beginnings() {
        let key = KeyPackages::new(["mlx_lm", "linux-image-*", "containerd.io"]);
        let selection = Selection::key(&key);
        for name in ["mlx-lm", "mlx_lm", "linux-image-6.1.0-21-amd64", "containerd.io"] {
            assert!(selection.takes(name), "{name}");
        }
        for name in ["mlx", "linux-headers", "containerd", ""] {
            assert!(!selection.takes(name), "{name}");
        }
        assert!(selection.clone().and(["PyYAML"]).takes("pyyaml"));
        assert!(Selection::all().takes("anything"));
        let spelt = KeyPackages::new(["PyYAML*", "python3.*"]);
        for name in ["pyyaml", "PyYAML_env", "python3.11"] {
            assert!(Selection::key(&spelt).takes(name), "{name}");
        }
        assert_eq!(
            (selection.scope(), Selection::all().scope()),
            (PackageScope::Key, PackageScope::All)
        );
    }
}
