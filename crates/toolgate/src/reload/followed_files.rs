//! Looks at the files that settings were read from, and tells when they have changed.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use crate::settings::{FileState, SourceFiles};

/// The files, as they were when they were read.
pub struct FollowedFiles {
    sources: Arc<SourceFiles>,
    /// The states at the last look, if they were not those of the reading.
    changing: Option<BTreeMap<PathBuf, FileState>>,
}

impl FollowedFiles {
    pub fn new(sources: Arc<SourceFiles>) -> Self {
        Self { sources, changing: None }
    }

    /// Waits until files have changed and were quiet for an interval: a file that is being written may be whole and mean
    /// something else. With no interval it waits for ever.
    pub async fn changed(&mut self, interval: Duration) {
        if interval.is_zero() {
            return std::future::pending().await;
        }
        loop {
            tokio::time::sleep(interval).await;
            let sources = self.sources.clone();
            // A file system that hangs holds up nobody else.
            let looked =
                tokio::task::spawn_blocking(move || (sources.states(), sources.states_now()));
            let Ok((read, now)) = looked.await else { continue };
            if now == read {
                self.changing = None;
            } else if self.changing.as_ref() == Some(&now) {
                return;
            } else {
                self.changing = Some(now);
            }
        }
    }
}
