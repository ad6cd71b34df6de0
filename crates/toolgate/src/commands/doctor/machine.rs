//! What the machine lets us do.

use guard::{
    files::Resolver,
    process::{ExitReason, Launch, Spawner},
};
use tokio_util::sync::CancellationToken;

use super::Finding;

/// Whether commands can be started under supervision: shown by starting one that does nothing.
pub(super) async fn supervisor() -> Finding {
    const SUBJECT: &str = "supervisor";
    let launch = Launch::new("true", std::env::temp_dir());
    match Spawner::of_this_program().run(launch, &CancellationToken::new(), None).await {
        Ok(finished) if finished.ending == ExitReason::Exited(0) => {
            Finding::ok(SUBJECT, "commands are started and cleared away")
        }
        Ok(finished) => {
            Finding::problem(SUBJECT, format!("`true` ended with {:?}", finished.ending))
        }
        Err(error) => Finding::problem(SUBJECT, format!("commands cannot be started: {error}"))
            .hint("`/proc` must be there, and processes must be allowed"),
    }
}

/// Whether the kernel keeps paths inside their folders.
pub(super) fn paths() -> Finding {
    const SUBJECT: &str = "paths";
    match Resolver::of_this_machine() {
        Ok(Resolver::Kernel) => Finding::ok(SUBJECT, "the kernel keeps them inside (openat2)"),
        Ok(Resolver::Steps) => Finding::ok(
            SUBJECT,
            "they are kept inside name by name: this kernel, or a filter, does not know openat2",
        ),
        Err(error) => Finding::problem(SUBJECT, format!("the root cannot be opened: {error}")),
    }
}
