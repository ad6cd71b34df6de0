//! The check of a path.
//!
//! A path comes from a caller that is not trusted, and often a person reads it before a call is
//! approved. So what is refused here is not only what would lead out of the folder, which the handles
//! see to anyway, but also what does not mean what it looks like.

use std::fmt;

use super::replace;

/// The longest path, in bytes. The kernel takes 4096 with the final NUL.
pub const MAX_PATH_BYTES: usize = 4_095;
/// The longest name in a path, in bytes: what common file systems take.
pub const MAX_NAME_BYTES: usize = 255;
/// The number of names that a path may have.
pub const MAX_DEPTH: usize = 64;

/// The reason why a text is not the path of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// There is nothing.
    #[error("the path is empty")]
    Empty,
    /// It has more than [`MAX_PATH_BYTES`].
    #[error("the path is longer than {MAX_PATH_BYTES} bytes")]
    TooLong,
    /// It has more than [`MAX_DEPTH`] names.
    #[error("the path is deeper than {MAX_DEPTH} folders")]
    TooDeep,
    /// A name in it has more than [`MAX_NAME_BYTES`].
    #[error("a name in the path is longer than {MAX_NAME_BYTES} bytes")]
    NameTooLong,
    /// It would upset a terminal or a log, or ends early for a C program.
    #[error("the path contains a control character")]
    Control,
    /// A person who reads it does not see it.
    #[error("the path contains an invisible or direction-changing character")]
    Invisible,
    /// It is a separator elsewhere.
    #[error("the path contains a backslash; names are separated by `/`")]
    Backslash,
    /// It is the drive of another system.
    #[error("the path begins with a drive letter")]
    Drive,
    /// It goes up.
    #[error("the path contains `..`")]
    Parent,
    /// It is another spelling of the name without it, elsewhere.
    #[error("a name in the path ends in a dot or white space")]
    TrailingDotOrSpace,
    /// It is the name of one of our own temporary files.
    #[error("a name in the path is kept for temporary files")]
    Reserved,
    /// It begins at the root of the machine, and not with the folder's own path.
    #[error("the path is absolute and does not lie in the folder")]
    Absolute,
}

/// A path below a folder: plain names, at most [`MAX_DEPTH`] of them, or none for the folder itself.
///
/// Made once from a caller's text. That it can be made says nothing about where links lead; opening
/// it through a [`FileTree`](super::FileTree) does.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SafePath {
    /// The names, joined by `/`; empty for the folder itself.
    names: String,
    /// True if it was written so that only a folder can be meant.
    folder: bool,
}

impl SafePath {
    /// The folder itself.
    pub fn root() -> Self {
        Self { names: String::new(), folder: true }
    }

