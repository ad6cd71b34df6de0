//! Which text may name a file.

/// The longest name that common file systems take.
const MAX_NAME_BYTES: usize = 255;

/// The reason why a text is not one plain file name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// There is nothing.
    #[error("a file name must not be empty")]
    Empty,
    /// It does not fit into a directory.
    #[error("a file name must not be longer than {MAX_NAME_BYTES} bytes")]
    TooLong,
    /// It is a path.
    #[error("a file name must not contain `/` or `\\`")]
    Separator,
    /// It would upset a terminal or a log.
    #[error("a file name must not contain control characters")]
    Control,
    /// It means the folder or its parent.
    #[error("a file name must not be `.` or `..`")]
    Dots,
}

/// Checks that `name` is one plain file name: 1 to 255 bytes, no `/`, `\`, NUL or other control
/// character, not `.` or `..`.
pub fn plain_name(name: &str) -> Result<(), NameError> {
    if name.is_empty() {
        Err(NameError::Empty)
    } else if name.len() > MAX_NAME_BYTES {
        Err(NameError::TooLong)
    } else if name.contains(['/', '\\']) {
        Err(NameError::Separator)
    } else if name.contains(char::is_control) {
        Err(NameError::Control)
    } else if matches!(name, "." | "..") {
        Err(NameError::Dots)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_names_pass() {
        for name in ["a", "report.csv", "...", ".hidden", "-rf", "Grüße 1.txt", &"x".repeat(255)]
        {
            assert_eq!(plain_name(name), Ok(()), "{name}");
        }
    }

    #[test]
    fn everything_else_is_refused_with_its_reason() {
        for (name, reason) in [
            ("", NameError::Empty),
            (".", NameError::Dots),
            ("..", NameError::Dots),
            ("/", NameError::Separator),
            ("../a", NameError::Separator),
            ("a/", NameError::Separator),
            ("a\\b", NameError::Separator),
            ("a\0", NameError::Control),
            ("a\nb", NameError::Control),
            ("a\u{7f}", NameError::Control),
            ("a\u{9b}", NameError::Control),
            (&"x".repeat(256), NameError::TooLong),
            (&"ü".repeat(128), NameError::TooLong),
        ] {
            assert_eq!(plain_name(name), Err(reason), "{name:?}");
        }
    }
}
