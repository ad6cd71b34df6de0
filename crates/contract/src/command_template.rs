//! The command line of a user's tool, with the arguments of a call in it.
//!
//! `{name}` in a word of `run`, in a value of `env` or in `stdin` stands for the argument `name`, `{contract_dir}` for the
//! folder of the contract. Double braces and braces around anything else are plain text. No shell reads the words: quotes,
//! blanks and line breaks of a value stay what they are.
//!
//! - A text is passed as it is, a number digit for digit, a boolean as `true` or `false`.
//! - A list in a word of `run` makes one word of each item.
//! - What has an argument that the call does not give is left out: the word, the variable, all of stdin.
//! - A value never becomes an option: a word that begins with an argument must not begin with `-`, unless a word `--`
//!   stands before it. `--name={name}` takes any value.

mod check;

use serde_json::{Map, Value};

pub use check::{CODE_VARIABLES, TemplateProblem, problems};

use crate::Contract;

/// The longest word or variable that a program can be started with on Linux, in bytes.
pub const MAX_WORD_BYTES: usize = 131_071;
/// The most bytes of all words and variables together: half of what Linux takes by default.
pub const MAX_COMMAND_LINE_BYTES: usize = 1_048_576;
/// The bytes that Linux counts for each word beside its own: the address, and the byte that ends it.
const BYTES_BESIDE_WORD: usize = 9;
/// Integers from here on are not kept digit for digit (2⁶⁴).
const MAX_EXACT: f64 = 18_446_744_073_709_551_616.0;
/// The name that stands for the folder of the contract.
const CONTRACT_FOLDER: &str = "contract_dir";
/// The word after which a program takes no options.
const END_OF_OPTIONS: &str = "--";

/// A text with places for arguments.
#[derive(Debug, Clone)]
struct TextTemplate(Vec<TemplatePart>);

#[derive(Debug, Clone, PartialEq)]
enum TemplatePart {
    Text(String),
    ContractFolder,
    Argument(String),
}

impl TextTemplate {
    fn parse(text: &str) -> Self {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('{') {
            let (before, from) = rest.split_at(at);
            plain.push_str(before);
            let braces = from.bytes().take_while(|byte| *byte == b'{').count();
            let name = placeholder(from).filter(|_| braces == 1);
            let length = match name {
                None => {
                    plain.push_str(&from[..braces]);
                    braces
                }
                Some(name) => {
                    if !plain.is_empty() {
                        parts.push(TemplatePart::Text(std::mem::take(&mut plain)));
                    }
                    parts.push(match name {
                        CONTRACT_FOLDER => TemplatePart::ContractFolder,
                        _ => TemplatePart::Argument(name.to_owned()),
                    });
                    name.len() + 2
                }
            };
            rest = &from[length..];
        }
        plain.push_str(rest);
        if !plain.is_empty() || parts.is_empty() {
            parts.push(TemplatePart::Text(plain));
        }
        Self(parts)
    }

    /// The names of its arguments.
    fn arguments(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            TemplatePart::Argument(name) => Some(name.as_str()),
            _ => None,
        })
    }

    fn has_arguments(&self) -> bool {
        self.arguments().next().is_some()
    }

    /// The text up to the first argument.
    fn before_arguments(&self) -> &str {
        match self.0.first() {
            Some(TemplatePart::Text(text)) => text,
            _ => "",
        }
    }

    /// The same with the folder of the contract in it.
    fn placed(self, folder: &str) -> Self {
        let parts = self.0.into_iter().map(|part| match part {
            TemplatePart::ContractFolder => TemplatePart::Text(folder.to_owned()),
            part => part,
        });
        Self(parts.collect())
    }

    /// The text with these arguments; one for each item where one is a list; none where one is not given.
    fn fill(&self, input: &Map<String, Value>) -> Result<Vec<String>, ArgumentError> {
        let mut texts = vec![String::new()];
        for part in &self.0 {
            match part {
                TemplatePart::Text(text) => {
                    for one in &mut texts {
                        one.push_str(text);
                    }
                }
                TemplatePart::ContractFolder => {}
                TemplatePart::Argument(name) => match input.get(name) {
                    None => return Ok(Vec::new()),
                    Some(Value::Array(items)) => {
                        let [only] = &texts[..] else {
                            return Err(ArgumentError::new(name, "is the second list in a word"));
                        };
                        let item = |item| Ok(format!("{only}{}", text_of(name, item)?));
                        texts = items.iter().map(item).collect::<Result<_, _>>()?;
                    }
                    Some(value) => {
                        let value = text_of(name, value)?;
                        for one in &mut texts {
                            one.push_str(&value);
                        }
                    }
                },
            }
        }
        Ok(texts)
    }

    /// The first argument, to be named in messages.
    fn first_argument(&self) -> &str {
        self.arguments().next().unwrap_or_default()
    }
}

/// The name in `{name}` at the beginning of a text.
fn placeholder(text: &str) -> Option<&str> {
    let (name, after) = text.strip_prefix('{')?.split_once('}')?;
    let is_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    let is_name = name.bytes().next().is_some_and(is_start) && name.bytes().all(fits);
    (is_name && !after.starts_with('}')).then_some(name)
}

