//! The caller.

use std::{fmt, sync::Arc};

/// The caller: a name that the journal and the limits know.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller(Arc<str>);

impl Caller {
    /// Somebody on this machine, where no login is asked for.
    pub fn local() -> Self {
        Self(Arc::from("local"))
    }

    /// The caller who showed the credential of that name.
    pub fn named(name: &str) -> Self {
        Self(Arc::from(name))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
