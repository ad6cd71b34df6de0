//! Whose calls a server is working on. A child of the legacy era asks without saying on whose behalf, and
//! nobody may be asked what another one's call wants to know.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Whose calls are running, and how many of each.
#[derive(Debug, Default)]
pub(crate) struct Callers {
    running: Mutex<HashMap<String, usize>>,
}

/// A call that is running.
#[derive(Debug)]
pub(crate) struct Calling {
    callers: Arc<Callers>,
    name: String,
}

impl Callers {
    /// A call of this caller begins.
    pub(crate) fn enter(self: &Arc<Self>, name: &str) -> Calling {
        *self.lock().entry(name.to_owned()).or_default() += 1;
        Calling { callers: self.clone(), name: name.to_owned() }
    }

    /// Whether all calls that are running are of one caller.
    pub(crate) fn is_one(&self) -> bool {
        self.lock().len() <= 1
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, usize>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        let mut running = self.callers.lock();
        if let Some(count) = running.get_mut(&self.name) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_caller_is_told_from_two() {
        let callers = Arc::new(Callers::default());
        assert!(callers.is_one());
        let first = callers.enter("ada");
        let second = callers.enter("ada");
        assert!(callers.is_one());
        let other = callers.enter("grace");
        assert!(!callers.is_one());
        drop((first, second));
        assert!(callers.is_one());
        drop(other);
        assert!(callers.is_one());
    }
}
