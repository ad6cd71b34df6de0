//! Contracts that live in a Markdown document.
//!
//! Two forms are read. In one, a section is named after a tool and lists `- status:`,
//! `- input_schema:` and so on, with the schemas as blocks of JSON or YAML. In the other, a section
//! `## Tool: name` has parts `### Input Schema`, `### Constraints` and so on. Everything else in the
//! document is prose. What the document does not say is left out and not guessed.

mod markdown;

use std::{collections::HashMap, ops::Range, sync::Arc};

use serde_json::Value;

use contract::{
    ApprovalRequirement, ContractStatus, Diagnostic, Document, Effects, Schema, Severity,
    closed_schema, json,
};

use crate::compare::PartialContract;
use markdown::{CodeBlock, Markdown, MarkdownBlock};

/// The largest document that is read, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 1_048_576;
/// The largest number of tools in a document.
pub const MAX_TOOLS: usize = 1_000;

/// A tool as a document describes it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DocumentedTool {
    pub name: String,
    /// The line of its heading, counted from 1.
    pub line: usize,
    pub description: Option<String>,
    pub status: Option<ContractStatus>,
    /// Its transport, in the document's words.
    pub transport: Option<String>,
    /// The server or path that it is reached by.
    pub endpoint: Option<String>,
    /// The schema of its arguments.
    pub input_schema: Option<Value>,
    /// The schema of its results.
    pub output_schema: Option<Value>,
    /// Its errors: code and HTTP status.
    pub errors: Option<Vec<(String, u16)>>,
    /// Its effects at most, where a constraint states them.
    pub effects: Option<Effects>,
    /// `Required` if a constraint says that a person must approve.
    pub approval: Option<ApprovalRequirement>,
    /// Sizes that constraints name, in bytes: `1MB` is 1,048,576.
    pub limits: Vec<(String, u64)>,
    /// All constraints, as they stand there.
    pub constraints: Vec<String>,
}

impl DocumentedTool {
    /// The promises to callers. Arguments that the document does not name are no part of that,
    /// even where its schema leaves room for them.
    pub fn promise(&self) -> PartialContract {
        PartialContract {
            name: self.name.clone(),
            description: self.description.clone(),
            status: self.status,
            effects: self.effects,
            approval: self.approval,
            input_schema: self
                .input_schema
                .as_ref()
                .map(|schema| closed_schema::close(schema).schema),
            output_schema: self.output_schema.clone(),
            errors: self.errors.clone(),
            limits: Vec::new(),
        }
    }
}

/// Reads a document; `name` is what messages call it. What is wrong with a tool is said, and what
/// is right of it comes back all the same.
pub fn read(name: &str, text: &str) -> (Vec<DocumentedTool>, Vec<Diagnostic>) {
    let mut reader =
        DocumentReader { name, text: Arc::from(text), tools: Vec::new(), found: Vec::new() };
    if text.len() > MAX_DOCUMENT_BYTES {
        let message = format!("the document is larger than {MAX_DOCUMENT_BYTES} bytes");
        reader.say(Severity::Error, 0..0, message);
        return (Vec::new(), reader.found);
    }
    let document = Markdown::of(text);
    for section in document.sections() {
        if reader.tools.len() >= MAX_TOOLS {
            reader.say(Severity::Error, 0..0, format!("there are more than {MAX_TOOLS} tools"));
            break;
        }
        reader.section(section);
    }
    reader.duplicates();
    if let Some(opening) = document.unclosed {
        let message = "this block of code is not closed, so the rest of the document is part of it";
        reader.say(Severity::Error, opening, message);
    }
    (reader.tools, reader.found)
}

struct DocumentReader<'t> {
    name: &'t str,
    text: Arc<str>,
    tools: Vec<DocumentedTool>,
    found: Vec<Diagnostic>,
}

