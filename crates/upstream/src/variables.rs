//! `${NAME}` in the settings of an upstream: secrets come from the environment and are in no file.

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
            return Err(VariableError::Open);
        };
        let (name, default) = match inside[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&inside[..end], None),
        };
        let name = name.strip_prefix("env:").unwrap_or(name);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(of_editor(name).map_or(VariableError::NoName, VariableError::Editor));
        }
        match look_up(name).or_else(|| default.map(str::to_owned)) {
            Some(value) => expanded.push_str(&value),
            None => {
                let shown = of_editor(name);
                return Err(
                    shown.map_or(VariableError::Missing(name.to_owned()), VariableError::Editor)
                );
            }
        }
        rest = &inside[end + 1..];
    }
    expanded.push_str(rest);
    Ok(expanded)
}

/// A variable could not be replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariableError {
    /// The variable is not set.
    #[error("the environment variable `{0}` is not set")]
    Missing(String),
    /// The braces hold something else. It is not shown: it may be a secret that was put in the wrong place.
    #[error("the text between `${{` and `}}` is not the name of an environment variable")]
    NoName,
    /// It is a variable of an editor.
    #[error("`${{{0}}}` is a variable of an editor; replace it by its value")]
    Editor(&'static str),
    /// The braces are not closed. The text is not shown: it may be a secret.
    #[error("`${{` is not closed")]
    Open,
}

/// Variables that editors replace when they start a server: the beginning, and the form that is shown.
const OF_EDITORS: &[(&str, &str)] = &[
    ("input:", "input:…"),
    ("workspaceFolder", "workspaceFolder"),
    ("userHome", "userHome"),
    ("command:", "command:…"),
    ("config:", "config:…"),
];

/// The form in which a variable of an editor is shown.
pub fn of_editor(name: &str) -> Option<&'static str> {
    let known = OF_EDITORS.iter().find(|(beginning, _)| name.starts_with(beginning));
    known.map(|(_, shown)| *shown)
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
        assert_eq!(check("${input:key}"), Err(VariableError::Editor("input:…")));
        assert_eq!(check("${TOKEN"), Err(VariableError::Open));
    }

    #[test]
    fn an_error_tells_nothing_of_the_text() {
        for text in
            ["Bearer sk-SECRET${", "${sk-SECRET}", "${input:sk-SECRET}", "${a b:-sk-SECRET}"]
        {
            let error = expand(text, |_| None).unwrap_err().to_string();
            assert!(!error.contains("SECRET"), "{error}");
        }
    }
}
