//! The parts of the JSON Schema Test Suite for older dialects, judged by schemas of other people
//! and by what clients are shown of them. `suite.rs` says where the suite comes from.

use std::{collections::BTreeSet, path::Path};

use contract::{Dialect, Schema, translation};
use serde_json::Value;

use crate::suite::groups;

/// The folders, and the dialect of each.
const FOLDERS: [(&str, Dialect); 4] = [
    ("draft4", Dialect::Draft04),
    ("draft6", Dialect::Draft06),
    ("draft7", Dialect::Draft07),
    ("draft2019-09", Dialect::Draft201909),
];
/// The required cases and those of formats: to assert these is no option to us.
const PARTS: [&str; 2] = ["", "optional/format"];
/// There are some 5000 cases; a folder with far fewer is not the suite.
const MIN_CASES: usize = 4_000;

/// A file, a group of it (or all), and words of the reason.
type Listed = (&'static str, &'static str, &'static str);

/// Groups whose schema is refused by the reason that these words stand for.
const REFUSED: &[Listed] = &[
    // All of this file is about documents from elsewhere, but for what it does with identifiers.
    ("refRemote.json", "", "are not fetched"),
    ("vocabulary.json", "", "declares the unknown dialect"),
];

/// Groups that mean something which 2020-12 has no words for.
const UNTRANSLATABLE: &[Listed] = &[
    ("definitions.json", "validate definition against metaschema", META),
    ("defs.json", "validate definition against metaschema", META),
    ("ref.json", "remote ref, containing refs itself", META),
    ("recursiveRef.json", "$recursiveRef with nesting", RECURSIVE),
    ("recursiveRef.json", "multiple dynamic paths to the $recursiveRef keyword", RECURSIVE),
    (
        "recursiveRef.json",
        "dynamic $recursiveRef destination (not predictable at schema compile time)",
        RECURSIVE,
    ),
    ("unevaluatedItems.json", "unevaluatedItems with $recursiveRef", RECURSIVE),
    ("unevaluatedProperties.json", "unevaluatedProperties with $recursiveRef", RECURSIVE),
];
const META: &str = "is the meta-schema of another dialect";
const RECURSIVE: &str = "`$recursiveRef` has several possible targets";

#[test]
fn every_dialect_means_what_the_suite_says_and_its_projection_means_the_same() {
    let Ok(suite) = std::env::var("JSON_SCHEMA_TEST_SUITE") else {
        println!("skipped: JSON_SCHEMA_TEST_SUITE is not set");
        return;
    };
    let mut run = Run::default();
    for (folder, dialect) in FOLDERS {
        for part in PARTS {
            for (file, group) in groups(&Path::new(&suite).join(folder).join(part)) {
                run.group(&file, &group, dialect);
            }
        }
    }
    assert!(run.cases >= MIN_CASES, "only {} cases in {suite}", run.cases);
    for listed in UNTRANSLATABLE.iter().filter(|listed| !run.untranslatable.contains(*listed)) {
        run.problems.push(format!("listed but translated: {listed:?}"));
    }
    assert!(run.problems.is_empty(), "{}", run.problems.join("\n"));
    println!(
        "{} cases, {} groups refused, {} untranslatable",
        run.cases,
        run.refused,
        run.untranslatable.len()
    );
}

#[derive(Default)]
struct Run {
    cases: usize,
    refused: usize,
    untranslatable: BTreeSet<Listed>,
    problems: Vec<String>,
}

impl Run {
    fn group(&mut self, file: &str, group: &Value, dialect: Dialect) {
        let name = group["description"].as_str().unwrap();
        let whole = format!("{} {file}: {name}", dialect.word());
        let mut source = group["schema"].clone();
        if let Value::Object(fields) = &mut source {
            fields.entry("$schema").or_insert(dialect.address().into());
        }
        let original = match Schema::compile_foreign(&source) {
            Ok(original) => original,
            Err(error) if listed(REFUSED, file, name, &error.message).is_some() => {
                self.refused += 1;
                return;
            }
            Err(error) => return self.problems.push(format!("{whole}: {error}")),
        };
        let shown = [
            translation::to_2020_12(&source),
            translation::output(&source),
            translation::input(&source),
        ];
        let shown: Result<Vec<_>, _> = shown.into_iter().collect();
        let shown = match shown {
            Ok(shown) => shown,
            Err(error) => {
                match listed(UNTRANSLATABLE, file, name, &error.message) {
                    Some(listed) => _ = self.untranslatable.insert(listed),
                    None => self.problems.push(format!("{whole}: {error}")),
                }
                Vec::new()
            }
        };
        for case in group["tests"].as_array().unwrap() {
            self.cases += 1;
            let whole = format!("{whole}: {}", case["description"].as_str().unwrap());
            let valid = original.is_valid(&case["data"]);
            if case["valid"] != valid && !is_annotation(file, case) {
                self.problems.push(whole.clone());
            }
            for (number, projected) in shown.iter().enumerate() {
                // The root of the arguments' schema is made for objects alone.
                let concerns = number < 2 || case["data"].is_object();
                if concerns && Schema::compile(projected).unwrap().is_valid(&case["data"]) != valid
                {
                    self.problems.push(format!("{whole}: projection {number}: {projected}"));
                }
            }
        }
    }
}

fn listed(list: &[Listed], file: &str, group: &str, message: &str) -> Option<Listed> {
    let fits = |(listed, name, says): &&Listed| {
        *listed == file && (name.is_empty() || *name == group) && message.contains(says)
    };
    list.iter().find(fits).copied()
}

/// Whether a case wants a format to be a mere annotation.
fn is_annotation(file: &str, case: &Value) -> bool {
    file == "format.json"
        && case["description"].as_str().unwrap().ends_with("is only an annotation by default")
}
