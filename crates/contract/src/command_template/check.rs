//! What is wrong with the templates of a contract, found when it is read.

use serde_json::Value;

use super::{CONTRACT_FOLDER, END_OF_OPTIONS, TemplatePart, TextTemplate, has_template};
use crate::{Contract, violation::escape};

/// Variables whose values decide what code a program runs.
pub const CODE_VARIABLES: [&str; 14] = [
    "PATH",
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "NODE_PATH",
    "NODE_OPTIONS",
    "RUBYLIB",
    "RUBYOPT",
    "PERL5LIB",
    "CLASSPATH",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "BASH_ENV",
    "ENV",
];
/// Programs that run the text behind `-c` or `-e`. Their names may end in a version.
const INTERPRETERS: [&str; 25] = [
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "fish",
    "csh",
    "tcsh",
    "su",
    "python",
    "pypy",
    "node",
    "bun",
    "deno",
    "ruby",
    "perl",
    "php",
    "lua",
    "awk",
    "gawk",
    "mawk",
    "pwsh",
    REMOTE_SHELL,
];
/// It hands all its words to a shell.
const REMOTE_SHELL: &str = "ssh";
/// Their options with a program as text, beside short ones with `c` or `e` among their letters.
const LONG_CODE_OPTIONS: [&str; 4] = ["--eval", "--command", "--print", "--exec"];
/// The longest chain of references that is followed to the schema of an argument.
const MAX_REFERENCES: usize = 16;

/// A mistake in a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateProblem {
    /// The place in the contract, as a JSON pointer.
    pub pointer: String,
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
    /// True if the contract is refused for it.
    pub is_error: bool,
}

/// The properties of an argument that a template depends on.
#[derive(Debug, Clone, Copy)]
struct ArgumentForm {
    is_list: bool,
    /// True if a call may leave it out, or give an empty list.
    may_be_absent: bool,
}

/// Everything that is wrong with the templates of a contract.
pub fn problems(contract: &Contract) -> Vec<TemplateProblem> {
    let mut check = TemplateCheck { contract, found: Vec::new(), used: Vec::new() };
    check.words();
    check.variables();
    if let Some(stdin) = &contract.stdin {
        check.single("/stdin", &TextTemplate::parse(stdin), "stdin");
    }
    if has_template(contract) {
        check.unused();
    }
    check.found
}

struct TemplateCheck<'a> {
    contract: &'a Contract,
    found: Vec<TemplateProblem>,
    used: Vec<String>,
}

