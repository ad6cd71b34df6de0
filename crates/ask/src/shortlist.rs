//! The tools that a planner gets to see where they do not all fit into its prompt.
//!
//! A search by words over names, descriptions and properties (BM25) ranks the tools by the question,
//! and the best of them are taken until the budget is used up. It is local, needs no model, and gives
//! the same answer every time. Where all tools fit, nothing is searched and all are taken.
//!
//! Texts of servers are not trusted to be short: they are read up to a number of terms for each tool. How large a
//! schema may be is checked where it is compiled, and how deep where it is parsed.

mod terms;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use serde_json::Value;

use terms::terms;
pub(crate) use terms::{is_stop_word, shapes, split_name, stem};

/// The most of a question that is read, in bytes.
const MAX_QUESTION_BYTES: usize = 16_384;
/// The most terms of one tool that are counted.
const MAX_TERMS_PER_TOOL: usize = 2_000;
/// The most terms of the description that are read, so that a long one leaves room for the properties.
const MAX_DESCRIPTION_TERMS: usize = 1_200;
/// The most of one text that is read, in bytes.
const MAX_TEXT_BYTES: usize = 65_536;
/// The most values of one list that are read.
const MAX_VALUES: usize = 100;
/// Keywords whose texts say nothing about a tool.
const NOT_READ: [&str; 8] =
    ["$schema", "$id", "$ref", "$comment", "$anchor", "type", "format", "required"];

/// The weight of a term of the name: a name is chosen with care.
const NAME: f32 = 3.0;
/// The weight of a term of a property's name.
const PROPERTY: f32 = 2.0;
/// The weight of a term of a description, a title or a value.
const TEXT: f32 = 1.0;
/// The saturation of repeated terms (the `k1` of BM25).
const SATURATION: f32 = 1.2;
/// The penalty of a long text (the `b` of BM25).
const LENGTH_PENALTY: f32 = 0.75;

/// A tool as the search sees it.
pub(crate) struct ShortlistEntry<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub schema: &'a Value,
    /// Its size in the prompt.
    pub tokens: usize,
}

/// The tools of a catalogue, ready to be searched. Made once for a catalogue.
#[derive(Debug, Default)]
pub(crate) struct ToolIndex {
    /// The size of each tool in the prompt.
    tokens: Vec<usize>,
    /// The tools that have a term, by their places in the catalogue, and how much it says for them.
    postings: HashMap<String, Vec<(usize, f32)>>,
}

impl ToolIndex {
    /// Reads a catalogue, and weighs its terms so that a question has only sums to make.
    pub fn new<'a>(entries: impl IntoIterator<Item = ShortlistEntry<'a>>) -> Self {
        let mut index = Self::default();
        let mut lengths = Vec::new();
        for (tool, entry) in entries.into_iter().enumerate() {
            let mut length = 0.0;
            for (term, weight) in ToolTerms::of(&entry) {
                length += weight;
                let tools = index.postings.entry(term).or_default();
                match tools.last_mut() {
                    Some((last, sum)) if *last == tool => *sum += weight,
                    _ => tools.push((tool, weight)),
                }
            }
            lengths.push(length);
            index.tokens.push(entry.tokens);
        }
        let count = real(lengths.len());
        let average = (lengths.iter().sum::<f32>() / count.max(1.0)).max(1.0);
        for tools in index.postings.values_mut() {
            let having = real(tools.len());
            let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
            for (tool, weight) in tools {
                let length = LENGTH_PENALTY * lengths[*tool] / average;
                let damping = SATURATION * (1.0 - LENGTH_PENALTY + length);
                *weight = rarity * *weight * (SATURATION + 1.0) / (*weight + damping);
            }
        }
        index
    }

    /// The tools that fit the question best within a budget, by their places in the catalogue and in its order. Those
    /// that do not fit into what is left are passed over; those that have nothing to do with the question come last.
    pub fn pick(&self, question: &str, budget_tokens: usize) -> Vec<usize> {
        let mut left = budget_tokens;
        let mut chosen = self.ranked(question);
        chosen.retain(|tool| {
            let fits = self.tokens[*tool] <= left;
            if fits {
                left -= self.tokens[*tool];
            }
            fits
        });
        chosen.sort_unstable();
        chosen
    }

    /// All tools, the best first; equals in the order of the catalogue.
    fn ranked(&self, question: &str) -> Vec<usize> {
        let mut scores = vec![0.0_f32; self.tokens.len()];
        let question = &question[..question.floor_char_boundary(MAX_QUESTION_BYTES)];
        // Sorted, because a sum of floats depends on the order of its parts.
        let asked: BTreeSet<String> = terms(question).into_iter().collect();
        let known = asked.iter().filter_map(|term| self.postings.get(term));
        for (tool, weight) in known.flatten() {
            scores[*tool] += weight;
        }
        let mut ranked: Vec<usize> = (0..scores.len()).collect();
        ranked.sort_by(|one, other| scores[*other].total_cmp(&scores[*one]));
        ranked
    }
}

/// The terms of a tool with what each counts, the weightiest first.
#[derive(Default)]
struct ToolTerms(Vec<(String, f32)>);

impl ToolTerms {
    fn of(entry: &ShortlistEntry<'_>) -> Vec<(String, f32)> {
        let mut all = Self::default();
        all.text(entry.name, NAME, MAX_TERMS_PER_TOOL);
        all.text(entry.description, TEXT, MAX_DESCRIPTION_TERMS);
        all.schema(entry.schema, false);
        all.0
    }

    fn text(&mut self, text: &str, weight: f32, most: usize) {
        let room = most.min(MAX_TERMS_PER_TOOL - self.0.len());
        if room > 0 {
            let read = terms(&text[..text.floor_char_boundary(MAX_TEXT_BYTES)]);
            self.0.extend(read.into_iter().take(room).map(|term| (term, weight)));
        }
    }

    /// Reads the names of properties, and all texts but those that are words of JSON Schema.
    fn schema(&mut self, schema: &Value, has_names: bool) {
        match schema {
            Value::String(text) => self.text(text, TEXT, MAX_TERMS_PER_TOOL),
            Value::Array(items) => {
                items.iter().take(MAX_VALUES).for_each(|item| self.schema(item, false));
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    if has_names {
                        self.text(name, PROPERTY, MAX_TERMS_PER_TOOL);
                    } else if NOT_READ.contains(&name.as_str()) {
                        continue;
                    }
                    self.schema(field, !has_names && name == "properties");
                }
            }
            _ => {}
        }
    }
}

/// A count as a number to reckon with.
#[expect(clippy::cast_precision_loss, reason = "counts of tools are far below 2^24")]
fn real(count: usize) -> f32 {
    count as f32
}
