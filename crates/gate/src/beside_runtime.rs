//! Work that keeps a processor busy for long.

use tokio::runtime::{Handle, RuntimeFlavor};

/// From this many bytes on it takes a millisecond or more to read, print or compare a value.
const LARGE: usize = 256 * 1_024;

/// Does work on so many bytes. A large one does not hold up what else this thread serves: another thread
/// takes over its place in the runtime.
pub fn beside_runtime<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    if bytes < LARGE { work() } else { apart(work) }
}

/// Does work that takes long, however small its input is.
pub(crate) fn apart<T>(work: impl FnOnce() -> T) -> T {
    // A runtime of one thread has no other that could take over; only tests have one.
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}