impl TemplateCheck<'_> {
    fn error(&mut self, pointer: &str, message: impl Into<String>, hint: impl Into<String>) {
        let hint = Some(hint.into()).filter(|hint| !hint.is_empty());
        let (pointer, message) = (pointer.to_owned(), message.into());
        self.found.push(TemplateProblem { pointer, message, hint, is_error: true });
    }

    fn words(&mut self) {
        let words: Vec<TextTemplate> =
            self.contract.run.iter().flatten().map(|word| TextTemplate::parse(word)).collect();
        let mut options_end = false;
        for (index, word) in words.iter().enumerate() {
            let pointer = format!("/run/{index}");
            let literal = word.before_arguments();
            options_end |= !word.has_arguments() && literal == END_OF_OPTIONS;
            let Some(first) = word.arguments().next() else { continue };
            if index == 0 {
                let hint = "name the program; only words after it can have arguments";
                self.error(&pointer, "the program cannot be an argument of the call", hint);
                continue;
            }
            let forms = self.forms(&pointer, word);
            if forms.iter().any(|form| form.is_list) && forms.len() > 1 {
                let hint = "give each list a word of its own";
                self.error(&pointer, "a word with a list can have no other argument", hint);
            }
            if !options_end && literal.starts_with('-') && !literal.contains('=') {
                let flag = literal.trim_end_matches(|one: char| one.is_ascii_digit());
                let hint = match literal {
                    "-" | "--" => "name the option; a caller cannot choose it".to_owned(),
                    _ => {
                        format!("write `{flag}={{{first}}}`, or two words: `{flag}`, `{{{first}}}`")
                    }
                };
                let message = format!("`{literal}{{{first}}}` lets a caller choose the option");
                self.error(&pointer, message, hint);
            }
            let before = &words[index - 1];
            let flag = before.before_arguments();
            let is_behind_flag = !before.has_arguments()
                && flag.starts_with('-')
                && flag != END_OF_OPTIONS
                && !literal.starts_with('-');
            if is_behind_flag && forms.iter().any(|form| form.may_be_absent) {
                let message = format!("`{flag}` would be left alone where a call has no `{first}`");
                let hint = format!(
                    "write `{flag}={{{first}}}`, or let `{first}` be required or have a `default`"
                );
                self.error(&pointer, message, hint);
            }
            if is_code(&words[..index], word) {
                let message = format!("`{{{first}}}` would be run as code");
                let hint = format!(
                    "let the script read `$1`, and add the words `--`, `{{{first}}}` behind it"
                );
                self.error(&pointer, message, hint);
            }
        }
    }

    fn variables(&mut self) {
        for (index, entry) in self.contract.env.iter().enumerate() {
            let Some((name, value)) = entry.split_once('=') else { continue };
            let value = TextTemplate::parse(value);
            let pointer = format!("/env/{index}");
            if value.has_arguments() && CODE_VARIABLES.contains(&name) {
                let message = format!("`{name}` decides what code runs, so no argument may set it");
                self.error(&pointer, message, "");
            }
            self.single(&pointer, &value, "a variable");
        }
    }

    /// Checks a text that is one text, whatever the arguments are.
    fn single(&mut self, pointer: &str, text: &TextTemplate, what: &str) {
        if self.forms(pointer, text).iter().any(|form| form.is_list) {
            let message = format!("{what} cannot hold a list");
            self.error(pointer, message, "put it into `run`, where each item becomes a word");
        }
    }

    /// The forms of the arguments in a text, as far as they are sound.
    fn forms(&mut self, pointer: &str, text: &TextTemplate) -> Vec<ArgumentForm> {
        let mut forms = Vec::new();
        for name in text.arguments() {
            self.used.push(name.to_owned());
            let schema = &self.contract.input_schema;
            match schema["properties"].get(name) {
                Some(property) => match form(schema, name, property) {
                    Ok(form) => forms.push(form),
                    Err(message) => {
                        let hint =
                            "only texts, numbers, booleans and lists of them have a text form";
                        self.error(pointer, message, hint);
                    }
                },
                None => {
                    let known = schema["properties"].as_object().into_iter().flatten();
                    let known = known.map(|(name, _)| name.as_str()).chain([CONTRACT_FOLDER]);
                    let hint = match crate::nearest(name, known) {
                        Some(near) => format!("did you mean `{{{near}}}`?"),
                        None => "`{name}` stands for a property of `input_schema`".to_owned(),
                    };
                    self.error(pointer, format!("the input has no property `{name}`"), hint);
                }
            }
        }
        if text.0.contains(&TemplatePart::ContractFolder)
            && self.contract.input_schema["properties"].get(CONTRACT_FOLDER).is_some()
        {
            let message = format!("`{{{CONTRACT_FOLDER}}}` is the folder of the contract");
            self.error(pointer, message, "give the argument another name");
        }
        forms
    }

    /// Arguments that reach the program in no way.
    fn unused(&mut self) {
        let properties = self.contract.input_schema["properties"].as_object();
        for (name, _) in properties.into_iter().flatten() {
            if !self.used.contains(name) {
                self.found.push(TemplateProblem {
                    pointer: format!("/input_schema/properties/{}", escape(name)),
                    message: format!("the program never gets `{name}`"),
                    hint: Some(format!("use `{{{name}}}` in `run`, `env` or `stdin`")),
                    is_error: false,
                });
            }
        }
    }
}