impl DocumentReader<'_> {
    fn say(&mut self, severity: Severity, span: Range<usize>, message: impl Into<String>) {
        self.found.push(Diagnostic::new(severity, self.name, &self.text, span, message));
    }

    fn section(&mut self, blocks: &[MarkdownBlock]) {
        let Some(MarkdownBlock::Heading { text: title, span, .. }) = blocks.first() else { return };
        let marked = title.strip_prefix("Tool:").map(|name| unquoted(name.trim()));
        let lists_schema = blocks.iter().any(|block| {
            matches!(block, MarkdownBlock::Item { key: Some(key), .. } if key == "input_schema" || key == "output_schema")
        });
        if marked.is_none() && !lists_schema {
            return;
        }
        let tool = DocumentedTool {
            name: marked.unwrap_or_else(|| unquoted(title)).to_owned(),
            line: self.text[..span.start].matches('\n').count() + 1,
            ..DocumentedTool::default()
        };
        if !is_name(&tool.name) {
            let message = format!("`{}` cannot be the name of a tool", tool.name);
            self.say(Severity::Error, span.clone(), message);
            return;
        }
        let tool =
            if marked.is_some() { self.parts(tool, blocks) } else { self.items(tool, blocks) };
        if tool.input_schema.is_none() {
            let message = format!("the input schema of `{}` is missing", tool.name);
            self.say(Severity::Warning, span.clone(), message);
        }
        self.tools.push(tool);
    }

    /// `- key: value`, and a block after it where the value is long.
    fn items(&mut self, mut tool: DocumentedTool, blocks: &[MarkdownBlock]) -> DocumentedTool {
        for (index, block) in blocks.iter().enumerate() {
            let MarkdownBlock::Item { key: Some(key), value, span, .. } = block else { continue };
            let block = match blocks.get(index + 1) {
                Some(MarkdownBlock::Code(block)) if value.is_empty() => Some(block),
                _ => None,
            };
            match key.as_str() {
                "status" => tool.status = self.status(value, span),
                "transport" => tool.transport = Some(value.clone()),
                "endpoint" => tool.endpoint = Some(quoted(value).to_owned()),
                "description" => tool.description = Some(value.clone()),
                "input_schema" => tool.input_schema = self.schema(key, block, span),
                "output_schema" => tool.output_schema = self.schema(key, block, span),
                "errors" => tool.errors = self.errors(key, block, span),
                _ => {}
            }
        }
        tool
    }

    /// `### Part`, and what stands below it.
    fn parts(&mut self, mut tool: DocumentedTool, blocks: &[MarkdownBlock]) -> DocumentedTool {
        let mut part = String::new();
        let mut about = Range { start: 0, end: 0 };
        for block in blocks.iter().skip(1) {
            match (block, part.as_str()) {
                (MarkdownBlock::Heading { text, span, .. }, _) => {
                    part = text.to_lowercase();
                    about = span.clone();
                }
                (MarkdownBlock::Paragraph(text), "description") => {
                    let said = tool.description.get_or_insert_default();
                    if !said.is_empty() {
                        said.push(' ');
                    }
                    said.push_str(text);
                }
                (MarkdownBlock::Paragraph(text), "status") => {
                    tool.status = self.status(text, &about);
                }
                (MarkdownBlock::Code(block), "input schema") => {
                    tool.input_schema = self.schema("input schema", Some(block), &about);
                }
                (MarkdownBlock::Code(block), "output schema") => {
                    tool.output_schema = self.schema("output schema", Some(block), &about);
                }
                (MarkdownBlock::Code(block), "errors") => {
                    tool.errors = self.errors("errors", Some(block), &about);
                }
                (MarkdownBlock::Item { text, .. }, "constraints") => constraint(&mut tool, text),
                _ => {}
            }
        }
        tool
    }

    fn status(&mut self, value: &str, span: &Range<usize>) -> Option<ContractStatus> {
        match value.split(|one: char| !one.is_alphanumeric()).next().unwrap_or_default() {
            "active" => Some(ContractStatus::Active),
            "planned" => Some(ContractStatus::Planned),
            other => {
                let message = format!("the status `{other}` is neither `active` nor `planned`");
                self.say(Severity::Warning, span.clone(), message);
                None
            }
        }
    }

    fn schema(
        &mut self,
        what: &str,
        block: Option<&CodeBlock>,
        span: &Range<usize>,
    ) -> Option<Value> {
        let (value, span) = self.value(what, block, span)?;
        if let Err(error) = Schema::compile_foreign(&value) {
            let message = format!("the schema `{}` {error}", error.pointer);
            self.say(Severity::Error, span, message);
            return None;
        }
        Some(value)
    }

    fn errors(
        &mut self,
        what: &str,
        block: Option<&CodeBlock>,
        span: &Range<usize>,
    ) -> Option<Vec<(String, u16)>> {
        let (value, span) = self.value(what, block, span)?;
        let read = |one: &Value| {
            let status = one["http_status"].as_u64().and_then(|status| status.try_into().ok());
            Some((one["code"].as_str()?.to_owned(), status.filter(|one| (400..600).contains(one))?))
        };
        let all = value.as_array().map(|list| list.iter().map(read).collect::<Option<Vec<_>>>());
        if let Some(Some(errors)) = all {
            return Some(errors);
        }
        let message = "errors are a list of `{ code, http_status }`, with a status from 400 to 599";
        self.say(Severity::Error, span, message);
        None
    }

    /// The value of a block, and its place.
    fn value(
        &mut self,
        what: &str,
        block: Option<&CodeBlock>,
        span: &Range<usize>,
    ) -> Option<(Value, Range<usize>)> {
        let Some(block) = block else {
            self.say(Severity::Error, span.clone(), format!("no block follows `{what}`"));
            return None;
        };
        let text = &self.text[block.span.clone()];
        let first =
            block.span.start..block.span.start + text.lines().next().unwrap_or_default().len();
        let read = if block.language.starts_with('y') {
            let document = Document::parse(self.name, text);
            document
                .map(|document| document.value().clone())
                .map_err(|error| (error.line, error.column, error.message.clone()))
        } else {
            json::parse(text.as_bytes()).map_err(|error| (error.line, error.column, error.message))
        };
        match read {
            Ok(value) => Some((value, first)),
            Err((line, column, message)) => {
                let before: usize =
                    text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
                let at = (block.span.start + before + column.saturating_sub(1)).min(block.span.end);
                self.say(Severity::Error, at..at, message);
                None
            }
        }
    }

    fn duplicates(&mut self) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut twice = Vec::new();
        for tool in &self.tools {
            if let Some(first) = seen.insert(&tool.name, tool.line) {
                twice.push((tool.line, format!("`{}` is already in line {first}", tool.name)));
            }
        }
        for (line, message) in twice {
            let start: usize = self.text.split_inclusive('\n').take(line - 1).map(str::len).sum();
            self.say(Severity::Error, start..start, message);
        }
    }
}

/// Reads the parts of a constraint that can be compared.
fn constraint(tool: &mut DocumentedTool, text: &str) {
    let plain = text.replace("**", "").to_lowercase();
    if plain.starts_with("no side effects") {
        tool.effects = Some(Effects::Read);
    } else if plain.starts_with("append-only") {
        tool.effects = Some(Effects::Append);
    } else if plain.starts_with("human approval") {
        tool.approval = Some(ApprovalRequirement::Required);
    } else if let Some((what, size)) = plain.split_once(':')
        && let Some(bytes) = bytes(size.trim())
    {
        tool.limits.push((what.trim().to_owned(), bytes));
    }
    tool.constraints.push(text.to_owned());
}

/// A size as `1MB` or `10 KB`, in binary units.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "b" | "bytes" => 1,
        "kb" | "kib" => 1 << 10,
        "mb" | "mib" => 1 << 20,
        "gb" | "gib" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(unit)
}

fn unquoted(text: &str) -> &str {
    text.trim_matches('`')
}

/// The text between the first pair of backticks, or all.
fn quoted(text: &str) -> &str {
    text.split('`').nth(1).unwrap_or(text)
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|one| one.is_ascii_alphanumeric() || b"_.-".contains(&one))
}
