//! The JSON Schema Test Suite (draft 2020-12), judged by the schemas that contracts are
//! made of. `tests/json-schema-suite/fetch` downloads it and prints the folder that
//! `JSON_SCHEMA_TEST_SUITE` has to name.

use std::{collections::BTreeSet, fs, path::Path};

use contract::Schema;
use serde_json::Value;

/// The required cases and the optional ones: an assertion of `format` is an option to the
/// suite, and none to us.
const FOLDERS: [&str; 3] =
    ["draft2020-12", "draft2020-12/optional", "draft2020-12/optional/format"];
/// The suite has some 1900 cases; a folder with far fewer is not the suite.
const MIN_CASES: usize = 1_500;

/// Schemas that are refused because they need a document from elsewhere: a contract must
/// not be able to reach out, so none is ever loaded for a `$ref`.
const REMOTE: &[(&str, &[&str])] = &[
    (
        "dynamicRef.json",
        &[
            "strict-tree schema, guards against misspelled properties",
            "tests for implementation dynamic anchor and reference link",
            "$ref and $dynamicAnchor are independent of order - $defs first",
            "$ref and $dynamicAnchor are independent of order - $ref first",
            "$ref to $dynamicRef finds detached $dynamicAnchor",
        ],
    ),
    (
        "refRemote.json",
        &[
            "remote ref",
            "fragment within remote ref",
            "anchor within remote ref",
            "ref within remote ref",
            "base URI change",
            "base URI change - change folder",
            "base URI change - change folder in subschema",
            "root ref in remote ref",
            "remote ref with ref to defs",
            "Location-independent identifier in remote ref",
            "retrieved nested refs resolve relative to their URI not $id",
            "remote HTTP ref with different $id",
            "remote HTTP ref with different URN $id",
            "remote HTTP ref with nested absolute ref",
            "$ref to $ref finds detached $anchor",
        ],
    ),
    ("cross-draft.json", &["refs to historic drafts are processed as historic drafts"]),
];

/// Schemas that are refused because they are written in a dialect of their own: one is
/// enforced, and a meta-schema of one's own makes another.
const DIALECT: &[(&str, &[&str])] = &[
    (
        "vocabulary.json",
        &[
            "schema that uses custom metaschema with with no validation vocabulary",
            "ignore unrecognized optional vocabulary",
        ],
    ),
    (
        "format-assertion.json",
        &[
            "schema that uses custom metaschema with format-assertion: false",
            "schema that uses custom metaschema with format-assertion: true",
        ],
    ),
];

/// Formats that `format.json` wants to be mere annotations. We assert them: a contract that
/// says `format: email` promises an address. `optional/format` checks that we do it right.
const ASSERTED: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "idn-email",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// A difference: the file, the group, and the case or what the refusal of its schema says.
type Difference = (String, String, String);

const NO_RETRIEVAL: &str = "are not fetched";
const ONE_DIALECT: &str = "contracts must use 2020-12";

#[test]
fn the_test_suite_passes_but_for_what_we_decided_otherwise() {
    let Ok(suite) = std::env::var("JSON_SCHEMA_TEST_SUITE") else {
        println!("skipped: JSON_SCHEMA_TEST_SUITE is not set");
        return;
    };
    let listed = listed();
    let mut run = Run::default();
    for folder in FOLDERS {
        for (file, group) in groups(&Path::new(&suite).join(folder)) {
            run.group(&file, &group);
        }
    }
    assert!(run.cases >= MIN_CASES, "only {} cases in {suite}", run.cases);
    let unlisted = run.differences.difference(&listed).map(|one| format!("not listed: {one:?}"));
    let stale =
        listed.difference(&run.differences).map(|one| format!("listed but passes: {one:?}"));
    run.problems.extend(unlisted.chain(stale));
    assert!(run.problems.is_empty(), "{}", run.problems.join("\n"));
    println!("{} cases, {} listed differences", run.cases, listed.len());
}

fn listed() -> BTreeSet<Difference> {
    let formats = ASSERTED.iter().map(|format| {
        let case = format!("invalid {format} string is only an annotation by default");
        ("format.json".to_owned(), format!("{format} format"), case)
    });
    let mut listed: BTreeSet<Difference> = formats.collect();
    for (says, files) in [(NO_RETRIEVAL, REMOTE), (ONE_DIALECT, DIALECT)] {
        for (file, groups) in files {
            listed.extend(
                groups
                    .iter()
                    .map(|group| ((*file).to_owned(), (*group).to_owned(), says.to_owned())),
            );
        }
    }
    listed
}

#[derive(Default)]
struct Run {
    cases: usize,
    differences: BTreeSet<Difference>,
    problems: Vec<String>,
}

/// The groups of all files in a folder of the suite, each with the name of its file.
pub fn groups(folder: &Path) -> Vec<(String, Value)> {
    let files: BTreeSet<_> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    let groups = files.into_iter().flat_map(|path| {
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        let groups: Vec<Value> = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        groups.into_iter().map(move |group| (file.clone(), group))
    });
    groups.collect()
}

impl Run {
    fn group(&mut self, file: &str, group: &Value) {
        let name = group["description"].as_str().unwrap();
        let cases = group["tests"].as_array().unwrap();
        self.cases += cases.len();
        match Schema::compile(&group["schema"]) {
            Ok(schema) => {
                for case in cases {
                    self.case(file, name, &schema, case);
                }
            }
            Err(error) => {
                let known =
                    [NO_RETRIEVAL, ONE_DIALECT].into_iter().find(|one| error.message.contains(one));
                let says = known.unwrap_or(&error.message);
                self.differences.insert((file.into(), name.into(), says.into()));
            }
        }
    }

    fn case(&mut self, file: &str, group: &str, schema: &Schema, case: &Value) {
        let name = case["description"].as_str().unwrap();
        let valid = schema.is_valid(&case["data"]);
        if valid != case["valid"].as_bool().unwrap() {
            self.differences.insert((file.into(), group.into(), name.into()));
        }
        // The cheap question and the full one have one answer.
        if schema.violations(&case["data"]).is_empty() != valid {
            self.problems.push(format!("{file}: {group}: {name}: violations say otherwise"));
        }
    }
}
