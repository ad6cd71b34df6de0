//! Contracts for the tests of this module.

use crate::{Contract, read};

const SEARCH: &str = r##"
name: search.web
title: Web search
description: |-
  Searches the web.

  Give a | b to search for either.
version: 1.2.0
stability: stable
tags: [web, search, web]
toolset: web
toolset_default: true
effects: read
input_schema:
  $schema: https://json-schema.org/draft/2020-12/schema
  $id: https://toolgate.example/search.json
  type: object
  description: What to search for.
  properties:
    query: { type: string, minLength: 1, maxLength: 200, description: "The words, `a|b` for either." }
    count: { type: integer, minimum: 1, maximum: 20, default: 5, description: How many results. }
    language: { $ref: "#language", description: The language of the results. }
    sites:
      type: array
      description: Only these sites.
      items: { type: string, format: hostname, description: A host name. }
      maxItems: 4
    filter: { $ref: "https://toolgate.example/search.json#/$defs/filter", description: What to keep. }
  required: [query]
  additionalProperties: false
  $defs:
    language: { $anchor: language, type: string, enum: [en, de], default: en }
    filter:
      type: object
      description: Conditions.
      properties:
        all: { type: array, description: Every one of these., items: { $ref: "#/$defs/filter" } }
        word: { type: [string, "null"], description: A word., pattern: "^[a-z|]+$" }
      required: []
      additionalProperties: false
output_schema:
  type: object
  description: What was found.
  properties:
    results:
      type: array
      description: The results, best first.
      items: { $ref: "#/$defs/result" }
    next: { anyOf: [{ type: string, minLength: 1 }, { type: "null" }], description: Where to go on. }
  required: [results]
  additionalProperties: false
  $defs:
    result:
      type: object
      description: One result.
      properties:
        title: { type: string, description: Its title. }
        score: { type: number, minimum: 0, exclusiveMaximum: 1, description: How well it fits. }
        related: { type: array, description: Results like it., items: { $ref: "#/$defs/result" } }
      required: [title]
errors:
  - { code: search_failed, http_status: 502, description: The search service failed. }
  - { code: rate_limited, http_status: 429, description: Too many searches. }
  - { code: teapot, http_status: 418 }
limits: { timeout_ms: 10000 }
examples:
  - title: two results
    input: { query: rust, count: 2 }
    output: { results: [{ title: Rust }, { title: "Rust | oxide", score: 0.5 }] }
    notes: The order is the service's.
  - { title: a plain search, input: { query: rust } }
  - { title: nothing to search for, input: { query: "" }, error: invalid_input }
  - { title: a result without a title, input: { query: x }, bad_output: { results: [{}] } }
"##;

const NOTE: &str = r##"
name: search_web
description: Adds a note. Notes are never changed.
version: 0.1.0
stability: deprecated
toolset: notes
effects: append
approval: required
input_schema:
  type: object
  description: The note.
  properties: {}
  required: []
  additionalProperties: false
output_schema:
  $id: https://toolgate.example/note
  $ref: entry
  $defs:
    entry:
      $id: entry
      $dynamicAnchor: node
      type: object
      description: The note that was added.
      properties:
        id: { type: string, description: Its id. }
        $ref: { type: string, description: A property with an unfortunate name. }
        "100% sure": { $anchor: sure, type: boolean, description: Whether it is certain. }
        checked: { $ref: "#sure" }
        parent: { $dynamicRef: "#node" }
        kind: { const: { $ref: "#nowhere" }, description: Data that looks like a reference. }
      required: [id]
      additionalProperties: false
run: [secret-program]
env: [TOKEN=secret-value]
examples:
  - { title: a note, input: {}, output: { id: "1", parent: { id: "0" } } }
"##;

const CLOCK: &str = r#"
name: clock
description: Tells the time.
version: 2.0.0
stability: experimental
toolset: clock
effects: none
input_schema:
  type: object
  description: Nothing is needed.
  properties: { zone: { type: string, description: "A time zone.", default: UTC } }
  required: []
  additionalProperties: false
output_schema: { type: string, format: date-time, description: The time. }
examples:
  - { title: now, input: {}, output: "2024-01-01T00:00:00Z" }
"#;

/// Three tools that are served, not sorted, and one that is only planned.
pub(crate) fn contracts() -> Vec<Contract> {
    let planned = CLOCK.replace("name: clock", "name: calendar\nstatus: planned");
    [SEARCH, NOTE, CLOCK, &planned].into_iter().map(contract).collect()
}

pub(crate) fn contract(text: &str) -> Contract {
    let (contract, diagnostics) = read::contract("fixture.yaml", text);
    let shown: Vec<_> = diagnostics.iter().map(|one| one.render(false)).collect();
    contract.unwrap_or_else(|| panic!("{}", shown.join("\n")))
}

pub(crate) fn named(name: &str) -> Contract {
    contracts().into_iter().find(|contract| contract.name == name).unwrap()
}
