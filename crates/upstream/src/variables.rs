//! `${NAME}` in the settings of an upstream: secrets come from the environment and stand in no file.

/// A text with every `${NAME}` replaced. `${NAME:-text}` has a default, and `${env:NAME}` is how some
/// other clients write the same.
pub fn expand(
    text: &str,
    look_up: impl Fn(&str) -> Option<String>,
) -> Result<String, VariableError> {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        expanded.push_str(&rest[..start]);
        let inside = &rest[start + 2..];
        let Some(end) = inside.find('}') else {
            return Err(VariableError::Open(text.to_owned()));
        };
        let (name, default) = match inside[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&inside[..end], None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(VariableError::NoName(inside[..end].to_owned()));
        }
        match look_up(name).or_else(|| default.map(str::to_owned)) {
            Some(value) => expanded.push_str(&value),
            None => return Err(VariableError::Missing(name.to_owned())),
        }
        rest = &inside[end + 1..];
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// Why a text could not be completed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// The variable is not set.
    #[error("the environment variable `{0}` is not set")]
    Missing(String),
    /// What stands between the braces is none.
    #[error("`${{{0}}}` names no environment variable")]
    NoName(String),
    /// The braces are not closed.
    #[error("`${{` is not closed in `{0}`")]
    Open(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced() {
        let look_up = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
        let check = |text: &str| expand(text, look_up);
        assert_eq!(check("Bearer ${TOKEN}"), Ok("Bearer s3cret".into()));
        assert_eq!(check("${env:TOKEN}/${TOKEN}"), Ok("s3cret/s3cret".into()));
        assert_eq!(check("${NOPE:-a b}"), Ok("a b".into()));
        assert_eq!(check("$5 and $TOKEN {x}"), Ok("$5 and $TOKEN {x}".into()));
        assert_eq!(check("${NOPE}"), Err(VariableError::Missing("NOPE".into())));
        assert_eq!(check("${input:key}"), Err(VariableError::NoName("input:key".into())));
        assert_eq!(check("${TOKEN"), Err(VariableError::Open("${TOKEN".into())));
    }
}
