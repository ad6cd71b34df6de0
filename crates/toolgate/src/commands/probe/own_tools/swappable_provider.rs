//! A provider that can be swapped while the doors are open.

use std::sync::{Arc, Mutex, PoisonError};

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use serde_json::Value;

use crate::examples::FixedOutput;

/// Runs the provider that was set last.
pub struct SwappableProvider(Mutex<Arc<dyn Provider>>);

impl SwappableProvider {
    /// Returns null.
    pub fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Arc::new(FixedOutput(Value::Null)))))
    }

    pub fn set(&self, provider: Arc<dyn Provider>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = provider;
    }

    /// Returns this output from now on.
    pub fn set_output(&self, value: Value) {
        self.set(Arc::new(FixedOutput(value)));
    }
}

impl Provider for SwappableProvider {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let provider = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Box::pin(async move { provider.run(call).await })
    }
}