/// True if a word with arguments is code for an interpreter among the words before it: the script of `sh -c`, the file that
/// it runs, or what `ssh` hands to a shell over there.
fn is_code(before: &[TextTemplate], word: &TextTemplate) -> bool {
    let literal = |word: &TextTemplate| match &word.0[..] {
        [TemplatePart::Text(text)] => Some(text.clone()),
        _ => None,
    };
    let program = |word: &TextTemplate| {
        let word = literal(word)?;
        let name = word.rsplit('/').next().unwrap_or_default();
        let name = name.trim_end_matches(|one: char| one.is_ascii_digit() || one == '.');
        INTERPRETERS.into_iter().find(|known| *known == name)
    };
    let Some(at) = before.iter().rposition(|word| program(word).is_some()) else { return false };
    if program(&before[at]) == Some(REMOTE_SHELL) {
        return true;
    }
    let own = word.before_arguments();
    if own.starts_with('-') {
        return LONG_CODE_OPTIONS.iter().any(|option| own.starts_with(option));
    }
    let between = &before[at + 1..];
    let is_option = |word: &TextTemplate| word.before_arguments().starts_with('-');
    let takes_code = |word: &TextTemplate| {
        literal(word).is_some_and(|option| {
            let is_short = option.starts_with('-') && !option.starts_with("--");
            is_short && option.contains(['c', 'e']) || LONG_CODE_OPTIONS.contains(&option.as_str())
        })
    };
    let is_script = |word: &TextTemplate| {
        !is_option(word) && literal(word).is_none_or(|text| text.contains(['.', '/']))
    };
    between.iter().all(is_option)
        || between.last().is_some_and(takes_code) && !between.iter().any(is_script)
}

/// The form of an argument, or why it has none.
fn form(root: &Value, name: &str, property: &Value) -> Result<ArgumentForm, String> {
    let schema = resolved(root, property)
        .ok_or_else(|| format!("the schema of `{name}` is behind too many references"))?;
    let types = types_of(schema)
        .ok_or_else(|| format!("the schema of `{name}` does not say its `type`"))?;
    let required = root["required"].as_array().into_iter().flatten();
    let is_given = required.into_iter().any(|one| one == name) || property.get("default").is_some();
    if types == ["array"] {
        let items = schema.get("items").and_then(|items| resolved(root, items));
        let types = items.and_then(types_of);
        let of_scalars = types.is_some_and(|types| types.iter().all(|one| is_scalar(one)));
        if !of_scalars {
            return Err(format!("`{name}` is a list of values that have no text form"));
        }
        let may_be_empty = schema["minItems"].as_u64().unwrap_or(0) == 0;
        return Ok(ArgumentForm { is_list: true, may_be_absent: !is_given || may_be_empty });
    }
    match types.iter().find(|one| !is_scalar(one)) {
        Some(other) => {
            let article = if matches!(other.as_str(), "array" | "object") { "an" } else { "a" };
            let kind =
                if other == "null" { "`null`".to_owned() } else { format!("{article} {other}") };
            Err(format!("`{name}` may be {kind}, which has no text form"))
        }
        None => Ok(ArgumentForm { is_list: false, may_be_absent: !is_given }),
    }
}

fn is_scalar(kind: &str) -> bool {
    matches!(kind, "string" | "number" | "integer" | "boolean")
}

/// The types that a schema allows, as far as it says so itself.
fn types_of(schema: &Value) -> Option<Vec<String>> {
    let named = |value: &Value| value.as_str().map(str::to_owned);
    let kinds =
        |values: &[Value]| values.iter().map(|one| crate::json::kind(one).to_owned()).collect();
    match (schema.get("type"), schema.get("enum"), schema.get("const")) {
        (Some(Value::Array(types)), ..) => types.iter().map(named).collect(),
        (Some(one), ..) => Some(vec![named(one)?]),
        (None, Some(Value::Array(values)), _) => Some(kinds(values)),
        (None, _, Some(value)) => Some(kinds(std::slice::from_ref(value))),
        _ => None,
    }
}

/// The schema that a reference within the contract leads to.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    let mut schema = schema;
    for _ in 0..MAX_REFERENCES {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else {
            return Some(schema);
        };
        schema = root.pointer(reference.strip_prefix('#')?)?;
    }
    None
}