/// An argument as text.
fn text_of(name: &str, value: &Value) -> Result<String, ArgumentError> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(given) => Ok(given.to_string()),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.abs() >= MAX_EXACT => {
                Err(ArgumentError::new(name, "has more than 64 bits and would lose digits"))
            }
            _ => Ok(number.to_string()),
        },
        Value::Null | Value::Array(_) | Value::Object(_) => {
            Err(ArgumentError::new(name, "has no text form"))
        }
    }
}

/// An argument of a call that cannot be passed to the program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the argument `{argument}` {problem}")]
pub struct ArgumentError {
    pub argument: String,
    pub problem: String,
}

impl ArgumentError {
    fn new(argument: &str, problem: impl Into<String>) -> Self {
        Self { argument: argument.to_owned(), problem: problem.into() }
    }
}

/// The command of a contract.
#[derive(Debug, Clone)]
pub struct CommandTemplate {
    words: Vec<TextTemplate>,
    variables: Vec<(String, TextTemplate)>,
    stdin: Option<TextTemplate>,
    /// True if it gets all arguments as JSON on stdin.
    reads_json: bool,
}

/// A command with the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilledCommand {
    /// The words after the program.
    pub words: Vec<String>,
    pub variables: Vec<(String, String)>,
    /// Its stdin; none if it gets all arguments as JSON.
    pub stdin: Option<String>,
}

impl CommandTemplate {
    /// The command of a contract in this folder; none without `run`. `lookup` has the variables that are passed on.
    pub fn of(
        contract: &Contract,
        folder: &str,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let (_, words) = contract.run.as_ref()?.split_first()?;
        let words = words.iter().map(|word| TextTemplate::parse(word).placed(folder)).collect();
        let variable = |entry: &String| match entry.split_once('=') {
            Some((name, value)) => {
                Some((name.to_owned(), TextTemplate::parse(value).placed(folder)))
            }
            None => {
                let value = TextTemplate(vec![TemplatePart::Text(lookup(entry)?)]);
                Some((entry.clone(), value))
            }
        };
        let variables = contract.env.iter().filter_map(variable).collect();
        let stdin = contract.stdin.as_ref().map(|text| TextTemplate::parse(text).placed(folder));
        let reads_json = !has_template(contract);
        Some(Self { words, variables, stdin, reads_json })
    }

    /// The command for a call with these arguments, which match the contract.
    pub fn fill(&self, input: &Value) -> Result<FilledCommand, ArgumentError> {
        let nothing = Map::new();
        let input = input.as_object().unwrap_or(&nothing);
        let (mut words, mut bytes, mut options_end) = (Vec::new(), 0, false);
        for template in &self.words {
            let filled = template.fill(input)?;
            if !template.has_arguments() {
                options_end |= filled.iter().any(|word| word == END_OF_OPTIONS);
            }
            let may_be_option = !options_end && template.before_arguments().is_empty();
            for word in filled {
                if template.has_arguments() {
                    let name = template.first_argument();
                    is_passable(name, word.len(), &word)?;
                    if may_be_option && word.starts_with('-') {
                        let problem =
                            "must not begin with `-`: the program could take it for an option";
                        return Err(ArgumentError::new(name, problem));
                    }
                    is_bounded(name, &mut bytes, word.len())?;
                }
                words.push(word);
            }
        }
        let mut variables = Vec::new();
        for (name, template) in &self.variables {
            // Lists are refused when the contract is read.
            let Some(value) = template.fill(input)?.into_iter().next() else { continue };
            if template.has_arguments() {
                let argument = template.first_argument();
                let length = name.len() + 1 + value.len();
                is_passable(argument, length, &value)?;
                is_bounded(argument, &mut bytes, length)?;
            }
            variables.push((name.clone(), value));
        }
        let stdin = match &self.stdin {
            Some(template) => Some(template.fill(input)?.into_iter().next().unwrap_or_default()),
            None => (!self.reads_json).then(String::new),
        };
        Ok(FilledCommand { words, variables, stdin })
    }
}

/// True if a contract says where the arguments go, so that they are not on stdin as JSON.
fn has_template(contract: &Contract) -> bool {
    let words = contract.run.iter().flatten();
    let values = contract.env.iter().filter_map(|entry| Some(entry.split_once('=')?.1));
    contract.stdin.is_some()
        || words
            .map(String::as_str)
            .chain(values)
            .any(|text| TextTemplate::parse(text).has_arguments())
}

fn is_passable(name: &str, length: usize, text: &str) -> Result<(), ArgumentError> {
    if text.contains('\0') {
        return Err(ArgumentError::new(
            name,
            "has a NUL character, which no command line can hold",
        ));
    }
    if length > MAX_WORD_BYTES {
        let problem = format!(
            "is too long for a command line: {length} bytes, and a word has at most {MAX_WORD_BYTES}"
        );
        return Err(ArgumentError::new(name, problem));
    }
    Ok(())
}

fn is_bounded(name: &str, bytes: &mut usize, length: usize) -> Result<(), ArgumentError> {
    *bytes += length + BYTES_BESIDE_WORD;
    if *bytes <= MAX_COMMAND_LINE_BYTES {
        return Ok(());
    }
    let problem = format!(
        "makes the command line too long: the arguments have at most {MAX_COMMAND_LINE_BYTES} bytes together"
    );
    Err(ArgumentError::new(name, problem))
}

#[cfg(test)]
#[path = "command_template/tests.rs"]
mod tests;
