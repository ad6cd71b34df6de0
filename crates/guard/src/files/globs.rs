//! Which paths of a tree may be opened, by globs of the operator's.
//!
//! A denial counts before a permission, and errs on the side of denying: case does not
//! matter, a denied folder takes everything below it along, and a glob that is one name means that
//! name at any depth. What is allowed is taken literally.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::SafePath;

/// Globs of paths that may be opened, and of paths that may not.
#[derive(Debug, Clone)]
pub struct Globs {
    allow: GlobSet,
    deny: GlobSet,
}

/// A glob that does not mean anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{glob}` {reason}")]
pub struct GlobError {
    glob: String,
    reason: String,
}

impl Globs {
    /// Paths that match one of `allow` and none of `deny`.
    pub fn new(allow: &[String], deny: &[String]) -> Result<Self, GlobError> {
        let mut allowed = GlobSetBuilder::new();
        for glob in allow {
            check_glob(glob)?;
            allowed.add(compile(glob, false)?);
        }
        let mut denied = GlobSetBuilder::new();
        for glob in deny {
            check_glob(glob)?;
            denied.add(compile(glob, true)?);
            // What is in a folder is denied, so whether there is a folder is nobody's business.
            let folder = glob.strip_suffix("/**").filter(|folder| !folder.is_empty());
            if let Some(folder) = folder {
                denied.add(compile(folder, true)?);
            }
            let whole = folder.unwrap_or(glob);
            if !whole.contains('/') {
                denied.add(compile(&format!("**/{whole}"), true)?);
            }
        }
        let built = |builder: GlobSetBuilder| {
            builder.build().map_err(|error| GlobError {
                glob: error.glob().unwrap_or_default().to_owned(),
                reason: error.kind().to_string(),
            })
        };
        Ok(Self { allow: built(allowed)?, deny: built(denied)? })
    }

    /// True if the path may be opened. The folder itself never may.
    pub fn allow(&self, path: &SafePath) -> bool {
        let whole = path.as_str();
        let ends = whole.match_indices('/').map(|(end, _)| end).chain([whole.len()]);
        let denied = ends.into_iter().any(|end| self.deny.is_match(&whole[..end]));
        !denied && !path.is_root() && self.allow.is_match(whole)
    }
}

/// Checks that the text is a glob that can match something.
pub fn check_glob(glob: &str) -> Result<(), GlobError> {
    let refuse = |reason: &str| {
        Err(GlobError { glob: glob.chars().take(100).collect(), reason: reason.to_owned() })
    };
    if glob.is_empty() {
        refuse("is empty and matches nothing")
    } else if glob.starts_with('/') {
        refuse("begins with `/`; globs start at the folder itself")
    } else if glob.ends_with('/') {
        refuse("ends in `/`; what is in a folder is `folder/**`")
    } else if glob.contains("//") || glob.split('/').any(|name| matches!(name, "." | "..")) {
        refuse("contains `.`, `..` or nothing between slashes, which no path does")
    } else {
        compile(glob, false).map(|_| ())
    }
}

fn compile(glob: &str, any_case: bool) -> Result<globset::Glob, GlobError> {
    let mut builder = GlobBuilder::new(glob);
    builder.literal_separator(true).case_insensitive(any_case);
    builder.build().map_err(|error| GlobError {
        glob: glob.chars().take(100).collect(),
        reason: format!("is not a glob: {}", error.kind()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn globs(allow: &[&str], deny: &[&str]) -> Globs {
        let all = |globs: &[&str]| globs.iter().map(ToString::to_string).collect::<Vec<_>>();
        Globs::new(&all(allow), &all(deny)).unwrap()
    }

    fn allows(globs: &Globs, path: &str) -> bool {
        globs.allow(&SafePath::parse(path).unwrap())
    }

    #[test]
    fn what_is_allowed_is_taken_literally() {
        let globs = globs(&["docs/**", "README.md", "src/*.rs"], &[]);
        for path in ["docs/a", "docs/a/b/c", "README.md", "src/lib.rs"] {
            assert!(allows(&globs, path), "{path}");
        }
        for path in ["docs", "Docs/a", "readme.md", "a/README.md", "src/a/lib.rs", "xdocs/a", "."] {
            assert!(!allows(&globs, path), "{path}");
        }
    }

    #[test]
    fn what_is_denied_counts_first_and_takes_more_along() {
        let globs = globs(&["**"], &[".env*", "**/secrets/**", "**/.git/**", "private/**", "a/b"]);
        for path in [
            ".env",
            ".env.local",
            ".ENV",
            "docs/.env",
            "docs/.Env.d/x",
            "secrets",
            "secrets/x",
            "docs/SECRETS/x/y",
            ".git",
            ".git/config",
            "sub/.git",
            "sub/.git/config",
            "private",
            "private/x",
            "docs/private",
            "a/b",
            "a/b/c",
        ] {
            assert!(!allows(&globs, path), "{path}");
        }
        for path in ["env", "docs/env.md", "docs/secrets.md", ".gitignore", "a/bc", "x/a/b", "a"] {
            assert!(allows(&globs, path), "{path}");
        }
    }

    #[test]
    fn globs_that_mean_nothing_are_told() {
        for (glob, words) in [
            ("", "`` is empty"),
            ("/etc/**", "begins with `/`"),
            ("secrets/", "ends in `/`"),
            ("./docs/**", "which no path does"),
            ("docs/../x", "which no path does"),
            ("docs//x", "which no path does"),
            ("docs/[a", "is not a glob: unclosed character class"),
            ("{a,b", "is not a glob: unclosed alternate group"),
            ("a/***", ""),
        ] {
            let one = [glob.to_owned()];
            let error = check_glob(glob).err();
            assert_eq!(Globs::new(&one, &[]).err(), error, "{glob}");
            assert_eq!(Globs::new(&[], &one).err(), error, "{glob}");
            let said = error.map(|error| error.to_string()).unwrap_or_default();
            assert!(said.contains(words), "{glob}: {said}");
        }
    }
}
