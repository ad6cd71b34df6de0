//! Whatever is given as a schema (JSON, or two of them in an array): it is refused, or it is compiled, shown,
//! compared and made values from, and a validator agrees with its own list of violations.
#![no_main]

use contract::{Schema, closed_schema, json, translation};
use libfuzzer_sys::fuzz_target;
use probe::generate::{self, GenerateOptions};
use workbench::compare::{self, Inputs};

fuzz_target!(|bytes: &[u8]| {
    let Ok(given) = json::parse(bytes) else { return };
    let schemas = given.as_array().cloned().unwrap_or_else(|| vec![given]);
    for schema in &schemas {
        let Ok(compiled) = Schema::compile_foreign(schema) else { continue };
        for value in &schemas {
            assert_eq!(compiled.is_valid(value), compiled.violations(value).is_empty());
        }
        let _ = (translation::input(schema), translation::output(schema), closed_schema::close(schema));
        if let Ok(made) = generate::valid(schema, GenerateOptions::all(1)) {
            assert!(made.cases.iter().all(|case| compiled.is_valid(&case.value)));
        }
        if let Ok(made) = generate::invalid(schema, GenerateOptions::all(1)) {
            assert!(made.cases.iter().all(|case| !compiled.is_valid(&case.value)));
        }
    }
    if let [old, new, ..] = &schemas[..] {
        let listed = |schema| serde_json::json!({ "name": "tool", "inputSchema": schema, "outputSchema": schema });
        let changes = compare::tools(&listed(old), &listed(new), Inputs::Closed);
        assert_eq!(changes.is_empty(), old == new);
        compare::added(new);
    }
});
