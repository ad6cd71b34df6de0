//! The check of a file name.

use super::{MAX_NAME_BYTES, path::is_invisible};

/// The reason why a text is not one plain file name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a file name must not {0}")]
pub struct NameError(String);

/// Checks that `name` is one plain file name: 1 to 255 bytes, no `/`, `\`, NUL or other control
/// or invisible character, not `.` or `..`.
pub fn plain_name(name: &str) -> Result<(), NameError> {
    let problem = if name.is_empty() {
        "be empty".to_owned()
    } else if name.len() > MAX_NAME_BYTES {
        format!("be longer than {MAX_NAME_BYTES} bytes")
    } else if name.contains(['/', '\\']) {
        "contain `/` or `\\`".to_owned()
    } else if name.contains(char::is_control) {
        "contain control characters".to_owned()
    } else if name.contains(is_invisible) {
        "contain invisible or direction-changing characters".to_owned()
    } else if matches!(name, "." | "..") {
        "be `.` or `..`".to_owned()
    } else {
        return Ok(());
    };
    Err(NameError(problem))
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
        for (name, problem) in [
            ("", "be empty"),
            (".", "be `.` or `..`"),
            ("..", "be `.` or `..`"),
            ("/", "contain `/` or `\\`"),
            ("../a", "contain `/` or `\\`"),
            ("a/", "contain `/` or `\\`"),
            ("a\\b", "contain `/` or `\\`"),
            ("a\0", "contain control characters"),
            ("a\nb", "contain control characters"),
            ("a\u{7f}", "contain control characters"),
            ("a\u{9b}", "contain control characters"),
            ("a\u{202e}fdp.exe", "contain invisible or direction-changing characters"),
            (&"x".repeat(256), "be longer than 255 bytes"),
            (&"ü".repeat(128), "be longer than 255 bytes"),
        ] {
            let error = plain_name(name).unwrap_err().to_string();
            assert_eq!(error, format!("a file name must not {problem}"), "{name:?}");
        }
    }
}
