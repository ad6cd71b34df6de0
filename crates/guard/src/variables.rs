//! Environment variables that settings and contracts name: those of the process, then those of the operator's file.

use std::{
    collections::BTreeMap,
    sync::{PoisonError, RwLock},
};

static OF_FILE: RwLock<BTreeMap<String, String>> = RwLock::new(BTreeMap::new());

/// The value of a variable. One of the process wins, also if it is empty.
pub fn get(name: &str) -> Option<String> {
    let of_file = || OF_FILE.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned();
    std::env::var(name).ok().or_else(of_file)
}

/// Replaces the variables of the file. They are not in the environment of programs that are started.
pub fn set_of_file(variables: BTreeMap<String, String>) {
    *OF_FILE.write().unwrap_or_else(PoisonError::into_inner) = variables;
}
