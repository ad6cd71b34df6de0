//! Environment variables that settings and contracts name: those of the process, then those of the operator's file.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    sync::{PoisonError, RwLock},
};

static OF_FILE: RwLock<BTreeMap<String, String>> = RwLock::new(BTreeMap::new());

thread_local! {
    /// The variables of a file that is only tried on this thread.
    static TRIED: RefCell<Option<TriedVariables>> = const { RefCell::new(None) };
}

/// The variables of the operator's file while it is tried.
#[derive(Default)]
pub struct TriedVariables(BTreeMap<String, String>);

/// The value of a variable. One of the process wins, also if it is empty.
pub fn get(name: &str) -> Option<String> {
    let of_file = || {
        let tried = TRIED.with_borrow(|tried| Some(tried.as_ref()?.0.get(name).cloned()));
        tried.unwrap_or_else(|| {
            OF_FILE.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
        })
    };
    std::env::var(name).ok().or_else(of_file)
}

/// Replaces the variables of the file. They are not in the environment of programs that are started.
pub fn set_of_file(variables: BTreeMap<String, String>) {
    let tried = TriedVariables(variables);
    let rest = TRIED.with_borrow_mut(|trial| match trial {
        Some(trial) => {
            *trial = tried;
            None
        }
        None => Some(tried),
    });
    if let Some(variables) = rest {
        variables.put_in_force();
    }
}

/// Does this work as if the variables that it sets were in force. They are so for this thread alone, until whoever has tried
/// them puts them in force.
pub fn trying<T>(work: impl FnOnce() -> T) -> (T, TriedVariables) {
    /// Ends the trial, also where the work panics.
    struct Trial;
    impl Drop for Trial {
        fn drop(&mut self) {
            TRIED.take();
        }
    }
    let _trial = Trial;
    TRIED.set(Some(TriedVariables::default()));
    let done = work();
    (done, TRIED.take().unwrap_or_default())
}

impl TriedVariables {
    pub fn put_in_force(self) {
        *OF_FILE.write().unwrap_or_else(PoisonError::into_inner) = self.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_are_tried_are_in_force_only_when_somebody_says_so() {
        let name = "TOOLGATE_TEST_OF_TRIED_VARIABLES";
        let with = |value: &str| BTreeMap::from([(name.to_owned(), value.to_owned())]);
        set_of_file(with("old"));
        let (seen, tried) = trying(|| {
            set_of_file(with("new"));
            let elsewhere = std::thread::spawn(move || get(name)).join().unwrap();
            (get(name), elsewhere)
        });
        assert_eq!(seen, (Some("new".into()), Some("old".into())));
        assert_eq!(get(name).as_deref(), Some("old"));
        tried.put_in_force();
        assert_eq!(get(name).as_deref(), Some("new"));
    }
}
