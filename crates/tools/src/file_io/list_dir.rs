//! `list_dir`: what lies in a folder.

use std::sync::Arc;

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use guard::files::{FileError, FolderListing, ListingEntry, SafePath};
use serde_json::{Value, json};

use super::{AgentFolder, BoundedList, failure, number, time, word};
use crate::off_thread;

pub(crate) struct ListDir(pub(crate) Arc<AgentFolder>);

impl Provider for ListDir {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let (files, path) = (self.0.clone(), call.text("path").to_owned());
        let max = number(call, "max_entries");
        let max_output_bytes = call.limits.max_output_bytes;
        Box::pin(off_thread(move || {
            let (path, listing) =
                list(&files, &path, max).map_err(|error| failure::reading(&path, &error))?;
            Ok(answer(&path, &listing, max_output_bytes))
        }))
    }
}

fn list(
    files: &AgentFolder,
    path: &str,
    max: usize,
) -> Result<(SafePath, FolderListing), FileError> {
    let path = files.path(path)?;
    let listing = files.tree.list(&path, max)?;
    Ok((path, listing))
}

fn answer(path: &SafePath, listing: &FolderListing, max_output_bytes: u64) -> ToolOutput {
    // Of what a path consists of, only a quotation mark grows, and to two bytes.
    let mut fitting = BoundedList::new(max_output_bytes, 2 * path.as_str().len());
    let _ = listing.entries.iter().all(|listed| fitting.push(entry(listed)));
    let (entries, count) = (&fitting.items, fitting.items.len());
    let mut answer = ToolOutput::new(json!({
        "ok": true,
        "path": path.as_str(),
        "entries": entries,
        "total": listing.total,
        "unnameable": listing.unnameable,
        "truncated": listing.uncounted || count < listing.total,
    }));
    answer.summary = Some(format!("Listed {count} of {} entries of {path}.", listing.total));
    answer
}

fn entry(entry: &ListingEntry) -> Value {
    json!({
        "name": entry.name,
        "kind": word(entry.status.kind),
        "bytes": entry.status.bytes,
        "modified": time(entry.status.modified),
    })
}
