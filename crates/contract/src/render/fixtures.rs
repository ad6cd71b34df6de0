//! Contracts for the tests of this module.

use crate::{Contract, read};
const SEARCH: &str = include_str!("fixtures/search.yaml");
const NOTE: &str = include_str!("fixtures/note.yaml");
const CLOCK: &str = include_str!("fixtures/clock.yaml");

/// Three tools that are served, not sorted, and one that is only planned.
pub(crate) fn contracts() -> Vec<Contract> {
    let planned = CLOCK.replace("name: clock", "name: calendar\nstatus: planned");
    [SEARCH, NOTE, CLOCK, &planned].into_iter().map(contract).collect()
}

pub(crate) fn contract(text: &str) -> Contract {
    let (read, diagnostics) = read::contract("fixture.yaml", text);
    let shown: Vec<_> = diagnostics.iter().map(|one| one.render(false)).collect();
    read.unwrap_or_else(|| panic!("{}", shown.join("\n"))).0
}

pub(crate) fn named(name: &str) -> Contract {
    contracts().into_iter().find(|contract| contract.name == name).unwrap()
}