    /// Reads a relative path. `.` and doubled separators are left out.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.starts_with('/') {
            // Whatever else is wrong with it is no longer of interest.
            return Err(PathError::Absolute);
        }
        Self::of_names(text)
    }

    /// Reads an absolute path that must lie below one of `roots`, each given as its names.
    pub(super) fn parse_absolute(text: &str, roots: &[Vec<String>]) -> Result<Self, PathError> {
        let names = || text.split('/').filter(|name| !matches!(*name, "" | "."));
        if names().any(|name| name == "..") {
            return Err(PathError::Parent);
        }
        // By whole names, never by the beginning of a string: `/data-old` is not below `/data`.
        let below = roots.iter().find(|root| {
            let mut given = names();
            root.iter().all(|name| given.next() == Some(name))
        });
        let rest: Vec<&str> = match below {
            Some(root) => names().skip(root.len()).collect(),
            None => return Err(PathError::Absolute),
        };
        if rest.is_empty() {
            return Ok(Self::root());
        }
        let slash = if text.ends_with('/') { "/" } else { "" };
        Self::of_names(&format!("{}{slash}", rest.join("/")))
    }

    fn of_names(text: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        if text.len() > MAX_PATH_BYTES {
            return Err(PathError::TooLong);
        }
        for character in text.chars() {
            if character.is_control() {
                return Err(PathError::Control);
            }
            if character == '\\' {
                return Err(PathError::Backslash);
            }
            if is_invisible(character) {
                return Err(PathError::Invisible);
            }
        }
        let mut names = String::with_capacity(text.len());
        let mut depth = 0;
        for name in text.split('/').filter(|name| !matches!(*name, "" | ".")) {
            check_name(name, depth == 0)?;
            depth += 1;
            if depth > MAX_DEPTH {
                return Err(PathError::TooDeep);
            }
            if !names.is_empty() {
                names.push('/');
            }
            names.push_str(name);
        }
        let last = text.rsplit('/').next().unwrap_or_default();
        Ok(Self { names, folder: matches!(last, "" | ".") })
    }

    /// The path of what is called `name` in this folder, if that is a path at all.
    pub fn join(&self, name: &str) -> Result<Self, PathError> {
        if name.contains('/') || matches!(name, "" | "." | "..") {
            return Err(PathError::Parent);
        }
        let whole = if self.is_root() { name.to_owned() } else { format!("{self}/{name}") };
        Self::of_names(&whole)
    }

    /// True if it is the folder itself.
    pub fn is_root(&self) -> bool {
        self.names.is_empty()
    }

    /// True if it was written so that only a folder can be meant, with a final `/` or `.`.
    pub fn names_a_folder(&self) -> bool {
        self.folder
    }

    /// The names, from the outermost.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.split('/').filter(|name| !name.is_empty())
    }

    /// The names joined by `/`, and `.` for the folder itself.
    pub fn as_str(&self) -> &str {
        if self.names.is_empty() { "." } else { &self.names }
    }

    /// The folder that it lies in, and its name there. Nothing for the folder itself.
    pub fn split(&self) -> Option<(Self, &str)> {
        if self.is_root() {
            return None;
        }
        let (parent, name) = self.names.rsplit_once('/').unwrap_or(("", &self.names));
        Some((Self { names: parent.to_owned(), folder: true }, name))
    }
}

impl fmt::Display for SafePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

fn check_name(name: &str, is_first: bool) -> Result<(), PathError> {
    if name == ".." {
        return Err(PathError::Parent);
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(PathError::NameTooLong);
    }
    if name.ends_with(|last: char| last == '.' || last.is_whitespace()) {
        return Err(PathError::TrailingDotOrSpace);
    }
    let bytes = name.as_bytes();
    if is_first && bytes.len() >= 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' {
        return Err(PathError::Drive);
    }
    if replace::is_reserved(name) {
        return Err(PathError::Reserved);
    }
    Ok(())
}

/// True if a character changes what is seen without being seen itself. What a person approves must be
/// what is opened, so no path contains one.
pub(super) fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{00ad}' // soft hyphen
        | '\u{034f}' // combining grapheme joiner
        | '\u{061c}' // Arabic letter mark
        | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' // Hangul fillers
        | '\u{17b4}' | '\u{17b5}' // Khmer inherent vowels
        | '\u{180b}'..='\u{180f}' // Mongolian variation selectors and vowel separator
        | '\u{200b}'..='\u{200f}' // zero-width characters, direction marks
        | '\u{2028}' | '\u{2029}' // line and paragraph separators
        | '\u{202a}'..='\u{202e}' // direction embeddings and overrides
        | '\u{2060}'..='\u{206f}' // joiners, invisible operators, direction isolates
        | '\u{2800}' // Braille pattern without a dot
        | '\u{fe00}'..='\u{fe0f}' // variation selectors
        | '\u{feff}' // byte order mark
        | '\u{fff9}'..='\u{fffb}' // annotation marks
        | '\u{e0000}'..='\u{e007f}' // tags
        | '\u{e0100}'..='\u{e01ef}' // more variation selectors
    )
}
